// SPDX-License-Identifier: Apache-2.0
// Adjoints of trades: how the market's numbers move a trade's, and the programs that carry derivatives back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/walk/job.h"
#include "engine/walk/tally.h"
#include "products/program/adjoint.h"
#include "products/program/jumps.h"
#include "products/program/likelihood_ratio.h"
#include "products/program/tangents.h"
#include "products/program/timeline.h"

namespace tilewalk::greeks {

// Returns the derivatives of a trade's numbers, from two markets with one number `distance` apart.
program::path_data moves_of_numbers(const program::path_data& up, const program::path_data& down,
                                    double distance);

// Marks the numbers that move in `into`. Returns true if any moves.
bool mark_moved(const program::path_data& moves, program::wanted_numbers& into,
                const program::path_program& of);

// Makes adjoint programs and facts about programs, once for all trades of a shape. Thread-safe.
class adjoint_store {
  public:
    std::shared_ptr<const program::adjoint_program> adjoint_of(
        const std::shared_ptr<const program::path_program>& p, const program::wanted_numbers& wanted,
        const std::vector<program::jump>& smoothed = {});
    // Returns tangents if they take fewer operations than the adjoint `back` of the same numbers; else null.
    std::shared_ptr<const program::tangent_program> tangents_of(
        const std::shared_ptr<const program::path_program>& p,
        const std::vector<program::wanted_numbers>& along,
        const std::shared_ptr<const program::adjoint_program>& back);
    // `data` and `when` may be of any trade of the shape.
    const std::vector<program::jump>& jumps_of(const std::shared_ptr<const program::path_program>& p,
                                               const program::path_data& data, const program::timeline& when);
    const std::vector<program::jump>& smoothable_of(const std::shared_ptr<const program::path_program>& p,
                                                    const program::path_data& data,
                                                    const program::timeline& when);
    // Returns the program with likelihood ratios that hold its moving jumps still; empty if one can't be
    // held.
    const std::optional<program::scored_program>& scored_of(
        const std::shared_ptr<const program::path_program>& p, const program::path_data& data,
        const program::timeline& when);
    std::shared_ptr<const program::scored_adjoint> scored_adjoint_of(
        const std::shared_ptr<const program::path_program>& p, const program::scored_program& scored,
        const program::wanted_numbers& wanted);
    std::size_t size() const;

  private:
    struct tried_tangents {
        std::shared_ptr<const program::adjoint_program> back;
        std::vector<program::wanted_numbers> along;
        std::shared_ptr<const program::tangent_program> made;  // null if they take more operations
    };
    struct of_program {
        std::shared_ptr<const program::path_program> program;  // held, so that its address stays unique
        std::once_flag once, smoothable_once, scored_once;
        std::vector<program::jump> jumps, smoothable;
        std::optional<program::scored_program> scored;
        std::mutex lock;
        std::vector<std::shared_ptr<const program::adjoint_program>> adjoints;
        std::vector<program::wanted_numbers> wanted;  // by adjoint
        std::vector<tried_tangents> tangents;
        std::vector<std::shared_ptr<const program::scored_adjoint>> scored_adjoints;
        std::vector<program::wanted_numbers> wanted_of_scored;
    };
    of_program& entry_of(const std::shared_ptr<const program::path_program>& p);

    mutable std::mutex lock_;
    std::map<const program::path_program*, of_program> known_;
};

// Limit on directions of tangents. An adjoint costs a few prices for any number of derivatives; with four of
// Heston's parameters, tangents took as long on a CPU (double, AVX2, 2026-11). 16 leaves room for programs
// where a number moves less.
inline constexpr std::size_t most_directions = 16;

// A trade's adjoint with its numbers, and how its derivatives add up to those by numbers of the market.
class ready_way_back {
  public:
    ready_way_back(std::shared_ptr<const program::adjoint_program> code, const program::path_data& data,
                   const std::vector<program::path_data>& moves, const program::smoothing& widths = {});
    // Takes likelihood ratios. `data` is that of the program that also carries slopes.
    ready_way_back(const std::shared_ptr<const program::scored_adjoint>& scored,
                   const program::path_data& data, const std::vector<program::path_data>& moves,
                   double control);

    // Returns the job that walks the trade both ways. Likelihood ratios take another program forth.
    run::job both_ways(run::job forth) const;
    std::size_t derivatives() const { return size_; }
    // Returns mean derivatives by number of the market, then by part of the run.
    std::vector<std::vector<double>> means_by_number(const run::tally& of) const;

  private:
    struct term {
        std::uint32_t place;
        double derivative;
    };
    void set_moves(const std::vector<program::path_data>& moves);

    std::shared_ptr<const program::adjoint_program> code_;
    const program::path_program* forth_ = nullptr;  // null for the trade's own program
    program::path_data data_of_forth_{};
    program::path_data data_;
    std::size_t size_;
    std::vector<std::vector<term>> moves_;  // by number of the market: only what moves
};

}  // namespace tilewalk::greeks
