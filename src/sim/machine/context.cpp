// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/context.hpp"

#include <bit>

#include "sim/words/cuda_api.hpp"

namespace ferry::sim {

bool are_context_flags(unsigned flags) {
  return (flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0 &&
         std::popcount(flags & unsigned{CU_CTX_SCHED_MASK}) <= 1;
}

Contexts::Contexts(StreamEngine& engine, int devices)
    : engine_(engine),
      primaries_(static_cast<std::size_t>(devices)),
      lost_(static_cast<std::size_t>(devices)) {}

Context* Contexts::find(std::uint64_t handle) {
  const auto found = contexts_.find(handle);
  return found == contexts_.end() ? nullptr : found->second.get();
}

Context& Contexts::add(std::uint64_t handle, int device, unsigned flags) {
  auto context = std::make_unique<Context>();
  context->handle = handle;
  context->device = device;
  context->flags = flags;
  context->streams = &engine_.create_group();
  context->streams->fault = lost(device);
  return *(contexts_[handle] = std::move(context));
}

Context& Contexts::create(int device, unsigned flags) {
  return add(handles_.next(), device, flags);
}

void Contexts::erase(Context& context) {
  contexts_.erase(context.handle);
}

Context& Contexts::retain_primary(int device) {
  Primary& entry = primary(device);
  if (entry.handle == 0) entry.handle = handles_.next();
  if (entry.references++ == 0) return add(entry.handle, device, entry.flags);
  return *find(entry.handle);
}

void Contexts::lose(int device, int result) {
  if (static_cast<std::size_t>(device) >= lost_.size()) return;  // hidden by CUDA_VISIBLE_DEVICES
  lost_[static_cast<std::size_t>(device)] = result;
  for (const auto& [handle, context] : contexts_) {
    if (context->device == device) context->streams->fault = result;
  }
}

void Contexts::renew_streams(Context& context) {
  context.streams = &engine_.create_group();
  context.streams->fault = lost(context.device);
  context.per_thread.clear();
  context.stream_attributes.clear();
}

}  // namespace ferry::sim
