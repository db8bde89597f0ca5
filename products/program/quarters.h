// SPDX-License-Identifier: Apache-2.0
// Results by quarter of a tile. A program asks for a quarter by a special entry among its pairs of outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/quarters.h"
#include "products/program/program.h"

namespace tilewalk::program {

inline bool is_quarter(const output_pair& p) {
    return p.second >= kernels::first_quarter;
}
inline output_pair quarter_of(std::uint32_t output, std::uint32_t j) {
    return {output, kernels::first_quarter + j};
}

// True if a program with `outputs` outputs can have the pair.
inline bool is_possible(const output_pair& p, std::size_t outputs) {
    if (is_quarter(p))
        return p.first < outputs && p.second - kernels::first_quarter < kernels::quarters_of_tile;
    return p.first < p.second && p.second < outputs;
}

}  // namespace tilewalk::program
