// SPDX-License-Identifier: Apache-2.0
// Runs one of the executable's programs by its name. Exit status: 0 where its bytes are right, 1
// where they are wrong; the stand-in makes it 66 where they are right and something is amiss all
// the same. `--list correct|faulty` prints the names.
#include <cstring>

#include "programs/program.hpp"

namespace {

using ferry::programs::Group;
using ferry::programs::groups;
using ferry::programs::Program;

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
  std::fputs("usage: PROGRAM NAME | --list correct|faulty\n", stderr);
  return 2;
}
