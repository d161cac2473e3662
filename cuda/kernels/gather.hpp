// SPDX-License-Identifier: Apache-2.0
// Rows of a table, wherever they stand in it, one after the other; and back. A row number beyond
// the table is left out.
#pragma once

#include "cuda/kernels/body.hpp"

namespace ferry::kernels {

// The table, which rows of it, and their other place. All rows have `row_words` words.
template <typename TableWord, typename RowWord>
struct Rows {
  TableWord* table = nullptr;
  RowWord* rows = nullptr;
  const std::uint32_t* numbers = nullptr;
  std::uint64_t table_rows = 0;
  std::uint64_t count = 0;
  std::uint64_t row_words = 0;

  FERRY_HD std::uint64_t size() const { return count * row_words; }
  template <typename See>
  void visit_rows(See&& see, Access of_table, Access of_rows) {
    see(table, table_rows * row_words * sizeof *table, of_table);
    see(rows, count * row_words * sizeof *rows, of_rows);
    see(numbers, count * sizeof *numbers, Access::read);
  }
};

struct Gather : Rows<const std::uint32_t, std::uint32_t> {
  FERRY_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = numbers[i / row_words];
    if (row < table_rows) rows[i] = table[row * row_words + i % row_words];
  }
  template <typename See>
  void visit(See&& see) {
    visit_rows(see, Access::read, Access::write);
  }
};

struct Scatter : Rows<std::uint32_t, const std::uint32_t> {
  FERRY_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = numbers[i / row_words];
    if (row < table_rows) table[row * row_words + i % row_words] = rows[i];
  }
  template <typename See>
  void visit(See&& see) {
    visit_rows(see, Access::write, Access::read);
  }
};

}  // namespace ferry::kernels
