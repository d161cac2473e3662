// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PyTorch memory snapshot.
#include <string_view>

#include "front/traces/files.hpp"
#include "front/traces/snapshot_reader.hpp"
#include "front/traces/snapshot_samples.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ferry::fuzz::check(ferry::replay::read_snapshot(bytes), size);
  return 0;
}

std::vector<std::string> ferry::fuzz::seeds() {
  std::vector<std::string> out;
  for (int protocol = 0; protocol <= 5; ++protocol) {
    out.push_back(replay::testing::pickled(replay::testing::sample_snapshot(), protocol));
    out.push_back(replay::testing::file_content(
        replay::testing::fixture_path("snapshot_protocol" + std::to_string(protocol) + ".pickle")));
  }
  // Opcodes that no pickler of today writes, and a refused one, for the mutations to use.
  using namespace std::string_view_literals;
  for (const std::string_view pickle :
       {"(cos\nsystem\n(S'ls'\ntR."sv,
        "](Kx\x8d\x01\0\0\0\0\0\0\0x\x8e\x01\0\0\0\0\0\0\0x\x96\x01\0\0\0\0\0\0\0xe."sv,
        "\x8f(T\x01\0\0\0xU\x01xC\x01xB\x01\0\0\0x\x90(K\x01\x91\x94\x32\x30\x28\x31\x93."sv}) {
    out.emplace_back(pickle);
  }
  return out;
}
