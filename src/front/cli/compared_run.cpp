// SPDX-License-Identifier: Apache-2.0
#include "front/cli/compared_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "front/cli/child_process.hpp"

namespace ferry::cli {

namespace {

using Json = nlohmann::json;
using replay::ComparedFigures;
using replay::ComparedRun;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// "torch.OutOfMemoryError: CUDA out of memory. ...": how Python ends a traceback.
bool names_exception(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  return name.size() < line.size() && !name.empty() &&
         (name.ends_with("Error") || name.ends_with("Exception")) &&
         name.find_first_of(" \t") == std::string_view::npos;
}

// What a person looks at first: the last exception that was named, or the last line.
std::string cause_in(const std::string& text) {
  std::string last;
  std::string exception;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last = line;
    if (names_exception(line)) exception = line;
  }
  constexpr std::size_t kMostLetters = 300;
  std::string cause = exception.empty() ? last : exception;
  if (cause.size() > kMostLetters) cause.replace(kMostLetters, std::string::npos, " ...");
  return cause;
}

void become(const RunRequest& request, const std::string& folder) {
  const char* const users = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
  const std::string settings = allocator_settings(request.allocator, users == nullptr ? "" : users);
  setenv("PYTORCH_CUDA_ALLOC_CONF", settings.c_str(), 1);
  unsetenv("PYTORCH_ALLOC_CONF");
  setenv("FERRY_SIM_FIGURES", (folder + "/figures.json").c_str(), 1);
  if (!request.snapshot.empty()) setenv("FERRY_SIM_SNAPSHOT", request.snapshot.c_str(), 1);
  const int errors = open((folder + "/errors").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(request.shows_output ? STDERR_FILENO : nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  _exit(exec_on_stand_in(request.program));
}

}  // namespace

std::string allocator_settings(std::string_view allocator, std::string_view users) {
  std::string settings = allocator == "expandable"        ? "expandable_segments:True"
                         : allocator == "cudaMallocAsync" ? "backend:cudaMallocAsync"
                         : allocator == "ferry"           ? "backend:ferry"
                                                          : "backend:native";
  while (!users.empty()) {
    const std::size_t comma = users.find(',');
    const std::string_view item = users.substr(0, comma);
    users = comma == std::string_view::npos ? "" : users.substr(comma + 1);
    const bool chooses = item.starts_with("backend:") || item.starts_with("expandable_segments:");
    const bool is_ours = item.starts_with("ferry_");
    if (!item.empty() && !chooses && (!is_ours || allocator == "ferry"))
      settings += fmt::format(",{}", item);
  }
  return settings;
}

std::optional<ComparedFigures> read_figures(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.value("used_cuda", false)) return std::nullopt;
  try {
    ComparedFigures figures;
    figures.torch = json.at("torch").get<std::string>();
    figures.peak_allocated = Bytes{json.at("peak_allocated_bytes").get<std::uint64_t>()};
    figures.peak_reserved = Bytes{json.at("peak_reserved_bytes").get<std::uint64_t>()};
    figures.driver_calls = json.at("driver_calls").get<std::map<std::string, std::uint64_t>>();
    figures.driver_ms = json.at("driver_ms").get<double>();
    for (const Json& sample : json.at("samples")) {
      figures.samples.push_back({sample.at(0).get<std::uint64_t>(),
                                 Bytes{sample.at(1).get<std::uint64_t>()},
                                 Bytes{sample.at(2).get<std::uint64_t>()}});
    }
    return figures;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> run_compared(const RunRequest& request, ComparedRun& run) {
  const ScratchFolder folder;
  if (folder.path().empty())
    return fmt::format("no folder for scratch files can be made: {}.", std::strerror(errno));
  run.allocator = request.allocator;
  const pid_t child = fork();
  if (child < 0) return fmt::format("no process can be made: {}.", std::strerror(errno));
  if (child == 0) become(request, folder.path());
  run.exit = status_of(child);
  run.figures = read_figures(text_of(folder.path() + "/figures.json"));
  const std::string errors = text_of(folder.path() + "/errors");
  if (request.shows_output) fmt::print(stderr, "{}", errors);
  if (run.exit != 0) run.error = cause_in(errors);
  return std::nullopt;
}

}  // namespace ferry::cli
