// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_refusals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/traces/pickle/pickle.hpp"

namespace ferry::replay {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

TraceError refusal(std::string_view pickle) {
  auto document = decode_pickle(pickle);
  return document ? TraceError{"accepted", std::nullopt} : document.error();
}

TEST(PickleRefusals, GlobalsAreNamed) {
  const TraceError error = refusal("\x80\x02(cos\nsystem\n(S'ls'\ntR.");
  EXPECT_EQ(error.message,
            "asks for the global 'os.system', which is refused: only plain data is read");
  EXPECT_EQ(error.offset, 3U);
  EXPECT_THAT(refusal("\x80\x04\x8c\x08"
                      "builtins\x8c\x04"
                      "eval\x93.")
                  .message,
              HasSubstr("'builtins.eval'"));
  EXPECT_THAT(refusal("(S'ls'\nios\nsystem\n.").message, HasSubstr("'os.system'"));  // INST
}

TEST(PickleRefusals, NamesOfAnySizeAndContent) {
  const std::string pickle =
      "c" + std::string(100'000, 'm') + "\n" + std::string(100'000, 'n') + "\n";
  EXPECT_LT(refusal(pickle).message.size(), 200U);
  EXPECT_THAT(refusal("ca\x1b[2J\nb\n").message, HasSubstr("'a\\x1b[2J.b'"));
  EXPECT_THAT(refusal("cos\nsystem").message, HasSubstr("cut off"));
  EXPECT_THAT(refusal("\x80\x04KaKb\x93.").message, HasSubstr("a global without a name"));
  EXPECT_THAT(refusal("\x80\x04\x93.").message, HasSubstr("a global without a name"));
}

TEST(PickleRefusals, CallsAndObjectsAreRefused) {
  EXPECT_THAT(refusal("NN\x52.").message, HasSubstr("REDUCE"));
  EXPECT_THAT(refusal("NNb.").message, HasSubstr("BUILD"));
  EXPECT_THAT(refusal("(No.").message, HasSubstr("OBJ"));
  EXPECT_THAT(refusal("NN\x81.").message, HasSubstr("NEWOBJ"));
  EXPECT_THAT(refusal("NNN\x92.").message, HasSubstr("NEWOBJ_EX"));
}

TEST(PickleRefusals, ExtensionsPersistentIdsAndBuffersAreRefused) {
  EXPECT_THAT(refusal("\x82\x07.").message, HasSubstr("the registered extension 7,"));
  EXPECT_THAT(refusal("\x83\x01\x01.").message, HasSubstr("the registered extension 257,"));
  EXPECT_THAT(refusal("\x84\x00\x00\x01\x00."sv).message, HasSubstr("extension 65536,"));
  EXPECT_THAT(refusal("\x84\x00").message, HasSubstr("cut off"));
  EXPECT_THAT(refusal("Pthing\n.").message, HasSubstr("the persistent object 'thing'"));
  EXPECT_THAT(refusal("NQ.").message, HasSubstr("BINPERSID"));
  EXPECT_THAT(refusal("\x80\x05\x97.").message, HasSubstr("NEXT_BUFFER"));
  EXPECT_THAT(refusal("N\x98.").message, HasSubstr("NEXT_BUFFER"));
}

TEST(PickleRefusals, EveryOtherByteIsAnUnknownOpcode) {
  int unknown = 0;
  for (int code = 0; code < 256; ++code) {
    const std::string pickle(1, static_cast<char>(code));
    if (refusal(pickle).message.starts_with("has the unknown pickle opcode 0x")) ++unknown;
  }
  // 256 less the 68 opcodes of protocol 5.
  EXPECT_EQ(unknown, 256 - 68);
}

}  // namespace
}  // namespace ferry::replay
