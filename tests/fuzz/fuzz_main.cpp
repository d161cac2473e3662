// SPDX-License-Identifier: Apache-2.0
// Drives a fuzz target without libFuzzer: a number of seeded, repeatable mutations of its seeds.
// With files as arguments it runs those instead, to look at one input again.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.hpp"

namespace {

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string out = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(out);
    return out;
  }

 private:
  // At least 1, so that it can be asked for an empty text too.
  std::size_t below(std::size_t limit) { return random_() % (limit == 0 ? 1 : limit); }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(1 + below(40));
    switch (below(8)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, length, static_cast<char>(below(256)));
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), length));
        break;
      case 5: {
        const std::string& other = seeds_[below(seeds_.size())];
        text.insert(at, other.substr(below(other.size() + 1), length));
        break;
      }
      case 6:
        put_number(text, at);
        break;
      default:
        if (below(4) == 0) text.resize(at);
        break;
    }
  }

  // A number near a limit, in the width that lengths and sizes have.
  void put_number(std::string& text, std::size_t at) {
    static constexpr std::array<std::uint64_t, 8> kNumbers{
        0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
    std::uint64_t number = kNumbers[below(kNumbers.size())];
    for (std::size_t width = std::size_t{1} << below(4); width > 0 && at < text.size(); --width) {
      text[at++] = static_cast<char>(number);
      number >>= 8;
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

// From a buffer of its exact size, so that a sanitizer sees every read beyond the end.
void run(const std::string& input) {
  const auto copy = std::make_unique<std::uint8_t[]>(input.size());
  std::copy(input.begin(), input.end(), copy.get());
  LLVMFuzzerTestOneInput(copy.get(), input.size());
}

int usage() {
  std::fputs("usage: [--runs N] [--seed S] | --dump FOLDER | FILE...\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 10'000;
  std::uint64_t seed = 1;
  bool files = false;
  const std::vector<std::string> seeds = ferry::fuzz::seeds();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--")) {
      if (++i == argc) return usage();
      if (argument == "--runs") {
        runs = std::strtoull(argv[i], nullptr, 10);
      } else if (argument == "--seed") {
        seed = std::strtoull(argv[i], nullptr, 10);
      } else if (argument == "--dump") {
        files = true;
        for (std::size_t k = 0; k < seeds.size(); ++k) {
          std::ofstream(std::string(argv[i]) + "/seed" + std::to_string(k), std::ios::binary)
              << seeds[k];
        }
      } else {
        return usage();
      }
      continue;
    }
    files = true;
    std::ifstream file(argument, std::ios::binary);
    run({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  }
  if (files) return 0;
  for (const std::string& input : seeds) run(input);
  Mutator mutator(seeds, seed);
  for (std::uint64_t i = 0; i < runs; ++i) run(mutator.next());
  std::printf("%zu seeds and %llu mutations of them kept their promises\n", seeds.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
