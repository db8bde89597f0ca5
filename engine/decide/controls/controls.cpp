// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/controls/controls.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/decide/controls/control.h"
#include "engine/decide/controls/moving_controls.h"
#include "engine/decide/controls/written.h"
#include "engine/decide/exercise/training.h"
#include "engine/decide/seeds.h"
#include "engine/decide/sources.h"
#include "engine/walk/cpu/lane_machine.h"
#include "kernels/math.h"
#include "kernels/philox.h"
#include "kernels/shocks.h"
#include "kernels/tile.h"
#include "products/program/jumps.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

namespace {

constexpr std::uint64_t most_paths_of_pilot = 2048;

plan::trade_program planned_with(plan::controller* adds, const subject_of_control& of,
                                 const markets::market_state& in, const pilot_of_controls& by,
                                 program::precision precision, std::uint32_t first_scenario = 0) {
    const plan::poll often = poll_of(by.cancel);
    plan::trade_program made =
        of.policy != nullptr ? exercise::following_plan(of.trade, in, *of.policy, precision, often, adds)
                             : plan::plan_trade(of.trade, in, precision, {}, often, nullptr, adds, by.known);
    for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
    return made;
}

}  // namespace

subject_of_control subject_of(const books::trade& t, const planned& p) {
    return {t, p.rights ? p.rights->policy.get() : nullptr};
}

std::uint64_t pilot_of_controls::paths() const {
    return std::min(run.paths_of_pilot(), most_paths_of_pilot) / cpu::lanes * cpu::lanes;
}

sums_on_pilot::sums_on_pilot(const subject_of_control& of, const markets::market_state& in,
                             const pilot_of_controls& by, std::vector<arrays::shock_cube> scenarios)
    : by_(by),
      scenarios_(std::move(scenarios)),
      made_(planned_with(&adds_, of, in, by, program::precision::double_)) {
    if (!has_sums()) return;
    code_ = cpu::compile(made_.code);
    jumps_ = program::jumps_of(made_.code, made_.data, made_.when);
}

void sums_on_pilot::walk(cpu::path_job job, controls::pilot_paths& to, std::uint64_t first) const {
    to.sums.resize(adds_.basis().size());
    to.ratios.resize(adds_.ratios());
    job.code = &code_;
    job.when = &made_.when;
    job.scenarios = scenarios_;
    cpu::lane_machine machine(by_.operations);
    std::vector<double> found(code_.outputs.size() * kernels::paths_per_tile);
    for (; first < job.paths; first += cpu::lanes) {
        machine.walk_paths(job, first, found.data(), by_.cancel);
        const auto add = [&](std::vector<double>& all, std::size_t output) {
            const double* const begin = found.data() + output * kernels::paths_per_tile;
            all.insert(all.end(), begin, begin + cpu::lanes);
        };
        add(to.payoffs, 0);
        for (std::size_t k = 0; k < to.sums.size(); ++k) add(to.sums[k], k + 1);
        for (std::size_t k = 0; k < to.ratios.size(); ++k) add(to.ratios[k], k + 1 + to.sums.size());
    }
}

std::size_t sums_on_pilot::jumps_of_a_path() const {
    std::size_t out = 0;
    for (std::size_t step = 0; step < made_.when.steps(); ++step)
        for (const program::event& e : made_.when.events_after(step))
            out += static_cast<std::size_t>(std::ranges::count(jumps_, e.section, &program::jump::section));
    return out;
}

controls::pilot_paths sums_on_pilot::walked_along(const controls::weights& way,
                                                  std::span<const double> times) const {
    const auto slots = static_cast<std::size_t>(made_.code.normals_per_step);
    const std::size_t steps = made_.when.steps();
    std::vector<double> normals(steps * slots * times.size(), 0.0);
    for (std::size_t s = 0; s < steps; ++s)
        for (std::size_t j = 0; j < std::min(slots, way.size()); ++j)
            for (std::size_t p = 0; p < times.size(); ++p)
                normals[(s * slots + j) * times.size() + p] = times[p] * way[j][s];
    cpu::path_job job;
    job.data = &made_.data;
    job.seed = decide::seed_for(by_.run.seed, decide::purpose::controls);
    job.paths = times.size();
    job.normals = {normals.data(), slots * times.size(), times.size(), steps, slots, times.size()};
    controls::pilot_paths out;
    walk(job, out);
    return out;
}

controls::pilot_paths sums_on_pilot::walked_far_out() const {
    constexpr std::size_t paths = cpu::lanes;
    const std::size_t steps = made_.when.steps();
    const auto slots = static_cast<std::size_t>(made_.code.normals_per_step),
               of_uniforms = static_cast<std::size_t>(made_.code.uniforms_per_step);
    std::vector<double> normals(steps * slots * paths), uniforms(steps * of_uniforms * paths);
    const std::uint64_t seed = decide::seed_for(by_.run.seed, decide::purpose::controls);
    const auto drawn = [&](std::uint64_t path, std::uint32_t number) {
        return kernels::uniforms_of_block(
                   kernels::path_block(seed, path, number, kernels::shift_stream, {0x66617220u, 0x6f7574u}))
            .first;
    };
    for (std::size_t p = 0; p < paths; ++p) {
        const std::size_t way = p % ways_far_out;
        const auto rare_step = static_cast<std::size_t>(drawn(p, 0) * static_cast<double>(steps));
        std::uint32_t number = 0;
        for (std::size_t s = 0; s < steps; ++s) {
            for (std::size_t j = 0; j < slots; ++j)
                normals[(s * slots + j) * paths + p] =
                    kernels::norm_inv(drawn(p, ++number)) * (way == 2   ? 2
                                                             : way == 3 ? 4
                                                                        : 1);
            for (std::size_t j = 0; j < of_uniforms; ++j) {
                constexpr double rarest = 1e-10;
                const double u = drawn(p, ++number), rare = std::pow(rarest, u);
                uniforms[(s * of_uniforms + j) * paths + p] = way >= 2 || s != rare_step ? u
                                                              : way == 0                 ? rare
                                                                                         : 1 - rare;
            }
        }
    }
    cpu::path_job job;
    job.data = &made_.data;
    job.seed = seed;
    job.paths = paths;
    if (slots > 0) job.normals = {normals.data(), slots * paths, paths, steps, slots, paths};
    if (of_uniforms > 0)
        job.uniforms = {uniforms.data(), of_uniforms * paths, paths, steps, of_uniforms, paths};
    controls::pilot_paths out;
    walk(job, out);
    return out;
}

controls::pilot_paths sums_on_pilot::walked(std::uint64_t paths, const program::path_data& data) const {
    cpu::path_job job;
    job.data = &data;
    job.seed = decide::seed_for(by_.run.seed, decide::purpose::controls);
    job.paths = paths;
    controls::pilot_paths out;
    walk(job, out);
    return out;
}

void sums_on_pilot::add_over(const quasi::order& points, std::uint64_t first, std::uint64_t paths,
                             controls::pilot_paths& to) const {
    cpu::path_job job;
    job.data = &made_.data;
    job.seed = decide::seed_for(by_.run.seed, decide::purpose::points);
    job.paths = paths;
    job.points = {&points, cpu::few_points};
    walk(job, to, first);
}

namespace {

void append(const controls::pilot_paths& from, std::size_t first, std::size_t paths,
            controls::pilot_paths& to) {
    to.sums.resize(from.sums.size());
    to.ratios.resize(from.ratios.size());
    const auto add = [&](const std::vector<double>& of, std::vector<double>& behind) {
        const auto some = std::span(of).subspan(first, paths);
        behind.insert(behind.end(), some.begin(), some.end());
    };
    add(from.payoffs, to.payoffs);
    for (std::size_t s = 0; s < to.sums.size(); ++s) add(from.sums[s], to.sums[s]);
    for (std::size_t s = 0; s < to.ratios.size(); ++s) add(from.ratios[s], to.ratios[s]);
}

// The paths of a pilot, by independent numbers or by quasi-random points of each construction on trial.
struct tried_paths {
    controls::pilot_paths all{};
    // Constructions in the order of their paths, by.paths_of_each for each; empty if numbers are independent.
    constructions_to_try by{};

    std::span<const double> of_construction(std::span<const double> payoffs, std::size_t k) const {
        return payoffs.subspan(k * by.paths_of_each, by.paths_of_each);
    }
    controls::pilot_paths fitted_to() const {
        if (by.orders.empty()) return all;
        const std::uint64_t of_each =
            std::min(most_paths_of_pilot / by.orders.size() / cpu::lanes * cpu::lanes, by.paths_of_each);
        controls::pilot_paths out;
        for (std::size_t k = 0; k < by.orders.size(); ++k) append(all, k * by.paths_of_each, of_each, out);
        return out;
    }
    // Walks the paths reserved to search for a jump, so that trades without a search choose points as usual.
    void walk_rest(const sums_on_pilot& pilot, std::uint64_t paths) {
        if (by.orders.empty()) return;
        const std::uint64_t of_each = paths_of_construction(by.orders.size(), paths);
        controls::pilot_paths wider;
        for (std::size_t k = 0; k < by.orders.size(); ++k) {
            append(all, k * by.paths_of_each, by.paths_of_each, wider);
            pilot.add_over(by.orders[k], by.paths_of_each, of_each, wider);
        }
        all = std::move(wider);
        by.paths_of_each = of_each;
    }
    // Chooses points by payoffs, or by what a control leaves of payoffs.
    std::optional<chosen_points> points_for(std::span<const double> payoffs, const settled& run) const {
        std::vector<tried_construction> tried;
        for (std::size_t k = 0; k < by.orders.size(); ++k) {
            const std::optional<double> gain = gain_of_points(of_construction(payoffs, k));
            if (!gain) return std::nullopt;
            tried.push_back({by.names[k], *gain});
        }
        return best_of(std::move(tried), payoffs.size(), run);
    }
    std::optional<chosen_points> points_by(quasi::construction how, std::span<const double> payoffs,
                                           const settled& run) const {
        const auto k = static_cast<std::size_t>(std::ranges::find(by.names, how) - by.names.begin());
        const std::optional<double> gain = gain_of_points(of_construction(payoffs, k));
        if (!gain) return std::nullopt;
        return studies::points_by({how, *gain}, payoffs.size(), run);
    }
};

// Plans the trade again, without the sums that the pilot's program adds: the construction by principal
// components must fit the trade's own moves.
constructions_to_try constructions_of(const subject_of_control& of, const markets::market_state& in,
                                      const sums_on_pilot& pilot, const pilot_of_controls& by,
                                      std::uint64_t paths) {
    if (!by.run.finds_points_with_controls()) return {};
    if (pilot.plan().code.normals_per_step < 2) return constructions_for(pilot.job(), by.run, paths);
    const plan::trade_program plain = planned_with(nullptr, of, in, by, program::precision::double_);
    return constructions_for({&plain.code, &plain.data, &plain.when}, by.run, paths);
}

tried_paths walked_by(const sums_on_pilot& pilot, std::uint64_t paths, constructions_to_try constructions) {
    tried_paths out;
    out.by = std::move(constructions);
    for (const quasi::order& o : out.by.orders) pilot.add_over(o, 0, out.by.paths_of_each, out.all);
    if (out.by.orders.empty())
        out.all = pilot.walked(std::min(paths / cpu::lanes * cpu::lanes, most_paths_of_pilot));
    return out;
}

// Looks for a payoff's jump along a control's sum, on paths whose normals are multiples of one direction.
class search_of_jumps {
  public:
    search_of_jumps(const controls::control& of, const sums_on_pilot& pilot)
        : pilot_(pilot), law_(pilot.law().of_sum(of.of_moves)), way_(pilot.law().of_normals(of.of_moves)) {}

    // Moves the control's jump number `jump` to where payoffs jump. Leaves it if payoffs do not jump near its
    // place among the sums of `fitted_to`.
    void place(std::size_t jump, const controls::pilot_paths& fitted_to, controls::control& of) const {
        controls::knot& at = of.knots[jump];
        controls::control others = of;
        others.knots[jump].jump = 0;
        auto [low, high] = about(kernels::log(at.at), controls::sum_on(of, fitted_to));
        for (int block = 0; block < blocks; ++block) {
            const std::vector<double> sums = between(low, high);
            const controls::pilot_paths found = pilot_.walked_along(way_, normals_for(sums));
            if (!are_near(controls::sum_on(of, found), sums)) return;  // other numbers move the sum, too
            const std::vector<double> left = controls::left_by(others, found);
            std::size_t most = 0;
            for (std::size_t p = 1; p + 1 < left.size(); ++p)
                if (step(left, p) * at.jump > step(left, most) * at.jump) most = p;
            if (!(step(left, most) * at.jump > least_share_of_jump * at.jump * at.jump)) return;
            low = sums[most];
            high = sums[most + 1];
        }
        at.at = kernels::exp(0.5 * (low + high));
        // Width in standard deviations times the greatest value of a normal density, 0.4, bounds the share.
        at.share_between = 0.4 * (high - low) / law_.deviation;
    }

    static constexpr int blocks = 3;
    static constexpr std::uint64_t paths_of_jump = blocks * cpu::lanes;

  private:
    static constexpr double least_share_of_jump = 0.5;

    static double step(const std::vector<double>& of, std::size_t p) { return of[p + 1] - of[p]; }
    static std::pair<double, double> about(double sum, std::vector<double> sums) {
        constexpr std::ptrdiff_t reach = 4;
        std::ranges::sort(sums);
        const std::ptrdiff_t at = std::ranges::lower_bound(sums, sum) - sums.begin();
        const std::ptrdiff_t last = std::ssize(sums) - 1;
        const auto nth = [&](std::ptrdiff_t k) {
            return sums[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(k, 0, last))];
        };
        return {nth(at - reach), nth(at + reach)};
    }
    static std::vector<double> between(double low, double high) {
        std::vector<double> out;
        for (int p = 0; p < cpu::lanes; ++p) out.push_back(low + (high - low) * p / (cpu::lanes - 1));
        return out;
    }
    std::vector<double> normals_for(const std::vector<double>& sums) const {
        std::vector<double> out;
        for (const double s : sums) out.push_back((s - law_.mean) / (law_.deviation * law_.deviation));
        return out;
    }
    bool are_near(const std::vector<double>& found, const std::vector<double>& wanted) const {
        constexpr double rounding = 1e-12;
        for (std::size_t p = 0; p < found.size(); ++p)
            if (!(std::abs(found[p] - wanted[p]) <= rounding * (std::abs(wanted[p]) + law_.deviation)))
                return false;
        return true;
    }

    const sums_on_pilot& pilot_;
    controls::normal_law law_;
    controls::weights way_;
};

// True if the control may jump, a path looks once for a jump of the payoff, and the search for its place
// leaves most of the pilot's paths for the fit.
bool has_paths_for_a_jump(const sums_on_pilot& pilot, const pilot_of_controls& by) {
    return by.jumps != jumps_of_controls::none && pilot.jumps_of_a_path() == 1 &&
           4 * search_of_jumps::paths_of_jump <= by.run.paths_of_pilot();
}

void place_jumps(const sums_on_pilot& pilot, const controls::pilot_paths& fitted_to, controls::control& of) {
    const search_of_jumps search(of, pilot);
    // The search has paths for one jump: take the largest.
    const auto largest =
        std::ranges::max_element(of.knots, {}, [](const controls::knot& k) { return std::abs(k.jump); });
    search.place(static_cast<std::size_t>(largest - of.knots.begin()), fitted_to, of);
}

chosen_control fitted_control(const sums_on_pilot& pilot, const controls::pilot_paths& to,
                              const pilot_of_controls& by) {
    const auto fitted = [&](controls::jumps may) { return controls::fit(to, pilot.basis(), may); };
    chosen_control out{fitted(controls::jumps::yes)};
    if (by.jumps == jumps_of_controls::any || !out.what || !out.what->jumps()) return out;
    if (pilot.jumps().empty()) return {fitted(controls::jumps::no), false};
    // A control that gains less has its jumps, or steep slopes in their stead, beside the payoff's jump.
    constexpr double least_gain = 50;
    if (by.jumps == jumps_of_controls::beside_those_of_payoffs && out.what->fewer_paths >= least_gain)
        return out;
    return {std::nullopt, false};
}

double fewer_paths_by(const controls::control& of, const controls::pilot_paths& on) {
    const double all = variance(on.payoffs), n = static_cast<double>(on.payoffs.size());
    double left = variance(controls::left_by(of, on));
    // The fit puts a jump somewhere between two neighbouring pilot paths; the search knows the place better.
    for (const controls::knot& k : of.knots) left += std::min(2 / n, k.share_between) * k.jump * k.jump;
    constexpr double most = controls::control::fewest_paths;
    return left * most > all ? all / left : most;
}

// Returns the root mean square of what a control that leaves rounding leaves in rare events that no pilot
// path met. Takes the first way far out that has any; 0 if none has: the control is the payoff.
double left_far_out_by(const controls::control& of, const controls::pilot_paths& near,
                       const sums_on_pilot& pilot) {
    constexpr double rounding = 1e-6;  // relative to the numbers added up; matches fewest_paths
    const controls::pilot_paths on = pilot.walked_far_out();
    const std::vector<double> left = controls::left_by(of, on), sums = controls::sum_on(of, on);
    const double constant = controls::left_by(of, near).front();
    for (std::size_t way = 0; way < sums_on_pilot::ways_far_out; ++way) {
        double squares = 0, events = 0;
        for (std::size_t p = way; p < left.size(); p += sums_on_pilot::ways_far_out) {
            const double more = left[p] - constant;
            double size = std::abs(on.payoffs[p]) + std::abs(constant) + of.size(sums[p]);
            for (std::size_t k = 0; k < of.on_ratios.size(); ++k)
                size += std::abs(of.on_ratios[k] * on.ratios[k][p]);
            if (!std::isfinite(size) || !(std::abs(more) > rounding * size)) continue;
            squares += more * more;
            events += 1;
        }
        if (events > 0) return std::sqrt(squares / events);
    }
    return 0;
}

// Time of a path with a control over the time without. On an H200 it is 1.27 for a swaption and 0.94 to 1.14
// for other trades, also with 50 normals (bench/results/2026-11-27-NVIDIA-H200-time-of-controls.txt).
constexpr double cost_of_control = 1.1;

// Keeps the control only if it takes less time than points without it. If the run would take those, both have
// the same construction: the run subtracts the share of the control that helps, and loses nothing if the
// pilot promised too much.
void hold_against_points(const tried_paths& found, const settled& run, chosen_control& to) {
    const std::optional<chosen_points> without = found.points_for(found.all.payoffs, run);
    if (!without) return;  // all payoffs are equal, or one is not finite
    if (to.what) {
        chosen_points with{run.asked_points};
        if (!to.what->leaves_rounding()) {
            const std::vector<double> left = controls::left_by(*to.what, found.all);
            const std::optional<chosen_points> of_left =
                without->taken_in(run) ? found.points_by(without->points.construction, left, run)
                                       : found.points_for(left, run);
            with = of_left.value_or(with);
        }
        const double less_time = to.what->fewer_paths / cost_of_control * with.less_time;
        if (less_time > controls::least_gain * without->less_time) {
            to.points = with;
            return;
        }
        to.what.reset();
    }
    to.points = without;
}

// Least fewer_paths of a control for derivatives in a run that takes points. Derivatives subtract the whole
// control, and points may suit the payoff alone better: a control doubles the variance for a basket,
// multiplies it by 4 for a swaption, and leaves it the same for a monthly Asian. A digital whose jump was
// found gains 12 times (bench/results/2026-11-27-AMD-EPYC-controls-of-sensitivities.txt).
constexpr double least_gain_of_derivatives = 1e6;

}  // namespace

chosen_control choose_control(const subject_of_control& of, const markets::market_state& in,
                              const std::vector<arrays::shock_cube>& scenarios, const pilot_of_controls& by) {
    if (!by.is_wanted() || by.paths() == 0) return {};
    const sums_on_pilot pilot(of, in, by, scenarios);
    if (!pilot.has_sums()) return {};
    const bool may_jump = has_paths_for_a_jump(pilot, by);
    const std::uint64_t paths = by.run.paths_of_pilot() - (may_jump ? search_of_jumps::paths_of_jump : 0);
    tried_paths found = walked_by(pilot, paths, constructions_of(of, in, pilot, by, paths));
    const controls::pilot_paths fitted_to = found.fitted_to();
    chosen_control out = fitted_control(pilot, fitted_to, by);
    if (may_jump) {
        if (out.what && out.what->jumps())
            place_jumps(pilot, fitted_to, *out.what);
        else
            found.walk_rest(pilot, by.run.paths_of_pilot());
    }
    if (out.what) out.what->fewer_paths = fewer_paths_by(*out.what, found.all);
    if (out.what && !(out.what->fewer_paths > controls::least_gain)) out.what.reset();
    if (!found.by.orders.empty()) hold_against_points(found, by.run, out);
    if (out.what) {
        const bool takes_points =
            by.run.finds_points_with_controls() && !(out.points && !out.points->taken_in(by.run));
        out.what->has_share = takes_points && !out.what->leaves_rounding();
        if (out.what->has_share && by.is_of_derivatives() &&
            out.what->fewer_paths < least_gain_of_derivatives)
            out = {std::nullopt, false, out.points};
    }
    if (out.what && out.what->leaves_rounding())
        out.what->left_far_out = left_far_out_by(*out.what, fitted_to, pilot);
    return out;
}

chosen_control choose_control_like(const controls::control& other, const subject_of_control& of,
                                   const markets::market_state& in,
                                   const std::vector<arrays::shock_cube>& scenarios,
                                   const pilot_of_controls& by) {
    const sums_on_pilot pilot(of, in, by, scenarios);
    if (!pilot.has_sums()) return {};
    const controls::pilot_paths on = pilot.walked(by.paths());
    chosen_control out{
        controls::fit(on, pilot.basis(), other.jumps() ? controls::jumps::yes : controls::jumps::no, 0)};
    if (out.what && out.what->jumps() && has_paths_for_a_jump(pilot, by)) place_jumps(pilot, on, *out.what);
    if (out.what) out.what->has_share = other.has_share;
    if (out.what && out.what->leaves_rounding())
        out.what->left_far_out = left_far_out_by(*out.what, on, pilot);
    return out;
}

// Sums are in double, payoffs maybe in single. Fast approximations of GPUs are ten times less accurate.
double rounding_in(program::precision p) {
    constexpr double of_sums = 1e-13, of_single = 0x1p-24, of_fast = 1e-6;
    if (program::is_fast(p)) return of_fast;
    return program::real_type(p) == program::number_type::single_ ? of_single : of_sums;
}

std::optional<controlled_plan> plan_with(const controls::control& what, const subject_of_control& of,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario) {
    controls::subtracted adds(what);
    controlled_plan out{planned_with(&adds, of, in, by, by.run.how.precision, first_scenario)};
    if (!adds.fits()) return std::nullopt;
    out.mean = adds.mean();
    out.rounding = rounding_in(by.run.how.precision);
    out.made.remarks.push_back(evidence(what));
    return out;
}

std::shared_ptr<ready_trade> ready_with(const controls::control& what, controlled_plan made,
                                        shape_store& shapes) {
    const double mean = made.mean, rounding = made.rounding;
    auto ready = std::make_shared<ready_trade>(std::move(made.made), shapes);
    ready->control_mean = mean;
    ready->rounding = rounding;
    for (const controls::knot& k : what.knots) {
        ready->control_jumps += std::abs(k.jump);
        ready->hidden_by_control += std::abs(k.jump) * k.share_between;
        if (k.share_between < 1) ready->placed_jumps += std::abs(k.jump);
    }
    return ready;
}

std::string evidence(const controls::control& of) {
    const std::string seen = fmt::format(", on {} pilot paths", of.pilot_paths);
    const std::string begin(controls::begin_of_remark);
    if (of.leaves_rounding())
        return begin + "removes all variance but rounding" + (of.left_far_out > 0 ? " and rare events" : "") +
               seen;
    const double left = 1 / of.fewer_paths;
    return begin +
           fmt::format("with correlation {:.5g} leaves {:.2g} % of the variance", std::sqrt(1 - left),
                       100 * left) +
           seen;
}

chosen_control control_for(const subject_of_control& of, const run::job& plain,
                           const markets::market_state& in, const std::vector<arrays::shock_cube>& scenarios,
                           const pilot_of_controls& by, const sources& from) {
    if (!by.is_wanted()) return {};
    const decide::decided known = from.known(of.trade.id);
    const bool is_apart = by.is_of_derivatives() && known.control_of_derivatives;
    if (const auto& held = is_apart ? known.control_of_derivatives : known.control; held) {
        chosen_control out{.is_that_of_prices = !is_apart};
        if (*held) out.what = **held;
        return out;
    }
    const std::string kind = "control of " + std::to_string(static_cast<int>(by.jumps));
    if (const controls::control* const other = known.control_of_another_day.get())
        return from.control(kind + " like " + controls::written(*other), plain,
                            [&] { return choose_control_like(*other, of, in, scenarios, by); });
    return from.control(kind, plain, [&] { return choose_control(of, in, scenarios, by); });
}

void subtract(const controls::control& what, const books::trade& t, planned& p,
              const markets::market_state& in, const pilot_of_controls& by, shape_store& shapes,
              std::uint32_t first_scenario) {
    std::optional<controlled_plan> made = plan_with(what, subject_of(t, p), in, by, first_scenario);
    if (!made) return;
    std::shared_ptr<ready_trade> ready = ready_with(what, *std::move(made), shapes);
    if (by.run.chooses_importance) ready->without_control = p.ready;
    p.ready = std::move(ready);
    p.control = std::make_shared<const controls::control>(what);
}

}  // namespace tilewalk::studies
