// SPDX-License-Identifier: Apache-2.0
// A book that is open for many calls, in markets that change a little from call to call.
//
//     const tilewalk::session open = engine.open(book);
//     for (;;) use(open.price(next_market()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tilewalk/engine.h"

namespace tilewalk {

struct difference_options;
struct difference_results;

namespace verbs {
class open_book;
}

// Facts about what a session keeps between calls.
struct session_facts {
    std::uint64_t trades_planned = 0;   // so far; a trade that is planned again counts again
    std::size_t plans = 0;              // kept, at most one a trade
    std::size_t programs = 0;           // kept, by shape
    std::size_t programs_compiled = 0;  // of these, for the CPU
    std::size_t crews = 0;              // of threads that wait for a call: as many as calls were at once
    std::size_t threads = 0;            // of these
    std::size_t gpu_runs = 0;           // that lie ready on GPUs: one for each call at once, at most 8
};

// Outlives the book and the engine that it was made from. May be used by many threads at once; a copy shares
// all that is kept.
class session {
  public:
    explicit session(std::shared_ptr<verbs::open_book> open) : open_(std::move(open)) {}

    // The bits of engine::price; with controls, those of a price in the book's own market and in this one at
    // once, whose controls are those of the first. Plans anew only the trades that read something of the
    // market that has changed since they were planned: a curve, an asset, an exchange rate, a correlation, a
    // fixing. A model of an asset or of rates that was read anew counts as changed; as_of changes all trades.
    // Options may change from call to call; another precision plans all trades anew. Keeps the markets alive
    // that trades were planned in.
    //
    // On GPUs kernels and the numbers of trades stay where they are, and only numbers that have changed are
    // brought there, as long as paths, settings and devices are those of a call before and no file of shocks
    // or scenarios is read. This takes at most 64 MiB of a GPU for each call that was made at once.
    results price(const market& in, const run_options& options = {}) const;

    // The bits of engine::greeks, engine::scenarios and differences(). Plans in the market are kept, those in
    // markets that are moved from it are not; and so are the programs of derivatives, threads and devices.
    results greeks(const market& in, const greek_options& wanted = {}, const run_options& options = {}) const;
    scenario_results scenarios(const market& in, const scenario_list& asked,
                               const run_options& options = {}) const;
    difference_results differences(const market& in, const difference_options& wanted,
                                   const run_options& options = {}) const;

    session_facts facts() const;

  private:
    std::shared_ptr<verbs::open_book> open_;
};

}  // namespace tilewalk
