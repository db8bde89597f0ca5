// SPDX-License-Identifier: Apache-2.0
// A sample of random trades with known prices, and the engine's results for them.
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

// A random trade in a book of its own with a seed of its own: trades of one book share random numbers, which
// would correlate their errors.
struct drawn_trade {
    struct sensitivity {
        std::string key;
        double step = 0, per_unit = 0;
    };

    std::size_t truth = 0;  // index into truths()
    std::string text;       // YAML of book and settings, to price it again
    tilewalk::book book;
    double price = 0, lean = 1;
    double price_of_high_forwards = 0;  // `price` with every forward 0.1 % higher
    double scale = 0;
    std::vector<sensitivity> sensitivities{};  // empty unless asked for
    std::uint64_t lot = 0;                     // random: chooses one sensitivity for means
};

struct sample_wanted {
    std::size_t trades = 0;
    std::uint64_t paths = 0, seed = 0;
    std::string precision;
    std::vector<std::size_t> truths;  // indexes of truths to draw, in turn
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    bool with_sensitivities = false;
    std::string random = "philox", construction = "bridge";
};
// The trades don't depend on the number of threads, and a smaller sample is the beginning of a larger sample.
// Calls `watch` about ten times a second.
std::vector<drawn_trade> draw_sample(const sample_wanted& wanted, const std::function<void()>& watch = {});

// The engine's sensitivity to one market number: 0 without an error if the engine reports none.
struct found_sensitivity {
    double value = 0, standard_error = 0, bias = 0;
    std::string method, unit;
    std::size_t parts = 0;  // number of parts that the standard error is from
    std::string failure;
};

struct priced_trade {
    double price = 0, standard_error = 0;
    double skew = 0;  // skewness of payoffs (or randomisations) / sqrt(their number)
    std::string failure;
    std::string walked_on;  // "CPU", or the names of GPUs
    std::uint64_t path_steps = 0;
    std::vector<found_sensitivity> sensitivities{};  // as the trade's; empty unless asked for
    std::optional<early_exercise> early{};           // only if the trade can be ended early
    std::optional<double> degrees_of_freedom{};      // only for an error not from independent paths

    bool is_there() const { return !walked_on.empty(); }
};
struct pricing_wanted {
    std::string device;
    int threads = 1;
    const std::atomic<bool>* cancel = nullptr;
    stages by{};
    bool with_sensitivities = false;
};
// Returns the results so far if cancelled: trades not yet priced have is_there() false.
std::vector<priced_trade> price_sample(
    std::span<const drawn_trade> trades, const pricing_wanted& wanted, cuda::backend& gpus,
    const std::function<void(std::size_t done, std::uint64_t steps)>& done = {});

scored_trade score(const drawn_trade& t, const priced_trade& got, double truth);
scored_bounds score_bounds(const drawn_trade& t, const priced_trade& got, double truth);

// The engine's sensitivity beside the true one, both for a move of one unit as the engine reports it.
struct scored_sensitivity {
    std::size_t key = 0;  // index into the trade's sensitivities
    double truth = 0;
    double z = 0;     // error beyond a bias that counts, as a normal quantile
    double lean = 1;  // sign of the true value
    enum class judged_as {
        chance,  // the error is random, with no bias that counts
        biased,  // the error is at most chance plus a bias that counts
        exact,   // no random error: only rounding
    } is = judged_as::chance;
};
std::vector<scored_sensitivity> score_sensitivities(const drawn_trade& t, const priced_trade& got);

}  // namespace tilewalk::verify
