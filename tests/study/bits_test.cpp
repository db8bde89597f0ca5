// SPDX-License-Identifier: Apache-2.0
// The ledger of bits: tests/data/bits.txt holds the price and the standard error of every product, every
// model and every example book, to the last bit, from independent paths and from points, and
// tests/data/bits_of_studies.txt the figures of the studies of a small book. Whoever changes a figure changes
// these files, by `make bits`, and so says which.
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

#include "engine/cuda/device.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bits_test {
namespace {

// Five tiles, the last of them not full; points take eight. Fewer paths than those with controls have no
// pilot.
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

// "demo.yaml double acme_call" to "0x1.2p+3 0x1.8p-4", in the order of the books.
using ledger = std::vector<std::pair<std::string, std::string>>;

// How a book is priced, and what the ledger calls that.
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
            options.overrides.precision = by.precision;
            options.overrides.paths = by.has_controls() ? paths_with_controls : paths;
            options.overrides.random = by.random;
            options.overrides.construction = by.construction;
            options.overrides.randomisations = by.has_controls() ? 16 : 8;
            options.overrides.controls = by.controls;
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

// A trade of each kind that studies treat in a way of its own.
constexpr const char* text_of_studies = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2, dividend_yield: 0.01}
    B: {currency: USD, spot: 80, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.6}}}
  correlations: [[A, B, 0.4]]
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0.25, end: 1, count: 4}}
  - {id: digital, product: digital, underlying: A, strike: 105, maturity: 1, payout: 10}
  - {id: both, product: basket, basket: [A, B], weights: [0.5, 0.5], strike: 90, maturity: 1}
  - {id: right, product: american, option: put, underlying: A, strike: 100, exercise_dates: [0.5, 1], maturity: 1}
)";
constexpr const char* scenarios_of_studies = R"(likely: [stress]
stress:
  near: {A.spot: +0.3%}
  far: {A.spot: -20%, B.spot: +10%}
  rates: {USD.rate: +50bp}
  volatilities: {A.volatility: +2pt}
  later: {days: 1}
  crash: {A.spot: -40%, A.volatility: +15pt}
)";

// The figures of studies of this book, each with its error.
class studies {
  public:
    ledger all() {
        prices("price", trades_, {});
        run_settings some;
        some.upper = "nested";
        prices("nested", trades_, some);
        some = {};
        some.tolerance = "0.05";
        prices("tolerance", trades_, some);
        some = {};
        some.importance = "auto";
        prices("importance", trades_, some);
        some = {};
        some.antithetic = "pairs";
        prices("pairs", trades_, some);
        for (const auto& [method, measures] : {std::pair{"auto", "delta vega rho theta"},
                                               {"smoothed", "delta"},
                                               {"likelihood_ratio", "delta"},
                                               {"bump", "delta vega"},
                                               {"auto", "gamma vanna volga charm"}})
            greeks(method, measures);
        gains();
        differences_of_values();
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
        for (const price_row& row : engine().price(of, options(some)).rows) {
            EXPECT_EQ(row.status, trade_status::priced) << row.trade << row.message;
            const std::string trade = name + " " + row.trade;
            add(trade, row.price, row.standard_error);
            if (!row.early) continue;
            add(trade + " policy", row.early->policy_value, row.early->policy_error);
            add(trade + " lower", row.early->lower_bound, row.early->lower_error);
            add(trade + " upper", row.early->upper_bound, row.early->upper_error);
        }
    }
    void greeks(const std::string& method, const std::string& measures) {
        std::istringstream words(measures);
        greek_options wanted;
        for (std::string word; words >> word;) wanted.wanted.push_back(word);
        wanted.method = method;
        for (const greek_row& g : engine().greeks(trades_, *trades_.market(), wanted, options()).greeks)
            if (!g.has_failed()) {
                const std::string name = method + " " + g.trade + " " + g.measure + " " + g.key;
                add(name, g.value, g.standard_error);
                add(name + " bias", g.bias, 0);
            }
    }
    void gains() {
        const market& in = *trades_.market();
        const scenario_results r = engine().scenarios(
            trades_, in, scenario_list::parse(scenarios_of_studies, "scenarios", in), options());
        for (std::size_t s = 0; s < r.scenarios.size(); ++s)
            for (std::size_t t = 0; t < r.trades(); ++t)
                add("gain " + r.scenarios[s].name + " " + r.base.rows[t].trade, r.gain(s, t),
                    r.error_of_gain(s, t));
        for (const portfolio_risk& risk : r.risks)
            for (const tail& t : risk.tails) {
                const std::string name =
                    "tail " + risk.set + " " + risk.portfolio + " " + bits_text(t.level) + " ";
                add(name + "quantile", t.quantile.value, t.quantile.noise);
                add(name + "shortfall", t.shortfall.value, t.shortfall.noise);
                add(name + "sampling", t.quantile.sampling, t.shortfall.sampling);
            }
        EXPECT_FALSE(r.risks.empty());
    }
    void differences_of_values() {
        const difference_results r = differences(engine(), trades_, *trades_.market(), {}, options());
        for (const difference_row& d : r.rows) {
            const std::string name =
                "difference " + r.values.rows[d.trade].trade + " " + d.key + " " + d.second_key;
            add(name + " delta", d.own.delta, d.own.delta_error);
            add(name + " gamma", d.own.gamma, d.own.gamma_error);
        }
    }

    const book trades_ = book::parse(text_of_studies);
    ledger out_;
};

std::map<std::string, std::string> kept(const std::filesystem::path& in_file) {
    std::ifstream in(in_file);
    std::map<std::string, std::string> out;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        const auto error = line.rfind(' '), price = line.rfind(' ', error - 1);
        if (!out.emplace(line.substr(0, price), line.substr(price + 1)).second)
            ADD_FAILURE() << "twice in the ledger: " << line;
    }
    return out;
}

// The entries that differ, at most twenty lines.
std::string different(const ledger& priced, std::map<std::string, std::string> left) {
    std::string out;
    std::size_t count = 0;
    const auto say = [&](const std::string& line) {
        if (++count <= 20) out += line + '\n';
    };
    for (const auto& [trade, bits] : priced) {
        const auto known = left.find(trade);
        if (known == left.end()) {
            say(trade + ": not in the ledger, now " + bits);
            continue;
        }
        if (known->second != bits) say(trade + ": was " + known->second + ", now " + bits);
        left.erase(known);
    }
    for (const auto& [trade, bits] : left) say(trade + ": was " + bits + ", now not priced");
    return count > 20 ? out + "and " + std::to_string(count - 20) + " more\n" : out;
}

void expect_as_kept(const ledger& made, const std::filesystem::path& in_file, const std::string& head) {
    if (std::getenv("TILEWALK_WRITE_BITS") != nullptr) {
        std::ofstream out(in_file);
        out << head;
        for (const auto& [name, bits] : made) out << name << ' ' << bits << '\n';
        ASSERT_TRUE(out.flush());
    }
    EXPECT_EQ(different(made, kept(in_file)), "") << "if these figures are meant to change: make bits";
}

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
