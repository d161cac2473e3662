// SPDX-License-Identifier: Apache-2.0
// A machine whose traffic is recorded, and what the record says in the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/machine/library.hpp"
#include "sim/sim_fixture.hpp"

namespace ferry::sim {

class TrafficTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    Library::get().traffic() = TrafficLog();
    Library::get().traffic().keep_in(path_.string());
  }
  void TearDown() override {
    Library::get().traffic() = TrafficLog();
    std::filesystem::remove(path_);
    SimTest::TearDown();
  }

  // What was recorded of one kind: "copy", "wait", "mark". Ends the record.
  std::vector<nlohmann::json> recorded(const std::string& kind) {
    Library::get().traffic().end();
    std::vector<nlohmann::json> found;
    std::ifstream file(path_);
    for (std::string text; std::getline(file, text);) {
      nlohmann::json line = nlohmann::json::parse(text);
      if (line["is"] == kind) found.push_back(std::move(line));
    }
    return found;
  }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("ferry_traffic_" + std::to_string(getpid()));
};

}  // namespace ferry::sim
