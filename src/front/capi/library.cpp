// SPDX-License-Identifier: Apache-2.0
// ferry_init and ferry_version: starting the library.
#include "front/capi/c_errors.hpp"
#include "front/process.hpp"
#include "front/version.hpp"

using ferry::DriverChoice;
using ferry::capi::fail;

ferry_status ferry_init(const ferry_options* options) {
  return ferry::capi::guarded("ferry_init", [&]() -> ferry_status {
    if (options != nullptr && options->struct_size < sizeof(ferry_options)) {
      return fail(FERRY_ERROR_INVALID_ARGUMENT,
                  "ferry_init: options->struct_size is not set; set it to sizeof(ferry_options)");
    }
    const bool named = options != nullptr && options->driver != nullptr;
    const ferry::Result<DriverChoice, std::string> choice =
        named ? DriverChoice::parse(options->driver) : DriverChoice::from_environment();
    if (!choice) return fail(FERRY_ERROR_INVALID_ARGUMENT, "ferry_init: " + choice.error());
    const ferry::Result<const ferry::Driver*, ferry::StartError> driver =
        ferry::start_driver(*choice);
    if (!driver)
      return fail(ferry::capi::to_c(driver.error().code), "ferry_init: " + driver.error().message);
    return FERRY_OK;
  });
}

const char* ferry_version(void) {
  return ferry::version_text();
}
