// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, found at run time. Nothing links libcuda: one binary runs with and without a
// GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/status.hpp"
#include "driver/call_counters.hpp"
#include "driver/driver_choice.hpp"

namespace ferry {

struct CudaTable;  // the resolved functions; src/driver only

struct DeviceInfo {
  DeviceId id;
  std::string name;
  Bytes total_memory;
  int compute_major = 0;
  int compute_minor = 0;
  bool supports_virtual_memory = false;
};

// "13.0" for 13000: how CUDA writes versions as numbers.
[[nodiscard]] std::string format_cuda_version(int version);

// What the stand-in does not understand of FERRY_SIM, in its words; "" where it would start. Loads
// it, without starting it.
[[nodiscard]] std::string stand_in_settings_error();

// One loaded and initialised driver library. Requires: outlives every Device made from it.
// Thread safety: all calls may come from any thread.
class Driver {
 public:
  // Loads the library, resolves every function at its compiled version, and calls cuInit.
  // The error is a text for people: which library was tried, what failed, what to do.
  [[nodiscard]] static Result<std::unique_ptr<Driver>, std::string> load(
      const DriverChoice& choice);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] const std::string& library_path() const { return library_path_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }  // why this one was chosen
  [[nodiscard]] bool is_stand_in() const { return is_stand_in_; }
  [[nodiscard]] int version() const { return version_; }  // cuDriverGetVersion: 13000 is 13.0
  [[nodiscard]] const std::vector<std::string>& missing_optional() const {
    return missing_optional_;
  }

  [[nodiscard]] Result<int> device_count() const;
  [[nodiscard]] Result<DeviceInfo> device_info(DeviceId device) const;

  // Finds a function that Ferry itself does not call (the stand-in's ferry_sim_* controls), or
  // null.
  [[nodiscard]] void* find_symbol(const char* name) const;

  [[nodiscard]] const CudaTable& table() const { return *table_; }

 private:
  Driver();
  // The steps of load: each answers "", or what failed in a text for people.
  [[nodiscard]] std::string start(const DriverChoice& choice);
  [[nodiscard]] std::string resolve();
  [[nodiscard]] std::string initialise(const DriverChoice& choice);

  void* library_ = nullptr;  // never closed: the driver may still run code at exit
  std::unique_ptr<CudaTable> table_;
  std::string library_path_;
  std::string reason_;
  std::vector<std::string> missing_optional_;
  int version_ = 0;
  bool is_stand_in_ = false;
};

}  // namespace ferry
