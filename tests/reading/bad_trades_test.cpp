// SPDX-License-Identifier: Apache-2.0
// Invalid trades among valid ones: sixty kinds of mistake, each first, in the middle and last in the book.
// The valid trades keep their bits, and each message names the place and the mistake.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/engine.h"

namespace tilewalk::bad_trades_test {
namespace {

const std::string head =
    "market:\n"
    "  as_of: 2026-01-15\n"
    "  currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}, GBP: {rate: 0.04}}\n"
    "  assets:\n"
    "    ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}\n"
    "    BETA: {currency: EUR, spot: 50, volatility: 0.3}\n"
    "  fx: {EURUSD: {rate: 1.16, volatility: 0.07}}\n"
    "  correlations: [[ACME, BETA, 0.4]]\n"
    "settings: {paths: 1024, seed: 3, threads: 2, device: cpu}\n"
    "trades:\n";

struct bad_kind {
    std::string trade;  // the YAML after '- '
    const char* words;  // part of the message
};

const std::string european = "{id: bad, product: european, underlying: ACME, ";
const std::string asian = "{id: bad, product: asian, underlying: ACME, strike: 100, averaging_dates: ";
const std::string barrier =
    "{id: bad, product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: "
    "80, ";
const std::string autocall =
    "{id: bad, product: autocallable, basket: [ACME, BETA], initial_level: [100, 50], ";
const bad_kind kinds[] = {
    {"~", "found nothing, expected a trade"},
    {"european", "found 'european', expected a trade"},
    {"[european]", "found a list, expected a trade"},
    {"{}", "missing key 'id'"},
    {"{id: bad}", "missing key 'product'"},
    {"{product: european}", "missing key 'id'"},
    {"{id: '', product: european}", "expected one line of text"},
    {"{id: [bad], product: european}", "found a list, expected a text"},
    {"{id: {bad: 1}, product: european}", "found a mapping, expected a text"},
    {"{id: \"b\\nad\", product: european}", "expected one line of text"},
    {"{id: good_5, product: european, underlying: ACME, strike: 1, maturity: 1}", "duplicate id 'good_5'"},
    {"{id: bad, product: europaen}", "did you mean 'european'?"},
    {"{id: bad, product: ~}", "found nothing, expected a text"},
    {"{id: bad, product: [european]}", "found a list, expected a text"},
    {european + "strike: 100}", "missing key 'maturity'"},
    {european + "maturity: 1}", "missing key 'strike'"},
    {european + "strike: 100, maturity: 1, strik: 5}", "did you mean 'strike'?"},
    {european + "strike: -1e-9, maturity: 1}", "expected a number at least 0"},
    {european + "strike: -5, maturity: 1}", "expected a number at least 0"},
    {european + "strike: 20%, maturity: 1}", "write 0.2"},
    {european + "strike: 1e400, maturity: 1}", "numbers go up to"},
    {european + "strike: .nan, maturity: 1}", "it has to be finite"},
    {european + "strike: .inf, maturity: 1}", "it has to be finite"},
    {european + "strike: 0x64, maturity: 1}", "write 100"},
    {european + "strike: 0144, maturity: 1}", "write 144, or 100"},
    {european + "strike: 1_000, maturity: 1}", "write 1000"},
    {european + "strike: '100', maturity: 1}", "found the quoted text '100'"},
    {european + "strike: [100], maturity: 1}", "found a list, expected a number"},
    {european + "strike: yes, maturity: 1}", "a word for true or false is no number"},
    {european + "strike: 100USD, maturity: 1}", "write 100"},
    {european + "strike: 1/4, maturity: 1}", "write 0.25"},
    {european + "strike: 100, maturity: 2026-02-30}", "there is no day '2026-02-30'"},
    {european + "strike: 100, maturity: 31-12-2026}", "expected a date as YYYY-MM-DD"},
    {european + "strike: 100, maturity: 6m}", "write 0.5"},
    {european + "strike: 100, maturity: 1000}", "must be between -200 and 200"},
    {european + "strike: 100, maturity: '1.0'}", "expected a date"},
    {european + "strike: 100, maturity: [1]}", "found a list, expected a date"},
    {european + "strike: 100, maturity: 1, option: cal}", "did you mean 'call'?"},
    {european + "strike: 100, maturity: 1, option: 1}", "expected one of call, put"},
    {european + "strike: 100, maturity: 1, quantity: many}", "found 'many', expected a number"},
    {european + "strike: 100, maturity: 1, quantity: .inf}", "it has to be finite"},
    {european + "strike: 100, maturity: 1, currency: EURO}", "EURO"},
    {european + "strike: 100, maturity: 1, currency: ''}", "expected the name of a currency"},
    {european + "strike: 100, maturity: 1, currency: GBP}", "GBP"},
    {"{id: bad, product: european, underlying: ACNE, strike: 100, maturity: 1}", "did you mean 'ACME'?"},
    {"{id: bad, product: european, underlying: acme, strike: 100, maturity: 1}", "did you mean 'ACME'?"},
    {"{id: bad, product: european, underlying: '', strike: 100, maturity: 1}",
     "expected the name of an asset"},
    {barrier + "kind: knock}", "expected one of knock_out, knock_in"},
    {asian + "[]}", "expected at least one date"},
    {asian + "[1.0, 0.5]}", "expected strictly increasing times"},
    {asian + "[0.5, 0.5]}", "expected strictly increasing times"},
    {asian + "1.0}", "expected a list of dates"},
    {asian + "[0.5, 2027-01-15]}", "found 0.5y beside 2027-01-15"},
    {asian + "{start: 0, end: 1}}", "found neither every nor count"},
    {asian + "{start: 0, end: 1, count: 1e9}}", "expected a number of dates from 1"},
    {asian + "[2025-12-31, 2026-06-30]}", "2025-12-31"},
    {barrier + "monitoring: discrete}", "discrete monitoring needs monitoring_dates"},
    {barrier + "rebate: -1}", "expected a number at least 0"},
    {autocall + "observations: [0.5, 1.0], coupon: [0.1]}", "found a list of 1, expected 2"},
    {autocall + "observations: [0.5, 1.0], coupon: 0.1, protection: 1.5}",
     "expected a number at least 0 and at most 1"},
};

std::string with_id_of_its_own(std::string trade, std::size_t number) {
    constexpr std::string_view id = "id: bad";
    const auto at = trade.find(id);
    if (at != std::string::npos) trade.insert(at + id.size(), "_" + std::to_string(number));
    return trade;
}

std::string good_trade(int i) {
    const std::string id = "{id: good_" + std::to_string(i) + ", product: ",
                      strike = std::to_string(80 + i % 41);
    const std::string term = ", strike: " + strike + ", maturity: " + std::to_string(1 + i % 3) + ".25}";
    switch (i % 4) {
        case 0:
            return id + "european, underlying: ACME" + term;
        case 1:
            return id + "european, underlying: BETA, option: put, currency: USD" + term;
        case 2:
            return id + "digital, underlying: ACME, payout: 10" + term;
        default:
            return id + "barrier, underlying: ACME, direction: down, barrier: 70" + term;
    }
}

std::string book_of(const std::vector<std::string>& trades) {
    std::string text = head;
    for (const auto& trade : trades) text += "  - " + trade + "\n";
    return text;
}

std::vector<std::string> good_trades(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back(good_trade(i));
    return all;
}

using bits = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

bits bits_of(const results& of) {
    bits all;
    const auto bits_of_number = [](double x) {
        std::uint64_t b = 0;
        std::memcpy(&b, &x, sizeof b);
        return b;
    };
    for (const auto& row : of.rows) {
        if (row.status != trade_status::priced) continue;
        all[row.trade] = {bits_of_number(row.price), bits_of_number(row.standard_error)};
    }
    return all;
}

int line_of(std::size_t trade) {
    return static_cast<int>(trade) + 11;  // the first trade is on line 11
}

void expect_failure(const price_row& row, const bad_kind& kind, std::size_t at) {
    EXPECT_EQ(row.status, trade_status::failed) << kind.trade;
    EXPECT_NE(row.message.find(kind.words), std::string::npos)
        << kind.trade << "\ngot:    " << row.message << "\nwanted: " << kind.words;
    EXPECT_EQ(row.where.file, "book") << kind.trade;
    EXPECT_EQ(row.where.line, line_of(at)) << kind.trade;
}

TEST(bad_trades, one_of_each_kind_changes_nothing_for_its_neighbours) {
    static_assert(std::size(kinds) >= 60);
    constexpr int count = 40;
    const engine pricer;
    const std::vector<std::string> good = good_trades(count);
    const bits alone = bits_of(pricer.price(book::parse(book_of(good))));
    ASSERT_EQ(alone.size(), static_cast<std::size_t>(count));
    for (const bad_kind& kind : kinds) {
        for (const std::size_t at : {std::size_t{0}, std::size_t{count / 2}, std::size_t{count}}) {
            // Of two trades with one id only the second fails, so the bad one can't come first.
            if (std::string_view(kind.words).starts_with("duplicate") && at == 0) continue;
            auto trades = good;
            trades.insert(trades.begin() + static_cast<std::ptrdiff_t>(at), kind.trade);
            const results got = pricer.price(book::parse(book_of(trades)));
            ASSERT_EQ(got.rows.size(), trades.size()) << kind.trade;
            EXPECT_EQ(got.failed(), 1U) << kind.trade;
            expect_failure(got.rows[at], kind, at);
            EXPECT_EQ(bits_of(got), alone) << kind.trade << " at " << at;
        }
    }
}

TEST(bad_trades, all_kinds_among_ten_thousand_change_no_bit) {
    constexpr int count = 10'000;
    const engine pricer;
    const std::vector<std::string> good = good_trades(count);
    const bits alone = bits_of(pricer.price(book::parse(book_of(good))));
    ASSERT_EQ(alone.size(), static_cast<std::size_t>(count));
    for (const std::size_t at : {std::size_t{0}, std::size_t{count / 2}, std::size_t{count}}) {
        std::vector<std::string> trades(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
        for (const bad_kind& kind : kinds) {
            trades.push_back(with_id_of_its_own(kind.trade, trades.size()));
        }
        trades.insert(trades.end(), good.begin() + static_cast<std::ptrdiff_t>(at), good.end());
        const results got = pricer.price(book::parse(book_of(trades)));
        ASSERT_EQ(got.rows.size(), trades.size());
        bits others = bits_of(got);
        for (std::size_t k = 0; k < std::size(kinds); ++k) {
            const bool is_second_id = std::string_view(kinds[k].words).starts_with("duplicate");
            if (is_second_id && at == 0) {
                EXPECT_EQ(got.rows[k].status, trade_status::priced);
                others["good_5"] = alone.at("good_5");
                continue;
            }
            expect_failure(got.rows[at + k], kinds[k], at + k);
        }
        EXPECT_EQ(got.failed(), std::size(kinds)) << at;
        EXPECT_TRUE(others == alone) << "bad trades at " << at << " change a bit of the others";
    }
}

TEST(bad_trades, a_book_of_nothing_else_is_reported_whole) {
    std::vector<std::string> trades;
    for (std::size_t i = 0; i < 10'000; ++i) {
        trades.push_back(with_id_of_its_own(kinds[i % std::size(kinds)].trade, i));
    }
    const book all = book::parse(book_of(trades));
    const auto problems = engine().validate(all, *all.market());
    ASSERT_EQ(problems.size(), trades.size() - 1);
    for (const auto& problem : problems) {
        const std::size_t at = static_cast<std::size_t>(problem.where.line - line_of(0));
        ASSERT_LT(at, trades.size());
        const bad_kind& kind = kinds[at % std::size(kinds)];
        EXPECT_NE(problem.failure.find(kind.words), std::string::npos)
            << kind.trade << "\ngot:    " << problem.failure << "\nwanted: " << kind.words;
    }
}

}  // namespace
}  // namespace tilewalk::bad_trades_test
