// SPDX-License-Identifier: Apache-2.0
// Ways back of trades: for each trade, by which of its program's numbers each number of the market moves it,
// and the adjoint program to those.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/job.h"
#include "engine/run/tally.h"
#include "products/program/adjoint.h"
#include "products/program/jumps.h"
#include "products/program/timeline.h"

namespace tilewalk::greeks {

// The derivatives of a trade's numbers to one number of the market, from its numbers in two markets about it.
program::path_data moves_of_numbers(const program::path_data& up, const program::path_data& down,
                                    double distance);

// Marks the numbers that move. True if any does.
bool mark_moved(const program::path_data& moves, program::wanted_numbers& into,
                const program::path_program& of);

// Adjoint programs, and what is known of programs, each once for all trades of a shape. Safe to share.
class adjoint_store {
  public:
    std::shared_ptr<const program::adjoint_program> adjoint_of(
        const std::shared_ptr<const program::path_program>& p, const program::wanted_numbers& wanted,
        const std::vector<program::jump>& smoothed = {});
    // `data` and `when` are of any trade of the shape.
    const std::vector<program::jump>& jumps_of(const std::shared_ptr<const program::path_program>& p,
                                               const program::path_data& data, const program::timeline& when);
    // Those of its jumps that can be smoothed.
    const std::vector<program::jump>& smoothable_of(const std::shared_ptr<const program::path_program>& p,
                                                    const program::path_data& data,
                                                    const program::timeline& when);

  private:
    struct of_program {
        std::shared_ptr<const program::path_program> program;  // keeps its address taken
        std::once_flag once, smoothable_once;
        std::vector<program::jump> jumps, smoothable;
        std::mutex lock;
        std::vector<std::shared_ptr<const program::adjoint_program>> adjoints;
        std::vector<program::wanted_numbers> wanted;  // by adjoint
    };
    of_program& entry_of(const std::shared_ptr<const program::path_program>& p);

    std::mutex lock_;
    std::map<const program::path_program*, of_program> known_;
};

// The way back of a trade, and what its derivatives are to numbers of the market.
class ready_way_back {
  public:
    ready_way_back(std::shared_ptr<const program::adjoint_program> code, const program::path_data& data,
                   const std::vector<program::path_data>& moves, const program::smoothing& widths = {});

    run::way_back way() const { return {code_.get(), &data_}; }
    std::size_t derivatives() const { return size_; }
    // The mean derivative of the price to each number, by part of the run.
    std::vector<std::vector<double>> means_by_number(const run::tally& of) const;

  private:
    struct term {
        std::uint32_t place;
        double derivative;
    };
    std::shared_ptr<const program::adjoint_program> code_;
    program::path_data data_;
    std::size_t size_;
    std::vector<std::vector<term>> moves_;  // by number of the market; places that do not move are left out
};

}  // namespace tilewalk::greeks
