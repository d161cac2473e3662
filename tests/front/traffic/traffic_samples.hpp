// SPDX-License-Identifier: Apache-2.0
// Records as the stand-in writes them, line by line.
#pragma once

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "front/traffic/traffic_records.hpp"

namespace ferry::traffic::testing_traffic {

class RecordText {
 public:
  RecordText& mark(const std::string& kind, const std::string& name, std::uint64_t value) {
    ++marks_;
    text_ += fmt::format(
        R"({{"is":"mark","kind":"{}","name":"{}","value":{},"at_ps":{},"in_use_bytes":[1024,2048]}})"
        "\n",
        kind, name, value, marks_ * 1'000'000);
    return *this;
  }
  RecordText& copy(const std::string& way, std::uint64_t bytes, const std::string& place,
                   const std::string& digest = "", bool widened = false, bool pinned = true) {
    text_ += fmt::format(
        R"({{"is":"copy","mark":{},"way":"{}","bytes":{},"pinned":{},"blocks":{},"call":"cuMemcpyAsync",)"
        R"("operator":"aten::copy_","place":"{}","device":0,"stream":7,"begin_ps":{},"end_ps":{})",
        marks_, way, bytes, pinned, !pinned, place, marks_ * 1'000'000, marks_ * 1'000'000 + 5);
    if (!digest.empty()) {
      text_ += fmt::format(R"(,"digest":"{}","zero":{},"widened":{})", digest, digest == "zero",
                           widened);
    }
    text_ += "}\n";
    return *this;
  }
  RecordText& wait(const std::string& place) {
    text_ += fmt::format(
        R"({{"is":"wait","mark":{},"call":"cuStreamSynchronize","operator":"","place":"{}"}})"
        "\n",
        marks_, place);
    return *this;
  }
  RecordText& end() {
    text_ += "{\"is\":\"end\"}\n";
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Records read() const {
    std::istringstream stream(text_);
    return read_records(stream);
  }

 private:
  std::string text_;
  std::uint64_t marks_ = 0;
};

// A step of two micro-steps whose gradients go down as 16 bits, come up again and go down as 32.
inline RecordText two_micro_steps() {
  RecordText record;
  record.mark("parameters", "", 4096).mark("micro_step", "", 1).mark("phase", "forward", 1);
  record.copy("to_device", 100, "train.py:1", "", false, false);
  record.mark("phase", "backward", 1).copy("to_host", 8192, "engine.py:2", "aa");
  record.mark("phase", "other", 1).mark("micro_step", "", 2).mark("phase", "forward", 1);
  record.mark("phase", "backward", 1);
  record.copy("to_device", 8192, "engine.py:3", "aa")
      .copy("to_host", 16384, "engine.py:4", "aa", true);
  record.copy("on_device", 64, "engine.py:5").wait("engine.py:6").wait("engine.py:6");
  record.mark("phase", "step", 1).copy("to_device", 8192, "engine.py:7", "bb").wait("engine.py:8");
  record.mark("phase", "other", 1);
  return record.end();
}

}  // namespace ferry::traffic::testing_traffic
