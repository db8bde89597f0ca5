// SPDX-License-Identifier: Apache-2.0
// A sample of random trades with known prices, and what an engine made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/study/price.h"
#include "engine/verify/statistics.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// A trade that is a book of its own, with a seed of its own: trades of one book share their random numbers,
// which would tie their errors together.
struct drawn_trade {
    // The derivative of the known price to a number of the market.
    struct sensitivity {
        std::string key;
        double step = 0, per_unit = 0;
    };

    std::size_t truth = 0;  // its number in the catalogue
    std::string text;       // the whole book with its settings: enough to price it again
    tilewalk::book book;
    double price = 0, lean = 1;
    double price_of_high_forwards = 0;  // were every forward 0.1 % higher
    double scale = 0;
    std::vector<sensitivity> sensitivities{};  // where they are wanted
    std::uint64_t lot = 0;                     // a number by which something is chosen
};

struct sample_wanted {
    std::size_t trades = 0;
    std::uint64_t paths = 0, seed = 0;
    std::string precision;
    std::vector<std::size_t> truths;  // that take part, in turn
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    bool with_sensitivities = false;
    std::string random = "philox", construction = "bridge";
};
// The same trades whatever the threads; of two sizes the smaller is the beginning of the larger. Meanwhile
// `watch` is called about ten times a second.
std::vector<drawn_trade> draw_sample(const sample_wanted& wanted, const std::function<void()>& watch = {});

// The engine's sensitivity to a number. One that the engine has no row for is 0, without an error.
struct found_sensitivity {
    double value = 0, standard_error = 0, bias = 0;
    std::string method, unit;
    std::size_t parts = 0;  // that the error is from
    std::string failure;
};

struct priced_trade {
    double price = 0, standard_error = 0;
    double skew = 0;  // of the payoffs, or of randomisations, over the root of their number
    std::string failure;
    std::string walked_on;  // "CPU", or the GPUs
    std::uint64_t path_steps = 0;
    std::vector<found_sensitivity> sensitivities{};  // as the trade's own, where they are wanted
    std::optional<early_exercise> early{};           // of a trade that can be ended early
    std::optional<double> degrees_of_freedom{};      // of an error that is not from independent paths

    bool is_there() const { return !walked_on.empty(); }
};
struct pricing_wanted {
    std::string device;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    stages by{};
    bool with_sensitivities = false;
};
// Cancelled, it gives what is there.
std::vector<priced_trade> price_sample(
    std::span<const drawn_trade> trades, const pricing_wanted& wanted, cuda::backend& gpus,
    const std::function<void(std::size_t done, std::uint64_t steps)>& done = {});

scored_trade score(const drawn_trade& t, const priced_trade& got, double truth);
// The same of the bounds of a trade that can be ended early.
scored_bounds score_bounds(const drawn_trade& t, const priced_trade& got, double truth);

// A sensitivity of the engine beside the true one, both for the move that the engine's unit says.
struct scored_sensitivity {
    std::size_t key = 0;  // its number among those of the trade
    double truth = 0;
    double z = 0;     // a normal number that is as likely as the error, less the bias where that counts
    double lean = 1;  // 1 if what is true is above 0, and -1 below
    enum class kind {
        chance,  // has an error by chance alone, or a bias that is small beside it
        biased,  // the error is at most that by chance and the bias
        exact,   // has no error but by rounding
    } is = kind::chance;
};
std::vector<scored_sensitivity> score_sensitivities(const drawn_trade& t, const priced_trade& got);

}  // namespace tilewalk::verify
