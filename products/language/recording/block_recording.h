// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "products/language/recording/checks.h"

namespace tilewalk::language::recording {

// Executes the statements above all blocks in an eager recorder. Returns the first values of variables.
frame play_top(const argued_script& script, const state_slots& slots, program::recorder& into);

// Records block `number`; `by` (may be null) decides. If `known` and `checked` are null, executes it at once.
void record_block(const argued_script& script, const state_slots& slots, std::size_t number,
                  std::span<const occurrence> runs, world& market, program::recorder& into, decider* by,
                  const ranges* known, checked_operations* checked);

}  // namespace tilewalk::language::recording
