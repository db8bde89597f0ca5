// SPDX-License-Identifier: Apache-2.0
// Repeated calls through everything with memory: an engine, a session, a journal and a folder of shards.
// Whatever changed in between, the second call has the bits of a fresh call, or is refused.
// label: sampled (each of what remembers by each change)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/market_text.h"
#include "tests/own_folder.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::again_test {
namespace {

const greek_options wanted_greeks{{"delta", "vega"}};

// A market and its book. Assets `first` and `second` differ only in their names and correlations, C is a
// third, and trades `a` and `b`, or `with_a` and `with_b`, differ only in the asset.
struct call {
    double spot = 100, volatility = 0.2, correlation = 0.4, strike = 105;
    std::string as_of = "2026-01-15", first = "A", second = "B", instruction_set = "auto";
    bool has_greeks = false;
    run_settings settings{.paths = 16384, .seed = 7, .threads = 2, .device = "cpu"};

    std::string market_text() const {
        return tests::replaced(
            tests::dollar_market(0.03,
                                 {{"A", fmt::format("spot: {}, volatility: {}", spot, volatility)},
                                  {"B", fmt::format("spot: {}, volatility: {}", spot, volatility)},
                                  {"C", "spot: 90, volatility: 0.3, dividend_yield: 0.01"}},
                                 fmt::format("correlations: [[A, C, {}], [B, C, 0.1]]", correlation)),
            "2026-01-15", as_of);
    }
    std::string book_text() const {
        return tests::in_book(market_text()) + fmt::format(R"(trades:
  - {{id: a, product: asian, underlying: {0}, strike: 100, averaging_dates: {{start: 0.25, end: 1, count: 4}}}}
  - {{id: b, product: asian, underlying: {1}, strike: 100, averaging_dates: {{start: 0.25, end: 1, count: 4}}}}
  - {{id: with_a, product: basket, basket: [{0}, C], weights: [0.5, 0.5], strike: 95, maturity: 1}}
  - {{id: with_b, product: basket, basket: [{1}, C], weights: [0.5, 0.5], strike: 95, maturity: 1}}
  - {{id: jump, product: digital, underlying: {0}, strike: {2}, payout: 10, maturity: 2027-01-15}}
{3})",
                                                           first, second, strike,
                                                           // Rights are left out with Greeks, which would
                                                           // train a dozen policies for each.
                                                           has_greeks ? "" : text_of_rights());
    }
    std::string text_of_rights() const {
        return fmt::format(
            R"(  - {{id: right, product: american, option: put, underlying: {0}, strike: {2}, exercise_dates: [0.5, 1], maturity: 1}}
  - {{id: right_too, product: american, option: put, underlying: {1}, strike: {2}, exercise_dates: [0.5, 1], maturity: 1}}
)",
            first, second, strike);
    }
    run_options options() const {
        run_options out;
        out.overrides = settings;
        return out;
    }
    engine by() const { return engine({instruction_set}); }
    results made(const engine& of, const std::string& journal = "") const {
        run_options with = options();
        with.journal = journal;
        with.journal_block_seconds = 0.001;
        const book trades = book::parse(book_text());
        return has_greeks ? of.greeks(trades, *trades.market(), wanted_greeks, with) : of.price(trades, with);
    }
};

std::string shown(const results& r) {
    std::string out;
    for (const price_row& row : r.rows) {
        out += fmt::format("{} {:a} {:a} {} {:x} {} {}\n", row.trade, row.price, row.standard_error,
                           row.paths, row.walk, row.construction, row.decisions);
        if (const auto& e = row.early)
            out += fmt::format("  {:a} {:a} {:a} {:a} {}\n", e->policy_value, e->policy_error, e->lower_bound,
                               e->upper_bound, e->training_paths);
        out += fmt::format("  {}\n", fmt::join(row.part_means, " "));
    }
    for (const greek_row& g : r.greeks)
        out += fmt::format("{} {} {} {:a} {:a} {:a}\n", g.trade, g.measure, g.key, g.value, g.standard_error,
                           g.bias);
    return out;
}

struct earlier_run {
    tests::own_folder folder;
    std::string decisions, policies;

    earlier_run() {
        call other;
        other.settings.seed = 5;
        other.settings.random = "sobol";
        other.settings.construction = construction::steps;
        run_options with = other.options();
        with.keep_policies = true;
        const results told = other.by().price(book::parse(other.book_text()), with);
        std::ostringstream out;
        write(out, told, output_format::json);
        decisions = folder.write("decided.json", out.str()).string();
        policies = folder.write("policies.json", told.policies).string();
    }
};
const earlier_run& earlier() {
    static const earlier_run made;
    return made;
}

struct change {
    std::string what;
    std::function<void(call&)> make;
    bool is_of_book = false;
    bool moves_nothing = false;
    bool is_of_rights = false;
};
const std::vector<change>& changes() {
    static const std::vector<change> all{
        {"nothing", [](call&) {}, false, true},
        {"threads", [](call& c) { c.settings.threads = 3; }, false, true},
        {"instruction_set", [](call& c) { c.instruction_set = engine::instruction_sets().back(); }, false,
         true},
        {"seed", [](call& c) { c.settings.seed = 8; }},
        {"paths", [](call& c) { c.settings.paths = 32768; }},
        {"precision", [](call& c) { c.settings.precision = precision::single; }},
        {"source", [](call& c) { c.settings.random = "philox"; }},
        {"construction",
         [](call& c) {
             c.settings.random = "sobol";
             c.settings.construction = construction::steps;
         }},
        {"randomisations", [](call& c) { c.settings.randomisations = 8; }},
        {"controls", [](call& c) { c.settings.controls = technique::none; }},
        {"pairs", [](call& c) { c.settings.antithetic = antithetic::pairs; }},
        {"decisions", [](call& c) { c.settings.decisions = earlier().decisions; }},
        {"policy", [](call& c) { c.settings.policy = earlier().policies; }, false, false, true},
        {"training_paths", [](call& c) { c.settings.training_paths = 8192; }, false, false, true},
        {"upper_bound", [](call& c) { c.settings.upper = upper_bound::nested; }, false, false, true},
        {"spot", [](call& c) { c.spot = 101; }},
        {"volatility", [](call& c) { c.volatility = 0.21; }},
        {"correlation", [](call& c) { c.correlation = 0.5; }},
        {"day", [](call& c) { c.as_of = "2026-01-16"; }},
        {"asset_of_alike_trades",
         [](call& c) {
             c.first = "B";
             c.second = "A";
         },
         true},
        {"terms", [](call& c) { c.strike = 106; }, true},
    };
    return all;
}

struct memory {
    std::string what;
    std::function<results(const call& first, const call& second)> made;
    bool takes_greeks = true, takes_other_books = true;
    std::function<results(const call& first, const call& second)> fresh =
        [](const call&, const call& second) { return second.made(second.by()); };
};
results found_by(const session& ready, const call& of, const run_options& with) {
    const market in = market::parse(of.market_text());
    return of.has_greeks ? ready.greeks(in, wanted_greeks, with) : ready.price(in, with);
}
// Results of a session: markets of one day have the controls of the first, except for trades with rights.
results in_a_session(const call& first, const call& second) {
    const std::vector<market> in{market::parse(first.market_text()), market::parse(second.market_text())};
    const book trades = book::parse(first.book_text());
    if (second.has_greeks) return second.by().greeks(trades, in.back(), wanted_greeks, second.options());
    results out = second.by().price(trades, in.back(), second.options());
    if (first.as_of != second.as_of) return out;
    const results with_those = second.by().price(trades, in, second.options()).back();
    for (std::size_t i = 0; i < out.rows.size(); ++i)
        if (!out.rows[i].early) out.rows[i] = with_those.rows[i];
    return out;
}

const std::vector<memory>& memories() {
    static const std::vector<memory> all{
        {"engine",
         [](const call& first, const call& second) {
             const engine by = first.by();
             first.made(by);
             return second.made(first.instruction_set == second.instruction_set ? by : second.by());
         }},
        {"session",
         [](const call& first, const call& second) {
             const book trades = book::parse(first.book_text());
             const engine by = first.by();
             const session ready = by.open(trades);
             for (int times = 0; times < 2; ++times) found_by(ready, first, first.options());
             if (second.has_greeks) ready.price(market::parse(first.market_text()), first.options());
             return found_by(ready, second, second.options());
         },
         true, false, in_a_session},
        {"journal_of_sessions",
         [](const call& first, const call& second) {
             const tests::own_folder folder;
             const auto made = [&](const call& c) {
                 run_options with = c.options();
                 with.journal = folder.path();
                 with.journal_block_seconds = 0.001;
                 return found_by(c.by().open(book::parse(first.book_text())), c, with);
             };
             made(first);
             return made(second);
         },
         true, false, in_a_session},
        {"journal",
         [](const call& first, const call& second) {
             const tests::own_folder folder;
             first.made(first.by(), folder.path());
             return second.made(second.by(), folder.path());
         }},
        {"journal_of_greeks",
         [](call first, const call& second) {
             const tests::own_folder folder;
             first.has_greeks = !second.has_greeks;
             first.made(first.by(), folder.path());
             return second.made(second.by(), folder.path());
         }},
        {"shards",
         [](const call& first, const call& second) {
             const tests::own_folder folder, files;
             const auto done = [&](const call& c) {
                 sharded_request what;
                 what.book = files.write("book.yaml", c.book_text()).string();
                 what.settings = c.settings;
                 if (c.has_greeks) what.greeks = wanted_greeks;
                 shards::plan(c.by(), what, 2, folder.path(), INFINITY);
                 const shards parts = shards::open(folder.path());
                 for (std::size_t k = 1; k <= parts.count(); ++k) parts.run(c.by(), k);
                 return parts.merge(c.by());
             };
             done(first);
             return done(second);
         }},
    };
    return all;
}

struct cell {
    const memory* by;
    const change* between;
    bool has_greeks;
};
std::vector<cell> cells() {
    std::vector<cell> out;
    for (const memory& m : memories())
        for (const change& c : changes())
            for (const bool has_greeks : {false, true})
                if ((!has_greeks || (m.takes_greeks && !c.is_of_rights)) &&
                    (m.takes_other_books || !c.is_of_book))
                    out.push_back({&m, &c, has_greeks});
    return out;
}

class again : public testing::TestWithParam<cell> {};
INSTANTIATE_TEST_SUITE_P(of, again, testing::ValuesIn(cells()), [](const auto& of) {
    return fmt::format("{}_after_{}_{}", of.param.by->what, of.param.between->what,
                       of.param.has_greeks ? "greeks" : "prices");
});

TEST_P(again, has_the_bits_of_a_first_call_or_is_refused) {
    const auto& [by, between, has_greeks] = GetParam();
    call first;
    first.has_greeks = has_greeks;
    call second = first;
    between->make(second);
    const std::string fresh = shown(by->fresh(first, second));
    EXPECT_EQ(fresh == shown(first.made(first.by())), between->moves_nothing);
    try {
        EXPECT_EQ(shown(by->made(first, second)), fresh);
    } catch (const error& e) {
        EXPECT_EQ(by->what, "shards") << e.what();
        EXPECT_FALSE(between->moves_nothing) << e.what();
        EXPECT_NE(e.message().find("another request"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace tilewalk::again_test
