// SPDX-License-Identifier: Apache-2.0
// Recording of a world's step: independent shocks become the joint moves of all sources, and every walk takes
// its own.
#pragma once

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"

namespace tilewalk::models {

// Records the step from one grid time to the next into the open section, and what the states keep of it.
void record_joint_step(const members& of, const open_section& in, path_states& states,
                       hears_moves* by = nullptr);

}  // namespace tilewalk::models
