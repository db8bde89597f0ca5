// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "engine/controls/control.h"
#include "engine/plan/bounds.h"
#include "engine/run/units.h"
#include "products/program/jumps.h"

namespace tilewalk::verbs {

namespace {

// Says what a failure of a GPU changed about the row; where the CPU failed alike, the row says it already.
void tell_of_gpu(price_row& row, const std::string& what, const error& why) {
    if (row.message.find(why.message()) != std::string::npos) return;
    row.message += (row.message.empty() ? "" : "; ") + what + std::string(because_of_gpu) + why.message();
}

void fail(price_row& row, const error& e) {
    row.status = trade_status::failed;
    row.kind = e.kind();
    row.message = e.key_path().empty() ? e.message() : e.key_path() + ": " + e.message();
    if (!e.where().file.empty()) row.where = e.where();
}

// Figures that are written must be numbers: the value of the book's quantity, too.
void check_value(price_row& row) {
    const auto refuse = [&row](const std::string& what) {
        fail(row, error(error_kind::numeric, what + "; take a smaller quantity"));
    };
    const std::string named =
        fmt::format("the quantity {:.10g} times the price {:.10g} of one unit", row.quantity, row.price);
    if (!std::isfinite(row.value())) return refuse(named + " is too large for a number");
    if (std::isinf(row.value_error()))
        refuse("the standard error of " + named + " is too large for a number");
}

void price_certain(price_row& row, double value) {
    if (!std::isfinite(value)) {
        fail(row,
             error(error_kind::numeric, "the payoff of what has already happened is not a finite number"));
        return;
    }
    row.status = trade_status::priced;
    row.price = row.low = row.high = value;
    row.message = "everything has already happened; no path was needed";
    check_value(row);
}

// An event that n paths did not show once has a probability below 3 / n, or the chance to see it not once
// would be less than 5 %: (1 - 3 / n)^n < 0.05.
constexpr double rule_of_three = 3;

// A row of whose paths none differs from the others: either nothing random is in the payoff, or they have
// missed all there is to see and show no error.
void price_alike(price_row& row, const plan::range& payoffs, bool is_independent) {
    if (payoffs.is_point()) {
        row.standard_error = 0;
        row.message =
            row.price == 0 ? "no path can pay anything" : "every path pays the same, whatever happens";
        return;
    }
    row.standard_error = row.low = row.high = no_figure;
    row.thin = true;
    if (row.paths == 1) {
        row.message = "one path has no standard error";
        return;
    }
    row.message = row.price == 0 ? "no path paid anything" : "every path paid the same";
    const double n = static_cast<double>(row.paths), chance = rule_of_three / n;
    if (!is_independent || !(chance < 1)) return;
    row.message += fmt::format(", so the probability of {} is below 3 / paths = {:.3g} (95 %)",
                               row.price == 0 ? "a payment" : "anything else", chance);
    if (!payoffs.is_bounded()) return;
    row.low = row.price + std::min(payoffs.low - row.price, 0.0) * chance;
    row.high = row.price + std::max(payoffs.high - row.price, 0.0) * chance;
    row.message += "; the interval follows from the most and the least that a path can pay";
}

// The standard error from randomisations. The mean of a payoff that jumps moves by whole paths, and where
// few dimensions count so evenly that all randomisations have the same number of them, their spread shows
// less than one path more or less would make. A payoff with two values that are J apart, of which a share p
// of paths has one, has q = p (1 - p), a variance J^2 q and a fourth moment J^4 q (1 - 3 q): that jump is
// taken.
double quasi_error(const run::estimate& of, const kernels::moments& m, bool jumps) {
    if (m.m2 == 0 || !jumps) return of.standard_error;
    return std::hypot(of.standard_error, std::sqrt(m.m4 / m.m2 + 3 * m.m2 / m.count) / m.count);
}

// The least error of what is paid less a control, whose paths may all be alike but for rounding; 0 without
// one.
double rounding_of(const ready_trade& t, double price) {
    return t.control_rounding * (std::abs(price) + std::abs(t.control_mean));
}

void price_walked(price_row& row, const kernels::tile_result& r, std::uint64_t paths,
                  const std::optional<run::estimate>& quasi, const planned& p, jumping_programs& jumping) {
    if (r.not_finite > 0) {
        fail(row,
             error(error_kind::numeric, std::to_string(r.not_finite) + " of " + std::to_string(paths) +
                                            " paths gave no finite number, the first is path " +
                                            std::to_string(r.first_not_finite) +
                                            "; look for a division by zero, a log or a power in the script"));
        return;
    }
    const kernels::moments& m = r.moments;
    const double n = m.count;
    double of_paths = quasi ? quasi_error(*quasi, m, jumping.has(*p.ready)) : run::standard_error_of(m);
    // A payoff and its control may jump at slightly other places: on few paths, or on none, which then show
    // no error. One path more or less is the least, or all that may lie between where that is known.
    const double between = std::min(p.ready->control_jumps / n, p.ready->hidden_by_control);
    if (between > 0) of_paths = std::hypot(of_paths, between);
    // Where what is paid differs from the control in rare events alone, of which the pilot met none and these
    // paths few or none: as probable as they may be, the mean has a deviation of sqrt(3) / n times what one
    // of them leaves.
    const double rounding = rounding_of(*p.ready, m.mean);
    const double hits = m.m4 > 0 && of_paths >= rounding ? m.m2 * (m.m2 / m.m4) : 0.0;
    const double far_out = p.control && hits < thin_below ? p.control->left_far_out : 0;
    of_paths = std::hypot(of_paths, std::sqrt(rule_of_three) / n * far_out);
    const double standard_error = std::max(of_paths, rounding);
    row.randomisations = quasi ? quasi->units : 0;
    const double width = run::width_95(row.degrees_of_freedom()) * standard_error;
    const double low = m.mean - width, high = m.mean + width;
    if (!std::isfinite(m.mean) || !std::isfinite(standard_error) || !std::isfinite(low) ||
        !std::isfinite(high)) {
        fail(row, error(error_kind::numeric,
                        "the payoffs are too large for their mean and standard error to be numbers; "
                        "take a smaller notional"));
        return;
    }
    row.status = trade_status::priced;
    row.paths = paths;
    row.price = m.mean;
    row.standard_error = standard_error;
    row.low = low;
    row.high = high;
    row.effective_hits = hits;
    if (far_out > 0) {
        row.thin = true;
        row.message = fmt::format(
            "its control leaves something, about {:.3g}, in rare events alone, such as a jump, of which few "
            "paths or none met one: the error takes them to be as probable as 3 / paths = {:.3g}",
            far_out, rule_of_three / n);
    } else if (standard_error > of_paths || (m.m2 == 0 && between > 0)) {
        row.effective_hits = n;
    } else if (m.m2 == 0) {
        price_alike(row, plan::bounds_of(*p.ready->code, p.ready->data, p.ready->when), !quasi);
    } else if (row.effective_hits < thin_below || n < thin_below) {
        row.thin = true;
        row.message = "only about " + std::to_string(static_cast<long long>(row.effective_hits)) +
                      " paths carry the variance; take more paths before trusting the standard error";
    }
    check_value(row);
}

}  // namespace

bool jumping_programs::has(const ready_trade& t) {
    const std::lock_guard guard(lock_);
    const auto [at, is_new] = known_.try_emplace(t.code, false);
    if (is_new) at->second = !program::jumps_of(*t.code, t.data, t.when).empty();
    return at->second;
}

price_row row_of(const books::trade& t, const planned& p, std::optional<walked_trade>& walked,
                 std::uint64_t paths, jumping_programs& jumping) {
    price_row row;
    row.trade = t.id;
    row.product = t.product_name;
    row.quantity = t.quantity;
    row.where = t.where;
    if (p.ready) row.currency = p.ready->currency;
    row.remarks = p.ready ? p.ready->remarks : p.remarks;
    if (p.failure) {
        fail(row, *p.failure);
    } else if (p.ready->certain) {
        price_certain(row, p.ready->certain_value);
    } else {
        price_walked(row, walked->result, paths, walked->quasi, p, jumping);
        row.shadow_difference = walked->shadow_difference;
        row.part_means = std::move(walked->part_means);
        if (row.shadow_difference && !std::isfinite(*row.shadow_difference)) {
            row.shadow_difference.reset();
            row.remarks.emplace_back("in double its first paths gave no finite number to compare with");
        }
    }
    const bool is_priced = row.status == trade_status::priced;
    if (p.gpu_failure) tell_of_gpu(row, is_priced ? "priced on the CPU" : "tried on the CPU", *p.gpu_failure);
    if (is_priced && walked && walked->sample_failure)
        tell_of_gpu(row, "not compared with double", *walked->sample_failure);
    return row;
}

}  // namespace tilewalk::verbs
