// SPDX-License-Identifier: Apache-2.0
// The controls of a prepared book. A trade has the control that a pilot chooses in the market of the book, in
// every market of that day, so that revaluations differ by what the market does and not by what pilots find.
// The pilot is walked in the market at hand where its paths have other moves, as on another day.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/threads/crew.h"
#include "engine/verbs/controls.h"
#include "engine/verbs/price.h"
#include "tilewalk/market.h"

namespace tilewalk::verbs {

class kept_controls {
  public:
    // The market of the book, if it names one.
    kept_controls(std::size_t trades, const std::optional<market>& of_book)
        : of_book_(of_book), plans_(trades), chosen_(trades) {}

    // Plans the trades of a run in one market with their controls: those that are planned as before take the
    // plans that they had, and programs that are compiled stay so. Policies are found by each call, and so
    // are the controls of trades with rights.
    void add_to(planned_run& r, shape_store& shapes, threads::crew& by, const teller& tells);

  private:
    // All that choices depend on, beside the trade and its market.
    struct asked {
        std::uint64_t seed, paths, unit_paths;
        bool chooses_source, chooses_construction;
        quasi::points points;

        explicit asked(const settled& run)
            : seed(run.seed),
              paths(run.paths),
              unit_paths(run.unit_paths),
              chooses_source(run.chooses_source),
              chooses_construction(run.chooses_construction),
              points(run.asked_points) {}
        friend bool operator==(const asked&, const asked&) = default;
    };
    struct kept_plan {
        asked by;
        std::shared_ptr<const ready_trade> plain, controlled;  // the latter null: it has no control
        chosen_control what{};
        std::shared_ptr<const controls::control> control{};  // of `controlled`
        std::string written{};                               // the same, as a decision
    };
    struct of_book_market {
        asked by;
        chosen_control what;
    };

    void take_control(const books::trade& t, std::size_t i, planned& p, const market& in,
                      const pilot_of_controls& by, shape_store& shapes);
    chosen_control chosen_in_market_of_book(const books::trade& t, std::size_t i,
                                            const pilot_of_controls& by);

    const std::optional<market> of_book_;
    std::mutex lock_;                                            // of what follows
    std::vector<std::shared_ptr<const kept_plan>> plans_;        // by trade; null: none
    std::vector<std::shared_ptr<const of_book_market>> chosen_;  // by trade; null: none yet
};

}  // namespace tilewalk::verbs
