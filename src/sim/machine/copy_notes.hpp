// SPDX-License-Identifier: Apache-2.0
// The copies of one submission, for the traffic log: which way each goes, and, when it runs, what
// it moves. Nothing is looked at where nobody keeps such a log.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/machine/library.hpp"
#include "sim/machine/submission.hpp"

namespace ferry::sim {

class CopyNotes {
 public:
  // The submission was queued as `ticket`, on a stream of `device`. Adds its copies to the log;
  // kernels, fills, words and host functions are none. A member of a batch is one for itself.
  static std::shared_ptr<CopyNotes> take(Call& call, const Submission& submission, int device,
                                         const Ticket& ticket);

  // The work runs between these two, and the host memory is what it was given.
  void before_work(const Machine& machine);
  void after_work(const Machine& machine, bool copied);

 private:
  struct Note {
    std::shared_ptr<CopyRecord> record;
    std::vector<Touch> host;  // what it touches there
  };

  void look(const Machine& machine, const Note& note);

  std::vector<Note> notes_;
};

}  // namespace ferry::sim
