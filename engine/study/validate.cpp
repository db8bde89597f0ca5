// SPDX-License-Identifier: Apache-2.0
// Validates a book: plans every trade and walks no paths.
#include <optional>
#include <utility>

#include "engine/base/crew.h"
#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/study/asked.h"
#include "engine/walk/arrays/shock_file.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"

namespace tilewalk {

using namespace studies;

std::vector<trade_problem> engine::validate(const book& trades, const market& in, const run_options& options,
                                            std::vector<factor_pair>* missing) const {
    refuse_combinations(study::price, features_asked(trades, options));
    const settled run = settle({options}, trades.settings());  // throws if a file to follow is missing
    const std::optional<arrays::shock_file> file = replayed_in(run);
    const std::vector<books::trade>& all = state_of(trades).trades;
    std::vector<std::optional<error>> failures(all.size());
    shape_store shapes;
    missing_pairs pairs;
    const planner by = usual_planner();
    threads::for_each(
        all.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            planned p = plan_one(all[i], state_of(in), run, shapes, pairs, options.cancel, by);
            if (file && p.needs_paths()) has_shocks_for(p, *file, run.paths);
            failures[i] = std::move(p.failure);
        },
        [] {});
    std::vector<trade_problem> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (failures[i]) out.push_back(problem_of(all[i], *failures[i]));
    }
    if (missing != nullptr) *missing = pairs.all();
    return out;
}

}  // namespace tilewalk
