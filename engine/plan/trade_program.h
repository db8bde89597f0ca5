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
    std::vector<bool> idle;  // by block: its terms leave it nothing to do, so that no path stops for it
    std::vector<std::string> assets, currencies, rate_currencies;  // used by the script
    std::vector<correlation_taken> missing_correlations;           // taken as 0
    std::vector<std::string> models;                               // a line for people on each asset's model
    // Bound on the error of time steps, per unit and in `currency`: 0 if there is none, empty if not known.
    std::optional<double> error_steps;
    // Remarks on what looks odd in the trade or its market. The price is right all the same.
    std::vector<std::string> remarks;
    // Texts on operations whose domain paths are checked for: place, and what may be wrong there.
    std::vector<std::string> checked;
    // True if everything has already happened, so that no path is needed.
    bool is_certain() const { return when.steps() == 0; }
};

// Changes a program between recording and passes. `grid` has the times at which its paths stop.
using amendment = std::function<void(program::recorder::recorded&, const std::vector<double>& grid)>;

// Called often while a trade is planned; may throw to end the planning.
using poll = std::function<void()>;

// Throws tilewalk::error (input), with the trade's place, if the market lacks something. No right is used if
// `rights` is null. Passes run only for programs that `known` lacks.
trade_program plan_trade(const books::trade& t, const markets::market_view& market,
                         program::precision for_precision = program::precision::double_,
                         const amendment& amend = {}, const poll& often = {},
                         language::decider* rights = nullptr, controller* controls = nullptr,
                         passed_programs* known = nullptr);

// Plans the same paths with checks as outputs instead of the payoff, in the order of `checked`: an output is
// 0 on paths that pass. `idle` is the plan's. At least one operation must be checked.
trade_program plan_checks(const books::trade& t, const markets::market_view& market,
                          program::precision for_precision, const std::vector<bool>& idle,
                          const poll& often = {});

bool has_rights(const books::trade& t);

using maker_of_deciders = std::function<std::unique_ptr<language::decider>()>;

// Finds the numbers of a planned trade in other markets. If the program is the same there, no pass runs.
class trade_numbers {
  public:
    // `code` and `idle` are of the trade's plan in `market`, made with the same precision, rights and
    // controller. `t` and `code` must outlive this.
    trade_numbers(const books::trade& t, const markets::market_view& market,
                  const program::path_program& code, const std::vector<bool>& idle,
                  program::precision for_precision, const poll& often = {}, maker_of_deciders rights = {},
                  controller* controls = nullptr);
    ~trade_numbers();
    trade_numbers(const trade_numbers&) = delete;
    trade_numbers& operator=(const trade_numbers&) = delete;

    // Returns the trade's numbers in the market `other`; null if the trade's program or its dates on the path
    // differ there. If no number differs from those here,
    // returns the same object. `controls` must be made for
    // `other`. Throws what plan_trade throws.
    std::shared_ptr<const program::path_data> in(const markets::market_view& other, const poll& often = {},
                                                 controller* controls = nullptr) const;

  private:
    struct state;
    std::unique_ptr<const state> state_;
};

std::vector<std::string> remarks_on_terms(const books::trade& t, const markets::market_view& market);

}  // namespace tilewalk::plan
