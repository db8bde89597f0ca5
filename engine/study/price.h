// SPDX-License-Identifier: Apache-2.0
// The pricing of a book, stage by stage. Each stage is a function: the engine hands in its own, and whoever
// wants to know whether a wrong one would be noticed hands in that.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/controls/controls.h"
#include "engine/decide/decided.h"
#include "engine/decide/pilot.h"
#include "engine/decide/planned.h"
#include "engine/decide/planned_run.h"
#include "engine/decide/rewrites.h"
#include "engine/study/session/resources.h"
#include "engine/study/session/walks.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/cuda/device/backend.h"
#include "kernels/moments.h"
#include "tilewalk/engine.h"

namespace tilewalk {

struct stages {
    // From a trade and a market to a program and its numbers; empty: as the resources do it.
    verbs::planner plan{};
    // The back end that walks what no GPU does; empty: as the resources do it.
    verbs::cpu_maker on_cpu{};
    // The trades are those of the book that is open.
    bool are_of_book = false;
    // Takes what plans read of the one market, by trade; empty: nobody asks.
    std::span<markets::market_reads> reads{};
    // Decides about trades that are planned, in the place of pilots in the first market.
    std::function<void(verbs::planned_run&, threads::crew&, const verbs::teller&)> decide{};
    // Plans of the book in its one market, by trade, from a run before; empty: there are none yet. They are
    // walked in any precision.
    std::span<const std::shared_ptr<const verbs::ready_trade>> ready{};
    // Parts of runs of few tiles are quarters of these.
    bool wants_quarters = false;
    // Sees plans once all is decided about them.
    std::function<void(const verbs::planned_run&)> see_plans{};
    // Adds ways back to plans.
    std::function<void(verbs::planned_run&)> add_ways_back{};
    // Decides how kernels of ways back are built; empty: as suits.
    cuda::ways_back::decider way_back_on_gpu{};
    // Sees how a trade's numbers move with those of the market of these keys, before ways back are made.
    std::function<void(std::span<const std::string>, std::span<std::optional<program::path_data>>)>
        see_moves{};
    // Whether prices of trades with rights are the middle of their bounds, or what their policies are worth.
    bool wants_bounds = true;
    verbs::policy_stages policies{};
    verbs::control_stages controls{};
    // The part of the run that is walked, by policies of its own; empty: all.
    std::optional<verbs::part_of_run> part{};
    // Decisions on trades that were made before; pilots make the others.
    const decide::decided_by_trade* held = nullptr;
    // Jumps are smoothed by so many times the width that was chosen.
    double widths = 1;
    // Sees each sensitivity of the first order as it was found.
    std::function<void(greek_row&)> see_sensitivity{};
};

struct priced_book {
    results told;
    std::vector<kernels::moments> moments;  // by row; empty where no path was walked
    // By row, by wanted number of the market and by part of the run.
    std::vector<std::vector<std::vector<double>>> derivatives{};
};

namespace verbs {

// See engine::greeks, and stages::are_of_book.
results greeks_as_asked(const resources& with, const book& trades, const market& in,
                        const greek_options& wanted, const run_options& options, bool are_of_book = false);

// The figures that trades ask for beside their prices.
void add_answers(results& to, const resources& with, const book& trades, const market& in,
                 const run_options& options);

}  // namespace verbs

// The book in each of the markets, see engine::price.
std::vector<priced_book> price_book(const verbs::resources& with, const book& trades,
                                    std::span<const market> in, const run_options& options,
                                    const stages& by = {});
priced_book price_book(const verbs::resources& with, const book& trades, const market& in,
                       const run_options& options, const stages& by = {});

// Sensitivities without rounds, a journal and answers. Planning and ways back are its own.
results greeks_of_book(const verbs::resources& with, const book& trades, const market& in,
                       const greek_options& wanted, const run_options& options, const stages& by = {});

}  // namespace tilewalk
