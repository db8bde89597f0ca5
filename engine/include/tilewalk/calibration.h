// SPDX-License-Identifier: Apache-2.0
// Calibration: fits models to quotes and returns the fitted values and the market with these models.
//
//     auto fitted = tilewalk::calibrate(tilewalk::market_quotes::load("quotes.yaml"));
//     if (fitted.is_sound()) auto market = tilewalk::market::parse(fitted.market);
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/options.h"

namespace tilewalk {

namespace calibrations {
struct quotes_state;
}

// A market with the quotes to fit its models to. Immutable, cheap to copy, safe to share.
class market_quotes {
  public:
    static market_quotes load(const std::filesystem::path& file, const load_options& options = {});
    // `name` stands for the file in error messages.
    static market_quotes parse(std::string_view yaml, const std::string& name = "quotes",
                               const load_options& options = {});

  private:
    friend struct inside;
    explicit market_quotes(std::shared_ptr<const calibrations::quotes_state> state)
        : state_(std::move(state)) {}
    std::shared_ptr<const calibrations::quotes_state> state_;
};

struct fitted_parameter {
    enum class state { fitted, fixed, at_bound };
    std::string name;
    double value = 0;
    state is = state::fitted;
};

struct fitted_quote {
    std::string name;  // such as "2027-01-15 100" or "swaption 1 x 5"
    std::string key;   // market key for sensitivities: "ACME.quote@2027-01-15,100", "USD.quote@1y,5y"
    double weight = 1;
    double market = 0, model = 0;  // in model_fit::unit
    location where;

    double difference() const { return model - market; }
};

// The fit of a model to the quotes of an asset or currency. SVI has a fit for each expiry.
struct model_fit {
    std::string of, model;
    std::string part;  // expiry of an SVI smile; empty for other models
    std::string unit;  // unit of quotes: "volatility", "normal volatility" or "price"
    std::vector<fitted_parameter> parameters;
    std::vector<fitted_quote> quotes;
    bool has_converged = false;
    std::uint64_t starts = 0, iterations = 0, evaluations = 0;
    double root_mean_square = 0;  // of weighted differences between model and market
    double largest = 0;           // largest absolute difference among quotes with a weight above 0
    std::vector<std::string> remarks;
    // True if the fitted model has arbitrage at quoted strikes; `remarks` names these strikes.
    bool has_arbitrage = false;

    bool is_at_bound() const;
    bool is_sound() const { return has_converged && !is_at_bound() && !has_arbitrage; }
};

struct calibration {
    std::string as_of;
    std::vector<model_fit> fits;
    // The market with the fitted models, as YAML; numbers keep all their bits.
    std::string market;

    bool is_sound() const;
};

// Fits all models. A build of the library always finds the same figures. Throws tilewalk::error, of kind
// cancelled soon after `cancel` is set.
calibration calibrate(const market_quotes& to, const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk
