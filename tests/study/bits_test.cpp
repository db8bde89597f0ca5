// SPDX-License-Identifier: Apache-2.0
// The ledger of bits: tests/data/bits.txt holds the price and standard error of every product, model and
// example book to the last bit, from independent paths and from points; tests/data/bits_of_studies.txt holds
// the figures of studies of a small book. `make bits` rewrites both after an intended change.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/device.h"
#include "tests/every_model.h"
#include "tests/ledger.h"
#include "tests/made_book.h"
#include "tests/named_choice.h"
#include "tests/own_folder.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bits_test {
namespace {

// `paths` make five tiles, the last one partial; points take eight, one for each randomisation. Runs with
// controls take more paths, since runs of fewer have no pilots.
constexpr std::uint64_t paths = 4500, paths_with_controls = 8192;

const std::filesystem::path source = TILEWALK_SOURCE_DIR;
const std::filesystem::path file = source / "tests/data/bits.txt",
                            file_of_studies = source / "tests/data/bits_of_studies.txt";
const std::string heading_of_studies =
    "# Figures of studies and their errors, to the last bit. Written by `make bits`.\n"
    "# study ... figure error\n";
const std::string heading =
    "# Price and standard error of 4,500 paths, or of 8,192 points or paths with controls, to the last bit.\n"
    "# Written by `make bits`; a change of this file says which prices a change of the source changed.\n"
    "# book [sobol construction] [controls] precision trade price standard_error\n";

std::string bits_text(double x) {
    if (std::isnan(x)) return "none";
    char text[40];
    std::snprintf(text, sizeof text, "%a", x);
    return text;
}

std::vector<std::pair<std::string, book>> books() {
    std::vector<std::pair<std::string, book>> all;
    all.emplace_back("products", book_of_every_kind());
    all.emplace_back("models", book::parse(book_of_every_model(), "models"));
    std::vector<std::filesystem::path> examples;
    for (const auto& entry : std::filesystem::directory_iterator(source / "configs/books"))
        examples.push_back(entry.path());
    std::ranges::sort(examples);
    for (const auto& example : examples) all.emplace_back(example.filename(), book::load(example));
    return all;
}

// A `ledger` maps "demo.yaml double acme_call" to "0x1.2p+3 0x1.8p-4", a price and its error, by book.
using tests::different, tests::expect_as_kept, tests::kept;
using ledger = tests::kept_words;

struct way {
    std::string random, construction, precision, controls = "none";
    bool has_controls() const { return controls != "none"; }
    std::string name() const {
        return (random == "philox" ? "" : random + " " + construction + " ") +
               (has_controls() ? "controls " : "") + precision;
    }
};
const std::vector<way> ways{
    {"philox", "bridge", "double"},        {"philox", "bridge", "single"},
    {"philox", "bridge", "mixed"},         {"sobol", "bridge", "double"},
    {"sobol", "bridge", "single"},         {"sobol", "steps", "double"},
    {"sobol", "principal", "double"},      {"philox", "bridge", "double", "auto"},
    {"sobol", "bridge", "double", "auto"},
};

ledger priced_on(const std::string& device) {
    const engine pricer;
    ledger out;
    for (const auto& [name, trades] : books()) {
        for (const way& by : ways) {
            run_options options;
            options.overrides.device = device;
            options.overrides.precision = tests::named{by.precision};
            options.overrides.paths = by.has_controls() ? paths_with_controls : paths;
            options.overrides.random = by.random;
            options.overrides.construction = tests::named{by.construction};
            options.overrides.randomisations = by.has_controls() ? 16 : 8;
            options.overrides.controls = tests::named{by.controls};
            for (const price_row& row : pricer.price(trades, options).rows) {
                EXPECT_EQ(row.status, trade_status::priced)
                    << name << ": " << row.trade << ": " << row.message;
                out.emplace_back(name + " " + by.name() + " " + row.trade,
                                 bits_text(row.price) + " " + bits_text(row.standard_error));
            }
        }
    }
    return out;
}

constexpr const char* text_of_studies = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}, EUR: {rate: 0.02}}
  fx: {EURUSD: {rate: 1.1, volatility: 0.09}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.01}
    E: {currency: EUR, spot: 50, volatility: 0.25}
    B: {currency: USD, spot: 80, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.6}}}
  correlations: {complete: true, pairs: [[A, B, 0.4], [A, E, 0.3]]}
trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1, quantity: 4}
  - {id: euro, product: asian, underlying: E, strike: 50, averaging_dates: {start: 0.5, end: 1, count: 2}, quantity: -2}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0.25, end: 1, count: 4}}
  - {id: digital, product: digital, underlying: A, strike: 105, maturity: 1, payout: 10}
  - {id: both, product: basket, basket: [A, B], weights: [0.5, 0.5], strike: 90, maturity: 1}
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
)";
constexpr const char* scenarios_of_studies = R"(likely: [stress]
value_at_risk: {currency: USD}
stress:
  near: {A.spot: +0.3%}
  far: {A.spot: -20%, B.spot: +10%}
  rates: {USD.rate: +50bp}
  volatilities: {A.volatility: +2pt}
  exchange: {EURUSD.rate: +5%}
  later: {days: 1}
  crash: {A.spot: -40%, A.volatility: +15pt}
)";

class studies {
  public:
    ledger all() {
        prices("price", trades_, {});
        run_settings some;
        some.upper = upper_bound::nested;
        prices("nested", trades_, some);
        some = {};
        some.tolerance = accuracy::amount(0.05);
        prices("tolerance", trades_, some);
        some = {};
        some.importance = technique::automatic;
        prices("importance", trades_, some);
        some = {};
        some.antithetic = antithetic::pairs;
        prices("pairs", trades_, some);
        some = {};
        some.random = "philox";
        prices("philox", trades_, some);
        decided();
        prepared();
        merged();
        for (const auto& [method, measures] : {std::pair{"auto", "delta vega rho theta"},
                                               {"smoothed", "delta"},
                                               {"likelihood_ratio", "delta"},
                                               {"bump", "delta vega"},
                                               {"auto", "gamma vanna volga charm"}})
            greeks(method, measures, method, {});
        run_settings few;
        few.random = "philox";
        greeks("auto", "delta theta gamma", "philox", few);
        gains("", {});
        gains("philox ", few);
        differences_of_values("", {});
        differences_of_values("philox ", few);
        return std::move(out_);
    }

  private:
    run_options options(run_settings over = {}) const {
        run_options out;
        out.overrides = std::move(over);
        if (!out.overrides.tolerance) out.overrides.paths = 16384;
        out.overrides.device = "cpu";
        return out;
    }
    void add(const std::string& name, double value, double error) {
        out_.emplace_back(name, bits_text(value) + " " + bits_text(error));
    }
    void prices(const std::string& name, const book& of, const run_settings& some) {
        add_prices(name, engine().price(of, options(some)));
    }
    void add_prices(const std::string& name, const results& r) {
        for (const price_row& row : r.rows) {
            EXPECT_EQ(row.status, trade_status::priced) << row.trade << row.message;
            const std::string trade = name + " " + row.trade;
            add(trade, row.price, row.standard_error);
            if (!row.early) continue;
            add(trade + " policy", row.early->policy_value, row.early->policy_error);
            add(trade + " lower", row.early->lower_bound, row.early->lower_error);
            add(trade + " upper", row.early->upper_bound, row.early->upper_error);
        }
        for (const currency_total& t : r.totals()) {
            add(name + " total " + t.currency, t.value, t.error);
            add(name + " total " + t.currency + " interval", t.low, t.high);
        }
    }
    void decided() {
        run_options other = options();
        other.overrides.seed = 11;
        other.keep_policies = true;
        const results of_other = engine().price(trades_, other), plain = engine().price(trades_, options());
        std::ostringstream text;
        write(text, of_other, output_format::json);
        run_settings some;
        some.decisions = folder_.write("decisions.json", text.str()).string();
        const results by_decisions = engine().price(trades_, options(some));
        add_prices("decisions", by_decisions);
        some = {};
        some.policy = folder_.write("policies.json", of_other.policies).string();
        const results by_policies = engine().price(trades_, options(some));
        add_prices("policies", by_policies);
        for (const auto& [name, r] : {std::pair{"decisions", &by_decisions}, {"policies", &by_policies}})
            for (const price_difference& d : compare(plain, *r).rows)
                add(std::string("compared ") + name + " " + d.trade, d.difference, d.error);
    }
    void prepared() {
        const session ready = engine().open(trades_);
        add_prices("prepared", ready.price(*trades_.market(), options()));
        add_prices(
            "prepared moved",
            ready.price(trades_.market()->changed(std::vector<market_change>{{"A.spot", 2}}), options()));
    }
    void merged() {
        const std::string book_file = folder_.write("book.yaml", text_of_studies).string(),
                          scenario_file = folder_.write("scenarios.yaml", scenarios_of_studies).string();
        const auto from_shards = [&](const std::string& name, auto ask) {
            sharded_request what;
            what.book = book_file;
            what.settings = options().overrides;
            ask(what);
            const std::filesystem::path into = folder_ / ("shards_of_" + name);
            shards::plan(engine(), what, 3, into, INFINITY);
            const shards parts = shards::open(into);
            for (std::size_t k = 1; k <= parts.count(); ++k) parts.run(engine(), k);
            return parts;
        };
        add_prices("merged", from_shards("prices", [](sharded_request&) {}).merge(engine()));
        const auto ask_greeks = [](sharded_request& what) {
            what.greeks = greek_options{{"delta", "theta"}};
        };
        add_greeks("merged", from_shards("greeks", ask_greeks).merge(engine()));
        const auto ask_gains = [&](sharded_request& what) { what.scenarios = scenario_file; };
        add_gains("merged ", from_shards("gains", ask_gains).merge_scenarios(engine()));
    }
    void greeks(const std::string& method, const std::string& measures, const std::string& name,
                const run_settings& some) {
        std::istringstream words(measures);
        greek_options wanted;
        for (std::string word; words >> word;) wanted.wanted.push_back(word);
        wanted.method = tests::named{method};
        add_greeks(name, engine().greeks(trades_, *trades_.market(), wanted, options(some)));
    }
    void add_greeks(const std::string& name, const results& r) {
        const auto add_row = [&](const std::string& of, const greek_row& g) {
            if (g.has_failed()) return;
            add(of, g.value, g.standard_error);
            add(of + " bias", g.bias, 0);
        };
        for (const greek_row& g : r.greeks) add_row(name + " " + g.trade + " " + g.measure + " " + g.key, g);
        for (const greek_row& g : r.greek_totals())
            add_row(name + " total " + g.measure + " " + g.key + " in " + g.unit, g);
    }
    void gains(const std::string& name, const run_settings& some) {
        const market& in = *trades_.market();
        scenario_list asked = scenario_list::parse(scenarios_of_studies, "scenarios", in);
        asked.explains = true;
        add_gains(name, engine().scenarios(trades_, in, asked, options(some)));
    }
    void add_gains(const std::string& of, const scenario_results& r) {
        for (std::size_t s = 0; s < r.scenarios.size(); ++s)
            for (std::size_t t = 0; t < r.trades(); ++t)
                add(of + "gain " + r.scenarios[s].name + " " + r.base.rows[t].trade, r.gain(s, t),
                    r.error_of_gain(s, t));
        for (const portfolio_risk& risk : r.risks)
            for (const tail& t : risk.tails) {
                const std::string name = of + "tail " + risk.set + " " + risk.portfolio + " in " +
                                         risk.currency + (risk.is_converted ? " converted " : " ") +
                                         bits_text(t.level) + " ";
                add(name + "quantile", t.quantile.value, t.quantile.noise);
                add(name + "shortfall", t.shortfall.value, t.shortfall.noise);
                add(name + "sampling", t.quantile.sampling, t.shortfall.sampling);
            }
        EXPECT_FALSE(r.risks.empty());
        for (const explained_gain& e : r.explained) {
            const std::string name =
                of + "explained " + r.scenarios[e.scenario].name + " " + e.portfolio + " in " + e.currency;
            add(name, e.gain, e.error);
            add(name + " left", e.left, 0);
        }
    }
    void differences_of_values(const std::string& of, const run_settings& some) {
        const difference_results r = differences(engine(), trades_, *trades_.market(), {}, options(some));
        for (const difference_row& d : r.rows) {
            const std::string name =
                of + "difference " + r.values.rows[d.trade].trade + " " + d.key + " " + d.second_key;
            add(name + " delta", d.own.delta, d.own.delta_error);
            add(name + " gamma", d.own.gamma, d.own.gamma_error);
        }
    }

    const book trades_ = book::parse(text_of_studies);
    const tests::own_folder folder_;
    ledger out_;
};

TEST(bits, are_those_of_the_ledger) {
    expect_as_kept(priced_on("cpu"), file, heading);
}

TEST(bits, of_studies_are_those_of_the_ledger) {
    expect_as_kept(studies().all(), file_of_studies, heading_of_studies);
}

TEST(bits, are_those_of_the_ledger_on_a_gpu) {
    const auto survey = cuda::survey_devices();
    const bool has_gpu =
        std::ranges::any_of(survey.devices, [](const auto& found) { return found.why_not.empty(); });
    const char* said = std::getenv("TILEWALK_REQUIRE_GPU");
    if (!has_gpu && (said == nullptr || std::string(said) != "1"))
        GTEST_SKIP() << "no GPU: " << survey.why_none;
    EXPECT_EQ(different(priced_on("cuda"), kept(file)), "");
}

TEST(bits, a_ledger_that_differs_is_told) {
    const ledger priced{{"b double t", "0x1p+0 0x1p-9"}, {"b double u", "0x1p+1 none"}};
    const std::map<std::string, std::string> same(priced.begin(), priced.end());
    EXPECT_EQ(different(priced, same), "");
    auto other = same;
    other["b double t"] = "0x1.0000000000001p+0 0x1p-9";
    EXPECT_EQ(different(priced, other), "b double t: was 0x1.0000000000001p+0 0x1p-9, now 0x1p+0 0x1p-9\n");
    other = same;
    other.erase("b double u");
    EXPECT_EQ(different(priced, other), "b double u: not in the ledger, now 0x1p+1 none\n");
    other = same;
    other["b double w"] = "0x1p+2 0x1p-8";
    EXPECT_EQ(different(priced, other), "b double w: was 0x1p+2 0x1p-8, now not priced\n");
}

}  // namespace
}  // namespace tilewalk::bits_test
