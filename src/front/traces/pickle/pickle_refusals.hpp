// SPDX-License-Identifier: Apache-2.0
// What a pickle may not ask for: to import, to call, to build, to fetch from elsewhere.
#pragma once

#include <string>

#include "front/traces/pickle/pickle_document.hpp"
#include "front/traces/pickle/pickle_input.hpp"

namespace ferry::replay {

// Says through `input.fail` what the opcode asks for, by name where the pickle gives one. `below`
// and `top` are the two uppermost values of the stack, empty where there are none: STACK_GLOBAL
// takes its name from there. Any opcode that the decoder does not know comes here too.
void refuse_opcode(Opcode opcode, PickleInput& input, const PickleDocument& document,
                   PickleValue below, PickleValue top);

}  // namespace ferry::replay
