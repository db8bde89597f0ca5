// SPDX-License-Identifier: Apache-2.0
// Rights that may be used several times (swing): bounds enclose values by dynamic programming on our own
// lattice, and strips of European options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::swing_test {
namespace {

constexpr double spot = 100, rate = 0.05, yield = 0.03, volatility = 0.3;

struct terms {
    int rights = 1, least = 0;
    double strike = 100, least_amount = 0, most_amount = 1;
    std::vector<double> years;

    double gives(double price) const {
        return std::max(least_amount * (price - strike), most_amount * (price - strike));
    }
};

std::vector<double> monthly(int count, bool today = false) {
    std::vector<double> out;
    if (today) out.push_back(0);
    for (int i = 1; i <= count; ++i) out.push_back(i / 12.0);
    return out;
}

// Value of a swing by dynamic programming over the uses left, on an even grid of log prices; steps back in
// time integrate over the density of the move.
double on_a_lattice(const terms& of) {
    constexpr int n = 1601, none_left = 0;
    const double width = 7 * volatility * std::sqrt(of.years.back()), h = 2 * width / (n - 1);
    const auto place = [](int i) { return static_cast<std::size_t>(i); };
    const auto price = [&](int i) { return of.strike * std::exp(-width + i * h); };
    using values = std::vector<std::vector<double>>;  // by [uses left][grid point]
    values value(place(of.rights) + 1, std::vector<double>(n, 0.0));
    const auto use = [&](const values& to_come, int uses, int dates_left, int i) {
        const std::size_t j = place(uses);
        if (uses == none_left) return to_come[j][place(i)];
        const double used = of.gives(price(i)) + to_come[j - 1][place(i)];
        const bool must = uses - (of.rights - of.least) >= dates_left;
        return must ? used : std::max(used, to_come[j][place(i)]);
    };
    // The value `years` earlier at the log price `from`: a mean over the grid of later values.
    const auto back = [&](const std::vector<double>& later, double years, double from) {
        const double sd = volatility * std::sqrt(years);
        const double mean = (rate - yield - volatility * volatility / 2) * years;
        const int reach = static_cast<int>(8 * sd / h);
        const int middle = static_cast<int>(std::floor((from + mean + width) / h));
        double sum = 0, weights = 0;
        for (int j = middle - reach; j <= middle + reach; ++j) {
            const double z = (-width + j * h - from - mean) / sd, w = std::exp(-z * z / 2);
            weights += w;
            sum += w * later[place(std::clamp(j, 0, n - 1))];
        }
        return std::exp(-rate * years) * sum / weights;
    };
    const double now = std::log(spot / of.strike);
    for (std::size_t k = of.years.size(); k-- > 0;) {
        const int dates_left = static_cast<int>(of.years.size() - k);
        if (of.years[k] == 0) {
            const int i = static_cast<int>(std::lround((now + width) / h));
            return use(value, of.rights, dates_left, i);
        }
        values before = value;
        for (int uses = 0; uses <= of.rights; ++uses)
            for (int i = 0; i < n; ++i) before[place(uses)][place(i)] = use(value, uses, dates_left, i);
        const double years = of.years[k] - (k > 0 ? of.years[k - 1] : 0);
        if (k == 0) return back(before.back(), years, now);
        for (int uses = 0; uses <= of.rights; ++uses)
            for (int i = 0; i < n; ++i)
                value[place(uses)][place(i)] = back(before[place(uses)], years, -width + i * h);
    }
    return 0;
}

std::string book_of(const terms& of, const std::string& keys = "") {
    std::string dates;
    for (const double t : of.years) dates += (dates.empty() ? "" : ", ") + std::to_string(t);
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.05}}\n  assets:\n"
           "    A: {currency: USD, spot: 100, volatility: 0.3, dividend_yield: 0.03}\n  correlations: []\n"
           "trades:\n  - {id: t, product: swing, underlying: A, strike: " +
           std::to_string(of.strike) + ", rights: " + std::to_string(of.rights) +
           ", minimum_rights: " + std::to_string(of.least) +
           ", minimum_amount: " + std::to_string(of.least_amount) +
           ", maximum_amount: " + std::to_string(of.most_amount) + ", exercise_dates: [" + dates + "]" +
           keys + "}\n";
}

price_row priced(const std::string& text, std::uint64_t paths = 32768) {
    return tests::priced(text, paths).rows[0];
}

void expect_between(const price_row& row, double truth) {
    tests::expect_between(row, truth, truth - 0.01 * std::abs(truth) - 0.02,
                          truth + 0.02 * std::abs(truth) + 0.1);
}

double call(double strike, double years) {
    const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
    const double sd = volatility * std::sqrt(years);
    const double d = (std::log(spot / strike) + (rate - yield) * years) / sd + sd / 2;
    return spot * std::exp(-yield * years) * below(d) - strike * std::exp(-rate * years) * below(d - sd);
}

}  // namespace

TEST(swing, bounds_hold_values_known_from_a_lattice) {
    for (const int rights : {1, 2, 5, 9}) {
        for (const double strike : {90.0, 105.0}) {
            const terms of{rights, 0, strike, 0, 1, monthly(12)};
            SCOPED_TRACE(std::to_string(rights) + " rights at " + std::to_string(strike));
            expect_between(priced(book_of(of)), on_a_lattice(of));
        }
    }
}

TEST(swing, the_lattice_gives_european_values) {
    double strip = 0;
    for (const double t : monthly(6)) strip += call(105, t);
    EXPECT_NEAR(on_a_lattice({6, 0, 105, 0, 1, monthly(6)}), strip, 1e-3);  // the payment's kink on the grid
    EXPECT_NEAR(on_a_lattice({1, 0, 105, 0, 1, {0.5}}), call(105, 0.5), 1e-4);
}

TEST(swing, twenty_rights_and_more) {
    const terms of{20, 0, 100, 0, 1, monthly(24)};
    expect_between(priced(book_of(of), 16384), on_a_lattice(of));
}

// With a use for each date nothing is decided: the policy is worth all payments on the same paths.
TEST(swing, a_right_for_each_date_is_a_strip_of_europeans) {
    const terms of{30, 0, 105, 0, 1, monthly(6)};
    const price_row got = priced(book_of(of), 16384);
    double strip = 0;
    for (const double t : of.years) strip += call(of.strike, t);
    expect_between(got, strip);
    const std::string european =
        "products:\n  - product: strip\n    summary: A test.\n    parameters:\n"
        "      underlying: {type: asset, help: It.}\n      strike: {type: amount, help: It.}\n"
        "      dates: {type: schedule, help: It.}\n    example: {underlying: ACME, strike: 1, dates: [1.0]}\n"
        "    script: |\n      on dates:\n          pay max(spot(underlying) - strike, 0)\n";
    std::string text = book_of(of);
    text = text.substr(0, text.find("trades:")) + european +
           "trades:\n  - {id: t, product: strip, underlying: A, strike: 105, dates: {start: 0, end: 0.5, "
           "count: 6}}\n";
    EXPECT_NEAR(got.early->policy_value, priced(text, 16384).price, 1e-4);
}

TEST(swing, one_right_is_the_bermudan_option) {
    const terms of{1, 0, 105, 0, 1, monthly(12)};
    const price_row several = priced(book_of(of));
    std::string text = book_of(of);
    text = text.substr(0, text.find("trades:")) +
           "trades:\n  - {id: t, product: bermudan_basket, basket: [A], option: call, strike: 105, "
           "exercise_dates: {start: 0, end: 1, count: 12}}\n";
    const price_row once = priced(text);
    expect_between(once, on_a_lattice(of));
    // A swing with one use and an American train the same policy on the same paths, except that a swing also
    // fits paths that have used the right.
    EXPECT_NEAR(several.early->policy_value, once.early->policy_value, 0.02);
    EXPECT_NEAR(several.early->upper_bound, once.early->upper_bound, 0.05);
}

// A use takes the largest amount if it pays; a mandatory use that costs takes the smallest, and is made on
// one of the last dates.
TEST(swing, uses_that_must_be_made_cost) {
    for (const int least : {1, 3, 4}) {
        const terms of{4, least, 115, 0.5, 2, monthly(8)};
        SCOPED_TRACE(std::to_string(least) + " at least");
        expect_between(priced(book_of(of)), on_a_lattice(of));
    }
    // Calls far out of the money, of which one must be used: the trade is worth slightly more than a forward.
    // In the upper bound, paths that still owe the use need a martingale of their own.
    const terms deep{4, 1, 150, 1, 1, monthly(8)};
    expect_between(priced(book_of(deep)), on_a_lattice(deep));
    const terms all{3, 3, 110, 1, 1, monthly(3)};
    double forwards = 0;
    for (const double t : all.years) forwards += spot * std::exp(-yield * t) - 110 * std::exp(-rate * t);
    const price_row got = priced(book_of(all));
    EXPECT_NEAR(got.early->policy_value, forwards, 4 * got.early->policy_error);
    EXPECT_NEAR(got.early->upper_bound, forwards, 4 * got.early->upper_error);
}

TEST(swing, a_right_of_today_is_one_of_them) {
    for (const double strike : {80.0, 100.0}) {
        const terms of{2, 0, strike, 0, 1, monthly(4, true)};
        SCOPED_TRACE(std::to_string(strike));
        expect_between(priced(book_of(of)), on_a_lattice(of));
    }
    const terms forced{5, 5, 120, 1, 1, monthly(4, true)};
    const price_row got = priced(book_of(forced));
    double forwards = 0;
    for (const double t : forced.years) forwards += spot * std::exp(-yield * t) - 120 * std::exp(-rate * t);
    EXPECT_NEAR(got.early->policy_value, forwards, 4 * got.early->policy_error);
    EXPECT_NEAR(got.early->upper_bound, forwards, 4 * got.early->upper_error);
    EXPECT_EQ(priced(book_of({1, 1, 120, 1, 1, {0}})).price, -20);
    EXPECT_EQ(priced(book_of({1, 0, 80, 1, 1, {0}})).price, 20);
    EXPECT_EQ(priced(book_of({1, 0, 120, 1, 1, {0}})).price, 0);
}

TEST(swing, marginal_values_fall) {
    std::vector<double> worth{0};
    for (int rights = 1; rights <= 6; ++rights)
        worth.push_back(priced(book_of({rights, 0, 100, 0, 1, monthly(6)}), 16384).price);
    for (std::size_t n = 1; n < worth.size(); ++n) {
        EXPECT_GT(worth[n], worth[n - 1]);
        if (n > 1) {
            EXPECT_LT(worth[n] - worth[n - 1], worth[n - 1] - worth[n - 2]);
        }
    }
}

TEST(swing, terms_that_make_no_sense_are_refused) {
    struct refused_terms {
        terms of;
        std::string says;
    };
    const std::vector<refused_terms> all{
        {{2, 3, 100, 0, 1, monthly(6)}, "no more than the 2 times that it may be used"},
        {{5, 4, 100, 0, 1, monthly(3)}, "no more than once on each of its 3 dates"},
        {{2, 0, 100, 2, 1, monthly(6)}, "the maximum_amount must not be less"},
        {{0, 0, 100, 0, 1, monthly(6)}, "rights"},
        {{101, 0, 100, 0, 1, monthly(6)}, "rights"}};
    for (const refused_terms& one : all) {
        const std::string text = book_of(one.of);
        std::string told;
        try {
            const price_row row = priced(text, 1024);
            EXPECT_EQ(row.status, trade_status::failed);
            told = row.message;
            EXPECT_EQ(row.where.line, 8) << told;
        } catch (const error& e) {
            told = e.what();
        }
        EXPECT_NE(told.find(one.says), std::string::npos) << told;
    }
}

TEST(swing, rights_end_with_the_trade) {
    const auto text_of = [&](const std::string& script) {
        std::string lines;
        for (std::size_t at = 0; at < script.size();) {
            const std::size_t end = script.find('\n', at);
            lines += "      " + script.substr(at, end - at) + "\n";
            at = end + 1;
        }
        const std::string text = book_of({1, 0, 100, 0, 1, {1}});
        return text.substr(0, text.find("trades:")) +
               "products:\n  - product: p\n    summary: A test.\n    parameters:\n"
               "      underlying: {type: asset, help: It.}\n      dates: {type: schedule, help: It.}\n"
               "    example: {underlying: ACME, dates: [1.0]}\n    script: |\n" +
               lines +
               "trades:\n  - {id: t, product: p, underlying: A, dates: {start: 0, end: 1, count: 12}}\n";
    };
    const std::string right = "exercise on dates at most 3 times: receive max(spot(underlying) - 100, 0)\n";
    const price_row plain = priced(text_of(right));
    const price_row paying = priced(text_of("on last(dates):\n    pay spot(underlying)\n" + right));
    expect_between(plain, on_a_lattice({3, 0, 100, 0, 1, monthly(12)}));
    expect_between(paying, on_a_lattice({3, 0, 100, 0, 1, monthly(12)}) + spot * std::exp(-yield));
    const price_row ends =
        priced(text_of("on dates:\n    if spot(underlying) > 110:\n        stop\n" + right));
    EXPECT_LT(ends.early->upper_bound, plain.early->lower_bound);
    EXPECT_GT(ends.early->lower_bound, 0);
    EXPECT_LT(ends.early->lower_bound - 4 * ends.early->lower_error,
              ends.early->upper_bound + 4 * ends.early->upper_error);
}

}  // namespace tilewalk::swing_test
