// SPDX-License-Identifier: Apache-2.0
// The verdict on the prices of a sample: over all trades, and row by row of the catalogue of truths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/verify/sample.h"
#include "engine/verify/statistics.h"

namespace tilewalk::verify {

struct row_judgement {
    std::size_t truth = 0;  // its number in the catalogue
    std::size_t trades = 0;
    double largest_z = 0;
    std::vector<statistic> of;

    bool holds() const;
};

struct judgement {
    std::vector<statistic> of;  // all trades
    std::vector<row_judgement> rows;
    std::vector<double> z;           // by trade
    std::vector<std::size_t> worst;  // the trades from the largest |z| on, ten at most
    std::size_t failed = 0;          // were not priced

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

// The findings of a call of verify_prices.
struct outcome {
    std::uint64_t paths = 0, seed = 0, path_steps = 0;
    std::string precision, device;
    int threads = 0;
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

    bool holds() const;
    bool is_complete() const;
};

std::string table(const outcome& o, const text_form& form = {});
std::string csv(const outcome& o);
std::string json(const outcome& o);

}  // namespace tilewalk::verify
