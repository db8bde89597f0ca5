// SPDX-License-Identifier: Apache-2.0
// Numbers of a market in sensitivities: their measures and moves, and the resulting moves of a program's
// numbers.
#include "engine/plan/measures.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "engine/plan/ways_back.h"

namespace tilewalk::measures_test {
namespace {

using section = markets::market_part::section;

greeks::risk_number risk_of(section in, const std::string& part, const std::string& key,
                            const std::string& unit, double value) {
    markets::keyed_number number;
    number.key = key;
    number.unit = unit;
    number.value = value;
    number.of = {in, part};
    return greeks::risk_of(number);
}

TEST(measures, say_for_which_move_a_value_is) {
    struct told {
        section in;
        std::string part, key, unit, measure, words;
    };
    const std::vector<told> all{
        {section::assets, "ACME", "ACME.spot", "USD", "delta", "1 USD of ACME"},
        {section::assets, "ACME", "ACME.dividend@2026-06-01", "USD", "dividend", "1 USD of dividend"},
        {section::assets, "ACME", "ACME.dividend@2026-12-01", "share of the spot", "dividend",
         "1 % of the spot"},
        {section::assets, "ACME", "ACME.dividend_yield", "rate a year", "dividend", "1 bp"},
        {section::assets, "ACME", "ACME.volatility@1y", "volatility", "vega", "1 % of volatility"},
        {section::assets, "ACME", "ACME.heston.rho", "parameter of heston", "parameter", "1 of rho"},
        {section::assets, "ACME", "ACME.heston.kappa@2y", "parameter of heston", "parameter", "1 of kappa"},
        {section::assets, "ACME", "ACME.volatility@0.5y,a", "parameter of a slice", "parameter", "1 of a"},
        {section::fx, "EURUSD", "EURUSD.rate", "USD for one EUR", "fx", "1 USD for one EUR"},
        {section::fx, "EURUSD", "EURUSD.volatility", "volatility", "vega", "1 % of volatility"},
        {section::currencies, "USD", "USD.rate@2y", "rate a year", "rho", "1 bp"},
        {section::currencies, "USD", "USD.hull_white.mean_reversion", "parameter of hull_white", "parameter",
         "1 of mean_reversion"},
        {section::correlations, "", "ACME|BETA.correlation", "correlation", "correlation",
         "1 % of correlation"},
    };
    for (const told& t : all) {
        const greeks::risk_number got = risk_of(t.in, t.part, t.key, t.unit, 2);
        EXPECT_EQ(got.measure, t.measure) << t.key;
        EXPECT_EQ(got.per_words, t.words) << t.key;
        EXPECT_DOUBLE_EQ(got.small, 1e-3 * got.large) << t.key;
    }
}

// A number that has no usual move moves by a hundredth of itself, or by 0.01 if it is 0.
TEST(measures, move_a_number_by_its_size) {
    EXPECT_DOUBLE_EQ(risk_of(section::assets, "ACME", "ACME.spot", "USD", 250).large, 2.5);
    EXPECT_DOUBLE_EQ(risk_of(section::assets, "ACME", "ACME.heston.rho", "parameter of heston", -0.7).large,
                     0.007);
    EXPECT_DOUBLE_EQ(risk_of(section::assets, "ACME", "ACME.heston.rho", "parameter of heston", 0).large,
                     0.01);
    EXPECT_DOUBLE_EQ(risk_of(section::currencies, "USD", "USD.rate", "rate a year", 0.05).large, 1e-3);
}

// `up` and `down` hold numbers of two markets 0.5 apart. A relative difference of 2^-50 is rounding, twice as
// much is a move; a number infinite in both does not move.
TEST(measures, numbers_of_a_program_move_by_more_than_rounding) {
    const double infinite = std::numeric_limits<double>::infinity();
    program::path_data up, down;
    up.terms = {1, 1, 1, infinite, 0};
    down.terms = {1 - 0x1p-50, 1 - 0x1p-49, 1, infinite, 0};
    up.initial_states = {3, 2};
    down.initial_states = {1, 2};
    up.rows = {{5, 7}, {}, {-1}};
    down.rows = {{4, 7}, {}, {1}};
    up.runs = down.runs = {1, 0, 1};
    up.widths = down.widths = {2, 0, 1};
    const program::path_data moves = greeks::moves_of_numbers(up, down, 0.5);
    EXPECT_EQ(moves.terms, (std::vector<double>{0, 0x1p-48, 0, 0, 0}));
    EXPECT_EQ(moves.initial_states, (std::vector<double>{4, 0}));
    EXPECT_EQ(moves.rows, (std::vector<std::vector<double>>{{2, 0}, {}, {-4}}));
    EXPECT_EQ(moves.runs, up.runs);
    EXPECT_EQ(moves.widths, up.widths);
}

TEST(measures, a_store_of_ways_back_begins_empty) {
    EXPECT_EQ(greeks::adjoint_store().size(), 0u);
}

}  // namespace
}  // namespace tilewalk::measures_test
