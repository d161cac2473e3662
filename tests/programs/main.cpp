// SPDX-License-Identifier: Apache-2.0
// Runs one of the small programs: `small_programs NAME`. Exit status: 0 where its bytes are right,
// 1 where they are wrong; the stand-in makes it 66 where they are right and something is amiss all
// the same. `small_programs --list correct|faulty` prints their names.
#include <array>
#include <cstring>

#include "programs/program.hpp"

namespace {

using ferry::programs::Program;

struct Group {
  const char* kind;
  std::span<const Program> programs;
};

std::array<Group, 5> groups() {
  using namespace ferry::programs;
  return {{{"correct", correct_orders()},
           {"correct", correct_memory()},
           {"correct", correct_graphs()},
           {"faulty", faulty_programs()},
           {"faulty", faulty_graphs()}}};
}

int list(const char* kind) {
  for (const Group& group : groups()) {
    if (std::strcmp(kind, group.kind) != 0) continue;
    for (const Program& program : group.programs) std::puts(program.name);
  }
  return 0;
}

int run(const Program& program) {
  CUcontext context = nullptr;
  CUdevice device = 0;
  FERRY_MUST(cuInit(0));
  FERRY_MUST(cuDeviceGet(&device, 0));
  FERRY_MUST(cuDevicePrimaryCtxRetain(&context, device));
  FERRY_MUST(cuCtxSetCurrent(context));
  const bool right = program.run();
  FERRY_MUST(cuCtxSynchronize());
  FERRY_MUST(cuDevicePrimaryCtxRelease(device));
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "--list") == 0) return list(words[2]);
  for (const Group& group : groups()) {
    for (const Program& program : group.programs) {
      if (count == 2 && std::strcmp(words[1], program.name) == 0) return run(program);
    }
  }
  std::fputs("usage: small_programs NAME | --list correct|faulty\n", stderr);
  return 2;
}
