// SPDX-License-Identifier: Apache-2.0
// Programs from which the product of correlation and shocks was taken out: given moves from the plain
// product, they have the bits of the original programs given shocks. Other programs must stay unchanged.
#include "products/program/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "kernels/shocks.h"
#include "products/program/evaluate.h"
#include "tests/market_text.h"
#include "tilewalk/book.h"

namespace tilewalk::moves_test {
namespace {

using program::move_numbers;
using program::operation;
using program::path_data;
using program::path_program;
using program::separate_moves;
using program::separated_moves;
using tests::product_in_words;

constexpr std::uint64_t seed = 20260115;

using normals_of_path = std::function<double(std::size_t step, std::size_t slot)>;

double shock(std::uint64_t path, std::size_t number) {
    const auto two = kernels::normals(seed, path, static_cast<std::uint32_t>(number / 2));
    return number % 2 == 0 ? two.first : two.second;
}

double uniform(std::uint64_t path, std::size_t number) {
    const auto two = kernels::uniforms(seed, path, static_cast<std::uint32_t>(number / 2));
    return number % 2 == 0 ? two.first : two.second;
}

void run_section(const program::lane_section& s, const double* terms, const double* row, std::size_t step,
                 const normals_of_path& normals, const normals_of_path& uniforms,
                 std::vector<double>& states) {
    std::vector<double> v(s.nodes.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
        const program::node& n = s.nodes[i];
        switch (n.code) {
            case operation::constant:
                v[i] = n.number;
                break;
            case operation::term:
                v[i] = terms[n.args[0]];
                break;
            case operation::row:
                v[i] = row[n.args[0]];
                break;
            case operation::state:
                v[i] = states[n.args[0]];
                break;
            case operation::normal:
                v[i] = normals(step, n.args[0]);
                break;
            case operation::uniform:
                v[i] = uniforms(step, n.args[0]);
                break;
            default: {
                double x[3] = {0, 0, 0};
                for (int a = 0; a < program::entry_of(n.code).arity; ++a)
                    x[a] = v[n.args[static_cast<std::size_t>(a)]];
                v[i] = program::evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }
    for (const auto& w : s.writes) states[w.state] = v[w.node];
}

std::vector<double> walk(const path_program& code, const path_data& data, const program::timeline& when,
                         const normals_of_path& normals, const normals_of_path& uniforms) {
    std::vector<double> states = data.initial_states, seen;
    const auto run = [&](std::size_t s, std::size_t row, std::size_t step) {
        run_section(code.sections[s], data.terms.data(), data.rows[s].data() + row * data.widths[s], step,
                    normals, uniforms, states);
    };
    for (std::size_t step = 0; step < when.steps(); ++step) {
        run(0, step, step);
        for (const auto& e : when.events_after(step)) run(e.section, e.row, step);
        seen.insert(seen.end(), states.begin(), states.end());
    }
    return seen;
}

double plain_move(const move_numbers& of, std::size_t step, std::size_t i,
                  const std::function<double(std::size_t)>& shock_of) {
    double move = of.drifts[step * of.factors + i];
    const double* roots = of.roots.data() + step * of.roots_per_step();
    for (std::size_t j = 0; j <= i; ++j)
        move = std::fma(shock_of(j), roots[move_numbers::place_of_root(i, j)], move);
    return move;
}

std::string name_of(int asset) {
    return "A" + std::to_string(asset);
}

// Assets in two currencies with volatilities that change once, and some dividends. A common driver correlates
// them all and keeps the correlation matrix positive definite.
std::string market_of(int assets) {
    std::string text =
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}\n  assets:\n";
    const auto loading = [](int i) { return 0.3 + 0.01 * (i % 7); };
    for (int i = 0; i < assets; ++i) {
        text += "    " + name_of(i) + ": {currency: " + (i % 3 == 1 ? "EUR" : "USD") +
                ", spot: " + std::to_string(50 + 3 * i) + ", dividend_yield: 0.0" + std::to_string(i % 4) +
                ", volatility: {0.5: 0." + std::to_string(15 + i % 9) + ", 2.0: 0.25}}\n";
    }
    text += "  fx: {EURUSD: {rate: 1.10, volatility: 0.1}}\n";
    if (assets < 2) return text;
    text += "  correlations:\n";
    for (int i = 0; i < assets; ++i) {
        for (int j = 0; j < i; ++j) {
            text += "    - [" + name_of(j) + ", " + name_of(i) + ", " +
                    std::to_string(loading(i) * loading(j)) + "]\n";
        }
    }
    return text;
}

const std::string own_products =
    "products:\n" + product_in_words("basket_call", "Call on the mean of a basket.",
                                     "basket: asset_list, strike: amount, dates: schedule",
                                     "mean = 0\n"
                                     "on dates:\n"
                                     "    mean = mean + average(spot(a) for a in basket) / size(dates)\n"
                                     "on last(dates):\n"
                                     "    pay max(mean - strike, 0)\n");

plan::trade_program planned(int assets, const std::string& terms) {
    std::string basket;
    for (int i = 0; i < assets; ++i) basket += (i > 0 ? ", " : "") + name_of(i);
    const auto b = book::parse(
        market_of(assets) + own_products + "trades:\n  - {id: t, " + terms +
        (terms.find("underlying") == std::string::npos ? ", basket: [" + basket + "]" : "") + "}\n");
    const auto& t = state_of(b).trades.at(0);
    if (t.failure) throw *t.failure;
    return plan::plan_trade(t, state_of(*b.market()));
}

const std::string autocallable =
    "product: autocallable, initial_level: 60, observations: [0.25, 0.5, 1.0], coupon: [0.1, 0.2, 0.3]";
const std::string basket_call = "product: basket_call, strike: 60, dates: [0.1, 0.2, 0.7]";

void check_same_walk(const plan::trade_program& t, std::uint64_t paths) {
    const auto found = separate_moves(t.code);
    ASSERT_TRUE(found) << program::print(t.code);
    const auto n = static_cast<std::size_t>(t.code.normals_per_step);
    ASSERT_EQ(found->factors.size(), n);
    EXPECT_EQ(found->code.normals_per_step, t.code.normals_per_step);
    EXPECT_LE(found->code.sections[0].nodes.size(), 4 * n);
    EXPECT_TRUE(found->code.sections[0].per_run.columns.empty());

    const path_data data = data_of_code(*found, t.data);
    const move_numbers numbers = numbers_of_moves(*found, t.data);
    ASSERT_EQ(numbers.steps, t.when.steps());
    ASSERT_EQ(numbers.drifts.size(), numbers.steps * n);
    ASSERT_EQ(numbers.roots.size(), numbers.steps * n * (n + 1) / 2);
    const auto per_step = static_cast<std::size_t>(t.code.uniforms_per_step);
    for (std::uint64_t path = 0; path < paths; ++path) {
        const normals_of_path shocks = [&](std::size_t step, std::size_t slot) {
            return shock(path, step * n + slot);
        };
        const normals_of_path uniforms = [&](std::size_t step, std::size_t slot) {
            return uniform(path, step * per_step + slot);
        };
        const normals_of_path moves = [&](std::size_t step, std::size_t slot) {
            return plain_move(numbers, step, slot, [&](std::size_t j) { return shocks(step, j); });
        };
        const auto expected = walk(t.code, t.data, t.when, shocks, uniforms);
        const auto got = walk(found->code, data, t.when, moves, uniforms);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(std::bit_cast<std::uint64_t>(got[i]), std::bit_cast<std::uint64_t>(expected[i]))
                << "path " << path << ", state " << i % t.code.states.size() << " after step "
                << i / t.code.states.size() << "\n"
                << program::print(found->code);
        }
    }
}

TEST(moves, same_walk_for_baskets_of_1_to_60_assets) {
    for (const int assets : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 60}) {
        for (const auto& terms : {autocallable, basket_call}) {
            SCOPED_TRACE(std::to_string(assets) + " assets, " + terms);
            const auto t = planned(assets, terms);
            check_same_walk(t, 20);
        }
    }
}

TEST(moves, same_walk_of_every_kind_of_product) {
    const std::string watched =
        "product: barrier, underlying: A1, strike: 55, direction: up, barrier: 80, maturity: 1.0";
    for (const auto& terms :
         {std::string("product: european, underlying: A2, option: call, strike: 55, maturity: 1.0"),
          std::string("product: asian, underlying: A0, option: put, strike: 55, averaging_dates: [0.3, 0.9]"),
          watched, watched + ", monitoring: discrete, monitoring_dates: [0.4, 0.7]",
          autocallable + ", currency: EUR"}) {
        SCOPED_TRACE(terms);
        check_same_walk(planned(3, terms), 50);
    }
}

// Factors are the assets in order, followed by the exchange rates that the trade needs.
TEST(moves, the_numbers_are_those_of_the_market) {
    const auto t = planned(4, basket_call);
    const auto found = separate_moves(t.code);
    ASSERT_TRUE(found);
    const auto numbers = numbers_of_moves(*found, t.data);
    for (std::size_t step = 0; step < numbers.steps; ++step) {
        const double* roots = numbers.roots.data() + step * numbers.roots_per_step();
        const double years = t.when.times[step + 1] - t.when.times[step];
        for (std::size_t i = 0; i < 4; ++i) {
            double variance = 0;
            for (std::size_t j = 0; j <= i; ++j) {
                const double root = roots[move_numbers::place_of_root(i, j)];
                variance += root * root;
            }
            // All volatilities of the market lie between 0.15 and 0.35.
            EXPECT_GT(variance, 0.15 * 0.15 * years * (1 - 1e-12));
            EXPECT_LT(variance, 0.35 * 0.35 * years);
            // Asset 1 is in euros, and its drift also has its covariance with the exchange rate; dollar
            // assets drift by half their variance.
            if (i == 1) continue;
            EXPECT_NEAR(numbers.drifts[step * numbers.factors + i], -0.5 * variance, 1e-15);
        }
    }
}

// A program of two factors written by hand, with its numbers.
struct two_factors {
    path_program code;
    path_data data;

    std::vector<program::node>& step() { return code.sections[0].nodes; }
};

program::node leaf(operation code, std::uint32_t slot, double number = 0) {
    return {code, {slot, 0, 0}, number};
}
program::node apply(operation code, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    return {code, {a, b, c}, 0};
}

two_factors example() {
    two_factors out;
    out.code.states = {"x0", "x1"};
    out.code.state_sources = {0, 1};
    out.code.outputs = {0};
    out.code.normals_per_step = 2;
    out.code.per_trade.nodes = {leaf(operation::term, 0), leaf(operation::term, 1)};
    out.code.per_trade.columns = {0, 1};
    auto& step = out.code.sections.emplace_back();
    step.name = "step";
    step.per_run.nodes = {leaf(operation::row, 0), leaf(operation::row, 1), leaf(operation::row, 2)};
    step.per_run.columns = {2, 1, 0};
    step.nodes = {leaf(operation::normal, 0),          // node 0
                  leaf(operation::normal, 1),          // 1
                  leaf(operation::term, 1),            // 2: drift of both factors
                  leaf(operation::row, 0),             // 3: root (0, 0)
                  leaf(operation::constant, 0, 0.25),  // 4: root (1, 0)
                  leaf(operation::row, 2),             // 5: root (1, 1)
                  leaf(operation::state, 0),           // 6
                  leaf(operation::state, 1),           // 7
                  apply(operation::fma, 0, 3, 2),      // 8: move of factor 0
                  apply(operation::fma, 0, 4, 2),      // 9
                  apply(operation::fma, 1, 5, 9),      // 10: move of factor 1
                  apply(operation::add, 6, 8),         // 11
                  leaf(operation::row, 1),             // 12
                  apply(operation::add, 7, 10),        // 13
                  apply(operation::mul, 13, 12)};      // 14
    step.writes = {{0, 11}, {1, 14}};
    out.code.sections.emplace_back().name = "observation";
    out.data.terms = {7, -0.125};
    out.data.rows = {{1, 2, 3, 4, 5, 6}, {}};
    out.data.runs = {2, 0};
    out.data.widths = {3, 0};
    out.data.initial_states = {0, 0};
    return out;
}

TEST(moves, numbers_come_from_constants_terms_and_rows) {
    const two_factors e = example();
    const auto found = separate_moves(e.code);
    ASSERT_TRUE(found);
    const auto numbers = numbers_of_moves(*found, e.data);
    EXPECT_EQ(numbers.drifts, (std::vector<double>{-0.125, -0.125, -0.125, -0.125}));
    EXPECT_EQ(numbers.roots, (std::vector<double>{1, 0.25, 3, 4, 0.25, 6}));
    // Rows that only moves read are gone; the one that another node reads stays, in a column of its own.
    EXPECT_EQ(found->numbers_of_row, std::vector<std::uint32_t>{1});
    const auto& step = found->code.sections[0];
    EXPECT_EQ(step.per_run.nodes, std::vector<program::node>{leaf(operation::row, 1)});
    EXPECT_EQ(step.per_run.columns, std::vector<std::uint32_t>{0});
    EXPECT_EQ(data_of_code(*found, e.data).rows[0], (std::vector<double>{2, 5}));
    EXPECT_EQ(data_of_code(*found, e.data).widths[0], 1u);

    const program::program_data recorded{
        e.data.terms, {{3, 2, 1, 6, 5, 4}, {}}, e.data.runs, e.data.widths, e.data.initial_states};
    ASSERT_EQ(bind(e.code, recorded).rows[0], e.data.rows[0]);
    EXPECT_EQ(bind(found->code, recorded).rows[0], (std::vector<double>{2, 5}));

    program::timeline when;
    for (int s = 1; s <= 2; ++s) {
        when.times.push_back(s);
        when.close_step();
    }
    const normals_of_path shocks = [](std::size_t step_number, std::size_t slot) {
        return shock(5, 2 * step_number + slot);
    };
    const normals_of_path moves = [&](std::size_t step_number, std::size_t slot) {
        return plain_move(numbers, step_number, slot, [&](std::size_t j) { return shocks(step_number, j); });
    };
    EXPECT_EQ(walk(found->code, data_of_code(*found, e.data), when, moves, {}),
              walk(e.code, e.data, when, shocks, {}));
}

TEST(moves, are_of_no_stream_and_none_of_them_is_alone) {
    two_factors e = example();
    e.code.normal_streams = {0, 1};
    e.code.lone_normals = {1};
    const auto found = separate_moves(e.code);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->code.normal_streams.empty());
    EXPECT_TRUE(found->code.lone_normals.empty());
}

TEST(moves, a_factor_that_no_path_reads_leaves_its_shock_to_the_others) {
    two_factors e = example();
    e.code.sections[0].writes = {{1, 14}};
    e.step()[8] = e.step()[11] = leaf(operation::constant, 0);
    const auto found = separate_moves(e.code);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->factors[0].roots.empty());
    EXPECT_EQ(found->factors[1].roots.size(), 2u);
    EXPECT_EQ(numbers_of_moves(*found, e.data).roots, (std::vector<double>{0, 0.25, 3, 0, 0.25, 6}));
}

TEST(moves, any_other_use_of_normals_leaves_the_program_as_it_is) {
    struct way {
        const char* name;
        std::function<void(two_factors&)> change;
    };
    for (const way& w : {
             way{"no normals", [](two_factors& e) { e.code.normals_per_step = 0; }},
             way{"no chain",
                 [](two_factors& e) {
                     for (auto i : {0u, 1u, 8u, 9u, 10u}) e.step()[i] = leaf(operation::constant, 0);
                 }},
             way{"a normal is read in an observation",
                 [](two_factors& e) { e.code.sections[1].nodes.push_back(leaf(operation::normal, 0)); }},
             way{"a normal is an operand of something else",
                 [](two_factors& e) { e.step()[12] = leaf(operation::normal, 1); }},
             way{"a normal is the next state", [](two_factors& e) { e.code.sections[0].writes[0].node = 0; }},
             way{"a sum on the way is the next state",
                 [](two_factors& e) { e.code.sections[0].writes[0].node = 9; }},
             way{"a sum on the way is an operand of something else",
                 [](two_factors& e) { e.step()[11] = apply(operation::add, 6, 9); }},
             way{"a sum on the way is shared by two chains",
                 [](two_factors& e) { e.step()[11] = apply(operation::fma, 1, 3, 9); }},
             way{"two chains end alike",
                 [](two_factors& e) { e.step()[11] = apply(operation::fma, 0, 5, 2); }},
             way{"another order of shocks",
                 [](two_factors& e) {
                     e.step()[9] = apply(operation::fma, 1, 4, 2);
                     e.step()[10] = apply(operation::fma, 0, 5, 9);
                 }},
             way{"a gap at the start", [](two_factors& e) { e.step()[10] = apply(operation::fma, 1, 5, 2); }},
             way{"a gap on the way",
                 [](two_factors& e) {
                     e.code.normals_per_step = 3;
                     e.step()[1] = leaf(operation::normal, 2);
                 }},
             way{"root and shock change places",
                 [](two_factors& e) { e.step()[8] = apply(operation::fma, 3, 0, 2); }},
             way{"a root that varies by path",
                 [](two_factors& e) { e.step()[8] = apply(operation::fma, 0, 6, 2); }},
             way{"a drift that varies by path",
                 [](two_factors& e) { e.step()[8] = apply(operation::fma, 0, 3, 6); }},
             way{"not fused", [](two_factors& e) { e.step()[8] = apply(operation::mul, 0, 3); }},
         }) {
        two_factors e = example();
        w.change(e);
        EXPECT_FALSE(separate_moves(e.code)) << w.name << "\n" << program::print(e.code);
    }
}

}  // namespace
}  // namespace tilewalk::moves_test
