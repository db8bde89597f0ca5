// SPDX-License-Identifier: Apache-2.0
// The stages of pricing a book, as functions: verify puts wrong ones in, to see them noticed.
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
    // Plans a trade; if empty, the resources plan it.
    studies::planner plan{};
    // Makes the back end for what no GPU walks; if empty, the resources make it.
    studies::cpu_maker on_cpu{};
    // True if the trades are those of the open book.
    bool are_of_book = false;
    // Takes, by trade, the parts of the market that its plan reads; may be empty. For one market only.
    std::span<markets::market_reads> reads{};
    // Makes all decisions about planned trades; if empty, pilots in the first market make them.
    std::function<void(studies::planned_run&, threads::crew&, const studies::progress_reporter&)> decide{};
    // Plans of an earlier run of the book in the same market, by trade; if empty, trades are planned anew.
    std::span<const std::shared_ptr<const studies::ready_trade>> ready{};
    // True if a run of few tiles is to have quarters of tiles as its parts.
    bool wants_quarters = false;
    std::function<void(const studies::planned_run&)> see_plans{};
    std::function<void(studies::planned_run&)> add_ways_back{};
    // Decides how kernels for adjoints are built; if empty, by the usual rules.
    cuda::ways_back::decider way_back_on_gpu{};
    // Sees how the program's numbers move with those of the market, by key, before adjoints are made, and may
    // change these moves.
    std::function<void(std::span<const std::string>, std::span<std::optional<program::path_data>>)>
        see_moves{};
    // True if trades with rights are priced at the middle of their bounds, false if at their policies' worth.
    bool wants_bounds = true;
    studies::policy_stages policies{};
    studies::control_stages controls{};
    // The part of the run to walk, with its own policies; empty for the whole run.
    std::optional<studies::part_of_run> part{};
    // Decisions already made for trades; pilots make those that are missing.
    const decide::decided_by_trade* held = nullptr;
    // Factor on the widths chosen to smooth jumps.
    double widths = 1;
    // Sees each sensitivity of the first order as soon as it is found, and may change it.
    std::function<void(greek_row&)> see_sensitivity{};
};

struct priced_book {
    results result;
    std::vector<kernels::moments> moments;  // by row; zero if no path was needed
    // Part means of derivatives: by row, by wanted number of the market, by part of the run.
    std::vector<std::vector<std::vector<double>>> derivatives{};
};

namespace studies {

// Implements engine::price.
std::vector<results> prices_as_asked(const resources& with, const book& trades, std::span<const market> in,
                                     const inner_options& options);

// Implements engine::greeks. For `are_of_book` see stages.
results greeks_as_asked(const resources& with, const book& trades, const market& in,
                        const greek_options& wanted, const inner_options& options, bool are_of_book = false);

void add_answers(results& to, const resources& with, const book& trades, const market& in,
                 const inner_options& options);

}  // namespace studies

std::vector<priced_book> price_book(const studies::resources& with, const book& trades,
                                    std::span<const market> in, const studies::inner_options& options,
                                    const stages& by = {});
priced_book price_book(const studies::resources& with, const book& trades, const market& in,
                       const studies::inner_options& options, const stages& by = {});

// Finds sensitivities without rounds, journal and reported figures. Sets `plan` and `add_ways_back` itself.
results greeks_of_book(const studies::resources& with, const book& trades, const market& in,
                       const greek_options& wanted, const studies::inner_options& options,
                       const stages& by = {});

}  // namespace tilewalk
