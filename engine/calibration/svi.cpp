// SPDX-License-Identifier: Apache-2.0
// SVI smiles, fitted expiry by expiry, and once more with a penalty if they allow arbitrage at quotes.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/calibration/least_squares.h"
#include "engine/calibration/option_quotes.h"
#include "engine/calibration/parameters.h"
#include "engine/calibration/target.h"
#include "engine/market/arbitrage.h"
#include "engine/market/smile.h"
#include "engine/market/surface.h"
#include "engine/reading/scenarios/key_list.h"

namespace tilewalk::calibrations {

namespace {

using markets::smile_point;
using markets::svi_parameters;

constexpr std::size_t numbers = 5;  // parameters of an SVI smile
constexpr std::array<const char*, numbers> names_of_svi{"a", "b", "rho", "m", "sigma"};
constexpr double good_smile = 1e-10;
// Lee's bound on the slope of a smile's wing, less an allowance for rounding.
constexpr double steepest = 2 - 1e-9;

// The unknowns of a fit, in which SVI's constraints are bounds: least variance, wing slopes, place, width.
struct shape {
    double least, left, right, m, sigma;

    static shape shape_of(std::span<const double> p) { return {p[0], p[1], p[2], p[3], p[4]}; }
    static shape shape_of(const svi_parameters& p) {
        return {p.a + p.b * p.sigma * std::sqrt(1 - p.rho * p.rho), p.b * (1 - p.rho), p.b * (1 + p.rho), p.m,
                p.sigma};
    }
    std::vector<double> as_vector() const { return {least, left, right, m, sigma}; }

    svi_parameters svi() const {
        svi_parameters p;
        p.b = 0.5 * (left + right);
        p.rho = (right - left) / (right + left);
        p.m = m;
        p.sigma = sigma;
        p.a = least - sigma * std::sqrt(left * right);
        return p;
    }

    std::array<std::array<double, numbers>, numbers> slopes_of_svi() const {
        const double sum = left + right, mean = std::sqrt(left * right);
        return {{{1, -0.5 * sigma * right / mean, -0.5 * sigma * left / mean, 0, -mean},
                 {0, 0.5, 0.5, 0, 0},
                 {0, -2 * right / (sum * sum), 2 * left / (sum * sum), 0, 0},
                 {0, 0, 0, 1, 0},
                 {0, 0, 0, 0, 1}}};
    }
};

struct slice {
    const quoted_expiry* at = nullptr;
    std::vector<std::size_t> numbers;  // of its quotes, among all
    std::vector<double> x, variances;
    double least_x = 0, most_x = 0;
};

// A fit with penalties checks this many points, slightly beyond the quoted range. Durrleman's g must exceed
// 0, and the variance that of the previous smile, by `margin`. The weight of penalties grows from fit to fit,
// because a fit against a hard wall converges slowly.
constexpr std::size_t watched_points = 161;
constexpr double watched_deviations = 4.4;
constexpr double margin = 1e-3;
constexpr std::array<double, 3> prices_of_a_miss{1, 6, 36};

class svi_target final : public target {
  public:
    svi_target(const config::node& quotes, const reading& in) : asset_(in.of) {
        quotes.only(option_quote_keys());
        quotes_ = read_option_quotes(quotes, in);
        slices_.resize(quotes_.expiries.size());
        for (std::size_t e = 0; e < slices_.size(); ++e) slices_[e].at = &quotes_.expiries[e];
        for (std::size_t i = 0; i < quotes_.options.size(); ++i) {
            const quoted_option& q = quotes_.options[i];
            slice& s = slices_[q.expiry];
            s.numbers.push_back(i);
            s.x.push_back(quotes_.log_moneyness(q));
            s.variances.push_back(q.volatility * q.volatility * s.at->years);
        }
        for (slice& s : slices_) {
            const auto [least, most] = std::ranges::minmax(s.x);
            s.least_x = least;
            s.most_x = most;
            const auto weighed =
                std::ranges::count_if(s.numbers, [&](std::size_t i) { return quotes_.quotes[i].weight > 0; });
            if (static_cast<std::size_t>(weighed) >= numbers) continue;
            throw error(error_kind::input,
                        "found " + std::to_string(weighed) + " quotes at the expiry " + s.at->written +
                            ", expected 5 at least, as an SVI smile has 5 numbers",
                        quotes_.quotes[s.numbers.front()].where, quotes.key_path());
        }
    }

    outcome fit(const std::atomic<bool>* cancel) const override {
        outcome made;
        std::vector<svi_parameters> smiles;
        for (const slice& s : slices_) {
            made.fits.emplace_back();
            smiles.push_back(fit_slice(s, {}, nullptr, cancel, made.fits.back()));
        }
        std::vector<markets::arbitrage> findings = find(smiles);
        if (std::ranges::any_of(findings, &markets::arbitrage::in_quotes)) {
            for (std::size_t e = 0; e < slices_.size(); ++e) {
                model_fit held;
                const svi_parameters smile =
                    fit_slice(slices_[e], watched(e, smiles), e > 0 ? &smiles[e - 1] : nullptr, cancel, held);
                model_fit& free = made.fits[e];
                held.starts += free.starts;
                held.iterations += free.iterations;
                held.evaluations += free.evaluations;
                for (const markets::arbitrage& a : findings) {
                    if (!a.in_quotes || a.years != slices_[e].at->years) continue;
                    held.remarks.push_back("the best fit, with a root mean square of " +
                                           report::significant(free.root_mean_square, 3) + ", would have " +
                                           a.message);
                }
                smiles[e] = smile;
                free = std::move(held);
            }
            findings = find(smiles);
        }
        bool needs_repair = false;
        for (const markets::arbitrage& a : findings) {
            for (std::size_t e = 0; e < slices_.size(); ++e) {
                const double from = e == 0 ? 0 : slices_[e - 1].at->years, to = slices_[e].at->years;
                const bool is_last = e + 1 == slices_.size();
                if (!(a.years > from && (a.years <= to || is_last))) continue;
                made.fits[e].remarks.push_back(a.message);
                made.fits[e].has_arbitrage |= a.in_quotes;
            }
            needs_repair |= a.in_quotes;
        }
        made.model = written(smiles, needs_repair);
        return made;
    }

    // Refuses a smile that penalties kept off arbitrage, since it is not the minimum for its quotes.
    std::vector<fitted_numbers> follow(const number_by_key& now,
                                       const std::atomic<bool>* cancel) const override {
        std::vector<fitted_numbers> out;
        for (const slice& s : slices_) {
            model_fit of = before_fit(s);
            fitted_numbers made{asset_, of.unit, {}, weighed(of.quotes), {}};
            const std::string key = asset_ + ".volatility@" + markets::time_name(s.at->written) + ",";
            std::array<double, numbers> p{};
            for (std::size_t i = 0; i < numbers; ++i) {
                made.keys.push_back(key + names_of_svi[i]);
                p[i] = now(made.keys.back());
            }
            const std::vector<double> at =
                shape::shape_of(svi_parameters{p[0], p[1], p[2], p[3], p[4]}).as_vector();
            const least_squares problem = problem_of(s, of, cancel);
            for (std::size_t i = 0; i < numbers; ++i) {
                const between& range = problem.bounds[i];
                if (at[i] >= range.low * (1 - 1e-9) - 1e-12 && at[i] <= range.high * (1 + 1e-9) + 1e-12)
                    continue;
                fail_as_no_fit(of, "found a smile that is not the fit to its quotes");
            }
            const auto moves = moves_by_quote(problem, of, at);
            const auto slopes = shape::shape_of(at).slopes_of_svi();
            for (std::size_t i = 0; i < numbers; ++i) {
                std::vector<double>& row = made.moves.emplace_back(made.quotes.size());
                for (std::size_t q = 0; q < row.size(); ++q)
                    for (std::size_t k = 0; k < numbers; ++k) row[q] += slopes[i][k] * moves[k][q];
            }
            out.push_back(std::move(made));
        }
        return out;
    }

  private:
    std::vector<double> watched(std::size_t e, const std::vector<svi_parameters>& smiles) const {
        double low = slices_[e].least_x, high = slices_[e].most_x;
        for (std::size_t i = e > 0 ? e - 1 : 0; i <= e; ++i) {
            const double years = slices_[i].at->years;
            const markets::implied_surface alone(markets::implied_surface::written_by::svi,
                                                 {markets::expiry::from_svi(years, smiles[i])});
            const auto [below, above] = alone.reach(years, watched_deviations);
            low = std::min(low, below);
            high = std::max(high, above);
        }
        std::vector<double> out;
        for (std::size_t i = 0; i < watched_points; ++i) {
            out.push_back(low + (high - low) * static_cast<double>(i) / (watched_points - 1));
        }
        return out;
    }

    double value(const slice& s, std::size_t i, const svi_parameters& p) const {
        const quoted_option& q = quotes_.options[s.numbers[i]];
        const double deviation = std::sqrt(markets::smile::svi(p).at(s.x[i]).variance);
        if (!quotes_.by_price) return deviation / std::sqrt(s.at->years);
        return s.at->discount * analytics::black_price(q.option, s.at->forward, q.strike, deviation);
    }

    model_fit before_fit(const slice& s) const {
        model_fit out;
        out.of = asset_;
        out.model = "svi";
        out.part = s.at->written;
        out.unit = quotes_.by_price ? "price" : "volatility";
        for (const std::size_t i : s.numbers) out.quotes.push_back(quotes_.quotes[i]);
        return out;
    }

    // The least squares without penalties; refers to `s` and `into`, which must outlive it.
    least_squares problem_of(const slice& s, const model_fit& into, const std::atomic<bool>* cancel) const {
        using scale = between::scale;
        const auto [least, most] = std::ranges::minmax(s.variances);
        const double span = std::max(s.most_x - s.least_x, 1e-3);
        least_squares problem;
        problem.bounds = {{1e-4 * least, 2 * most, scale::geometric},
                          {1e-6, steepest, scale::geometric},
                          {1e-6, steepest, scale::geometric},
                          {s.least_x - span, s.most_x + span, scale::even},
                          {1e-3 * span, 20 * span, scale::geometric}};
        problem.cancel = cancel;
        for (const fitted_quote& q : into.quotes) problem.residuals += q.weight > 0 ? 1 : 0;
        problem.evaluate = [this, &s, &into](std::span<const double> p, std::span<double> residuals) {
            const svi_parameters smile = shape::shape_of(p).svi();
            std::size_t at = 0;
            for (std::size_t i = 0; i < into.quotes.size(); ++i) {
                const fitted_quote& q = into.quotes[i];
                if (q.weight > 0) residuals[at++] = std::sqrt(q.weight) * (value(s, i, smile) - q.market);
            }
        };
        return problem;
    }

    // Fits a smile; at `places`, penalises butterfly arbitrage and a variance below the smile `before`.
    svi_parameters fit_slice(const slice& s, const std::vector<double>& places, const svi_parameters* before,
                             const std::atomic<bool>* cancel, model_fit& into) const {
        into = before_fit(s);
        least_squares problem = problem_of(s, into, cancel);
        const double unit = quotes_.by_price ? s.at->forward : 1;
        problem.good_enough = good_smile * unit;
        std::vector<double> floors;
        for (const double x : places) {
            floors.push_back(before == nullptr ? 0 : markets::smile::svi(*before).at(x).variance);
        }
        const std::size_t of_quotes = problem.residuals;
        problem.residuals += 2 * places.size();
        double price_of_a_miss = prices_of_a_miss.front();
        problem.has_kinks = !places.empty();
        const auto residuals_of_quotes = problem.evaluate;
        problem.evaluate = [&](std::span<const double> p, std::span<double> residuals) {
            residuals_of_quotes(p, residuals);
            const svi_parameters smile = shape::shape_of(p).svi();
            std::size_t at = of_quotes;
            for (std::size_t i = 0; i < places.size(); ++i) {
                const smile_point w = markets::smile::svi(smile).at(places[i]);
                const double miss = margin - markets::density_ratio(w, places[i]);
                const double fall = (1 + margin) * floors[i] / w.variance - 1;
                residuals[at++] = price_of_a_miss * unit * std::max(0.0, miss);
                residuals[at++] = price_of_a_miss * unit * std::max(0.0, fall);
            }
        };
        minimum found = minimise(problem, starts(s, problem));
        for (std::size_t i = 1; i < prices_of_a_miss.size() && !places.empty(); ++i) {
            price_of_a_miss = prices_of_a_miss[i];
            problem.most_evaluations = 2000;
            minimum next = minimise(problem, {found.at});
            next.starts = found.starts;
            next.iterations += found.iterations;
            next.evaluations += found.evaluations;
            found = std::move(next);
        }
        const shape best = shape::shape_of(found.at);
        const svi_parameters smile = best.svi();
        for (std::size_t i = 0; i < into.quotes.size(); ++i) into.quotes[i].model = value(s, i, smile);
        const auto state = [&](bool is_at_bound) {
            return is_at_bound ? fitted_parameter::state::at_bound : fitted_parameter::state::fitted;
        };
        const bool is_steep = std::max(best.left, best.right) > 1;
        const bool at_wing = found.is_at_bound[1] || found.is_at_bound[2];
        into.parameters = {{"a", smile.a, state(found.is_at_bound[0])},
                           {"b", smile.b, state(at_wing && is_steep)},
                           {"rho", smile.rho, state(at_wing && !is_steep)},
                           {"m", smile.m, state(found.is_at_bound[3])},
                           {"sigma", smile.sigma, state(found.is_at_bound[4])}};
        into.has_converged = found.has_converged;
        into.starts = found.starts;
        into.iterations = found.iterations;
        into.evaluations = found.evaluations;
        summarise(into);
        return smile;
    }

    // Starting points: the best few of a grid of m and sigma, each with the other unknowns of a linear fit.
    std::vector<std::vector<double>> starts(const slice& s, const least_squares& problem) const {
        constexpr std::size_t most = 4;
        std::vector<std::pair<double, std::vector<double>>> tried;
        const double span = std::max(s.most_x - s.least_x, 1e-3);
        std::vector<double> residuals(problem.residuals);
        for (int i = -1; i <= 5; ++i) {
            for (const double part : {0.02, 0.08, 0.25, 0.8, 2.5}) {
                const double m = s.least_x + span * i / 4, sigma = span * part;
                std::vector<std::vector<double>> columns(3, std::vector<double>(s.x.size(), 1.0));
                for (std::size_t k = 0; k < s.x.size(); ++k) {
                    const double d = s.x[k] - m;
                    columns[1][k] = d;
                    columns[2][k] = std::hypot(d, sigma);
                }
                const std::vector<double> solved = linear_fit(columns, s.variances);
                const double left = std::clamp(solved[2] - solved[1], 1e-4, 1.9),
                             right = std::clamp(solved[2] + solved[1], 1e-4, 1.9);
                shape guess{solved[0] + sigma * std::sqrt(left * right), left, right, m, sigma};
                std::vector<double> start = guess.as_vector();
                for (std::size_t k = 0; k < start.size(); ++k) {
                    start[k] = std::clamp(start[k], problem.bounds[k].low, problem.bounds[k].high);
                }
                problem.evaluate(start, residuals);
                double squares = 0;
                for (const double r : residuals) squares += r * r;
                tried.emplace_back(squares, std::move(start));
            }
        }
        std::ranges::stable_sort(tried, {}, &std::pair<double, std::vector<double>>::first);
        std::vector<std::vector<double>> out;
        for (std::size_t i = 0; i < most; ++i) out.push_back(std::move(tried[i].second));
        return out;
    }

    std::vector<markets::arbitrage> find(const std::vector<svi_parameters>& smiles) const {
        std::vector<markets::expiry> expiries;
        for (std::size_t e = 0; e < smiles.size(); ++e) {
            expiries.push_back(markets::expiry::from_svi(slices_[e].at->years, smiles[e]));
            expiries.back().written = slices_[e].at->written;
        }
        return markets::find_arbitrage({markets::implied_surface::written_by::svi, std::move(expiries)});
    }

    std::string written(const std::vector<svi_parameters>& smiles, bool needs_repair) const {
        std::string out;
        for (std::size_t e = 0; e < smiles.size(); ++e) {
            const svi_parameters& p = smiles[e];
            out += (e == 0 ? "" : ", ") + slices_[e].at->written + ": {a: " + config::shown(p.a) +
                   ", b: " + config::shown(p.b) + ", rho: " + config::shown(p.rho) +
                   ", m: " + config::shown(p.m) + ", sigma: " + config::shown(p.sigma) + "}";
        }
        return "{local_volatility: {surface: {svi: {" + out + "}" +
               (needs_repair ? ", arbitrage: repair" : "") + "}}}";
    }

    std::string asset_;
    option_quotes quotes_;
    std::vector<slice> slices_;
};

}  // namespace

std::unique_ptr<target> read_svi(const config::node& quotes, const reading& in) {
    return std::make_unique<svi_target>(quotes, in);
}

}  // namespace tilewalk::calibrations
