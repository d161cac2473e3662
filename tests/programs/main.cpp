// SPDX-License-Identifier: Apache-2.0
// Runs one of the small programs: `small_programs NAME`. Exit status: 0 where its bytes are right,
// 1 where they are wrong; the stand-in makes it 66 where they are right and something is amiss all
// the same. `small_programs --list correct|faulty` prints their names.
#include <cstring>

#include "programs/program.hpp"

namespace {

using ferry::programs::Program;

int list(std::span<const Program> programs) {
  for (const Program& program : programs) std::puts(program.name);
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
  using namespace ferry::programs;
  if (count == 3 && std::strcmp(words[1], "--list") == 0)
    return list(std::strcmp(words[2], "faulty") == 0 ? faulty_programs() : correct_programs());
  for (const auto programs : {correct_programs(), faulty_programs()}) {
    for (const Program& program : programs) {
      if (count == 2 && std::strcmp(words[1], program.name) == 0) return run(program);
    }
  }
  std::fputs("usage: small_programs NAME | --list correct|faulty\n", stderr);
  return 2;
}
