// SPDX-License-Identifier: Apache-2.0
// Verification: prices random trades with known prices, and tests all errors together, or those of
// sensitivities. Mistakes planted on purpose show that wrong prices would be noticed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/columns.h"
#include "tilewalk/options.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/write.h"

namespace tilewalk {

namespace verify {
struct outcome;
}

// The default number of paths is no multiple of a tile (1,024 paths), so that the last tile is partial.
inline constexpr std::uint64_t default_verified_trades = 8000, default_verified_paths = 20000,
                               default_verified_seed = 1, most_verified_trades = 1'000'000;
// Sensitivities need more paths: their errors come from the parts of a run.
inline constexpr std::uint64_t default_verified_trades_of_greeks = 1000,
                               default_verified_paths_of_greeks = 65000,
                               least_verified_paths_of_greeks = 16384;

struct known_mistake {
    std::string name, what;
    bool of_greeks = false;  // mistake in sensitivities, not in prices
    // can be planted: with independent paths, with quasi-random points
    bool with_paths = true, with_points = true;
};
std::vector<known_mistake> known_mistakes();

std::vector<std::string> verified_products();

struct verified_setting {
    std::string_view name, help, type;
};
std::span<const verified_setting> verified_settings();

struct verify_request {
    // Verifies first-order sensitivities, to every market number with a known derivative, instead of prices.
    bool greeks = false;
    std::optional<std::uint64_t> trades;
    std::vector<std::string> products;  // empty: all
    std::string plant;                  // a mistake to plant, "all" to plant each in turn, or empty
    // Settings outside of verified_settings() are ignored. Planted mistakes need the CPU.
    run_settings settings;
    std::function<void(const progress&)> on_progress{};
    const std::atomic<bool>* cancel = nullptr;
};

class verification {
  public:
    // True if every statistical bound holds without a mistake, and every planted mistake was noticed.
    bool holds() const;
    // False if cancelled; the figures are then of the trades priced so far.
    bool is_complete() const;
    std::string text(output_format as, const text_form& form = {}) const;
    // The table that CSV has: a row for each statistical bound, over all trades and by product.
    column_table columns() const;

  private:
    friend struct inside;
    explicit verification(std::shared_ptr<const verify::outcome> state) : state_(std::move(state)) {}
    std::shared_ptr<const verify::outcome> state_;
};

// Returns the same figures for any number of threads. Throws tilewalk::error: (usage) for an unknown name,
// with the nearest; (cancelled) if cancelled before a trade was priced.
verification verify_prices(const verify_request& asked);

}  // namespace tilewalk
