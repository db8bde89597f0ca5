// SPDX-License-Identifier: Apache-2.0
// Payoffs: a script with its arguments, the dates that it watches, and its recording against a world that
// answers for the market.
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

// The name of the stream of random numbers that sample an asset's path between dates. Its steps draw from
// another, and so the same numbers whether it is watched or not.
inline std::string stream_between(const std::string& asset) {
    return asset + " between";
}

// One run of a block: on a date, or over the interval (start_years, years] between neighbouring grid times.
struct occurrence {
    double years = 0;        // from as_of to the date at hand, or to the end of the interval
    double start_years = 0;  // start of the interval; equal to years on a date
    int index = 0;           // 1-based position in the block's times; 0 in an interval block
    // The interval that the script speaks of. A path may stop inside; the run is then a part of it, and the
    // last part is where the script's statements count.
    double begins = 0, ends = 0;

    bool opens() const { return start_years - begins < dates::same_time_years; }
    bool closes() const { return ends - years < dates::same_time_years; }
};
// A run over a whole interval.
inline occurrence interval(double from, double to) {
    return {to, from, 0, from, to};
}
// A run on a date.
inline occurrence on_date(double years, int index) {
    return {years, years, index, years, years};
}

// A block of the script: `on DATES:` or `between A and B:`.
struct block {
    std::string name;                       // for people: "on observations (line 12)"
    bool continuous = false;                // between A and B
    std::vector<double> times;              // the dates, increasing, negative ones are past; or {A, B}
    double longest_step = 0;                // between A and B, of a path or a right, in years; 0: no limit
    bool in_equal_steps = false;            // runs over equal intervals, wherever else the path stops
    std::optional<party> right_of;          // who may end the trade on its dates
    int at_most = 0, at_least = 0;          // how often the right is used; 0 at most: once, as the end
    double notice = 0;                      // years before the date at which the right is decided on
    std::optional<std::size_t> notice_of;   // the right that is decided on here, by another block's number
    std::vector<dates::time_point> labels;  // the same times as the book wrote them
};

// Two ends of an interval in the coordinate in which the path between them is a Brownian bridge, and its
// variance. Jumps come before it starts; where there may be some, `unjumped` is where the path was before.
struct bridge {
    program::value start, end, variance;
    program::value unjumped{};
};
enum class interval_end { start, end };
enum class averaged { price, logarithm };

// The models of the trade's market do not say a value of dates to come that is asked for.
class not_known_ahead : public error {
  public:
    not_known_ahead(const std::string& message, location where)
        : error(error_kind::input, message, std::move(where)) {}
};

// Takes numbers by which prices of later dates follow from what a path has, one for each run, and gives those
// that are to be used in their place.
class numbers_ahead {
  public:
    virtual ~numbers_ahead() = default;
    virtual std::vector<double> used(std::vector<double> in_the_market) = 0;
};

// Answers to a script's questions about the date or interval at hand. The engine implements it twice: over a
// model for dates to come, and over past fixings. `asset` and `currency` are names from the trade's
// arguments. Values of later dates throw not_known_ahead where the models do not say them.
class world {
  public:
    virtual ~world() = default;
    virtual program::value spot(const std::string& asset) = 0;
    // Whether the model says that no path takes the asset to 0 or below.
    virtual bool is_positive(const std::string& /*asset*/) const { return true; }
    // Units of the trade's currency for one unit of `currency`.
    virtual program::value fx(const std::string& currency) = 0;
    // The forward price of the asset for later dates, one for each run, in the trade's currency. `named`
    // tells one date of the script from another.
    virtual program::value forward(const std::string& asset, std::span<const double> years,
                                   const std::string& named) = 0;
    // The value, on the date at hand and in the trade's currency, of a call (else a put) on the asset with
    // this strike and these dates of exercise.
    virtual program::value option_value(bool call, const std::string& asset, program::value strike,
                                        std::span<const double> years, const std::string& named) = 0;
    // The value, on the date at hand and in that currency, of one unit paid on dates to come, one for each
    // run.
    virtual program::value bond(const std::string& currency, std::span<const double> years,
                                const std::string& named) = 0;
    // From now on prices of later dates follow from the spot by the numbers that `by` gives; null: by the
    // market's. It outlives what is asked.
    virtual void look_ahead_by(numbers_ahead* /*by*/) {}
    // Discount factor of a currency from as_of, as the market has it today.
    virtual double discount(const std::string& currency, double years) const = 0;
    // True if the rates of the currency are random. Then the present value of one unit of it, paid on the
    // date at hand or at an end of the interval, is known along the path only.
    virtual bool has_random_rates(const std::string& currency) const;
    virtual program::value discount_on_path(const std::string& currency, interval_end at);

    // Interval blocks only.
    virtual bridge path_between(const std::string& asset) = 0;
    virtual program::value to_coordinate(const std::string& asset, program::value level, interval_end at) = 0;
    virtual program::value from_coordinate(const std::string& asset, program::value coordinate) = 0;
    // The mean price at a fraction of the interval (0 is its start, 1 its end), where the coordinate is
    // normal with this mean and variance.
    virtual program::value mean_price(const std::string& asset, double fraction, program::value mean,
                                      program::value variance) = 0;
    // Told where the script takes what both ends of an interval let expect for what happened inside, or two
    // answers about one interval as if neither said anything of the other: prices then depend on how long
    // intervals are.
    virtual void approximates_inside() {}
    // Over the interval, given both ends of such a path: the mean of the price's logarithm, and the variance
    // of the mean of the price or of its logarithm.
    virtual program::value mean_logarithm(const std::string& asset, const bridge& path) = 0;
    virtual program::value variance_of_mean(const std::string& asset, const bridge& path, averaged what) = 0;
    // In the past there is no bridge: the script asks for fixings instead.
    virtual bool is_past() const = 0;
    // The exchange rate on as_of. It converts payments to come whose amount the past has fixed. Only a past
    // world has it.
    virtual double fx_today(const std::string& currency) const;
};

// Numbers that a script compares by best, worst or nth: an expression for each asset of a list.
struct compared_assets {
    std::string expression;
    std::vector<std::string> assets;
    std::vector<program::value> values;  // by asset, on the date at hand
    bool is_smallest_first = false;      // by worst
};

// A number that the product names for decisions to be taken by. One that stands beside the states of the path
// is not valid where the models do not know it.
struct named_feature {
    program::value number;
    std::string why_unknown{};
};

// A right on one of its dates, as a path knows it; or at the notice before.
struct right_at_hand {
    std::size_t block = 0;
    party of = party::holder;
    std::span<const occurrence> runs;
    // The payment for using it, and one unit paid on the date: discounted to as_of, in the trade's currency.
    // At its notice it is what the use would pay if the date were now.
    program::value gives, unit;
    program::value offered;  // a truth: the script says what it pays, and has not stopped
    program::value alive;    // a truth: the script has not stopped
    std::uint32_t value_state = 0;
    int at_most = 0, at_least = 0;
    double notice = 0;
    std::vector<named_feature> features;
    bool are_beside_states = false;  // features come beside the states of the path, or in their place
    compared_assets compared;        // first in the block; no assets: nothing is compared
};

// A right that is there on as_of.
struct right_today {
    party of = party::holder;
    double gives = 0;  // with what is paid before, if it ends the trade
    int at_most = 0, at_least = 0;
};

// Decides whether rights are used.
class decider {
  public:
    virtual ~decider() = default;
    // A recording begins; those before it count for nothing.
    virtual void begins() {}
    // A truth, recorded into the section that is open.
    virtual program::value uses(const right_at_hand& right, program::recorder& into) = 0;
    // The features of the right look ahead by these numbers of the market, one for each date to come; so many
    // were asked for before. Gives those that the decision takes, which stays the same function of the path
    // in other markets so.
    virtual std::vector<double> looks_ahead(const right_at_hand&, std::size_t /*before*/,
                                            std::vector<double> in_the_market) {
        return in_the_market;
    }
    // The last moment at which it may be decided that the right will be used.
    virtual void gives_notice(const right_at_hand&, program::recorder&) {}
    // A right that is there on as_of. True if it is used and the trade goes on.
    virtual bool uses_today(const right_today& right) = 0;
    // The step is recorded; it is still open. The path stops at these times, the first of which is as_of.
    virtual void ends_step(std::span<const double> /*stops*/, program::recorder&) {}
    // A section that runs once, after all others, is open.
    virtual bool has_end() const { return false; }
    virtual void ends_path(std::uint32_t, program::recorder&) {}
};

class payoff {
  public:
    // Resolves dates against as_of. `trade_currency` is the currency of plain `pay`. `since` is the day that
    // the script calls start, and from which it counts `time`: that on which the trade was priced first,
    // as_of if left out. Throws tilewalk::error (input).
    payoff(std::shared_ptr<const product> of, arguments args, dates::date as_of, std::string trade_currency,
           std::optional<dates::date> since = {});
    ~payoff();
    payoff(payoff&&) noexcept;
    payoff& operator=(payoff&&) noexcept;

    const std::vector<block>& blocks() const;
    bool has_rights() const;
    // Decides on rights: none are recorded where there is no such. It outlives the recordings.
    void decide_by(decider* by);
    std::uint32_t value_state() const;  // once declared
    // From now on operations that may leave their domain are told apart: each has an output of its own in the
    // place of the payoff's, which ends as 0 on paths on which it did not.
    void tell_flaws_apart();
    // The operations that paths are checked for, with their places and what they may do, in the order of the
    // outputs that tell them apart; once all is recorded.
    std::vector<std::string> checked() const;
    std::vector<std::uint32_t> states_of_checked() const;
    // Assets whose spot the script can ask for, currencies whose exchange rate it can ask for, and others
    // whose interest rates it can ask for.
    const std::vector<std::string>& assets() const;
    const std::vector<std::string>& currencies() const;
    const std::vector<std::string>& rate_currencies() const;

    // Declares the script's states in `into`, which must be eager, and sets their first values (the
    // statements above all blocks). Throws tilewalk::error (input) if the script refuses its arguments. The
    // result of a path is state "value": payments discounted to as_of in the trade's currency.
    void declare(program::recorder& into);
    // Records block `number` into the section that is open. One row a member of `runs`. With an eager
    // recorder `runs` has one member and the block is played at once.
    void record(std::size_t number, std::span<const occurrence> runs, world& market, program::recorder& into);

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tilewalk::language
