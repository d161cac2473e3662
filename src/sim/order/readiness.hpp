// SPDX-License-Identifier: Apache-2.0
// Which operations may run, by what they come after alone, and what that is: no schedule is asked.
// Requires the library's lock.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/order/operation.hpp"

namespace ferry::sim {

// Nothing, or an operation that has run.
[[nodiscard]] bool is_done(const Ticket& ticket);

// Of those that are not done, the one that was enqueued last; null when all are.
[[nodiscard]] Ticket newest_open(std::span<const Ticket> tickets);

// The operation to run next on the way to `target`, which is not done; null when that one is
// running already, or waits for its condition. Of several that the target waits for, the one that
// was enqueued last goes first: a program that forgot to order them meant it the other way round.
[[nodiscard]] Ticket next_needed(const Ticket& target);

// One candidate for each stream whose oldest operation may run, in the order of enqueueing.
[[nodiscard]] std::vector<Ticket> ready_operations(
    std::span<const std::unique_ptr<StreamGroup>> groups);

// Host code that has not begun, in the order of enqueueing.
[[nodiscard]] std::vector<Ticket> waiting_host_code(
    std::span<const std::unique_ptr<StreamGroup>> groups);

// Leaves those that may run at this moment of the caller's clock. Host code has its moment in
// virtual time: what it does to the program is not seen before the work in front of it has ended.
void leave_timely(std::vector<Ticket>& candidates, Timeline& timeline);

// Of operations that may run: the oldest that is no host code, and where all are, the one that ends
// first. Requires: not empty, and the timeline knows when host code among them ends.
[[nodiscard]] Ticket first_in_time(std::span<const Ticket> candidates);

// Of operations that may run: the host code whose moment comes first; null where none is host code.
// Lets the timeline go on until one has ended.
[[nodiscard]] Ticket soonest_host_code(std::vector<Ticket> candidates, Timeline& timeline);

// Gives an operation behind a condition, which is about to run, its place in the order: it comes
// after what made the condition true. Where nobody knows that, after all that has run; and after
// all that the program had seen, whose own code may have written the value.
void place(Operation& operation, const Clock& finished, const Clock& seen);

}  // namespace ferry::sim
