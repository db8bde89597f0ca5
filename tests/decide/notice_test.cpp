// SPDX-License-Identifier: Apache-2.0
// Rights that must be announced ahead (notice): bounds enclose values of our own lattice, which decides at
// the notice by what the later payment is worth then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/refusal.h"
#include "tests/rights_books.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::notice_test {
namespace {

constexpr double spot = 100, rate = 0.06, volatility = 0.3, strike = 105;

double below(double z) {
    return std::erfc(-z / std::sqrt(2.0)) / 2;
}

double european_put(double price, double years) {
    if (years <= 0) return std::max(strike - price, 0.0);
    const double sd = volatility * std::sqrt(years);
    const double d = (std::log(price / strike) + rate * years) / sd + sd / 2;
    return strike * std::exp(-rate * years) * below(sd - d) - price * below(-d);
}

// Value of the right to choose, at each of these times, a put that ends `notice` years later; with 0 years,
// of exercise at these times.
double on_a_lattice(const std::vector<double>& decided, double notice) {
    constexpr int n = 1601;
    const double width = 7 * volatility * std::sqrt(decided.back()), h = 2 * width / (n - 1);
    const auto place = [](int i) { return static_cast<std::size_t>(i); };
    const auto gives = [&](int i) { return european_put(strike * std::exp(-width + i * h), notice); };
    std::vector<double> value(n, 0.0);
    const auto back = [&](double years, double from) {
        const double sd = volatility * std::sqrt(years), mean = (rate - volatility * volatility / 2) * years;
        const int reach = static_cast<int>(8 * sd / h);
        const int middle = static_cast<int>(std::floor((from + mean + width) / h));
        double sum = 0, weights = 0;
        for (int j = middle - reach; j <= middle + reach; ++j) {
            const double z = (-width + j * h - from - mean) / sd, w = std::exp(-z * z / 2);
            weights += w;
            sum += w * value[place(std::clamp(j, 0, n - 1))];
        }
        return std::exp(-rate * years) * sum / weights;
    };
    for (int i = 0; i < n; ++i) value[place(i)] = gives(i);
    for (std::size_t k = decided.size() - 1; k > 0; --k) {
        std::vector<double> before(n);
        for (int i = 0; i < n; ++i)
            before[place(i)] = std::max(gives(i), back(decided[k] - decided[k - 1], -width + i * h));
        value = before;
    }
    return back(decided[0], std::log(spot / strike));
}

std::string book_of(const std::string& script, const std::string& dates = "{start: 0, end: 1, count: 8}",
                    const std::string& market = "") {
    std::string lines;
    for (std::size_t at = 0; at < script.size();) {
        const std::size_t end = script.find('\n', at);
        lines += "      " + script.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return (market.empty() ? "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.06}}\n  assets:\n"
                             "    A: {currency: USD, spot: 100, volatility: 0.3}\n  correlations: []\n"
                           : market) +
           "products:\n  - product: p\n    summary: A test.\n    parameters:\n"
           "      underlying: {type: asset, help: It.}\n      dates: {type: schedule, help: It.}\n" +
           (script.find("notice days") == std::string::npos
                ? ""
                : "      days: {type: number, default: 30, help: It.}\n") +
           std::string("    example: {underlying: ACME, dates: [1.0]}\n    script: |\n") + lines +
           "trades:\n  - {id: t, product: p, underlying: A, dates: " + dates + "}\n";
}

std::string put_with(const std::string& notice) {
    return "exercise on dates" + notice + ": receive max(105 - spot(underlying), 0)\n";
}

price_row priced(const std::string& text, std::uint64_t paths = 32768) {
    return tests::priced(text, paths).rows[0];
}

void expect_between(const price_row& row, double truth) {
    tests::expect_between(row, truth, 0.985 * truth, 1.045 * truth);
}

std::vector<double> eighths(double notice) {
    std::vector<double> out;
    for (int i = 1; i <= 8; ++i)
        if (i / 8.0 - notice > 1e-9) out.push_back(i / 8.0 - notice);
    return out;
}

}  // namespace

TEST(notice, the_lattice_gives_european_values) {
    EXPECT_NEAR(on_a_lattice({0.5}, 0.25), european_put(spot, 0.75), 1e-4);
}

// Notice periods that end before the next date, and longer ones, of which two or three run at a time.
TEST(notice, bounds_hold_values_known_from_a_lattice) {
    for (const double notice : {0.02, 0.1, 0.2, 0.3}) {
        SCOPED_TRACE(notice);
        expect_between(priced(book_of(put_with(" with notice " + std::to_string(notice)))),
                       on_a_lattice(eighths(notice), notice));
    }
}

TEST(notice, days_are_parts_of_a_year) {
    const price_row years = priced(book_of(put_with(" with notice 0.1")), 4096);
    const price_row days = priced(book_of(put_with(" with notice 36.5 days")), 4096);
    EXPECT_EQ(years.early->policy_value, days.early->policy_value);
    EXPECT_EQ(years.early->upper_bound, days.early->upper_bound);
    const price_row named = priced(book_of(put_with(" with notice days days")), 4096);
    const price_row stated = priced(book_of(put_with(" with notice 30 days")), 4096);
    EXPECT_EQ(named.early->policy_value, stated.early->policy_value);
    EXPECT_NE(named.early->policy_value, days.early->policy_value);
}

TEST(notice, without_days_it_is_the_right_itself) {
    const price_row none = priced(book_of(put_with("")), 4096);
    const price_row zero = priced(book_of(put_with(" with notice 0")), 4096);
    EXPECT_EQ(none.early->policy_value, zero.early->policy_value);
    EXPECT_EQ(none.early->upper_bound, zero.early->upper_bound);
    expect_between(priced(book_of(put_with(""))), on_a_lattice(eighths(0), 0));
}

TEST(notice, who_gave_notice_is_bound_by_it) {
    const price_row got =
        priced(book_of("exercise on dates with notice 0.1: receive 105 - spot(underlying)\n", "[0.5]"));
    const double forward_strike = 105 * std::exp(-rate * 0.1);
    const double sd = volatility * std::sqrt(0.4);
    const double d = (std::log(spot / forward_strike) + rate * 0.4) / sd + sd / 2;
    const double truth = forward_strike * std::exp(-rate * 0.4) * below(sd - d) - spot * below(-d);
    expect_between(got, truth);
}

TEST(notice, notices_of_the_past_were_not_given) {
    const price_row past = priced(book_of(put_with(" with notice 0.3"), "[0.2, 0.25]"), 4096);
    EXPECT_EQ(past.status, trade_status::priced) << past.message;
    EXPECT_EQ(past.price, 0);
    const price_row some = priced(book_of(put_with(" with notice 0.3"), "[0.2, 0.8]"));
    expect_between(some, european_put(spot, 0.8));
    const price_row today = priced(book_of(put_with(" with notice 0.2"), "[0.2]"), 4096);
    EXPECT_EQ(today.price, 0);
}

TEST(notice, coupons_are_paid_until_the_call) {
    const std::string note =
        "on dates:\n    pay 3 + 0 * spot(underlying)\n"
        "call on dates with notice 0.4: pay 100\n"
        "on last(dates):\n    pay 100\n";
    const price_row got = priced(book_of(note, "[0.5, 1.0, 1.5, 2.0]"), 16384);
    // Coupon and rates are both 6 % a year, so the call is worth about par at any time.
    ASSERT_TRUE(got.early) << got.message;
    double worst = 1e9, coupons = 0;
    for (const double t : {0.5, 1.0, 1.5, 2.0}) {
        coupons += 3 * std::exp(-rate * t);
        worst = std::min(worst, coupons + 100 * std::exp(-rate * t));
    }
    EXPECT_NEAR(got.early->upper_bound, worst, 1e-6);
    EXPECT_NEAR(got.early->lower_bound, worst, 1e-6);
}

TEST(notice, what_means_nothing_yet_is_not_known) {
    const price_row got =
        priced(book_of("total = 0\nseen = 0\non dates:\n    total = total + spot(underlying)\n"
                       "    seen = seen + 1\n"
                       "exercise on dates with notice 0.1: receive max(105 - total / seen, 0)\n"));
    ASSERT_TRUE(got.early) << got.message;
    const early_exercise& e = *got.early;
    EXPECT_GT(e.lower_bound, european_put(spot, 0.125));
    EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
    EXPECT_LT(e.upper_bound, 1.1 * e.lower_bound);
}

// A right with notice beside one of the same party, and beside the other party's, which allows no bound.
TEST(notice, rights_stand_beside_others) {
    const std::string late = put_with(" with notice 0.05");
    const std::string now = "exercise on first(dates): receive max(100 - spot(underlying), 0)\n";
    const price_row one = priced(book_of(late)), two = priced(book_of(now + late));
    EXPECT_GT(two.early->upper_bound + 4 * two.early->upper_error,
              one.early->lower_bound - 4 * one.early->lower_error);
    EXPECT_LT(two.early->lower_bound - 4 * two.early->lower_error,
              two.early->upper_bound + 4 * two.early->upper_error);
    const price_row both = priced(book_of("call on dates: pay 30\n" + late));
    EXPECT_TRUE(is_figure(both.early->policy_value));
    EXPECT_LT(both.early->policy_value, one.early->upper_bound + 4 * one.early->upper_error);
    EXPECT_NE(both.message.find("without a bound"), std::string::npos) << both.message;
}

TEST(notice, rates_may_be_random) {
    const std::string market =
        "market:\n  as_of: 2026-01-15\n  currencies:\n"
        "    USD: {rate: 0.04, model: {hull_white: {mean_reversion: 0.05, volatility: 0.012}}}\n"
        "  assets:\n    A: {currency: USD, spot: 100, volatility: 0.2}\n  correlations: [[A, USD.rate, 0]]\n";
    const auto bond_with = [&](const std::string& notice) {
        return priced(book_of("on dates:\n    pay 4 + 0 * spot(underlying)\ncall on dates" + notice +
                                  ": pay 100\non last(dates):\n    pay 100\n",
                              "[1.0, 2.0, 3.0, 4.0]", market),
                      16384);
    };
    const price_row none = bond_with(""), late = bond_with(" with notice 90 days");
    for (const price_row* row : {&none, &late}) {
        ASSERT_TRUE(row->early) << row->message;
        const early_exercise& e = *row->early;
        EXPECT_LT(e.lower_bound, e.upper_bound + 4 * std::hypot(e.lower_error, e.upper_error));
        EXPECT_LT(e.upper_bound - e.lower_bound, 0.2);
    }
    EXPECT_GT(late.early->upper_bound + 0.05, none.early->lower_bound);
}

TEST(notice, terms_that_make_no_sense_are_refused) {
    struct refused_script {
        std::string script, says;
    };
    const std::string pays = ": receive spot(underlying)\n";
    const std::vector<refused_script> all{
        {"exercise on dates with notice" + pays, "found ':'"},
        {"exercise on dates with warning 3" + pays, "expected 'notice' after 'with', found 'warning'"},
        {"exercise on dates with notice 3 with notice 4" + pays, "given twice"},
        {"exercise on dates with notice underlying" + pays, "expected a number of years"},
        {"exercise on dates with notice dates days" + pays, "expected a number of days"},
        {"exercise on dates at most 3 times with notice 0.1" + pays, "expected no 'with notice'"},
        {"exercise on dates at most 3" + pays, "expected 'times'"},
        {"exercise on dates at few 3 times" + pays, "expected 'at most N times'"},
        {"exercise on dates at most 3 times at most 4 times" + pays, "given twice"},
        {"exercise on dates at most dates times" + pays, "expected a whole number, or an integer parameter"},
        {"exercise on dates at least 2 times" + pays, "needs 'at most' before it"},
        {"call on dates at most 3 times: pay spot(underlying)\n", "only the holder"},
        {"exercise on dates at most 3 times" + pays + "exercise on last(dates)" + pays,
         "in a trade of its own"}};
    for (const refused_script& one : all) {
        const std::string told = tests::refusal([&] { book::parse(book_of(one.script)); });
        EXPECT_NE(told.find(one.says), std::string::npos) << one.script << told;
        const int line = one.says.find("of its own") != std::string::npos ? 16 : 15;
        EXPECT_NE(told.find(":" + std::to_string(line) + ":"), std::string::npos) << "its place: " << told;
    }
    // Numbers of a single trade are checked when the trade is priced, not with the product.
    const std::vector<refused_script> by_trade{
        {"exercise on dates at most 2.5 times" + pays, "a right is used 2.5 times, expected a whole number"},
        {"exercise on dates at most 0 times" + pays, "expected a whole number from 1 to 100"},
        {"exercise on dates at most 9 times at least 9 times" + pays, "on each of its 8 dates"},
        {"exercise on dates at most 2 times at least 3 times" + pays, "no more than the 2 times"}};
    for (const refused_script& one : by_trade) {
        const price_row row = priced(book_of(one.script), 1024);
        EXPECT_EQ(row.status, trade_status::failed);
        EXPECT_NE(row.message.find(one.says), std::string::npos) << one.script << row.message;
    }
}

}  // namespace tilewalk::notice_test
