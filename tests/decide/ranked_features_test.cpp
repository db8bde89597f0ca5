// SPDX-License-Identifier: Apache-2.0
// Rights whose payment compares assets (a best-of): policies and martingales use the assets by rank. Bounds
// are tight around published values, also for assets that differ or are correlated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "engine/decide/exercise/basis.h"
#include "engine/decide/exercise/policy.h"
#include "kernels/exercise/backward_arguments.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::ranked_features_test {
namespace {

using tests::expect_between;
using tests::priced;

// A right to the best of several assets with these volatilities, spots of 100 and dividends of 10 %, on nine
// dates in three years.
std::string most_of(const std::vector<double>& volatilities, double correlation = 0,
                    const std::string& terms = "price: maximum") {
    std::ostringstream out, names, pairs;
    out << "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n";
    for (std::size_t i = 0; i < volatilities.size(); ++i) {
        out << "    A" << i << ": {currency: USD, spot: 100, volatility: " << volatilities[i]
            << ", dividend_yield: 0.1}\n";
        names << (i > 0 ? ", A" : "A") << i;
        for (std::size_t j = 0; j < i; ++j)
            pairs << (i > 1 || j > 0 ? ", " : "") << "[A" << j << ", A" << i << ", " << correlation << "]";
    }
    out << "  correlations: [" << pairs.str() << "]\ntrades:\n  - {id: t, product: bermudan_basket, basket: ["
        << names.str() << "], strike: 100, " << terms << ", exercise_dates: {start: 0, end: 3, count: 9}}\n";
    return out.str();
}

double gap_of(const price_row& row) {
    return (row.early->upper_bound - row.early->lower_bound) / row.early->lower_bound;
}

}  // namespace

// Andersen and Broadie (2004): 13.902 by a lattice. With assets in their own order the upper bound is 14.36.
TEST(ranked_features, bounds_of_the_best_of_two_are_near) {
    const price_row got = priced(most_of({0.2, 0.2}), 262144).rows[0];
    expect_between(got, 13.902, 0.995 * 13.902);
    EXPECT_LT(gap_of(got), 0.018);
}

// Andersen and Broadie (2004): between 26.09 and 26.2. With assets in their own order the bounds are 25.99
// and 27.79. By chance one seed in 300,000 fails at either end.
TEST(ranked_features, bounds_of_the_best_of_five_are_near) {
    const price_row got = priced(most_of({0.2, 0.2, 0.2, 0.2, 0.2}), 262144).rows[0];
    ASSERT_EQ(got.status, trade_status::priced) << got.message;
    const early_exercise& e = *got.early;
    EXPECT_LT(e.lower_bound - 4.5 * e.lower_error, 26.2);
    EXPECT_GT(e.lower_bound + 4.5 * e.lower_error, 26.09);
    EXPECT_GT(e.upper_bound + 4.5 * e.upper_error, 26.09);
    EXPECT_LT(gap_of(got), 0.013);
}

// With assets in their own order these bounds are 3.2 % and 7.2 % apart.
TEST(ranked_features, unlike_assets_are_told_apart) {
    const price_row two = priced(most_of({0.4, 0.2}), 262144).rows[0];
    const price_row five = priced(most_of({0.4, 0.2, 0.2, 0.2, 0.2}), 262144).rows[0];
    for (const price_row* row : {&two, &five}) {
        const early_exercise& e = *row->early;
        EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
    }
    EXPECT_LT(gap_of(two), 0.031);
    EXPECT_LT(gap_of(five), 0.045);
    const price_row back = priced(most_of({0.2, 0.4}), 262144).rows[0];
    EXPECT_NEAR(back.early->upper_bound, two.early->upper_bound,
                4 * std::hypot(back.early->upper_error, two.early->upper_error) + 0.003 * 24.5);
}

// Normals of correlated assets are a rotation of the drawn ones. A put on the best of three, correlation 0.5,
// valued in tests/data/reference; and five equal assets, whose bounds are 7.7 % apart without ranks.
TEST(ranked_features, correlated_assets_are_rotated) {
    std::string text = most_of({0.2, 0.3, 0.5}, 0.5, "price: maximum, option: put");
    const auto put = [&](const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    };
    put("spot: 100", "spot: 40");
    put("strike: 100", "strike: 40");
    put("dividend_yield: 0.1", "dividend_yield: 0");
    put("end: 3, count: 9", "end: 0.5833333333333, count: 10");
    const price_row unlike = priced(text, 262144).rows[0];
    expect_between(unlike, 1.19692978562);
    EXPECT_LT(gap_of(unlike), 0.13) << "13.3 % without ranks";
    const price_row alike = priced(most_of({0.2, 0.2, 0.2, 0.2, 0.2}, 0.3), 262144).rows[0];
    const early_exercise& e = *alike.early;
    EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
    EXPECT_LT(gap_of(alike), 0.025);
}

TEST(ranked_features, explain_tells_of_ranks) {
    const book b = book::parse(most_of({0.2, 0.2, 0.2}));
    const auto plan = engine().explain(b, *b.market())[0];
    ASSERT_TRUE(plan.decides_by);
    const std::vector<std::string> known{"number 1 from the largest of 3 by spot(a)",
                                         "number 2 from the largest of 3 by spot(a)",
                                         "number 3 from the largest of 3 by spot(a)"};
    EXPECT_EQ(plan.decides_by->knows, known);
    EXPECT_TRUE(plan.decides_by->are_moves_ranked);
    const book unlike = book::parse(most_of({0.2, 0.4}, 0, "price: minimum, option: put"));
    const auto of = engine().explain(unlike, *unlike.market())[0];
    const std::vector<std::string> more{"number 1 from the smallest of 2 by spot(a)",
                                        "number 2 from the smallest of 2 by spot(a)",
                                        "the volatility of number 1", "the volatility of number 2"};
    EXPECT_EQ(of.decides_by->knows, more);
    const book mean = book::parse(most_of({0.2, 0.2}, 0, "price: mean"));
    const auto averaged = engine().explain(mean, *mean.market())[0];
    EXPECT_EQ(averaged.decides_by->knows, (std::vector<std::string>{"x0", "x1"}));
    EXPECT_FALSE(averaged.decides_by->are_moves_ranked);
}

// By quadrature over two normals: derived moves of ranked assets are uncorrelated to second order, so that a
// fit of slopes takes few steps.
TEST(ranked_features_parts, moves_are_orthonormal) {
    const exercise::interval_moves moves(2, true);
    EXPECT_EQ(moves.size(), 8u);
    std::vector<double> mean(moves.size()), square(moves.size() * moves.size());
    constexpr int n = 301;
    constexpr double h = 20.0 / (n - 1);
    const auto weight_of = [](double u) { return std::exp(-u * u / 2) / std::sqrt(2 * M_PI) * h; };
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const std::vector<double> u{-10 + i * h, -10 + j * h};
            const double weight = weight_of(u[0]) * weight_of(u[1]);
            const std::vector<double> of = moves.values(u, 1.0);
            for (std::size_t a = 0; a < of.size(); ++a) {
                mean[a] += weight * of[a];
                for (std::size_t b = 0; b < of.size(); ++b)
                    square[a * of.size() + b] += weight * of[a] * of[b];
            }
        }
    }
    for (std::size_t a = 0; a < moves.size(); ++a) {
        EXPECT_NEAR(mean[a], 0, 1e-9);
        for (std::size_t b = 0; b < moves.size(); ++b)
            EXPECT_NEAR(square[a * moves.size() + b], a == b ? 1 : 0, 1e-9) << a << " " << b;
    }
}

// The training kernel with so many features fits devices with 227 KiB of shared memory for a block.
TEST(ranked_features_parts, policies_fit_a_block) {
    for (std::size_t n = 2; n <= exercise::most_with_powers; ++n) {
        for (const std::size_t others : {0u, 2u}) {
            const bool are_many = n > exercise::most_ranks;
            const exercise::basis of = are_many ? exercise::basis(exercise::ranks_of_many + 1)
                                                : exercise::basis::of_ranked(n, others);
            EXPECT_LE(of.functions(), exercise::most_functions) << n;
            if (!are_many) {
                EXPECT_EQ(of.features(), n + others + 1);
            }
            const kernels::backward_sizes sizes{static_cast<int>(of.features()),
                                                static_cast<int>(of.functions()),
                                                static_cast<int>(exercise::interval_moves(n, true).size()),
                                                static_cast<int>(exercise::interval_moves(n, true).columns()),
                                                kernels::path_reads::register_rolling};
            EXPECT_LE(static_cast<std::size_t>(sizes.most_doubles(1)) * sizeof(double), 227u * 1024)
                << n << " " << others;
        }
    }
}

}  // namespace tilewalk::ranked_features_test
