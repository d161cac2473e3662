// SPDX-License-Identifier: Apache-2.0
#include "front/traces/pickle/pickle_refusals.hpp"

#include <fmt/format.h>

#include "front/traces/messages.hpp"

namespace ferry::replay {
namespace {

constexpr std::string_view kWhy = "which is refused: only plain data is read";

void refuse_global(std::string_view module, std::string_view name, PickleInput& input) {
  constexpr std::size_t kLongestPart = 64;
  const std::string full =
      fmt::format("{}.{}", module.substr(0, kLongestPart), name.substr(0, kLongestPart));
  input.fail(fmt::format("asks for the global {}, {}", in_quotes(full), kWhy));
}

void refuse_stack_global(PickleInput& input, const PickleDocument& document, PickleValue below,
                         PickleValue top) {
  if (below.empty() || top.empty() || document.kind(below) != PickleKind::text ||
      document.kind(top) != PickleKind::text) {
    input.fail(fmt::format("asks for a global without a name, {}", kWhy));
    return;
  }
  refuse_global(document.text(below), document.text(top), input);
}

void refuse_extension(unsigned width, PickleInput& input) {
  std::uint64_t number = 0;
  if (!input.take_number(width, number)) return;
  input.fail(fmt::format("asks for the registered extension {}, {}", number, kWhy));
}

}  // namespace

void refuse_opcode(Opcode opcode, PickleInput& input, const PickleDocument& document,
                   PickleValue below, PickleValue top) {
  std::string_view module;
  std::string_view name;
  switch (opcode) {
    case Opcode::global:
    case Opcode::instance:
      if (input.take_line(module) && input.take_line(name)) refuse_global(module, name, input);
      return;
    case Opcode::stack_global:
      return refuse_stack_global(input, document, below, top);
    case Opcode::extension1:
      return refuse_extension(1, input);
    case Opcode::extension2:
      return refuse_extension(2, input);
    case Opcode::extension4:
      return refuse_extension(4, input);
    case Opcode::persistent_id:
      if (input.take_line(name)) {
        input.fail(fmt::format("asks for the persistent object {}, {}", in_quotes(name), kWhy));
      }
      return;
    case Opcode::bin_persistent_id:
      input.fail(fmt::format("asks for a persistent object (BINPERSID), {}", kWhy));
      return;
    case Opcode::reduce:
      input.fail(fmt::format("asks to call a function (REDUCE), {}", kWhy));
      return;
    case Opcode::build:
      input.fail(fmt::format("asks to set the state of an object (BUILD), {}", kWhy));
      return;
    case Opcode::object:
      input.fail(fmt::format("asks to make an object (OBJ), {}", kWhy));
      return;
    case Opcode::new_object:
      input.fail(fmt::format("asks to make an object (NEWOBJ), {}", kWhy));
      return;
    case Opcode::new_object_ex:
      input.fail(fmt::format("asks to make an object (NEWOBJ_EX), {}", kWhy));
      return;
    case Opcode::next_buffer:
    case Opcode::read_only_buffer:
      input.fail(fmt::format("asks for a buffer outside the file (NEXT_BUFFER), {}", kWhy));
      return;
    default:
      input.fail(
          fmt::format("has the unknown pickle opcode 0x{:02x}", static_cast<unsigned>(opcode)));
  }
}

}  // namespace ferry::replay
