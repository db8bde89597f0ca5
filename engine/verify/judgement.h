// SPDX-License-Identifier: Apache-2.0
// The verdict on the prices of a sample: over all trades, and row by row of the catalogue of truths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/verify/sample.h"
#include "engine/verify/statistics.h"
#include "tilewalk/columns.h"
#include "tilewalk/write.h"

namespace tilewalk::verify {

struct row_judgement {
    std::size_t truth = 0;  // its number in the catalogue
    std::size_t trades = 0, sensitivities = 0;
    double largest_z = 0;
    std::string key_of_largest;  // of sensitivities
    std::vector<statistic> of;   // none where all sensitivities have a bias

    bool holds() const;
};

// A price, or a sensitivity, beside the true one.
struct observation {
    std::size_t trade = 0;  // its number in the sample
    std::string key;        // of a sensitivity
    double z = 0, value = 0, standard_error = 0, truth = 0;
    double bias = 0;                // of a sensitivity
    std::string method, failure{};  // why there is no value
};

struct judgement {
    std::vector<statistic> of;  // all trades
    std::vector<row_judgement> rows;
    std::vector<double> z;           // of each price or sensitivity
    std::vector<observation> worst;  // from the largest |z| on, ten at most
    std::size_t trades = 0;
    std::size_t failed = 0;  // prices and sensitivities that there are not
    std::size_t biased = 0;  // sensitivities with a bias that counts
    std::size_t exact = 0;   // sensitivities without an error, of which none is drawn for a mean

    // Every statistic does, and every trade was priced.
    bool holds() const;
    // The finding that lies farthest out, measured by the bounds.
    struct finding {
        const statistic* what = nullptr;
        const row_judgement* row = nullptr;  // none: over all trades
    };
    finding strongest() const;
};

// `truths` are the prices to hold them against, one for each trade.
judgement judge(std::span<const drawn_trade> trades, std::span<const priced_trade> got,
                std::span<const double> truths);
std::vector<double> truths_of(std::span<const drawn_trade> trades);

// Sensitivities against those of the trades. All of one trade are found from the same paths: means are over
// one of each trade, by its lot, that has an error by chance alone.
judgement judge_sensitivities(std::span<const drawn_trade> trades, std::span<const priced_trade> got);

// The findings of a call of verify_prices.
struct outcome {
    std::uint64_t paths = 0, seed = 0, path_steps = 0;
    std::string precision, random, device;
    int threads = 0;
    bool of_sensitivities = false;
    double seconds = 0;
    // There are fewer of either where it was cancelled.
    std::size_t trades_wanted = 0, mistakes_wanted = 0;
    std::vector<drawn_trade> trades;
    std::vector<priced_trade> prices;
    judgement of_engine;
    struct planted {
        std::string name, what;
        std::vector<priced_trade> prices;
        judgement of;
        bool is_caught() const { return !of.holds(); }
    };
    std::vector<planted> mistakes;
    std::vector<std::string> mistakes_left_out;  // that need another random source

    bool holds() const;
    bool is_complete() const;
};

std::string table(const outcome& o, const text_form& form = {});
// A row for each statistic: the lines of the CSV.
column_table columns_of(std::shared_ptr<const outcome> o);
std::string csv(const outcome& o);
std::string json(const outcome& o);

}  // namespace tilewalk::verify
