// SPDX-License-Identifier: Apache-2.0
// A model is how one asset moves. Its parameters in the market file are read once; each trade that looks at
// the asset then takes a walk of it, which records the asset's step into the trade's program. A model is
// written once and runs on every back end; what several assets share (correlation, dividends, currencies,
// discounting) is the world's, in world.h.
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

// The section that is being recorded, as a walk sees it: a step, or one that runs after steps. Numbers of its
// runs stand in rows, so that one section serves all.
class section_at_hand {
  public:
    virtual ~section_at_hand() = default;
    virtual program::recorder& into() const = 0;
    // The times of the grid: step i goes from grid()[i] to grid()[i + 1].
    virtual std::span<const double> grid() const = 0;
    // One number for each run, which goes from one time to the other.
    virtual program::value row(std::string_view name,
                               const std::function<double(double from, double to)>& number) = 0;
    // A state of the path that belongs to this walk.
    virtual std::uint32_t state(std::string_view name, double initial) = 0;
    // A fresh shock of the step, of the stream that belongs to what moves so.
    virtual program::value normal() = 0;
    // A normal that is not part of a sum over steps, nearly Brownian motion, which other than independent
    // sources could make from where it ends.
    virtual program::value lone_normal() = 0;
    virtual program::value uniform() = 0;
};

// One step of an asset, as its walk records it.
class step : public section_at_hand {
  public:
    // The integral over the step of what the walk says its own noise is scaled with, by the asset's Brownian
    // motion in the measure of the trade's currency, with the walk's drift.
    virtual program::value own() const = 0;
    // The same integral for an own factor of the model, unscaled and without a drift of the walk's.
    virtual program::value other(std::size_t number) = 0;
    // The noise of an own factor and what the asset's has beside it, for walks that scale neither: both
    // standard normals. A walk takes these or the two above.
    struct apart {
        program::value other, alone;
    };
    virtual apart noise_apart(std::size_t number) = 0;
};

// The coordinate in which a path carries the asset's martingale M, which starts at 1 and has the mean 1:
// spot(t) = scale(t) M(t) + shift(t). A martingale that may be 0 or below it has no logarithm and goes as it
// is. Between two grid times a path is a Brownian bridge in its coordinate.
enum class coordinate { logarithm, level, level_from_zero };

// The asset after a step, in the walk's coordinate.
struct arrival {
    program::value x;  // after the step
    // The start of the path between, if it differs from the start of the step: jumps of a step come first.
    program::value start{};
};

// Facts about a path that are known before its steps are.
struct path_ahead {
    std::span<const double> stops;  // today, and where it has to stop
    bool is_by_itself = false;      // nothing else moves in its world

    double last() const { return stops.back(); }
};

class walk {
  public:
    virtual ~walk() = default;

    virtual coordinate moves_in() const { return coordinate::logarithm; }

    // The scale of the asset's noise, if it is known ahead: the covariances with other assets over a step are
    // then exact.
    virtual const markets::volatility& scale() const;
    // Drift added together with the step's noise.
    virtual double drift(double /*from*/, double /*to*/) const { return 0; }

    // Adds the times up to `last` at which every path has to stop. Throws tilewalk::error (input) if the
    // market does not say how things go on until then.
    virtual void add_breaks(double /*last*/, std::vector<double>& /*times*/) const {}
    // The longest step; 0: as long as may be.
    virtual double longest_step(const path_ahead& /*of*/) const { return 0; }
    // The same of a path while it is watched continuously.
    virtual double longest_watched_step() const { return 0; }

    // Declares the walk's states.
    virtual void begin(section_at_hand& /*of*/) {}
    virtual arrival record(step& of, program::value x) = 0;
    // True if every step as it is recorded is a martingale but for a quanto drift, so that M has the mean 1
    // to rounding on any grid. Only known once the step is recorded.
    virtual bool is_martingale() const { return false; }
    // True if the recorded path may start elsewhere than at x.
    virtual bool jumps() const { return false; }
    // The walk's choices for its grid, for people, to follow the model's description. Only known from begin
    // on.
    virtual std::string detail() const { return {}; }

    // The variance of the Brownian bridge that the path between two grid times is taken for, given both its
    // ends; `scaled` is the integral of the squared scale. Asked for inside a section that runs after steps,
    // and before the step is recorded.
    virtual program::value variance_between(section_at_hand& of, program::value scaled) = 0;

    // The reason why an option or the quanto drift does not follow from the spot alone. Empty if it does:
    // spots to come are lognormal.
    virtual std::string why_not_lognormal() const = 0;
    // The place in the market file that says so.
    virtual location where() const = 0;

    // Remarks for people on the recorded way.
    virtual std::vector<std::string> remarks() const { return {}; }
};

// A source of noise beside the asset's own; correlations call it ACME.variance. So are all but the first of a
// currency's rates, USD.rate_2.
struct own_factor {
    std::string name;
    by_term correlation;  // with the asset's own, or the first; where it changes, no other correlations can
                          // be given
};

// The steps of a model, as users are told of them.
struct step_facts {
    std::string_view scheme;
    std::string_view weak_order{};  // empty where steps are exact
    // The error of options of up to `told_until_years`, at most, by the steps that the model takes by itself,
    // in basis points of the spot: 0 where steps are exact, none where it is not known.
    std::optional<double> leaves = 0.0;
    std::optional<double> other_leaves{};  // of its other scheme, where it has one
    std::string_view leaves_too{};         // what that has in it beside
    std::string_view factors = "1";
    std::string_view held_against;

    static constexpr double told_until_years = 5;
    // "0.7 (2)", "not known"; empty where steps are exact.
    std::string leaves_text() const;
};

class model {
  public:
    virtual ~model() = default;
    // For people: "heston, quadratic_exponential, steps of at most 0.0625 years".
    virtual std::string describe() const = 0;
    // Remarks for people on what was read, such as a surface that is bent to have no arbitrage.
    virtual std::vector<std::string> remarks() const { return {}; }
    virtual std::vector<own_factor> own_factors() const { return {}; }
    // The number of tables made for its walks since it was read; trades share them.
    virtual std::uint64_t tables_made() const { return 0; }
    // The error of an option's price from the model's time steps, by its facts: 0 where they are exact, empty
    // where the user chose other steps than the default.
    virtual std::optional<double> steps_leave() const = 0;
    // True if what it has in common with other assets and rates is as exact as the model itself.
    virtual bool is_as_exact_beside_others() const { return true; }
    // True if a step of the logarithm is drawn alike wherever the asset is. Only then may it fall by an
    // amount of money in between.
    virtual bool is_alike_at_any_level() const { return true; }
    // Black's volatility for the martingale at this strike, M(years) against exp(log_moneyness), where it is
    // known without a path. For people.
    virtual std::optional<double> implied_volatility(double /*years*/, double /*log_moneyness*/) const {
        return std::nullopt;
    }
    // `carry` is the discount curve of the asset's currency. Both outlive the walk.
    virtual std::unique_ptr<walk> start(const markets::asset& of, const markets::curve& carry) const = 0;
};

// The market that a model's reader sees beside its parameters.
struct reading {
    dates::date as_of;
    const markets::asset& asset;  // all but how it moves
    const markets::curve& carry;  // the discount curve of its currency
};

struct catalogue_entry {
    std::string_view name;  // also the key of its parameters in the market
    std::string_view summary;
    step_facts (*steps)();
    std::shared_ptr<const model> (*read)(const config::node& parameters, const reading& of);
};
// Every model that an asset's `model:` can name.
std::span<const catalogue_entry> catalogue();

// The entry of a catalogue that a `model:`, a mapping with one name and its parameters, names by its number.
// Complains at its place, with what is known.
std::size_t find_model(const config::node& value, std::span<const std::string> known,
                       const std::string& example);

// An asset's `model:`, a mapping with one of their names.
std::shared_ptr<const model> read_model(const config::node& value, const reading& of);
// The model of an asset.
const model& model_of(const markets::asset& a);

}  // namespace tilewalk::models
