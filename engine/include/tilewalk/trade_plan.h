// SPDX-License-Identifier: Apache-2.0
// Facts about a trade before it is priced: why it can't be, what it depends on, the plan of what pricing will
// do and from which numbers, and some of its paths.
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
    std::string failure;                 // why planning failed; may be empty
    location where;
};

struct trade_term {
    std::string name, type;  // parameter: "strike", "amount"
    std::string per;         // schedule or list of assets with a value for each entry; may be empty
    bool is_list = false;
    std::vector<std::string> values;  // one, or those of the list; dates as days or as "0.25y"
    std::vector<double> numbers;      // numeric values; of dates, years from as_of
    std::string written;              // rule of the dates, if the trade gives one
    bool is_default = false;          // set by the product, not the trade
};

// A model parameter of the market: values[i] until years[i], if it has years.
struct model_parameter {
    std::string name;
    std::vector<double> years, values;
    std::string text;  // if not numeric
};

// Numbers of an asset that a price depends on. Lists have an entry for each of trade_plan::years.
struct asset_numbers {
    std::string name, currency, model;
    double spot = 0;
    std::vector<model_parameter> parameters;
    struct dividend {
        double years = 0, amount = 0;
        bool is_proportion = false;
    };
    std::vector<dividend> dividends;  // up to the last date
    // True: the spot drops by cash dividends. False: the model moves the spot minus future dividends.
    bool falls_by_dividends = false;
    std::vector<double> forwards;  // currency of the asset
    // Mean of the spot in the measure of the trade's currency, if that differs and is known.
    std::vector<std::optional<double>> quanto_forwards;
    // Black volatilities at the forward, of the moving part of the asset; empty if unknown without paths.
    std::vector<std::optional<double>> volatilities;
};

struct exchange_rate_numbers {
    std::string pair;  // quoted pair
    double rate = 0;
    std::vector<double> forwards, volatilities;
};

struct currency_numbers {
    std::string name;
    std::string model;  // rate model; empty: rates follow the curve
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

    std::vector<trade_term> terms;  // order of the product
    // Future dates that a price depends on, in years from as_of and as written in the trade.
    std::vector<double> years;
    std::vector<std::string> year_labels;
    std::vector<currency_numbers> currencies;  // the trade's own first
    std::vector<asset_numbers> asset_list;
    std::vector<exchange_rate_numbers> exchange_rates;
    std::vector<correlation_taken> correlations;
    std::vector<std::string> remarks;  // on the trade and the parts of the market that it uses

    struct watched_date {
        std::string label;  // as the book wrote it
        double years = 0;
        std::vector<std::string> blocks;  // blocks of the script on this date
    };
    std::vector<watched_date> dates;  // past ones have negative years
    std::vector<double> grid;         // times at which the path stops
    int normals_per_step = 0, uniforms_per_step = 0;
    // The random source, and how and why quasi-random points are used.
    std::string random;
    struct scenario_file {
        std::string name;
        std::uint64_t rows = 0;       // of the file
        std::uint64_t rows_used = 0;  // rows that the trade reads
        std::uint64_t bytes = 0;      // size of the used rows, over the paths of the run
    };
    std::vector<scenario_file> scenarios;
    // True for trades with early exercise; their Greeks are differences of prices.
    bool ends_early = false;
    // How early exercise is decided. On each date a regression on `functions` functions estimates the
    // continuation value: products of the known states up to `degree`. With a bound, a martingale uses
    // `moves` moves in each interval.
    struct decision {
        std::vector<std::string> knows;  // states of the path; the payment on exercise is known, too
        std::size_t functions = 0;
        int degree = 0;
        std::size_t moves = 0;
        // True: moves are those of assets ordered by rank at the start of the interval.
        bool are_moves_ranked = false;
        // Rank of the regression on this date, where exercise pays and where it does not.
        struct date {
            double years = 0;
            std::string label;  // as the book wrote it
            std::size_t rank_paid = 0, rank_unpaid = 0;
        };
        std::vector<date> dates;           // future ones
        std::uint64_t training_paths = 0;  // used to find the ranks
    };
    std::optional<decision> decides_by;
    // Comparisons at which a payoff jumps. Greeks to market numbers that move the compared values smooth the
    // jumps, or hold them still by likelihood ratios, or bump the numbers; all other Greeks are pathwise.
    struct jump {
        std::string at;         // block of the script, or "in each step"
        std::string operation;  // operation and its name in the printed program: "less_equal v2"
        bool can_be_smoothed = false;
        // By a normal of the previous step, for likelihood ratios; not for every market number.
        bool can_be_held_still = false;
    };
    std::vector<jump> jumps;
    std::vector<std::string> models;  // models of assets and rates
    // Bound on the time step error of one unit's price; 0: exact between dates, empty: unknown.
    std::optional<double> error_steps;
    std::string kernel;   // how the GPU kernel is built, and who decided so; empty without a usable GPU
    std::string program;  // printed
    std::size_t lane_operations = 0, uniform_operations = 0, lane_registers = 0;
    std::uint64_t bytes_per_thread = 0, bytes_shared = 0;
};

// First paths of a run without control, shifts and antithetic pairs, and with no right exercised.
struct trade_paths {
    std::string trade, currency;
    std::string as_of;
    std::uint64_t seed = 0;
    std::string random;         // random source in words
    std::vector<double> years;  // times at which paths stop, as_of first
    std::vector<std::string> assets;
    std::vector<double> spots_today;                      // by asset
    std::vector<std::vector<std::vector<double>>> spots;  // by asset, path and time
    // Payments so far and those already fixed for later, discounted to as_of, by path and time.
    std::vector<std::vector<double>> paid;

    std::size_t paths() const { return paid.size(); }
};

}  // namespace tilewalk
