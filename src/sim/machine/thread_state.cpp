// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/thread_state.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace ferry::sim {

namespace {

// A thread-specific key and not thread_local: those of the main thread die before static
// destructors run.
pthread_key_t make_key() {
  pthread_key_t key{};
  const int error =
      pthread_key_create(&key, [](void* state) { delete static_cast<ThreadState*>(state); });
  if (error != 0) std::abort();
  return key;
}

}  // namespace

ThreadState& ThreadState::mine() {
  static const pthread_key_t key = make_key();
  static std::atomic<std::uint64_t> next_number{1};
  if (void* const state = pthread_getspecific(key)) return *static_cast<ThreadState*>(state);
  auto* const state = new ThreadState();
  state->number = next_number.fetch_add(1);
  pthread_setspecific(key, state);
  return *state;
}

}  // namespace ferry::sim
