// SPDX-License-Identifier: Apache-2.0
#include "driver/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>

#include "driver/cuda_status.hpp"
#include "driver/cuda_table.hpp"
#include "ferry/sim.h"

namespace ferry {

namespace {

constexpr const char* kUseStandIn = "or run on the stand-in: FERRY_DRIVER=sim";

// The file that a choice stands for, and why; no file where the stand-in is not to be found.
struct LibraryFile {
  std::string file;
  const char* reason = "";
};

LibraryFile library_file(const DriverChoice& choice) {
  switch (choice.kind) {
    case DriverChoice::Kind::automatic:
      return {kDriverLibrary, "chosen automatically: it loads and has a device"};
    case DriverChoice::Kind::cuda:
      return {kDriverLibrary, "the CUDA driver was asked for"};
    case DriverChoice::Kind::path:
      return {choice.path, "this file was asked for"};
    case DriverChoice::Kind::sim:
      break;
  }
  const std::string folder = stand_in_folder();
  return {folder.empty() ? "" : folder + "/" + kDriverLibrary, "the stand-in was asked for"};
}

std::string no_stand_in() {
  if (const char* const folder = std::getenv("FERRY_SIM_DIR");
      folder != nullptr && *folder != '\0') {
    return fmt::format(
        "the stand-in was not found: FERRY_SIM_DIR={} holds no {}. Correct the folder, or unset "
        "the variable to use the stand-in that came with Ferry.",
        folder, kDriverLibrary);
  }
  return fmt::format(
      "the stand-in was not found beside Ferry. Build or install it, or set FERRY_SIM_DIR to the "
      "folder of its {}.",
      kDriverLibrary);
}

std::string cannot_open(const DriverChoice& choice, const std::string& cause) {
  switch (choice.kind) {
    case DriverChoice::Kind::sim:
      return fmt::format("the stand-in could not be loaded ({}). Build or install it anew.", cause);
    case DriverChoice::Kind::path:
      return fmt::format("the driver {} could not be loaded ({}). Check the path, {}.", choice.path,
                         cause, kUseStandIn);
    default:
      return fmt::format("no CUDA driver was found ({}). Install the NVIDIA driver, {}.", cause,
                         kUseStandIn);
  }
}

std::string path_of(void* library) {
  const link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return kDriverLibrary;
  return map->l_name;
}

// "cuMemCreate (CUDA 10.2)": functions that the driver does not have.
using Missing = std::vector<std::string>;

// Looks functions up by name and version. cuGetProcAddress_v2 came with driver 12.0; older drivers
// are asked for the symbol of the wanted variant, which is what it would have answered.
class Resolver {
 public:
  explicit Resolver(void* library)
      : library_(library),
        get_proc_address_(
            reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"))) {}

  template <typename Function>
  void resolve(Function& function, const char* name, int version, const char* symbol,
               Missing& missing) const {
    function = reinterpret_cast<Function>(find(name, version, symbol));
    if (function == nullptr) {
      missing.push_back(fmt::format("{} (CUDA {})", name, format_cuda_version(version)));
    }
  }

 private:
  [[nodiscard]] void* find(const char* name, int version, const char* symbol) const {
    if (get_proc_address_ == nullptr) return dlsym(library_, symbol);
    void* function = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result =
        get_proc_address_(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    const bool usable = result == CUDA_SUCCESS && found == CU_GET_PROC_ADDRESS_SUCCESS;
    return usable ? function : nullptr;
  }

  void* library_;
  PFN_cuGetProcAddress_v12000 get_proc_address_;
};

// Fills in the table; `optional` receives what Ferry can do without. The result is what it cannot.
Missing resolve_all(const Resolver& resolver, CudaTable& table, Missing& optional) {
  Missing required;
#define FERRY_CUDA_REQUIRED(name, version, symbol) \
  resolver.resolve(table.name, #name, version, #symbol, required);
#define FERRY_CUDA_OPTIONAL(name, version, symbol) \
  resolver.resolve(table.name, #name, version, #symbol, optional);
#include "abi/cuda_symbols.inc"
  return required;
}

std::string describe_error(const CudaTable& cuda, CUresult result) {
  const char* text = nullptr;
  if (cuda.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown";
  return fmt::format("CUDA error {}, {}", static_cast<int>(result), text);
}

// The stand-in says what it does not understand; its cuInit would print that and fail without
// words. "" for every other library.
std::string settings_error(void* library) {
  const auto error =
      reinterpret_cast<ferry_sim_settings_error_fn>(dlsym(library, FERRY_SIM_SETTINGS_ERROR));
  return error == nullptr ? "" : error();
}

}  // namespace

std::string stand_in_settings_error() {
  const std::string file = library_file({DriverChoice::Kind::sim, ""}).file;
  void* const library = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? "" : settings_error(library);
}

std::string format_cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Driver::Driver() : table_(std::make_unique<CudaTable>()) {}
Driver::~Driver() = default;

Result<std::unique_ptr<Driver>, std::string> Driver::load(const DriverChoice& choice) {
  std::unique_ptr<Driver> driver(new Driver);
  std::string trouble = driver->start(choice);
  if (!trouble.empty()) return trouble;
  return driver;
}

std::string Driver::start(const DriverChoice& choice) {
  const LibraryFile wanted = library_file(choice);
  if (wanted.file.empty()) return no_stand_in();
  library_ = dlopen(wanted.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return cannot_open(choice, dlerror());
  library_path_ = path_of(library_);
  reason_ = wanted.reason;

  is_stand_in_ = find_symbol(FERRY_SIM_CONFIGURE) != nullptr;
  if (is_stand_in_ && wanted.file == kDriverLibrary) {
    return fmt::format(
        "the {} that was found is Ferry's stand-in ({}), which is only used when asked for: "
        "FERRY_DRIVER=sim.",
        kDriverLibrary, library_path_);
  }
  if (std::string trouble = resolve(); !trouble.empty()) return trouble;
  return initialise(choice);
}

std::string Driver::resolve() {
  const Missing missing = resolve_all(Resolver(library_), *table_, missing_optional_);
  if (table_->cuDriverGetVersion != nullptr) (void)table_->cuDriverGetVersion(&version_);
  if (missing.empty()) return "";
  return fmt::format(
      "the library {} (driver version {}) lacks {}{}. Ferry needs a driver for CUDA 11.2 or newer: "
      "install one, {}.",
      library_path_, version_ == 0 ? "unknown" : format_cuda_version(version_), missing.front(),
      missing.size() == 1 ? "" : fmt::format(" and {} more functions", missing.size() - 1),
      kUseStandIn);
}

std::string Driver::initialise(const DriverChoice& choice) {
  if (const std::string error = settings_error(library_); !error.empty())
    return fmt::format("the stand-in does not understand FERRY_SIM: {}.", error);
  if (const CUresult result = table_->cuInit(0); result != CUDA_SUCCESS) {
    const std::string remedy = is_stand_in_
                                   ? "Check its settings in FERRY_SIM, and CUDA_VISIBLE_DEVICES."
                                   : fmt::format("Check it with nvidia-smi, {}.", kUseStandIn);
    return fmt::format("the CUDA driver {} (version {}) did not start (cuInit: {}). {}",
                       library_path_, format_cuda_version(version_),
                       describe_error(*table_, result), remedy);
  }
  if (choice.kind != DriverChoice::Kind::automatic) return "";
  const Result<int> devices = device_count();
  if (devices && *devices > 0) return "";
  return fmt::format(
      "the CUDA driver {} (version {}) has no device. Check it with nvidia-smi and "
      "CUDA_VISIBLE_DEVICES, {}.",
      library_path_, format_cuda_version(version_), kUseStandIn);
}

Result<int> Driver::device_count() const {
  int count = 0;
  FERRY_TRY(cuda_status(table_->cuDeviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

Result<DeviceInfo> Driver::device_info(DeviceId device) const {
  CUdevice handle = 0;
  FERRY_TRY(cuda_status(table_->cuDeviceGet(&handle, device.ordinal), "cuDeviceGet"));
  const auto attribute = [&](CUdevice_attribute which, int& value) {
    return cuda_status(table_->cuDeviceGetAttribute(&value, which, handle), "cuDeviceGetAttribute");
  };
  DeviceInfo info;
  info.id = device;
  char name[256] = {};
  FERRY_TRY(cuda_status(table_->cuDeviceGetName(name, sizeof name, handle), "cuDeviceGetName"));
  info.name = name;
  std::size_t total = 0;
  FERRY_TRY(cuda_status(table_->cuDeviceTotalMem(&total, handle), "cuDeviceTotalMem"));
  info.total_memory = Bytes{total};
  int has_virtual_memory = 0;
  FERRY_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, info.compute_major));
  FERRY_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, info.compute_minor));
  FERRY_TRY(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, has_virtual_memory));
  info.supports_virtual_memory = has_virtual_memory != 0;
  return info;
}

void* Driver::find_symbol(const char* name) const {
  return dlsym(library_, name);
}

}  // namespace ferry
