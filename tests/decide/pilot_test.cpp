// SPDX-License-Identifier: Apache-2.0
// Pilots (short runs ahead of the priced one) choose how Sobol points make paths, and whether a trade takes
// points at all. A choice gives the bits of a run that asks for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::pilot_test {
namespace {

// Four trades: an average; one date of ten assets; one date of one; and a payment that no pilot path sees.
std::string book_text() {
    std::string assets, pairs, basket;
    for (char a = 'A'; a <= 'J'; ++a) {
        const std::string name(1, a);
        assets +=
            "    " + name + ": {currency: USD, spot: 100, volatility: 0.2" + std::to_string(a - 'A') + "}\n";
        basket += (a == 'A' ? "" : ", ") + name;
        for (char b = 'A'; b < a; ++b)
            pairs += std::string(pairs.empty() ? "" : ", ") + "[" + name + ", " + b + ", 0.5]";
    }
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n" + assets +
           "  correlations: {complete: true, pairs: [" + pairs + "]}\n" + R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 60}}
  - {id: basket, product: basket, basket: [)" +
           basket + R"(], strike: 1000, maturity: 1}
  - {id: european, product: european, underlying: A, strike: 100, maturity: 1}
  - {id: far, product: european, underlying: A, strike: 210, maturity: 1}
)";
}
const std::string text = book_text();

results priced(const char* random, const char* construction, std::uint64_t paths = 16384,
               const std::string& of = text, int threads = 2) {
    run_options options = tests::plain_paths();
    options.overrides.random = random;
    options.overrides.construction = tests::named{construction};
    options.overrides.paths = paths;
    options.overrides.device = "cpu";
    options.overrides.threads = threads;
    return engine().price(book::parse(of), options);
}

std::string chosen_in(const std::string& explained) {
    for (const std::string_view name : quasi::construction_names)
        if (explained.find(", " + std::string(name) + ",") != std::string::npos) return std::string(name);
    return {};
}

std::vector<trade_plan> explained(const char* random, std::uint64_t paths) {
    run_options options = tests::plain_paths();
    options.overrides.random = random;
    options.overrides.paths = paths;
    options.overrides.device = "cpu";
    const book b = book::parse(text);
    return engine().explain(b, *b.market(), options);
}

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST(pilots, choose_what_is_priced_as_if_it_had_been_asked_for) {
    const results chosen = priced("sobol", "auto");
    const std::vector<trade_plan> plans = explained("sobol", 16384);
    for (std::size_t i = 0; i < chosen.rows.size(); ++i) {
        const std::string how = chosen_in(plans[i].random);
        ASSERT_FALSE(how.empty()) << plans[i].random;
        const price_row asked = priced("sobol", how.c_str()).rows[i];
        EXPECT_TRUE(same_bits(chosen.rows[i].price, asked.price)) << plans[i].random;
        EXPECT_TRUE(same_bits(chosen.rows[i].standard_error, asked.standard_error)) << plans[i].random;
    }
}

// Point coordinates in order of time gain almost nothing for the average; for ten assets, principal
// components gain more than their own order.
TEST(pilots, see_which_dimensions_count) {
    const std::vector<trade_plan> plans = explained("sobol", 131072);
    EXPECT_NE(chosen_in(plans[0].random), "steps") << plans[0].random;
    EXPECT_EQ(chosen_in(plans[1].random), "principal") << plans[1].random;
    EXPECT_EQ(chosen_in(plans[2].random), "bridge") << "there is nothing to choose: " << plans[2].random;
    EXPECT_NE(plans[2].random.find("no pilot was walked"), std::string::npos) << plans[2].random;
    EXPECT_NE(plans[0].random.find("131072 paths in 16 randomisations"), std::string::npos)
        << plans[0].random;
}

TEST(pilots, choose_alike_for_any_threads_and_beside_any_trades) {
    const results all = priced("auto", "auto", 16384, text, 1);
    EXPECT_TRUE(same_bits(all.rows[0].price, priced("auto", "auto", 16384, text, 3).rows[0].price));
    std::string alone(text);
    alone.resize(alone.find("  - {id: basket"));
    EXPECT_TRUE(same_bits(all.rows[0].price, priced("auto", "auto", 16384, alone).rows[0].price));
}

TEST(pilots, leave_trades_that_gain_nothing_to_independent_paths) {
    const results open = priced("auto", "auto"), points = priced("sobol", "auto"),
                  paths = priced("philox", "auto");
    for (std::size_t gains = 0; gains < 3; ++gains) {
        EXPECT_EQ(open.rows[gains].randomisations, 16u) << open.rows[gains].trade;
        EXPECT_TRUE(same_bits(open.rows[gains].price, points.rows[gains].price)) << open.rows[gains].trade;
    }
    EXPECT_EQ(open.rows[3].randomisations, 0u);
    EXPECT_EQ(open.rows[3].message, paths.rows[3].message);
    EXPECT_EQ(explained("auto", 16384)[3].random.substr(0, 6), "philox");
    EXPECT_GT(open.totals().at(0).error, 0);
    EXPECT_LT(open.totals().at(0).error, paths.totals().at(0).error / 3);
}

TEST(pilots, try_no_construction_but_the_one_that_was_asked_for) {
    run_options options = tests::plain_paths();
    options.overrides.random = "auto";
    options.overrides.construction = construction::steps;
    options.overrides.paths = 131072;
    options.overrides.device = "cpu";
    const book b = book::parse(text);
    const std::string why = engine().explain(b, *b.market(), options)[0].random;
    EXPECT_NE(why.find("2048 pilot paths: steps "), std::string::npos) << why;
    EXPECT_EQ(why.find("bridge"), std::string::npos) << why;
}

// In the second market alone, a pilot would see no path that pays.
TEST(pilots, decide_in_the_first_of_several_markets) {
    const auto in_market = [](const std::string& spot) {
        return book::parse(
            "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets: {A: "
            "{currency: USD, spot: " +
            spot +
            ", volatility: 0.2}}\ntrades:\n  - {id: call, product: european, underlying: A, "
            "strike: 100, maturity: 1}\n");
    };
    const book first = in_market("100"), second = in_market("48");
    run_options options = tests::plain_paths();
    options.overrides.random = "auto";
    options.overrides.paths = 16384;
    options.overrides.device = "cpu";
    const std::vector<market> markets{*first.market(), *second.market()};
    const std::vector<results> together = engine().price(first, markets, options);
    EXPECT_EQ(together[0].rows[0].randomisations, 16u);
    EXPECT_EQ(together[1].rows[0].randomisations, 16u);
    EXPECT_EQ(engine().price(second, options).rows[0].randomisations, 0u);
}

// With one step there is no choice. Jumps are smoothed as a pilot on points finds best for points.
TEST(pilots, give_the_sensitivities_of_points_that_were_asked_for) {
    const book b = book::parse(
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets: {A: {currency: USD, "
        "spot: "
        "100, volatility: 0.2}}\ntrades:\n  - {id: bet, product: digital, underlying: A, strike: 100, "
        "payout: "
        "10, maturity: 1}\n");
    const auto found = [&](const std::string& random) {
        run_options options;
        options.overrides.random = random;
        options.overrides.paths = 32768;
        options.overrides.device = "cpu";
        return engine().greeks(b, *b.market(), {{"delta", "vega"}}, options).greeks;
    };
    const std::vector<greek_row> open = found("auto"), asked = found("sobol");
    ASSERT_EQ(open.size(), asked.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
        EXPECT_TRUE(same_bits(open[i].value, asked[i].value)) << open[i].measure;
        EXPECT_EQ(open[i].method, asked[i].method) << open[i].measure;
        EXPECT_TRUE(same_bits(open[i].bias, asked[i].bias)) << open[i].measure;
        EXPECT_LT(open[i].bias, 1e-3 * std::abs(open[i].value)) << open[i].measure;
    }
}

TEST(pilots, are_not_walked_for_few_paths) {
    const results open = priced("auto", "auto", 16383), paths = priced("philox", "auto", 16383);
    for (std::size_t i = 0; i < open.rows.size(); ++i) {
        EXPECT_EQ(open.rows[i].randomisations, 0u);
        EXPECT_EQ(open.rows[i].paths, 16383u) << "no run of independent paths is rounded";
        EXPECT_TRUE(same_bits(open.rows[i].price, paths.rows[i].price));
    }
}

TEST(pilots, take_a_twentieth_of_a_run_at_most) {
    for (const int size : {16384, 20480, 65536, 1 << 20}) {
        const auto paths = static_cast<std::uint64_t>(size);
        const std::string why = explained("sobol", paths)[0].random;
        const std::size_t at = why.find("; ");
        ASSERT_NE(at, std::string::npos) << why;
        const auto walked = static_cast<std::uint64_t>(std::stoull(why.substr(at + 2)));
        EXPECT_GT(walked, 0u);
        EXPECT_LE(walked, paths / 20) << why;
    }
}

TEST(pilots, take_a_twentieth_of_a_run_together) {
    run_options options;
    options.overrides.random = "sobol";
    options.overrides.paths = 65536;
    options.overrides.device = "cpu";
    options.overrides.controls = technique::automatic;
    options.overrides.importance = technique::automatic;
    options.overrides.antithetic = antithetic::pairs;
    const book b = book::parse(text);
    const std::regex number("([0-9]+) pilot paths");
    std::size_t most_pilots = 0;
    for (const trade_plan& p : engine().explain(b, *b.market(), options)) {
        std::string told = p.random;
        for (const std::string& remark : p.remarks) told += "\n" + remark;
        std::uint64_t walked = 0;
        std::size_t pilots = 0;
        for (std::sregex_iterator at(told.begin(), told.end(), number), end; at != end; ++at, ++pilots)
            walked += std::stoull((*at)[1].str());
        EXPECT_LE(walked, 65536u / 20) << told;
        most_pilots = std::max(most_pilots, pilots);
    }
    EXPECT_GE(most_pilots, 2u) << "one pilot has a twentieth to itself";
}

// Greeks by differences use the choices of one market, or they would compare different numbers.
TEST(pilots, decide_once_for_markets_that_greeks_move) {
    const book b = book::parse(text);
    const auto greeks_with = [&](const char* construction) {
        run_options options = tests::plain_paths();
        options.overrides.random = "sobol";
        options.overrides.construction = tests::named{construction};
        options.overrides.paths = 16384;
        options.overrides.device = "cpu";
        greek_options wanted;
        wanted.method = greek_method::bump;
        return engine().greeks(b, *b.market(), wanted, options);
    };
    const results chosen = greeks_with("auto");
    const std::string how = chosen_in(explained("sobol", 16384)[1].random);
    const results asked = greeks_with(how.c_str());
    std::size_t compared = 0;
    for (const greek_row& g : chosen.greeks) {
        if (g.trade != "basket") continue;
        const auto same = std::ranges::find_if(asked.greeks, [&](const greek_row& other) {
            return other.trade == g.trade && other.measure == g.measure && other.key == g.key;
        });
        ASSERT_NE(same, asked.greeks.end());
        EXPECT_TRUE(same_bits(g.value, same->value)) << g.measure << " " << g.key;
        ++compared;
    }
    EXPECT_GT(compared, 6u);
}

TEST(pilots, choose_alike_for_a_session) {
    const book b = book::parse(text);
    run_options options;
    options.overrides.random = "sobol";
    options.overrides.paths = 16384;
    options.overrides.device = "cpu";
    const session prepared = engine().open(b);
    const results first = prepared.price(*b.market(), options), again = prepared.price(*b.market(), options),
                  plain = engine().price(b, options);
    for (std::size_t i = 0; i < plain.rows.size(); ++i) {
        EXPECT_TRUE(same_bits(first.rows[i].price, plain.rows[i].price));
        EXPECT_TRUE(same_bits(again.rows[i].price, plain.rows[i].price));
    }
}

}  // namespace tilewalk::pilot_test
