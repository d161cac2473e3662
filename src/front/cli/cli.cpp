// SPDX-License-Identifier: Apache-2.0
#include "front/cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <cstdio>

#include "front/cli/doctor.hpp"
#include "front/cli/replay_command.hpp"
#include "front/cli/sim_command.hpp"
#include "front/version.hpp"

namespace ferry::cli {

namespace {

// In the order of `ferry --help`.
constexpr std::array kCommands{add_doctor_command, add_replay_command, add_sim_command};

constexpr const char* kDescription =
    "Ferry: CUDA memory that does not fragment, and copies that are worth making.";

constexpr const char* kFooter =
    "Start here:\n"
    "  ferry doctor                   what works on this machine, and what to do about the rest\n"
    "  ferry doctor --device sim      the same without a GPU, on Ferry's stand-in for the driver\n"
    "  ferry replay FILE              would a recorded PyTorch or RMM run have fitted with Ferry\n"
    "  ferry sim run -- ./program     run a program of the CUDA driver API on the stand-in\n"
    "\n"
    "Environment:\n"
    "  FERRY_DRIVER    auto | cuda | sim | /path/to/libcuda.so.1: which driver to use (auto)\n"
    "  FERRY_SIM       settings of the stand-in, such as \"devices=2;capacity=24GiB\"\n"
    "  FERRY_SIM_DIR   the folder of the stand-in, where it is not beside Ferry\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 a command line or file that cannot be understood,\n"
    "3 out of memory.";

// What was wrong with the command line, in one sentence.
std::string describe(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (argc == 1) return "a command is needed";
  if (app.get_subcommands().empty()) {
    return fmt::format("there is no {} \"{}\"", argv[1][0] == '-' ? "option" : "command", argv[1]);
  }
  std::string text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

int run(int argc, char** argv) {
  int exit_code = kExitOk;
  CLI::App app(kDescription, "ferry");
  app.set_version_flag("--version", std::string("ferry ") + version_text());
  app.require_subcommand(1);
  for (const auto add_command : kCommands) add_command(app, exit_code);
  app.footer(kFooter);  // last: subcommands would inherit it
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help and --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, describe(app, error, argc, argv) + "; see ferry --help.");
  }
  return exit_code;
}

int fail(int exit_code, std::string_view message) {
  fmt::print(stderr, "ferry: {}\n", message);
  return exit_code;
}

void add_device_option(CLI::App& command, std::string& text) {
  command
      .add_option(
          "--device", text,
          "Which driver to use: auto (a real GPU), cuda, sim (the stand-in, no GPU needed), "
          "or the full path of a libcuda.so.1. Without it FERRY_DRIVER decides, else auto")
      ->type_name("auto|cuda|sim|PATH");
}

Result<DriverChoice, std::string> driver_choice(const std::string& text) {
  if (text.empty()) return DriverChoice::from_environment();
  Result<DriverChoice, std::string> choice = DriverChoice::parse(text);
  if (!choice) return "--device: " + choice.error();
  return choice;
}

}  // namespace ferry::cli
