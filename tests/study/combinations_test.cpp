// SPDX-License-Identifier: Apache-2.0
// The catalogue of combinations against the engine: every study is asked for each feature, and a price for
// every pair of features. A working feature shows evidence of its effect; a refusal uses the catalogue's
// words; a feature without effect changes nothing.
#include "tilewalk/combinations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/walk/arrays/shock_writer.h"
#include "tests/by_source.h"
#include "tests/fake_backend.h"
#include "tests/market_text.h"
#include "tests/on_a_gpu.h"
#include "tests/own_folder.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::combinations_test {

inline void PrintTo(study s, std::ostream* out) {
    *out << name_of(s);
}
inline void PrintTo(feature f, std::ostream* out) {
    *out << name_of(f);
}

namespace {

using features = std::set<feature>;
using tests::dollar_market;
using tests::in_book;

// Numbers of paths: a pilot needs `few_paths`; Greeks of rights, whose parts of the run each train a policy,
// need `more_paths`; several pilots, or controls with jumps, need `paths_for_jumps`.
constexpr std::uint64_t few_paths = 8192, more_paths = 16384, paths_for_jumps = 65536, decided_paths = 32768,
                        most_paths_of_rounds = 131072, training_paths_of_file = 3072;

std::string market_of(double spot, double volatility) {
    return in_book(dollar_market(0.05,
                                 {{"A", fmt::format("spot: {}, volatility: {}", spot, volatility)},
                                  {"B", "spot: 90, volatility: 0.3, dividend_yield: 0.02"}},
                                 "correlations: [[A, B, 0.4]]"));
}

// Trades with a right, with a jump, on a basket, and with a payoff rare enough for importance sampling.
std::string trades_of(bool has_right, const std::string& tolerance = "") {
    return fmt::format(R"(trades:
  - {{id: right, product: {}, option: put, underlying: A, strike: 100, maturity: 1{}}}
  - {{id: jump, product: digital, underlying: A, strike: 100, payout: 10, maturity: 1}}
  - {{id: basket, product: basket, basket: [A, B], weights: [0.5, 0.5], strike: 95, maturity: 1{}}}
  - {{id: rare, product: european, option: put, underlying: A, strike: 50, maturity: 1}}
)",
                       has_right ? "american" : "european", has_right ? ", exercise_dates: [0.5, 1]" : "",
                       tolerance.empty() ? "" : fmt::format(", tolerance: \"{}\"", tolerance));
}

constexpr const char* scenarios_text = R"(stress:
  near: {A.spot: +0.2%}
  far: {A.spot: -20%, B.spot: +10%}
  later: {days: 1}
)";

// The basket's tolerance, smaller with points and controls, since they make its error smaller.
std::string own_tolerance_in(const features& asked) {
    if (!asked.contains(feature::own_tolerance)) return "";
    for (const feature f : {feature::points, feature::controls, feature::decisions})
        if (asked.contains(f)) return "0.00002";
    return "0.0005";
}

std::string text_of_book(const features& asked) {
    return market_of(100, 0.2) + trades_of(asked.contains(feature::rights), own_tolerance_in(asked));
}

run_settings settings_of_decisions(const std::string& device) {
    run_settings out{.paths = decided_paths, .seed = 7, .threads = 1, .device = device, .random = "sobol"};
    out.construction = construction::steps;
    out.controls = technique::automatic;
    return out;
}

class files {
  public:
    // A file of shocks to replay, with more steps, shocks and paths than any trade takes.
    std::string replay() {
        if (replay_.empty()) {
            constexpr std::uint64_t steps = 4, normals = 2;
            std::mt19937_64 dice(5);
            std::normal_distribution<double> law;
            std::vector<double> all(steps * normals * most_paths_of_rounds);
            for (double& x : all) x = law(dice);
            replay_ = folder_ / "shocks";
            arrays::write_shocks<double>(replay_, {steps, normals, 0, most_paths_of_rounds, all, {}});
        }
        return replay_.string();
    }
    std::string policy() {
        if (policy_.empty()) {
            run_options with;
            with.overrides.paths = few_paths;
            with.overrides.training_paths = training_paths_of_file;
            with.overrides.device = "cpu";
            with.keep_policies = true;
            const book trades = book::parse(market_of(90, 0.35) + trades_of(true));
            policy_ = folder_.write("policies.json", engine().price(trades, with).policies);
        }
        return policy_.string();
    }
    // A file of decisions by the pilots that `beside` has: pilots of shifts or integration change others.
    std::string decisions(const features& beside) {
        decided(beside);
        return decisions_.at(pilots_in(beside)).string();
    }
    const results& decided(const features& beside) {
        const pilots of = pilots_in(beside);
        if (!decided_.contains(of)) {
            run_options with;
            with.overrides = settings_of_decisions("cpu");
            with.overrides.importance = of.first ? technique::automatic : technique::none;
            with.overrides.preintegration = of.second ? technique::automatic : technique::none;
            std::ostringstream out;
            write(out, decided_[of] = engine().price(book::parse(text_of_book({feature::rights})), with),
                  output_format::json);
            decisions_[of] =
                folder_.write(fmt::format("decided_{:d}_{:d}.json", of.first, of.second), out.str());
        }
        return decided_[of];
    }
    std::string scenarios() {
        if (scenarios_.empty()) scenarios_ = folder_.write("scenarios.yaml", scenarios_text);
        return scenarios_.string();
    }
    std::string book_file(const features& asked) {
        const std::string name =
            fmt::format("book_{:d}{}.yaml", asked.contains(feature::rights), own_tolerance_in(asked));
        return folder_.write(name, text_of_book(asked)).string();
    }
    const tests::own_folder& folder() const { return folder_; }

  private:
    tests::own_folder folder_;
    std::filesystem::path replay_, policy_, scenarios_;
    using pilots = std::pair<bool, bool>;
    static pilots pilots_in(const features& beside) {
        return {beside.contains(feature::importance), beside.contains(feature::preintegration)};
    }

    std::map<pilots, std::filesystem::path> decisions_;
    std::map<pilots, results> decided_;
};

files& inputs() {
    static files all;
    return all;
}

struct request {
    study of;
    features asked;
    std::uint64_t seed = 42;
    // Makes the decisions if `asked` has no file of them.
    enum class decider { nobody, settings, pilots } instead = decider::nobody;
    std::uint64_t paths = few_paths;
    bool is_on_a_real_gpu = false;

    auto operator<=>(const request&) const = default;
    request without(const features& some) const {
        request out = *this;
        for (const feature f : some) out.asked.erase(f);
        return out;
    }
    request decided_by(decider who) const {
        request out = without({feature::decisions});
        out.instead = who;
        return out;
    }
};

bool is_of_shards(study s) {
    return s >= study::shards_of_prices;
}
bool is_on_a_gpu(study s) {
    return s == study::explain || s == study::warm || s == study::tune || s == study::tune_greeks;
}
bool has_rows(study s) {
    return !is_on_a_gpu(s);
}
bool has_rounds(study s) {
    return has_rows(s) && combined(s, feature::tolerance).is == standing::works;
}
bool needs_a_gpu(feature f) {
    return f == feature::curand || f == feature::single_fast;
}
bool needs_a_real_gpu(const request& r) {
    return has_rows(r.of) && std::ranges::any_of(r.asked, needs_a_gpu);
}

run_settings settings_of(const request& r) {
    const auto asks = [&](feature f) { return r.asked.contains(f); };
    const bool adds_paths = asks(feature::tolerance) || asks(feature::budget) ||
                            (asks(feature::own_tolerance) && !asks(feature::replay));
    const std::string device = is_on_a_gpu(r.of) || r.is_on_a_real_gpu ? "0" : "cpu";
    run_settings out{.seed = r.seed, .threads = 1, .device = device};
    if (r.instead == request::decider::settings) {
        out = settings_of_decisions(device);
    } else if (r.instead == request::decider::pilots) {
        out.paths = decided_paths;
    } else if (!asks(feature::decisions)) {
        const bool has_pilots = asks(feature::importance) || asks(feature::preintegration);
        out.paths = has_pilots || is_on_a_gpu(r.of) ? paths_for_jumps : r.paths;
        out.random = "philox";
        out.controls = technique::none;
    }
    // `paths` limits all rounds together; `explain` describes the first round, which has fewer.
    if (r.of == study::explain || (adds_paths && has_rounds(r.of))) out.paths = most_paths_of_rounds;
    if (asks(feature::controls)) out.controls = technique::automatic;
    if (asks(feature::points)) out.random = "sobol";
    if (asks(feature::preintegration)) out.preintegration = technique::automatic;
    if (asks(feature::importance)) out.importance = technique::automatic;
    if (asks(feature::pairs)) out.antithetic = antithetic::pairs;
    if (asks(feature::nested_bounds)) out.upper = upper_bound::nested;
    const bool is_of_prices = r.of == study::price || r.of == study::price_in_markets ||
                              r.of == study::price_in_session || r.of == study::explain;
    if (asks(feature::tolerance)) out.tolerance = accuracy::amount(is_of_prices ? 0.03 : 0.0005);
    if (asks(feature::budget)) out.budget = std::chrono::seconds(3600);
    if (asks(feature::replay)) out.replay = inputs().replay();
    if (asks(feature::decisions)) out.decisions = inputs().decisions(r.asked);
    if (asks(feature::policy)) out.policy = inputs().policy();
    if (asks(feature::curand)) out.random = "curand_philox";
    if (asks(feature::single_fast)) out.precision = precision::single_fast;
    return out;
}

struct outcome {
    results result;
    std::map<std::string, std::string> figures;  // by trade
    std::vector<trade_plan> plans;
    std::vector<std::string> kernels;
    std::set<std::string> texts;
    std::string refusal;
    // Blocks that a second run read from the first one's journal; for shards, 1 if one kept a block.
    std::size_t blocks = 0;
    bool is_repeated = true;
};

std::string text_of(const price_row& row) {
    std::string out =
        fmt::format("{} {} {} {}", row.price, row.standard_error, row.paths, row.misses_tolerance);
    if (row.early)
        out +=
            fmt::format(" {} {} {}", row.early->policy_value, row.early->lower_bound, row.early->upper_bound);
    return out + "\n";
}

void take(const results& r, outcome& to) {
    for (const price_row& row : r.rows) to.figures[row.trade] += text_of(row);
    for (const greek_row& g : r.greeks)
        to.figures[g.trade] +=
            fmt::format("{} {} {} {} {}\n", g.measure, g.key, g.value, g.standard_error, g.paths);
}
void take(const scenario_results& r, outcome& to) {
    for (std::size_t s = 0; s < r.scenarios.size(); ++s)
        for (std::size_t t = 0; t < r.trades(); ++t)
            to.figures[r.base.rows[t].trade] += fmt::format("{} {}\n", r.gain(s, t), r.error_of_gain(s, t));
    for (const failed_gain& f : r.failures) ADD_FAILURE() << f.message;
}
void take(const difference_results& r, outcome& to) {
    for (const difference_row& d : r.rows)
        to.figures[r.values.rows[d.trade].trade] += fmt::format(
            "{} {} {} {} {}\n", d.key, d.own.delta, d.own.delta_error, d.own.gamma, d.own.gamma_error);
    for (const std::string& f : r.failures) ADD_FAILURE() << f;
}
template <class study_results>
void take_all(study_results found, results study_results::*prices, outcome& to) {
    take(found.*prices, to);
    take(found, to);
    to.result = std::move(found.*prices);
}

greek_options greeks_of(study s) {
    if (s == study::greeks_by_bump) return {{"delta"}, greek_method::bump};
    if (s == study::greeks_of_second_order) return {{"delta", "gamma"}};
    return {{"delta", "vega"}};
}

void run_on_a_gpu(const request& r, const book& trades, const run_options& with, outcome& to) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->kernel = [](const std::string&, const std::string&, const cuda::launch&, std::span<void*>) {
        return [] {};
    };
    cuda::text_compiler compiler;
    std::mutex lock;
    compiler.refuses = [&](const std::string& text) {
        const std::lock_guard guard(lock);
        to.texts.insert(text);
        return false;
    };
    const engine by = tests::engine_on({gpu}, compiler);
    const market& in = *trades.market();
    const auto untold = [](const std::string&) {};
    constexpr double seconds = 1e-9;
    if (r.of == study::explain) to.plans = by.explain(trades, in, with);
    if (r.of == study::warm)
        for (const warmed_kernel& k : by.warm(trades, in, with, {"sm_90"})) {
            EXPECT_EQ(k.failure, "") << k.name;
            to.kernels.push_back(k.name);
        }
    const auto take_tuned = [&](const std::vector<tuned_kernel>& all) {
        for (const tuned_kernel& k : all) {
            EXPECT_TRUE(k.failure.starts_with("there is no folder to keep what was measured in"))
                << k.failure;
            to.kernels.push_back(k.name);
        }
    };
    if (r.of == study::tune) take_tuned(by.tune(trades, in, with, seconds, untold));
    if (r.of == study::tune_greeks)
        take_tuned(by.tune_greeks(trades, in, {{"delta"}}, with, seconds, untold));
}

void run_once(const request& r, const book& trades, const run_options& with, outcome& to) {
    const engine by;
    const market& in = *trades.market();
    const auto list = [&](bool explains) {
        scenario_list all = scenario_list::load(inputs().scenarios(), in);
        all.explains = explains;
        return all;
    };
    switch (r.of) {
        case study::price:
            to.result = by.price(trades, with);
            return take(to.result, to);
        case study::price_in_markets: {
            const std::vector<market_change> up{{"A.spot", 1}};
            const std::vector<market> all{in, in.changed(up)};
            std::vector<results> found = by.price(trades, all, with);
            for (const results& one : found) take(one, to);
            to.result = std::move(found.back());
            return;
        }
        case study::greeks:
        case study::greeks_by_bump:
        case study::greeks_of_second_order:
            to.result = by.greeks(trades, in, greeks_of(r.of), with);
            return take(to.result, to);
        case study::files_of_greeks:
            return take_all(differences(by, trades, in, {}, with), &difference_results::values, to);
        case study::scenarios:
        case study::explained_scenarios:
            return take_all(by.scenarios(trades, in, list(r.of == study::explained_scenarios), with),
                            &scenario_results::base, to);
        case study::price_in_session:
            to.result = by.open(trades).price(in, with);
            return take(to.result, to);
        case study::greeks_in_session:
            to.result = by.open(trades).greeks(in, greeks_of(study::greeks), with);
            return take(to.result, to);
        case study::scenarios_in_session:
            return take_all(by.open(trades).scenarios(in, list(false), with), &scenario_results::base, to);
        case study::explain:
        case study::warm:
        case study::tune:
        case study::tune_greeks:
            return run_on_a_gpu(r, trades, with, to);
        case study::shards_of_prices:
        case study::shards_of_greeks:
        case study::shards_of_scenarios:
        case study::shards_of_differences:
            break;
    }
    sharded_request what;
    what.book = inputs().book_file(r.asked);
    what.settings = with.overrides;
    if (r.of == study::shards_of_greeks) what.greeks = greeks_of(study::greeks);
    if (r.of == study::shards_of_scenarios) what.scenarios = inputs().scenarios();
    if (r.of == study::shards_of_differences) what.differences.emplace();
    const tests::own_folder folder;
    shards::plan(by, what, 2, folder.path(), INFINITY);
    const shards all = shards::open(folder.path());
    run_options of_part;
    of_part.journal = with.journal;
    if (!with.journal.empty()) {
        of_part.journal_block_seconds = 0.001;
        of_part.on_progress = [&](const progress&) {
            std::error_code gone;
            std::filesystem::recursive_directory_iterator at(with.journal, gone);
            for (; at != std::filesystem::recursive_directory_iterator(); at.increment(gone))
                if (at->is_regular_file(gone)) to.blocks = 1;
        };
    }
    for (std::size_t k = 1; k <= all.count(); ++k) all.run(by, k, shards::stage::pricing, of_part);
    run_options of_merge;
    of_merge.keep_policies = with.keep_policies;
    if (r.of == study::shards_of_scenarios)
        return take_all(all.merge_scenarios(by, of_merge), &scenario_results::base, to);
    if (r.of == study::shards_of_differences)
        return take_all(all.merge_differences(by, of_merge), &difference_results::values, to);
    to.result = all.merge(by, of_merge);
    take(to.result, to);
}

outcome found_by(const request& r) {
    outcome out;
    const book trades = book::parse(text_of_book(r.asked));
    const tests::own_folder journal;
    run_options with;
    with.overrides = settings_of(r);
    if (r.asked.contains(feature::journal)) with.journal = journal.path().string();
    with.keep_policies = r.asked.contains(feature::kept_policies);
    try {
        run_once(r, trades, with, out);
        if (!with.journal.empty() && has_rows(r.of) && !is_of_shards(r.of)) {
            outcome again;
            run_once(r, trades, with, again);
            out.blocks = again.result.manifest.journal_blocks;
            out.is_repeated = again.figures == out.figures;
        }
    } catch (const error& e) {
        out.refusal = e.kind() == error_kind::usage ? e.message() : std::string("not of usage: ") + e.what();
    }
    return out;
}

const outcome& found(const request& r) {
    static std::map<request, outcome> known;
    const auto at = known.find(r);
    if (at != known.end()) return at->second;
    return known.emplace(r, found_by(r)).first->second;
}

const price_row& row_of(const outcome& o, std::string_view trade) {
    return *std::ranges::find(o.result.rows, trade, &price_row::trade);
}

bool any_begins_with(const std::vector<std::string>& remarks, std::string_view text) {
    return std::ranges::any_of(remarks, [&](const std::string& r) { return r.starts_with(text); });
}
bool any_has(const std::vector<std::string>& names, std::string_view text) {
    return std::ranges::any_of(names,
                               [&](const std::string& n) { return n.find(text) != std::string::npos; });
}

constexpr std::string_view remark_of_controls = "control variate ",
                           remark_of_shifts = "importance sampling with ",
                           remark_of_pairs = "antithetic variates: ",
                           remark_of_points = "the decided points are left out",
                           remark_of_integration =
                               "preintegration: the shocks before its dates are integrated";

std::string no_remark(const outcome& o, std::string_view text) {
    for (const price_row& row : o.result.rows)
        if (any_begins_with(row.remarks, text)) return "";
    for (const trade_plan& p : o.plans)
        if (any_begins_with(p.remarks, text)) return "";
    return fmt::format("no remark '{}'", text);
}

// Why the rows do not follow the file's decisions; empty if they do. Paths by cuRAND have no points, so rows
// must remark that the decided points are left out.
std::string why_undecided(const request& r, const outcome& o) {
    const auto asks = [&](feature f) { return r.asked.contains(f); };
    const bool has_points = !asks(feature::curand);
    const bool adds_paths = asks(feature::tolerance) || asks(feature::budget) || asks(feature::own_tolerance);
    for (const price_row& row : o.result.rows) {
        const price_row& by =
            *std::ranges::find(inputs().decided(r.asked).rows, row.trade, &price_row::trade);
        if (!adds_paths && row.paths != by.paths)
            return fmt::format("{} has {} paths, decided were {}", row.trade, row.paths, by.paths);
        if (row.construction != (has_points ? by.construction : "") ||
            row.randomisations != (has_points ? by.randomisations : 0))
            return fmt::format("{} has {} randomisations '{}', decided were {} '{}'", row.trade,
                               row.randomisations, row.construction, by.randomisations, by.construction);
        if (any_begins_with(row.remarks, remark_of_points) == has_points)
            return row.trade + (has_points ? " leaves points out" : " does not say that points are left out");
        const auto told = [&](const results& of) {
            const trade_decisions d = decisions_of(of).trades.at(row.trade);
            return asks(feature::importance) ? d.shifts : d.control;
        };
        if (told(o.result) != told(inputs().decided(r.asked)))
            return fmt::format("{} has the decisions {}, decided were {}", row.trade, row.decisions,
                               by.decisions);
    }
    return "";
}

bool has_more_paths(const price_row& row) {
    constexpr std::uint64_t paths_of_first_round = 65536;
    return row.paths > paths_of_first_round;
}

// Why the rows of `with` show no evidence of feature `f`; empty if they do. `other` is without it.
std::string no_evidence_in_rows(feature f, const request& r, const outcome& with, const outcome& other) {
    const price_row &right = row_of(with, "right"), &other_right = row_of(other, "right");
    switch (f) {
        case feature::controls:
            for (const price_row& row : with.result.rows)
                if (!decisions_of(with.result).trades.at(row.trade).control.empty())
                    return no_remark(with, remark_of_controls);
            return "no row has a control";
        case feature::points:
            for (const price_row& row : with.result.rows)
                if (row.randomisations == 0 || row.construction.empty()) return row.trade + " has no points";
            return "";
        case feature::preintegration:
            return no_remark(with, remark_of_integration);
        case feature::importance:
            return no_remark(with, remark_of_shifts);
        case feature::pairs:
            for (const price_row& row : with.result.rows)
                if (!any_begins_with(row.remarks, remark_of_pairs)) return row.trade + " has no pairs";
            return "";
        case feature::rights:
            return right.early ? "" : "no policy is followed";
        case feature::nested_bounds:
            if (!right.early || !other_right.early) return "no policy is followed";
            if (!is_figure(right.early->upper_bound)) return "there is no bound";
            if (right.early->policy_value != other_right.early->policy_value)
                return "another policy is followed";
            return right.early->upper_bound != other_right.early->upper_bound ? "" : "the bound is no other";
        case feature::tolerance:
        case feature::budget:
            for (const price_row& row : with.result.rows)
                if (has_more_paths(row)) return "";
            return "no trade has more paths than the first round";
        case feature::own_tolerance:
            return has_more_paths(row_of(with, "basket")) ? "" : "the trade has no more paths than the run";
        case feature::replay: {
            // Replayed trades must not depend on the seed; `right` may, by a policy trained on drawn paths.
            request seeded = r;
            ++seeded.seed;
            const outcome& again = found(seeded);
            for (const char* const trade : {"jump", "basket", "rare"}) {
                if (with.figures.at(trade) == other.figures.at(trade))
                    return std::string(trade) + " is as drawn";
                if (!again.figures.contains(trade) || with.figures.at(trade) != again.figures.at(trade))
                    return fmt::format(
                        "{} depends on the seed: {} and {}", trade, with.figures.at(trade),
                        again.figures.contains(trade) ? again.figures.at(trade) : again.refusal);
            }
            return "";
        }
        case feature::decisions:
            return why_undecided(r, with);
        case feature::policy:
            if (!right.early) return "no policy is followed";
            if (right.early->training_paths != training_paths_of_file)
                return fmt::format("a policy of {} paths is followed", right.early->training_paths);
            return right.early->policy_value != other_right.early->policy_value ? ""
                                                                                : "the policy is no other";
        case feature::kept_policies:
            return with.result.policies.find("\"right\"") != std::string::npos ? "" : "no policy is kept";
        case feature::journal:
            if (!with.is_repeated) return "the second run has other rows";
            return with.blocks > 0 ? "" : "no block was taken";
        case feature::curand:
            if (with.result.manifest.random != "curand_philox") return "another source is told of";
            break;
        case feature::single_fast:
            if (with.result.manifest.precision != "single_fast") return "another precision is told of";
            break;
    }
    for (const std::string trade : {"right", "jump", "basket"}) {
        // A digital by preintegration is exact, whatever random numbers are drawn.
        const bool is_exact =
            f == feature::curand && trade == "jump" && r.asked.contains(feature::preintegration);
        if (!is_exact && with.figures.at(trade) == other.figures.at(trade))
            return trade + " has the figures that it has without";
    }
    return "";
}

const trade_plan& plan_of(const outcome& o, std::string_view trade) {
    return *std::ranges::find(o.plans, trade, &trade_plan::trade);
}

std::string no_evidence_in_plans(feature f, const outcome& with, const outcome& other) {
    const auto says = [&](const std::string& text) {
        for (const trade_plan& p : with.plans)
            if (p.random.find(text) == std::string::npos)
                return fmt::format("'{}' does not say '{}'", p.random, text);
        return std::string();
    };
    switch (f) {
        case feature::controls:
            return no_remark(with, remark_of_controls);
        case feature::points:
            return says(" randomisations");
        case feature::preintegration:
            return no_remark(with, remark_of_integration);
        case feature::importance:
            return no_remark(with, remark_of_shifts);
        case feature::pairs:
            return no_remark(with, remark_of_pairs);
        case feature::rights:
            return plan_of(with, "right").decides_by ? "" : "nothing is decided";
        case feature::tolerance:
        case feature::budget:
        case feature::own_tolerance:
            for (std::size_t i = 0; i < with.plans.size(); ++i)
                if (with.plans[i].bytes_shared >= other.plans[i].bytes_shared)
                    return "room for as many results is told of";
            return "";
        case feature::replay:
            return says(inputs().replay());
        case feature::decisions:
            return says(" as the run that is followed decided");
        case feature::curand:
            return says("curand_philox");
        case feature::single_fast:
            for (const trade_plan& p : with.plans)
                if (p.kernel == plan_of(other, p.trade).kernel) return "kernels are the same";
            return "";
        case feature::policy: {
            const auto& by = plan_of(with, "right").decides_by;
            return by && by->training_paths == training_paths_of_file ? "" : "another policy is told of";
        }
        default:
            break;
    }
    return "nothing is told of it";
}

std::string no_evidence_in_kernels(feature f, const request& r, const outcome& with, const outcome& other) {
    switch (f) {
        case feature::points:
            if (r.of != study::tune_greeks)
                return any_has(with.kernels, "_over_points") ? "" : "none is over points";
            break;
        case feature::rights:
            if (r.of != study::tune_greeks && !r.asked.contains(feature::nested_bounds))
                return any_has(with.kernels, "_of_bounds") ? "" : "none is of bounds";
            break;
        case feature::nested_bounds:
            if (r.of != study::tune_greeks)
                return any_has(with.kernels, "_of_bounds") ? "one is of bounds" : "";
            break;
        case feature::decisions: {
            if (found(r.decided_by(request::decider::pilots)).texts == with.texts)
                return "kernels are those that pilots choose";
            // Settings lead to the file's kernels only for prices, as derivatives have other controls, and
            // only with nested bounds, as other bounds take no points.
            if (r.of == study::tune_greeks || !r.asked.contains(feature::nested_bounds)) break;
            const std::set<std::string>& said = found(r.decided_by(request::decider::settings)).texts;
            if (!std::ranges::includes(with.texts, said)) return "kernels are not those of what was decided";
            break;
        }
        case feature::policy:
            if (r.of == study::warm) return any_has(with.kernels, "_of_policy_") ? "one finds policies" : "";
            break;
        default:
            break;
    }
    return with.texts != other.texts ? "" : "kernels are the same";
}

std::string no_evidence(feature f, const request& r, const outcome& with, const outcome& other) {
    if (!with.refusal.empty()) return "refused: " + with.refusal;
    if (!other.refusal.empty()) return "refused without: " + other.refusal;
    if (has_rows(r.of)) return no_evidence_in_rows(f, r, with, other);
    if (r.of == study::explain) return no_evidence_in_plans(f, with, other);
    return no_evidence_in_kernels(f, r, with, other);
}

void expect_no_failures(const outcome& o) {
    for (const price_row& row : o.result.rows)
        EXPECT_EQ(row.status, trade_status::priced) << row.trade << row.message;
    for (const greek_row& g : o.result.greeks)
        EXPECT_FALSE(g.has_failed()) << g.trade << g.measure << g.message;
    for (const trade_plan& p : o.plans) EXPECT_EQ(p.failure, "") << p.trade;
}

// Expects that a trade's price and derivatives come from one walk. With rights, derivatives may come instead
// from parts of the run with policies of their own, which have no walk (0).
void expect_one_walk(const outcome& o) {
    for (const price_row& row : o.result.rows) EXPECT_NE(row.walk, 0U) << row.trade;
    for (const greek_row& g : o.result.greeks) {
        if (g.trade.empty()) continue;
        const price_row& priced = row_of(o, g.trade);
        SCOPED_TRACE(fmt::format("{} {} {}", g.trade, g.measure, g.key));
        EXPECT_EQ(g.paths, priced.paths);
        const bool is_of_parts = priced.early && g.walk == 0;
        EXPECT_TRUE(is_of_parts || g.walk == priced.walk);
    }
}

// The first refusal that the catalogue has for these features in study `s`; empty if it accepts all.
std::string expected_refusal(study s, const features& asked) {
    for (const feature f : asked)
        if (const combination c = combined(s, f); c.is_refused()) return sentence(c, name_of(f), name_of(s));
    for (const feature second : asked)
        for (const feature first : asked) {
            if (first >= second) break;
            if (const combination c = combined(first, second); c.is_refused())
                return sentence(c, name_of(first), name_of(second));
        }
    return "";
}

bool are_of_one_setting(feature a, feature b) {
    const features both{a, b};
    return both == features{feature::points, feature::curand};
}

features shown_by(feature f) {
    switch (f) {
        case feature::controls:
        case feature::points:
            return {f, feature::decisions};
        case feature::tolerance:
        case feature::budget:
        case feature::own_tolerance:
            return {feature::tolerance, feature::budget, feature::own_tolerance};
        default:
            return {f};
    }
}

// True if `r` can show feature `f`. Kernels show decisions only by points, `tune` shows a policy only over
// points, and `explain` chooses the same kernel in any precision if shocks are read from arrays.
bool can_be_seen(feature f, const request& r) {
    if (f == feature::decisions && r.asked.contains(feature::curand)) return has_rows(r.of);
    // The made-up GPU of `tune_greeks` has no cuRAND, and so no paths that need a bound.
    if (f == feature::nested_bounds && r.asked.contains(feature::curand)) return r.of != study::tune_greeks;
    if (f == feature::policy) return r.of != study::tune || r.asked.contains(feature::points);
    const bool reads_arrays = r.asked.contains(feature::points) || r.asked.contains(feature::replay) ||
                              r.asked.contains(feature::curand);
    return f != feature::single_fast || r.of != study::explain || !reads_arrays;
}

void expect_left_out(const request& r, const outcome& with, const outcome& other, const combination& c) {
    EXPECT_EQ(with.refusal, "");
    EXPECT_EQ(with.figures, other.figures);
    EXPECT_EQ(with.kernels, other.kernels);
    if (!has_rows(r.of)) return;
    const std::string said = sentence(c, "its tolerance", name_of(r.of));
    for (const price_row& row : with.result.rows)
        EXPECT_EQ(std::ranges::count(row.remarks, said), row.trade == "basket" ? 1 : 0)
            << row.trade << ": " << said;
}

void expect_as_the_catalogue_says(feature f, const request& r) {
    const std::string expected = expected_refusal(r.of, r.asked);
    const outcome& with = found(r);
    if (!expected.empty()) {
        EXPECT_EQ(with.refusal, expected);
        return;
    }
    if (needs_a_real_gpu(r) && !r.is_on_a_real_gpu) {
        EXPECT_NE(with.refusal.find(" GPU"), std::string::npos) << with.refusal;
        return;
    }
    const request plain = r.without(shown_by(f));
    const outcome& other = found(plain);
    EXPECT_EQ(with.refusal, "");
    expect_no_failures(with);
    expect_one_walk(with);
    combination c = combined(r.of, f);
    for (const feature one : r.asked)
        if (f == feature::own_tolerance && c.is == standing::works) c = combined(f, one);
    if (c.is == standing::no_meaning) {
        EXPECT_EQ(with.figures, other.figures);
        EXPECT_TRUE(with.texts == other.texts) << "kernels are others";
        EXPECT_EQ(with.kernels, other.kernels);
        EXPECT_EQ(explanation_json(with.plans, "", true), explanation_json(other.plans, "", true));
    } else if (c.is == standing::left_out) {
        expect_left_out(r, with, other, c);
    } else if (can_be_seen(f, r)) {
        EXPECT_EQ(no_evidence(f, r, with, other), "");
        EXPECT_NE(no_evidence(f, plain, other, other), "") << "evidence without the feature";
    }
}

std::string as_a_test(std::string_view name) {
    std::string out;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            out += c;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    return out;
}

class combinations_every_study : public testing::TestWithParam<study> {};
INSTANTIATE_TEST_SUITE_P(of, combinations_every_study,
                         testing::ValuesIn(all_studies().begin(), all_studies().end()),
                         [](const auto& at) { return as_a_test(name_of(at.param)); });

TEST_P(combinations_every_study, with_every_feature) {
    for (const feature f : all_features()) {
        SCOPED_TRACE(std::string(name_of(f)));
        features asked{f, feature::rights};
        // Kernels of ordinary bounds don't depend on decisions, so nested bounds are asked for as well.
        const bool has_bounds = GetParam() == study::warm || GetParam() == study::tune;
        if (f == feature::decisions && has_bounds) asked.insert(feature::nested_bounds);
        if (f == feature::policy && GetParam() == study::tune) asked.insert(feature::points);
        expect_as_the_catalogue_says(f, {GetParam(), asked});
    }
}

void expect_both(study s, feature a, feature b, std::uint64_t paths, bool is_on_a_real_gpu = false) {
    if (are_of_one_setting(a, b)) return;
    SCOPED_TRACE(fmt::format("{} and {} in {}", name_of(a), name_of(b), name_of(s)));
    request both{s, {a, b, feature::rights}};
    both.paths = paths;
    both.is_on_a_real_gpu = is_on_a_real_gpu;
    expect_as_the_catalogue_says(a, both);
    expect_as_the_catalogue_says(b, both);
}

class combinations_every_feature : public testing::TestWithParam<feature> {};
// The last feature needs no case of its own: the cases before it pair it with all others.
INSTANTIATE_TEST_SUITE_P(of, combinations_every_feature,
                         testing::ValuesIn(all_features().begin(), std::prev(all_features().end())),
                         [](const auto& at) { return as_a_test(name_of(at.param)); });

TEST_P(combinations_every_feature, beside_every_other_in_price) {
    for (const feature other : all_features())
        if (GetParam() < other) expect_both(study::price, GetParam(), other, few_paths);
}

class combinations_every_study_long : public testing::TestWithParam<study> {};
INSTANTIATE_TEST_SUITE_P(of, combinations_every_study_long,
                         testing::ValuesIn(all_studies().begin(), all_studies().end()),
                         [](const auto& at) { return as_a_test(name_of(at.param)); });

TEST_P(combinations_every_study_long, with_every_two_features) {
    for (const feature a : all_features())
        for (const feature b : all_features())
            if (a < b) expect_both(GetParam(), a, b, more_paths);
}

class combinations_on_a_gpu : public tests::on_a_gpu {};

TEST_F(combinations_on_a_gpu, of_what_needs_one) {
    for (const feature f : {feature::curand, feature::single_fast}) {
        for (const study s : all_studies()) {
            if (!has_rows(s)) continue;
            SCOPED_TRACE(fmt::format("{} in {}", name_of(f), name_of(s)));
            request r{s, {f, feature::rights}};
            r.is_on_a_real_gpu = true;
            expect_as_the_catalogue_says(f, r);
        }
        for (const feature other : all_features())
            if (other != f) expect_both(study::price, f, other, few_paths, true);
    }
}

TEST(combinations_of_decisions, of_points_are_left_out_beside_independent_numbers) {
    run_options with;
    with.overrides.threads = 1;
    with.overrides.device = "cpu";
    with.overrides.random = "philox";
    with.overrides.decisions = inputs().decisions({});
    const std::string said = fmt::format("{}: its paths take random numbers from philox", remark_of_points);
    for (const price_row& row : engine().price(book::parse(text_of_book({feature::rights})), with).rows) {
        EXPECT_EQ(row.randomisations, 0U) << row.trade;
        EXPECT_EQ(std::ranges::count(row.remarks, said), 1) << row.trade;
    }
}

// A trade that pays a call in each of 24 months, in a market of 24 volatilities. These are too many for
// tangents, so the adjoint is used. The vegas add up to that of a flat volatility.
struct calls_of_months {
    static constexpr double spot = 100, rate = 0.05, volatility = 0.2, strike = 105;
    static constexpr int months = 24;
    double price = 0, delta = 0, vega = 0;  // by Black's formula; vega per 1 %

    calls_of_months() {
        const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
        for (int m = 1; m <= months; ++m) {
            const double years = m / 12.0, deviation = volatility * std::sqrt(years),
                         d1 = (std::log(spot / strike) + rate * years) / deviation + deviation / 2;
            price += spot * below(d1) - strike * std::exp(-rate * years) * below(d1 - deviation);
            delta += below(d1);
            vega += 0.01 * spot * std::exp(-d1 * d1 / 2) / std::sqrt(2 * M_PI) * std::sqrt(years);
        }
    }
    static book as_a_book() {
        std::string volatilities;
        for (int m = 1; m <= months; ++m)
            volatilities += fmt::format("{}{:.6f}: {}", m == 1 ? "" : ", ", m / 12.0, volatility);
        return book::parse(
            in_book(dollar_market(rate,
                                  {{"A", fmt::format("spot: {}, volatility: {{{}}}", spot, volatilities)}})) +
            "products:\n" +
            tests::product_in_words("calls", "Calls.", "underlying: asset, strike: number, dates: schedule",
                                    "on dates:\n    pay max(spot(underlying) - strike, 0)\n") +
            fmt::format("trades:\n  - {{id: a, product: calls, underlying: A, strike: {}, dates: {{start: 0, "
                        "end: 2, count: {}}}}}\n",
                        strike, months));
    }
};

TEST_F(combinations_on_a_gpu, derivatives_over_curand_are_those_of_black_and_of_the_paths_priced) {
    const calls_of_months truth;
    const book one = calls_of_months::as_a_book();
    for (const char* const source :
         {"curand_philox", "curand_xorwow", "curand_mrg32k3a", "curand_mt19937", "curand_scrambled_sobol"}) {
        SCOPED_TRACE(source);
        run_options with;
        with.overrides = {.paths = 131072 + 1024, .threads = 1, .device = "0", .random = source};
        with.overrides.controls = technique::none;
        const auto found = [&](const run_options& how) {
            return engine().greeks(one, *one.market(), greeks_of(study::greeks), how);
        };
        const results all = found(with);
        EXPECT_EQ(all.manifest.left_to_processor, std::vector<left_work>{});
        const price_row& row = all.rows.front();
        const double most = row.randomisations > 0 ? student_of_normal(4.5, row.degrees_of_freedom()) : 4.5;
        const auto expect_near = [&](double value, double error, double expected) {
            EXPECT_GT(error, 0);
            EXPECT_LE(std::abs(value - expected), most * error) << value << ", not " << expected;
        };
        expect_near(row.price, row.standard_error, truth.price);
        for (const auto& [key, expected] : {std::pair{"A.spot", truth.delta}, {"", truth.vega}}) {
            const greek_row& g = *std::ranges::find(all.greeks, key, &greek_row::key);
            expect_near(g.value, g.standard_error, expected);
            EXPECT_EQ(g.walk, row.walk) << key;
        }
        const tests::own_folder journal;
        run_options in_pieces = with, kept = with;
        in_pieces.overrides.memory_bytes = std::uint64_t{80} << 20;
        kept.journal = journal.path().string();
        for (const results& r : {found(in_pieces), found(kept), found(kept)}) {
            ASSERT_EQ(r.greeks.size(), all.greeks.size());
            for (std::size_t i = 0; i < all.greeks.size(); ++i)
                EXPECT_EQ(r.greeks[i].part_means, all.greeks[i].part_means) << all.greeks[i].key;
            EXPECT_EQ(r.rows[0].price, row.price);
            EXPECT_EQ(r.rows[0].standard_error, row.standard_error);
        }
        for (const results& r : {engine().price(one, with), engine().price(one, kept)}) {
            EXPECT_EQ(r.rows[0].price, row.price);
            EXPECT_EQ(r.rows[0].standard_error, row.standard_error);
        }
    }
}

TEST_F(combinations_on_a_gpu, prices_beside_derivatives_over_curand_are_those_without) {
    request r{study::price, {feature::curand, feature::rights}};
    r.is_on_a_real_gpu = true;
    const outcome& priced = found(r);
    for (const study s : {study::greeks, study::greeks_by_bump, study::greeks_of_second_order}) {
        r.of = s;
        for (const price_row& row : found(r).result.rows) {
            EXPECT_EQ(row.price, row_of(priced, row.trade).price) << row.trade;
            EXPECT_EQ(row.standard_error, row_of(priced, row.trade).standard_error) << row.trade;
        }
    }
}

// Decisions hold each trade's number of paths, of which some trades took more than the first round has.
TEST(combinations_of_decisions, of_a_run_to_a_tolerance_are_followed_on_its_paths) {
    const book trades = book::parse(text_of_book({feature::rights}));
    const market& in = *trades.market();
    run_options with;
    with.overrides = settings_of({study::price, {feature::tolerance}});
    const results decided = engine().price(trades, with);
    EXPECT_TRUE(std::ranges::any_of(
        decided.rows, [&](const price_row& row) { return row.paths > decided.manifest.paths; }));
    std::ostringstream text;
    write(text, decided, output_format::json);
    const tests::own_folder folder;
    with.overrides = {.threads = 1, .device = "cpu"};
    with.overrides.decisions = folder.write("decided.json", text.str()).string();
    const auto expect_decided_paths = [&](const results& told) {
        for (std::size_t i = 0; i < told.rows.size(); ++i)
            EXPECT_EQ(told.rows[i].paths, decided.rows[i].paths) << told.rows[i].trade;
        for (const greek_row& g : told.greeks)
            EXPECT_EQ(g.paths, std::ranges::find(decided.rows, g.trade, &price_row::trade)->paths)
                << g.trade << g.measure;
    };
    expect_decided_paths(engine().price(trades, with));
    expect_decided_paths(engine().open(trades).price(in, with));
    const std::vector<market_change> up{{"A.spot", 1}};
    for (const results& told : engine().price(trades, std::vector{in, in.changed(up)}, with))
        expect_decided_paths(told);
    expect_decided_paths(engine().greeks(trades, in, greeks_of(study::greeks), with));
    expect_decided_paths(engine().greeks(trades, in, greeks_of(study::greeks_by_bump), with));
    // Scenarios ignore decided numbers of paths, since totals and tails need all trades on the same paths.
    const scenario_list list = scenario_list::parse(scenarios_text, "scenarios", in);
    for (const price_row& row : engine().scenarios(trades, in, list, with).base.rows)
        EXPECT_EQ(row.paths, decided.manifest.paths) << row.trade;
}

class working_directory {
  public:
    explicit working_directory(const std::filesystem::path& to) : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(to);
    }
    ~working_directory() { std::filesystem::current_path(before_); }
    working_directory(const working_directory&) = delete;
    working_directory& operator=(const working_directory&) = delete;

  private:
    std::filesystem::path before_;
};

// A shard reads the file that was named where it was planned, not one with that name where it runs.
TEST(combinations_shards_of_files, are_of_their_bytes_wherever_they_lie) {
    const std::filesystem::path folder = inputs().folder().path();
    const std::string book_file = inputs().book_file({feature::rights});
    for (const feature f : {feature::replay, feature::decisions, feature::policy}) {
        SCOPED_TRACE(std::string(name_of(f)));
        sharded_request whole, named;
        whole.book = named.book = book_file;
        whole.settings = named.settings = settings_of({study::shards_of_prices, {f, feature::rights}});
        std::optional<std::string>& file = f == feature::replay      ? named.settings.replay
                                           : f == feature::decisions ? named.settings.decisions
                                                                     : named.settings.policy;
        file = std::filesystem::path(*file).filename().string();
        const tests::own_folder plan, elsewhere;
        elsewhere.write(*file, "another");
        {
            const working_directory here(folder);
            EXPECT_EQ(shards::digest_of(named), shards::digest_of(whole));
            shards::plan(engine(), named, 2, plan.path());
            shards::open(plan.path()).run(engine(), 1);
        }
        const working_directory there(elsewhere.path());
        const shards all = shards::open(plan.path());
        all.run(engine(), 2);
        run_options with;
        with.overrides = whole.settings;
        outcome merged, of_one_process;
        take(all.merge(engine()), merged);
        take(engine().price(book::load(book_file), with), of_one_process);
        EXPECT_EQ(merged.figures, of_one_process.figures);
    }
}

TEST(combinations_catalogue, has_a_reason_for_all_that_does_not_work) {
    for (const feature f : all_features()) {
        for (const study s : all_studies())
            EXPECT_EQ(combined(s, f).is == standing::works, combined(s, f).why.empty())
                << name_of(f) << " in " << name_of(s);
        for (const feature other : all_features()) {
            const combination c = combined(f, other), turned = combined(other, f);
            EXPECT_EQ(c.is == standing::works, c.why.empty()) << name_of(f) << " and " << name_of(other);
            EXPECT_TRUE(c.is == turned.is && c.why == turned.why) << name_of(f) << " and " << name_of(other);
        }
    }
}

// `philox_7`, our own Philox of seven rounds, needs a GPU like cuRAND, but is not of it: it has Greeks.
TEST(combinations_catalogue, takes_no_source_of_our_own_for_one_of_curand) {
    const book trades = book::parse(text_of_book({}));
    for (const auto& [source, is_asked] :
         {std::pair{"philox", false}, {"philox_7", false}, {"sobol", false}, {"curand_mt19937", true}}) {
        run_options with;
        with.overrides.random = source;
        const std::vector<feature> asked = features_asked(trades, with);
        EXPECT_EQ(std::ranges::count(asked, feature::curand), is_asked ? 1 : 0) << source;
    }
}

TEST(combinations_catalogue, names_each_study_and_feature_once) {
    std::set<std::string_view> names;
    for (const study s : all_studies()) EXPECT_TRUE(names.insert(name_of(s)).second) << name_of(s);
    for (const feature f : all_features()) EXPECT_TRUE(names.insert(name_of(f)).second) << name_of(f);
}

// `tilewalk help combinations` prints this table: a line for each study, with a mark for each feature.
TEST(combinations_catalogue, is_told_in_a_table) {
    const std::string text = combinations_text();
    for (const study s : all_studies()) {
        std::istringstream lines(text);
        int found_lines = 0;
        for (std::string line; std::getline(lines, line);) {
            const std::string name(name_of(s));
            if (!line.starts_with(name + "  ")) continue;
            std::istringstream marks(line.substr(name.size()));
            std::size_t count = 0;
            for (std::string mark; marks >> mark; ++count)
                EXPECT_EQ(mark == "+", combined(s, all_features()[count]).is == standing::works) << line;
            EXPECT_EQ(count, all_features().size()) << line;
            ++found_lines;
        }
        EXPECT_EQ(found_lines, 1) << name_of(s) << " in\n" << text;
    }
}

}  // namespace
}  // namespace tilewalk::combinations_test
