// SPDX-License-Identifier: Apache-2.0
// Whether the threads of this process all wait for something: for each other, or for what comes
// from outside. As Linux tells it in /proc/self/task; asked now and then, so a wait that begins or
// ends just then may be missed.
#pragma once

#include <string_view>

namespace ferry::sim {

// What a thread does, by the files `stat` and `syscall` of its folder. Whatever is not understood,
// and a sleep for a given time, counts as busy.
enum class ThreadActivity { busy, waits, gone };
[[nodiscard]] ThreadActivity activity_of(std::string_view stat, std::string_view syscall);

// True where every thread waits, the caller aside. False where there is no way to know.
[[nodiscard]] bool others_all_wait();

}  // namespace ferry::sim
