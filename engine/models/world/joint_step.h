// SPDX-License-Identifier: Apache-2.0
// Records a world's step: turns independent shocks into joint moves of all sources, which the walks use.
#pragma once

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"

namespace tilewalk::models {

void record_joint_step(const members& of, const open_section& in, path_states& states,
                       hears_moves* by = nullptr);

}  // namespace tilewalk::models
