// SPDX-License-Identifier: Apache-2.0
// A run with its plans.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/decided.h"
#include "engine/decide/planned.h"
#include "engine/decide/rights.h"
#include "engine/decide/settled.h"
#include "engine/decide/sources.h"
#include "engine/decide/teller.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "tilewalk/run_options.h"

namespace tilewalk::verbs {

// A run: a book in markets, its plans one market after the other, each in the order of the book.
struct planned_run {
    const settled& run;
    const cpu::lane_operations& operations;
    const books::book_state& book;
    std::span<const market> in;
    const run_options& options;
    std::chrono::steady_clock::time_point begin;
    std::string started;
    std::vector<planned> plans;
    std::vector<std::vector<factor_pair>> missing_correlations;  // by market
    bool wants_bounds = true;                                    // see stages
    policy_stages policies{};
    cuda::gpu_facts facts_of_policies{};  // of GPUs that found them
    std::vector<left_work> left_to_processor{};
};
// Decides which points trades take, as settings leave it open, in the first market.
void choose_points(planned_run& r, const sources& from, const teller& tells);
// The choices of pilots and trainings for trades, in the first market.
decide::decided_by_trade decided_in(const planned_run& r);
// The steps of a path by trade, in all markets.
std::vector<std::uint64_t> steps_of_paths(const planned_run& r);

}  // namespace tilewalk::verbs
