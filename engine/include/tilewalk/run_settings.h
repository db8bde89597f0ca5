// SPDX-License-Identifier: Apache-2.0
// The settings of a run: the caller's override the book's, which override the defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/choices.h"

namespace tilewalk {

// How exact prices are to be: half the width of an interval, an amount in a trade's currency, or basis points
// of its notional or first spot; or an amount for the total of each currency.
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

    // "cpu", "cuda" (every GPU), "0,1" (these), "auto" (every usable GPU, else the CPU, also after failures).
    std::optional<std::string> device{};
    std::optional<tilewalk::precision> precision{};
    // A name from the catalogue of random sources.
    std::optional<std::string> random{};
    // Quasi-random sources: independent randomisations, and how points make Brownian paths.
    std::optional<int> randomisations{};
    std::optional<tilewalk::construction> construction{};
    // Control variates: a pilot fits a function of the path with a known mean, to subtract.
    std::optional<technique> controls{};
    std::optional<tilewalk::antithetic> antithetic{};
    // Preintegration of shocks before dates that decide, such as of barriers, removes jumps of the payoff.
    std::optional<technique> preintegration{};
    // Importance sampling: a pilot finds shifts of the shocks for trades that rarely pay.
    std::optional<technique> importance{};
    // Half-width of the confidence interval that each price has to reach; the run adds paths up to `paths`.
    std::optional<accuracy> tolerance{};
    std::optional<double> confidence{};  // confidence level of the tolerance, such as 0.99
    // No round of paths begins after this time.
    std::optional<std::chrono::duration<double>> budget{};
    // Decisions to reuse, or results that hold them (tilewalk/decisions.h).
    std::optional<std::string> decisions{};
    // A file of shocks to use instead of random ones.
    std::optional<std::string> replay{};

    // How market arrays reach a GPU thread. No bit of a result depends on these settings.
    std::optional<std::string> prefetch{};        // "auto" or a name from the catalogue of feeds
    std::optional<int> distance{};                // steps ahead
    std::optional<std::string> layout{};          // layout of a ring in shared memory, by name
    std::optional<std::string> padding{};         // "auto" or a number of elements, for the layout `padded`
    std::optional<int> width{};                   // consecutive paths a thread
    std::optional<int> rows{};                    // steps in a stage of the bulk ring
    std::optional<int> block{};                   // threads a block
    std::optional<std::string> space{};           // memory of path arrays, from the catalogue of spaces
    std::optional<std::string> row_space{};       // memory of arrays with one number for all paths
    std::optional<std::string> reduction{};       // how to sum a tile, from the catalogue of reductions
    std::optional<std::string> correlation{};     // "auto", "kernel" or "matrix", for correlated assets
    std::optional<std::uint64_t> memory_bytes{};  // GPU memory limit; 0: all that is free

    // Paths to find exercise policies on; by default a quarter of the paths, within bounds.
    std::optional<std::uint64_t> training_paths{};
    // A file of policies to reuse, see results::policies.
    std::optional<std::string> policy{};
    std::optional<upper_bound> upper{};
};

}  // namespace tilewalk
