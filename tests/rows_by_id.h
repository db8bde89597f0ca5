// SPDX-License-Identifier: Apache-2.0
// Prices of a book's trades by id, and a bitwise comparison of GPU prices with those of the CPU.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/named_choice.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::tests {

using rows_by_id = std::map<std::string, price_row>;

// Prices the book. Throws std::runtime_error if a trade fails.
inline rows_by_id priced_by_id(const std::string& book_text, const run_options& options) {
    rows_by_id out;
    for (price_row& row : engine().price(book::parse(book_text), options).rows) {
        if (row.status != trade_status::priced) throw std::runtime_error(row.trade + ": " + row.message);
        out.emplace(row.trade, std::move(row));
    }
    return out;
}

inline bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Expects equal bits of the CPU and the GPU in each precision that promises them, by philox and by sobol.
// options_of(random) returns the options of the CPU run.
template <class options_for>
void expect_bits_of_the_cpu_on_a_gpu(const std::string& book_text, const options_for& options_of) {
    for (const char* const random : {"philox", "sobol"}) {
        for (const char* const precision : {"double", "single", "mixed"}) {
            run_options here = options_of(random), there = here;
            here.overrides.precision = there.overrides.precision = tests::named{precision};
            there.overrides.device = "0";
            const rows_by_id a = priced_by_id(book_text, here), b = priced_by_id(book_text, there);
            for (const auto& [id, row] : a) {
                EXPECT_TRUE(same_bits(row.price, b.at(id).price)) << id << random << precision;
                EXPECT_TRUE(same_bits(row.standard_error, b.at(id).standard_error)) << id << random;
            }
        }
    }
}

}  // namespace tilewalk::tests
