// SPDX-License-Identifier: Apache-2.0
// When operations begin and end in virtual time: a simulation of the engines by discrete events. It
// follows from the order of the program's calls alone and knows nothing of when a schedule runs the
// work. Owned by the stream engine; every function requires the library's lock.
//
// An operation is ready when the call that queued it was made and everything before it has ended.
// Its engine takes the operations that are ready first come, first served (by number where two are
// ready at once), and each occupies it from its latency to its last byte. Without a profile there
// are no engines: every operation takes one microsecond, and calls take no time.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/time/engine_pace.hpp"
#include "sim/time/link_share.hpp"
#include "sim/time/profile.hpp"
#include "sim/time/virtual_clock.hpp"
#include "sim/words/engine_window.hpp"

namespace ferry::sim {

// What an operation asks of the machine.
struct Load {
  EngineKind engine = EngineKind::none;
  int device = 0;
  Picoseconds latency = 0;  // before the first byte
  std::uint64_t bytes = 0;
  std::uint64_t rate = 0;         // bytes per second at most; of no meaning without bytes
  std::optional<Direction> link;  // the bytes cross the link, and share it
};

// An operation on the timeline.
struct TimedTask {
  std::uint64_t number = 0;  // grows in the order of the calls
  Load load;
  Picoseconds ready = 0;  // the latest known reason not to begin earlier
  std::size_t waits_for = 0;
  std::vector<std::shared_ptr<TimedTask>> followers;
  bool ended = false;
  Picoseconds begin = 0;
  Picoseconds end = 0;
};
using TimedTaskRef = std::shared_ptr<TimedTask>;

class Timeline {
 public:
  explicit Timeline(std::shared_ptr<const Profile> profile = nullptr);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Null where there is none.
  [[nodiscard]] const Profile* profile() const { return profile_.get(); }
  [[nodiscard]] VirtualClock& clock() { return clock_; }

  // Engines are slow or stand still in these windows. What has begun already keeps its end, save
  // for bytes that cross a link.
  void set_engine_windows(std::vector<EngineWindow> windows);

  // Nobody looks beyond this moment: threads that take turns may still queue work after it,
  // whatever the calling thread's clock says.
  void set_horizon(Picoseconds moment) { horizon_ = moment; }

  // An operation that the calling thread queues now, after others. Null references are ignored.
  [[nodiscard]] TimedTaskRef add(const Load& load, std::span<const TimedTaskRef> after);

  // It has ended by the calling thread's clock.
  [[nodiscard]] bool has_passed(const TimedTask& task);
  // Moves the calling thread's clock to its end, where that lies ahead.
  void wait(const TimedTask& task);

  // When something happens next, if nothing else is queued; nothing where nothing is under way.
  [[nodiscard]] std::optional<Picoseconds> next_moment() const;
  // Lets everything happen that happens until then.
  void advance(Picoseconds moment);

 private:
  struct Event {
    Picoseconds at = 0;
    std::uint64_t number = 0;
    TimedTaskRef task;
    bool is_end = false;  // of a latency or of a whole operation; otherwise the task is ready
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };
  struct FirstReady {
    bool operator()(const TimedTaskRef& a, const TimedTaskRef& b) const {
      return a->ready != b->ready ? a->ready < b->ready : a->number < b->number;
    }
  };
  struct Engine {
    TimedTaskRef busy_with;
    std::set<TimedTaskRef, FirstReady> waiting;
  };

  using EngineName = std::pair<int, EngineKind>;  // device and kind

  [[nodiscard]] EngineName engine_for(const Load& load) const;
  void step(Picoseconds moment);
  void handle(const Event& event);
  void begin(const TimedTaskRef& task);
  void repace_links(Picoseconds moment);
  void begin_bytes(const TimedTaskRef& task);
  void end(const TimedTaskRef& task);
  void begin_waiting();

  std::shared_ptr<const Profile> profile_;
  VirtualClock clock_;
  std::optional<LinkShare> links_;
  EnginePace pace_;
  std::map<EngineName, Engine> engines_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::unordered_map<std::uint64_t, TimedTaskRef> crossing_;  // by number
  std::set<EngineName> stirred_;  // have become free, or have somebody new who waits
  std::uint64_t next_number_ = 1;
  Picoseconds now_ = 0;  // everything before has happened
  Picoseconds horizon_ = std::numeric_limits<Picoseconds>::max();
};

}  // namespace ferry::sim
