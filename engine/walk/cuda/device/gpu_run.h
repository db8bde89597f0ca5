// SPDX-License-Identifier: Apache-2.0
// Settings of a run on GPUs, and its facts besides the tallies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/job.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct gpu_settings {
    kernel_wish how;
    std::string correlation = "auto";  // auto, kernel or matrix, see makes_moves_ahead
    // For feeds that read shocks; null: the first of the catalogue.
    const random::catalogue_entry* source = nullptr;
    std::uint64_t memory_bytes = 0;  // most of each device; 0: all that is free
    int threads = 1;                 // host threads that compile and pack
    tuned_choices* tuned = nullptr;  // asked if the wish is open
};

struct gpu_run : run::walk, gpu_settings {};

struct gpu_facts {
    // Kernels used, including those that fill and merge, for every kind of device.
    std::size_t kernels_compiled = 0, kernels_from_cache = 0;
    std::size_t launches = 0;
    // From a chunk's first launch to the end of its last, and with a kernel running; the slowest device's.
    double device_seconds = 0, kernel_seconds = 0;
    struct share {
        bool has_walked = false;    // contributed to the results
        std::optional<error> lost;  // why it stopped; other devices took over its work
    };
    std::vector<share> shares;  // by device

    void add(const gpu_facts& more);
    // Adds devices lost by another walk. A walk with all results known has asked none.
    void add_lost(const gpu_facts& of);
};

// Parts of a quasi-random run are its units (see engine/walk/units.h).
struct gpu_outcome : run::outcome, gpu_facts {};

}  // namespace tilewalk::cuda
