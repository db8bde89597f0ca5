// SPDX-License-Identifier: Apache-2.0
// The controls, the shifts and the pairs of a prepared book. A trade has the control and the shifts that
// pilots choose in the market of the book, in every market of that day, so that revaluations differ by what
// the market does and not by what pilots find. Pilots are walked in the market at hand where its paths have
// other moves, as on another day.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/threads/crew.h"
#include "engine/verbs/controls.h"
#include "engine/verbs/importance.h"
#include "engine/verbs/price.h"
#include "tilewalk/market.h"

namespace tilewalk::verbs {

class kept_controls {
  public:
    // The market of the book, if it names one.
    kept_controls(std::size_t trades, const std::optional<market>& of_book)
        : of_book_(of_book), plans_(trades), chosen_(trades) {}

    // Plans the trades of a run in one market as they are walked: those that are planned as before take the
    // plans that they had, and programs that are compiled stay so. Policies are found by each call, and so
    // are the controls of trades with rights.
    void add_to(planned_run& r, shape_store& shapes, threads::crew& by, const teller& tells);

  private:
    // All that choices depend on, beside the trade and its market.
    struct asked {
        std::uint64_t seed, paths, unit_paths;
        bool chooses_source, chooses_construction, chooses_controls, chooses_importance, walks_pairs;
        quasi::points points;

        explicit asked(const settled& run)
            : seed(run.seed),
              paths(run.paths),
              unit_paths(run.unit_paths),
              chooses_source(run.chooses_source),
              chooses_construction(run.chooses_construction),
              chooses_controls(run.chooses_controls),
              chooses_importance(run.chooses_importance),
              walks_pairs(run.walks_pairs),
              points(run.asked_points) {}
        friend bool operator==(const asked&, const asked&) = default;
    };
    struct choices {
        chosen_control control{};
        std::shared_ptr<const chosen_shifts> shifts{};  // null: none
    };
    struct kept_plan {
        asked by;
        std::shared_ptr<const ready_trade> plain;
        choices chosen{};
        planned walked{};
    };
    struct of_book_market {
        asked by;
        choices what;
    };

    void take_plan(const books::trade& t, std::size_t i, planned& p, const market& in,
                   const pilot_of_controls& by, shape_store& shapes);
    choices chosen_in_market_of_book(const books::trade& t, std::size_t i, const pilot_of_controls& by);

    const std::optional<market> of_book_;
    std::mutex lock_;                                            // of what follows
    std::vector<std::shared_ptr<const kept_plan>> plans_;        // by trade; null: none
    std::vector<std::shared_ptr<const of_book_market>> chosen_;  // by trade; null: none yet
};

}  // namespace tilewalk::verbs
