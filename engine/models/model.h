// SPDX-License-Identifier: Apache-2.0
// A model describes how one asset moves. A market file's parameters are read once; each trade that depends on
// the asset takes a walk of the model, which records the asset's step into the trade's program for all back
// ends. Correlation, dividends, currencies and discounting are left to the world (world.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/market/asset.h"
#include "engine/market/curve.h"
#include "engine/models/parameters.h"
#include "products/dates/date.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// The section of a program being recorded, as a walk sees it: a step, or a block of the script after steps.
// Numbers that differ between runs of a section are in rows, so that it serves all runs.
class section_at_hand {
  public:
    virtual ~section_at_hand() = default;
    virtual program::recorder& into() const = 0;
    // Times of the steps' ends in years: step i goes from grid()[i] to grid()[i + 1].
    virtual std::span<const double> grid() const = 0;
    // Records a row with a number for each run of the section; a run covers [from, to].
    virtual program::value row(std::string_view name,
                               const std::function<double(double from, double to)>& number) = 0;
    virtual std::uint32_t state(std::string_view name, double initial) = 0;
    virtual program::value normal() = 0;
    // Records a normal that is not an increment of a nearly Brownian sum, so that bridges can't construct it.
    virtual program::value lone_normal() = 0;
    virtual program::value uniform() = 0;
};

class step : public section_at_hand {
  public:
    // The asset's noise in the measure of the trade's currency, scaled by scale(), plus drift().
    virtual program::value own() const = 0;
    // Noise over the step of own factor `number` of the model, unscaled and without drift().
    virtual program::value other(std::size_t number) = 0;
    // Standard normals instead of own() and other(): `other` of the own factor, `alone` of the asset alone.
    struct apart {
        program::value other, alone;
    };
    virtual apart noise_apart(std::size_t number) = 0;
};

// The coordinate in which a path carries the asset's martingale M with M(0) = 1: spot(t) = scale(t) M(t) +
// shift(t). A martingale that can be 0 or negative has no logarithm, so the path carries M itself. Between
// grid times the path is a Brownian bridge in this coordinate.
enum class coordinate { logarithm, level, level_from_zero };

struct arrival {
    program::value x;  // coordinate after the step
    // Coordinate after the jumps that begin the step, where the bridge starts; invalid without jumps.
    program::value start{};
};

struct path_ahead {
    std::span<const double> stops;  // today and the mandatory stops
    bool is_by_itself = false;      // true if nothing else moves in the trade's world

    double last() const { return stops.back(); }
};

class walk {
  public:
    virtual ~walk() = default;

    virtual coordinate moves_in() const { return coordinate::logarithm; }

    // Deterministic volatility that scales the asset's noise; covariances with other assets are then exact.
    virtual const markets::volatility& scale() const;
    // Drift over [from, to] that step::own() contains.
    virtual double drift(double /*from*/, double /*to*/) const { return 0; }

    // Adds times up to `last` at which steps must end. Throws tilewalk::error (input) if data end before.
    virtual void add_breaks(double /*last*/, std::vector<double>& /*times*/) const {}
    // Longest allowed step in years; 0: unlimited.
    virtual double longest_step(const path_ahead& /*of*/) const { return 0; }
    virtual double longest_watched_step() const { return 0; }

    virtual void begin(section_at_hand& /*of*/) {}
    virtual arrival record(step& of, program::value x) = 0;
    // True if every recorded step is a martingale, except for a quanto drift. Valid after record().
    virtual bool is_martingale() const { return false; }
    // True if steps can begin with jumps, so that a bridge starts elsewhere than at x.
    virtual bool jumps() const { return false; }
    // Choices of the walk for its grid, for the model's description. Valid after begin().
    virtual std::string detail() const { return {}; }

    // Records the variance of the Brownian bridge that approximates the path between two grid times, given
    // both ends. `scaled` is the integral of scale() squared. Called in sections after steps, before
    // record().
    virtual program::value variance_between(section_at_hand& of, program::value scaled) = 0;

    // Why option prices or quanto drifts do not follow from the spot; empty if future spots are lognormal.
    virtual std::string why_not_lognormal() const = 0;
    virtual location where() const = 0;

    virtual std::vector<std::string> remarks() const { return {}; }
};

// An additional source of noise of a model, such as ACME.variance, or USD.rate_2 beside USD.rate.
struct own_factor {
    std::string name;
    // Correlation with the asset's own noise or the first rate. If it varies in time, the factor can't have
    // other correlations.
    by_term correlation;
};

// Facts about the time steps of a model, for users.
struct step_facts {
    std::string_view scheme;
    std::string_view weak_order{};  // empty if steps are exact
    // Bound on errors of options with default steps, in basis points of the spot; 0: exact, empty: unknown.
    std::optional<double> leaves = 0.0;
    std::optional<double> other_leaves{};  // the same bound for Euler's scheme, if the model has it
    std::string_view leaves_too{};         // errors other than from steps that the bound includes
    std::string_view factors = "1";
    std::string_view held_against;

    static constexpr double told_until_years = 5;
    // Returns `leaves` and `other_leaves` as "0.7 (Euler: 2)", or "not known"; empty if steps are exact.
    std::string leaves_text() const;
};

class model {
  public:
    virtual ~model() = default;
    // Returns such as "heston, quadratic_exponential, steps of at most 0.0625 years", for people.
    virtual std::string describe() const = 0;
    virtual std::vector<std::string> remarks() const { return {}; }
    virtual std::vector<own_factor> own_factors() const { return {}; }
    // Number of tables that were made for walks since the model was read; trades share tables.
    virtual std::uint64_t tables_made() const { return 0; }
    // Bound on an option's error from time steps, in basis points of the spot: 0 if exact, empty if the user
    // chose the steps.
    virtual std::optional<double> steps_leave() const = 0;
    // True if the joint law of the asset with other assets and rates is as exact as its own law.
    virtual bool is_as_exact_beside_others() const { return true; }
    // True if log steps have the same law at any level. Only then may the spot fall by cash dividends.
    virtual bool is_alike_at_any_level() const { return true; }
    // Black volatility of M(years) at strike exp(log_moneyness), to show to people; empty if not known.
    virtual std::optional<double> implied_volatility(double /*years*/, double /*log_moneyness*/) const {
        return std::nullopt;
    }
    // Makes a walk of asset `of`; `carry` is the discount curve of its currency. Both must outlive the walk.
    virtual std::unique_ptr<walk> start(const markets::asset& of, const markets::curve& carry) const = 0;
};

struct reading {
    dates::date as_of;
    const markets::asset& asset;  // the asset, complete except for its model
    const markets::curve& carry;  // discount curve of the asset's currency
};

struct catalogue_entry {
    std::string_view name;  // also the key of the model's parameters in the market
    std::string_view summary;
    parameter_table parameters;
    step_facts (*steps)();
    std::shared_ptr<const model> (*read)(const config::node& parameters, const reading& of);
};
std::span<const catalogue_entry> catalogue();

// Returns the index in `known` of the model that `value`, the mapping under `model:`, has as its one key.
std::size_t find_model(const config::node& value, std::span<const std::string> known,
                       const std::string& example);

std::shared_ptr<const model> read_model(const config::node& value, const reading& of);
const model& model_of(const markets::asset& a);

}  // namespace tilewalk::models
