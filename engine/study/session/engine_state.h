// SPDX-License-Identifier: Apache-2.0
// The members of an engine, private to the library.
#pragma once

#include <memory>

#include "engine/base/inside.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/engine.h"

namespace tilewalk::studies {

struct engine_state {
    engine_settings settings;
    std::shared_ptr<cuda::backend> gpus;
};

// Returns an engine on these GPUs instead of this machine's, as tests need it.
engine engine_on(std::shared_ptr<cuda::backend> gpus);

}  // namespace tilewalk::studies
