// SPDX-License-Identifier: Apache-2.0
// Facts about a trade before it is priced: why it can't be, the market numbers it depends on, how and from
// which numbers it will be priced, and some of its paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/market_numbers.h"

namespace tilewalk {

struct trade_problem {
    std::string trade;
    std::string failure;
    location where;
};

struct trade_dependence {
    std::string trade;
    std::vector<market_number> numbers;  // in the order of the market's file
    std::string failure;                 // why planning failed; empty if it did not
    location where;
};

struct trade_term {
    std::string name, type;  // of the product's parameter: "strike", "amount"
    // schedule or asset list, each of whose entries has a value; empty: one value for all
    std::string per;
    bool is_list = false;
    std::vector<std::string> values;  // one value, or those of the list; dates in ISO form or as "0.25y"
    std::vector<double> numbers;      // numeric values; of dates, years from as_of
    std::string written;              // rule for the dates as the trade writes it; may be empty
    bool is_default = false;          // value from the product, not the trade
};

// A model parameter of the market: values[i] up to years[i], or a single value if `years` is empty.
struct model_parameter {
    std::string name;
    std::vector<double> years, values;
    std::string text;  // a parameter that is not a number
};

// Market numbers of an asset that a price depends on. forwards, quanto_forwards and volatilities have an
// entry for each of trade_plan::years.
struct asset_numbers {
    std::string name, currency, model;
    double spot = 0;
    std::vector<model_parameter> parameters;
    struct dividend {
        double years = 0, amount = 0;
        bool is_proportion = false;
    };
    std::vector<dividend> dividends;  // up to the trade's last date
    // True: the spot drops by cash dividends. False: the model moves the spot minus future cash dividends.
    bool falls_by_dividends = false;
    std::vector<double> forwards;  // in the currency of the asset
    // Mean of the spot in the measure of the trade's currency, if that differs and is known.
    std::vector<std::optional<double>> quanto_forwards;
    // At-the-forward Black volatilities of the asset's random part; empty if only paths could show them.
    std::vector<std::optional<double>> volatilities;
};

struct exchange_rate_numbers {
    std::string pair;  // as quoted, "EURUSD"
    double rate = 0;
    std::vector<double> forwards, volatilities;
};

struct currency_numbers {
    std::string name;
    std::string model;  // empty: rates follow the curve
    std::vector<model_parameter> parameters;
    std::vector<double> discounts;
};

struct correlation_taken {
    std::string first, second;
    double value = 0;
    bool is_stated = true;  // false: taken as 0
};

struct trade_plan {
    std::string trade, product, currency;
    double quantity = 1;
    std::string failure;  // why planning failed; may be empty
    location where;
    std::vector<std::string> assets;

    std::vector<trade_term> terms;  // in the order of the product
    // Future dates that a price depends on, in years from as_of and as written in the trade.
    std::vector<double> years;
    std::vector<std::string> year_labels;
    std::vector<currency_numbers> currencies;  // the trade's own currency first
    std::vector<asset_numbers> asset_list;
    std::vector<exchange_rate_numbers> exchange_rates;
    std::vector<correlation_taken> correlations;
    std::vector<std::string> remarks;  // on the trade and on parts of the market that it uses

    struct watched_date {
        std::string label;  // as the book wrote it
        double years = 0;
        std::vector<std::string> blocks;  // blocks of the script on this date
    };
    std::vector<watched_date> dates;  // past dates have negative years
    std::vector<double> grid;         // times of the steps of a path, in years
    int normals_per_step = 0, uniforms_per_step = 0;
    // Random source in words, and how and why quasi-random points are used.
    std::string random;
    struct scenario_file {
        std::string name;
        std::uint64_t rows = 0;       // rows in the file
        std::uint64_t rows_used = 0;  // rows that the trade reads
        std::uint64_t bytes = 0;      // size of these rows, over the paths of the run
    };
    std::vector<scenario_file> scenarios;
    // True for trades with early exercise; their Greeks hold exercise decisions still.
    bool ends_early = false;
    // How early exercise is decided: on each date a regression estimates the continuation value, on
    // `functions` functions, which are products of states up to `degree`. The martingale of the dual bound,
    // if there is one, has `moves` terms in each interval.
    struct decision {
        // states of the path that a decision uses, beside the payment on exercise
        std::vector<std::string> knows;
        std::size_t functions = 0;
        int degree = 0;
        std::size_t moves = 0;
        // True: the martingale's moves are those of assets ordered by rank at the start of the interval.
        bool are_moves_ranked = false;
        // Rank of the regression on the date, over paths where exercise pays something and over the others.
        struct date {
            double years = 0;
            std::string label;  // as the book wrote it
            std::size_t rank_paid = 0, rank_unpaid = 0;
        };
        std::vector<date> dates;           // future dates
        std::uint64_t training_paths = 0;  // paths on which the ranks were found
    };
    std::optional<decision> decides_by;
    // A comparison at which the payoff jumps. Sensitivities to market numbers that move the compared values
    // smooth the jump, use likelihood ratios or bump the number; all other sensitivities are pathwise.
    struct jump {
        std::string at;         // block of the script, or "in each step"
        std::string operation;  // the operation and its value in `program`: "less_equal v2"
        bool can_be_smoothed = false;
        // True if likelihood ratios can use a normal of the step before; not for every market number.
        bool can_be_held_still = false;
    };
    std::vector<jump> jumps;
    std::vector<std::string> models;  // models of assets and rates, as text
    // Bound on the error of one unit's price from time steps; 0: exact between dates, empty: unknown.
    std::optional<double> error_steps;
    std::string kernel;   // how the GPU kernel is built, and what decided so; empty without a usable GPU
    std::string program;  // listing of the program that computes a path
    std::size_t lane_operations = 0, uniform_operations = 0, lane_registers = 0;
    std::uint64_t bytes_per_thread = 0, bytes_shared = 0;
};

// First paths of a run without control variate, importance sampling or antithetic pairs, with no right used.
struct trade_paths {
    std::string trade, currency;
    std::string as_of;
    std::uint64_t seed = 0;
    std::string random;         // random source in words
    std::vector<double> years;  // times at which paths stop, as_of first
    std::vector<std::string> assets;
    std::vector<double> spots_today;                      // by asset
    std::vector<std::vector<std::vector<double>>> spots;  // by asset, path and time
    // Payments so far, and payments fixed for later dates, discounted to as_of, by path and time.
    std::vector<std::vector<double>> paid;

    std::size_t paths() const { return paid.size(); }
};

}  // namespace tilewalk
