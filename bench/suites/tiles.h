// SPDX-License-Identifier: Apache-2.0
// The parts of the suite `tiles` that need no GPU: sizes and checks of matrix products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"
#include "products/program/moves.h"
#include "products/program/precision.h"

namespace tilewalk::bench::tiles {

struct product_size {
    std::size_t assets = 0;
    std::uint64_t paths = 0;  // whole tiles; 0: memory does not hold one

    // Useful floating-point operations: two per fused multiply-add, none for zeros above the diagonal.
    double useful_flops() const {
        const auto n = static_cast<double>(assets);
        return n * (n + 1) * static_cast<double>(paths);
    }
    double bytes(std::size_t bytes_of_real) const {
        return 2.0 * static_cast<double>(assets) * static_cast<double>(paths) *
               static_cast<double>(bytes_of_real);
    }
};

std::span<const std::size_t> all_assets();
// A size that takes a good kernel about a millisecond, in at most half of the free memory.
product_size size_for(std::size_t assets, std::size_t bytes_of_real, std::size_t free_bytes);

// The figure published elsewhere for this variant and size; empty if there is none.
std::string_view published_for(std::string_view variant, program::precision p, std::size_t assets);

// Made-up drifts and roots, all different within a row, so that mixed-up places show.
program::move_numbers some_numbers(std::size_t assets);
// The roots as cuBLAS reads them: a square, row by row, with zeros above the diagonal.
template <class real>
std::vector<real> square_roots(const program::move_numbers& of);

// The moves of one path, summed in the order of our kernels, bit for bit.
template <class real>
std::vector<real> moves_of_path(const program::move_numbers& of, std::span<const real> shocks);
// The product without drifts, in long double, and a bound for its error in any order of sums.
struct bounded {
    long double exact, bound;
};
template <class real>
std::vector<bounded> product_of_path(const program::move_numbers& of, std::span<const real> shocks);

}  // namespace tilewalk::bench::tiles
