// SPDX-License-Identifier: Apache-2.0
// What the program's copies and waits were, written to a file as they happen: one line of JSON for
// each, in the order in which they are known. `ferry sim run --traffic` adds them up.
//
//   {"is":"mark","kind":"phase","name":"backward","value":3,"at_ps":81,"in_use_bytes":[4096]}
//   {"is":"copy","mark":1,"way":"to_host","bytes":512,"pinned":true,"blocks":false,"call":
//    "cuMemcpyDtoHAsync","operator":"aten::copy_","place":"train.py:8","device":0,"stream":7,
//    "begin_ps":81,"end_ps":90,"digest":"90ab...","zero":false,"widened":false}
//   {"is":"wait","mark":1,"call":"cuStreamSynchronize","operator":"","place":"train.py:9"}
//   {"is":"end"}
//
// `mark` counts the marks before the call. Owned by the library; requires the library's lock.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/time/timeline.hpp"
#include "sim/traffic/copy_contents.hpp"
#include "sim/words/framework_operator.hpp"

namespace ferry::sim {

// Who asked for it, and where: an operator of a framework, or a place in the program.
struct Asker {
  const FrameworkOperator* part_of = nullptr;
  const void* site = nullptr;
};

struct CopyRecord {
  std::string_view call;
  Asker asker;
  std::string_view way;  // to_device, to_host, on_device, between_devices, on_host
  std::uint64_t bytes = 0;
  bool pinned = true;   // the driver knows all the host memory that it touches
  bool blocks = false;  // the call returns when the copy is over
  int device = 0;
  std::uint64_t stream = 0;
  std::optional<CopyContents> contents = std::nullopt;  // of copies between host and device
  TimedTaskRef time = nullptr;
  bool done = false;  // its contents are known, where they ever are
};

class TrafficLog {
 public:
  // The file is made when there is something to write.
  void keep_in(std::string path) { path_ = std::move(path); }
  [[nodiscard]] bool is_on() const { return !path_.empty(); }

  // A copy was queued. The caller says when it is done.
  [[nodiscard]] std::shared_ptr<CopyRecord> add_copy(CopyRecord record);
  // The host waits for the device.
  void add_wait(std::string_view call, const Asker& asker);
  void add_mark(std::string_view kind, std::string_view name, std::uint64_t value, Picoseconds now,
                std::span<const std::uint64_t> in_use);

  // The program ends: what is known is written, and from now on at once.
  void end();
  // In a child of the process that opened it: the file is the parent's.
  void leave() { path_.clear(); }

 private:
  struct Pending {
    std::uint64_t mark = 0;
    std::shared_ptr<CopyRecord> record;
  };

  void write_line(const std::string& text);
  void write_copy(const Pending& pending);
  void write_what_is_known(bool all);

  std::string path_;  // empty: nobody wants to know
  std::FILE* file_ = nullptr;
  bool ended_ = false;
  std::uint64_t marks_ = 0;
  std::deque<Pending> pending_;
};

}  // namespace ferry::sim
