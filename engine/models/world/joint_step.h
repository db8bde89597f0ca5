// SPDX-License-Identifier: Apache-2.0
// Records the step of a world: turns independent normals into the correlated moves that walks use.
#pragma once

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"

namespace tilewalk::models {

void record_joint_step(const members& of, const open_section& in, path_states& states,
                       hears_moves* by = nullptr);

}  // namespace tilewalk::models
