// SPDX-License-Identifier: Apache-2.0
// A book that stays open for many calls, in markets that change a little between them.
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

namespace studies {
class open_book;
}

struct session_facts {
    std::uint64_t trades_planned = 0;   // planned so far, counting repetitions
    std::size_t plans = 0;              // plans kept, at most one per trade
    std::size_t programs = 0;           // programs kept, which trades of a shape share
    std::size_t programs_compiled = 0;  // programs compiled for the CPU
    std::size_t crews = 0;              // teams of waiting threads: as many as there were simultaneous calls
    std::size_t threads = 0;            // threads in these crews
    std::size_t gpu_runs = 0;           // runs kept on GPUs: one for each simultaneous call, at most 8
};

// A session may outlive its book and engine. Thread-safe; copies share everything that is kept.
class session {
  public:
    // Returns prices with the bits of engine::price. If control variates are on, the bits are those of one
    // call with the book's own market first and `in` second, since controls are chosen in the first. Plans
    // again only trades that read a changed part of the market: a curve, asset, exchange rate, correlation or
    // fixing. A model that was read anew counts as changed; a new as_of changes all trades. Options may vary
    // between calls, but another precision plans all trades again. Keeps the markets of its plans alive. On
    // GPUs, kernels and data stay in place and only changed numbers are copied, if paths, settings and
    // devices are those of an earlier call and no file of shocks or scenarios is read. A simultaneous call
    // takes up to 64 MiB of a GPU for this.
    results price(const market& in, const run_options& options = {}) const;

    // Return the bits of engine::greeks, engine::scenarios and differences(). Keeps plans in `in`, programs
    // of derivatives, threads and devices, but no plans in moved markets.
    results greeks(const market& in, const greek_options& wanted = {}, const run_options& options = {}) const;
    scenario_results scenarios(const market& in, const scenario_list& asked,
                               const run_options& options = {}) const;
    difference_results differences(const market& in, const difference_options& wanted,
                                   const run_options& options = {}) const;

    session_facts facts() const;

  private:
    friend struct inside;
    explicit session(std::shared_ptr<studies::open_book> open) : open_(std::move(open)) {}
    std::shared_ptr<studies::open_book> open_;
};

}  // namespace tilewalk
