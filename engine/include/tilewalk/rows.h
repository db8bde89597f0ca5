// SPDX-License-Identifier: Apache-2.0
// Rows of results: the price of a trade, a total, a sensitivity.
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

// Stands for a figure that does not exist. It is a quiet NaN, so anything computed from it is none, too.
// Files leave such a figure empty (CSV) or null (JSON).
inline constexpr double no_figure = std::numeric_limits<double>::quiet_NaN();
constexpr bool is_figure(double x) {
    return x == x;
}

// An answer beside the price, for a trade that asks for it (`report:`).
struct reported_figure {
    std::string what;  // "implied_volatility", "fair_strike"
    double value = no_figure;
    double standard_error = no_figure;
    std::string message;  // why there is none
};

// The value of a trade that its holder or its issuer may end early. A policy that was found on paths of its
// own is a bound on one side, since nobody has to follow the best one; the other side comes from a
// martingale. The price is the middle of both, or what the policy is worth where they are far apart.
struct early_exercise {
    // The trade's worth if rights are used as the policy says, which is the bound on one side.
    double policy_value = no_figure, policy_error = no_figure;
    // None where holder and issuer both have rights, for which the policy's worth is no bound.
    double lower_bound = no_figure, lower_error = no_figure;
    double upper_bound = no_figure, upper_error = no_figure;
    // The bounds are further apart than `wide_above` of what the policy is worth, which is the price then:
    // a policy is nearer to the best one than a poor martingale is to the best of these.
    bool wide = false;
    // The price of a right that is there every so many years between two dates, if it were there all the
    // time, and how far that may be wrong. The bounds are of the dates stated.
    double extrapolated = no_figure, step_error = no_figure;
    std::uint64_t training_paths = 0;
    // The policy's worth by part of the run.
    std::vector<double> part_means{};
};
// The middle of bounds that are no further apart is off by half of this at most.
inline constexpr double wide_above = 0.02;

struct price_row {
    std::string trade;  // id
    std::string product;
    std::string currency;  // of the price
    trade_status status = trade_status::failed;
    double quantity = 1;  // none (`no_figure`) for a failed trade whose quantity could not be read
    double price = 0;     // one unit, discounted to as_of
    // Standard error of price. 0 where nothing random is in it; none (`no_figure`) where the paths do not
    // show one: of a single path, and of a payoff that could vary and on no path did.
    double standard_error = 0;
    double low = 0, high = 0;  // 95 % interval, or none
    // The skewness of the randomisations' means over the root of their number: the interval reaches further
    // to one side. 0 where there are none.
    double lean = 0;
    std::uint64_t paths = 0;
    // The fingerprint of the random numbers of these paths, whoever walked them: figures of a trade that have
    // one fingerprint are of the same paths. 0 where none was needed.
    std::uint64_t walk = 0;
    // The interval that was asked for (`tolerance`) is wider still; the message says what it would take.
    bool misses_tolerance = false;
    // Independent randomisations of quasi-random points, whose spread is the standard error; 0: it is that of
    // independent paths.
    std::uint64_t randomisations = 0;
    std::string construction;  // the way in which these points make Brownian paths; empty without them
    // Decisions of pilots about the trade beside these, such as its control, as JSON that the setting
    // `decisions` takes; empty: none.
    std::string decisions;
    // The number of paths that carry the variance: paths / kurtosis of the payoff. Below `thin_below` the
    // standard error itself is not to be trusted, and `thin` is set.
    double effective_hits = 0;
    bool thin = false;
    // The error that the time steps of models leave in the price, at most, as far as it is known: 0 where
    // paths are exact between dates, none where nobody has measured it. The standard error knows nothing of
    // it.
    double error_steps = no_figure;
    // The distance of a price that is not in double from double, on the paths of the shadow sample.
    std::optional<double> shadow_difference;
    std::string message;                     // why it failed, or why the figure is to be read with care
    error_kind kind = error_kind::internal;  // of a failure
    location where;                          // the trade in its file, or the place of the error
    // Remarks on what looks odd about the trade or its market, a sentence each, though the price is right for
    // them.
    std::vector<std::string> remarks;
    std::optional<reported_figure> reported;
    std::optional<early_exercise> early;  // of a trade that can be ended early
    // The mean of each part of the run, which has `run_manifest::part_paths` paths, the last as many as are
    // left. Trades of a run walk the same parts, so the means tell what their errors have in common. Empty
    // for a trade that needed no path, and in results that were read from a file without them.
    std::vector<double> part_means;

    bool has_error() const { return is_figure(standard_error); }
    // True if time steps are known to leave more than chance does, so that more paths do not help.
    bool is_steps_error_larger() const {
        return status == trade_status::priced && error_steps > standard_error;
    }
    // The degrees of freedom of the standard error; so many that Student's t is the normal, if it is that of
    // independent paths.
    double degrees_of_freedom() const {
        return randomisations > 0 ? static_cast<double>(randomisations - 1) : 1e300;
    }
    bool has_interval() const { return is_figure(low) && is_figure(high); }
    double value() const { return quantity * price + 0.0; }  // -1 times 0 is 0
    // Totals take the value, or, of a trade that can be ended early, the quantity times what its policy is
    // worth. Bounds are no sample of one payoff, so their middle has no error in common with others.
    double value_in_totals() const { return quantity * (early ? early->policy_value : price) + 0.0; }
    double error_in_totals() const {
        return (quantity < 0 ? -quantity : quantity) * (early ? early->policy_error : standard_error);
    }
    double value_error() const { return (quantity < 0 ? -quantity : quantity) * standard_error; }
};
inline constexpr double thin_below = 100;

// All that is priced in one currency.
struct currency_total {
    std::string currency;
    std::uint64_t trades = 0;
    std::uint64_t without_error = 0;  // of these, trades that have no standard error
    // Trades among these that can be ended early, which count with what their policies are worth.
    std::uint64_t by_policy = 0;
    double value = 0;  // none where the sum is too large for a number
    // The standard error of the value and its 95 % interval, by Student's t: from how much the total differs
    // between parts of the run, and so with all that trades have in common. None where there are fewer than
    // `least_parts`, where a trade has no error, and where its parts are not known.
    double error = no_figure, low = no_figure, high = no_figure;
    // The plain sum of the errors, which the error never exceeds, whatever the dependence. None where a trade
    // has none.
    double error_at_most = 0;
    // The plain sum of what time steps leave in the values. None where it is not known of a trade.
    double error_steps = 0;
};
inline constexpr std::size_t least_parts = 16;

// A sensitivity of a trade's value, its quantity counted.
struct greek_row {
    std::string trade;    // id; empty: all trades in one currency
    std::string measure;  // "delta", "vega"
    // The number of the market, or two of them: "ACME.spot;BETA.spot"; empty: all numbers of the measure move
    // together.
    std::string key;
    std::string unit;  // in words: "USD per 1 bp"
    double value = no_figure;
    double standard_error = no_figure;
    // "pathwise": the derivative of each path; "smoothed": that of paths whose jumps are smoothed;
    // "likelihood_ratio": that of paths whose jumps stand still, with the score of what holds them; "bump":
    // the difference of two prices of common random numbers; "bumped_pathwise": that of two derivatives.
    std::string method;
    std::uint64_t paths = 0;
    // As that of a price. 0 where none was needed, and where several have been walked: parts of a run that
    // follow policies of their own.
    std::uint64_t walk = 0;
    // The size of the error that a difference of finite moves makes, found by halving them, and of that which
    // smoothing makes, found by doubling its width; 0: the method has none.
    double bias = 0;
    std::string message;                     // why there is no value
    error_kind kind = error_kind::internal;  // of a failure
    std::vector<double> part_means;          // of the value, by part of the run

    bool has_failed() const { return !message.empty(); }
};

}  // namespace tilewalk
