// SPDX-License-Identifier: Apache-2.0
// The ladder of matrix products: what of it needs no GPU.
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

// One product: the moves of so many assets on so many paths, in one step.
struct product_size {
    std::size_t assets = 0;
    std::uint64_t paths = 0;  // whole tiles; 0: there is no memory for one

    // A fused multiply-add counts as two, those above the diagonal as none.
    double useful_flops() const {
        const auto n = static_cast<double>(assets);
        return n * (n + 1) * static_cast<double>(paths);
    }
    // A cube read and a cube written.
    double bytes(std::size_t bytes_of_real) const {
        return 2.0 * static_cast<double>(assets) * static_cast<double>(paths) *
               static_cast<double>(bytes_of_real);
    }
};

std::span<const std::size_t> all_assets();
// About a millisecond's work for a good kernel, in no more than half of the memory that is free.
product_size size_for(std::size_t assets, std::size_t bytes_of_real, std::size_t free_bytes);

// What is published for this very row, or empty.
std::string_view published_for(std::string_view variant, program::precision p, std::size_t assets);

// Drifts and roots of no market, none of them alike in a row.
program::move_numbers some_numbers(std::size_t assets);
// The roots as cuBLAS reads them: square, row by row, zeros above the diagonal.
template <class real>
std::vector<real> square_roots(const program::move_numbers& of);

// What the moves of one path must be: in the order of sums of our kernels, to the bit.
template <class real>
std::vector<real> moves_of_path(const program::move_numbers& of, std::span<const real> shocks);
// The product without drifts in more digits than it is made in, and how far any order of sums may be off.
struct bounded {
    long double exact, bound;
};
template <class real>
std::vector<bounded> product_of_path(const program::move_numbers& of, std::span<const real> shocks);

}  // namespace tilewalk::bench::tiles
