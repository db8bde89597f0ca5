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

// A model's parameters, most of them published, and options whose prices show the error of its steps.
struct example {
    std::string model;  // a name in the catalogue of models, or in that of models of rates
    std::string set;    // name of the parameter set
    std::string how;    // parameters in YAML, without steps
    double spot = 1;
    std::vector<double> years{0.5, 1, 2, 5};
    // Volatility for the deltas of a hedge in the asset, which has the mean 0 and removes most of an option's
    // variance. 0: no hedge, for laws with a heavy upper tail; then all options are puts.
    double volatility = 0;
    // Price of a put on one unit, found without paths; empty: the reference is the price with shorter steps.
    std::function<double(double strike, double years)> put{};
    bool is_watched = false;  // the option has a knock-out barrier that is watched continuously
    bool is_rates = false;    // options are caplets
};
std::vector<example> examples();

inline constexpr double shorter = 4;  // number of shorter steps in one step

struct priced {
    double price = 0, standard_error = 0;
};
// The difference from the reference and its standard error, for a spot or notional of 1.
struct finding {
    double off = 0, error = 0;
};
finding compared(const priced& of, const priced& reference);
// The largest error that the steps of a model may make, apart from chance: two basis points.
inline constexpr double most_off = 2e-4;

struct sizes {
    std::uint64_t against_truth, against_steps;  // paths per trade
};
inline constexpr sizes on_gpu{std::uint64_t{1} << 26, std::uint64_t{1} << 26};
inline constexpr sizes on_cpu{std::uint64_t{1} << 13, std::uint64_t{1} << 13};

void measure(std::span<const example> of, const sizes& paths, const std::string& device,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to);

}  // namespace tilewalk::bench::steps
