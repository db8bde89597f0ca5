// SPDX-License-Identifier: Apache-2.0
// Prices books. Thread-safe. Keeps settings, opened GPUs and their kernels between calls.
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
    // "auto" or one of instruction_sets(); no bit of a price depends on it.
    std::string instruction_set = "auto";
};

class engine {
  public:
    explicit engine(engine_settings settings = {});
    // For tests: replaces this machine's GPUs.
    engine(engine_settings settings, std::shared_ptr<cuda::backend> gpus);

    // Uses the market that the book names or holds; throws tilewalk::error (usage) if there is none.
    results price(const book& trades, const run_options& options = {}) const;
    results price(const book& trades, const market& in, const run_options& options = {}) const;
    // Prices in several markets with common random numbers, in one walk. Results of a market have the bits of
    // price(trades, that market, options). A failure in one market affects no other. A row has a remark if
    // its program or times differ from those in the first market, since random numbers are then only partly
    // common. Timings, launches and kernels in a manifest are those of the whole walk. Memory grows with
    // trades times markets; throws tilewalk::error (usage) above bounds::priced_at_once.
    std::vector<results> price(const book& trades, std::span<const market> in,
                               const run_options& options = {}) const;
    // Adds sensitivities with standard errors to the market numbers that each trade depends on; prices have
    // the bits of price(). Throws tilewalk::error (usage) for an unknown measure or a pattern that fits no
    // key.
    results greeks(const book& trades, const market& in, const greek_options& wanted = {},
                   const run_options& options = {}) const;
    // Gains of the book in scenarios (tilewalk/scenarios.h): differences of prices as price() finds them in
    // several markets, the base market first. A failed trade affects no other scenario; a scenario that makes
    // no valid market fails for all trades. Memory grows by some 16 bytes for each trade and scenario.
    scenario_results scenarios(const book& trades, const market& in, const scenario_list& asked,
                               const run_options& options = {}) const;
    session open(const book& trades) const;
    std::vector<trade_plan> explain(const book& trades, const market& in,
                                    const run_options& options = {}) const;
    // Returns the trades that can't be priced, in the order of the book, without walking a path. `missing`
    // receives the unstated correlations that the other trades take as 0.
    std::vector<trade_problem> validate(const book& trades, const market& in, const run_options& options = {},
                                        std::vector<factor_pair>* missing = nullptr) const;
    // Returns the numbers of the market on which each trade depends, found by planning in changed markets
    // without walking a path. A number that can't be changed counts if its part of the market was read.
    std::vector<trade_dependence> depends_on(const book& trades, const market& in,
                                             const run_options& options = {}) const;
    // Compiles and caches kernels for these architectures ("sm_90"); empty: those of this machine's GPUs.
    std::vector<warmed_kernel> warm(const book& trades, const market& in, const run_options& options,
                                    const std::vector<std::string>& architectures) const;

    // Times the kernel variants of the book, up to `seconds` a kernel. Runs with `prefetch: auto` and no
    // other knob use the fastest from then on. `says` receives progress messages.
    std::vector<tuned_kernel> tune(const book& trades, const market& in, const run_options& options,
                                   double seconds, const std::function<void(const std::string&)>& says) const;
    // Tunes how ways back read back random numbers. Skips single_fast, where that changes the last bits.
    std::vector<tuned_kernel> tune_greeks(const book& trades, const market& in, const greek_options& wanted,
                                          const run_options& options, double seconds,
                                          const std::function<void(const std::string&)>& says) const;

    // Starts to open the GPUs for this setting `device` in the background. The next run waits for them and
    // reports failures. `times` receives the duration and must outlive the engine.
    void open_devices(const std::string& device = "auto", timings* times = nullptr) const;

    const engine_settings& settings() const { return settings_; }
    // Instruction sets that this build has and this machine supports, best first.
    static std::vector<std::string> instruction_sets();

  private:
    engine_settings settings_;
    std::shared_ptr<cuda::backend> gpus_;
};

}  // namespace tilewalk
