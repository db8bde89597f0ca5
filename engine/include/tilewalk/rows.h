// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk {

enum class trade_status { priced, failed };

// A missing figure: a quiet NaN. CSV files leave it empty, JSON has null.
inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
constexpr bool is_figure(double x) {
    return x == x;
}

// An extra answer that the trade's `report:` requests.
struct reported_figure {
    std::string what;  // "implied_volatility", "fair_strike"
    double value = no_figure;
    double standard_error = no_figure;
    std::string message;  // why the value is missing
};

// Bounds on the price of a trade with early exercise. An exercise policy bounds it on one side, a martingale
// on the other. price_row::price is their middle, or the policy's value if the bounds are far apart.
struct early_exercise {
    // Value if rights are used as the policy says, on paths independent of those that it was trained on.
    double policy_value = no_figure, policy_error = no_figure;
    // Bounds; missing if holder and issuer both have rights, since the policy's value is then no bound.
    double lower_bound = no_figure, lower_error = no_figure;
    double upper_bound = no_figure, upper_error = no_figure;
    // True if the bounds are further apart than `wide_above` times the policy's value and than 4 times its
    // error. The policy's value is then the price, since it is usually nearer to the truth than the bound of
    // a poor martingale.
    bool wide = false;
    // The price extrapolated to continuous exercise, if the trade states a right every so many years between
    // two dates, and the size of its possible error. The bounds are for the stated dates.
    double extrapolated = no_figure, step_error = no_figure;
    std::uint64_t training_paths = 0;
    std::vector<double> part_means{};
};
// Sets early_exercise::wide. The middle of closer bounds is off by at most half of this.
inline constexpr double wide_above = 0.02;

struct price_row {
    std::string trade;  // id in the book
    std::string product;
    std::string currency;
    trade_status status = trade_status::failed;
    double quantity = 1;  // missing if the quantity of a failed trade could not be read
    double price = 0;     // price of one unit, discounted to as_of
    // 0 if nothing is random; missing for a single path, or if a random payoff was the same on all paths.
    double standard_error = 0;
    double low = 0, high = 0;  // 95 % interval of the price, or missing
    // Skewness of the mean over randomisations, by which the interval is skewed; 0 for independent paths.
    double lean = 0;
    std::uint64_t paths = 0;
    // Fingerprint of the random numbers: equal for figures on the same paths; 0 if no path was needed.
    std::uint64_t walk = 0;
    // True if the interval is wider than the tolerance; `message` says what would reach it.
    bool misses_tolerance = false;
    // Randomisations of quasi-random points; their spread is the standard error. 0: independent paths.
    std::uint64_t randomisations = 0;
    std::string construction;  // of Brownian paths from quasi-random points; else empty
    // Choices of pilot runs for the trade, as JSON (see tilewalk/decisions.h); empty if none were made.
    std::string decisions;
    // Number of paths that carry the variance: paths / kurtosis of the payoff. If it is below `thin_below`,
    // the standard error is itself unreliable, and `thin` is true.
    double effective_hits = 0;
    bool thin = false;
    // Bound on the error from time steps, not in standard_error; 0: paths are exact, missing: unknown.
    double error_steps = no_figure;
    // Price minus the price in double, on a sample of the paths; empty if the price is in double.
    std::optional<double> shadow_difference;
    std::string message;                     // why it failed, or a warning about the figure
    error_kind kind = error_kind::internal;  // kind of error of a failed trade
    location where;                          // place of the trade or the error
    // Remarks on odd inputs of the trade or market, a sentence each; the price is right for these inputs.
    std::vector<std::string> remarks;
    std::optional<reported_figure> reported;
    std::optional<early_exercise> early;  // trades with early exercise only
    // Mean of each part of the run: run_manifest::part_paths paths, fewer in the last. All trades have the
    // same parts, so these show how errors correlate. Empty if no path was needed or a file lacks them.
    std::vector<double> part_means;

    bool has_error() const { return is_figure(standard_error); }
    // True if time steps may leave a larger error than chance, so that more paths do not help.
    bool is_steps_error_larger() const {
        return status == trade_status::priced && error_steps > standard_error;
    }
    // Degrees of freedom for Student's t; practically infinite for independent paths.
    double degrees_of_freedom() const {
        return randomisations > 0 ? static_cast<double>(randomisations - 1) : 1e300;
    }
    bool has_interval() const { return is_figure(low) && is_figure(high); }
    double value() const { return quantity * price + 0.0; }  // -1 times 0 is 0
    // Totals use the policy's value of trades with early exercise: the middle of bounds is no sample mean.
    double value_in_totals() const { return quantity * (early ? early->policy_value : price) + 0.0; }
    double error_in_totals() const {
        return (quantity < 0 ? -quantity : quantity) * (early ? early->policy_error : standard_error);
    }
    double value_error() const { return (quantity < 0 ? -quantity : quantity) * standard_error; }
};
inline constexpr double thin_below = 100;

struct currency_total {
    std::string currency;
    std::uint64_t trades = 0;
    std::uint64_t without_error = 0;  // how many of these trades lack a standard error
    // How many of these trades have early exercise, and so count with their policy's value.
    std::uint64_t by_policy = 0;
    double value = 0;  // missing if it overflows
    // Standard error and 95 % interval by Student's t, from the spread over parts of the run, which includes
    // correlation between trades. Missing below `least_parts` parts, or if a trade lacks an error or parts.
    double error = no_figure, low = no_figure, high = no_figure;
    // Sum of the trades' standard errors: an upper limit for any correlation. Missing if a trade has none.
    double error_at_most = 0;
    // Sum of price_row::error_steps, for all units; missing if a trade has none.
    double error_steps = 0;
};
inline constexpr std::size_t least_parts = 16;

struct greek_row {
    std::string trade;    // empty for the total in a currency
    std::string measure;  // "delta", "vega"
    // Key of the market number, or two: "ACME.spot;BETA.spot". Empty: all of the measure move at once.
    std::string key;
    std::string unit;  // "USD per 1 bp"
    double value = no_figure;
    double standard_error = no_figure;
    // "pathwise": derivative of each path; "smoothed": the same, with jumps of the payoff smoothed;
    // "likelihood_ratio": the same, with normals moved to hold jumps still, plus their score; "bump":
    // difference of two prices on common random numbers; "bumped_pathwise": difference of two derivatives.
    std::string method;
    std::uint64_t paths = 0;
    // Fingerprint, see price_row. Also 0 if parts of the run follow policies of their own on different paths.
    std::uint64_t walk = 0;
    // Estimated error of finite differences (from half the bump) or smoothing (from twice the width); else 0.
    double bias = 0;
    std::string message;                     // why the value is missing
    error_kind kind = error_kind::internal;  // kind of error if it failed
    std::vector<double> part_means;          // mean of each part of the run, see price_row

    bool has_failed() const { return !message.empty(); }
};

}  // namespace tilewalk
