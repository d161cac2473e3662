// SPDX-License-Identifier: Apache-2.0
// The opcodes of a pickle that carry a value of their own: constants, numbers, texts, bytes.
#pragma once

#include "front/traces/pickle/pickle_document.hpp"
#include "front/traces/pickle/pickle_input.hpp"

namespace ferry::replay {

[[nodiscard]] bool is_number_opcode(Opcode opcode);
[[nodiscard]] bool is_text_opcode(Opcode opcode);

// Read the value that follows the opcode; an empty one after `input.fail`. Each requires an opcode
// of its own kind.
[[nodiscard]] PickleValue read_number(Opcode opcode, PickleInput& input, PickleDocument& document);
[[nodiscard]] PickleValue read_text(Opcode opcode, PickleInput& input, PickleDocument& document);

}  // namespace ferry::replay
