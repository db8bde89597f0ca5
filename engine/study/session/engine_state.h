// SPDX-License-Identifier: Apache-2.0
// The inside of an engine.
#pragma once

#include <memory>

#include "engine/base/inside.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/engine.h"

namespace tilewalk::verbs {

struct engine_state {
    engine_settings settings;
    std::shared_ptr<cuda::backend> gpus;
};

// An engine with other GPUs than this machine's.
engine engine_on(std::shared_ptr<cuda::backend> gpus);

}  // namespace tilewalk::verbs
