// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::steps {

// A set of parameters, most of them published, and the options whose prices tell what its steps leave.
struct example {
    std::string model;  // of the catalogue of models, or that of the models of rates
    std::string set;    // its name among those of the model
    std::string how;    // its parameters in YAML, but for steps
    double spot = 1;
    std::vector<double> years{0.5, 1, 2, 5};
    // By whose deltas a position in the asset, which is worth nothing, takes away most of an option's
    // variance; 0: none, for laws with a wild upper tail. Options are then puts alone.
    double volatility = 0;
    // A put on one unit by strike and years, by other means than paths; none: the price with shorter steps.
    std::function<double(double strike, double years)> put{};
    bool is_watched = false;  // an option that is knocked out, watched continuously
    bool is_rates = false;    // caplets
};
std::vector<example> examples();

inline constexpr double shorter = 4;  // how many of the shorter steps are in one

struct priced {
    double price = 0, standard_error = 0;
};
// Prices for a spot or a notional of 1.
struct finding {
    double off = 0, error = 0;
};
finding compared(const priced& of, const priced& reference);
// Beyond this, and chance left aside, a scheme's error at its own steps is too large.
inline constexpr double most_off = 2e-4;

// `asked` may say a model and a number of paths.
struct sizes {
    std::uint64_t against_truth, against_steps;  // paths of a trade
};
inline constexpr sizes on_gpu{std::uint64_t{1} << 26, std::uint64_t{1} << 26};
inline constexpr sizes on_cpu{std::uint64_t{1} << 13, std::uint64_t{1} << 13};

void measure(std::span<const example> of, const sizes& paths, const std::string& device,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to);

}  // namespace tilewalk::bench::steps
