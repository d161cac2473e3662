// SPDX-License-Identifier: Apache-2.0
#include "sim/words/jit_options.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace ferry::sim {
namespace {

void* as_value(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

TEST(JitOptions, LogsAreEmptyAndEnd) {
  char info[8] = "xxxxxxx";
  char error[8] = "xxxxxxx";
  const CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                                  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                                  CU_JIT_MAX_REGISTERS};
  void* values[] = {as_value(8), info, as_value(8), error, as_value(32)};
  EXPECT_TRUE(answer_jit_options({5, options, values}));
  EXPECT_STREQ(info, "");
  EXPECT_STREQ(error, "");
  EXPECT_EQ(info[1], 'x');
  EXPECT_EQ(values[0], nullptr);
  EXPECT_EQ(values[2], nullptr);
  EXPECT_EQ(values[1], info);
  EXPECT_EQ(values[4], as_value(32)) << "what is no answer stays";
}

TEST(JitOptions, ALogWithoutRoomIsLeftAlone) {
  char info[2] = "x";
  const CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {info, as_value(0)};
  EXPECT_TRUE(answer_jit_options({2, options, values}));
  EXPECT_EQ(info[0], 'x');
  EXPECT_TRUE(answer_jit_options({1, options, values})) << "no size was given";
  EXPECT_EQ(info[0], 'x');
  void* only_size[] = {as_value(16)};
  EXPECT_TRUE(answer_jit_options({1, &options[1], only_size}));
  EXPECT_EQ(only_size[0], nullptr);
}

TEST(JitOptions, ErrorsStandInTheirLogAsFarAsThereIsRoom) {
  for (const std::size_t room : {std::size_t{5}, std::size_t{16}}) {
    char info[16] = "x";
    char error[18] = "xxxxxxxxxxxxxxxxx";
    const CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                    CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {error, as_value(room), info, as_value(sizeof info)};
    EXPECT_TRUE(answer_jit_options({4, options, values}, "line 7: x"));
    EXPECT_STREQ(error, room == 5 ? "line" : "line 7: x");
    EXPECT_EQ(values[1], as_value(std::strlen(error)));
    EXPECT_EQ(error[room], 'x') << "nothing is written behind it";
    EXPECT_STREQ(info, "");
  }
}

TEST(JitOptions, NothingTookAnyTime) {
  const CUjit_option option = CU_JIT_WALL_TIME;
  void* value = as_value(~std::uintptr_t{0});
  EXPECT_TRUE(answer_jit_options({1, &option, &value}));
  float milliseconds = -1;
  std::memcpy(&milliseconds, &value, sizeof milliseconds);
  EXPECT_EQ(milliseconds, 0.0F);
}

TEST(JitOptions, AListMustBeThere) {
  CUjit_option option = CU_JIT_TARGET;
  void* value = nullptr;
  EXPECT_TRUE(answer_jit_options({0, nullptr, nullptr}));
  EXPECT_FALSE(answer_jit_options({1, nullptr, &value}));
  EXPECT_FALSE(answer_jit_options({1, &option, nullptr}));
}

}  // namespace
}  // namespace ferry::sim
