// SPDX-License-Identifier: Apache-2.0
// Ways back: how the market's numbers move a trade's, and the adjoint or tangent program to those.
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

// Returns a trade's derivatives to one number of the market, from two markets `distance` apart.
program::path_data moves_of_numbers(const program::path_data& up, const program::path_data& down,
                                    double distance);

// Returns true if any number moves.
bool mark_moved(const program::path_data& moves, program::wanted_numbers& into,
                const program::path_program& of);

// Adjoint programs and facts about programs, each made once for all trades of a shape. Thread-safe.
class adjoint_store {
  public:
    std::shared_ptr<const program::adjoint_program> adjoint_of(
        const std::shared_ptr<const program::path_program>& p, const program::wanted_numbers& wanted,
        const std::vector<program::jump>& smoothed = {});
    // Returns tangents if they take fewer operations than `back`, the way back to what moves; else null.
    std::shared_ptr<const program::tangent_program> tangents_of(
        const std::shared_ptr<const program::path_program>& p,
        const std::vector<program::wanted_numbers>& along,
        const std::shared_ptr<const program::adjoint_program>& back);
    // data` and `when` may be of any trade of the shape.
    const std::vector<program::jump>& jumps_of(const std::shared_ptr<const program::path_program>& p,
                                               const program::path_data& data, const program::timeline& when);
    const std::vector<program::jump>& smoothable_of(const std::shared_ptr<const program::path_program>& p,
                                                    const program::path_data& data,
                                                    const program::timeline& when);
    // Returns the program with its moving jumps held still by likelihood ratios; empty if one can't be.
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
        std::shared_ptr<const program::tangent_program> made;  // null if they cost more
    };
    struct of_program {
        std::shared_ptr<const program::path_program> program;  // held so that its address is not reused
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

// Limit on the directions of tangents. A way back costs a few prices, however many numbers it is to; to four
// of Heston's both took as long on a CPU (double, AVX2, 2026-11), so 16 leaves room for programs of which a
// number moves less.
inline constexpr std::size_t most_directions = 16;

// The way back of a trade, and how its derivatives add up to those to numbers of the market.
class ready_way_back {
  public:
    ready_way_back(std::shared_ptr<const program::adjoint_program> code, const program::path_data& data,
                   const std::vector<program::path_data>& moves, const program::smoothing& widths = {});
    // By likelihood ratios. `data` is that of the program that also carries slopes.
    ready_way_back(const std::shared_ptr<const program::scored_adjoint>& scored,
                   const program::path_data& data, const std::vector<program::path_data>& moves,
                   double control);

    // Returns the job that walks the trade both ways. Likelihood ratios take other paths forth.
    run::job both_ways(run::job forth) const;
    std::size_t derivatives() const { return size_; }
    // By number of the market, and by part of the run.
    std::vector<std::vector<double>> means_by_number(const run::tally& of) const;

  private:
    struct term {
        std::uint32_t place;
        double derivative;
    };
    void take(const std::vector<program::path_data>& moves);

    std::shared_ptr<const program::adjoint_program> code_;
    const program::path_program* forth_ = nullptr;  // null: the trade's own
    program::path_data data_of_forth_{};
    program::path_data data_;
    std::size_t size_;
    std::vector<std::vector<term>> moves_;  // by number of the market, without places that do not move
};

}  // namespace tilewalk::greeks
