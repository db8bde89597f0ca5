// SPDX-License-Identifier: Apache-2.0
// The stages of pricing a book, as functions, so that verify can hand in wrong ones to see them noticed.
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
#include "engine/decide/inner_options.h"
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
    // Plans a trade; empty: the resources do.
    verbs::planner plan{};
    // Makes the back end of what no GPU walks; empty: the resources do.
    verbs::cpu_maker on_cpu{};
    // True if the trades are those of the open book.
    bool are_of_book = false;
    // Takes what plans read of the one market, by trade; may be empty.
    std::span<markets::market_reads> reads{};
    // Decides about planned trades in the place of pilots in the first market.
    std::function<void(verbs::planned_run&, threads::crew&, const verbs::teller&)> decide{};
    // Plans of the book from an earlier run in its one market, by trade; empty: plan anew.
    std::span<const std::shared_ptr<const verbs::ready_trade>> ready{};
    // True if parts of runs of few tiles are quarters of tiles.
    bool wants_quarters = false;
    std::function<void(const verbs::planned_run&)> see_plans{};
    std::function<void(verbs::planned_run&)> add_ways_back{};
    // Decides how kernels of ways back are built; empty: as usual.
    cuda::ways_back::decider way_back_on_gpu{};
    // Sees how a trade's numbers move with these keys, before ways back are made.
    std::function<void(std::span<const std::string>, std::span<std::optional<program::path_data>>)>
        see_moves{};
    // True if trades with rights are priced at the middle of their bounds, else at their policies' worth.
    bool wants_bounds = true;
    verbs::policy_stages policies{};
    verbs::control_stages controls{};
    // Part of the run to walk, with its own policies; empty: all.
    std::optional<verbs::part_of_run> part{};
    // Earlier decisions on trades; pilots make the others.
    const decide::decided_by_trade* held = nullptr;
    // Factor on the chosen widths of smoothed jumps.
    double widths = 1;
    // Sees each sensitivity of the first order as it was found.
    std::function<void(greek_row&)> see_sensitivity{};
};

struct priced_book {
    results told;
    std::vector<kernels::moments> moments;  // by row; empty without paths
    // By row, by wanted number of the market and by part of the run.
    std::vector<std::vector<std::vector<double>>> derivatives{};
};

namespace verbs {

// See engine::price.
std::vector<results> prices_as_asked(const resources& with, const book& trades, std::span<const market> in,
                                     const inner_options& options);

// See engine::greeks, and stages::are_of_book.
results greeks_as_asked(const resources& with, const book& trades, const market& in,
                        const greek_options& wanted, const inner_options& options, bool are_of_book = false);

void add_answers(results& to, const resources& with, const book& trades, const market& in,
                 const inner_options& options);

}  // namespace verbs

std::vector<priced_book> price_book(const verbs::resources& with, const book& trades,
                                    std::span<const market> in, const verbs::inner_options& options,
                                    const stages& by = {});
priced_book price_book(const verbs::resources& with, const book& trades, const market& in,
                       const verbs::inner_options& options, const stages& by = {});

// Finds sensitivities, without rounds, journal and answers. Sets the stages of planning and ways back itself.
results greeks_of_book(const verbs::resources& with, const book& trades, const market& in,
                       const greek_options& wanted, const verbs::inner_options& options,
                       const stages& by = {});

}  // namespace tilewalk
