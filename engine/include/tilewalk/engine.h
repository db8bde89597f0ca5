// SPDX-License-Identifier: Apache-2.0
// The engine, which prices books. Thread-safe. Keeps settings, opened GPUs and kernels between calls.
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

namespace studies {
struct engine_state;
}

struct warmed_kernel {
    std::string name;                   // of the program (arithmetic without a trade's numbers)
    std::vector<std::string> products;  // products whose trades need the kernel
    std::string architecture;           // "sm_90"
    bool from_cache = false;
    double seconds = 0;
    std::uint64_t bytes = 0;  // machine code; 0 if it failed
    std::string failure;      // empty if it compiled
};

// A product, an asset or a currency without kernels, such as "exchange" or "asset ACME".
struct unwarmed {
    std::string name, why;
};

struct warmed_library {
    std::vector<warmed_kernel> kernels;
    std::vector<unwarmed> left_out;
};

// A kernel whose build variants were timed on a GPU.
struct tuned_kernel {
    std::string name;                   // of the program (arithmetic without a trade's numbers)
    std::vector<std::string> products;  // products whose trades need the kernel
    std::string untuned, best;          // build variants before and after tuning
    double untuned_milliseconds = 0, best_milliseconds = 0;  // time of a launch with `paths` paths a trade
    std::uint64_t paths = 0;
    std::size_t candidates = 0;
    double seconds = 0;   // tuning time
    std::string kept_in;  // file that stores the result
    std::string failure;  // why tuning failed; empty if it succeeded
};

// Throws tilewalk::error (usage) for a name unlike sm_90 or sm_90a. `said_as` names the list in the message.
void check_architectures(const std::vector<std::string>& names, const std::string& said_as);

inline constexpr double default_tuning_seconds = 2, most_tuning_seconds = 3600;
constexpr bool is_tuning_time(double seconds) {
    return seconds > 0 && seconds <= most_tuning_seconds;
}
// Returns "a number above 0, up to 3600", for error messages.
std::string expected_tuning_time();

struct engine_settings {
    // "auto" or one of engine::instruction_sets(), for the CPU; no bit of a price depends on it.
    std::string instruction_set = "auto";
};

// With `device: auto`, a call that has begun to open GPUs returns once its results are there. Threads of low
// priority open the GPUs and compile kernels for later calls. The destructor of the last copy or session
// waits for GPUs being opened and kernels being compiled, and drops kernels that are not begun. In a forked
// process, an engine that had begun to use GPUs before the fork uses the CPU with `device: auto`, and throws
// tilewalk::error (device) if `device` names GPUs.
class engine {
  public:
    explicit engine(engine_settings settings = {});

    // Prices in the market that the book names or holds; throws tilewalk::error (usage) if there is none.
    results price(const book& trades, const run_options& options = {}) const;
    results price(const book& trades, const market& in, const run_options& options = {}) const;
    // Prices the book in several markets at once, on common random numbers. Results in a market have the bits
    // of price(trades, market, options). A failure in a market affects no other. If the times or arithmetic
    // of a trade differ from those in the first market, its random numbers are only partly common, and its
    // row has a remark. Timings, launches and kernels in a manifest are of all markets together. Memory grows
    // with trades times markets; throws tilewalk::error (usage) above bounds::priced_at_once.
    std::vector<results> price(const book& trades, std::span<const market> in,
                               const run_options& options = {}) const;
    // Prices the book, with the bits of price(), and its sensitivities to market numbers, with standard
    // errors. Throws tilewalk::error (usage) for an unknown measure or a pattern that fits no key.
    results greeks(const book& trades, const market& in, const greek_options& wanted = {},
                   const run_options& options = {}) const;
    // Gains of each trade in scenarios (tilewalk/scenarios.h): its value in the moved market minus its value
    // in `in`, on common random numbers. A failed trade keeps its gains in other scenarios; a scenario
    // without a valid market fails for all trades. Takes some 16 bytes per trade and scenario.
    scenario_results scenarios(const book& trades, const market& in, const scenario_list& asked,
                               const run_options& options = {}) const;
    session open(const book& trades) const;
    std::vector<trade_plan> explain(const book& trades, const market& in,
                                    const run_options& options = {}) const;
    // Returns the trades that can't be priced, in the order of the book, without walking a path. `missing`
    // receives correlations that the other trades need and the market lacks, which pricing takes as 0.
    std::vector<trade_problem> validate(const book& trades, const market& in, const run_options& options = {},
                                        std::vector<factor_pair>* missing = nullptr) const;
    // Returns the numbers of the market on which each trade depends, found by planning in changed markets
    // without walking a path. A number that can't be changed counts if its part of the market is read.
    std::vector<trade_dependence> depends_on(const book& trades, const market& in,
                                             const run_options& options = {}) const;
    // Compiles the kernels that the book needs for these GPU architectures, such as "sm_90", and caches them.
    // An empty list means the GPUs of this machine.
    std::vector<warmed_kernel> warm(const book& trades, const market& in, const run_options& options,
                                    const std::vector<std::string>& architectures) const;
    // Compiles the kernels that the library's products need in this market: for each product a book of its
    // example, and one more for each further form in which the market's assets move. `products` names some
    // of them; if empty, all. Throws tilewalk::error (usage) for an unknown one.
    warmed_library warm_library(const market& in, const run_options& options,
                                const std::vector<std::string>& architectures,
                                const std::vector<std::string>& products = {}) const;

    // Times variants of the book's kernels, up to `seconds` per kernel, and keeps the fastest. Later runs
    // with `prefetch: auto` and no other setting for kernels use it. `says` receives progress messages.
    std::vector<tuned_kernel> tune(const book& trades, const market& in, const run_options& options,
                                   double seconds, const std::function<void(const std::string&)>& says) const;
    // Tunes kernels of sensitivities: how an adjoint path reads random numbers again. Skips precision
    // single_fast, in which the choice would change the last bits.
    std::vector<tuned_kernel> tune_greeks(const book& trades, const market& in, const greek_options& wanted,
                                          const run_options& options, double seconds,
                                          const std::function<void(const std::string&)>& says) const;

    // Begins to open GPUs in the background; `device` is as in run_settings. The next run reports failures,
    // and waits for the GPUs unless `device` is "auto". `times` receives the duration and must outlive the
    // engine.
    void open_devices(const std::string& device = "auto", timings* times = nullptr) const;

    const engine_settings& settings() const;
    // Instruction sets that this build supports and this machine has, best first.
    static std::vector<std::string> instruction_sets();

  private:
    friend struct inside;
    explicit engine(std::shared_ptr<const studies::engine_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const studies::engine_state> state_;
};

inline constexpr std::size_t most_sample_paths = 1024;
// Returns the first `paths` paths of a trade; none if nothing is random. Throws tilewalk::error if the trade
// is unknown or can't be planned.
trade_paths paths_of(const engine& by, const book& trades, const market& in, const std::string& trade,
                     const run_options& options = {}, std::size_t paths = 10);

}  // namespace tilewalk
