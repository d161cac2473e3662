// SPDX-License-Identifier: Apache-2.0
// On which node of the modelled host memory lies, as the program says: never asked of the machine
// underneath, whose nodes are others, so that figures are the same everywhere. Owned by the host
// memory; requires the lock.
#pragma once

#include <cstdint>
#include <map>

namespace ferry::sim {

class HostNodes {
 public:
  // The range lies there, whatever was said before.
  void place(std::uint64_t start, std::uint64_t bytes, int node);
  // So does what of it has no place yet.
  void settle(std::uint64_t start, std::uint64_t bytes, int node);
  void forget(std::uint64_t start, std::uint64_t bytes);

  // How much of the range lies on other nodes. What has no place lies on this one.
  [[nodiscard]] std::uint64_t bytes_away(int node, std::uint64_t start, std::uint64_t bytes) const;

 private:
  struct Piece {
    std::uint64_t end = 0;
    int node = 0;
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by start; none overlap

  // The first piece that ends after `address`.
  [[nodiscard]] Pieces::const_iterator first_after(std::uint64_t address) const;

  Pieces pieces_;
};

}  // namespace ferry::sim
