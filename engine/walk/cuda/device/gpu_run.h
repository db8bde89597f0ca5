// SPDX-License-Identifier: Apache-2.0
// Settings of a run on GPUs, and the facts that it reports besides its tallies.
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
    std::string correlation = "auto";  // auto, kernel or matrix, see makes_moves_ahead()
    // Random source of kernels that read shocks from arrays; null: the first of the catalogue.
    const random::catalogue_entry* source = nullptr;
    std::uint64_t memory_bytes = 0;  // most memory to use on each device; 0: all that is free
    int threads = 1;                 // host threads for compiling and packing
    tuned_choices* tuned = nullptr;  // measured choices for wishes that are open; may be null
};

struct gpu_run : run::walk, gpu_settings {};

struct gpu_facts {
    // Kernels that the run used, including those that fill and merge, counted for each architecture.
    std::size_t kernels_compiled = 0, kernels_from_cache = 0;
    std::string why_foreign;  // see kernel_store
    std::size_t launches = 0;
    // Time from a chunk's first launch to the end of its last, and time with a kernel running, in all chunks
    // of the slowest device.
    double device_seconds = 0, kernel_seconds = 0;
    struct share {
        bool has_walked = false;    // whether it contributed to the results
        std::optional<error> lost;  // error that stopped the device; the others took over its work
    };
    std::vector<share> shares;  // by device

    void add(const gpu_facts& more);
    // Adds devices lost by another walk. A walk that found all results known has no shares of its own.
    void add_lost(const gpu_facts& of);
};

// The tallies of a quasi-random run have its units as parts (see engine/walk/units.h).
struct gpu_outcome : run::outcome, gpu_facts {};

}  // namespace tilewalk::cuda
