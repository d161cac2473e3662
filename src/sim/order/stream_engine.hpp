// SPDX-License-Identifier: Apache-2.0
// Queued work and the order in which it runs. There are no worker threads: work runs inside the
// calls of the program's own threads, under a schedule (settings.hpp). An operation may run when it
// is the oldest of its stream and everything it was told to come after is done; nothing else is
// guaranteed, so a schedule may pick any such operation.
//
// When an operation runs here says nothing about when it would run on a device: that is the
// timeline's (timeline.hpp), to which every operation is handed when it is queued. Waiting for an
// operation moves the calling thread's virtual clock to its end.
//
// Owned by the machine. Every function requires the library's lock; those that take it as `lock`
// may release it while a host function runs, so that other threads can go on meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "sim/order/operation.hpp"
#include "sim/order/random_pace.hpp"
#include "sim/order/turns.hpp"
#include "sim/order/watching.hpp"
#include "sim/words/settings.hpp"

namespace ferry::sim {

using Lock = std::unique_lock<std::mutex>;

class StreamEngine {
 public:
  // Without a profile every operation takes a microsecond, and it is the schedule that says what
  // has ended when a program asks; with one it is virtual time.
  StreamEngine(Schedule schedule, std::uint64_t seed,
               std::shared_ptr<const Profile> profile = nullptr);
  ~StreamEngine();
  StreamEngine(const StreamEngine&) = delete;
  StreamEngine& operator=(const StreamEngine&) = delete;

  void set_schedule(Schedule schedule) { schedule_ = schedule; }
  void set_seed(std::uint64_t seed) {
    random_.seed(seed);
    pace_ = {};
  }

  [[nodiscard]] StreamGroup& create_group();
  // Runs what is queued in the group, then removes it with its streams.
  void destroy_group(Lock& lock, StreamGroup& group);
  [[nodiscard]] Stream& create_stream(StreamGroup& group, bool blocking);
  // A stream for a part of another's work, which comes after all of it in the end: nobody needs to
  // wait for this one by itself. It uses a lane that the caller keeps, for such streams that come
  // one after the other.
  [[nodiscard]] Stream& create_inner_stream(StreamGroup& group, LaneNumber lane_of_caller);
  [[nodiscard]] LaneNumber open_lane() { return lanes_.open(seen_); }
  void close_lane(LaneNumber lane) { lanes_.close(lane); }
  // Queued work still runs; the stream goes when it is empty.
  void destroy_stream(Stream& stream);

  // Appends work to a stream, after its earlier work, after `after` (null and done tickets are
  // ignored), and after what the legacy default stream's rules ask for. Nothing runs before the
  // next `progress`.
  Ticket enqueue(Stream& stream, std::function<int()> work, std::span<const Ticket> after = {},
                 std::function<bool()> may_begin = {}, const Load& load = {});
  Ticket enqueue_host_function(Stream& stream, std::function<void()> function);
  // The same, but it runs in a poisoned group too, and is told the fault.
  Ticket enqueue_callback(Stream& stream, std::function<void(int fault)> callback);
  // A point after everything queued in the group so far.
  Ticket mark_group(StreamGroup& group);
  // Everything queued in the group from now on, in streams to come too, runs after `after`.
  void hold_group(StreamGroup& group, const Ticket& after);

  // In which order the members of a batch run, which is not promised to be that of the batch: as
  // they are under `eager`, the other way round under `lazy`, any under `random`.
  [[nodiscard]] std::vector<std::size_t> order_of_members(std::size_t count);

  [[nodiscard]] Timeline& timeline() { return timeline_; }
  [[nodiscard]] Turns& turns() { return turns_; }

  // Runs what the target needs, until it is done, and moves the caller's clock to its end.
  void finish(Lock& lock, std::span<const Ticket> tickets);
  void finish(Lock& lock, StreamGroup& group) { finish(lock, unfinished(group)); }
  void finish_all(Lock& lock);

  // What the operations queued so far in a stream or a group mean to one that waits for them all.
  [[nodiscard]] static Clock clock_of(const Stream& stream);
  [[nodiscard]] static Clock clock_of(const StreamGroup& group);
  [[nodiscard]] Clock clock_of_all() const;
  // What is known to have ended before the next operation of a stream begins.
  [[nodiscard]] Clock clock_before_next(const Stream& stream) const;
  // Whether an operation is over as far as the caller can know without a wait. With a profile it
  // may still be queued, and what comes after it must say so.
  [[nodiscard]] bool has_ended(const Ticket& ticket);
  // The program has seen complete what `clock` covers; that comes before every later call.
  void observe(const Clock& clock) {
    seen_.join(clock);
    watching_.note_seen(clock);
    if (on_seen_) on_seen_();
  }
  // Called whenever the program has seen more, before its own code goes on.
  void set_on_seen(std::function<void()> on_seen) { on_seen_ = std::move(on_seen); }
  [[nodiscard]] const Clock& seen() const { return seen_; }
  // The same for everything that has run: where another process vouches for something unknown.
  void observe_finished() { observe(finished_); }

  // What the operation comes after whose work runs now. Requires: called by that work.
  [[nodiscard]] const Clock& clock_of_running() const { return running_->clock; }

  // Who is told what operations do with the host's memory, where somebody wants to know.
  [[nodiscard]] Watching& watching() { return watching_; }

  // Host functions that were queued and have not run yet.
  [[nodiscard]] std::uint64_t waiting_host_functions() const { return waiting_host_functions_; }

  // What is queued in a stream now, or was run but ends only later by the caller's clock; for the
  // legacy default stream, also in the streams it is ordered with.
  [[nodiscard]] std::vector<Ticket> unfinished(Stream& stream);
  [[nodiscard]] std::vector<Ticket> unfinished(StreamGroup& group);

  // Only in virtual time: the operation may still be queued afterwards.
  void wait_in_time(Lock& lock, const Ticket& ticket) {
    if (ticket) turns_.wait(lock, *ticket->time);
  }

  // True when all tickets are done. With a profile, when they have ended by the caller's clock;
  // they are run then if they have not been. Without one, what has run is done: under `lazy`, every
  // kPatience-th unsuccessful poll of the same object runs one operation that it waits for, so that
  // a polling loop comes to an end. `polls` belongs to the object that is polled.
  static constexpr unsigned kPatience = 4;
  [[nodiscard]] bool poll(Lock& lock, std::span<const Ticket> tickets, unsigned& polls);

  // Runs what the ticket needs as far as it goes without waiting; whether it is done.
  bool advance(Lock& lock, const Ticket& ticket) {
    return run_what_may(lock, std::span(&ticket, 1));
  }

  // For a thread that stands for the device while the program calls nothing, under every schedule:
  // runs the oldest host function that may run, with what it needs, or one operation that may run.
  // False where there is none.
  bool go_on_to_host_code(Lock& lock);
  bool go_on(Lock& lock);
  [[nodiscard]] bool has_pending() const { return pending_ > 0; }

  // What the schedule lets run by itself; with a profile, host code not before its moment on the
  // caller's clock, under `eager` in the order of those moments. To be called at each call of the
  // program and after an enqueue.
  void progress(Lock& lock);

 private:
  Ticket enqueue_host_code(Stream& stream, std::function<int()> work, bool despite_fault);
  [[nodiscard]] Stream& add_stream(StreamGroup& group, bool blocking, LaneNumber lane);
  void append(Stream& stream, const Ticket& ticket, std::span<const Ticket> after,
              const Load& load);
  [[nodiscard]] bool is_open(const Ticket& ticket);
  void depart(Stream& stream);
  void order(Stream& stream, Operation& operation, std::span<const Ticket> after);
  void finish(Lock& lock, const Ticket& ticket);
  [[nodiscard]] Ticket next_towards(const Ticket& target);
  [[nodiscard]] Ticket pick_ready();
  void run(Lock& lock, const Ticket& ticket);
  [[nodiscard]] bool run_what_may(Lock& lock, std::span<const Ticket> tickets);
  void reap(Stream& stream);

  Schedule schedule_;
  std::mt19937_64 random_;
  RandomPace pace_;
  std::vector<std::unique_ptr<StreamGroup>> groups_;
  std::uint64_t next_stream_ = 1;
  std::uint64_t next_operation_ = 1;
  std::uint64_t ticks_ = 0;
  std::uint64_t waiting_host_functions_ = 0;
  Timeline timeline_;
  Turns turns_{timeline_};
  Lanes lanes_;
  [[no_unique_address]] Watching watching_;
  Clock seen_;
  std::function<void()> on_seen_;
  Clock finished_;                      // everything that has run
  const Operation* running_ = nullptr;  // the operation that runs under the lock, or did last
  std::uint64_t pending_ = 0;
  std::uint64_t conditions_ = 0;     // pending operations with `may_begin`
  std::condition_variable changed_;  // an operation that ran without the lock is done
};

}  // namespace ferry::sim
