// SPDX-License-Identifier: Apache-2.0
// Payoffs: a script with its arguments and dates, and its recording against a market (the world).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "products/language/product.h"
#include "products/program/recorder.h"
#include "tilewalk/error.h"

namespace tilewalk::language {

// The name of the stream of random numbers that samples an asset's path between dates. Steps draw from
// another stream, so their numbers are the same whether the path between dates is sampled or not.
inline std::string stream_between(const std::string& asset) {
    return asset + " between";
}

// One run of a block: on a date, or over the interval (start_years, years] between neighbouring grid times.
struct occurrence {
    double years = 0;        // from as_of to the date, or to the end of the interval
    double start_years = 0;  // start of the interval; equal to years on a date
    int index = 0;           // 1-based position in the block's times; 0 in an interval block
    // The ends of the script's whole interval. If a path stops inside it, each run covers a part, and
    // statements take effect in the last part.
    double begins = 0, ends = 0;

    bool opens() const { return start_years - begins < dates::same_time_years; }
    bool closes() const { return ends - years < dates::same_time_years; }
};
inline occurrence interval(double from, double to) {
    return {to, from, 0, from, to};
}
inline occurrence on_date(double years, int index) {
    return {years, years, index, years, years};
}

struct block {
    std::string name;                       // for people: "on observations (line 12)"
    bool continuous = false;                // block of the form `between A and B`
    std::vector<double> times;              // the dates, increasing, past ones negative; or {A, B}
    double longest_step = 0;                // longest step between A and B, in years; 0: no limit
    bool in_equal_steps = false;            // intervals of equal length, even if the path stops inside one
    std::optional<party> right_of;          // party that may end the trade on its dates
    int at_most = 0, at_least = 0;          // uses of the right; at_most 0: one use ends the trade
    double notice = 0;                      // years from the decision to the date
    std::optional<std::size_t> notice_of;   // number of the block whose right is decided on here
    std::vector<dates::time_point> labels;  // `times` as written in the book
};

// The ends of a path in an interval, in the coordinate in which it is a Brownian bridge, and the bridge's
// variance. Jumps happen at the start. `unjumped` is the position before them, not valid without jumps.
struct bridge {
    program::value start, end, variance;
    program::value unjumped{};
};
enum class interval_end { start, end };
enum class averaged { price, logarithm };

// Thrown if a script asks for a value of a later date that the models of the market do not determine.
class not_known_ahead : public error {
  public:
    not_known_ahead(const std::string& message, location where)
        : error(error_kind::input, message, std::move(where)) {}
};

// Replaces the numbers that determine prices of a later date: gets and returns one for each run.
class numbers_ahead {
  public:
    virtual ~numbers_ahead() = default;
    virtual std::vector<double> used(std::vector<double> in_the_market) = 0;
};

// The market as a script sees it: answers questions about the date or interval at hand. The engine implements
// it for a model of the future and for past fixings. `asset` and `currency` are names from the trade's
// arguments. Questions about later dates throw not_known_ahead if the models do not determine the answer.
class world {
  public:
    virtual ~world() = default;
    virtual program::value spot(const std::string& asset) = 0;
    // True if no path of the model takes the asset to 0 or below.
    virtual bool is_positive(const std::string& /*asset*/) const { return true; }
    // Units of the trade's currency for one unit of `currency`.
    virtual program::value fx(const std::string& currency) = 0;
    // Forward prices for `years`, one later date for each run, in the trade's currency. `named` is the
    // script's text of the date.
    virtual program::value forward(const std::string& asset, std::span<const double> years,
                                   const std::string& named) = 0;
    // The value, on the date at hand and in the trade's currency, of a European call (else a put) that
    // expires at `years`, one date for each run.
    virtual program::value option_value(bool call, const std::string& asset, program::value strike,
                                        std::span<const double> years, const std::string& named) = 0;
    // The value on the date at hand, in `currency`, of one unit paid at `years`, one later date for each run.
    virtual program::value bond(const std::string& currency, std::span<const double> years,
                                const std::string& named) = 0;
    // From now on, prices of later dates use the numbers that `by` returns, or the market's own if null.
    virtual void look_ahead_by(numbers_ahead* /*by*/) {}
    // Today's discount factor of `currency` for a payment at `years`.
    virtual double discount(const std::string& currency, double years) const = 0;
    // True if the currency's interest rates are random. The present value of one unit, paid on the date at
    // hand or at an end of the interval, is then known along the path only.
    virtual bool has_random_rates(const std::string& currency) const;
    virtual program::value discount_on_path(const std::string& currency, interval_end at);

    // For interval blocks only, like the other functions of `asset` below.
    virtual bridge path_between(const std::string& asset) = 0;
    virtual program::value to_coordinate(const std::string& asset, program::value level, interval_end at) = 0;
    virtual program::value from_coordinate(const std::string& asset, program::value coordinate) = 0;
    // The mean price at a fraction (0 to 1) of the interval, given the coordinate's mean and variance there.
    virtual program::value mean_price(const std::string& asset, double fraction, program::value mean,
                                      program::value variance) = 0;
    // Called if the trade's price depends on the length of intervals: the script uses an expectation in place
    // of a sample of the path inside, or treats two answers about one interval as independent.
    virtual void approximates_inside() {}
    // The mean of the price's logarithm over the interval, and the variance of the mean price or logarithm,
    // both given the two ends of the path.
    virtual program::value mean_logarithm(const std::string& asset, const bridge& path) = 0;
    virtual program::value variance_of_mean(const std::string& asset, const bridge& path, averaged what) = 0;
    // True if the world answers from past fixings; path_between() has no answer then.
    virtual bool is_past() const = 0;
    // Today's exchange rate, for amounts fixed in the past and paid in the future. Only in a past world.
    virtual double fx_today(const std::string& currency) const;
};

// Numbers that a script compares by best, worst or nth: an expression for each asset of a list.
struct compared_assets {
    std::string expression;
    std::vector<std::string> assets;
    std::vector<program::value> values;  // one for each asset, on the date at hand
    bool is_smallest_first = false;      // true if compared by `worst`
};

// An input of decisions. If models do not determine it, `number` is not valid and `why_unknown` says why.
struct named_feature {
    program::value number;
    std::string why_unknown{};
};

// A right on one of its dates, or on its notice date, as seen by a path.
struct right_at_hand {
    std::size_t block = 0;
    party of = party::holder;
    std::span<const occurrence> runs;
    // `gives` is the payment for using the right, `unit` one unit paid on the date, both discounted to as_of
    // in the trade's currency. On a notice date `gives` is the payment if the right were used now.
    program::value gives, unit;
    program::value offered;  // a truth: the right has a payment here, and the script has not stopped
    program::value alive;    // a truth: the script has not stopped
    std::uint32_t value_state = 0;
    int at_most = 0, at_least = 0;
    double notice = 0;
    std::vector<named_feature> features;
    bool are_beside_states = false;  // features are used beside the states of the path, not in place of them
    compared_assets compared;        // the first comparison in the block; no assets if there is none
};

// A right that can be used on as_of.
struct right_today {
    party of = party::holder;
    double gives = 0;  // the payment; with all earlier payments if its use ends the trade
    int at_most = 0, at_least = 0;
};

class decider {
  public:
    virtual ~decider() = default;
    virtual void begins() {}
    // Records the decision into the open section and returns it: a truth, true on paths that use the right.
    virtual program::value uses(const right_at_hand& right, program::recorder& into) = 0;
    // Called when a feature of the right needs prices of a later date; `in_the_market` are the market's
    // numbers for it, one for each run, after `before` earlier calls for this right. Returns the numbers to
    // use, so that the decision stays the same function of the path in other markets.
    virtual std::vector<double> looks_ahead(const right_at_hand&, std::size_t /*before*/,
                                            std::vector<double> in_the_market) {
        return in_the_market;
    }
    // Called on a notice date, the last moment at which the use of the right can be decided on.
    virtual void gives_notice(const right_at_hand&, program::recorder&) {}
    // Decides on a right that can be used on as_of. Returns true if it is used and the trade goes on.
    virtual bool uses_today(const right_today& right) = 0;
    // Called at the end of the step's section. `stops` are the times at which paths stop, from as_of on.
    virtual void ends_step(std::span<const double> /*stops*/, program::recorder&) {}
    // True if ends_path() is to be called, with a section open that runs once, after all others.
    virtual bool has_end() const { return false; }
    virtual void ends_path(std::uint32_t, program::recorder&) {}
};

class payoff {
  public:
    // Resolves dates against as_of. `trade_currency` is the currency of a `pay` without `in`. `since` is the
    // script's `start`, from which `time` counts; empty: as_of. Throws tilewalk::error (input).
    payoff(std::shared_ptr<const product> of, arguments args, dates::date as_of, std::string trade_currency,
           std::optional<dates::date> since = {});
    ~payoff();
    payoff(payoff&&) noexcept;
    payoff& operator=(payoff&&) noexcept;

    const std::vector<block>& blocks() const;
    bool has_rights() const;
    // Sets who decides on rights; without a decider nobody uses them. `by` must outlive the recordings.
    void decide_by(decider* by);
    std::uint32_t value_state() const;  // valid after declare()
    // Replaces the payoff's output by one output for each operation that may leave its domain. The output is
    // 0 on paths where the operation does not leave it.
    void tell_flaws_apart();
    // Describes each checked operation, its place and possible faults, in the order of the outputs. Call this
    // after all blocks are recorded.
    std::vector<std::string> checked() const;
    std::vector<std::uint32_t> states_of_checked() const;
    // The assets and currencies whose spot or exchange rate, or else only interest rates, the script can
    // read.
    const std::vector<std::string>& assets() const;
    const std::vector<std::string>& currencies() const;
    const std::vector<std::string>& rate_currencies() const;

    // Declares the script's states in `into`, which must be eager, and sets their first values by the
    // statements above all blocks. Throws tilewalk::error (input) if the script refuses its arguments. State
    // "value" is the result of a path: payments discounted to as_of in the trade's currency.
    void declare(program::recorder& into);
    // Records block `number` into the open section, one row for each run. An eager recorder executes one run.
    void record(std::size_t number, std::span<const occurrence> runs, world& market, program::recorder& into);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tilewalk::language
