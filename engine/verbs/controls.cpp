// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/controls.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/controls/control.h"
#include "engine/controls/written.h"
#include "engine/cpu/lane_machine.h"
#include "engine/cpu/tile_pool.h"
#include "engine/exercise/training.h"
#include "engine/verbs/decisions.h"
#include "engine/verbs/price.h"
#include "kernels/philox.h"
#include "kernels/tile.h"
#include "products/program/jumps.h"

namespace tilewalk::verbs {

namespace {

constexpr std::uint64_t most_share = 20;  // of a run, its inverse
constexpr std::uint64_t most_paths = 2048;

// Other paths than a run takes, and than other pilots do.
std::uint64_t seed_of_controls(std::uint64_t seed) {
    return kernels::low_word(
        kernels::path_block(seed, 0, 0, kernels::shift_stream, {0x636f6e74u, 0x726f6cu}));
}

// The trade in a market, with what a controller adds.
plan::trade_program planned_with(plan::controller& adds, const subject_of_control& of,
                                 const markets::market_state& in, program::precision precision,
                                 std::uint32_t first_scenario, const std::atomic<bool>* cancel) {
    const plan::poll often = poll_of(cancel);
    plan::trade_program made =
        of.policy != nullptr ? exercise::following_plan(of.trade, in, *of.policy, precision, often, &adds)
                             : plan::plan_trade(of.trade, in, precision, {}, often, nullptr, &adds);
    for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
    return made;
}

constexpr const char* name_of_control = "control";
std::optional<controls::control> decided_control(const results& by, const std::string& trade) {
    const std::optional<std::string> written = decision(by, trade, name_of_control);
    if (!written) return std::nullopt;
    return controls::control_written_as(*written);
}

}  // namespace

subject_of_control subject_of(const books::trade& t, const planned& p) {
    return {t, p.rights ? p.rights->policy.get() : nullptr};
}

std::uint64_t pilot_of_controls::paths() const {
    return std::min(run.paths / most_share, most_paths) / cpu::lanes * cpu::lanes;
}

sums_on_pilot::sums_on_pilot(const subject_of_control& of, const markets::market_state& in,
                             const pilot_of_controls& by, std::uint64_t paths,
                             std::vector<arrays::shock_cube> scenarios)
    : by_(by),
      paths_(paths),
      scenarios_(std::move(scenarios)),
      made_(planned_with(adds_, of, in, program::precision::double_, 0, by.cancel)) {
    if (made_.is_certain() || adds_.basis().empty()) return;
    code_ = cpu::compile(made_.code);
    jumps_ = program::jumps_of(made_.code, made_.data, made_.when);
    found_ = with(made_.data);
}

controls::pilot_paths sums_on_pilot::with(const program::path_data& data) const {
    controls::pilot_paths out;
    out.sums.resize(adds_.basis().size());
    cpu::path_job job;
    job.code = &code_;
    job.data = &data;
    job.when = &made_.when;
    job.seed = seed_of_controls(by_.run.seed);
    job.paths = paths_;
    job.scenarios = scenarios_;
    cpu::lane_machine machine(by_.operations);
    std::vector<double> found(code_.outputs.size() * kernels::paths_per_tile);
    for (std::uint64_t first = 0; first < paths_; first += cpu::lanes) {
        machine.walk_paths(job, first, found.data(), by_.cancel);
        const auto add = [&](std::vector<double>& to, std::size_t output) {
            const double* const begin = found.data() + output * kernels::paths_per_tile;
            to.insert(to.end(), begin, begin + cpu::lanes);
        };
        add(out.payoffs, 0);
        for (std::size_t k = 0; k < out.sums.size(); ++k) add(out.sums[k], k + 1);
    }
    return out;
}

chosen_control choose_control(const subject_of_control& of, const markets::market_state& in,
                              const std::vector<arrays::shock_cube>& scenarios, const pilot_of_controls& by) {
    if (!by.is_wanted() || by.paths() == 0) return {};
    const sums_on_pilot pilot(of, in, by, by.paths(), scenarios);
    if (!pilot.has_sums()) return {};
    const auto fitted = [&](controls::jumps may) {
        return controls::fit(pilot.found().payoffs, pilot.found().sums, pilot.basis(), may);
    };
    chosen_control out{fitted(controls::jumps::yes)};
    if (by.jumps == jumps_of_controls::any || !out.what || !out.what->jumps()) return out;
    if (pilot.jumps().empty()) return {fitted(controls::jumps::no), false};
    // An imperfect control of a payoff that jumps has its jumps elsewhere, or steep slopes in their place.
    constexpr double least_gain = 50;
    if (by.jumps == jumps_of_controls::beside_those_of_payoffs && out.what->fewer_paths >= least_gain)
        return out;
    return {std::nullopt, false};
}

chosen_control choose_control_like(const controls::control& other, const subject_of_control& of,
                                   const markets::market_state& in,
                                   const std::vector<arrays::shock_cube>& scenarios,
                                   const pilot_of_controls& by) {
    const sums_on_pilot pilot(of, in, by, by.paths(), scenarios);
    if (!pilot.has_sums()) return {};
    return {controls::fit(pilot.found().payoffs, pilot.found().sums, pilot.basis(),
                          other.jumps() ? controls::jumps::yes : controls::jumps::no, 0)};
}

std::optional<controlled_plan> plan_with(const controls::control& what, const subject_of_control& of,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario) {
    controls::subtracted adds(what);
    controlled_plan out{planned_with(adds, of, in, by.run.how.precision, first_scenario, by.cancel)};
    if (!adds.fits()) return std::nullopt;
    out.mean = adds.mean();
    out.made.remarks.push_back(evidence(what));
    return out;
}

std::shared_ptr<ready_trade> ready_with(const controls::control& what, controlled_plan made,
                                        shape_store& shapes) {
    auto ready = std::make_shared<ready_trade>(std::move(made.made), shapes);
    ready->control_mean = made.mean;
    for (const controls::knot& k : what.knots) ready->control_jumps += std::abs(k.jump);
    return ready;
}

std::string evidence(const controls::control& of) {
    const std::string seen = fmt::format(", as {} pilot paths show", of.pilot_paths);
    if (of.leaves_rounding()) return "a control leaves nothing but rounding" + seen;
    const double left = 1 / of.fewer_paths;
    return fmt::format("a control with the correlation {:.5g} leaves {:.2g} % of the variance",
                       std::sqrt(1 - left), 100 * left) +
           seen;
}

void choose_controls(planned_run& r, const control_stages& stages, const teller& tells) {
    const pilot_of_controls by{r.run, r.operations, r.options.cancel, stages.jumps};
    if (!by.is_wanted()) return;
    const std::vector<books::trade>& trades = r.book.trades;
    const scenarios_of_markets scenarios(r.in);
    shape_store shapes;
    const auto chosen_like = [&](const books::trade& t, const subject_of_control& of,
                                 const markets::market_state& in) {
        const controls::control* const other = stages.like(t);
        if (other == nullptr) return chosen_control{};
        return choose_control_like(*other, of, in, scenarios.cubes, by);
    };
    const auto decide = [&](int, std::uint64_t i) {
        chosen_control found;
        for (std::size_t m = 0; m < r.in.size(); ++m) {
            planned& p = r.plans[m * trades.size() + i];
            // A right that is used today pays what it pays.
            if (!p.needs_paths() || (p.rights && p.rights->used_today)) continue;
            try {
                const markets::market_state& in = r.in[m].state();
                const subject_of_control of = subject_of(trades[i], p);
                if (stages.held)
                    found = {stages.held(trades[i], r.in[m])};
                else if (stages.like && m == 0)
                    found = chosen_like(trades[i], of, in);
                else if (m == 0 && r.run.decided)
                    found = {decided_control(*r.run.decided, trades[i].id)};
                else if (m == 0)
                    found = choose_control(of, in, scenarios.cubes, by);
                p.is_priced_apart = !found.is_that_of_prices;
                if (!found.what || found.what->fewer_paths < stages.least_gain) continue;
                std::optional<controlled_plan> made = plan_with(*found.what, of, in, by, scenarios.first[m]);
                if (!made) continue;
                const std::shared_ptr<const ready_trade> plain = p.ready;
                auto ready = ready_with(*found.what, *std::move(made), shapes);
                if (r.run.chooses_importance) ready->without_control = plain;
                p.ready = std::move(ready);
                p.control = std::make_shared<const controls::control>(*found.what);
                p.decisions = with_decision(p.decisions, name_of_control, controls::written(*found.what));
            } catch (const std::exception& e) {
                throw_if_cancelled(e);
                p.failure = at_trade(trades[i], e);
            }
        }
    };
    cpu::for_each(trades.size(), r.run.threads, r.options.cancel, decide,
                  tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
}

}  // namespace tilewalk::verbs
