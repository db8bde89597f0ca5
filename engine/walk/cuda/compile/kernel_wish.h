// SPDX-License-Identifier: Apache-2.0
// A wish and a decision how to build a path kernel: all constants of its text besides the program. A wish may
// be open, a decision is not (engine/walk/cuda/compile/decide.h).
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
    read,     // from arrays, a number for each shock
    targets,  // paths draw their shocks, and move to points that are read (kernels/targets.h)
    made,     // made by paths in registers, if few (kernels/points_of_path.h)
};

struct kernel_basis {
    cuda::precision precision = precision::double_;
    std::string space = "read_only";      // a name of the catalogue of spaces, for path arrays
    std::string row_space = "read_only";  // for numbers that are alike for all paths
    std::string reduction = "tree";       // a name of the catalogue of reductions
    // Rounds of Philox where paths make their shocks; can differ only in single_fast.
    int rounds = kernels::philox_rounds;
    // For paths with points, unless their feed reads arrays.
    point_way points = point_way::read;

    friend bool operator==(const kernel_basis&, const kernel_basis&) = default;
};

struct kernel_wish : kernel_basis {
    std::optional<std::string> feed{};  // a name of the catalogue of feeds
    // An open feed then reads shocks from arrays, unless points arrive otherwise; else it makes them.
    bool reads_shocks = false;
    std::array<std::optional<int>, knob_table.size()> values{};
    // A multiprocessor's registers shall suffice for so many, unless the kernel then spills; 0: any.
    std::optional<int> blocks{};

    std::optional<int>& operator[](knob_id k) { return values[k.at]; }
    const std::optional<int>& operator[](knob_id k) const { return values[k.at]; }

    // Whether the fastest measured choice may be taken.
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
    int blocks = 0;  // see kernel_wish

    int& operator[](knob_id k) { return values[k.at]; }
    int operator[](knob_id k) const { return values[k.at]; }
    kernels::ring_layout layout() const { return static_cast<kernels::ring_layout>((*this)[knobs::layout]); }
    friend bool operator==(const kernel_decision&, const kernel_decision&) = default;
};

}  // namespace tilewalk::cuda
