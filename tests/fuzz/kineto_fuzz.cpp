// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Kineto trace, plain or compressed.
#include "front/traces/files.hpp"
#include "front/traces/kineto_reader.hpp"
#include "front/traces/kineto_samples.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool compressed = bytes.starts_with("\x1f\x8b");
  constexpr ferry::Bytes kMost{1 << 20};
  auto source = ferry::replay::ByteSource::over(bytes, {kMost, kMost});
  ferry::fuzz::check(ferry::replay::read_kineto(source), compressed ? 2 * kMost.count : size);
  return 0;
}

std::vector<std::string> ferry::fuzz::seeds() {
  using replay::testing::json_of;
  using replay::testing::kineto_trace;
  const std::string plain = kineto_trace(
      json_of({100.5, 0x1000, 512, 10'512, 20'000}), json_of({101, 0x2000, -1024, 9'488, 20'000}),
      json_of({105, 0x1000, -512, 8'976, 22'000, 6, 1}), json_of({1, 0x1000, 64, 64, 0, 0, -1}));
  const std::string odd = kineto_trace(
      R"({"name":"other","args":{"occupancy":NaN,"rate":-Infinity,"more":[Infinity,"\"NaN"]}})",
      R"({"name":"[memory]","ts":1,"args":{"Addr":"0xff","Bytes":1,"Device Type":1,"Device Id":0}})");
  return {
      plain, odd, "[" + json_of({1, 2, 3, 3, 0}) + "]", replay::testing::gzipped(plain),
      replay::testing::gzipped(plain.substr(0, 50)) + replay::testing::gzipped(plain.substr(50))};
}
