// SPDX-License-Identifier: Apache-2.0
// The plan of a trade: what pricing it will do and from which numbers, before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk {

// A term of a trade, in the trade's words.
struct trade_term {
    std::string name, type;  // of the parameter: "strike", "amount"
    std::string per;         // the schedule or list of assets that it has a value for each of, or empty
    bool is_list = false;
    std::vector<std::string> values;  // one, or those of the list; dates as days or as "0.25y"
    std::vector<double> numbers;      // the same of what is a number; of dates, years from as_of
    std::string written;              // the rule that dates follow, where the trade gives one
    bool is_default = false;          // the product says it, not the trade
};

// A parameter of a model as the market says it: values[i] until years[i], where it has years.
struct model_parameter {
    std::string name;
    std::vector<double> years, values;
    std::string text;  // of what is no number
};

// The numbers of one asset that a price depends on. Lists have a number for each of trade_plan::years.
struct asset_numbers {
    std::string name, currency, model;
    double spot = 0;
    std::vector<model_parameter> parameters;
    struct dividend {
        double years = 0, amount = 0;
        bool is_proportion = false;
    };
    std::vector<dividend> dividends;  // up to the last of the dates
    // True: cash dividends are taken off the spot on their days. False: the spot less the dividends to come
    // moves.
    bool falls_by_dividends = false;
    std::vector<double> forwards;  // by the curves, in the asset's own currency
    // The mean of the spot in the measure of the trade's currency, where that is another and it is known.
    std::vector<std::optional<double>> quanto_forwards;
    // Black's volatilities, at the forward, of the part of the asset that moves; empty if they are not known
    // without paths.
    std::vector<std::optional<double>> volatilities;
};

struct exchange_rate_numbers {
    std::string pair;  // as the market quotes it
    double rate = 0;
    std::vector<double> forwards, volatilities;
};

struct currency_numbers {
    std::string name;
    std::string model;  // that moves its rates; empty: they do what the curve says
    std::vector<model_parameter> parameters;
    std::vector<double> discounts;
};

// Two factors of a trade: assets, quoted exchange rates ("EURUSD"), interest rates ("USD.rate").
struct correlation_taken {
    std::string first, second;
    double value = 0;
    bool is_stated = true;  // else it is taken as 0
};

struct trade_plan {
    std::string trade, product, currency;
    double quantity = 1;
    std::string failure;  // why it can't be planned, or empty
    location where;
    std::vector<std::string> assets;

    std::vector<trade_term> terms;  // in the order of the product
    // The dates to come that a price depends on, in years from as_of and as the trade wrote them.
    std::vector<double> years;
    std::vector<std::string> year_labels;
    std::vector<currency_numbers> currencies;  // that of the trade comes first
    std::vector<asset_numbers> asset_list;
    std::vector<exchange_rate_numbers> exchange_rates;
    std::vector<correlation_taken> correlations;
    std::vector<std::string> remarks;  // on the trade, and of the market on what it depends on

    struct watched_date {
        std::string label;  // as the book wrote it
        double years = 0;
        std::vector<std::string> blocks;  // what happens there
    };
    std::vector<watched_date> dates;  // past ones have negative years
    std::vector<double> grid;         // times the path stops at
    int normals_per_step = 0, uniforms_per_step = 0;
    // The source of its random numbers, and how and why quasi-random points are taken.
    std::string random;
    struct scenario_file {
        std::string name;
        std::uint64_t rows = 0;       // of the file
        std::uint64_t rows_used = 0;  // that the trade reads
        std::uint64_t bytes = 0;      // of those, over the paths of the run
    };
    std::vector<scenario_file> scenarios;
    // Somebody may end it early: its Greeks are differences of prices.
    bool ends_early = false;
    // By what it is decided: on each date the value to come is taken for a sum of so many functions, products
    // of what is known up to the degree; and a martingale has so many moves in each interval, if there is a
    // bound.
    struct decision {
        std::vector<std::string> knows;  // states of the path; what using the right pays is known, too
        std::size_t functions = 0;
        int degree = 0;
        std::size_t moves = 0;
        // Moves are those of assets by their rank when the interval begins.
        bool are_moves_ranked = false;
        // How many of the functions tell the paths of a date apart, where using the right pays something and
        // where it does not: others make up for the rest.
        struct date {
            double years = 0;
            std::string label;  // as the book wrote it
            std::size_t rank_paid = 0, rank_unpaid = 0;
        };
        std::vector<date> dates;           // to come
        std::uint64_t training_paths = 0;  // that the ranks were found on
    };
    std::optional<decision> decides_by;
    // Comparisons at which a payoff jumps. For Greeks to numbers of the market that move what is compared
    // they are smoothed, or held still by likelihood ratios, or else these numbers are bumped; all others
    // have the derivatives of paths.
    struct jump {
        std::string at;         // the block of the script, or "in each step"
        std::string operation;  // with its name in the printed program: "less_equal v2"
        bool can_be_smoothed = false;
        // By a normal number of the step before, for likelihood ratios. Whether it can be for a number of the
        // market depends on what else this one moves.
        bool can_be_held_still = false;
    };
    std::vector<jump> jumps;
    std::vector<std::string> models;  // how assets and rates move
    // The error that their time steps leave in the price of one unit, at most: 0 where paths are exact
    // between dates, none where it is not known.
    std::optional<double> error_steps;
    std::string kernel;   // how a GPU's is built, and who says so; empty where there is no GPU to use
    std::string program;  // printed
    std::size_t lane_operations = 0, uniform_operations = 0, lane_registers = 0;
    std::uint64_t bytes_per_thread = 0, bytes_shared = 0;
};

}  // namespace tilewalk
