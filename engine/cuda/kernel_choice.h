// SPDX-License-Identifier: Apache-2.0
// How a path kernel is built: everything that is a constant of its text besides the program.
#pragma once

#include <string>

#include "kernels/feeds/feed.h"
#include "products/program/precision.h"

namespace tilewalk::cuda {

using program::precision;

struct kernel_choice {
    cuda::precision precision = precision::double_;
    std::string feed = "inline";  // a name of the catalogue of feeds
    int distance = 8;
    int rows = 4;
    kernels::ring_layout layout = kernels::ring_layout::padded;
    bool has_best_layout = false;  // instead; the launcher chooses for each program
    int padding = automatic_padding;
    int width = 1;
    int threads = 256;
    int blocks = 0;                       // of a multiprocessor that registers must suffice for; 0: any
    std::string space = "read_only";      // of path arrays: a name of the catalogue of spaces
    std::string row_space = "read_only";  // of numbers alike for all paths
    std::string reduction = "tree";       // a name of the catalogue of reductions

    // Nothing of the feed, its distance, rows and layout, the width and the block was asked for: what was
    // measured to be fastest may take their place.
    bool is_open = false;

    static constexpr int automatic_padding = -1;
    // The launcher chooses for each program.
    static constexpr int automatic_width = 0;
    static constexpr int automatic_blocks = -1;
    friend bool operator==(const kernel_choice&, const kernel_choice&) = default;
};

}  // namespace tilewalk::cuda
