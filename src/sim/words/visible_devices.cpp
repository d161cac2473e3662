// SPDX-License-Identifier: Apache-2.0
#include "sim/words/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace ferry::sim {

namespace {

std::optional<int> device_by_uuid_prefix(std::string_view prefix, int count) {
  std::optional<int> found;
  for (int index = 0; index < count; ++index) {
    if (!uuid_text(device_uuid(index)).starts_with(prefix)) continue;
    if (found) return std::nullopt;
    found = index;
  }
  return found;
}

std::optional<int> device_by_entry(std::string_view entry, int count) {
  if (entry.starts_with("GPU-")) return device_by_uuid_prefix(entry, count);
  int ordinal = 0;
  const char* const end = entry.data() + entry.size();
  const auto [rest, error] = std::from_chars(entry.data(), end, ordinal);
  if (error != std::errc{} || rest != end || ordinal < 0 || ordinal >= count) return std::nullopt;
  return ordinal;
}

}  // namespace

Uuid device_uuid(int physical_index) {
  Uuid uuid{};
  // Spread over all bytes, so that short prefixes already tell devices apart.
  std::uint64_t state = 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(physical_index) + 1);
  for (std::uint8_t& byte : uuid) {
    state ^= state >> 29;
    state *= 0xbf58476d1ce4e5b9U;
    byte = static_cast<std::uint8_t>(state >> 56);
  }
  return uuid;
}

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

int pci_bus_number(int physical_index) {
  return physical_index + 1;
}

std::string pci_bus_id(int physical_index) {
  return fmt::format("0000:{:02x}:00.0", pci_bus_number(physical_index));
}

std::vector<int> visible_devices(const char* choice, int physical_count) {
  std::vector<int> visible;
  if (choice == nullptr) {
    for (int index = 0; index < physical_count; ++index) visible.push_back(index);
    return visible;
  }
  std::string_view rest = choice;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view entry = rest.substr(0, end);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::optional<int> index = device_by_entry(entry, physical_count);
    if (!index || std::find(visible.begin(), visible.end(), *index) != visible.end()) break;
    visible.push_back(*index);
  }
  return visible;
}

}  // namespace ferry::sim
