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

// A call on one asset, on the mean of several, or, without an asset, on a bond. Paths take 252 steps of the
// model, and stop after each unless `stops` says otherwise.
struct example {
    std::string_view name;   // name in rows
    std::string_view model;  // name in the catalogue of models or of models of rates
    std::string_view how;    // model of an asset, in YAML; {v} is replaced by the asset's volatility
    int assets = 1;
    double price = 0;          // value found without paths
    std::string_view rates{};  // model of rates, in YAML; empty: rates are constant
    int stops = 252;           // stops of a path; between them the model takes its own steps
};
std::span<const example> examples();

std::string book_of(const example& of);

struct sizes {
    std::uint64_t on_gpu = std::uint64_t{1} << 20;   // paths for timing on a GPU
    std::uint64_t checked = std::uint64_t{1} << 14;  // first paths of these, compared with the CPU's
    std::uint64_t on_cpu = std::uint64_t{1} << 13;   // paths for timing one core
};

// Measures the rows of one core (`here`) and of the GPU. If `on` is null, the GPU's rows say `why_no_gpu`.
void measure(const cpu_bench& here, gpu_timer* on, const std::string& why_no_gpu,
             std::span<const example> what, const sizes& paths, const sink& to);

}  // namespace tilewalk::bench::models
