// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/pilot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/decide/seeds.h"
#include "engine/decide/sources.h"
#include "engine/walk/cpu/lane_machine.h"
#include "kernels/tile.h"

namespace tilewalk::studies {

namespace {

using quasi::construction;

// Limit on blocks of 256 paths for each construction. Over the suite `convergence`, choices have 81 % of the
// best construction's efficiency with 4 blocks, 84 % with 6, and 85 % with 8 or 16; runs by randomisations of
// 64 or 128 points have less with few blocks (bench/results/2026-11-26-AMD-EPYC-pilots.txt).
constexpr std::uint64_t most_blocks = 8;

// A construction, and its time per path over that of independent numbers. Of equals the first is preferred.
// Times lie halfway between those of an Asian on an H100 in double, whose paths cost least (1.7 by steps, 1.9
// by a bridge, 3.1 by principal components, 1.4 by a coarse bridge;
// bench/results/2026-11-26-NVIDIA-H100-80GB-HBM3-bench-convergence-asian.jsonl), and those of models whose
// paths cost more than their numbers. A coarse bridge counts as 1.2 / 0.72: at 131,072 paths it has 0.72 of a
// full bridge's gain (geometric mean of nine trades of more than 32 steps), since independent numbers fill in
// between its dates, which a pilot's few points do not show. Choices are the same on every device.
struct candidate {
    construction how;
    double cost;
};
constexpr std::array candidates{candidate{construction::bridge, 1.5}, candidate{construction::principal, 2.0},
                                candidate{construction::coarse, 1.7}, candidate{construction::steps, 1.3}};

// Gain below which independent numbers are kept. By chance, points without any gain show this gain once in 8
// times from 64 randomisations with normal means, once in 4 from 32 (chi-squared), and the run takes longer
// for nothing. The reverse may cost an error ten times as large: for a difference of two options the pilot
// showed 1.3, and the run gained 120 times.
constexpr double least_gain = 1.25;

// Time of a path over that by independent numbers. worth_of extrapolates the gain at 32 points: it assumes
// that the variance falls as a power of the number of points.
double cost_of(construction how) {
    return std::ranges::find(candidates, how, &candidate::how)->cost;
}
double power_of(double points) {
    return std::log2(points) / std::log2(double{cpu::few_points});
}
double worth_of(construction how, double gain, double points) {
    return std::pow(gain, power_of(points)) / cost_of(how);
}

// Returns the gain in time by which a payoff is compared with what a control leaves of it. Gains of smooth
// payoffs grow half as fast beyond 32 points as worth_of promises. On 17 trades of the suite `convergence`
// and 299 others, with 131,072 paths, choices by this have 1.4 and 1.24 times the efficiency of choices by
// worth_of. The rule was fitted to these trades (bench/results/2026-11-27-AMD-EPYC-pilots-of-controls.txt).
double modest_worth_of(construction how, double gain, double points) {
    return std::pow(gain, 1 + (power_of(points) - 1) / 2) / cost_of(how);
}

}  // namespace

std::uint64_t paths_of_construction(std::size_t constructions, std::uint64_t paths) {
    return std::min(paths / cpu::lanes / constructions, most_blocks) * cpu::lanes;
}

constructions_to_try constructions_for(const run::job& of, const settled& run, std::uint64_t paths) {
    const std::uint64_t blocks = paths / cpu::lanes;
    constructions_to_try out;
    quasi::order_maker maker;
    for (const candidate& c : candidates) {
        if (out.orders.size() == blocks) break;
        if (!run.chooses_construction && c.how != run.asked_points.construction) continue;
        quasi::order made = maker.made_for(*of.code, *of.data, *of.when, {c.how});
        const bool is_same = std::ranges::any_of(
            out.orders, [&](const quasi::order& before) { return made.makes_the_numbers_of(before); });
        if (is_same) continue;
        out.orders.push_back(std::move(made));
        out.names.push_back(c.how);
    }
    if (!out.orders.empty()) out.paths_of_each = paths_of_construction(out.orders.size(), paths);
    return out;
}

double variance(std::span<const double> of) {
    double mean = 0, squares = 0;
    for (const double x : of) mean += x;
    mean /= static_cast<double>(of.size());
    for (const double x : of) squares += (x - mean) * (x - mean);
    return squares / static_cast<double>(of.size() - 1);
}

std::optional<double> gain_of_points(std::span<const double> payoffs) {
    std::vector<double> means;
    for (std::size_t first = 0; first < payoffs.size(); first += cpu::few_points) {
        double sum = 0;
        for (const double x : payoffs.subspan(first, cpu::few_points)) sum += x;
        means.push_back(sum / cpu::few_points);
    }
    const double paths = variance(payoffs) / cpu::few_points, points = variance(means);
    if (!std::isfinite(paths) || !(paths > 0)) return std::nullopt;
    constexpr double most = 1e6;
    return points * most > paths ? paths / points : most;
}

chosen_points best_of(std::vector<tried_construction> tried, std::uint64_t pilot_paths, const settled& run) {
    chosen_points out{run.asked_points};
    double best = 0;
    for (const tried_construction& one : tried) {
        const double worth = worth_of(one.how, one.fewer_paths, static_cast<double>(run.unit_paths));
        if (!(worth > best)) continue;
        best = worth;
        out.points.construction = one.how;
        out.are_worth_it = one.fewer_paths > least_gain && worth > 1;
        out.less_time = modest_worth_of(one.how, one.fewer_paths, static_cast<double>(run.unit_paths));
    }
    out.pilot_paths = pilot_paths;
    out.tried = std::move(tried);
    if (run.chooses_source && !out.are_worth_it) out.less_time = 1;
    return out;
}

chosen_points points_by(const tried_construction& one, std::uint64_t pilot_paths, const settled& run) {
    chosen_points out{run.asked_points, true, pilot_paths, {one}};
    out.points.construction = one.how;
    out.less_time = modest_worth_of(one.how, one.fewer_paths, static_cast<double>(run.unit_paths));
    return out;
}

std::string evidence(const chosen_points& of) {
    if (of.tried.empty()) return "no pilot was walked";
    std::string out = fmt::format("{} pilot paths:", of.pilot_paths);
    std::string fewer, more;
    for (const tried_construction& one : of.tried) {
        const bool is_better = one.fewer_paths >= 1;
        std::string& to = is_better ? fewer : more;
        to += fmt::format("{} {} {:.3g}", to.empty() ? "" : ",", quasi::name_of(one.how),
                          is_better ? one.fewer_paths : 1 / one.fewer_paths);
    }
    if (!fewer.empty()) out += fewer + " times fewer paths";
    if (!more.empty()) out += (fewer.empty() ? "" : ",") + more + " times more paths";
    return out + fmt::format(" in randomisations of {} points", cpu::few_points);
}

std::vector<double> pilot_of_points::payoffs(const run::job& of, const quasi::order* points,
                                             std::uint64_t paths,
                                             std::span<const arrays::shock_cube> scenarios,
                                             const std::atomic<bool>* cancel) {
    const auto code = compiled_.code_of(*of.code);
    cpu::lane_machine machine(operations_);
    std::vector<double> found(code->outputs.size() * kernels::paths_per_tile), out;
    cpu::path_job job;
    job.code = code.get();
    job.data = of.data;
    job.when = of.when;
    job.seed = decide::seed_for(run_.seed, decide::purpose::points);
    job.paths = paths;
    job.scenarios = scenarios;
    if (points != nullptr) job.points = {points, cpu::few_points};
    for (std::uint64_t first = 0; first < job.paths; first += cpu::lanes) {
        machine.walk_paths(job, first, found.data(), cancel);
        out.insert(out.end(), found.begin(), found.begin() + cpu::lanes);
    }
    return out;
}

double pilot_of_points::variance_left(const run::job& of, const std::atomic<bool>* cancel) {
    const std::uint64_t paths =
        std::clamp(run_.paths_of_pilot() / cpu::lanes, std::uint64_t{1}, most_blocks) * cpu::lanes;
    if (run_.unit_paths == 0) return variance(payoffs(of, nullptr, paths, {}, cancel));
    const construction how =
        run_.chooses_construction ? construction::bridge : run_.asked_points.construction;
    const quasi::order order = quasi::order_maker().made_for(*of.code, *of.data, *of.when, {how});
    const std::vector<double> found = payoffs(of, &order, paths, {}, cancel);
    const double gain = std::max(gain_of_points(found).value_or(1), 1.0);
    return variance(found) / modest_worth_of(how, gain, static_cast<double>(run_.unit_paths));
}

chosen_points pilot_of_points::choose(const run::job& of, std::span<const arrays::shock_cube> scenarios,
                                      const std::atomic<bool>* cancel) {
    const chosen_points undecided{run_.asked_points};
    const constructions_to_try all = constructions_for(of, run_, run_.paths_of_pilot());
    if (all.orders.empty() || (all.orders.size() == 1 && !run_.chooses_source)) return undecided;
    std::vector<tried_construction> tried;
    for (std::size_t k = 0; k < all.orders.size(); ++k) {
        const std::optional<double> gain =
            gain_of_points(payoffs(of, &all.orders[k], all.paths_of_each, scenarios, cancel));
        if (!gain) return undecided;
        tried.push_back({all.names[k], *gain});
    }
    const std::uint64_t pilot_paths = all.paths_of_each * tried.size();
    return best_of(std::move(tried), pilot_paths, run_);
}

void choose_points(std::span<const books::trade> trades, std::span<planned> plans, const open_choices& of) {
    const settled& run = of.run;
    if (!run.chooses_source && !run.chooses_construction) return;
    pilot_of_points by(of.operations, run);
    const auto points_of_trade = [&](std::size_t i, const planned& first) {
        if (const decide::decided known = of.from.known(trades[i].id); known.points) return *known.points;
        const run::job job = first.price_job();
        return of.from.points(job, [&] { return by.choose(job, of.scenarios, of.cancel); }).taken_in(run);
    };
    const auto decide = [&](int, std::uint64_t i) {
        std::vector<planned*> markets;
        for (std::size_t k = i; k < plans.size(); k += trades.size())
            if (plans[k].needs_paths()) markets.push_back(&plans[k]);
        if (markets.empty() || markets.front()->has_points_chosen) return;
        try {
            const std::optional<quasi::points> points = points_of_trade(i, *markets.front());
            for (planned* const p : markets) p->points = points;
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            for (planned* const p : markets) p->failure = at_trade(trades[i], e);
        }
    };
    threads::for_each(trades.size(), run.threads, of.cancel, decide, of.watch);
}

}  // namespace tilewalk::studies
