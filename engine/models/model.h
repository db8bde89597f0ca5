// SPDX-License-Identifier: Apache-2.0
// A model describes how one asset moves. A market file's parameters are read once; each trade that depends on
// the asset takes a walk of the model, which records the asset's step into the trade's program for all back
// ends. Correlation, dividends, currencies and discounting belong to the world (world.h).
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

// The section being recorded, as a walk sees it: a step, or a section that runs after steps. Numbers that
// differ between runs are in rows, so that one section serves all runs.
class section_at_hand {
  public:
    virtual ~section_at_hand() = default;
    virtual program::recorder& into() const = 0;
    // Step i goes from grid()[i] to grid()[i + 1].
    virtual std::span<const double> grid() const = 0;
    // One number for each run, which covers [from, to].
    virtual program::value row(std::string_view name,
                               const std::function<double(double from, double to)>& number) = 0;
    virtual std::uint32_t state(std::string_view name, double initial) = 0;
    virtual program::value normal() = 0;
    // A normal that is no increment of a near-Brownian sum, so that bridges can't construct it.
    virtual program::value lone_normal() = 0;
    virtual program::value uniform() = 0;
};

class step : public section_at_hand {
  public:
    // Integral of the walk's scale over the asset's motion in the trade currency's measure, plus the drift.
    virtual program::value own() const = 0;
    // The same integral for an own factor of the model, unscaled and without the walk's drift.
    virtual program::value other(std::size_t number) = 0;
    // Standard normals for walks that scale neither noise; replaces own() and other().
    struct apart {
        program::value other, alone;
    };
    virtual apart noise_apart(std::size_t number) = 0;
};

// The coordinate in which a path carries the asset's martingale M with M(0) = 1: spot(t) = scale(t) M(t) +
// shift(t). A martingale that can be 0 or negative has no logarithm and is carried as it is. Between grid
// times a path is a Brownian bridge in its coordinate.
enum class coordinate { logarithm, level, level_from_zero };

struct arrival {
    program::value x;  // after the step
    // Start of the bridge if it is not the start of the step, since jumps of a step come first.
    program::value start{};
};

struct path_ahead {
    std::span<const double> stops;  // today and every mandatory stop
    bool is_by_itself = false;      // nothing else moves in its world

    double last() const { return stops.back(); }
};

class walk {
  public:
    virtual ~walk() = default;

    virtual coordinate moves_in() const { return coordinate::logarithm; }

    // Deterministic scale of the asset's noise; makes covariances with other assets exact.
    virtual const markets::volatility& scale() const;
    // Drift added with the noise of the step.
    virtual double drift(double /*from*/, double /*to*/) const { return 0; }

    // Adds the mandatory stops up to `last`. Throws tilewalk::error (input) if the market ends earlier.
    virtual void add_breaks(double /*last*/, std::vector<double>& /*times*/) const {}
    // 0: unlimited.
    virtual double longest_step(const path_ahead& /*of*/) const { return 0; }
    virtual double longest_watched_step() const { return 0; }

    virtual void begin(section_at_hand& /*of*/) {}
    virtual arrival record(step& of, program::value x) = 0;
    // True if every recorded step is a martingale but for a quanto drift. Valid once the step is recorded.
    virtual bool is_martingale() const { return false; }
    // True if the bridge of a step can start elsewhere than at x.
    virtual bool jumps() const { return false; }
    // The walk's choices for its grid, appended to the model's description. Valid after begin().
    virtual std::string detail() const { return {}; }

    // Variance of the Brownian bridge that approximates the path between two grid times, given both ends;
    // `scaled` is the integral of the squared scale. Called in sections that run after steps, before the step
    // is recorded.
    virtual program::value variance_between(section_at_hand& of, program::value scaled) = 0;

    // Why options or the quanto drift do not follow from the spot; empty if future spots are lognormal.
    virtual std::string why_not_lognormal() const = 0;
    virtual location where() const = 0;

    virtual std::vector<std::string> remarks() const { return {}; }
};

// A further source of noise of a model: ACME.variance, or USD.rate_2 beside a first rate.
struct own_factor {
    std::string name;
    by_term correlation;  // with the asset's own noise or the first rate; if it varies in time, no other
                          // correlations of the factor are possible
};

// Facts about a model's steps, for users.
struct step_facts {
    std::string_view scheme;
    std::string_view weak_order{};  // empty if steps are exact
    // Bound on the error of options with default steps, in basis points of the spot; empty if unknown.
    std::optional<double> leaves = 0.0;
    std::optional<double> other_leaves{};  // bound of the model's other scheme, if any
    std::string_view leaves_too{};         // other effects in that figure
    std::string_view factors = "1";
    std::string_view held_against;

    static constexpr double told_until_years = 5;
    // Returns "0.7 (2)" or "not known"; empty if steps are exact.
    std::string leaves_text() const;
};

class model {
  public:
    virtual ~model() = default;
    // Returns such as "heston, quadratic_exponential, steps of at most 0.0625 years", for people.
    virtual std::string describe() const = 0;
    virtual std::vector<std::string> remarks() const { return {}; }
    virtual std::vector<own_factor> own_factors() const { return {}; }
    // Number of tables made for walks since the model was read; trades share tables.
    virtual std::uint64_t tables_made() const { return 0; }
    // Bound on an option's error from time steps: 0 if exact, empty if the user chose the steps.
    virtual std::optional<double> steps_leave() const = 0;
    // True if the joint law with other assets and rates is as exact as the model itself.
    virtual bool is_as_exact_beside_others() const { return true; }
    // True if log steps have the same law at any level. Only then may the asset fall by cash amounts.
    virtual bool is_alike_at_any_level() const { return true; }
    // Black volatility of M(years) at strike exp(log_moneyness), if known without paths; for people.
    virtual std::optional<double> implied_volatility(double /*years*/, double /*log_moneyness*/) const {
        return std::nullopt;
    }
    // `carry` is the discount curve of the asset's currency. Both must outlive the walk.
    virtual std::unique_ptr<walk> start(const markets::asset& of, const markets::curve& carry) const = 0;
};

struct reading {
    dates::date as_of;
    const markets::asset& asset;  // complete except for its model
    const markets::curve& carry;  // the discount curve of its currency
};

struct catalogue_entry {
    std::string_view name;  // also the key of its parameters in the market
    std::string_view summary;
    parameter_table parameters;
    step_facts (*steps)();
    std::shared_ptr<const model> (*read)(const config::node& parameters, const reading& of);
};
std::span<const catalogue_entry> catalogue();

// Returns the index of the model named by a `model:`, which must be a mapping with one key.
std::size_t find_model(const config::node& value, std::span<const std::string> known,
                       const std::string& example);

std::shared_ptr<const model> read_model(const config::node& value, const reading& of);
const model& model_of(const markets::asset& a);

}  // namespace tilewalk::models
