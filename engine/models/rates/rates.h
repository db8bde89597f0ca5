// SPDX-License-Identifier: Apache-2.0
// A rate model describes how interest rates of one currency move. Each trade takes a walk of the model for
// every currency involved, which provides the growth of the currency's numeraire and bond prices. The world
// (world.h) connects rates with assets, exchange rates and payments.
//
// A numeraire is exp(Y(t)) / P(0, t) with Y(0) = 0: a bank account, or an account compounded from date to
// date. Prices in the currency divided by it are martingales in the measure under which the walk's noises are
// Brownian, so the discount factor of a path is P(0, t) exp(-Y(t)).
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

class rate_step : public section_at_hand {
  public:
    // Noise `number` of the walk over the step, in the measure of the trade's currency.
    virtual program::value noise(std::size_t number) const = 0;
};

// A summand of a noise: a Brownian factor of the model, weighted by a volatility and a loading.
struct rate_noise {
    std::size_t factor = 0;
    const markets::volatility* scale = nullptr;
    loading by;
};

class rate_walk {
  public:
    virtual ~rate_walk() = default;

    // The walk's noises, each as a sum. A step draws them jointly with all other noises of the world.
    virtual std::vector<std::vector<rate_noise>> noises() const = 0;

    // Adds times up to `last` at which steps must end. Throws tilewalk::error (input) if rates end before.
    virtual void add_breaks(double /*last*/, std::vector<double>& /*times*/) const {}
    // Longest allowed step in years; 0: unlimited.
    virtual double longest_step(double /*last*/) const { return 0; }

    virtual void begin(section_at_hand& of) = 0;
    virtual void record(rate_step& of) = 0;

    // Y and bonds as functions of the states, in any section; in a step, of the states at its start.
    virtual program::value log_growth(section_at_hand& of) const = 0;  // Y(t)
    // Price, at the end of each run, of 1 paid at the run's maturity. `named` identifies `maturities`.
    virtual program::value bond(section_at_hand& of, std::span<const double> maturities,
                                const std::string& named) const = 0;
};

class rate_model {
  public:
    virtual ~rate_model() = default;
    // Returns a description such as "hull_white, exact between dates", for people.
    virtual std::string describe() const = 0;
    virtual std::vector<std::string> remarks() const { return {}; }
    // The factors USD.rate, USD.rate_2, ...; all but the first state their correlation with the first.
    virtual std::vector<own_factor> factors() const = 0;
    // True if paths are exact between dates.
    virtual bool is_exact() const = 0;
    virtual location where() const = 0;
    // Makes a walk, which the curve `today` must outlive.
    virtual std::unique_ptr<rate_walk> start(const markets::curve& today) const = 0;
};

struct rate_reading {
    dates::date as_of;
    const std::string& currency;
    const markets::curve& today;
};

struct rate_catalogue_entry {
    std::string_view name;  // also the key of the model's parameters in the market
    std::string_view summary;
    parameter_table parameters;
    step_facts (*steps)();
    std::shared_ptr<const rate_model> (*read)(const config::node& parameters, const rate_reading& of);
};
std::span<const rate_catalogue_entry> rate_catalogue();

std::shared_ptr<const rate_model> read_rate_model(const config::node& value, const rate_reading& of);

}  // namespace tilewalk::models
