// SPDX-License-Identifier: Apache-2.0
#include "front/cli/doctor_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace ferry::cli {

namespace {

constexpr std::uint32_t kPattern = 0xFE33'1E5AU;

Status first_failure(Status first, Status second) {
  return first ? second : first;
}

Status write_and_read_back(Device& device, DeviceAddress address, Bytes size, StreamRef stream) {
  const Result<void*> host = device.host_alloc(size);
  if (!host) return host.error();
  const std::span words(static_cast<std::uint32_t*>(host.value()),
                        size.count / sizeof(std::uint32_t));
  std::ranges::fill(words, 0U);
  const Bytes pitch{sizeof(std::uint32_t)};
  Status status = device.fill_words(address, pitch, words.size(), kPattern, stream);
  if (status) status = device.read_words(words.data(), address, pitch, words.size(), stream);
  if (status) status = device.synchronize(stream);
  if (status && std::ranges::any_of(words, [](std::uint32_t word) { return word != kPattern; })) {
    status = Status{Code::internal, "the bytes read back differ from those written"};
  }
  // Work may still be queued where a step failed; the memory must outlive it.
  if (!status) static_cast<void>(device.synchronize());
  return first_failure(status, device.host_free(host.value()));
}

Status use_mapping(Device& device, DeviceAddress address, Bytes size) {
  FERRY_TRY(device.set_access(address, size, 1));
  const Result<StreamRef> stream = device.create_stream();
  if (!stream) return stream.error();
  const Status status = write_and_read_back(device, address, size, stream.value());
  return first_failure(status, device.destroy_stream(stream.value()));
}

Status map_chunk(Device& device, DeviceAddress address, Bytes size, PhysicalHandle chunk) {
  FERRY_TRY(device.map(address, size, chunk));
  const Status status = use_mapping(device, address, size);
  return first_failure(status, device.unmap(address, size, 1));
}

Status create_chunk(Device& device, DeviceAddress address, Bytes size) {
  const Result<PhysicalHandle> chunk = device.create(size);
  if (!chunk) return chunk.error();
  const Status status = map_chunk(device, address, size, chunk.value());
  return first_failure(status, device.release(chunk.value(), size));
}

Status try_virtual_memory(Device& device) {
  const Bytes size = device.granularity();
  const Result<DeviceAddress> address = device.reserve(size);
  if (!address) return address.error();
  const Status status = create_chunk(device, address.value(), size);
  return first_failure(status, device.free_reservation(address.value(), size));
}

Status try_pinned_memory(Device& device) {
  const Result<void*> host = device.host_alloc(1_MiB);
  return host ? device.host_free(host.value()) : host.error();
}

Status try_context_event(Device& device) {
  const Result<EventHandle> event = device.create_event();
  if (!event) return event.error();
  Status status = device.record_context(event.value());
  if (status) status = device.synchronize(event.value());
  return first_failure(status, device.destroy_event(event.value()));
}

std::string remedy_of(const Status& status, const Device& device) {
  if (status.code() == Code::out_of_memory) {
    return "Free memory: end the programs that hold it.";
  }
  return device.driver().is_stand_in() ? "Check the settings in FERRY_SIM."
                                       : "Check the device with nvidia-smi.";
}

Finding finding(std::string subject, const Status& status, std::string done, const Device& device) {
  Finding result{.subject = std::move(subject), .ok = status.ok(), .detail = std::move(done)};
  if (!status) {
    result.detail = status.describe();
    result.remedy = remedy_of(status, device);
  }
  return result;
}

}  // namespace

std::vector<Finding> check_device(Device& device) {
  std::vector<Finding> findings;
  findings.push_back(finding("virtual memory", try_virtual_memory(device),
                             fmt::format("a chunk of {} was created, mapped, written and read back",
                                         format_bytes(device.granularity())),
                             device));
  findings.push_back(finding("pinned memory", try_pinned_memory(device),
                             "host memory that the device can reach was allocated", device));
  Finding event = finding("context event", try_context_event(device),
                          "one event covers all work of the device", device);
  event.needed = false;
  if (!event.ok) {
    event.remedy =
        "Use a driver for CUDA 12.5 or newer. Without it Ferry waits for the whole device before "
        "it "
        "reuses memory that unknown streams may have used.";
  }
  findings.push_back(std::move(event));
  return findings;
}

}  // namespace ferry::cli
