// SPDX-License-Identifier: Apache-2.0
// Calibration of Heston and Bates, by their characteristic functions and engine/numerics/price.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>

#include "engine/calibration/option_quotes.h"
#include "engine/calibration/parameters.h"
#include "engine/calibration/target.h"
#include "engine/numerics/price.h"

namespace tilewalk::calibrations {

namespace {

using analytics::right;
using scale = between::scale;

// Parameters: the range that the market's reader takes, and the usual range of fits to real quotes.
constexpr std::array<parameter, 8> bates_parameters{{
    {"v0", {0, 25}, {1e-5, 4, scale::geometric}},
    {"kappa", {0, 100}, {1e-3, 50, scale::geometric}},
    {"theta", {0, 25}, {1e-5, 4, scale::geometric}},
    {"sigma", {0, 20}, {1e-3, 10, scale::geometric}},
    {"rho", {-1, 1}, {-0.999, 0.999, scale::even}},
    {"jump_intensity", {0, 1000}, {1e-3, 20, scale::geometric}},
    {"jump_mean", {-10, 10}, {-1, 0.5, scale::even}},
    {"jump_sd", {0, 5}, {1e-3, 1, scale::geometric}},
}};
constexpr std::span<const parameter> heston_parameters = std::span(bates_parameters).first(5);

// Root mean square that is good enough, of volatilities, and of prices as fractions of the forward.
constexpr double good_volatility = 1e-10;

struct law_family {
    std::span<const parameter> parameters;
    std::function<fourier::characteristic(std::span<const double>, double years)> law;
};

fourier::heston heston_of(std::span<const double> p) {
    return {p[0], p[1], p[2], p[3], p[4]};
}

// Remembers values of the transform: strikes of an expiry share one contour and most of its points.
fourier::characteristic remembered(fourier::characteristic law) {
    auto known = std::make_shared<std::unordered_map<double, fourier::complex>>();
    known->reserve(1024);
    law.log_moment = [known, of = std::move(law.log_moment)](fourier::complex z) {
        if (z.real() != 0.5) return of(z);
        const auto [place, is_new] = known->try_emplace(z.imag());
        if (is_new) place->second = of(z);
        return place->second;
    };
    return law;
}

class fourier_target final : public target {
  public:
    fourier_target(law_family of, const config::node& quotes, const reading& in)
        : of_(std::move(of)), name_(in.model), asset_(in.of), space_(of_.parameters, quotes) {
        std::vector<std::string> known = option_quote_keys();
        known.insert(known.end(), {"fixed", "bounds"});
        quotes.only(known);
        quotes_ = read_option_quotes(quotes, in);
        expect_enough(quotes, quotes_.quotes, space_.free());
    }

    outcome fit(const std::atomic<bool>* cancel) const override {
        model_fit made = before_fit();
        const std::vector<double> found = calibrations::fit(how(cancel), made);
        return {{std::move(made)}, "{" + name_ + ": " + space_.written(found) + "}"};
    }

    std::vector<fitted_numbers> follow(const number_by_key& now,
                                       const std::atomic<bool>* cancel) const override {
        return {calibrations::follow(how(cancel), before_fit(), now)};
    }

  private:
    model_fit before_fit() const {
        model_fit made;
        made.of = asset_;
        made.model = name_;
        made.unit = quotes_.by_price ? "price" : "volatility";
        made.quotes = quotes_.quotes;
        return made;
    }

    fitting how(const std::atomic<bool>* cancel) const {
        const double unit = quotes_.by_price ? quotes_.expiries.back().forward : 1;
        const auto values = [this](std::span<const double> p, std::span<double> out) { price(p, out); };
        return {space_, values, starts(), good_volatility * unit, cancel};
    }

    void price(std::span<const double> p, std::span<double> out) const {
        std::vector<fourier::characteristic> laws;
        for (const quoted_expiry& e : quotes_.expiries) laws.push_back(remembered(of_.law(p, e.years)));
        for (std::size_t i = 0; i < out.size(); ++i) {
            const quoted_option& q = quotes_.options[i];
            const quoted_expiry& at = quotes_.expiries[q.expiry];
            fourier::contour along;
            along.real_part = 0.5;
            const auto worth =
                fourier::vanilla(laws[q.expiry], (q.strike - at.spot.shift) / at.spot.scale, along);
            if (quotes_.by_price) {
                out[i] = at.discount * at.spot.scale * (q.option == right::call ? worth.call : worth.put);
                continue;
            }
            const bool is_above = q.strike >= at.forward;
            // Limits of prices that have a volatility: rounding hides smaller ones; larger ones have none.
            const double least = 1e-15 * std::min(at.forward, q.strike);
            const double most = std::min(at.forward, q.strike) * (1 - 1e-15);
            out[i] = analytics::implied_volatility(
                is_above ? right::call : right::put, at.forward, q.strike, at.years,
                std::clamp(at.spot.scale * (is_above ? worth.call : worth.put), least, most));
        }
    }

    // Starting points. Variances come from quotes near the money at the first and last expiry, the sign of
    // the correlation from the slope of the smile. The other parameters take a few typical values.
    std::vector<std::vector<double>> starts() const {
        const auto near_money = [&](std::size_t expiry) {
            const quoted_option* best = nullptr;
            for (const quoted_option& q : quotes_.options) {
                if (q.expiry == expiry && (best == nullptr || std::abs(quotes_.log_moneyness(q)) <
                                                                  std::abs(quotes_.log_moneyness(*best)))) {
                    best = &q;
                }
            }
            return best->volatility * best->volatility;
        };
        const double first = near_money(0), last = near_money(quotes_.expiries.size() - 1);
        double lean = 0;
        for (const quoted_option& q : quotes_.options) {
            lean += quotes_.log_moneyness(q) * (q.volatility * q.volatility - near_money(q.expiry));
        }
        const double rho = lean > 0 ? 0.6 : -0.6;
        std::vector<std::vector<double>> out;
        for (const auto& [kappa, sigma, towards] :
             {std::array{1.5, 0.5, 1.0}, std::array{4.0, 1.0, 1.0}, std::array{0.3, 0.3, 1.0},
              std::array{1.5, 0.4, 0.2}, std::array{10.0, 2.0, 0.8}}) {
            std::vector<double> start{first, kappa, last, sigma, towards * rho};
            if (of_.parameters.size() > start.size()) {
                start[0] *= 0.8;
                start[2] *= 0.8;
                start.insert(start.end(), {out.size() % 2 == 0 ? 0.3 : 1.0, 0.15 * rho, 0.15});
            }
            out.push_back(std::move(start));
        }
        return out;
    }

    law_family of_;
    std::string name_, asset_;
    parameter_space space_;
    option_quotes quotes_;
};

}  // namespace

std::unique_ptr<target> read_heston(const config::node& quotes, const reading& in) {
    return std::make_unique<fourier_target>(
        law_family{heston_parameters, [](std::span<const double> p,
                                         double years) { return characteristic_of(heston_of(p), years); }},
        quotes, in);
}

std::unique_ptr<target> read_bates(const config::node& quotes, const reading& in) {
    return std::make_unique<fourier_target>(
        law_family{bates_parameters,
                   [](std::span<const double> p, double years) {
                       return characteristic_of(fourier::bates{heston_of(p), {p[5], p[6], p[7]}}, years);
                   }},
        quotes, in);
}

}  // namespace tilewalk::calibrations
