// SPDX-License-Identifier: Apache-2.0
// The verdict on the prices of a sample: over all trades, and for each row of the catalogue of truths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/inside.h"
#include "engine/verify/sample.h"
#include "engine/verify/statistics.h"
#include "tilewalk/columns.h"
#include "tilewalk/write.h"

namespace tilewalk::verify {

struct row_judgement {
    std::size_t truth = 0;  // index into truths()
    std::size_t trades = 0, sensitivities = 0;
    double largest_z = 0;
    std::string key_of_largest;  // key of the sensitivity with largest_z
    std::vector<statistic> of;   // empty if every sensitivity is biased

    bool holds() const;
};

struct observation {
    std::size_t trade = 0;  // index into the sample
    std::string key;        // market key if this is a sensitivity
    double z = 0, value = 0, standard_error = 0, truth = 0;
    double bias = 0;                // for a sensitivity; otherwise 0
    std::string method, failure{};  // `failure`: why there is no value
};

struct judgement {
    std::vector<statistic> of;  // statistics over all trades
    std::vector<row_judgement> rows;
    std::vector<double> z;           // z of each price or sensitivity
    std::vector<observation> worst;  // by falling |z|, ten at most
    std::size_t trades = 0;
    std::size_t failed = 0;  // prices or sensitivities that the engine failed to give
    std::size_t biased = 0;  // sensitivities whose bias counts
    std::size_t exact = 0;   // sensitivities without a random error, which no mean uses

    bool holds() const;
    // The statistic farthest out, in units of its bound.
    struct finding {
        const statistic* what = nullptr;
        const row_judgement* row = nullptr;  // null if it is over all trades
    };
    finding strongest() const;
};

judgement judge(std::span<const drawn_trade> trades, std::span<const priced_trade> got,
                std::span<const double> truths);
std::vector<double> truths_of(std::span<const drawn_trade> trades);

// Judges the engine's sensitivities against the true ones. All sensitivities of a trade come from the same
// paths, so means use one of them, chosen by the trade's `lot` among those of kind `chance`.
judgement judge_sensitivities(std::span<const drawn_trade> trades, std::span<const priced_trade> got);

struct outcome {
    std::uint64_t paths = 0, seed = 0, path_steps = 0;
    std::string precision, random, device;
    int threads = 0;
    bool of_sensitivities = false;
    double seconds = 0;
    // Trades and mistakes asked for; a run that was cancelled has fewer.
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
    std::vector<std::string> mistakes_left_out;  // mistakes that need another source of random numbers

    bool holds() const;
    bool is_complete() const;
};

std::string table(const outcome& o, const text_form& form = {});
column_table columns_of(std::shared_ptr<const outcome> o);
std::string csv(const outcome& o);
std::string json(const outcome& o);

}  // namespace tilewalk::verify
