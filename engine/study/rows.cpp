// SPDX-License-Identifier: Apache-2.0
#include "engine/study/rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "engine/decide/controls/control.h"
#include "engine/plan/bounds.h"
#include "engine/walk/units.h"
#include "products/program/jumps.h"

namespace tilewalk::studies {

namespace {

// Appends what the failure of a GPU changed, unless the row already has the same message from the CPU.
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

// Fails the row if the quantity makes its value or error infinite, since files hold finite numbers only.
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

// An event that none of n paths showed has a probability below 3 / n at 95 %: (1 - 3 / n)^n < 0.05.
constexpr double rule_of_three = 3;

// Paths pay the same either because nothing is random, or because they missed what matters and show no error.
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
    row.message += "; the interval comes from the most and the least that a path can pay";
}

// Returns one path's share of the mean of a payoff that jumps, which moves by whole paths. Randomisations of
// points may all have equally many paths beyond the jump, and their spread shows too little then. A payoff
// with two values J apart, one on a share p of the paths, has the variance J^2 q and the fourth moment
// J^4 q (1 - 3 q), with q = p (1 - p). J follows from these, unless paths show a smaller step, as where a
// bridge has weighed a path down before a barrier. Returns 0 if the spread is four times as large, so that
// it would grow by 3 % at most.
double share_of_a_path(const run::estimate& of, const kernels::moments& m, const ready_trade& t) {
    if (m.m2 == 0) return 0;
    const double largest = std::sqrt(m.m4 / m.m2 + 3 * m.m2 / m.count);
    if (largest / m.count < of.standard_error / 4) return 0;
    const std::vector<program::jump> jumps = program::jumps_of(*t.code, t.data, t.when);
    if (jumps.empty()) return 0;
    const std::optional<double> shown = program::largest_step(*t.code, t.data, t.when, jumps);
    return std::min(largest, shown.value_or(largest)) / m.count;
}

// Returns the rounding of a mean with a control or integrated jumps, whose paths may all be equal; else 0.
double rounding_of(const ready_trade& t, double price) {
    return t.rounding * (std::abs(price) + std::abs(t.control_mean));
}

struct error_of_mean {
    double standard_error = 0;
    double of_paths = 0, hidden = 0;  // before rounding; part that paths do not show
    double hits = 0, far_out = 0;     // price_row::effective_hits; error of the control in rare events
};

error_of_mean error_of(const walked_trade& w, const planned& p) {
    const std::optional<run::estimate>& quasi = w.quasi;
    const kernels::moments& m = w.result.moments;
    const double n = m.count;
    double of_paths = quasi ? quasi->standard_error : run::standard_error_of(m);
    // A payoff and its control may jump at slightly different places. Few paths or none fall between, and
    // then show no error: count one path, or less if less may lie between. If both jump at one place and the
    // control is subtracted in part, the rest of its jump stays.
    double hidden = std::max(std::min(p.ready->control_jumps / n, p.ready->hidden_by_control),
                             w.added_back * p.ready->placed_jumps / n);
    if (quasi) hidden = std::max(hidden, share_of_a_path(*quasi, m, *p.ready));
    if (hidden > 0) of_paths = std::hypot(of_paths, hidden);
    // Payoff and control may differ on rare events that pilot and paths hardly met. If these are as probable
    // as can be, 3 / n, the mean deviates by sqrt(3) / n times the difference on one of them.
    const double rounding = rounding_of(*p.ready, m.mean);
    const double hits = m.m4 > 0 && of_paths >= rounding ? m.m2 * (m.m2 / m.m4) : 0.0;
    const double far_out = p.subtracts() != nullptr && hits < thin_below ? p.subtracts()->left_far_out : 0;
    of_paths = std::hypot(of_paths, std::sqrt(rule_of_three) / n * far_out);
    return {std::max(of_paths, rounding), of_paths, hidden, hits, far_out};
}

void price_walked(price_row& row, const walked_trade& w, std::uint64_t paths, const planned& p,
                  const std::string& flaw) {
    const kernels::tile_result& r = w.result;
    if (r.not_finite > 0) {
        const std::string what = flaw.empty() ? "a payment, or a number of its models, is too large" : flaw;
        fail(row, error(error_kind::numeric,
                        fmt::format("{} of {} paths gave no finite number, the first is path {}; {}",
                                    r.not_finite, paths, r.first_not_finite, what)));
        return;
    }
    const double mean = r.moments.mean, n = r.moments.count;
    const bool are_alike = r.moments.m2 == 0;
    const std::optional<run::estimate>& quasi = w.quasi;
    const auto [standard_error, of_paths, hidden, hits, far_out] = error_of(w, p);
    row.randomisations = quasi ? quasi->units : 0;
    // Only the spread of randomisations is skewed, so the parts added to the error reduce the skew.
    if (quasi && quasi->standard_error > 0)
        row.lean = quasi->lean * std::pow(quasi->standard_error / standard_error, 3);
    const run::ends_of_interval ends = run::ends_of(0.95, row.degrees_of_freedom(), row.lean);
    const double low = mean - ends.below * standard_error, high = mean + ends.above * standard_error;
    if (!std::isfinite(mean) || !std::isfinite(standard_error) || !std::isfinite(low) ||
        !std::isfinite(high)) {
        fail(row, error(error_kind::numeric,
                        "the payoffs are too large for their mean and standard error to be numbers; "
                        "take a smaller notional"));
        return;
    }
    row.status = trade_status::priced;
    row.paths = paths;
    row.price = mean;
    row.standard_error = standard_error;
    row.low = low;
    row.high = high;
    row.effective_hits = hits;
    if (far_out > 0) {
        row.thin = true;
        row.message = fmt::format(
            "its control variate misses only rare events, such as jumps, by about {:.3g}; few or no paths "
            "had "
            "one, so the error assumes that they have a probability of 3 / paths = {:.3g}",
            far_out, rule_of_three / n);
    } else if (standard_error > of_paths || (are_alike && hidden > 0)) {
        row.effective_hits = n;
    } else if (are_alike) {
        price_alike(row, plan::bounds_of(*p.ready->code, p.ready->data, p.ready->when), !quasi);
    } else if (row.effective_hits < thin_below || n < thin_below) {
        row.thin = true;
        row.message = "only about " + std::to_string(static_cast<long long>(row.effective_hits)) +
                      " paths carry the variance; take more paths before trusting the standard error";
    }
    check_value(row);
}

}  // namespace

price_row row_of(const books::trade& t, const planned& p, std::optional<walked_trade>& walked,
                 std::uint64_t paths, const std::string& flaw) {
    price_row row;
    row.trade = t.id;
    row.product = t.product_name;
    row.quantity = t.quantity;
    row.where = t.where;
    if (p.ready) row.currency = p.ready->currency;
    row.remarks = p.ready ? p.ready->remarks : p.remarks;
    if (!t.left_out.empty()) row.remarks.push_back(t.left_out);
    if (p.failure) {
        fail(row, *p.failure);
    } else if (p.ready->certain) {
        price_certain(row, p.ready->certain_value);
    } else {
        price_walked(row, *walked, paths, p, flaw);
        row.shadow_difference = walked->shadow_difference;
        row.part_means = std::move(walked->part_means);
        if (row.shadow_difference && !std::isfinite(*row.shadow_difference)) {
            row.shadow_difference.reset();
            row.remarks.emplace_back("in double its first paths gave no finite number to compare with");
        }
    }
    const bool is_priced = row.status == trade_status::priced;
    if (is_priced) row.error_steps = p.ready->error_steps.value_or(no_figure);
    if (p.gpu_failure) tell_of_gpu(row, is_priced ? "priced on the CPU" : "tried on the CPU", *p.gpu_failure);
    if (is_priced && walked && walked->sample_failure)
        tell_of_gpu(row, "not compared with double", *walked->sample_failure);
    return row;
}

}  // namespace tilewalk::studies
