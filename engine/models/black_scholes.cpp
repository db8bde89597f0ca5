// SPDX-License-Identifier: Apache-2.0
// The lognormal model, with a volatility that is flat, by term or by path. Steps of any length are exact.
#include "engine/models/black_scholes.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/market/wording.h"
#include "engine/models/model.h"
#include "products/dates/date.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_black_scholes() {
    return {.scheme = "exact between dates", .held_against = "closed forms, 652 published prices"};
}

namespace {

using markets::volatility;
using program::value;

class lognormal final : public walk {
  public:
    lognormal(const volatility& vol, const markets::asset& of) : vol_(vol), of_(of) {}

    const volatility& scale() const override { return vol_; }
    double drift(double from, double to) const override {
        return -0.5 * volatility::covariance(vol_, vol_, from, to);
    }
    arrival record(step& of, value x) override { return {x + of.own()}; }
    bool is_martingale() const override { return true; }
    value variance_between(section_at_hand&, value scaled) override { return scaled; }
    std::string why_not_lognormal() const override { return ""; }
    location where() const override { return of_.where; }

  private:
    const volatility& vol_;
    const markets::asset& of_;
};

// A volatility by path. Covariances and quanto drifts are known for volatility 1 and multiplied by the path's
// volatility, variances by its square.
class lognormal_by_scenario final : public walk {
  public:
    explicit lognormal_by_scenario(const markets::asset& of) : of_(of), from_(*of.scenario_vol) {}

    void add_breaks(double last, std::vector<double>& times) const override {
        if (last > from_.years.back() + dates::same_time_years) {
            throw error(error_kind::input,
                        "the volatility scenarios of '" + of_.name + "' end at " +
                            markets::rounded(from_.years.back()) + " years, the trade at " +
                            markets::rounded(last) + "; expected times, and rows of the file, until then",
                        from_.where);
        }
        for (const double t : from_.years) {
            if (t < last) times.push_back(t);
        }
    }

    // Multiplies the move for volatility 1 by the path's volatility `level`. The term -level^2 dt / 2 is
    // scaled twice, so `own()` has no number of the path, and its shocks can be made ahead.
    arrival record(step& of, value x) override {
        const value squared =
            of.row("half_variance", [](double from, double to) { return -0.5 * (to - from); });
        const value level = volatility_of_path(of);
        return {x + level * fma(level, squared, of.own())};
    }
    bool is_martingale() const override { return true; }
    // `scaled` is the variance for volatility 1. `level` is constant, since a watched interval is one step.
    value variance_between(section_at_hand& of, value scaled) override {
        const value level = volatility_of_path(of);
        return level * level * scaled;
    }
    std::string why_not_lognormal() const override {
        return "needs the future volatility, which scenarios by path don't have; expected a volatility or a "
               "curve of them";
    }
    location where() const override { return from_.where; }

  private:
    value volatility_of_path(section_at_hand& of) const {
        program::scenario_rows rows{from_.array, {}};
        for (std::size_t s = 0; s + 1 < of.grid().size(); ++s) {
            rows.rows.push_back(from_.row_until(of.grid()[s + 1]));
        }
        const value level = of.into().scenario("volatility of " + of_.name, rows);
        if (std::ranges::all_of(from_.shifts, [](double by) { return by == 0; })) return level;
        return level + of.row("volatility_shift",
                              [this](double, double to) { return from_.shifts[from_.row_until(to)]; });
    }

    const markets::asset& of_;
    const markets::scenario_volatility& from_;
};

class black_scholes final : public model {
  public:
    std::string describe() const override { return "black_scholes, exact between dates"; }
    std::optional<double> steps_leave() const override { return steps_of_black_scholes().leaves; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        if (of.scenario_vol) return std::make_unique<lognormal_by_scenario>(of);
        if (of.vol) return lognormal_walk(*of.vol, of);
        throw error(error_kind::input,
                    "asset '" + of.name + "' has no volatility; the model black_scholes needs one", of.where);
    }
};

}  // namespace

// Without parameters: the asset itself has the volatility.
extern const parameter_table parameters_of_black_scholes{};

std::unique_ptr<walk> lognormal_walk(const volatility& vol, const markets::asset& of) {
    return std::make_unique<lognormal>(vol, of);
}

std::shared_ptr<const model> read_black_scholes(const config::node& parameters, const reading&) {
    refuse_others(parameters, parameters_of_black_scholes);
    return std::make_shared<black_scholes>();
}

const model& default_model() {
    static const black_scholes only;
    return only;
}

}  // namespace tilewalk::models
