// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/controls/moving_controls.h"

#include <algorithm>
#include <cmath>

#include "engine/decide/controls/written.h"
#include "engine/decide/exercise/training.h"
#include "engine/decide/sources.h"
#include "engine/plan/measures.h"
#include "engine/plan/ways_back.h"
#include "engine/walk/cpu/lane_machine.h"
#include "products/program/jumps.h"

namespace tilewalk::studies {

namespace {

// Returns the paths that find a drift: half a pilot's, since each is walked in markets moved up and down.
std::uint64_t paths_of_drifts(const pilot_of_controls& by) {
    return std::max<std::uint64_t>(by.paths() / 2 / cpu::lanes, 1) * cpu::lanes;
}

std::vector<double> differences(const std::vector<double>& above, const std::vector<double>& below,
                                double distance) {
    std::vector<double> out;
    for (std::size_t p = 0; p < above.size(); ++p) out.push_back((above[p] - below[p]) / distance);
    return out;
}

// Returns the derivatives of residuals by path. Leaves out paths near a kink, or where a policy changes its
// decision: their derivatives up and down differ, and they would add as much variance as all other paths.
controls::pilot_paths derivatives_of_paths(const std::vector<double>& above, const std::vector<double>& here,
                                           const std::vector<double>& below, double distance,
                                           const controls::pilot_paths& on) {
    constexpr double least_share = 0.01, of_rounding = 1e-12;
    controls::pilot_paths out;
    out.sums.resize(on.sums.size());
    out.ratios.resize(on.ratios.size());
    double size = 0;
    for (const double x : here) size = std::max(size, std::abs(x));
    for (std::size_t p = 0; p < here.size(); ++p) {
        const double up = above[p] - here[p], down = here[p] - below[p];
        const double room = least_share * (std::abs(up) + std::abs(down)) + of_rounding * size;
        if (!(std::abs(up - down) <= room)) continue;
        out.payoffs.push_back((above[p] - below[p]) / distance);
        for (std::size_t r = 0; r < out.sums.size(); ++r) out.sums[r].push_back(on.sums[r][p]);
        for (std::size_t k = 0; k < out.ratios.size(); ++k) out.ratios[k].push_back(on.ratios[k][p]);
    }
    return out;
}

}  // namespace

void moving_controls::add(const books::trade& t, const planned& p) {
    auto made = std::make_unique<of_trade>();
    made->trade = &t;
    made->control = p.control;
    made->mean = p.ready->control_mean;
    made->rights = p.rights;
    if (work_ != nullptr) {
        made->known_as = sources(by_.run, work_).fingerprint_of("drift of a control", p.price_job());
        made->known_as.add(controls::written(*p.control));
    }
    const std::lock_guard guard(lock_);
    trades_.insert_or_assign(t.id, std::move(made));
}

moving_controls::of_trade* moving_controls::find(const std::string& trade) const {
    const std::lock_guard guard(lock_);
    const auto at = trades_.find(trade);
    return at == trades_.end() ? nullptr : at->second.get();
}

const moving_controls::markets_about& moving_controls::about(const std::string& key) {
    markets_about* out = nullptr;
    {
        const std::lock_guard guard(lock_);
        std::unique_ptr<markets_about>& entry = about_[key];
        if (!entry) entry = std::make_unique<markets_about>();
        out = entry.get();
    }
    std::call_once(out->once, [&] {
        const greeks::risk_number risk = greeks::risk_of(state_of(here_).source->find(key));
        out->near.emplace(here_, std::vector{key}, risk.small);
        out->far.emplace(here_, std::vector{key}, risk.large * risk.at_jumps);
    });
    return *out;
}

void moving_controls::find_drifts(const std::string& trade, std::span<const std::string> keys) {
    of_trade* const of = find(trade);
    if (of == nullptr) return;
    const std::lock_guard guard(of->lock);
    find_drifts(*of, keys);
}

void moving_controls::find_drifts(of_trade& of, std::span<const std::string> keys) {
    std::vector<std::string> unknown;
    for (const std::string& key : keys) {
        if (of.drifts.contains(key)) continue;
        if (auto known = known_drift(of, key))
            of.drifts.emplace(key, *std::move(known));
        else
            unknown.push_back(key);
    }
    if (unknown.empty()) return;
    const plan::poll often = poll_of(by_.cancel);
    const exercise::policy* const policy = of.rights ? of.rights->policy.get() : nullptr;
    const sums_on_pilot pilot({*of.trade, policy}, state_of(here_), by_, state_of(here_).scenario_cubes());
    const controls::pilot_paths here = pilot.walked(paths_of_drifts(by_));
    plan::maker_of_deciders rights;
    if (policy != nullptr) rights = [policy] { return exercise::follower_of(*policy); };
    controls::sums_of_moves adds;
    const plan::trade_numbers numbers(*of.trade, state_of(here_), pilot.plan().code, pilot.plan().idle,
                                      program::precision::double_, often, std::move(rights), &adds);
    for (const std::string& key : unknown) {
        const controls::drift& found =
            of.drifts.emplace(key, drift_of(of, pilot, here, numbers, key)).first->second;
        if (work_ == nullptr) continue;
        kept::fingerprint what = of.known_as;
        what.add(key);
        work_->known().keep(what.found(), controls::written(found));
    }
}

std::optional<controls::drift> moving_controls::known_drift(const of_trade& of,
                                                            const std::string& key) const {
    if (work_ == nullptr) return std::nullopt;
    kept::fingerprint what = of.known_as;
    what.add(key);
    const std::optional<std::string> text = work_->known().text_of(what.found());
    if (!text) return std::nullopt;
    return controls::drift_written_as(*text);
}

controls::drift moving_controls::drift_of(const of_trade& of, const sums_on_pilot& pilot,
                                          const controls::pilot_paths& here,
                                          const plan::trade_numbers& numbers, const std::string& key) {
    const controls::drift none = controls::no_drift(*of.control);
    const auto numbers_in = [&](const market& moved) {
        controls::sums_of_moves adds;
        return numbers.in(state_of(moved), poll_of(by_.cancel), &adds);
    };
    const markets_about& markets = about(key);
    if (!markets.near->are_there() || !markets.far->are_there()) return none;
    constexpr double small_moves = 100;
    const double reach = small_moves * markets.near->distance;
    bool moves_jumps = false;
    const greeks::moved_markets* from = &*markets.near;
    std::shared_ptr<const program::path_data> up, down;
    try {
        up = numbers_in(*from->up);
        down = numbers_in(*from->down);
        if (!up || !down || up == down) return none;
        const program::path_program& code = pilot.plan().code;
        program::wanted_numbers moved = program::no_number_of(code);
        greeks::mark_moved(greeks::moves_of_numbers(*up, *down, from->distance), moved, code);
        moves_jumps = !program::moved_by(code, pilot.jumps(), moved).empty();
        // A small move takes next to no pilot path across a jump, so the market is moved further.
        if (moves_jumps) {
            from = &*markets.far;
            up = numbers_in(*from->up);
            down = numbers_in(*from->down);
            if (!up || !down) return none;
        }
    } catch (const std::exception& e) {
        throw_if_cancelled(e);  // pricing in the moved market will report the error
        return none;
    }
    const controls::pilot_paths above = pilot.walked(paths_of_drifts(by_), *up),
                                below = pilot.walked(paths_of_drifts(by_), *down);
    const controls::control& control = *of.control;
    if (moves_jumps) {
        const double distance = from->distance;
        controls::drift out = controls::drift_of_jumps(control, above, below, distance);
        controls::pilot_paths left = here;
        left.payoffs =
            differences(controls::left_by(controls::moved(control, out, distance / 2), above),
                        controls::left_by(controls::moved(control, out, -distance / 2), below), distance);
        controls::drift rest = controls::drift_of(control, left, reach);
        for (std::size_t k = 0; k < rest.knots.size(); ++k) rest.knots[k].at += out.knots[k].at;
        return rest;
    }
    if (!from->is_central) return none;
    return controls::drift_of(
        control,
        derivatives_of_paths(controls::left_by(control, above), controls::left_by(control, here),
                             controls::left_by(control, below), from->distance, here),
        reach);
}

std::optional<controls::control> moving_controls::in(const std::string& trade, const market& other) {
    of_trade* const of = find(trade);
    if (of == nullptr) return std::nullopt;
    std::map<std::string, double> moves;
    for (const market* const m : {&other, &here_})
        for (const market_number& n : m->changes())
            moves[n.key] = other.number(n.key).value - here_.number(n.key).value;
    std::erase_if(moves, [](const auto& move) { return move.second == 0; });
    std::vector<std::string> keys;
    for (const auto& [key, by] : moves) keys.push_back(key);
    const std::lock_guard guard(of->lock);
    find_drifts(*of, keys);
    controls::control out = *of->control;
    for (const auto& [key, by] : moves) out = controls::moved(std::move(out), of->drifts.at(key), by);
    return out;
}

}  // namespace tilewalk::studies
