// SPDX-License-Identifier: Apache-2.0
// Pilots: a few paths of a trade that show which construction of Brownian paths gains most by points. A
// choice depends on the trade, its market, the seed and the number of paths, and on no device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/numerics/quasi/order.h"
#include "engine/walk/arrays/shock_cube.h"
#include "engine/walk/cpu/compiled_programs.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/job.h"

namespace tilewalk::verbs {

class sources;

struct tried_construction {
    quasi::construction how;
    double fewer_paths;  // than independent paths for the same error, in randomisations of 32 points
};

struct chosen_points {
    quasi::points points;
    bool are_worth_it = false;  // points take less time than independent numbers at the same error
    std::uint64_t pilot_paths = 0;
    std::vector<tried_construction> tried{};  // empty if no pilot was walked
    // Factor of time saved over independent numbers at the same error, a modest guess; 1 for these.
    double less_time = 1;

    // Returns the points that a trade of the run takes; empty: independent numbers.
    std::optional<quasi::points> taken_in(const settled& run) const {
        if (run.chooses_source && !are_worth_it) return std::nullopt;
        return points;
    }
};
// Returns the evidence for people: "2048 pilot paths: bridge 21, steps 1.3 times fewer paths".
std::string evidence(const chosen_points& of);

// Constructions to try, without those that make the numbers of an earlier one.
struct constructions_to_try {
    std::vector<quasi::construction> names{};
    std::vector<quasi::order> orders{};  // by name
    std::uint64_t paths_of_each = 0;
};
std::uint64_t paths_of_construction(std::size_t constructions, std::uint64_t paths);
constructions_to_try constructions_for(const run::job& of, const settled& run, std::uint64_t paths);

double variance(std::span<const double> of);
// Returns how many times fewer points suffice than paths; empty unless payoffs differ and are finite.
std::optional<double> gain_of_points(std::span<const double> payoffs);
// Returns the construction that takes least time, and whether it beats independent numbers.
chosen_points best_of(std::vector<tried_construction> tried, std::uint64_t pilot_paths, const settled& run);
chosen_points points_by(const tried_construction& one, std::uint64_t pilot_paths, const settled& run);

class pilot_of_points {
  public:
    // Decides what `run`, which must outlive this, leaves open.
    pilot_of_points(const cpu::lane_operations& operations, const settled& run)
        : operations_(operations), run_(run) {}

    // Thread-safe.
    chosen_points choose(const run::job& of, std::span<const arrays::shock_cube> scenarios,
                         const std::atomic<bool>* cancel);
    // Returns the variance that the run leaves, as that of independent paths. The job must have no scenarios.
    double variance_left(const run::job& of, const std::atomic<bool>* cancel);

  private:
    std::vector<double> payoffs(const run::job& of, const quasi::order* points, std::uint64_t paths,
                                std::span<const arrays::shock_cube> scenarios,
                                const std::atomic<bool>* cancel);

    const cpu::lane_operations& operations_;
    const settled& run_;
    cpu::compiled_programs compiled_;
};

struct open_choices {
    const settled& run;
    const cpu::lane_operations& operations;
    std::span<const arrays::shock_cube> scenarios;
    const std::atomic<bool>* cancel;
    const sources& from;
    std::function<void()> watch{};  // called now and then
};
// Decides which points trades take if settings leave it open. Plans are ordered by market, then trade; a
// trade takes in every market what it takes in the first one where it walks paths.
void choose_points(std::span<const books::trade> trades, std::span<planned> plans, const open_choices& of);

}  // namespace tilewalk::verbs
