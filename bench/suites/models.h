// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"

namespace tilewalk::bench::models {

// A call on one asset, on the mean of several, or, without an asset, on a bond, whose path takes 252 steps of
// the model, and stops after each of them if nothing else is said.
struct example {
    std::string_view name;   // of its rows
    std::string_view model;  // of the catalogue of models, or that of the models of rates
    std::string_view how;    // an asset moves, in YAML; {v} stands for a volatility of its own
    int assets = 1;
    double price = 0;          // as a truth other than a path has it
    std::string_view rates{};  // how they move, in YAML; where nothing is said, they do not
    int stops = 252;           // of the path: on each of them; the model takes steps between
};
std::span<const example> examples();

// Market and trade of an example, in YAML.
std::string book_of(const example& of);

struct sizes {
    std::uint64_t on_gpu = std::uint64_t{1} << 20;   // paths that a GPU is timed on
    std::uint64_t checked = std::uint64_t{1} << 14;  // of those, that the processor walks, too
    std::uint64_t on_cpu = std::uint64_t{1} << 13;   // that one core is timed on
};

// Rows of the processor, and of the GPU; where that is null, `why_no_gpu` stands in its rows.
void measure(const cpu_bench& here, gpu_timer* on, const std::string& why_no_gpu,
             std::span<const example> what, const sizes& paths, const sink& to);

}  // namespace tilewalk::bench::models
