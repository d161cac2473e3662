// SPDX-License-Identifier: Apache-2.0
#include "front/cli/sim_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.hpp"
#include "front/cli/cli.hpp"
#include "front/cli/sim_profiles.hpp"
#include "front/cli/stand_in_program.hpp"
#include "front/cli/traffic_run.hpp"

namespace ferry::cli {

namespace {

// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// A program that was given without the -- before it: the line that would have been right.
std::string line_with_dashes(const StandInProgram& options,
                             const std::vector<std::string>& program) {
  std::string line = "ferry sim run";
  if (options.settings) line += " --settings " + quoted(*options.settings);
  if (options.no_preload) line += " --no-preload";
  line += " --";
  for (const std::string& word : program) line += " " + quoted(word);
  return line;
}

void check_words(const CLI::App& command, const StandInProgram& options,
                 const WordsAfterDashes& words) {
  const std::vector<std::string> surplus = command.remaining();
  if (surplus.empty() && words.empty()) throw CLI::RequiredError("after --, a program");
  if (surplus.empty()) return;
  std::string mistake;
  if (surplus[0].starts_with('-')) {
    mistake = fmt::format("there is no option \"{}\"", surplus[0]);
  } else if (words.empty()) {
    mistake = "-- is missing before the program: " + line_with_dashes(options, surplus);
  } else {
    mistake = fmt::format("\"{}\" stands before --, and the program after it", surplus[0]);
  }
  throw CLI::ExtrasError(std::move(mistake), CLI::ExitCodes::ExtrasError);
}

// The one that asks for it all.
CLI::Option* add_traffic_options(CLI::App& command, TrafficOptions& options) {
  CLI::Option* const traffic =
      command.add_option("--traffic", options.json,
                         "Account for every copy of the program, on standard error when it has "
                         "ended; =FILE.json: also there");
  traffic->expected(0, 1);
  command.add_option("--traffic-html", options.html,
                     "A page with memory and link traffic over time");
  command
      .add_option_function<std::string>(
          "--traffic-phases",
          [&options](const std::string& by) {
            options.phases_by = by == "nvtx" ? traffic::PhasesBy::range : traffic::PhasesBy::phase;
          },
          "What counts as a phase: auto, the training's own and those of ferry.torch.phase; nvtx, "
          "the outermost ranges of NVTX")
      ->check(CLI::IsMember({"auto", "nvtx"}));
  command.add_option("--traffic-parameters", options.parameters,
                     "How many parameters the model has, where that is not found");
  return traffic;
}

void add_run_command(CLI::App& sim, const WordsAfterDashes& words, int& exit_code) {
  const auto options = std::make_shared<StandInProgram>();
  CLI::App* const command = sim.add_subcommand("run", "Run a program on the stand-in");
  command->footer(
      "The program and its arguments follow --, for example:\n"
      "  ferry sim run --gpu h200-pcie5 --capacity 24GiB -- ./program --its-option\n"
      "  ferry sim run -- python train.py\n"
      "PyTorch runs in any Python environment that has it; the stand-ins of the other libraries\n"
      "that it imports are made when they are first needed. Its kernels are not run; with\n"
      "--values cpu the CPU runs each operator again, so that losses and all numbers are real.\n"
      "--traffic says in which phase of a training (forward, backward, step) how many bytes went\n"
      "which way and who asked; with --values cpu also which of them need not have.\n"
      "Settings, joined by semicolons:\n"
      "  the machine    devices=2, capacity=24GiB, profile=h200-pcie5, data=none\n"
      "  the order      schedule=lazy, schedule=random, seed=7, hazards=abort\n"
      "  its limits     vmm=off, granularity=16MiB, rdma=refused, taken=8GiB, "
      "largest_piece=64MiB,\n"
      "                 reserve_total=1TiB, register_call=1GiB, register_total=8GiB,\n"
      "                 reuse=immediate\n"
      "  failing calls  fault=cuMemCreate@3:2, fault=cuMemAlloc@every4:2, fault=cuMemMap@p0.1:1,\n"
      "                 fault=cuMemCreate@after8GiB:2, fault=cuMemcpyAsync@5-:700,sticky\n"
      "  slow engines   slow=to_device:4@10us-2ms, stuck=0/compute@1ms-5ms (with a profile)\n"
      "  other faults   stall=cuMemcpyAsync@2:50, lost=0@100, at_exit=deinitialized\n"
      "Each is explained in ferry/sim.h.\n"
      "\n"
      "Exit code: the program's own. 66 where it would have been 0 and accesses that nothing\n"
      "orders were found, each named on standard error as \"ferry-sim: hazard: ...\" (not with\n"
      "hazards=off). 2: settings that are not understood. 126, 127: the program could not be\n"
      "started, or is not there.");
  command->add_option(
      "--settings", options->settings,
      "Settings of the stand-in (below), such as \"profile=h200-pcie5;devices=2;schedule=lazy\". "
      "They take the place of those in FERRY_SIM, all of them");
  const auto add_machine_option = [&](const char* option, const char* key, const char* text) {
    command->add_option_function<std::string>(
        option,
        [options, key](const std::string& value) { options->machine.emplace_back(key, value); },
        text);
  };
  add_machine_option("--gpu", "profile", "The machine to be: \"ferry sim list\" names them");
  add_machine_option("--capacity", "capacity", "Memory of each device, such as 24GiB");
  add_machine_option("--devices", "devices", "How many devices there are");
  command
      ->add_option("--values", options->values,
                   "PyTorch's numbers: off, what kernels should have written reads as zeros, fast; "
                   "cpu, they are the CPU's")
      ->check(CLI::IsMember({"off", "cpu"}));
  const auto traffic = std::make_shared<TrafficOptions>();
  CLI::Option* const with_traffic = add_traffic_options(*command, *traffic);
  command->add_flag("--no-preload", options->no_preload,
                    "Only set the search path: for programs that do not bear LD_PRELOAD, such as "
                    "those built with the address sanitizer");
  command->allow_extras();  // a program without -- among them
  command->callback([command, options, traffic, with_traffic, &words, &exit_code] {
    check_words(*command, *options, words);
    options->program = words;
    exit_code = with_traffic->count() > 0 || !traffic->html.empty()
                    ? run_with_traffic(*options, *traffic)
                    : exec_on_stand_in(*options);
  });
}

}  // namespace

void add_sim_command(CLI::App& app, const WordsAfterDashes& words, int& exit_code) {
  CLI::App* const sim = app.add_subcommand(
      "sim", "Run programs without a GPU, on Ferry's stand-in for the CUDA driver");
  sim->require_subcommand(1);
  sim->add_subcommand("path", "Print the folder of the stand-in's libcuda.so.1")
      ->callback([&words, &exit_code] {
        if (!words.empty()) throw CLI::ExtrasError(words);
        const std::string folder = stand_in_folder();
        if (folder.empty()) {
          exit_code = fail(kExitFailure, kNoStandIn);
        } else {
          fmt::print("{}\n", folder);
        }
      });
  add_run_command(*sim, words, exit_code);
  add_profile_commands(*sim, exit_code);
}

}  // namespace ferry::cli
