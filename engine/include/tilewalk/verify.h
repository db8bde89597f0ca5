// SPDX-License-Identifier: Apache-2.0
// Verification: random trades, whose prices are known without any simulation, are priced and their errors, or
// those of their sensitivities, judged together; and planted mistakes show that wrong prices would be
// noticed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/columns.h"
#include "tilewalk/run_options.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/write.h"

namespace tilewalk {

namespace verify {
struct outcome;
}

// Defaults. The number of paths is no multiple of a tile's, so the last tile is cut short.
inline constexpr std::uint64_t default_verified_trades = 8000, default_verified_paths = 20000,
                               default_verified_seed = 1, most_verified_trades = 1'000'000;
// Defaults for sensitivities, whose errors come from the parts of a run.
inline constexpr std::uint64_t default_verified_trades_of_greeks = 1000,
                               default_verified_paths_of_greeks = 65000,
                               least_verified_paths_of_greeks = 16384;

// A mistake that the engine can be made to make.
struct known_mistake {
    std::string name, what;
    bool of_greeks = false;                      // in sensitivities, not in prices
    bool with_paths = true, with_points = true;  // can be made in runs of independent paths, of points
};
std::vector<known_mistake> known_mistakes();

// The products of which there are trades with a known price.
std::vector<std::string> verified_products();

// A setting of runs that verification takes.
struct verified_setting {
    std::string_view name, help, type;
};
std::span<const verified_setting> verified_settings();

struct verify_request {
    // In place of prices, their sensitivities of the first order to all numbers of the market to which the
    // known price has derivatives.
    bool greeks = false;
    std::optional<std::uint64_t> trades;
    std::vector<std::string> products;  // none: all of them
    std::string plant;                  // a mistake to make, "all" of them one at a time, or none
    // Only verified_settings() count. Mistakes are made on the CPU alone.
    run_settings settings;
    std::function<void(const progress&)> on_progress{};
    const std::atomic<bool>* cancel = nullptr;
};

class verification {
  public:
    explicit verification(std::shared_ptr<const verify::outcome> of) : of_(std::move(of)) {}

    // Every bound holds for the engine as it is, and every mistake that was made was caught.
    bool holds() const;
    // False: it was cancelled, and tells of the trades that had been priced by then.
    bool is_complete() const;
    std::string text(output_format as, const text_form& form = {}) const;
    // A row for each bound, over all trades and over those of a product: the lines of the CSV.
    column_table columns() const;

    const verify::outcome& state() const { return *of_; }

  private:
    std::shared_ptr<const verify::outcome> of_;
};

// The same figures for any number of threads. Throws tilewalk::error (usage) with the known names and the
// nearest; (cancelled) if it was cancelled before a trade was priced.
verification verify_prices(const verify_request& asked);

}  // namespace tilewalk
