// SPDX-License-Identifier: Apache-2.0
// Prices books. One engine may be used by many threads at once; between calls it keeps its settings, and the
// GPUs it has opened with their kernels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/greek_options.h"
#include "tilewalk/kernels.h"
#include "tilewalk/market.h"
#include "tilewalk/measures.h"
#include "tilewalk/results.h"
#include "tilewalk/run_options.h"
#include "tilewalk/timings.h"
#include "tilewalk/trade_facts.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

class session;
struct scenario_list;
struct scenario_results;

namespace cuda {
class backend;
}

struct engine_settings {
    // "auto", or one of instruction_sets(); the bits of a price do not depend on it.
    std::string instruction_set = "auto";
};

class engine {
  public:
    explicit engine(engine_settings settings = {});
    // With other GPUs than this machine's, for the tests of the library itself.
    engine(engine_settings settings, std::shared_ptr<cuda::backend> gpus);

    // In the market that the book names or holds; throws tilewalk::error (usage) if it has none.
    results price(const book& trades, const run_options& options = {}) const;
    results price(const book& trades, const market& in, const run_options& options = {}) const;
    // In each of these markets, with common random numbers and in one walk over all trades and markets: each
    // market's results have the bits of price(trades, that market, options). A trade that fails in one fails
    // there alone. A row whose program or times differ from those in the first market has a remark that says
    // so: random numbers are then common in part at most. Timings, launches and kernels in a manifest are
    // those of the whole walk. Memory grows with trades times markets, of which there are at most
    // bounds::priced_at_once; throws tilewalk::error (usage) for more.
    std::vector<results> price(const book& trades, std::span<const market> in,
                               const run_options& options = {}) const;
    // Prices, with the sensitivities of each trade to the numbers of the market that it depends on, each with
    // its standard error. Prices have the bits of price(). Throws tilewalk::error (usage) for a measure that
    // does not exist, or a pattern that no key fits.
    results greeks(const book& trades, const market& in, const greek_options& wanted = {},
                   const run_options& options = {}) const;
    // Gains of the book in scenarios, see tilewalk/scenarios.h: differences of the prices that price() finds
    // in several markets, the base market first, with the standard errors of the differences. A trade that
    // fails in a scenario fails there alone, and a scenario that makes no market fails for all trades. Memory
    // grows with trades times scenarios by some 16 bytes.
    scenario_results scenarios(const book& trades, const market& in, const scenario_list& asked,
                               const run_options& options = {}) const;
    // The same for many calls in markets that change a little, see tilewalk/session.h.
    session open(const book& trades) const;
    std::vector<trade_plan> explain(const book& trades, const market& in,
                                    const run_options& options = {}) const;
    // The trades that can't be priced, in the order of the book: all that can be known before a path is
    // walked. `missing` takes the correlations that the other trades take as 0 because the market states
    // none.
    std::vector<trade_problem> validate(const book& trades, const market& in, const run_options& options = {},
                                        std::vector<factor_pair>* missing = nullptr) const;
    // The numbers of the market on which each trade depends, found by planning it in markets in which one
    // number is another: no path is walked. A number that no market can have otherwise counts if the part of
    // the market in which it stands was read.
    std::vector<trade_dependence> depends_on(const book& trades, const market& in,
                                             const run_options& options = {}) const;
    // Compiles what pricing the book on a GPU needs and keeps it in the cache, for these architectures, such
    // as "sm_90"; for those of this machine's GPUs if none is given.
    std::vector<warmed_kernel> warm(const book& trades, const market& in, const run_options& options,
                                    const std::vector<std::string>& architectures) const;

    // Times the ways to build what pricing the book on a GPU needs, up to `seconds` a kernel, and remembers
    // the fastest of each: runs that leave the choice open (prefetch: auto and no more said) take it from
    // then on. `says` hears what is being done.
    std::vector<tuned_kernel> tune(const book& trades, const market& in, const run_options& options,
                                   double seconds, const std::function<void(const std::string&)>& says) const;
    // The same for ways back, on which the sensitivities of the book are found: how the random numbers that
    // paths keep are read back. Not in single_fast, where that changes the last bits.
    std::vector<tuned_kernel> tune_greeks(const book& trades, const market& in, const greek_options& wanted,
                                          const run_options& options, double seconds,
                                          const std::function<void(const std::string&)>& says) const;

    // Begins to open the GPUs that runs with this setting `device` take, beside the caller. The next run
    // waits for them, and tells of those that fail. `times`, which outlives the engine, takes how long it
    // was.
    void open_devices(const std::string& device = "auto", timings* times = nullptr) const;

    const engine_settings& settings() const { return settings_; }
    // Instruction sets that this build has and this machine can run, best first.
    static std::vector<std::string> instruction_sets();

  private:
    engine_settings settings_;
    std::shared_ptr<cuda::backend> gpus_;
};

}  // namespace tilewalk
