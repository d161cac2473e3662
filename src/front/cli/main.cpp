// SPDX-License-Identifier: Apache-2.0
#include "front/cli/cli.hpp"

int main(int argc, char** argv) {
  return ferry::cli::run(argc, argv);
}
