// SPDX-License-Identifier: Apache-2.0
// Pilots that choose points: a few paths of a trade show which construction of Brownian paths gains most from
// quasi-random points. A choice depends on the trade, its market, the seed and the number of paths alone.
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

namespace tilewalk::studies {

class sources;

struct tried_construction {
    quasi::construction how;
    // How many times as many independent paths would give the same error. Measured with randomisations of 32
    // points.
    double fewer_paths;
};

struct chosen_points {
    quasi::points points;
    bool are_worth_it = false;  // points take less time than independent numbers for the same error
    std::uint64_t pilot_paths = 0;
    std::vector<tried_construction> tried{};  // gain of each construction; empty without a pilot
    // Cautious estimate of the factor of time saved over independent numbers; 1 if these are taken.
    double less_time = 1;

    // Returns the points to take in `run`; empty if it takes independent numbers.
    std::optional<quasi::points> taken_in(const settled& run) const {
        if (run.chooses_source && !are_worth_it) return std::nullopt;
        return points;
    }
};
// Returns evidence for people: "2048 pilot paths: bridge 21, steps 1.3 times fewer paths in ...".
std::string evidence(const chosen_points& of);

// Constructions for a pilot to try. Leaves out any that would make the same numbers as an earlier one.
struct constructions_to_try {
    std::vector<quasi::construction> names{};
    std::vector<quasi::order> orders{};  // by index in `names`
    std::uint64_t paths_of_each = 0;
};
std::uint64_t paths_of_construction(std::size_t constructions, std::uint64_t paths);
constructions_to_try constructions_for(const run::job& of, const settled& run, std::uint64_t paths);

double variance(std::span<const double> of);
// Returns how many times fewer points than paths suffice; empty unless payoffs differ and are finite.
std::optional<double> gain_of_points(std::span<const double> payoffs);
// Returns the construction that takes least time, and whether that is less than by independent numbers.
chosen_points best_of(std::vector<tried_construction> tried, std::uint64_t pilot_paths, const settled& run);
chosen_points points_by(const tried_construction& one, std::uint64_t pilot_paths, const settled& run);

class pilot_of_points {
  public:
    // Makes the choices that `run` leaves open; `run` must outlive this object.
    pilot_of_points(const cpu::lane_operations& operations, const settled& run)
        : operations_(operations), run_(run) {}

    // Chooses points for a job by a pilot. Thread-safe.
    chosen_points choose(const run::job& of, std::span<const arrays::shock_cube> scenarios,
                         const std::atomic<bool>* cancel);
    // Estimates the variance of independent paths with the run's error. The job must have no scenarios.
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
    std::function<void()> watch{};  // called about ten times a second; may be empty
};
// Chooses the points of all trades, as far as settings leave them open. Plans are in order of market, then
// trade. In all markets a trade takes what a pilot chooses in the first one where it walks paths.
void choose_points(std::span<const books::trade> trades, std::span<planned> plans, const open_choices& of);

}  // namespace tilewalk::studies
