// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "engine/exercise/training.h"
#include "engine/report/policy_file.h"
#include "engine/run/units.h"

namespace tilewalk::verbs {

namespace {

// Steps of the finaliser of SplitMix64, so that neighbouring seeds have nothing in common.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

std::uint64_t seed_of_bounds(std::uint64_t seed) {
    return mixed(seed ^ 0x626f756e64);
}

std::optional<std::vector<exercise::saved_policy>> policies_in(const settled& run) {
    if (run.policy.empty()) return std::nullopt;
    return report::load_policies(run.policy);
}

found_policy policy_for(const books::trade& t, const markets::market_state& in, const policy_search& by) {
    const settled& run = by.run;
    const plan::poll often = poll_of(by.cancel);
    found_policy out;
    if (by.saved != nullptr) {
        const auto saved = std::ranges::find(*by.saved, t.id, &exercise::saved_policy::trade);
        if (saved != by.saved->end()) return {exercise::policy_as_saved(t, in, *saved, often), {}};
        out.remark = "its policy is not in " + run.policy + " and was found anew";
    }
    const policy_stages usual, &how = by.by != nullptr ? *by.by : usual;
    const auto cubes = in.scenario_cubes();
    out.by =
        exercise::policy_of(t, in,
                            {how.on_priced_paths ? run.seed : mixed(run.seed ^ 0x747261696e),
                             how.on_priced_paths ? run.paths : std::min(run.training_paths, by.most_training),
                             &by.operations, by.threads, cubes, often, by.cancel});
    if (out.by && how.change) how.change(*out.by);
    if (out.by && out.by->dates.empty()) out.remark.clear();  // nothing was to be found
    return out;
}

void find_policy(planned& p, const books::trade& t, const markets::market_state& market,
                 const policy_search& by, std::uint32_t first_scenario) {
    const plan::poll often = poll_of(by.cancel);
    const settled& run = by.run;
    try {
        markets::market_state changed;
        const bool is_changed = by.by != nullptr && by.by->change_market;
        if (is_changed) by.by->change_market(changed = market);
        const markets::market_state& in = is_changed ? changed : market;
        const auto [policy, remark] = policy_for(t, in, by);
        if (!policy) return;
        const auto planned_as = [&](plan::trade_program made) {
            for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
            return std::make_shared<const ready_trade>(std::move(made), by.shapes);
        };
        auto rights = std::make_shared<ready_rights>();
        rights->is_policy_lower = policy->has_holder;
        rights->training_paths = policy->paths;
        rights->wants_bound = by.wants_bound;
        rights->remark = remark;
        if (by.keeps) {
            if (auto saved = exercise::saved_of(t, in, *policy, often))
                rights->saved = std::make_shared<const exercise::saved_policy>(*std::move(saved));
        }
        if (policy->is_used_today) rights->used_today = policy->today;
        if (!p.ready->certain) {
            p.ready = planned_as(exercise::following_plan(t, in, *policy, run.how.precision, often));
            if (policy->has_bound() && by.wants_bound)
                rights->bounding =
                    planned_as(exercise::bounding_plan(t, in, *policy, run.how.precision, often));
        }
        p.rights = std::move(rights);
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        p.failure = at_trade(t, e);
    }
}

namespace {

void add_message(price_row& row, const std::string& text) {
    row.message += (row.message.empty() ? "" : "; ") + text;
}

// Why the price is what the policy is worth; empty if there is a bound.
std::string why_no_bound(const price_row& row, const ready_rights& of, const found_bound& bound) {
    if (row.paths == 0) return {};
    if (!of.bounding) return "both sides have rights, or no normal number moves the path";
    if (bound.failure) return bound.failure->message();
    const kernels::tile_result& r = bound.walked->result;
    const bool is_number = r.not_finite == 0 && std::isfinite(r.moments.mean) &&
                           (r.moments.count == 1 || std::isfinite(run::standard_error_of(r.moments)));
    return is_number ? "" : "its paths gave no finite number";
}

}  // namespace

void add_rights(price_row& row, const ready_rights& of, const found_bound& bound) {
    if (row.status != trade_status::priced) return;
    if (!of.remark.empty()) add_message(row, of.remark);
    const std::string why = !of.wants_bound ? "" : why_no_bound(row, of, bound);
    if (!why.empty()) add_message(row, "the price is what its policy is worth, without a bound: " + why);
    const bool has_bound = bound.walked && why.empty();
    if (of.used_today) {
        row.price = row.low = row.high = *of.used_today;
        row.standard_error = 0;
        row.thin = false;
        std::ranges::fill(row.part_means, row.price);
    }
    early_exercise& e = row.early.emplace();
    e.policy_value = row.price;
    e.policy_error = row.standard_error;
    e.training_paths = of.training_paths;
    e.part_means = row.part_means;
    if (!has_bound) return;
    constexpr double normal_95 = 1.959963984540054;
    const double mean = bound.walked->result.moments.mean;
    const double error_of_bound = bound.walked->quasi ? bound.walked->quasi->standard_error
                                                      : run::standard_error_of(bound.walked->result.moments);
    (of.is_policy_lower ? e.lower_bound : e.upper_bound) = e.policy_value;
    (of.is_policy_lower ? e.lower_error : e.upper_error) = e.policy_error;
    (of.is_policy_lower ? e.upper_bound : e.lower_bound) = mean;
    (of.is_policy_lower ? e.upper_error : e.lower_error) = error_of_bound;
    row.price = (e.lower_bound + e.upper_bound) / 2;
    row.standard_error = std::hypot(e.policy_error, error_of_bound) / 2;
    // The middle lies beyond an end where chance has put the bounds the wrong way round.
    const double reach = normal_95 * row.standard_error;
    row.low = std::min(e.lower_bound - normal_95 * e.lower_error, row.price - reach);
    row.high = std::max(e.upper_bound + normal_95 * e.upper_error, row.price + reach);
    const double apart = e.upper_bound - e.lower_bound;
    if (apart > 4 * std::hypot(e.policy_error, error_of_bound)) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", apart);
        add_message(row, std::string("its bounds are ") + text + " apart; more paths train a better policy");
    }
    const std::vector<double>& parts = bound.walked->part_means;
    for (std::size_t i = 0; i < row.part_means.size() && i < parts.size(); ++i)
        row.part_means[i] = (row.part_means[i] + parts[i]) / 2;
}

}  // namespace tilewalk::verbs
