// SPDX-License-Identifier: Apache-2.0
// The manifest: how results were made.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewalk/market_numbers.h"
#include "tilewalk/run_settings.h"

namespace tilewalk {

struct input_file {
    std::string file, hash;  // path and hash of the bytes
};

// Names of two risk factors: assets, exchange rates as quoted ("EURUSD"), interest rates ("USD.rate").
struct factor_pair {
    std::string first, second;
    friend auto operator<=>(const factor_pair&, const factor_pair&) = default;
};

// Work that a run on GPUs left to the CPU, because GPUs can't do it.
struct left_work {
    std::string work;        // "nested bounds"
    std::size_t trades = 0;  // number of trades affected
    std::string why;

    // Returns a sentence such as "nested bounds of 2 trades: they are walked in double on the processor,
    // wherever prices are".
    std::string text() const;
    friend bool operator==(const left_work&, const left_work&) = default;
};

struct run_manifest {
    std::string version, compiler, instruction_set, machine;
    std::string as_of, started;  // dates in ISO form; started is UTC
    std::string precision = "double", random = "auto";
    // How random streams get their numbers: by "name" of the risk factor or, in older results, by "place" in
    // the list of random numbers of a step.
    std::string numbered_by = "name";
    std::uint64_t seed = 0, paths = 0;
    std::uint64_t part_paths = 0;  // paths in each part of the run, see price_row::part_means; 0: unknown
    int threads = 0;
    run_settings settings;             // settings that the caller or the book gave
    std::vector<std::string> devices;  // names of the GPUs that walked paths; empty if none did
    // GPUs that failed, each with its error. Other GPUs or the CPU took over their work.
    std::vector<std::string> lost_devices;
    // Work by kind and reason, each pair once; empty if no GPU was used.
    std::vector<left_work> left_to_processor;
    // Number of finished blocks found in the journal, and its damaged files, whose work was repeated.
    std::size_t journal_blocks = 0;
    std::vector<std::string> journal_damaged;
    std::vector<input_file> inputs;
    std::vector<market_number> market_changes;
    // Pairs of factors in one trade whose correlation the market does not state; the run took it as 0.
    std::vector<factor_pair> missing_correlations;
    double plan_seconds = 0, path_seconds = 0, total_seconds = 0;
    std::uint64_t path_steps = 0;
    std::uint64_t path_steps_on_gpus = 0;  // of path_steps; the CPU walked the others
    // GPU figures: kernels compiled and found in the cache, launches, the time from the first launch to the
    // end of the last, and the part of that time in which a kernel ran.
    std::uint64_t kernels_compiled = 0, kernels_from_cache = 0, launches = 0;
    double device_seconds = 0, kernel_seconds = 0;
    // Why kernels in the cache folder were not used: somebody else may have written them. Empty if all were.
    std::string kernels_refused;
};

}  // namespace tilewalk
