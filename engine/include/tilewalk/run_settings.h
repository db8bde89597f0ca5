// SPDX-License-Identifier: Apache-2.0
// The settings of a run. Everything unsaid is left to the next in line: the caller, the book, the defaults.
// The values that each may have are in the table (tilewalk/setting_table.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewalk/accuracy.h"
#include "tilewalk/choices.h"

namespace tilewalk {

// Defaults where neither the caller nor the book says otherwise.
inline constexpr std::uint64_t default_paths = 131072;
inline constexpr std::uint64_t default_seed = 42;

struct run_settings {
    std::optional<std::uint64_t> paths{};
    std::optional<std::uint64_t> seed{};
    std::optional<int> threads{};  // CPU threads; 0: all cores

    // "cpu"; "cuda": every GPU; "0" or "0,1": these; "auto": every GPU if there is one that can be used, else
    // the CPU, also when a GPU fails on the way.
    std::optional<std::string> device{};
    std::optional<tilewalk::precision> precision{};
    // Source of shocks: a name of the catalogue of random sources.
    std::optional<std::string> random{};
    // Quasi-random sources have independent randomisations, whose spread is the error, and a way in which
    // their points make Brownian paths.
    std::optional<int> randomisations{};
    std::optional<tilewalk::construction> construction{};
    // Control variates: a function of the path with a known mean, which a pilot fits, is subtracted.
    std::optional<technique> controls{};
    std::optional<tilewalk::antithetic> antithetic{};
    // The shocks before a date that decides, as barriers and calls do, are integrated along one direction, so
    // that what is paid does not jump there.
    std::optional<technique> preintegration{};
    // Shocks of trades that few paths pay are shifted as a pilot finds, and paths weighted by their
    // likelihood.
    std::optional<technique> importance{};
    // Half the width of the interval that each price is to have: paths are added until it has, at most
    // `paths`.
    std::optional<accuracy> tolerance{};
    std::optional<double> confidence{};  // of that interval, such as 0.99
    // The time after which no round of paths begins.
    std::optional<std::chrono::duration<double>> budget{};
    // Results of a run whose decisions hold, or these alone (tilewalk/decisions.h): what pilots chose, and
    // the paths of each trade.
    std::optional<std::string> decisions{};
    // A file of shocks to walk instead of random ones.
    std::optional<std::string> replay{};

    // The way in which market arrays reach a thread of a GPU. No bit of a result depends on any of these.
    std::optional<std::string> prefetch{};   // "auto", or a name of the catalogue of feeds
    std::optional<int> distance{};           // steps ahead
    std::optional<std::string> layout{};     // layout of a ring in shared memory, by name
    std::optional<std::string> padding{};    // "auto" or a number of elements, for the layout padded
    std::optional<int> width{};              // consecutive paths a thread
    std::optional<int> rows{};               // steps in a stage of the bulk ring
    std::optional<int> block{};              // threads a block
    std::optional<std::string> space{};      // memory of path arrays: a name of the catalogue of spaces
    std::optional<std::string> row_space{};  // memory of arrays that hold one number for all paths
    std::optional<std::string> reduction{};  // a name of the catalogue of reductions, the ways to sum a tile
    std::optional<std::string> correlation{};     // "auto", "kernel" or "matrix", for correlated assets
    std::optional<std::uint64_t> memory_bytes{};  // the most to take of a GPU; 0: all that is free

    // Paths that the policy of a trade which can be ended early is found on; none said: a quarter of the
    // paths, within bounds.
    std::optional<std::uint64_t> training_paths{};
    // A file of policies to follow instead of finding them, see results::policies.
    std::optional<std::string> policy{};
    std::optional<upper_bound> upper{};
};

}  // namespace tilewalk
