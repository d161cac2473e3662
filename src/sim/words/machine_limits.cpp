// SPDX-License-Identifier: Apache-2.0
#include "sim/words/machine_limits.hpp"

namespace ferry::sim {

namespace {

Problem read_limit(std::optional<Bytes>& limit, std::string_view value) {
  if (value == "none") {
    limit.reset();
    return std::nullopt;
  }
  const std::optional<Bytes> size = parse_size(value);
  if (!size) return "a size such as 1GiB, or none";
  limit = size;
  return std::nullopt;
}

}  // namespace

Problem read_vmm(MachineLimits& limits, std::string_view value) {
  if (value != "on" && value != "off") return "on or off";
  limits.virtual_memory = value == "on";
  return std::nullopt;
}

Problem read_granularity(MachineLimits& limits, std::string_view value) {
  const std::optional<Bytes> size = parse_size(value);
  if (!size || !is_power_of_two(size->count) || *size < 64_KiB || *size > 1_GiB)
    return "a power of two from 64KiB to 1GiB";
  limits.granularity = *size;
  return std::nullopt;
}

Problem read_rdma(MachineLimits& limits, std::string_view value) {
  if (value == "off") {
    limits.rdma = Rdma::off;
  } else if (value == "on") {
    limits.rdma = Rdma::on;
  } else if (value == "refused") {
    limits.rdma = Rdma::refused;
  } else {
    return "off, on or refused";
  }
  return std::nullopt;
}

Problem read_taken(MachineLimits& limits, std::string_view value) {
  std::optional<Bytes> taken;
  if (Problem expected = read_limit(taken, value)) return expected;
  limits.taken = taken.value_or(Bytes{});
  return std::nullopt;
}

Problem read_largest_piece(MachineLimits& limits, std::string_view value) {
  return read_limit(limits.largest_piece, value);
}

Problem read_reserve_total(MachineLimits& limits, std::string_view value) {
  return read_limit(limits.reserve_total, value);
}

Problem read_register_call(MachineLimits& limits, std::string_view value) {
  return read_limit(limits.register_call, value);
}

Problem read_register_total(MachineLimits& limits, std::string_view value) {
  return read_limit(limits.register_total, value);
}

Problem read_reuse(MachineLimits& limits, std::string_view value) {
  if (value != "late" && value != "immediate") return "late or immediate";
  limits.reuse_at_once = value == "immediate";
  return std::nullopt;
}

}  // namespace ferry::sim
