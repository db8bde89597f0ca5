// SPDX-License-Identifier: Apache-2.0
// A rate model is how the interest rates of one currency move. Each trade takes a walk of it for every
// currency that it touches. The walk says how the currency's numeraire grows and what its bonds are worth;
// what rates have to do with assets, exchange rates and payments is the world's, in world.h.
//
// A numeraire is exp(Y(t)) / P(0, t), with Y(0) = 0: a bank account, or one that is compounded from date to
// date. Whatever is worth money in the currency is a martingale once it is divided by it, in the measure that
// the walk's noises are Brownian in; so the discount factor of a path is P(0, t) exp(-Y(t)).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/curve.h"
#include "engine/market/volatility.h"
#include "engine/models/loading.h"
#include "engine/models/model.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// One step of a currency's rates, as their walk records it.
class rate_step : public section_at_hand {
  public:
    // The walk's noise of this number over the step, in the measure of the trade's currency.
    virtual program::value noise(std::size_t number) const = 0;
};

// A part of a noise: a factor of the model, by its number, with a volatility and a loading.
struct rate_noise {
    std::size_t factor = 0;
    const markets::volatility* scale = nullptr;
    loading by;
};

class rate_walk {
  public:
    virtual ~rate_walk() = default;

    // Each is a sum; a step draws all of them jointly with those of the world.
    virtual std::vector<std::vector<rate_noise>> noises() const = 0;

    // Adds the times up to `last` at which every path has to stop. Throws tilewalk::error (input) if rates
    // can't be walked until then.
    virtual void add_breaks(double /*last*/, std::vector<double>& /*times*/) const {}
    // The longest step of a path that ends at `last`; 0: as long as may be.
    virtual double longest_step(double /*last*/) const { return 0; }

    // Declares the walk's states.
    virtual void begin(section_at_hand& of) = 0;
    virtual void record(rate_step& of) = 0;

    // Values of the states, in any section; in a step, those as it begins.
    virtual program::value log_growth(section_at_hand& of) const = 0;  // Y
    // The value, when a run ends, of one unit of the currency paid at `maturities`, one for each run. `named`
    // tells one maturity from another.
    virtual program::value bond(section_at_hand& of, std::span<const double> maturities,
                                const std::string& named) const = 0;
};

class rate_model {
  public:
    virtual ~rate_model() = default;
    // For people: "hull_white, exact between dates".
    virtual std::string describe() const = 0;
    virtual std::vector<std::string> remarks() const { return {}; }
    // The factors that correlations call USD.rate, USD.rate_2, ...: the first is "rate", and the others have
    // their correlation with it.
    virtual std::vector<own_factor> factors() const = 0;
    // True if no step leaves an error: its paths are exact between dates.
    virtual bool is_exact() const = 0;
    // The place in the market file that says so.
    virtual location where() const = 0;
    // The curve outlives the walk.
    virtual std::unique_ptr<rate_walk> start(const markets::curve& today) const = 0;
};

// The market that a rate model's reader sees beside its parameters.
struct rate_reading {
    dates::date as_of;
    const std::string& currency;
    const markets::curve& today;
};

struct rate_catalogue_entry {
    std::string_view name;  // also the key of its parameters in the market
    std::string_view summary;
    step_facts (*steps)();
    std::shared_ptr<const rate_model> (*read)(const config::node& parameters, const rate_reading& of);
};
// Every model that a currency's `model:` can name.
std::span<const rate_catalogue_entry> rate_catalogue();

// A currency's `model:`, a mapping with one of their names.
std::shared_ptr<const rate_model> read_rate_model(const config::node& value, const rate_reading& of);

}  // namespace tilewalk::models
