// SPDX-License-Identifier: Apache-2.0
// Prices books. Thread-safe. Keeps settings, opened GPUs and their kernels between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/market.h"
#include "tilewalk/measures.h"
#include "tilewalk/options.h"
#include "tilewalk/results.h"
#include "tilewalk/timings.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

class session;
struct scenario_list;
struct scenario_results;

namespace verbs {
struct engine_state;
}

struct warmed_kernel {
    std::string name;                   // shape
    std::vector<std::string> products;  // products that need it
    std::string architecture;           // "sm_90"
    bool from_cache = false;
    double seconds = 0;
    std::string failure;  // empty if it compiled
};

// A kernel whose build variants were timed on a GPU.
struct tuned_kernel {
    std::string name;                                        // shape
    std::vector<std::string> products;                       // products that need it
    std::string untuned, best;                               // build variants before and after tuning
    double untuned_milliseconds = 0, best_milliseconds = 0;  // time of a launch with `paths` paths a trade
    std::uint64_t paths = 0;
    std::size_t candidates = 0;
    double seconds = 0;   // tuning time
    std::string kept_in;  // file that stores the result
    std::string failure;  // why tuning failed; may be empty
};

// Throws tilewalk::error (usage) for a name unlike sm_90 or sm_90a; the error calls them `said_as`.
void check_architectures(const std::vector<std::string>& names, const std::string& said_as);

inline constexpr double default_tuning_seconds = 2, most_tuning_seconds = 3600;
constexpr bool is_tuning_time(double seconds) {
    return seconds > 0 && seconds <= most_tuning_seconds;
}
// "a number above 0, up to 3600"
std::string expected_tuning_time();

struct engine_settings {
    // "auto" or one of instruction_sets(); no bit of a price depends on it.
    std::string instruction_set = "auto";
};

class engine {
  public:
    explicit engine(engine_settings settings = {});

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

    const engine_settings& settings() const;
    // Instruction sets that this build has and this machine supports, best first.
    static std::vector<std::string> instruction_sets();

  private:
    friend struct inside;
    explicit engine(std::shared_ptr<const verbs::engine_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const verbs::engine_state> state_;
};

inline constexpr std::size_t most_sample_paths = 1024;
// Throws tilewalk::error for a trade that is unknown or can't be planned. No paths if nothing is random.
trade_paths paths_of(const engine& by, const book& trades, const market& in, const std::string& trade,
                     const run_options& options = {}, std::size_t paths = 10);

}  // namespace tilewalk
