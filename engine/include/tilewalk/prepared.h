// SPDX-License-Identifier: Apache-2.0
// A book that was made ready to be priced often, in markets that change a little from call to call.
//
//     const tilewalk::prepared_book ready = engine.prepare(book);
//     for (;;) use(ready.price(next_market()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tilewalk/engine.h"

namespace tilewalk {

namespace verbs {
class prepared_state;
}

// Facts about what a prepared book keeps between calls.
struct prepared_facts {
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
class prepared_book {
  public:
    explicit prepared_book(std::shared_ptr<verbs::prepared_state> state) : state_(std::move(state)) {}

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

    prepared_facts facts() const;

  private:
    std::shared_ptr<verbs::prepared_state> state_;
};

}  // namespace tilewalk
