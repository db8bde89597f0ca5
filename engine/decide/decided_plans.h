// SPDX-License-Identifier: Apache-2.0
// The plans of a session with all that is decided about its trades. A trade has the control and the
// shifts that pilots choose in the market of the book, in every market of that day, so that revaluations
// differ by what the market does and not by what pilots find. Pilots are walked in the market at hand where
// its paths have other moves, as on another day.
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

namespace tilewalk::verbs {

class decided_plans {
  public:
    // The market of the book, if it names one.
    decided_plans(std::size_t trades, const std::optional<market>& of_book)
        : of_book_(of_book), plans_(trades), chosen_(trades) {}

    // Plans the trades of a run in one market as they are walked: those that are planned as before take the
    // plans that they had, and programs that are compiled stay so. Policies are found by each call, and so
    // is all that is decided about trades with rights.
    void decide(planned_run& r, shape_store& shapes, threads::crew& by, const teller& tells);

  private:
    // All that decisions depend on, beside the trade and its market.
    struct asked {
        std::uint64_t seed, paths, unit_paths;
        bool chooses_source, chooses_construction, chooses_controls, chooses_preintegration,
            chooses_importance, walks_pairs;
        quasi::points points;
        std::string followed;  // the digest of the run that is followed

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
        decide::decided_by_trade held{};  // of the trade
    };
    struct rewriting {
        const pilot_of_controls& pilots;
        const rewriter& rewrites;  // by pilots in the market at hand
        const kept::work* work;    // null: nothing is kept
        shape_store& shapes;
    };

    void take_plan(const books::trade& t, std::size_t i, planned& p, const market& in, const rewriting& by);
    void keep(const planned_run& r);
    // Null: the trade has no price there.
    std::shared_ptr<const of_book_market> chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                                                   const planned& plain, const market& in,
                                                                   const rewriting& by);

    const std::optional<market> of_book_;
    std::mutex lock_;                                            // of what follows
    std::vector<std::shared_ptr<const kept_plan>> plans_;        // by trade; null: none
    std::vector<std::shared_ptr<const of_book_market>> chosen_;  // by trade; null: none yet
};

}  // namespace tilewalk::verbs
