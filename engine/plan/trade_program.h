// SPDX-License-Identifier: Apache-2.0
// Plans a trade: a program shared by all trades of its shape, and the trade's own numbers and timeline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/plan/controller.h"
#include "engine/plan/passed_programs.h"
#include "engine/reading/book_state.h"
#include "products/language/payoff.h"
#include "products/program/passes.h"
#include "products/program/precision.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

struct trade_program {
    std::string currency;
    program::path_program code;
    program::path_data data;
    program::timeline when;
    std::vector<language::block> blocks;
    std::vector<std::size_t> section_of_block;  // 0 (the step) if the block never runs
    std::vector<bool> idle;  // by block: its terms leave it nothing to do, and no path stops for it
    std::vector<std::string> assets, currencies, rate_currencies;  // that the script asks for
    std::vector<correlation_taken> missing_correlations;           // taken as 0
    std::vector<std::string> models;                               // of the assets, one line each, for people
    // Error bound of time steps per unit, in its currency; 0: exact between dates, empty: not measured.
    std::optional<double> error_steps;
    // Sentences on what looks odd about the trade or its market. The price is right for them all the same.
    std::vector<std::string> remarks;
    // Operations that paths are checked for, with their places and what may be wrong there.
    std::vector<std::string> checked;
    // True if everything has already happened, so that no path is walked.
    bool is_certain() const { return when.steps() == 0; }
};

// Changes a program between recording and passes; `grid` has the times it was recorded for.
using amendment = std::function<void(program::recorder::recorded&, const std::vector<double>& grid)>;

// Called often while a trade is planned. Ends the planning by throwing.
using poll = std::function<void()>;

// Throws tilewalk::error (input) with the trade's place if the market lacks something. No right is used
// without `rights`. Passes run only for a program that is not in `known`.
trade_program plan_trade(const books::trade& t, const markets::market_view& market,
                         program::precision for_precision = program::precision::double_,
                         const amendment& amend = {}, const poll& often = {},
                         language::decider* rights = nullptr, controller* controls = nullptr,
                         passed_programs* known = nullptr);

// Plans the same paths with one output for each checked operation, in the order of `checked`, instead of the
// payoff: 0 on paths that pass. `idle` is that of the trade's plan. At least one operation must be checked.
trade_program plan_checks(const books::trade& t, const markets::market_view& market,
                          program::precision for_precision, const std::vector<bool>& idle,
                          const poll& often = {});

bool has_rights(const books::trade& t);

using maker_of_deciders = std::function<std::unique_ptr<language::decider>()>;

// Numbers of a planned trade in other markets: passes need not run again if its program is the same.
class trade_numbers {
  public:
    // code` and `idle` are of the trade's plan in `market`, made with the same precision, rights and
    // controller. `t` and `code` must outlive this.
    trade_numbers(const books::trade& t, const markets::market_view& market,
                  const program::path_program& code, const std::vector<bool>& idle,
                  program::precision for_precision, const poll& often = {}, maker_of_deciders rights = {},
                  controller* controls = nullptr);
    ~trade_numbers();
    trade_numbers(const trade_numbers&) = delete;
    trade_numbers& operator=(const trade_numbers&) = delete;

    // Throws as plan_trade does. Null if the program, or its stops, are others there. Markets with the same
    // numbers give the same object. `controls` is the other market's.
    std::shared_ptr<const program::path_data> in(const markets::market_view& other, const poll& often = {},
                                                 controller* controls = nullptr) const;

  private:
    struct state;
    std::unique_ptr<const state> state_;
};

std::vector<std::string> remarks_on_terms(const books::trade& t, const markets::market_view& market);

}  // namespace tilewalk::plan
