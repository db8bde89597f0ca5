// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/decided.h"
#include "engine/decide/inner_options.h"
#include "engine/decide/planned.h"
#include "engine/decide/progress_reporter.h"
#include "engine/decide/rights.h"
#include "engine/decide/settled.h"
#include "engine/decide/sources.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "tilewalk/options.h"

namespace tilewalk::studies {

// A run of a book in one or more markets. Plans are in order of market, then of the book.
struct planned_run {
    const settled& run;
    const cpu::lane_operations& operations;
    const books::book_state& book;
    std::span<const market> in;
    const inner_options& options;
    std::chrono::steady_clock::time_point begin;
    std::string started;
    std::vector<planned> plans;
    std::vector<std::vector<factor_pair>> missing_correlations;  // of each market
    bool wants_bounds = true;                                    // see stages in engine/study/price.h
    policy_stages policies{};
    cuda::gpu_facts facts_of_policies{};  // GPUs that found policies
    std::vector<left_work> left_to_processor{};
};
void choose_points(planned_run& r, const sources& from, const progress_reporter& reporter);
decide::decided_by_trade decided_in(const planned_run& r);
// Returns for each trade the steps of one path, summed over markets.
std::vector<std::uint64_t> steps_of_paths(const planned_run& r);

}  // namespace tilewalk::studies
