// SPDX-License-Identifier: Apache-2.0
// The settings of a run. Settings of the caller override those of the book, which override the defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/choices.h"

namespace tilewalk {

// Accuracy that a run has to reach: half the width of an interval, as an amount in a trade's currency or
// basis points of its notional or first spot; or as an amount for the total of each currency.
struct accuracy {
    double size = 0;
    bool is_in_basis_points = false, is_of_totals = false;

    static constexpr accuracy amount(double of_each) { return {of_each, false, false}; }
    static constexpr accuracy basis_points(double of_each) { return {of_each, true, false}; }
    static constexpr accuracy of_totals(double amount) { return {amount, false, true}; }

    constexpr double amount_for(double measure) const {
        return is_in_basis_points ? size * 1e-4 * measure : size;
    }
    friend bool operator==(const accuracy&, const accuracy&) = default;
};

inline constexpr std::uint64_t default_paths = 131072;
inline constexpr std::uint64_t default_seed = 42;

struct run_settings {
    std::optional<std::uint64_t> paths{};
    std::optional<std::uint64_t> seed{};
    std::optional<int> threads{};  // CPU threads; 0: all cores

    // "cpu", "cuda" (every GPU), "0,1" (these GPUs), "auto" (the CPU from the start; in a run of half a
    // second or more, every usable GPU takes over trades once it has their kernels; if GPUs fail, the CPU
    // does their work). Work that needs a GPU or whose bits differ on GPUs waits for them with "auto", too:
    // precision single_fast, random sources of GPUs, and all reductions but "tree" and "last_block".
    std::optional<std::string> device{};
    std::optional<tilewalk::precision> precision{};
    // Name of a random source, such as "philox" or "sobol".
    std::optional<std::string> random{};
    // For quasi-random sources: number of independent randomisations, and how points make Brownian paths.
    std::optional<int> randomisations{};
    std::optional<tilewalk::construction> construction{};
    // Control variates: a pilot run fits a function of the path with a known mean, which is subtracted.
    std::optional<technique> controls{};
    std::optional<tilewalk::antithetic> antithetic{};
    // Preintegration over a normal before a date with a condition, such as a barrier, smooths the payoff.
    std::optional<technique> preintegration{};
    // Importance sampling: a pilot run finds shifts of the normals for trades that rarely pay.
    std::optional<technique> importance{};
    // Half-width of the confidence interval that each price has to reach; adds paths, at most `paths`.
    std::optional<accuracy> tolerance{};
    std::optional<double> confidence{};  // confidence level of the tolerance, such as 0.99
    // Time after which no round of more paths begins.
    std::optional<std::chrono::duration<double>> budget{};
    // File of decisions to reuse, or of results that hold them (tilewalk/decisions.h).
    std::optional<std::string> decisions{};
    // File of random numbers of steps (shocks) to use instead of generated ones.
    std::optional<std::string> replay{};

    // How shocks reach a GPU thread and how kernels are built. Only `reduction` can change a price: its last
    // bits.
    std::optional<std::string> prefetch{};     // "auto" or the name of a feed, a way to prefetch
    std::optional<int> distance{};             // steps to prefetch ahead
    std::optional<std::string> layout{};       // layout of a ring buffer in shared memory, by name
    std::optional<std::string> padding{};      // "auto" or a number of elements, for the layout `padded`
    std::optional<int> width{};                // consecutive paths per thread
    std::optional<int> rows{};                 // steps per stage of the ring filled by bulk copies
    std::optional<int> block{};                // threads per block
    std::optional<std::string> space{};        // memory of arrays with a number for each path, by name
    std::optional<std::string> row_space{};    // memory of arrays with a number for all paths, by name
    std::optional<std::string> reduction{};    // how the payoffs of a tile (1,024 paths) are summed, by name
    std::optional<std::string> correlation{};  // "auto", "kernel" or "matrix": where shocks are correlated
    std::optional<std::uint64_t> memory_bytes{};  // most GPU memory to use; 0: all that is free

    // Paths for training exercise policies; by default a quarter of `paths`, within bounds.
    std::optional<std::uint64_t> training_paths{};
    // File of exercise policies to reuse, see results::policies.
    std::optional<std::string> policy{};
    std::optional<upper_bound> upper{};
};

}  // namespace tilewalk
