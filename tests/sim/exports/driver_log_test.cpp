// SPDX-License-Identifier: Apache-2.0
#include "sim/words/driver_log.hpp"

#include <fstream>
#include <sstream>

#include "sim/sim_fixture.hpp"
#include "sim/words/say_once.hpp"

namespace ferry::sim {
namespace {

class ExportsDriverLogTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    FERRY_OK(cuLogsCurrent(&start, 0));
  }
  // What fits into `bytes`, from where the test began or on from the last time.
  std::string dump(std::size_t bytes, CUresult expected = CUDA_SUCCESS) {
    std::string text(bytes, '#');
    std::size_t size = bytes;
    EXPECT_EQ(cuLogsDumpToMemory(&start, text.data(), &size, 0), expected);
    EXPECT_LT(size, bytes);
    EXPECT_EQ(text[size], '\0');
    return text.substr(0, size);
  }

  CUlogIterator start = 0;
};

TEST_F(ExportsDriverLogTest, AnEmptyDumpIsNoError) {
  EXPECT_EQ(dump(1), "");
  EXPECT_EQ(dump(100), "");
}

TEST_F(ExportsDriverLogTest, DumpsGoOnWhereTheyEnded) {
  DriverLog::get().add("one");
  DriverLog::get().add("two");
  EXPECT_EQ(dump(100), "one\ntwo\n");
  EXPECT_EQ(dump(100), "");
  DriverLog::get().add("three");
  EXPECT_EQ(dump(100), "three\n");
}

TEST_F(ExportsDriverLogTest, ASmallBufferGetsTheLatestAndSaysSo) {
  const std::string longest(60, 'a');
  DriverLog::get().add(longest);
  DriverLog::get().add("b");
  const CUlogIterator first = start;
  EXPECT_EQ(dump(3, CUDA_ERROR_INVALID_VALUE), "");
  EXPECT_EQ(start, first) << "nothing was read";
  EXPECT_EQ(dump(60), "(older messages are not there)\nb\n");
  start = first;
  EXPECT_EQ(dump(64), longest + "\nb\n") << "just large enough";
}

TEST_F(ExportsDriverLogTest, DumpsIntoAFile) {
  const std::string path = testing::TempDir() + "ferry_driver_log_test";
  DriverLog::get().add("to a file");
  FERRY_OK(cuLogsDumpToFile(&start, path.c_str(), 0));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "to a file\n");
  EXPECT_EQ(dump(100), "") << "the iterator went on";
  EXPECT_EQ(cuLogsDumpToFile(&start, "/nowhere/at/all", 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsDriverLogTest, TheProgramIsToldWhatIsNotSupported) {
  struct Told {
    std::string text;
    CUresult from_inside = CUDA_ERROR_UNKNOWN;
  } told;
  CUlogsCallbackHandle handle = nullptr;
  FERRY_OK(cuLogsRegisterCallback(
      [](void* data, CUlogLevel, char* message, std::size_t length) {
        auto* const out = static_cast<Told*>(data);
        out->text.assign(message, length);
        std::size_t free = 0;
        std::size_t total = 0;
        out->from_inside = cuMemGetInfo_v2(&free, &total);
      },
      &told, &handle));
  say_once("nothing of this test is supported");
  EXPECT_EQ(told.text, "") << "no code of the program runs under the lock";
  FERRY_OK(cuCtxGetCurrent(&context));
  EXPECT_EQ(told.text, "nothing of this test is supported");
  EXPECT_EQ(told.from_inside, CUDA_SUCCESS);
  FERRY_OK(cuLogsUnregisterCallback(handle));
  EXPECT_EQ(cuLogsUnregisterCallback(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ExportsDriverLogTest, ArgumentsAreChecked) {
  char text = 'x';
  std::size_t none = 0;
  std::size_t one = 1;
  EXPECT_EQ(cuLogsRegisterCallback(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsUnregisterCallback(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsCurrent(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsCurrent(&start, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, nullptr, &one, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, &text, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, &text, &none, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsDumpToMemory(nullptr, &text, &one, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, 'x');
  EXPECT_EQ(cuLogsDumpToFile(nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLogsDumpToFile(nullptr, "/dev/null", 1), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ferry::sim
