// SPDX-License-Identifier: Apache-2.0
// Contexts: the ordinary ones a program creates, and one primary context per device, which is
// counted. A context that is gone is no longer found by its handle. Owned by the machine; requires
// the lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "sim/order/stream_engine.hpp"
#include "sim/words/cuda_api.hpp"
#include "sim/words/handles.hpp"

namespace ferry::sim {

struct Context {
  std::uint64_t handle = 0;
  int device = 0;
  unsigned flags = 0;
  StreamGroup* streams = nullptr;
  std::map<std::uint64_t, Stream*> per_thread;  // per-thread default streams, by thread number
  std::set<std::uint64_t> peers;      // contexts whose memory it may use (peer_access.hpp)
  std::map<int, std::size_t> limits;  // those that were set, by CUlimit
  int cache_config = 0;               // CUfunc_cache
  // Those that were set, by stream number and CUstreamAttrID.
  std::map<std::uint64_t, std::map<int, CUstreamAttrValue>> stream_attributes;
  unsigned attached = 0;  // how often beyond its creation
};

// At most one way of waiting, and nothing unknown.
[[nodiscard]] bool are_context_flags(unsigned flags);

class Contexts {
 public:
  Contexts(StreamEngine& engine, int devices);

  [[nodiscard]] Context* find(std::uint64_t handle);
  [[nodiscard]] Context& create(int device, unsigned flags);
  // Requires: nothing is queued in it any more (see Machine::empty_context).
  void erase(Context& context);

  struct Primary {
    std::uint64_t handle = 0;  // given at the first retain, kept ever after
    unsigned references = 0;
    unsigned flags = 0;
  };
  [[nodiscard]] Primary& primary(int device) {
    return primaries_[static_cast<std::size_t>(device)];
  }
  // Null while it is not retained.
  [[nodiscard]] Context* active_primary(int device) { return find(primary(device).handle); }
  // Counts a reference, and brings the context to life with the first.
  [[nodiscard]] Context& retain_primary(int device);
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (const auto& [handle, context] : contexts_) visit(*context);
  }
  [[nodiscard]] bool is_primary(const Context& context) {
    return primary(context.device).handle == context.handle;
  }

  // The device answers only `result` from now on: every context on it is poisoned for good, those
  // that are still to come too.
  void lose(int device, int result);
  // What a lost device answers; 0 while it is there.
  [[nodiscard]] int lost(int device) const { return lost_[static_cast<std::size_t>(device)]; }

  // Gives a context new streams in place of the old ones: a reset.
  void renew_streams(Context& context);

 private:
  Context& add(std::uint64_t handle, int device, unsigned flags);

  StreamEngine& engine_;
  HandleMaker handles_{HandleKind::context};
  std::unordered_map<std::uint64_t, std::unique_ptr<Context>> contexts_;
  std::vector<Primary> primaries_;  // by device
  std::vector<int> lost_;           // by device
};

}  // namespace ferry::sim
