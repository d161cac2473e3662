// SPDX-License-Identifier: Apache-2.0
// The opcodes of Python's pickle protocols 0 to 5, by the names that pickletools gives them, sorted
// by what the decoder does with them.
#pragma once

#include <cstdint>

namespace ferry::replay {

enum class Opcode : std::uint8_t {
  // The frame of a pickle.
  proto = 0x80,
  frame = 0x95,
  stop = '.',
  // Constants and numbers.
  none = 'N',
  new_true = 0x88,
  new_false = 0x89,
  integer = 'I',
  bin_int = 'J',
  bin_int1 = 'K',
  bin_int2 = 'M',
  long_text = 'L',
  long1 = 0x8a,
  long4 = 0x8b,
  real = 'F',
  bin_float = 'G',
  // Texts and bytes.
  string = 'S',
  bin_string = 'T',
  short_bin_string = 'U',
  unicode = 'V',
  bin_unicode = 'X',
  short_bin_unicode = 0x8c,
  bin_unicode8 = 0x8d,
  bin_bytes = 'B',
  short_bin_bytes = 'C',
  bin_bytes8 = 0x8e,
  byte_array8 = 0x96,
  // Containers.
  empty_dict = '}',
  empty_list = ']',
  empty_tuple = ')',
  empty_set = 0x8f,
  dict = 'd',
  list = 'l',
  tuple = 't',
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  frozen_set = 0x91,
  append = 'a',
  appends = 'e',
  set_item = 's',
  set_items = 'u',
  add_items = 0x90,
  // The stack and the memo.
  mark = '(',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  get = 'g',
  bin_get = 'h',
  long_bin_get = 'j',
  put = 'p',
  bin_put = 'q',
  long_bin_put = 'r',
  memoize = 0x94,
  // Refused: they import, call or build.
  global = 'c',
  stack_global = 0x93,
  instance = 'i',
  object = 'o',
  new_object = 0x81,
  new_object_ex = 0x92,
  reduce = 'R',
  build = 'b',
  extension1 = 0x82,
  extension2 = 0x83,
  extension4 = 0x84,
  persistent_id = 'P',
  bin_persistent_id = 'Q',
  next_buffer = 0x97,
  read_only_buffer = 0x98,
};

}  // namespace ferry::replay
