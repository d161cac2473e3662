// SPDX-License-Identifier: Apache-2.0
// Bytes: a count of bytes that does not mix with other integers, and the arithmetic of alignment.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ferry {

struct Bytes {
  std::uint64_t count = 0;

  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t n) : count(n) {}

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::uint64_t n) { return Bytes{a.count * n}; }
  friend constexpr std::uint64_t operator/(Bytes a, Bytes b) { return a.count / b.count; }
};

inline constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes{n};
}
inline constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes{n << 10};
}
inline constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes{n << 20};
}
inline constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes{n << 30};
}

[[nodiscard]] constexpr bool is_power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

// Beyond any memory there is. What is not larger can be rounded up and summed without wrapping.
inline constexpr Bytes kLargestRequest{std::uint64_t{1} << 46};

// Round to a multiple of `step`, a power of two. `align_up` requires n + step not to overflow.
[[nodiscard]] constexpr std::uint64_t align_down(std::uint64_t n, std::uint64_t step) {
  return n & ~(step - 1);
}
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t n, std::uint64_t step) {
  return align_down(n + step - 1, step);
}
[[nodiscard]] constexpr Bytes align_down(Bytes n, Bytes step) {
  return Bytes{align_down(n.count, step.count)};
}
[[nodiscard]] constexpr Bytes align_up(Bytes n, Bytes step) {
  return Bytes{align_up(n.count, step.count)};
}

// "512 B", "4 KiB", "21.3 GiB": at most one decimal, exact when the unit divides the count.
[[nodiscard]] std::string format_bytes(Bytes bytes);

// Reads "4096", "512B", "64KiB", "1.5GiB", "2G" (binary units, any case). Nothing on bad text or
// overflow.
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);

}  // namespace ferry
