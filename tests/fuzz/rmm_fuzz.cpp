// SPDX-License-Identifier: Apache-2.0
// Any bytes as an RMM log.
#include "front/traces/rmm_reader.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ferry::replay::looks_like_rmm_log(bytes);
  const bool compressed = bytes.starts_with("\x1f\x8b");
  constexpr ferry::Bytes kMost{1 << 20};
  auto source = ferry::replay::ByteSource::over(bytes, {kMost, kMost});
  ferry::fuzz::check(ferry::replay::read_rmm_log(source), compressed ? 2 * kMost.count : size);
  return 0;
}

std::vector<std::string> ferry::fuzz::seeds() {
  const std::string header = "Thread,Time,Action,Pointer,Size,Stream\n";
  return {header +
              "1,10:12:01:500000,allocate,0x7f0000000000,1000,0x0\n"
              "2,10:12:01:500010,allocate,0x7f0000000400,500,0x55aa\n"
              "1,10:12:02:000000,free,0x7f0000000000,1000,0x2\n"
              "1,10:12:02.000001,allocate failure,(nil),300,(nil)\n",
          header +
              "1,23:59:59.999,free,0x10,64,0\r\n"
              "1,00:00:00.001,allocate,0x20,8,0\r\n"
              "1,00:00:00.002,allocate,0x20,16,0\r\n",
          "size,\"POINTER\",extra,action\n18446744073709551615,4096,x,ALLOCATE\n"};
}
