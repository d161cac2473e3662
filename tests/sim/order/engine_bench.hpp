// SPDX-License-Identifier: Apache-2.0
// What the tests of the stream engine stand on.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/order/stream_engine.hpp"

namespace ferry::sim {

// An engine under one schedule, with work that writes its name into a log.
class EngineBench {
 public:
  explicit EngineBench(Schedule schedule, std::uint64_t seed = 0,
                       std::shared_ptr<const Profile> profile = nullptr)
      : engine(schedule, seed, std::move(profile)), group(engine.create_group()) {}

  Stream& stream(bool blocking = false) { return engine.create_stream(group, blocking); }
  Ticket queue(Stream& stream, char name, std::vector<Ticket> after = {}) {
    Ticket ticket = engine.enqueue(
        stream,
        [this, name] {
          log.push_back(name);
          return 0;
        },
        after);
    engine.progress(lock);
    return ticket;
  }
  void finish(const Ticket& ticket) { engine.finish(lock, std::span(&ticket, 1)); }

  std::mutex mutex;
  Lock lock{mutex};
  StreamEngine engine;
  StreamGroup& group;
  std::string log;
};

}  // namespace ferry::sim
