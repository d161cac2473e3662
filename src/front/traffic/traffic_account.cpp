// SPDX-License-Identifier: Apache-2.0
#include "front/traffic/traffic_account.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace ferry::traffic {

namespace {

const std::string& name_of(const Moment& moment, PhasesBy by) {
  static const std::string kOutside = "outside ranges";
  if (by == PhasesBy::phase) return moment.phase;
  return moment.range.empty() ? kOutside : moment.range;
}

class Adder {
 public:
  Adder(const Records& records, PhasesBy by) : records_(records), by_(by) {}

  std::vector<StepAccount> add_up() {
    for (const Moment& moment : records_.moments) begin(moment);
    for (const Copy& copy : records_.copies) add(copy);
    for (const Wait& wait : records_.waits) add(wait);
    for (StepAccount& step : steps_) {
      for (PhaseAccount& phase : step.phases) list_callers(step.step, phase);
    }
    return std::move(steps_);
  }

 private:
  using Place = std::pair<std::uint64_t, std::string>;  // step and phase

  StepAccount& step_of(const Moment& moment) {
    if (steps_.empty() || steps_.back().step != moment.step) {
      const auto known = std::ranges::find(steps_, moment.step, &StepAccount::step);
      if (known != steps_.end()) return *known;
      steps_.push_back({moment.step, 0, false, {}});
    }
    return steps_.back();
  }

  PhaseAccount& phase_of(const Moment& moment) {
    StepAccount& step = step_of(moment);
    const std::string& name = name_of(moment, by_);
    const auto known = std::ranges::find(step.phases, name, &PhaseAccount::name);
    if (known != step.phases.end()) return *known;
    step.phases.emplace_back().name = name;
    return step.phases.back();
  }

  void begin(const Moment& moment) {
    StepAccount& step = step_of(moment);
    step.micro_steps = std::max(step.micro_steps, moment.micro_step);
    step.has_optimizer = step.has_optimizer || moment.phase == "step";
    static_cast<void>(phase_of(moment));
  }

  void add(const Copy& copy) {
    const Moment& moment = records_.moment_of(copy);
    phase_of(moment).ways[static_cast<std::size_t>(copy.way)].add(copy);
    if (copy.way == Way::to_device || copy.way == Way::to_host)
      copiers_[{moment.step, name_of(moment, by_)}][{copy.caller, copy.way}].add(copy);
  }

  void add(const Wait& wait) {
    const Moment& moment = records_.moment_of(wait);
    ++phase_of(moment).waits;
    ++waiters_[{moment.step, name_of(moment, by_)}][{wait.caller, wait.call}];
  }

  void list_callers(std::uint64_t step, PhaseAccount& phase) {
    for (const auto& [who, amount] : copiers_[{step, phase.name}])
      phase.callers.push_back({who.first, who.second, amount});
    for (const auto& [who, calls] : waiters_[{step, phase.name}])
      phase.wait_callers.push_back({who.first, who.second, calls});
    std::ranges::stable_sort(phase.callers, std::ranges::greater(),
                             [](const CallerAmount& caller) { return caller.amount.bytes; });
    std::ranges::stable_sort(phase.wait_callers, std::ranges::greater(), &WaitAmount::calls);
  }

  const Records& records_;
  const PhasesBy by_;
  std::vector<StepAccount> steps_;
  std::map<Place, std::map<std::pair<Caller, Way>, Amount>> copiers_;
  std::map<Place, std::map<std::pair<Caller, std::string>, std::uint64_t>> waiters_;
};

}  // namespace

void Amount::add(const Copy& copy) {
  bytes += copy.bytes;
  ++calls;
  if (copy.bytes < kSmallCopy) ++small_calls;
  if (!copy.pinned) {
    pageable_bytes += copy.bytes;
    ++pageable_calls;
  }
  if (copy.blocks) ++blocking_calls;
}

std::vector<StepAccount> add_up(const Records& records, PhasesBy by) {
  return Adder(records, by).add_up();
}

const StepAccount& typical_step(const std::vector<StepAccount>& steps) {
  const auto last = std::find_if(steps.rbegin(), steps.rend(),
                                 [](const StepAccount& step) { return step.has_optimizer; });
  return last == steps.rend() ? steps.back() : *last;
}

}  // namespace ferry::traffic
