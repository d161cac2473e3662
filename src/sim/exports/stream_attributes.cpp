// SPDX-License-Identifier: Apache-2.0
// Exported: attributes of streams. They are kept and told again; none of them changes what work
// does, or in which order.
#include <optional>

#include "sim/machine/stream_access.hpp"

namespace ferry::sim {

namespace {

// As it is before anybody sets it; nothing for one that streams do not have.
std::optional<CUstreamAttrValue> first_value(CUstreamAttrID attribute, const StreamEntry* entry) {
  CUstreamAttrValue value{};
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return value;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      value.memSyncDomainMap.remote = 1;
      return value;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      value.syncPolicy = CU_SYNC_POLICY_AUTO;
      return value;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      value.priority = entry == nullptr ? 0 : entry->priority;
      return value;
    default:
      return std::nullopt;
  }
}

bool is_policy(const CUaccessPolicyWindow& window) {
  return window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
         window.missProp <= CU_ACCESS_PROPERTY_STREAMING;
}

bool may_be_set(CUstreamAttrID attribute, const CUstreamAttrValue& value) {
  switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return is_policy(value.accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      return value.syncPolicy >= CU_SYNC_POLICY_AUTO &&
             value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      return value.priority >= kGreatestPriority && value.priority <= kLeastPriority;
    default:
      return true;
  }
}

CUresult set(Call& call, const StreamUse& use, CUstream stream, CUstreamAttrID attribute,
             const CUstreamAttrValue& value) {
  StreamEntry* const entry = call.machine.streams.find(value_of(stream));
  if (!first_value(attribute, entry) || !may_be_set(attribute, value))
    return CUDA_ERROR_INVALID_VALUE;
  use.context->stream_attributes[use.stream->number][attribute] = value;
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY && entry != nullptr)
    entry->priority = value.priority;
  return CUDA_SUCCESS;
}

CUresult get(Call& call, const StreamUse& use, CUstream stream, CUstreamAttrID attribute,
             CUstreamAttrValue& out) {
  const auto value = first_value(attribute, call.machine.streams.find(value_of(stream)));
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  const auto& set = use.context->stream_attributes[use.stream->number];
  const auto found = set.find(attribute);
  out = found == set.end() ? *value : found->second;
  return CUDA_SUCCESS;
}

CUresult copy_attributes(Call& call, const StreamUse& from, CUstream destination) {
  StreamUse to;
  if (const CUresult result = find_stream(call, destination, to); result != CUDA_SUCCESS)
    return result;
  if (to.context != from.context) return CUDA_ERROR_INVALID_VALUE;
  const auto values = from.context->stream_attributes[from.stream->number];
  for (const auto& [attribute, value] : values) {
    const auto id = static_cast<CUstreamAttrID>(attribute);
    if (const CUresult result = set(call, to, destination, id, value); result != CUDA_SUCCESS)
      return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace ferry::sim

using ferry::sim::Call;
using ferry::sim::StreamUse;
using ferry::sim::Symbol;
using ferry::sim::with_stream;

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out) {
  return with_stream(Symbol::cuStreamGetAttribute, hStream, [&](Call& call, StreamUse& use) {
    if (value_out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return ferry::sim::get(call, use, hStream, attr, *value_out);
  });
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue* value) {
  return with_stream(Symbol::cuStreamSetAttribute, hStream, [&](Call& call, StreamUse& use) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return ferry::sim::set(call, use, hStream, attr, *value);
  });
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  return with_stream(Symbol::cuStreamCopyAttributes, src, [&](Call& call, StreamUse& use) {
    return ferry::sim::copy_attributes(call, use, dst);
  });
}
