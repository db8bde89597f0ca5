// SPDX-License-Identifier: Apache-2.0
// Pricing: plans every trade, walks on GPUs, walks the rest on the CPU, compares with double, makes rows.
#include "engine/study/price.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/base/beside.h"
#include "engine/base/crew.h"
#include "engine/decide/controls/controls.h"
#include "engine/decide/exercise/nested.h"
#include "engine/decide/followed.h"
#include "engine/decide/importance.h"
#include "engine/decide/pairs.h"
#include "engine/decide/policies/policies.h"
#include "engine/decide/policy_file.h"
#include "engine/decide/quarters.h"
#include "engine/decide/rights.h"
#include "engine/decide/seeds.h"
#include "engine/decide/sources.h"
#include "engine/study/answers.h"
#include "engine/study/asked.h"
#include "engine/study/flaws.h"
#include "engine/study/manifest.h"
#include "engine/study/request.h"
#include "engine/study/rounds/rounds.h"
#include "engine/study/rows.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cost.h"
#include "kernels/tile.h"
#include "tilewalk/bounds.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace {

using namespace studies;
using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

const market& market_of(const book& trades) {
    if (!trades.market()) {
        throw error(error_kind::usage, "the book names no market; write market: in the book or give one",
                    {state_of(trades).name, 0, 0});
    }
    return *trades.market();
}

void check_size(std::size_t trades, std::size_t markets) {
    if (markets == 0 || trades <= bounds::priced_at_once / markets) return;
    throw error(error_kind::usage, "found " + std::to_string(trades) + " trades in " +
                                       std::to_string(markets) + " markets, expected at most " +
                                       std::to_string(bounds::priced_at_once) +
                                       " of both multiplied; price fewer markets at once");
}

void plan_all(planned_run& r, const resources& with, const stages& by, threads::crew& crew,
              const progress_reporter& reporter) {
    const timings::during planning(r.options.times, stage::planning);
    const std::vector<books::trade>& trades = r.book.trades;
    const scenarios_of_markets scenarios(r.in);
    std::vector<missing_pairs> missing(r.in.size());
    r.plans.resize(trades.size() * r.in.size());
    crew.for_each(
        r.plans.size(), r.options.cancel,
        [&](int, std::uint64_t k) {
            const std::size_t m = k / trades.size(), i = k % trades.size();
            const wanted_plans wanted{r.run, r.options.cancel, by.are_of_book, scenarios.first[m]};
            r.plans[k] = by.plan ? plan_one(trades[i], state_of(r.in[m]), r.run, with.shapes(), missing[m],
                                            r.options.cancel, by.plan, scenarios.first[m])
                                 : with.plan(trades[i], r.in[m], wanted, missing[m],
                                             by.reads.empty() ? nullptr : &by.reads[i]);
        },
        reporter.is_wanted() ? [&] { reporter.report(); } : std::function<void()>());
    for (const missing_pairs& pairs : missing) r.missing_correlations.push_back(pairs.all());
}

void take_plans(planned_run& r, std::span<const std::shared_ptr<const ready_trade>> ready) {
    const timings::during planning(r.options.times, stage::planning);
    const std::vector<books::trade>& trades = r.book.trades;
    missing_pairs missing;
    for (std::size_t i = 0; i < trades.size(); ++i)
        r.plans.push_back(planned_again(trades[i], ready[i], state_of(r.in.front()), r.run, missing));
    r.missing_correlations.push_back(missing.all());
}

// Returns why a trade has other paths here than in the first market; empty if it has the same.
std::string remark_on_paths(const planned& first, const planned& here) {
    if (!first.ready || !here.ready) return {};
    const std::string so = ", so they have random numbers in common with those in part at most";
    if (first.ready->when.times != here.ready->when.times)
        return "its paths stop at other times than in the first market" + so;
    if (first.ready->code != here.ready->code) return "its paths are not made as in the first market" + so;
    return {};
}

std::uint64_t path_steps_of(const planned_run& r, std::size_t m) {
    std::uint64_t steps = 0;
    const std::size_t trades = r.book.trades.size();
    for (const planned& p : std::span(r.plans).subspan(m * trades, trades)) {
        if (p.needs_paths()) steps += r.run.paths * p.ready->when.steps();
    }
    return steps;
}

bool has_bound_to_walk(const planned& p) {
    return !p.failure && p.rights && p.rights->bounding;
}

bool has_bound_to_nest(const planned& p) {
    return !p.failure && p.rights && p.rights->nested;
}

std::uint64_t outer_paths_of(const planned_run& r) {
    return exercise::outer_paths_for(r.run.paths);
}

std::uint64_t path_steps_of_bounds(const planned_run& r) {
    std::uint64_t steps = 0;
    for (const planned& p : r.plans) {
        if (has_bound_to_walk(p)) steps += r.run.paths * p.rights->bounding->when.steps();
        if (has_bound_to_nest(p)) steps += p.rights->nested->path_steps(outer_paths_of(r));
    }
    return steps;
}

known_tallies known_tallies_of(const planned_run& r) {
    known_tallies out{r.options.work};
    if (!out.work) return out;
    for (const market& m : r.in)
        for (const markets::scenario_array& a : state_of(m).scenarios) out.arrays.push_back(a.hash.get());
    return out;
}

// Reports what the walks of each trade cost, in operations, to a planner of shards.
void tell_costs(const planned_run& r) {
    if (!r.options.work || !r.options.work->tell_cost) return;
    const double paths = static_cast<double>(r.run.paths);
    for (std::size_t k = 0; k < r.plans.size(); ++k) {
        const planned& p = r.plans[k];
        if (!p.needs_paths()) continue;
        double operations = (1 + p.walks_by_parts) * paths * run::operations_of(p.job());
        if (has_bound_to_walk(p)) operations += paths * run::operations_of(p.rights->bounding->job());
        r.options.work->tell_cost(r.book.trades[k % r.book.trades.size()].id, operations);
    }
}

// Returns the martingale bounds of trades with rights, by plan, from random numbers of their own.
std::vector<found_bound> walk_bounds(const planned_run& r, run::walk all, const walkers& by,
                                     const known_tallies& known, progress_reporter& reporter) {
    const timings::during walking(r.options.times, stage::bounds);
    all.times = nullptr;
    std::vector<found_bound> out(r.plans.size());
    std::vector<planned> bounding;
    std::vector<std::size_t> of;
    for (std::size_t k = 0; k < r.plans.size(); ++k) {
        const planned& p = r.plans[k];
        if (!has_bound_to_walk(p)) continue;
        bounding.emplace_back().ready = p.rights->bounding;
        of.push_back(k);
    }
    if (bounding.empty()) return out;
    all.seed = decide::seed_for(all.seed, decide::purpose::bounds);
    run_manifest untold;
    run_options options_of_bounds;
    const progress before = reporter.now;
    if (reporter.is_wanted()) {
        options_of_bounds.on_progress = [&](const progress& of_bounds) {
            reporter.now.path_steps_done = before.path_steps_done + of_bounds.path_steps_done;
            reporter.report();
        };
    }
    progress_reporter reporter_of_bounds(options_of_bounds);
    book_walk walk(bounding, r.run, all, reporter_of_bounds, known);
    walk.take_known();
    walk.walk(by, untold);
    std::vector<std::optional<walked_trade>> walked = walk.take_walked();
    for (std::size_t k = 0; k < of.size(); ++k) out[of[k]] = {std::move(walked[k]), bounding[k].failure};
    return out;
}

// Adds nested bounds, walked on the CPU in double so that their bits depend on no device.
void nest_bounds(const planned_run& r, progress_reporter& reporter, std::vector<found_bound>& to) {
    const timings::during walking(r.options.times, stage::bounds);
    for (std::size_t k = 0; k < r.plans.size(); ++k) {
        if (!has_bound_to_nest(r.plans[k])) continue;
        const std::uint64_t before = reporter.now.path_steps_done;
        exercise::nested_walk by{decide::seed_for(r.run.seed, decide::purpose::nested_bounds),
                                 outer_paths_of(r), &r.operations, r.run.threads, r.options.cancel};
        if (reporter.is_wanted()) {
            by.on_progress = [&](std::uint64_t done) {
                reporter.now.path_steps_done = before + done;
                reporter.report();
            };
        }
        try {
            const exercise::nested_program& nested = *r.plans[k].rights->nested;
            const auto walk = [&] { return exercise::nested_bound(nested, by); };
            kept::work* const work = r.options.work.get();
            const run::tally found = work == nullptr ? walk()
                                                     : work->whole(exercise::fingerprint_of(nested, by),
                                                                   kernels::tiles_of(by.outer_paths), walk);
            to[k].walked.emplace(found, false, planned{});
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            to[k].failure = at_trade(r.book.trades[k % r.book.trades.size()], e);
        }
        reporter.now.path_steps_done = before + r.plans[k].rights->nested->path_steps(by.outer_paths);
        reporter.report();
    }
}

void tell_of_nested_bounds(const planned_run& r, std::vector<left_work>& to) {
    std::set<std::size_t> trades;
    for (std::size_t k = 0; k < r.plans.size(); ++k)
        if (has_bound_to_nest(r.plans[k])) trades.insert(k % r.book.trades.size());
    add_left(to, {"nested bounds", trades.size(),
                  "they are walked in double on the processor, wherever prices are"});
}

std::string policies_of(const planned_run& r, std::size_t m) {
    const std::size_t trades = r.book.trades.size();
    std::vector<exercise::saved_policy> all;
    for (const planned& p : std::span(r.plans).subspan(m * trades, trades))
        if (!p.failure && p.rights && p.rights->saved) all.push_back(*p.rights->saved);
    return report::policies_json(all);
}

// Returns by plan which operations gave paths no finite number; empty if all paths have one.
std::vector<std::string> flaws_of(const planned_run& r,
                                  const std::vector<std::optional<walked_trade>>& walked,
                                  const run::walk& paths) {
    const scenarios_of_markets scenarios(r.in);
    // The CPU has every precision but single_fast, whose approximations rarely make the difference.
    const bool is_fast = program::is_fast(r.run.how.precision);
    const program::precision precision = is_fast ? program::precision::single : r.run.how.precision;
    std::vector<std::string> out(r.plans.size());
    for (std::size_t k = 0; k < r.plans.size(); ++k) {
        if (!walked[k] || walked[k]->result.not_finite == 0) continue;
        const std::size_t trades = r.book.trades.size(), m = k / trades;
        out[k] =
            flaw_on_path(walked[k]->result.first_not_finite, r.book.trades[k % trades], state_of(r.in[m]),
                         r.plans[k], scenarios.first[m], paths, r.operations, precision);
    }
    return out;
}

// Empty if no such file was read.
std::string hash_of_file(std::span<const input_file> read, const std::string& file) {
    const auto found = std::ranges::find(read, arrays::name_of(file), &input_file::file);
    return file.empty() || found == read.end() ? std::string() : found->hash;
}

void add_rows(const planned_run& r, std::size_t m, std::vector<std::optional<walked_trade>>& walked,
              const std::vector<found_bound>& bounds, const std::vector<std::string>& flaws,
              std::string_view replay, priced_book& into) {
    const timings::during adding(r.options.times, stage::rows);
    const std::size_t trades = r.book.trades.size();
    into.moments.resize(trades);
    into.derivatives.resize(trades);
    into.result.rows.resize(trades);
    threads::for_each_short(trades, r.run.threads, [&](int, std::uint64_t i) {
        const std::size_t k = m * trades + i;
        const planned& p = r.plans[k];
        if (walked[k]) into.moments[i] = walked[k]->result.moments;
        if (p.needs_paths()) into.derivatives[i] = std::move(walked[k]->derivatives);
        price_row& row = into.result.rows[i];
        row = row_of(r.book.trades[i], p, walked[k], r.run.paths, flaws[k]);
        const std::optional<quasi::points>& points = p.points ? p.points : r.run.points;
        if (walked[k]) row.walk = fingerprint_of_paths(r.run, points, replay);
        if (row.randomisations > 0 && points) row.construction = quasi::name_of(points->construction);
        row.decisions = decide::written(p.control.get(), p.shifts.get(), p.is_integrated);
        if (p.rights) add_rights(row, *p.rights, bounds[k]);
        if (std::string why = remark_on_points_left_out(r.run, row.trade); walked[k] && !why.empty())
            row.remarks.push_back(std::move(why));
        if (m == 0) return;
        if (std::string why = remark_on_paths(r.plans[i], p); !why.empty())
            row.remarks.push_back(std::move(why));
    });
    for (std::size_t k = m * trades; k < (m + 1) * trades; ++k)
        if (r.plans[k].needs_paths()) into.result.manifest.part_paths = walked[k]->part_paths;
}

struct right_in_run {
    policy_of_trade of;
    planned& plan;
    const books::trade& trade;
    std::uint32_t first_scenario;

    // Runs a step of finding the policy. If it throws, only this trade fails.
    void do_step(const std::function<void(right_in_run&)>& step) {
        if (plan.failure) return;
        try {
            step(*this);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            const error why = at_trade(trade, e);
            const std::string flaws = possible_flaws(*plan.ready);
            const bool has_flaws = why.kind() == error_kind::numeric && !flaws.empty();
            plan.failure = has_flaws ? error(why.kind(), why.message() + "; " + flaws, why.where()) : why;
        }
    }
};

// Whether GPUs, which may have to be opened and to get their kernels first, find policies sooner than the
// processor.
bool pays_on_gpus(std::span<const cuda::wanted_policy> wanted, const planned_run& r, cuda::backend& gpus,
                  gpus_of_run& opening) {
    if (gpus.tiles_before_gpus()) return true;
    if (wanted.empty()) return opening.are_open();
    constexpr double operations_a_second = 1e9;  // of a core that trains
    constexpr double seconds_of_opening = 0.3, seconds_of_kernel = 1.8;
    double operations = 0, most = 0;
    for (const cuda::wanted_policy& one : wanted) {
        const double of_one = exercise::operations_of(*one.of);
        operations += of_one;
        most = std::max(most, of_one);
    }
    // The threads of one training wait for each other, so that it gains by few.
    constexpr double gain_of_one = 2;
    const double on_processor =
        std::max(operations / r.run.threads, most / std::min<double>(gain_of_one, r.run.threads)) /
        operations_a_second;
    opening.begin_for(on_processor);
    if (!opening.are_open() && on_processor < seconds_of_opening) return false;
    const cuda::backend::choice& on = opening.get();
    if (on.devices.empty()) return false;
    const std::string architecture = on.devices.front()->get().properties().architecture();
    std::set<std::string> missing;
    for (const cuda::wanted_policy& one : wanted)
        for (const cuda::built_kernel* k :
             cuda::policy_kernels_of(*one.of, cuda::path_reads_of(r.run.how)).all())
            if (!gpus.kernels().known({k->text, architecture, {}})) missing.insert(k->text);
    if (missing.empty()) return true;
    const double compiling =
        seconds_of_kernel * std::max(1.0, static_cast<double>(missing.size()) / r.run.threads);
    if (on_processor > compiling) return true;
    for (const std::string& text : missing) gpus.ahead().want_later({text, architecture, {}});
    return false;
}

// Finds policies on GPUs. The CPU will find those that GPUs can't.
void find_on_gpus(std::vector<right_in_run>& all, planned_run& r, const policy_search& by,
                  cuda::backend& gpus, gpus_of_run& opening) {
    std::map<std::string, std::set<const books::trade*>> left;  // trades left to the CPU, by reason
    std::vector<cuda::wanted_policy> wanted;
    std::vector<right_in_run*> of;
    std::map<const markets::market_state*, std::vector<arrays::shock_cube>> scenarios;
    for (right_in_run& one : all) {
        const exercise::untrained* const to_find = one.plan.failure ? nullptr : one.of.to_find();
        if (to_find == nullptr || to_find->is_certain) continue;
        if (r.run.fits != exercise::fitting::usual) {
            left["they are fitted less the martingale, or by fewer functions, which no GPU does"].insert(
                &one.trade);
            continue;
        }
        const markets::market_state& in = one.of.market();
        const auto [cubes, is_new] = scenarios.try_emplace(&in);
        if (is_new) cubes->second = in.scenario_cubes();
        wanted.push_back({to_find, cubes->second});
        of.push_back(&one);
    }
    if (r.run.device == "auto" && !pays_on_gpus(wanted, r, gpus, opening)) return;
    const cuda::backend::choice& on = opening.get();
    if (on.devices.empty()) return;
    if (!wanted.empty()) {
        cuda::policies finder(on.devices, gpus.kernels(), r.run.memory_bytes, r.run.threads,
                              cuda::path_reads_of(r.run.how));
        std::vector<cuda::policies::found> found = finder.find(wanted, by.seed(), r.options.cancel);
        for (std::size_t i = 0; i < of.size(); ++i) {
            if (found[i].by) of[i]->of.set_policy(std::move(*found[i].by));
            if (found[i].failure)
                of[i]->of.add_remark("no GPU found its policy: " + found[i].failure->message());
            if (!found[i].why_left.empty()) left[found[i].why_left].insert(&of[i]->trade);
        }
        r.facts_of_policies = finder.facts();
    }
    for (const auto& [why, trades] : left) add_left(r.left_to_processor, {"policies", trades.size(), why});
}

// Finds policies, on GPUs if possible, and plans the trades to follow them.
void find_policies(planned_run& r, const resources& with, gpus_of_run& on, const sources& from,
                   progress_reporter& reporter) {
    const timings::during finding(r.options.times, stage::policies);
    const std::vector<books::trade>& trades = r.book.trades;
    const scenarios_of_markets scenarios(r.in);
    const policy_search by{
        r.run, r.operations, with.shapes(), r.options.cancel, r.wants_bounds, from, &r.policies,
        r.options.keep_policies || r.policies.keeps,
        // Parts with policies of their own fit values less the martingale that also gives the bound.
        r.wants_bounds || r.options.keep_policies || r.run.fits != exercise::fitting::usual};
    std::vector<right_in_run> all;
    for (std::size_t k = 0; k < r.plans.size(); ++k) {
        const books::trade& t = trades[k % trades.size()];
        const std::size_t m = k / trades.size();
        if (!r.plans[k].failure && plan::has_rights(t))
            all.push_back({policy_of_trade(t, state_of(r.in[m]), by), r.plans[k], t, scenarios.first[m]});
    }
    if (all.empty()) return;
    std::atomic<std::size_t> done = 0;
    reporter.now.policies = all.size();
    const auto tell = [&] {
        reporter.now.policies_done = done;
        reporter.report();
    };
    const auto for_each = [&](int threads, const std::function<void(right_in_run&)>& of) {
        threads::for_each(
            all.size(), threads, r.options.cancel, [&](int, std::uint64_t i) { all[i].do_step(of); },
            reporter.is_wanted() ? tell : std::function<void()>());
    };
    kept::work* const work = r.options.work.get();
    for_each(r.run.threads, [&](right_in_run& one) {
        one.of.prepare();
        if (work != nullptr) one.of.take_known(*work);
    });
    find_on_gpus(all, r, by, with.gpus(), on);
    // Trades are trained side by side; the threads of one training wait for each other.
    const int side_by_side =
        static_cast<int>(std::min<std::size_t>(all.size(), static_cast<std::size_t>(r.run.threads)));
    for_each(side_by_side, [&](right_in_run& one) {
        one.of.find(std::max(1, r.run.threads / side_by_side));
        if (work != nullptr) one.of.keep_in(*work);
        ++done;
    });
    done = all.size();  // counts failed trades, too
    tell();
    for_each(r.run.threads,
             [&](right_in_run& one) { follow(one.plan, one.trade, one.of, by, one.first_scenario); });
}

}  // namespace

namespace studies {

namespace {

// Hashes large files on a thread beside the walk. The future is invalid if there are none.
std::future<std::vector<input_file>> hash_beside(const planned_run& r,
                                                 const std::vector<file_of_setting>& named) {
    const auto has_scenarios = [](const market& m) { return !state_of(m).scenarios.empty(); };
    if (named.empty() && std::ranges::none_of(r.in, has_scenarios)) return {};
    return threads::beside([&r, &named] {
        for (const market& m : r.in)
            for (const markets::scenario_array& a : state_of(m).scenarios) a.hash.wait();
        return fingerprints_of(named);
    });
}

// How a run walks: prices, the samples that are compared with double, and bounds.
struct all_walkers {
    walkers of_prices, of_bounds;
    cpu_maker of_shadows;
};

std::vector<priced_book> walked_and_told(planned_run r, const all_walkers& by, progress_reporter& reporter) {
    const std::vector<file_of_setting> named = files_named_by(r.run.said);
    std::future<std::vector<input_file>> hashing = hash_beside(r, named);
    const auto planned_at = clock::now();
    const std::optional<arrays::shock_file> file = replayed_in(r.run);
    const scenarios_of_markets scenarios(r.in);
    const run::walk all{.jobs = {},
                        .seed = r.run.seed,
                        .paths = r.run.paths,
                        .unit_paths = r.run.unit_paths,
                        .points = r.run.points,
                        .replay = file ? &*file : nullptr,
                        .scenarios = scenarios.cubes,
                        .cancel = r.options.cancel,
                        .times = r.options.times,
                        .on_progress = {}};
    std::vector<std::uint64_t> path_steps;  // by market
    for (std::size_t m = 0; m < r.in.size(); ++m) path_steps.push_back(path_steps_of(r, m));
    run_manifest manifest;
    manifest.left_to_processor = r.left_to_processor;
    reporter.now.path_steps += path_steps_of_bounds(r);
    const known_tallies known = known_tallies_of(r);
    tell_costs(r);
    book_walk walk(r.plans, r.run, all, reporter, known);
    walk.take_known();
    walk.walk(by.of_prices, manifest);
    add_kernels(r.facts_of_policies, manifest);
    walk.take_shadows(r.operations, by.of_shadows);
    const auto walked_at = clock::now();

    manifest.started = r.started;
    manifest.plan_seconds = seconds(planned_at - r.begin).count();
    manifest.path_seconds = seconds(walked_at - planned_at).count();
    std::vector<std::optional<walked_trade>> walked = walk.take_walked();
    std::vector<found_bound> bounds = walk_bounds(r, all, by.of_bounds, known, reporter);
    nest_bounds(r, reporter, bounds);
    gpus_of_run& gpus = by.of_prices.on;
    if (gpus.are_open()) {
        const std::vector<std::string>& lost = gpus.get().lost;
        manifest.lost_devices.insert(manifest.lost_devices.begin(), lost.begin(), lost.end());
        if (!gpus.get().devices.empty()) tell_of_nested_bounds(r, manifest.left_to_processor);
    }
    const std::vector<std::string> flaws = flaws_of(r, walked, all);
    std::vector<priced_book> made(r.in.size());
    const std::vector<input_file> hashed = hashing.valid() ? hashing.get() : std::vector<input_file>{};
    for (std::size_t m = 0; m < made.size(); ++m) {
        run_manifest& of = made[m].result.manifest;
        of = manifest;
        of.path_steps = path_steps[m];
        for (std::size_t i = 0; i < r.book.trades.size(); ++i)
            of.path_steps_on_gpus += walk.steps_on_gpus(m * r.book.trades.size() + i);
        add_rows(r, m, walked, bounds, flaws, hash_of_file(hashed, r.run.replay), made[m]);
        if (r.options.keep_policies) made[m].result.policies = policies_of(r, m);
        describe_run(r.run, r.operations.name, r.book, r.in[m], hashed, of);
        of.market_changes = r.in[m].changes();
        of.missing_correlations = std::move(r.missing_correlations[m]);
        of.total_seconds = seconds(clock::now() - r.begin).count();
    }
    return made;
}

}  // namespace

void add_answers(results& to, const resources& with, const book& trades, const market& in,
                 const inner_options& options) {
    const timings::during answering(options.times, stage::answers);
    const auto begin = clock::now();
    const books::book_state& state = state_of(trades);
    inner_options quietly = options;
    quietly.on_progress = {};
    if (options.work && !options.work->has_all()) {
        // A process with a share of the work lacks prices that searches need; the merging process searches.
        if (options.work->may_walk()) return;
        quietly.work = nullptr;
    }
    // Only prices are walked in rounds; the searches take the paths of the first round.
    const settled run = settle(options, state, {&in, 1});
    answers::add(to.rows, state.trades, state_of(in), [&](const std::vector<books::trade>& changed) {
        auto asked = std::make_shared<books::book_state>();
        asked->name = state.name;
        asked->settings = state.settings;
        asked->trades = changed;
        round_of_study round{with_state<book>(std::move(asked)), quietly};
        if (run.accuracy) round = of_round(round.trades, quietly, run, {run.paths, run.seed});
        results got = price_book(with, round.trades, in, round.options).result;
        count_steps(to.manifest, got.manifest);
        to.manifest.plan_seconds += got.manifest.plan_seconds;
        to.manifest.path_seconds += got.manifest.path_seconds;
        return got;
    });
    to.manifest.total_seconds += seconds(clock::now() - begin).count();
}

}  // namespace studies

results engine::price(const book& trades, const run_options& options) const {
    return price(trades, market_of(trades), options);
}

results engine::price(const book& trades, const market& in, const run_options& options) const {
    return std::move(price(trades, std::span(&in, 1), options).front());
}

std::vector<results> engine::price(const book& trades, std::span<const market> in,
                                   const run_options& options) const {
    return studies::prices_as_asked(resources(*state_), trades, in, {options});
}

std::vector<results> studies::prices_as_asked(const resources& with, const book& trades,
                                              std::span<const market> in, const inner_options& options) {
    const asked_of_study asked =
        asked_of(in.size() > 1 ? study::price_in_markets : study::price, trades, options);
    const with_journal kept(asked.trades, in, {}, asked.options);
    std::vector<results> out;
    for (priced_book& made : price_book(with, asked.trades, in, kept.options()))
        out.push_back(std::move(made.result));
    for (std::size_t m = 0; m < in.size(); ++m)
        add_answers(out[m], with, asked.trades, in[m], kept.options());
    for (results& r : out) kept.finish(r.manifest);
    return out;
}

namespace {

// Walks some trades with the same decisions. The first round alone reports how policies were found.
std::vector<priced_book> walked_round(planned_run& r, std::span<const std::size_t> some,
                                      const walk_of_round& round, const all_walkers& by,
                                      progress_reporter& reporter) {
    const settled run = round_of(r.run, round);
    books::book_state of = r.book;
    of.trades.clear();
    for (const std::size_t i : some) of.trades.push_back(r.book.trades[i]);
    std::vector<planned> plans;
    for (std::size_t m = 0; m < r.in.size(); ++m)
        for (const std::size_t i : some) plans.push_back(r.plans[m * r.book.trades.size() + i]);
    return walked_and_told(
        {run, r.operations, of, r.in, r.options, r.begin, r.started, std::move(plans), r.missing_correlations,
         r.wants_bounds, r.policies, std::exchange(r.facts_of_policies, {})},
        by, reporter);
}

// Walks all trades, then, in rounds, those that need more paths, by the same programs and kernels.
std::vector<priced_book> priced_as_asked(planned_run r, all_walkers by, progress_reporter& reporter) {
    if (!r.run.accuracy && !r.run.takes_decided_paths) return walked_and_told(std::move(r), by, reporter);
    ready_on_gpus first_of_bounds;
    by.of_bounds.keeps = &first_of_bounds;
    const round_of_paths walk = [&](std::span<const std::size_t> some, std::uint64_t paths,
                                    std::uint64_t seed) {
        return walked_round(r, some, {paths, seed}, by, reporter);
    };
    const std::vector<std::uint64_t> steps = steps_of_paths(r);
    return walked_in_rounds({r.run, r.book.trades, r.in, steps, r.begin}, walk, reporter);
}

// A guess at the time of walking all on the processor.
double seconds_on_processor(const planned_run& r) {
    double operations = 0;
    for (const planned& p : r.plans)
        if (p.needs_paths()) operations += run::operations_of(p.price_job());
    return operations * static_cast<double>(r.run.paths) / r.run.threads / run::typical_operations_a_second;
}

void decide_by_pilots(planned_run& r, const resources& with, const stages& by, const sources& from,
                      const progress_reporter& reporter) {
    const pilot_of_controls pilots{r.run, r.operations, r.options.cancel, by.controls.jumps, &with.passed()};
    rewriter(pilots, from, with.shapes(), r.in, by.controls)
        .rewrite(r.book.trades, r.plans, reporter, r.options.times);
    choose_points(r, from, reporter);
}

}  // namespace

priced_book price_book(const resources& with, const book& trades, const market& in,
                       const inner_options& options, const stages& by) {
    return std::move(price_book(with, trades, std::span(&in, 1), options, by).front());
}

std::vector<priced_book> price_book(const resources& with, const book& trades, std::span<const market> in,
                                    const inner_options& options, const stages& by) {
    const auto begin = clock::now();
    settled run = settle(options, state_of(trades), in);
    if (by.part) run = part_of(std::move(run), *by.part);
    replayed_in(run);  // throws if the file is missing
    check_size(trades.size(), in.size());
    progress_reporter reporter(options);
    reporter.now.trades = trades.size() * in.size();
    planned_run planned{run, with.operations(), state_of(trades), in, options, begin, utc_now(), {},
                        {},  by.wants_bounds,   by.policies};
    const bool may_walk = !options.work || options.work->may_walk();
    gpus_of_run on(with.gpus(), run.device, may_walk, options.times);
    const taken_threads threads(with, run.threads);
    const sources from(run, options.work.get(), by.held);
    if (by.ready.empty()) {
        plan_all(planned, with, by, threads.crew(), reporter);
        if (run.device == "auto") on.begin_for(seconds_on_processor(planned));
        find_policies(planned, with, on, from, reporter);
        if (by.decide)
            by.decide(planned, threads.crew(), reporter);
        else
            decide_by_pilots(planned, with, by, from, reporter);
    } else {
        take_plans(planned, by.ready);  // already rewritten
        choose_points(planned, from, reporter);
    }
    if (by.see_plans) by.see_plans(planned);
    if (by.wants_quarters) tally_quarters(planned.plans, run, options.cancel);
    if (by.add_ways_back) by.add_ways_back(planned);
    const taken_gpu_run on_gpus(with, run);
    if (!on.are_open() && run.device != "auto") {
        const timings::during packing(options.times, stage::packing);
        seat_ahead(planned.plans, run, on_gpus.get());
    }
    const cpu_maker own = [&](const cpu::lane_operations&, int, program::precision p) {
        return threads.back_end(p);
    };
    const walkers of_prices{
        with.gpus(), on, planned.operations, by.on_cpu ? by.on_cpu : own, &on_gpus.get(), by.way_back_on_gpu};
    walkers of_bounds = of_prices;
    of_bounds.keeps = nullptr;
    of_bounds.way_back = {};
    return priced_as_asked(std::move(planned), {of_prices, of_bounds, own}, reporter);
}

}  // namespace tilewalk
