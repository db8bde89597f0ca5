// SPDX-License-Identifier: Apache-2.0
// A sample of random trades with known prices, and what an engine made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/verbs/price.h"
#include "engine/verify/statistics.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// A trade that is a book of its own, with a seed of its own: trades of one book share their random numbers,
// which would tie their errors together.
struct drawn_trade {
    std::size_t truth = 0;  // its number in the catalogue
    std::string text;       // the whole book with its settings: enough to price it again
    tilewalk::book book;
    double price = 0, lean = 1;
    double price_of_high_forwards = 0;  // were every forward 0.1 % higher
    double scale = 0;
};

struct sample_wanted {
    std::size_t trades = 0;
    std::uint64_t paths = 0, seed = 0;
    std::string precision;
    std::vector<std::size_t> truths;  // that take part, in turn
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
};
// The same trades whatever the threads; of two sizes the smaller is the beginning of the larger. Meanwhile
// `watch` is called about ten times a second.
std::vector<drawn_trade> draw_sample(const sample_wanted& wanted, const std::function<void()>& watch = {});

struct priced_trade {
    double price = 0, standard_error = 0;
    double skew = 0;  // of the payoffs over the root of their number
    std::string failure;
    std::string walked_on;  // "CPU", or the GPUs
    std::uint64_t path_steps = 0;

    bool is_there() const { return !walked_on.empty(); }
};
struct pricing_wanted {
    std::string device;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    stages by{};
};
// Cancelled, it gives what is there.
std::vector<priced_trade> price_sample(
    std::span<const drawn_trade> trades, const pricing_wanted& wanted, cuda::backend& gpus,
    const std::function<void(std::size_t done, std::uint64_t steps)>& done = {});

// A price that is no number, or that has no error and is not the truth, is as far out as can be told.
inline constexpr double farthest_z = 1000;
scored_trade score(const drawn_trade& t, const priced_trade& got, double truth);

}  // namespace tilewalk::verify
