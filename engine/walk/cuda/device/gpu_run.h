// SPDX-License-Identifier: Apache-2.0
// A run on GPUs: its settings, and its facts besides the tallies.
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

// Settings of walks on GPUs.
struct gpu_settings {
    kernel_wish how;
    std::string correlation = "auto";  // auto, kernel or matrix, see makes_moves_ahead
    // The source of shocks for feeds that read them; null: the first of the catalogue.
    const random::catalogue_entry* source = nullptr;
    std::uint64_t memory_bytes = 0;  // the most that a run may take of each device; 0: all that is free
    int threads = 1;                 // of the host, that compile and make ready
    tuned_choices* tuned = nullptr;  // asked where the wish is open
};

struct gpu_run : run::walk, gpu_settings {};

// Facts that GPUs tell of one walk or several.
struct gpu_facts {
    // Kernels that the walks used, those that fill and merge included, for every kind of device.
    std::size_t kernels_compiled = 0, kernels_from_cache = 0;
    std::size_t launches = 0;
    // Seconds from the first launch of a chunk to the end of its last, and those of them in which a kernel
    // was running. The device with the longest counts.
    double device_seconds = 0, kernel_seconds = 0;
    struct share {
        bool has_walked = false;    // part of the results, if there are any
        std::optional<error> lost;  // why it could not go on; the other devices took over its work
    };
    std::vector<share> shares;  // by device

    void add(const gpu_facts& more);
    // Devices that another walk has lost. A walk whose results were all known has asked none.
    void add_lost(const gpu_facts& of);
};

// The parts of a quasi-random run are its units (see engine/walk/units.h).
struct gpu_outcome : run::outcome, gpu_facts {};

}  // namespace tilewalk::cuda
