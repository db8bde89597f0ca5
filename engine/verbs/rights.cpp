// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "engine/exercise/training.h"
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

constexpr std::uint64_t least_training = 4096, most_training = 65536;
std::uint64_t training_paths_for(std::uint64_t paths) {
    return std::clamp(paths / 4, least_training, most_training);
}

}  // namespace

std::uint64_t seed_of_bounds(std::uint64_t seed) {
    return mixed(seed ^ 0x626f756e64);
}

std::uint64_t seed_of_training(std::uint64_t seed) {
    return mixed(seed ^ 0x747261696e);
}

template <class work>
void policy_of_trade::attempt(const work& of) {
    if (planned_.failure) return;
    try {
        of();
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        untrained_.reset();
        planned_.failure = at_trade(trade_, e);
    }
}

void policy_of_trade::prepare(const policy_search& by) {
    attempt([&] {
        untrained_ =
            exercise::untrained_of(trade_, in_, training_paths_for(by.run.paths), poll_of(by.cancel));
    });
}

void policy_of_trade::find(const policy_search& by, int threads) {
    attempt([&] {
        const auto cubes = in_.scenario_cubes();
        policy_ = exercise::trained(std::move(*untrained_), {seed_of_training(by.run.seed), &by.operations,
                                                             threads, cubes, poll_of(by.cancel), by.cancel});
    });
}

void policy_of_trade::follow(const policy_search& by) {
    if (!policy_) return;
    attempt([&] {
        const plan::poll often = poll_of(by.cancel);
        const program::precision to = by.run.how.precision;
        const auto planned_as = [&](plan::trade_program made) {
            for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario_;
            return std::make_shared<const ready_trade>(std::move(made), by.shapes);
        };
        auto rights = std::make_shared<ready_rights>();
        rights->is_policy_lower = policy_->has_holder;
        rights->training_paths = policy_->paths;
        rights->gain_of_step = policy_->gain_of_step;
        rights->error_of_gain = policy_->error_of_gain;
        rights->wants_bound = by.wants_bound;
        // A use that goes on is a part of the plan that follows.
        const bool ends_today = policy_->uses == 0 || planned_.ready->certain;
        if (policy_->is_used_today && ends_today) rights->used_today = policy_->today;
        if (!planned_.ready->certain) {
            planned_.ready = planned_as(exercise::following_plan(trade_, in_, *policy_, to, often));
            if (policy_->has_bound() && by.wants_bound)
                rights->bounding = planned_as(exercise::bounding_plan(trade_, in_, *policy_, to, often));
        }
        planned_.rights = std::move(rights);
    });
    untrained_.reset();
    policy_.reset();
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

namespace {

// The price is the middle of bounds of the dates stated.
void add_extrapolation(early_exercise& to, double price, const ready_rights& of) {
    if (!of.gain_of_step || of.used_today) return;
    to.extrapolated = price + *of.gain_of_step;
    to.step_error = std::hypot(*of.gain_of_step, of.error_of_gain);
}

void add_bounds(price_row& row, const ready_rights& of, const found_bound& bound) {
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

}  // namespace

void add_rights(price_row& row, const ready_rights& of, const found_bound& bound) {
    if (row.status != trade_status::priced) return;
    add_bounds(row, of, bound);
    add_extrapolation(*row.early, row.price, of);
}

}  // namespace tilewalk::verbs
