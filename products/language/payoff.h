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

// The stream of random numbers that samples an asset's path between dates. Steps draw from another stream, so
// they take the same numbers whether the path is sampled or not.
inline std::string stream_between(const std::string& asset) {
    return asset + " between";
}

// One run of a block: on a date, or over the interval (start_years, years] between neighbouring grid times.
struct occurrence {
    double years = 0;        // from as_of to the date, or to the end of the interval
    double start_years = 0;  // start of the interval; equal to years on a date
    int index = 0;           // 1-based position in the block's times; 0 in an interval block
    // The script's interval. If a path stops inside, runs are parts of it, and statements act in the last
    // part.
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
    bool continuous = false;                // between A and B
    std::vector<double> times;              // the dates, increasing, past ones negative; or {A, B}
    double longest_step = 0;                // longest step between A and B, in years; 0: no limit
    bool in_equal_steps = false;            // equal intervals, even if the path stops elsewhere too
    std::optional<party> right_of;          // party that may end the trade on its dates
    int at_most = 0, at_least = 0;          // uses of the right; at_most 0: one, which ends the trade
    double notice = 0;                      // years from the decision to the date
    std::optional<std::size_t> notice_of;   // number of the block whose right is decided on here
    std::vector<dates::time_point> labels;  // the same times as written in the book
};

// The ends of an interval, in the coordinate in which the path between them is a Brownian bridge, and its
// variance. Jumps happen at the start; `unjumped` is the position before them, if there are any.
struct bridge {
    program::value start, end, variance;
    program::value unjumped{};
};
enum class interval_end { start, end };
enum class averaged { price, logarithm };

// Thrown if the models of the market do not determine a requested value of a later date.
class not_known_ahead : public error {
  public:
    not_known_ahead(const std::string& message, location where)
        : error(error_kind::input, message, std::move(where)) {}
};

// Maps the numbers that determine prices of later dates, one for each run, to those to be used instead.
class numbers_ahead {
  public:
    virtual ~numbers_ahead() = default;
    virtual std::vector<double> used(std::vector<double> in_the_market) = 0;
};

// Answers a script's questions about the date or interval at hand. The engine implements it for a model of
// the future and for past fixings. `asset` and `currency` are names from the trade's arguments. Values of
// later dates throw not_known_ahead if the models do not determine them.
class world {
  public:
    virtual ~world() = default;
    virtual program::value spot(const std::string& asset) = 0;
    // True if no path of the model takes the asset to 0 or below.
    virtual bool is_positive(const std::string& /*asset*/) const { return true; }
    // Units of the trade's currency for one unit of `currency`.
    virtual program::value fx(const std::string& currency) = 0;
    // The forward price on later dates, by run, in the trade's currency. `named` identifies the date in the
    // script.
    virtual program::value forward(const std::string& asset, std::span<const double> years,
                                   const std::string& named) = 0;
    // The value on the date at hand, in the trade's currency, of a call (else a put) with these exercise
    // dates.
    virtual program::value option_value(bool call, const std::string& asset, program::value strike,
                                        std::span<const double> years, const std::string& named) = 0;
    // The value on the date at hand, in `currency`, of one unit paid on later dates, one for each run.
    virtual program::value bond(const std::string& currency, std::span<const double> years,
                                const std::string& named) = 0;
    // Makes prices of later dates follow from the spot by the numbers of `by`, or by the market's if null.
    virtual void look_ahead_by(numbers_ahead* /*by*/) {}
    // Discount factor of a currency from as_of, in today's market.
    virtual double discount(const std::string& currency, double years) const = 0;
    // True if the rates of the currency are random: the present value of one unit, paid on the date at hand
    // or at an end of the interval, is then known along the path only.
    virtual bool has_random_rates(const std::string& currency) const;
    virtual program::value discount_on_path(const std::string& currency, interval_end at);

    // For interval blocks only.
    virtual bridge path_between(const std::string& asset) = 0;
    virtual program::value to_coordinate(const std::string& asset, program::value level, interval_end at) = 0;
    virtual program::value from_coordinate(const std::string& asset, program::value coordinate) = 0;
    // The mean price at a fraction (0 to 1) of the interval, where the coordinate has this mean and variance.
    virtual program::value mean_price(const std::string& asset, double fraction, program::value mean,
                                      program::value variance) = 0;
    // Called if prices depend on the length of intervals: the script uses an expectation for what happened
    // inside, or treats two answers about one interval as independent.
    virtual void approximates_inside() {}
    // The mean of the price's logarithm, and the variance of the mean price or logarithm, given both ends.
    virtual program::value mean_logarithm(const std::string& asset, const bridge& path) = 0;
    virtual program::value variance_of_mean(const std::string& asset, const bridge& path, averaged what) = 0;
    // True if the world answers from fixings; there is no bridge then.
    virtual bool is_past() const = 0;
    // Today's exchange rate, for payments to come whose amount the past has fixed. A past world only.
    virtual double fx_today(const std::string& currency) const;
};

// Numbers that a script compares by best, worst or nth: an expression for each asset of a list.
struct compared_assets {
    std::string expression;
    std::vector<std::string> assets;
    std::vector<program::value> values;  // by asset, on the date at hand
    bool is_smallest_first = false;      // for worst
};

// An input of decisions. If the models do not determine it, `number` is not valid and `why_unknown` set.
struct named_feature {
    program::value number;
    std::string why_unknown{};
};

// A right on one of its dates, or on its notice date, as seen by a path.
struct right_at_hand {
    std::size_t block = 0;
    party of = party::holder;
    std::span<const occurrence> runs;
    // The payment for using the right, and one unit paid on the date, both discounted to as_of in the trade's
    // currency. On a notice date `gives` is what the use would pay if the date were now.
    program::value gives, unit;
    program::value offered;  // a truth: the script says what it pays, and has not stopped
    program::value alive;    // a truth: the script has not stopped
    std::uint32_t value_state = 0;
    int at_most = 0, at_least = 0;
    double notice = 0;
    std::vector<named_feature> features;
    bool are_beside_states = false;  // features extend the states of the path instead of replacing them
    compared_assets compared;        // the first comparison in the block; no assets if there is none
};

// A right that can be used on as_of.
struct right_today {
    party of = party::holder;
    double gives = 0;  // includes earlier payments if it ends the trade
    int at_most = 0, at_least = 0;
};

class decider {
  public:
    virtual ~decider() = default;
    virtual void begins() {}
    // Records the truth of using the right into the open section.
    virtual program::value uses(const right_at_hand& right, program::recorder& into) = 0;
    // The features of the right look ahead by these numbers of the market, one for each later date, after
    // `before` others. Returns those to use, so that the decision stays the same function of the path in
    // other markets.
    virtual std::vector<double> looks_ahead(const right_at_hand&, std::size_t /*before*/,
                                            std::vector<double> in_the_market) {
        return in_the_market;
    }
    // Called at the last moment for deciding whether the right will be used.
    virtual void gives_notice(const right_at_hand&, program::recorder&) {}
    // Decides on a right of as_of. Returns true if it is used and the trade goes on.
    virtual bool uses_today(const right_today& right) = 0;
    // Called at the end of the step's section. The path stops at these times, the first of which is as_of.
    virtual void ends_step(std::span<const double> /*stops*/, program::recorder&) {}
    // If has_end, ends_path is called with a section open that runs once, after all others.
    virtual bool has_end() const { return false; }
    virtual void ends_path(std::uint32_t, program::recorder&) {}
};

class payoff {
  public:
    // Resolves dates against as_of. `trade_currency` is that of plain `pay`. `since` is the script's `start`,
    // from which `time` counts, by default as_of. Throws tilewalk::error (input).
    payoff(std::shared_ptr<const product> of, arguments args, dates::date as_of, std::string trade_currency,
           std::optional<dates::date> since = {});
    ~payoff();
    payoff(payoff&&) noexcept;
    payoff& operator=(payoff&&) noexcept;

    const std::vector<block>& blocks() const;
    bool has_rights() const;
    // Sets who decides on rights; without a decider none are recorded. `by` must outlive the recordings.
    void decide_by(decider* by);
    std::uint32_t value_state() const;  // after declare()
    // Gives each operation that may leave its domain an output in place of the payoff's; 0 if it did not.
    void tell_flaws_apart();
    // The checked operations: places and possible faults, in the order of outputs. Call after all is
    // recorded.
    std::vector<std::string> checked() const;
    std::vector<std::uint32_t> states_of_checked() const;
    // Assets and currencies whose spot, exchange rate, or else only interest rates the script can read.
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
