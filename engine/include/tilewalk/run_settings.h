// SPDX-License-Identifier: Apache-2.0
// What a run may be told; everything unsaid is left to the next in line: the caller, the book, the defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewalk {

struct run_settings {
    std::optional<std::uint64_t> paths{};
    std::optional<std::uint64_t> seed{};
    std::optional<int> threads{};  // of the CPU; 0: all cores

    // "cpu"; "cuda": every GPU; "0" or "0,1": these; "auto": every GPU if there is one that can be used, else
    // the CPU, also when a GPU fails on the way.
    std::optional<std::string> device{};
    // "double"; "single", with our own functions; "single_fast", with the hardware's approximations; "mixed":
    // single shocks, double state.
    std::optional<std::string> precision{};
    // Where shocks come from: a name of the catalogue of random sources.
    std::optional<std::string> random{};
    // A file of shocks to walk instead of random ones.
    std::optional<std::string> replay{};

    // How market arrays reach a thread of a GPU. No bit of a result depends on any of these.
    std::optional<std::string> prefetch{};     // "auto", or a name of the catalogue of feeds
    std::optional<int> distance{};             // steps ahead, 1 to 32
    std::optional<std::string> layout{};       // of a ring in shared memory: plain, padded, transposed
    std::optional<std::string> padding{};      // of the layout padded: "auto" or a number of elements
    std::optional<int> width{};                // consecutive paths a thread: 1, 2 or 4
    std::optional<int> rows{};                 // steps a stage of the bulk ring holds
    std::optional<int> block{};                // threads a block: 64, 128 or 256
    std::optional<std::string> space{};        // where path arrays live: a name of the catalogue of spaces
    std::optional<std::string> row_space{};    // where arrays live that hold one number for all paths
    std::optional<std::string> reduction{};    // how a tile is summed: a name of the catalogue of reductions
    std::optional<std::string> correlation{};  // "auto", "kernel", or "matrix", of correlated assets
    std::optional<std::uint64_t> memory_bytes{};  // of a GPU that a run may take; 0: what is free
};

}  // namespace tilewalk
