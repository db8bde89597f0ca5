// SPDX-License-Identifier: Apache-2.0
// The recording of one block of a script, or of the statements above all blocks.
#pragma once

#include <cstddef>
#include <span>

#include "products/language/recording/checks.h"

namespace tilewalk::language::recording {

// Plays the statements above all blocks, which know no world, in an eager recorder: the first values of all
// variables.
frame play_top(const argued_script& script, const state_slots& slots, program::recorder& into);

// Records block `number` into the section that is open. Rights are used as `by` says, if it is there. Without
// ranges and operations it is played at once.
void record_block(const argued_script& script, const state_slots& slots, std::size_t number,
                  std::span<const occurrence> runs, world& market, program::recorder& into, decider* by,
                  const ranges* known, checked_operations* checked);

}  // namespace tilewalk::language::recording
