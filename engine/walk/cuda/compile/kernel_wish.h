// SPDX-License-Identifier: Apache-2.0
// How to build a path kernel: the constants of its text besides the program. A wish may leave some of them
// open; a decision has them all (engine/walk/cuda/compile/decide.h).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "engine/walk/cuda/compile/knobs.h"
#include "kernels/philox.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

using program::precision;

// How quasi-random points reach paths.
enum class point_way {
    read,     // read from arrays, as a number for each shock
    targets,  // read as targets: paths draw shocks and are moved onto the points (kernels/targets.h)
    made,     // computed by the path's thread, if there are few (kernels/points_of_path.h)
};

struct kernel_basis {
    cuda::precision precision = precision::double_;
    std::string space = "read_only";      // memory space of arrays with a number for each path
    std::string row_space = "read_only";  // memory space of numbers that all paths share
    std::string reduction = "tree";       // see the catalogue of reductions
    // Rounds of Philox in a kernel that draws its shocks. Only single_fast may differ from the default.
    int rounds = kernels::philox_rounds;
    // How points reach paths, if there are any and the feed does not read arrays.
    point_way points = point_way::read;

    friend bool operator==(const kernel_basis&, const kernel_basis&) = default;
};

struct kernel_wish : kernel_basis {
    std::optional<std::string> feed{};  // a name in the catalogue of feeds; empty: open
    // An open feed reads shocks from arrays if this is set and `points` is `read`; otherwise it draws them.
    bool reads_shocks = false;
    std::array<std::optional<int>, knob_table.size()> values{};
    // Blocks for which a multiprocessor's registers must suffice, unless the kernel would then spill; 0: any.
    std::optional<int> blocks{};

    std::optional<int>& operator[](knob_id k) { return values[k.at]; }
    const std::optional<int>& operator[](knob_id k) const { return values[k.at]; }

    // Whether everything is open, so that the fastest measured choice may be taken.
    bool is_open() const { return !feed && values == decltype(values){}; }
    friend bool operator==(const kernel_wish&, const kernel_wish&) = default;
};

struct kernel_decision : kernel_basis {
    std::string feed = "inline";
    std::array<int, knob_table.size()> values = [] {
        std::array<int, knob_table.size()> presets{};
        for (const knob_id k : all_knobs()) presets[k.at] = k.line().preset;
        return presets;
    }();
    int blocks = 0;  // see kernel_wish::blocks

    int& operator[](knob_id k) { return values[k.at]; }
    int operator[](knob_id k) const { return values[k.at]; }
    kernels::ring_layout layout() const { return static_cast<kernels::ring_layout>((*this)[knobs::layout]); }
    friend bool operator==(const kernel_decision&, const kernel_decision&) = default;
};

}  // namespace tilewalk::cuda
