// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/rights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/base/shown_numbers.h"
#include "engine/decide/exercise/nested.h"
#include "engine/decide/exercise/training.h"
#include "engine/decide/followed.h"
#include "engine/decide/policy_file.h"
#include "engine/decide/seeds.h"
#include "engine/walk/kept/fingerprints_of_jobs.h"
#include "engine/walk/units.h"

namespace tilewalk::studies {

namespace {

// In standard deviations of a date's feature. Only a sixth of training paths is further out on a side, so
// that a policy knows little there.
constexpr double far_for_policies = 1;

void add_to(std::string& all, const std::string& text) {
    all += (all.empty() ? "" : "; ") + text;
}

}  // namespace

std::uint64_t policy_search::seed() const {
    return is_on_priced_paths() ? run.seed : decide::seed_for(run.seed, decide::purpose::training);
}

policy_of_trade::policy_of_trade(const books::trade& t, const markets::market_state& in,
                                 const policy_search& by)
    : trade_(t), in_(in), by_(by) {
    if (by.stages == nullptr || !by.stages->change_market) return;
    auto changed = std::make_shared<markets::market_state>(in);
    by.stages->change_market(*changed);
    changed_ = std::move(changed);
}

void policy_of_trade::prepare(std::uint64_t most_paths) {
    const plan::poll often = poll_of(by_.cancel);
    if (takes_decided(often)) return;
    untrained_ = exercise::untrained_of(
        trade_, market(), std::min(by_.paths(), most_paths), often,
        by_.finds_bound ? exercise::found_beside::bound_and_gain : exercise::found_beside::nothing);
    const settled& run = by_.run;
    if (untrained_ && !untrained_->is_certain && run.followed &&
        (!run.policy.empty() || run.followed->has_policies()))
        add_remark("its policy is not in " + (run.policy.empty() ? "the decisions to follow" : run.policy) +
                   " and was found anew");
}

// Returns false if no policy was decided on, or the caller's does not fit the trade any more.
bool policy_of_trade::takes_decided(const plan::poll& often) {
    const decide::decided known = by_.from.known(trade_.id);
    if (!known.policy) return false;
    const decide::decided* const held = by_.from.held(trade_.id);
    const bool is_held = held != nullptr && held->policy;
    try {
        policy_ = exercise::policy_as_saved(trade_, market(), *known.policy, often);
    } catch (const error& e) {
        if (!is_held || e.kind() != error_kind::input) throw;
        return false;
    }
    if (!is_held && policy_ && policy_->moved > far_for_policies)
        add_remark(
            "its policy decides on a feature that is now " + report::significant(policy_->moved, 2) +
            " standard deviations from its training paths; a policy trained in this market may be worth "
            "more");
    return true;
}

void policy_of_trade::take_known(const kept::work& by) {
    if (!untrained_ || untrained_->is_certain) return;
    kept::fingerprint of;
    of.add("policy of " + trade_.id);
    of.add(program::shape_of(untrained_->made.code));
    kept::add(of, untrained_->made.data);
    kept::add(of, untrained_->made.when);
    of.add(by_.seed());
    of.add(untrained_->paths);
    if (by_.run.fits != exercise::fitting::usual) of.add(static_cast<std::uint64_t>(by_.run.fits));
    of.add(std::uint64_t{untrained_->has_gain() ? 1U : 0U});
    const kept::key what = of.found();
    const std::optional<std::string> known = by.known().text_of(what);
    if (known) {
        const exercise::saved_policy saved = report::read_policies(*known, "what is kept").front();
        policy_ = exercise::policy_as_saved(trade_, market(), saved, poll_of(by_.cancel));
    } else if (by.trains()) {
        to_be_kept_ = what;
        return;
    }
    untrained_.reset();
}

void policy_of_trade::keep_in(const kept::work& to) const {
    if (!to_be_kept_ || !policy_) return;
    const auto saved = exercise::saved_of(trade_, market(), *policy_, poll_of(by_.cancel));
    if (saved) to.known().keep(*to_be_kept_, report::policies_json({&*saved, 1}));
}

void policy_of_trade::add_remark(const std::string& text) {
    add_to(remark_, text);
}

void policy_of_trade::set_policy(exercise::policy found) {
    policy_ = std::move(found);
    untrained_.reset();
    // A part of a run has its own policy for future dates; the whole run decides about today.
    if (by_.run.fits != exercise::fitting::usual && policy_->uses == 0) policy_->is_used_today = false;
    if (by_.stages != nullptr && by_.stages->change) by_.stages->change(*policy_);
}

void policy_of_trade::find(int threads) {
    if (!untrained_) return;
    const auto cubes = market().scenario_cubes();
    set_policy(exercise::trained(std::move(*untrained_), {by_.seed(), &by_.operations, threads, cubes,
                                                          poll_of(by_.cancel), by_.cancel, by_.run.fits}));
}

namespace {

// Plans the nested bound of a trade whose rights are one side's. If it has none, adds a remark that says why.
void nest(ready_rights& to, const books::trade& t, const markets::market_state& in,
          const exercise::policy& by, const plan::poll& often) {
    std::string why = exercise::why_not_nested(by);
    if (why.empty()) {
        exercise::nested_program made = exercise::nested_plan(t, in, by, often);
        why = exercise::why_not_nested(made);
        if (why.empty()) to.nested = std::make_shared<const exercise::nested_program>(std::move(made));
    }
    if (why.empty()) return;
    add_to(to.remark, (by.has_bound() ? "its bound comes from the regression, as it has no nested one: "
                                      : "it has no nested bound: ") +
                          why);
}

}  // namespace

void follow(planned& p, const books::trade& t, const policy_of_trade& of, const policy_search& by,
            std::uint32_t first_scenario) {
    if (!of.policy()) return;
    const exercise::policy& policy = *of.policy();
    const markets::market_state& in = of.market();
    const plan::poll often = poll_of(by.cancel);
    const program::precision to = by.run.how.precision;
    const auto planned_as = [&](plan::trade_program made) {
        for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
        return std::make_shared<const ready_trade>(std::move(made), by.shapes);
    };
    auto rights = std::make_shared<ready_rights>();
    rights->policy = std::make_shared<const exercise::policy>(policy);
    rights->is_policy_lower = policy.has_holder;
    rights->training_paths = policy.paths;
    rights->gain_of_step = policy.gain_of_step;
    rights->error_of_gain = policy.error_of_gain;
    rights->wants_bound = by.wants_bound;
    rights->may_nest = !by.run.nests_bounds && by.run.replay.empty() && p.ready->data.scenarios.empty() &&
                       exercise::why_not_nested(policy).empty();
    rights->remark = of.remark();
    if (by.keeps) {
        if (auto saved = exercise::saved_of(t, in, policy, often))
            rights->saved = std::make_shared<const exercise::saved_policy>(*std::move(saved));
    }
    // If the trade goes on after a use today, the plan that follows the policy has that use in it.
    const bool ends_today = policy.uses == 0 || p.ready->certain;
    if (policy.is_used_today && ends_today) rights->used_today = policy.today;
    if (!p.ready->certain) {
        p.ready = planned_as(exercise::following_plan(t, in, policy, to, often));
        if (by.wants_bound && by.run.nests_bounds && policy.has_holder != policy.has_issuer)
            nest(*rights, t, in, policy, often);
        if (by.wants_bound && !rights->nested && policy.has_bound())
            rights->bounding = planned_as(exercise::bounding_plan(t, in, policy, to, often));
    }
    p.rights = std::move(rights);
}

namespace {

// Returns why there is no bound, so that the price is the policy's worth; empty if there is one, or no path.
std::string why_no_bound(const price_row& row, const ready_rights& of, const found_bound& bound) {
    if (row.paths == 0) return {};
    if (!of.bounding && !of.nested) return "both sides have rights, or no normal shock moves the path";
    if (bound.failure) return bound.failure->message();
    const kernels::tile_result& r = bound.walked->result;
    const bool is_number = r.not_finite == 0 && std::isfinite(r.moments.mean) &&
                           (r.moments.count == 1 || std::isfinite(run::standard_error_of(r.moments)));
    return is_number ? "" : "its paths gave no finite number";
}

// Adds the price extrapolated from rights on the stated dates to rights at any time. The row's price stays
// that for the stated dates.
void add_extrapolation(early_exercise& to, double price, const ready_rights& of) {
    if (!of.gain_of_step || of.used_today) return;
    to.extrapolated = price + *of.gain_of_step;
    to.step_error = std::hypot(*of.gain_of_step, of.error_of_gain);
}

// True if the bounds are too far apart for their middle to be the price. A gap within 4 standard errors may
// be chance: else a policy that came out low by chance would become the price.
bool are_wide(const early_exercise& e) {
    const double apart = e.upper_bound - e.lower_bound;
    const bool has_error = is_figure(e.policy_error);
    return apart > wide_above * std::abs(e.policy_value) && apart > (has_error ? 4 * e.policy_error : 0);
}

std::string amount_text(double x) {
    return x < 1000 ? report::significant(x, 3) : report::fixed(x, 0);
}

std::string wide_text(const early_exercise& e, const ready_rights& of) {
    const double apart = e.upper_bound - e.lower_bound, share = 100 * apart / std::abs(e.policy_value);
    const std::string of_price = std::isfinite(share) ? " (" + amount_text(share) + " %)" : "";
    const char* const cure = of.training_paths < least_training ? "more paths train a better policy"
                             : of.nested   ? "more training_paths or features train a better policy"
                             : of.may_nest ? "upper: nested finds a closer bound"
                                           : "features that look ahead find closer bounds";
    return "its bounds are " + amount_text(apart) + " apart" + of_price +
           ", so the price is the value of its policy; " + cure;
}

void add_bounds(price_row& row, const ready_rights& of, const found_bound& bound) {
    if (!of.remark.empty()) add_to(row.message, of.remark);
    const std::string why = !of.wants_bound ? "" : why_no_bound(row, of, bound);
    if (!why.empty()) add_to(row.message, "the price is the value of its policy, without a bound: " + why);
    const bool has_bound = bound.walked && why.empty();
    if (of.used_today) {
        row.price = row.low = row.high = *of.used_today;
        row.standard_error = row.error_steps = 0;
        row.thin = false;
        std::ranges::fill(row.part_means, row.price);
    }
    early_exercise& e = row.early.emplace();
    e.policy_value = row.price;
    e.policy_error = row.standard_error;
    e.training_paths = of.training_paths;
    e.part_means = row.part_means;
    if (!has_bound) return;
    const double mean = bound.walked->result.moments.mean;
    const double error_of_bound = bound.walked->quasi ? bound.walked->quasi->standard_error
                                                      : run::standard_error_of(bound.walked->result.moments);
    (of.is_policy_lower ? e.lower_bound : e.upper_bound) = e.policy_value;
    (of.is_policy_lower ? e.lower_error : e.upper_error) = e.policy_error;
    (of.is_policy_lower ? e.upper_bound : e.lower_bound) = mean;
    (of.is_policy_lower ? e.upper_error : e.lower_error) = error_of_bound;
    e.wide = are_wide(e);
    if (!e.wide) {
        row.price = (e.lower_bound + e.upper_bound) / 2;
        row.standard_error = std::hypot(e.policy_error, error_of_bound) / 2;
    }
    // By chance the lower bound may come out above the upper one; the interval covers the middle, too.
    const double width = run::width_95(row.degrees_of_freedom()), reach = width * row.standard_error;
    row.low = std::min(e.lower_bound - width * e.lower_error, row.price - reach);
    row.high = std::max(e.upper_bound + width * e.upper_error, row.price + reach);
    if (e.wide) {
        add_to(row.message, wide_text(e, of));
        return;
    }
    if (const double apart = e.upper_bound - e.lower_bound;
        apart > 4 * std::hypot(e.policy_error, error_of_bound))
        add_to(row.message,
               "its bounds are " + amount_text(apart) + " apart; more paths train a better policy");
    // A nested bound has other paths than the price, so parts of the run have no middle of bounds.
    if (of.nested) row.part_means.clear();
    const std::vector<double>& parts = bound.walked->part_means;
    for (std::size_t i = 0; i < row.part_means.size() && i < parts.size(); ++i)
        row.part_means[i] = (row.part_means[i] + parts[i]) / 2;
}

}  // namespace

void add_rights(price_row& row, const ready_rights& of, const found_bound& bound) {
    if (row.status != trade_status::priced) return;
    add_bounds(row, of, bound);
    add_extrapolation(*row.early, row.price, of);
}

}  // namespace tilewalk::studies
