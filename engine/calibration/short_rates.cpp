// SPDX-License-Identifier: Apache-2.0
// Gaussian short rates, Hull-White and G2++, fitted to swaptions and caps.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "engine/calibration/parameters.h"
#include "engine/calibration/rate_quotes.h"
#include "engine/calibration/target.h"
#include "engine/models/rates/gaussian.h"

namespace tilewalk::calibrations {

namespace {

using scale = between::scale;

// Parameters of Hull-White. A mean reversion of 0 leaves a random walk; below 0, rates would explode.
constexpr std::array<parameter, 2> hull_white_parameters{{
    {"mean_reversion", {0, 10}, {1e-5, 3, scale::geometric}},
    {"volatility", {0, 1}, {1e-6, 0.5, scale::geometric}},
}};
constexpr std::array<parameter, 5> g2_parameters{{
    {"a", {0, 10}, {1e-5, 5, scale::geometric}},
    {"sigma", {0, 1}, {1e-6, 0.5, scale::geometric}},
    {"b", {0, 10}, {1e-5, 5, scale::geometric}},
    {"eta", {0, 1}, {1e-6, 0.5, scale::geometric}},
    {"rho", {-1, 1}, {-0.999, 0.999, scale::even}},
}};

struct rate_family {
    std::span<const parameter> parameters;
    std::function<rates::gaussian_rates(std::span<const double>)> model;
    std::function<std::vector<std::vector<double>>(double)> starts;
};

class rate_target final : public target {
  public:
    rate_target(rate_family of, const config::node& quotes, const reading& in)
        : of_(std::move(of)),
          name_(in.model),
          currency_(in.of),
          curve_(in.market.discount_curve(in.of)),
          space_(of_.parameters, quotes) {
        std::vector<std::string> known = rate_quote_keys();
        known.insert(known.end(), {"fixed", "bounds"});
        quotes.only(known);
        quotes_ = read_rate_quotes(quotes, in);
        expect_enough(quotes, quotes_.quotes, space_.free());
    }

    outcome fit(const std::atomic<bool>* cancel) const override {
        model_fit made = before_fit();
        const std::vector<double> found = calibrations::fit(how(cancel), made);
        return {{std::move(made)}, "{" + name_ + ": " + space_.written(found) + "}"};
    }

    std::vector<fitted_numbers> follow(const number_by_key& now,
                                       const std::atomic<bool>* cancel) const override {
        fitted_numbers out = calibrations::follow(how(cancel), before_fit(), now);
        for (std::size_t i = 0; i < quotes_.options.size(); ++i)
            if (quotes_.quotes[i].weight > 0) out.expiries.push_back(quotes_.options[i].lets.back().years);
        return {std::move(out)};
    }

  private:
    model_fit before_fit() const {
        model_fit made;
        made.of = currency_;
        made.model = name_;
        made.unit = quotes_.unit == rate_unit::price    ? "price"
                    : quotes_.unit == rate_unit::normal ? "normal volatility"
                                                        : "Black volatility";
        made.quotes = quotes_.quotes;
        return made;
    }

    fitting how(const std::atomic<bool>* cancel) const {
        double typical = 0;
        for (std::size_t i = 0; i < quotes_.options.size(); ++i) {
            typical += normal_volatility(i) / static_cast<double>(quotes_.options.size());
        }
        const auto values = [this](std::span<const double> p, std::span<double> out) { price(p, out); };
        const double good_enough = quotes_.unit == rate_unit::black ? 1e-9 : 1e-12;
        return {space_, values, of_.starts(std::clamp(typical, 1e-5, 0.1)), good_enough, cancel};
    }

    double normal_volatility(std::size_t i) const {
        const quoted_rate_option& q = quotes_.options[i];
        const double quoted = quotes_.quotes[i].market;
        if (quotes_.unit == rate_unit::normal) return quoted;
        return volatility_of(
            rate_unit::normal, q,
            quotes_.unit == rate_unit::price ? quoted : price_by(rate_unit::black, q, quoted));
    }

    void price(std::span<const double> p, std::span<double> out) const {
        const rates::gaussian_rates model = of_.model(p);
        for (std::size_t i = 0; i < out.size(); ++i) {
            const quoted_rate_option& q = quotes_.options[i];
            const double worth = q.is_swaption
                                     ? rates::swaption(q.option, model, curve_, q.expiry, q.swap, q.strike)
                                     : rates::cap(q.option, model, curve_, q.periods, q.strike);
            out[i] = quotes_.unit == rate_unit::price ? worth : volatility_of(quotes_.unit, q, worth);
        }
    }

    rate_family of_;
    std::string name_, currency_;
    markets::curve curve_;
    parameter_space space_;
    rate_quotes quotes_;
};

}  // namespace

std::unique_ptr<target> read_hull_white(const config::node& quotes, const reading& in) {
    return std::make_unique<rate_target>(
        rate_family{
            hull_white_parameters,
            [](std::span<const double> p) { return rates::hull_white(p[0], models::by_term::flat(p[1])); },
            [](double volatility) {
                return std::vector<std::vector<double>>{
                    {0.05, 1.1 * volatility}, {0.005, volatility}, {0.5, 2 * volatility}};
            }},
        quotes, in);
}

std::unique_ptr<target> read_g2(const config::node& quotes, const reading& in) {
    return std::make_unique<rate_target>(
        rate_family{g2_parameters,
                    [](std::span<const double> p) { return rates::g2(p[0], p[1], p[2], p[3], p[4]); },
                    [](double volatility) {
                        const double v = volatility;
                        return std::vector<std::vector<double>>{{0.5, v, 0.05, v, -0.7},
                                                                {0.05, v, 0.5, v, -0.7},
                                                                {1.0, 0.7 * v, 0.01, 0.8 * v, 0.0},
                                                                {0.1, v, 0.02, 0.5 * v, -0.3},
                                                                {0.3, 2 * v, 0.1, 2 * v, -0.9}};
                    }},
        quotes, in);
}

}  // namespace tilewalk::calibrations
