// SPDX-License-Identifier: Apache-2.0
#include "front/cli/cli.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

#include "front/cli/compare_command.hpp"
#include "front/cli/doctor.hpp"
#include "front/cli/replay_command.hpp"
#include "front/cli/sim_command.hpp"
#include "front/traces/messages.hpp"
#include "front/version.hpp"

namespace ferry::cli {

namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, const WordsAfterDashes& words, int& exit_code);
  bool takes_words;  // after --
  // What `--json` prints for a line that could not be understood; null where there is no --json.
  std::string (*error_json)(const std::string& error);
};

// In the order of `ferry --help`.
constexpr std::array kCommands{
    Command{"doctor", add_doctor_command, false, doctor_error_json},
    Command{"compare", add_compare_command, true, nullptr},
    Command{"replay", add_replay_command, true, replay_error_json},
    Command{"sim", add_sim_command, true, nullptr},
};

constexpr const char* kDescription =
    "Ferry: CUDA memory that does not fragment, and copies that are worth making.";

constexpr const char* kFooter =
    "Start here:\n"
    "  ferry doctor                   what works on this machine, and what to do about the rest\n"
    "  ferry doctor --device sim      the same without a GPU, on Ferry's stand-in for the driver\n"
    "  ferry replay FILE              would a recorded PyTorch or RMM run have fitted with Ferry\n"
    "  ferry compare -- python train.py   would a training fit, and under which allocator\n"
    "  ferry sim run -- ./program     run a program of the CUDA driver API on the stand-in\n"
    "\n"
    "Environment:\n"
    "  FERRY_DRIVER    auto | cuda | sim | /path/to/libcuda.so.1: which driver to use (auto)\n"
    "  FERRY_SIM       settings of the stand-in, such as \"devices=2;capacity=24GiB\"\n"
    "  FERRY_SIM_DIR   the folder of the stand-in, where it is not beside Ferry\n"
    "  FERRY_TRACE_DIR the folder that ferry replay takes when no file is named\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 a command line or file that cannot be understood,\n"
    "3 out of memory.";

// "ferry replay": the innermost command that was understood.
struct Understood {
  const CLI::App* command;
  std::string line;
};

Understood understood(const CLI::App& app) {
  Understood found{&app, "ferry"};
  while (!found.command->get_subcommands().empty()) {
    found.command = found.command->get_subcommands().front();
    found.line += " " + found.command->get_name();
  }
  return found;
}

// "path, run, list and show"
std::string commands_of(const CLI::App& command) {
  const std::vector<const CLI::App*> commands = command.get_subcommands({});
  std::string names;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == commands.size() ? " and " : ", ";
    names += before + commands[i]->get_name();
  }
  return names;
}

// What was wrong with the command line, in one sentence.
std::string describe(const CLI::App& command, const CLI::ParseError& error) {
  // The parser asks for a command before it wonders about words.
  if (error.get_name() == "RequiredError" && !command.get_subcommands({}).empty()) {
    const std::vector<std::string> unknown = command.remaining();
    if (unknown.empty()) return fmt::format("a command is needed: {}", commands_of(command));
    if (unknown[0].starts_with('-')) return fmt::format("there is no option \"{}\"", unknown[0]);
    return fmt::format("there is no command \"{}\", but {}", unknown[0], commands_of(command));
  }
  std::string text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return text;
}

// A command line for the parser. It takes words such as [a,b] for lists of words, so those after --
// are kept from it, and others that begin so are given as the paths that they are.
struct Line {
  std::vector<std::string> words;  // without the program
  WordsAfterDashes after;
};

Line cut(int argc, char** argv) {
  Line line;
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto command = std::find_if(kCommands.begin(), kCommands.end(),
                                    [&](const Command& known) { return known.name == name; });
  int i = 1;
  for (; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--" && command != kCommands.end() && command->takes_words) break;
    line.words.push_back((word.starts_with('[') ? "./" : "") + std::string(word));
  }
  for (++i; i < argc; ++i) line.after.emplace_back(argv[i]);
  return line;
}

// A stream that was closed would be the next file that is opened, and be written into. What stands
// in its place takes nothing.
void guard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

// Output may be lost only when the last of it is written; nobody else looks then.
int flushed(int exit_code) {
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!lost || exit_code != kExitOk) return exit_code;
  return fail(kExitFailure,
              fmt::format("the standard output could not be written: {}.", std::strerror(errno)));
}

// The parser gives up at the first mistake, so a --json after it is looked for here.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int refuse(const CLI::App& app, const std::string& error, int argc, char** argv) {
  const int exit_code = fail(kExitUsage, error);
  if (!wants_json(argc, argv) || app.get_subcommands().empty()) return exit_code;
  const std::string name = app.get_subcommands().front()->get_name();
  for (const Command& command : kCommands) {
    if (command.name == name && command.error_json != nullptr) {
      fmt::print("{}", command.error_json(error));
    }
  }
  return exit_code;
}

int run_line(int argc, char** argv) {
  int exit_code = kExitOk;
  Line line = cut(argc, argv);
  CLI::App app(kDescription, "ferry");
  app.set_version_flag("--version", std::string("ferry ") + version_text());
  app.require_subcommand(1);
  for (const Command& command : kCommands) command.add(app, line.after, exit_code);
  app.footer(kFooter);  // last: subcommands would inherit it
  try {
    std::reverse(line.words.begin(), line.words.end());  // as the parser wants them
    app.parse(line.words);
  } catch (const CLI::Success& success) {  // --help and --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto [command, name] = understood(app);
    const std::string mistake = describe(*command, error);
    return refuse(app, fmt::format("{}; see {} --help.", mistake, name), argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(kExitOutOfMemory, kHostMemoryExhausted);
  }
  return exit_code;
}

}  // namespace

int run(int argc, char** argv) {
  guard_streams();
  return flushed(run_line(argc, argv));
}

int fail(int exit_code, std::string_view message) {
  fmt::print(stderr, "ferry: {}\n", replay::printable(message));
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
