// SPDX-License-Identifier: Apache-2.0
#include "front/cli/stand_in_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "driver/driver.hpp"
#include "front/cli/cli.hpp"
#include "front/traces/messages.hpp"

namespace ferry::cli {

namespace {

constexpr int kExitCannotExecute = 126;  // as shells say it
constexpr int kExitNoProgram = 127;

constexpr const char* kRuntimeLibrary = "libcudart.so.13";  // beside the driver's

void set_variable(const char* name, const std::string& value) {
  setenv(name, value.c_str(), 1);
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ":" + second;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The library that backend:ferry takes: the one that this program is installed or built with.
void name_library(const std::string& folder) {
  if (!variable("FERRY_LIBRARY").empty()) return;
  for (const char* const place : {"/../libferry.so", "/../../libferry.so"}) {
    if (access((folder + place).c_str(), R_OK) == 0)
      return set_variable("FERRY_LIBRARY", folder + place);
  }
}

// Makes every way of finding libcuda.so.1 end at the stand-in. The search path serves dlopen; a
// program with an RPATH of its own would pass it by, but not a library that is there before it
// starts.
void point_to_stand_in(const std::string& folder, const StandInProgram& options) {
  set_variable("LD_LIBRARY_PATH", joined(folder, variable("LD_LIBRARY_PATH")));
  if (!options.no_preload) {
    const std::string both = folder + "/" + kDriverLibrary + ":" + folder + "/" + kRuntimeLibrary;
    set_variable("LD_PRELOAD", joined(variable("LD_PRELOAD"), both));
  }
  // Read by Python when it starts: there torch gets what else it needs.
  set_variable("PYTHONPATH", joined(folder + "/python", variable("PYTHONPATH")));
  set_variable("FERRY_DRIVER", "sim");
  set_variable("FERRY_SIM_DIR", folder);
  name_library(folder);
  // PyTorch keeps kernels that it compiles under the name of the architecture: here they are empty,
  // and a real GPU would load them later.
  set_variable("USE_PYTORCH_KERNEL_CACHE", "0");
  if (options.values) set_variable("FERRY_SIM_VALUES", *options.values);
  if (options.traffic_folder) set_variable("FERRY_SIM_TRAFFIC", *options.traffic_folder);
}

// What the stand-in is to be: the settings, and those that have options of their own.
void choose_settings(const StandInProgram& options) {
  const std::string there = variable("FERRY_SIM");
  if (options.settings && !there.empty() && there != *options.settings) {
    fmt::print(stderr,
               "ferry: FERRY_SIM is set to \"{}\" and not heeded: --settings counts alone.\n",
               replay::printable(there));
  }
  if (!options.settings && options.machine.empty()) return;
  std::string all = options.settings.value_or(there);
  for (const auto& [key, value] : options.machine)
    all += (all.empty() ? "" : ";") + std::string(key) + "=" + value;
  set_variable("FERRY_SIM", all);
}

}  // namespace

int exec_on_stand_in(const StandInProgram& options) {
  const std::string folder = stand_in_folder();
  if (folder.empty()) return fail(kExitFailure, kNoStandIn);
  if (!options.no_preload && folder.find_first_of(" :\t\n") != std::string::npos) {
    return fail(
        kExitFailure,
        fmt::format("the stand-in lies in {}, and LD_PRELOAD cannot name a path with blanks "
                    "or colons. Install Ferry elsewhere, or use --no-preload.",
                    folder));
  }
  point_to_stand_in(folder, options);
  choose_settings(options);
  if (const std::string error = stand_in_settings_error(); !error.empty()) {
    return fail(kExitUsage, fmt::format("the stand-in does not understand {}: {}.",
                                        options.settings          ? "--settings"
                                        : options.machine.empty() ? "FERRY_SIM"
                                                                  : "these settings",
                                        error));
  }
  std::vector<char*> arguments;
  for (const std::string& word : options.program)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (error == ENOENT && access(arguments[0], F_OK) == 0) {
    return fail(
        kExitCannotExecute,
        fmt::format("\"{}\" could not be started: the interpreter that it names is missing.",
                    arguments[0]));
  }
  if (error == ENOENT) {
    return fail(kExitNoProgram, fmt::format("there is no program \"{}\".", arguments[0]));
  }
  return fail(kExitCannotExecute,
              fmt::format("\"{}\" could not be started: {}.", arguments[0], std::strerror(error)));
}

}  // namespace ferry::cli
