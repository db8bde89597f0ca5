// SPDX-License-Identifier: Apache-2.0
// From a trade and a market to what the back ends run: a program shared by all trades of its shape, and the
// trade's own numbers and timeline.
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
    std::vector<std::size_t> section_of_block;  // 0, which is the step, where a block never runs
    std::vector<bool> idle;  // by block: its terms leave it nothing to do, and no path stops for it
    std::vector<std::string> assets, currencies, rate_currencies;  // that its script asks for
    std::vector<correlation_taken> missing_correlations;           // taken as 0: the market states none
    std::vector<std::string> models;  // that move them, one line each, for people
    // The largest error that time steps leave in the price of one unit, in the trade's currency: 0 where
    // paths are exact between dates, empty if not measured.
    std::optional<double> error_steps;
    // Remarks on what looks odd about the trade or its market, a sentence each, though the price is right for
    // them.
    std::vector<std::string> remarks;
    // Operations of the script that paths are checked for, with their places and what may be wrong there.
    std::vector<std::string> checked;
    // Everything has already happened: the price is a number, no path is walked.
    bool is_certain() const { return when.steps() == 0; }
};

// A change of a program between its recording and the passes; `grid` has the times it was recorded for.
using amendment = std::function<void(program::recorder::recorded&, const std::vector<double>& grid)>;

// Called often while a trade is planned; may throw, which ends the planning.
using poll = std::function<void()>;

// Throws tilewalk::error (input) with the trade's place if the market lacks something the trade needs.
// The program is made for a walk in this precision. Nothing is amended where nobody asks for it, and nobody
// uses a right where no other decides. The passes run only for a program that is not `known`.
trade_program plan_trade(const books::trade& t, const markets::market_view& market,
                         program::precision for_precision = program::precision::double_,
                         const amendment& amend = {}, const poll& often = {},
                         language::decider* rights = nullptr, controller* controls = nullptr,
                         passed_programs* known = nullptr);

// The same trade with outputs of its own for each operation that paths are checked for, in the order of
// `checked`, in the place of what it pays: 0 on paths that pass. Its paths are the same; `idle` is that of
// its plan. The trade has some.
trade_program plan_checks(const books::trade& t, const markets::market_view& market,
                          program::precision for_precision, const std::vector<bool>& idle,
                          const poll& often = {});

// Whether somebody may end the trade early.
bool has_rights(const books::trade& t);

using maker_of_deciders = std::function<std::unique_ptr<language::decider>()>;

// The numbers of a planned trade in other markets. Passes look at a program and not at its numbers: where the
// trade is recorded as the same program, they give what they gave before and need not run again.
class trade_numbers {
  public:
    // `code` and `idle` are of the trade's plan in `market`, for a walk in this precision, with rights used
    // by a decider as `rights` makes them, or by nobody, and what a controller adds. The trade and the code
    // outlive this.
    trade_numbers(const books::trade& t, const markets::market_view& market,
                  const program::path_program& code, const std::vector<bool>& idle,
                  program::precision for_precision, const poll& often = {}, maker_of_deciders rights = {},
                  controller* controls = nullptr);
    ~trade_numbers();
    trade_numbers(const trade_numbers&) = delete;
    trade_numbers& operator=(const trade_numbers&) = delete;

    // Throws as plan_trade does. Null where the trade has another program there, or its paths stop at other
    // times. Markets in which no number is another give the same object. The controller is the one there.
    std::shared_ptr<const program::path_data> in(const markets::market_view& other, const poll& often = {},
                                                 controller* controls = nullptr) const;

  private:
    struct state;
    std::unique_ptr<const state> state_;
};

// Remarks on odd terms of a trade that can't be planned.
std::vector<std::string> remarks_on_terms(const books::trade& t, const markets::market_view& market);

}  // namespace tilewalk::plan
