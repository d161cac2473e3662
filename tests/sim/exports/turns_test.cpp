// SPDX-License-Identifier: Apache-2.0
// Several threads that drive the modelled machine. Free, their figures depend on how the system
// schedules them; taking turns, they are the same to the bit.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "sim/sim_fixture.hpp"

namespace ferry::sim {
namespace {

constexpr std::size_t kThreads = 3;
constexpr const char* kSchedules[] = {"eager", "lazy", "random;seed=1", "random;seed=2"};

// How the system might schedule threads: each sleeps for random times now and then, and one of them
// is late as a whole.
class Jitter {
 public:
  Jitter(unsigned run, std::size_t thread) : random_(run * 16 + static_cast<unsigned>(thread)) {
    if (run % kThreads == thread) std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  void operator()() {
    if (random_() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 500));
  }

 private:
  std::mt19937 random_;
};

class TurnsExportsTest : public SimTest {
 protected:
  // What the threads of one run were told, in the order in which they were told it.
  using Log = std::vector<std::uint64_t>;

  void note(std::uint64_t value) {
    const std::lock_guard lock(log_mutex_);
    log_.push_back(value);
  }

  // Each thread sends copies both ways on its own stream, waits now and then, and takes memory.
  void drive(std::size_t thread, Jitter& jitter) {
    constexpr std::size_t kBytes = 512 * 1024;
    FERRY_OK(cuCtxSetCurrent(context));
    const CUstream mine = stream();
    const CUevent begin = event(CU_EVENT_DEFAULT);
    const CUevent end = event(CU_EVENT_DEFAULT);
    const CUdeviceptr device = allocate(2 * kBytes);
    char* const host = static_cast<char*>(allocate_host(2 * kBytes));
    std::vector<char> pageable(kBytes);
    for (std::size_t round = 0; round < 6; ++round) {
      jitter();
      FERRY_OK(cuEventRecord(begin, mine));
      const std::size_t bytes = kBytes >> ((round + thread) % 4);
      FERRY_OK(cuMemcpyHtoDAsync_v2(device, host, bytes, mine));
      jitter();
      FERRY_OK(cuMemcpyDtoHAsync_v2(host + kBytes, device + kBytes, bytes, mine));
      FERRY_OK(cuEventRecord(end, mine));
      if (with_functions_) {
        callers_[thread] = {this, thread};
        FERRY_OK(cuLaunchHostFunc(mine, note_of, &callers_[thread]));
      }
      jitter();
      if (round % 2 == thread % 2) {
        FERRY_OK(cuStreamSynchronize(mine));
      } else {
        while (cuEventQuery(end) == CUDA_ERROR_NOT_READY) jitter();
      }
      FERRY_OK(cuEventSynchronize(end));
      float milliseconds = -1;
      FERRY_OK(cuEventElapsedTime(&milliseconds, begin, end));
      EXPECT_GE(milliseconds, 0.0F);
      note(thread);
      note(static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6));
      note(ferry_sim_now_ps());
      FERRY_OK(cuMemcpyHtoDAsync_v2(device, pageable.data(), kBytes / 4, mine));
      ferry_sim_host_work(1'000 * thread);
      FERRY_OK(cuStreamSynchronize(mine));
    }
    note(ferry_sim_now_ps());
  }

  // A host function's: of whose stream it is, and not who runs it.
  static void note_of(void* data) {
    const Caller& caller = *static_cast<Caller*>(data);
    caller.test->note(kThreads + caller.thread);
  }

  Log run(const std::string& settings, unsigned number) {
    restart("profile=h200-pcie5;" + settings);
    log_.clear();
    const bool turns = settings.find("threads=turns") != std::string::npos;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads && turns; ++thread)
      EXPECT_EQ(ferry_sim_thread_expect(thread), 0);
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread, turns, number] {
        Jitter jitter(number, thread);
        if (turns) {
          EXPECT_EQ(ferry_sim_thread_begin(thread), 0);
        }
        drive(thread, jitter);
        if (turns) {
          EXPECT_EQ(ferry_sim_thread_end(), 0);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    note(ferry_sim_now_ps());
    return log_;
  }

  bool with_functions_ = false;  // under each schedule at other moments of real time

 private:
  struct Caller {
    TurnsExportsTest* test = nullptr;
    std::size_t thread = 0;
  };

  std::array<Caller, kThreads> callers_;
  std::mutex log_mutex_;
  Log log_;
};

class TurnsRepeatTest : public TurnsExportsTest, public testing::WithParamInterface<const char*> {};

TEST_P(TurnsRepeatTest, EveryRunGivesTheSameFiguresInTheSameOrder) {
  const std::string settings = std::string("threads=turns;schedule=") + GetParam();
  with_functions_ = true;
  const Log first = run(settings, 0);
  EXPECT_GT(first.size(), kThreads * 24);
  for (unsigned number = 1; number <= 20; ++number) EXPECT_EQ(run(settings, number), first);
}

INSTANTIATE_TEST_SUITE_P(Schedules, TurnsRepeatTest, testing::ValuesIn(kSchedules),
                         [](const auto& schedule) {
                           std::string name = schedule.param;
                           std::erase_if(name, [](char c) { return c == ';' || c == '='; });
                           return name;
                         });

TEST_F(TurnsExportsTest, EverySchedulesFiguresAreTheSame) {
  const Log eager = run("threads=turns;schedule=eager", 0);
  EXPECT_EQ(run("threads=turns;schedule=lazy", 1), eager);
  EXPECT_EQ(run("threads=turns;schedule=random;seed=3", 2), eager);
}

// That the test above would notice.
TEST_F(TurnsExportsTest, FreeThreadsGiveOtherFiguresInEveryRun) {
  std::set<Log> logs;
  for (unsigned number = 0; number < 5; ++number) logs.insert(run("threads=free", number));
  EXPECT_GT(logs.size(), 1U);
}

// The copies share the link: each takes as long as if both had been sent by one thread.
TEST_F(TurnsExportsTest, ThreadsOverlapInVirtualTime) {
  constexpr std::size_t kBytes = 64 * kMiB;
  const auto time_of = [&](std::size_t copies_up, std::size_t copies_down) {
    restart("profile=h200-pcie5;data=none;threads=turns");
    const CUdeviceptr device = allocate(2 * kBytes);
    char* const host = static_cast<char*>(allocate_host(2 * kBytes));
    const std::array streams{stream(), stream()};
    const std::uint64_t before = ferry_sim_now_ps();
    EXPECT_EQ(ferry_sim_thread_expect(1), 0);
    EXPECT_EQ(ferry_sim_thread_expect(2), 0);
    std::thread up([&] {
      EXPECT_EQ(ferry_sim_thread_begin(1), 0);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (std::size_t i = 0; i < copies_up; ++i) {
        EXPECT_EQ(cuMemcpyHtoDAsync_v2(device, host, kBytes, streams[0]), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(streams[0]), CUDA_SUCCESS);
      }
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    std::thread down([&] {
      EXPECT_EQ(ferry_sim_thread_begin(2), 0);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (std::size_t i = 0; i < copies_down; ++i) {
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(host + kBytes, device + kBytes, kBytes, streams[1]),
                  CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(streams[1]), CUDA_SUCCESS);
      }
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    up.join();
    down.join();
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return ferry_sim_now_ps() - before;
  };
  const std::uint64_t up = time_of(8, 0);
  const std::uint64_t down = time_of(0, 8);
  const std::uint64_t both = time_of(8, 8);
  EXPECT_GT(both, std::max(up, down)) << "they share the link";
  EXPECT_LT(both, (up + down) * 3 / 4) << "but do not follow each other";
}

TEST_F(TurnsExportsTest, CallsOfOthersAreRefusedMeanwhile) {
  restart("profile=h200-pcie5;threads=turns");
  FERRY_OK(cuCtxSynchronize());
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_NOT_PERMITTED);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("cuCtxSynchronize is refused"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1);
  std::thread([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ferry_sim_host_work(1'000'000);
    EXPECT_EQ(ferry_sim_thread_pause(), 0);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_NOT_PERMITTED) << "it has stepped out";
    EXPECT_EQ(ferry_sim_thread_resume(), 0);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  }).join();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_GT(ferry_sim_now_ps(), 1'000'000'000U) << "where the thread had come";
}

TEST_F(TurnsExportsTest, WhoTakesNoPartDrainsNothing) {
  restart("profile=h200-pcie5;threads=turns;schedule=lazy");
  const CUdeviceptr device = allocate(64);
  FERRY_OK(cuMemsetD32Async(device, 7, 16, stream()));
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  ferry_sim_drain();
  EXPECT_EQ(peek(device), kUnwritten);
  std::thread([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    ferry_sim_drain();
    EXPECT_EQ(peek(device), 7U);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  }).join();
}

// One thread hands pieces to another over a flag and a condition, both outside the driver.
TEST_F(TurnsExportsTest, HandingOverOutsideTheDriver) {
  std::set<Log> logs;
  for (unsigned number = 0; number < 20; ++number) {
    restart("profile=h200-pcie5;threads=turns");
    const CUdeviceptr device = allocate(8 * kMiB);
    char* const host = static_cast<char*>(allocate_host(8 * kMiB));
    const std::array streams{stream(), stream()};
    std::mutex mutex;
    std::condition_variable changed;
    int ready = 0;
    Log log;
    ASSERT_EQ(ferry_sim_thread_expect(1), 0);
    ASSERT_EQ(ferry_sim_thread_expect(2), 0);
    std::thread consumer([&] {
      Jitter jitter(number, 1);
      EXPECT_EQ(ferry_sim_thread_begin(1), 0);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (int piece = 1; piece <= 8; ++piece) {
        std::unique_lock lock(mutex);
        if (ready < piece) {
          EXPECT_EQ(ferry_sim_thread_pause(), 0);
          changed.wait(lock, [&] { return ready >= piece; });
          lock.unlock();
          jitter();
          EXPECT_EQ(ferry_sim_thread_resume(), 0);
        } else {
          lock.unlock();
        }
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(host, device, 300'000, streams[0]), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(streams[0]), CUDA_SUCCESS);
        log.push_back(ferry_sim_now_ps());
      }
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    std::thread producer([&] {
      Jitter jitter(number, 2);
      EXPECT_EQ(ferry_sim_thread_begin(2), 0);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      for (unsigned piece = 1; piece <= 8; ++piece) {
        EXPECT_EQ(cuMemcpyHtoDAsync_v2(device + kMiB, host + kMiB, 100'000 * piece, streams[1]),
                  CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(streams[1]), CUDA_SUCCESS);
        jitter();
        EXPECT_EQ(ferry_sim_thread_wake(1), 0);
        {
          const std::lock_guard lock(mutex);
          ready = static_cast<int>(piece);
        }
        changed.notify_one();
        ferry_sim_host_work(1'000);
        log.push_back(ferry_sim_now_ps());
      }
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    consumer.join();
    producer.join();
    logs.insert(log);
  }
  EXPECT_EQ(logs.size(), 1U);
}

// The host function of one thread may need what another holds, who is in a call of the driver.
TEST_F(TurnsExportsTest, AHostFunctionWakesAThread) {
  restart("profile=h200-pcie5;threads=turns;schedule=lazy");
  const CUstream a_stream = stream();
  static std::atomic<int> woken{-1};
  static std::atomic<int> paused{0};
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  ASSERT_EQ(ferry_sim_thread_expect(2), 0);
  std::thread sleeper([&] {
    EXPECT_EQ(ferry_sim_thread_begin(1), 0);
    EXPECT_EQ(ferry_sim_thread_pause(), 0);
    woken.wait(-1);
    EXPECT_EQ(ferry_sim_thread_resume(), 0);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  });
  std::thread([&] {
    EXPECT_EQ(ferry_sim_thread_begin(2), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    const auto body = [](void*) {
      paused = ferry_sim_thread_pause();
      woken = ferry_sim_thread_wake(1);
      woken.notify_all();
    };
    EXPECT_EQ(cuLaunchHostFunc(a_stream, body, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_SUCCESS);
    EXPECT_EQ(ferry_sim_thread_end(), 0);
  }).join();
  sleeper.join();
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(paused, -1) << "a host function has no place of its own to leave";
}

TEST_F(TurnsExportsTest, AWaitForAValueLetsItsWriterGoOn) {
  restart("profile=h200-pcie5;threads=turns");
  const CUstream a_stream = stream();
  auto* const word = static_cast<std::uint32_t*>(allocate_host(4));
  *word = 0;
  std::set<std::uint64_t> ends;
  for (unsigned number = 0; number < 5; ++number) {
    ASSERT_EQ(ferry_sim_thread_expect(1), 0);
    ASSERT_EQ(ferry_sim_thread_expect(2), 0);
    const std::uint64_t before = ferry_sim_now_ps();
    std::thread waiter([&, number] {
      Jitter jitter(number, 0);
      EXPECT_EQ(ferry_sim_thread_begin(1), 0);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamWaitValue32_v2(a_stream, reinterpret_cast<CUdeviceptr>(word), number + 1,
                                       CU_STREAM_WAIT_VALUE_EQ),
                CUDA_SUCCESS);
      EXPECT_EQ(cuStreamSynchronize(a_stream), CUDA_SUCCESS);
      ends.insert(ferry_sim_now_ps() - before);
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    std::thread writer([&, number] {
      Jitter jitter(number, 1);
      EXPECT_EQ(ferry_sim_thread_begin(2), 0);
      ferry_sim_host_work(200'000);
      jitter();
      *word = number + 1;
      EXPECT_EQ(ferry_sim_thread_end(), 0);
    });
    waiter.join();
    writer.join();
  }
  EXPECT_EQ(ends.size(), 1U);
  EXPECT_GE(*ends.begin(), 200'000'000U);
}

TEST_F(TurnsExportsTest, WithoutTurnsThereIsNoRound) {
  EXPECT_EQ(ferry_sim_thread_expect(1), -1);
  EXPECT_EQ(ferry_sim_thread_begin(1), -1);
  EXPECT_EQ(ferry_sim_thread_end(), -1);
  EXPECT_EQ(ferry_sim_thread_pause(), -1);
  EXPECT_EQ(ferry_sim_thread_wake(1), -1);
  EXPECT_EQ(ferry_sim_thread_resume(), -1);
}

TEST_F(TurnsExportsTest, TheSettingIsChecked) {
  EXPECT_EQ(ferry_sim_reset("threads=turns"), -1) << "no profile";
  EXPECT_EQ(ferry_sim_reset("profile=h200-pcie5;threads=two"), -1);
  ASSERT_EQ(ferry_sim_reset("profile=h200-pcie5"), 0);
  EXPECT_EQ(ferry_sim_configure("threads=turns"), 0) << "nobody has called yet";
  FERRY_OK(cuInit(0));
  ASSERT_EQ(ferry_sim_thread_expect(1), 0);
  EXPECT_EQ(ferry_sim_configure("threads=free"), -1) << "the machine is there already";
}

}  // namespace
}  // namespace ferry::sim
