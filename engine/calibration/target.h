// SPDX-License-Identifier: Apache-2.0
// A target of calibration reads the quotes for one model and fits the model to them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "tilewalk/calibration.h"

namespace tilewalk::calibrations {

struct outcome {
    std::vector<model_fit> fits;
    std::string model;  // YAML for the market's `model:`
};

// Derivatives of a market's fitted numbers with respect to their quotes.
struct fitted_numbers {
    std::string of, unit;                    // see model_fit
    std::vector<std::string> keys;           // market keys of the moving numbers
    std::vector<fitted_quote> quotes;        // quotes with a weight
    std::vector<std::vector<double>> moves;  // derivatives by number and quote
    std::vector<double> expiries{};

    bool has_volatilities() const { return unit != "price"; }
};
using number_by_key = std::function<double(const std::string&)>;

class target {
  public:
    virtual ~target() = default;
    virtual outcome fit(const std::atomic<bool>* cancel) const = 0;
    // Throws tilewalk::error (input) if the market's numbers `now` are not those of a fit to the quotes.
    virtual std::vector<fitted_numbers> follow(const number_by_key& now,
                                               const std::atomic<bool>* cancel) const = 0;
};

struct reading {
    std::string_view model;
    std::string of;                       // asset or currency
    const markets::market_state& market;  // must outlive the target
};

enum class fitted_part { asset, currency };

struct catalogue_entry {
    std::string_view name;  // also the key of its quotes
    fitted_part what;
    std::unique_ptr<target> (*read)(const config::node& quotes, const reading& of);
};
std::span<const catalogue_entry> catalogue();

std::unique_ptr<target> read_heston(const config::node&, const reading&);
std::unique_ptr<target> read_bates(const config::node&, const reading&);
std::unique_ptr<target> read_svi(const config::node&, const reading&);
std::unique_ptr<target> read_hull_white(const config::node&, const reading&);
std::unique_ptr<target> read_g2(const config::node&, const reading&);

}  // namespace tilewalk::calibrations
