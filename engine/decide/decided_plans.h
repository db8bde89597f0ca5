// SPDX-License-Identifier: Apache-2.0
// The plans of a session's trades, with all decisions about them. Revaluations in other markets of the day
// take the controls and shifts that pilots chose in the book's market, so that revaluations differ by the
// market and not by pilots. Pilots choose in another market if its paths have other moves, as on another day.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/crew.h"
#include "engine/decide/planned_run.h"
#include "engine/decide/rewrites.h"
#include "tilewalk/market.h"

namespace tilewalk::studies {

class decided_plans {
  public:
    // `of_book` is empty if the book names no market.
    decided_plans(std::size_t trades, const std::optional<market>& of_book)
        : of_book_(of_book), plans_(trades), chosen_(trades) {}

    // Rewrites the plans of a run in one market. A trade that was planned alike before takes its former plan,
    // so that its compiled program serves again. Trades with rights are decided anew.
    void decide(planned_run& r, shape_store& shapes, threads::crew& by, const progress_reporter& reporter);

  private:
    struct asked {
        std::uint64_t seed, paths, unit_paths;
        bool chooses_source, chooses_construction, chooses_controls, chooses_preintegration,
            chooses_importance, walks_pairs;
        quasi::points points;
        std::string followed;  // digest of the decisions that the run follows

        explicit asked(const settled& run);
        friend bool operator==(const asked&, const asked&) = default;
    };
    struct kept_plan {
        asked by;
        std::shared_ptr<const ready_trade> plain;
        planned walked{};
    };
    struct of_book_market {
        asked by;
        chosen_control control{};
        decide::decided_by_trade held{};  // decisions about this one trade
    };
    struct rewriting {
        const pilot_of_controls& pilots;
        const rewriter& rewrites;  // rewrites by pilots in the market at hand
        const kept::work* work;    // null: nothing is kept
        shape_store& shapes;
    };

    void take_plan(const books::trade& t, std::size_t i, planned& p, const market& in, const rewriting& by);
    void keep(const planned_run& r);
    // Returns the decisions made in the book's market; null if the trade has no price there.
    std::shared_ptr<const of_book_market> chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                                                   const planned& plain, const market& in,
                                                                   const rewriting& by);

    const std::optional<market> of_book_;
    std::mutex lock_;                                            // guards the vectors below
    std::vector<std::shared_ptr<const kept_plan>> plans_;        // by trade; null if not yet planned
    std::vector<std::shared_ptr<const of_book_market>> chosen_;  // by trade; null if not yet chosen
};

}  // namespace tilewalk::studies
