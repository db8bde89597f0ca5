// SPDX-License-Identifier: Apache-2.0
// Correlated lognormal assets and exchange rates with deterministic term structures, under the trade
// currency's risk-neutral measure. Steps are exact for any length, so a path stops only at dates that matter.
#include <algorithm>
#include <memory>

#include "engine/market/wording.h"
#include "engine/models/model.h"
#include "kernels/math.h"
#include "products/dates/date.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

namespace {

using language::bridge;
using language::interval_end;
using language::occurrence;
using markets::affine;
using markets::volatility;
using program::recorder;
using program::value;

// A normal move: `root` is its row of the triangular root of the step's covariance.
template <class Real>
Real correlated_move(Real drift, std::span<const Real> shocks, std::span<const Real> root) {
    Real move = drift;
    for (std::size_t j = 0; j < root.size(); ++j) move = fma(shocks[j], root[j], move);
    return move;
}

// A quoted thing that moves: an asset, or a pair of currencies. -1: the pair is taken the other way round.
struct driver {
    std::string name;  // as the correlations call it
    const volatility* vol = nullptr;
    double sign = 1;
};
// The log of an asset moves with one driver; that of an exchange rate with one, or with two where it is a
// cross.
using drivers = std::vector<driver>;

// What a path carries: an asset or an exchange rate. Level(t) = scale(t) exp(x(t)) + shift(t), and exp(x) is
// a martingale up to the quanto drift.
struct factor {
    std::string name;                       // of the asset or the currency
    const markets::asset* asset = nullptr;  // none: an exchange rate
    const markets::curve* carry = nullptr;  // discount curve of the asset's or the foreign currency
    drivers moves_with;
    // Its volatility, where each path has its own: then that in moves_with is 1. Over a step a path's
    // volatility is one number, which what is known for 1 is scaled with: covariances and the quanto drift
    // with the number, variances with its square.
    const markets::scenario_volatility* scenarios = nullptr;
    drivers quanto;  // of the rate that turns the asset's currency into the trade's; empty: the same currency
    double start = 0;  // exchange rate today
    bool has_cash_dividends = false;
    std::uint32_t state = 0;
    bool watched = false;  // a bridge was asked for: the value before the step is kept
    std::uint32_t before = 0;

    bool is_asset() const { return asset != nullptr; }
};

class black_scholes final : public model {
  public:
    explicit black_scholes(const request& from)
        : market_(from.market),
          trade_currency_(from.trade_currency),
          domestic_(market_.discount_curve(trade_currency_)) {
        for (const auto& name : from.assets) add_asset(name);
        for (const auto& name : from.currencies) {
            if (name != trade_currency_) add_currency(name);
        }
    }

    void add_stops(double from, double to, std::vector<double>& times) const override {
        const auto add = [&](const std::vector<double>& pillars) {
            for (const double t : pillars) {
                if (t > from && t < to) times.push_back(t);
            }
        };
        add(domestic_.pillars());
        for (const factor& f : factors_) {
            for (const driver& d : f.moves_with) add(d.vol->pillars());
            for (const driver& d : f.quanto) add(d.vol->pillars());
            add(f.carry->pillars());
            if (!f.is_asset()) continue;
            add(f.asset->dividend_yield.pillars());
            for (const auto& d : f.asset->dividends) {
                if (d.years > from && d.years < to) times.push_back(d.years);
            }
        }
    }

    void add_breaks(double last, std::vector<double>& times) const override {
        for (const factor& f : factors_) {
            if (f.scenarios == nullptr) continue;
            const auto& years = f.scenarios->years;
            if (last > years.back() + dates::same_time_years) {
                throw error(error_kind::input,
                            "the volatility scenarios of '" + f.name + "' end at " +
                                markets::rounded(years.back()) + " years, the trade at " +
                                markets::rounded(last) + "; expected times, and rows of the file, until then",
                            f.scenarios->where);
            }
            for (const double t : years) {
                if (t < last) times.push_back(t);
            }
        }
    }

    void begin(std::vector<double> grid, recorder& into) override {
        grid_ = std::move(grid);
        into_ = &into;
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            factors_[i].state = into.state("x" + std::to_string(i), 0.0);
        }
    }

    void enter(std::span<const occurrence> runs) override { runs_ = runs; }

    value spot(const std::string& asset) override { return level(find(asset, true)); }

    value fx(const std::string& currency) override {
        if (currency == trade_currency_) return into_->constant(1.0);
        return level(find(currency, false));
    }

    value forward(const std::string& asset, std::span<const double> years,
                  const std::string& named) override {
        const std::size_t i = find(asset, true);
        if (!factors_[i].quanto.empty()) refuse_scenarios(factors_[i], "the forward price");
        const affine_values ahead = ahead_of(i, years, named);
        return factors_[i].has_cash_dividends ? ahead.grown + ahead.shift : ahead.grown;
    }

    // Black's formula on what is random of the asset. A strike below the dividends to come is always
    // exercised by a call, which then is worth more by what the least strike stands above it.
    value option_value(bool call, const std::string& asset, value strike, std::span<const double> years,
                       const std::string& named) override {
        constexpr double least_strike = 1e-30, least_deviation = 1e-12;
        const std::size_t i = find(asset, true);
        const factor& f = factors_[i];
        refuse_scenarios(f, "the value of an option");
        const affine_values ahead = ahead_of(i, years, named);
        const value over_shift = strike - ahead.shift, level = max(over_shift, least_strike);
        const auto until = [&](const occurrence& o) { return years[place_of(o)]; };
        const value deviation = row("deviation " + named, i, [&](const occurrence& o) {
            const double variance = covariance(f.moves_with, f.moves_with, o.years, until(o));
            return std::max(kernels::sqrt(std::max(variance, 0.0)), least_deviation);
        });
        const value discounted = row("discount_ahead " + named, i, [&](const occurrence& o) {
            return domestic_.discount(until(o)) / domestic_.discount(o.years);
        });
        const value d1 = log(ahead.grown / level) / deviation + 0.5 * deviation, d2 = d1 - deviation;
        if (!call) return discounted * (level * norm_cdf(-d2) - ahead.grown * norm_cdf(-d1));
        return discounted * (ahead.grown * norm_cdf(d1) - level * norm_cdf(d2) + (level - over_shift));
    }

    double discount(const std::string& currency, double years) const override {
        return market_.discount_curve(currency).discount(years);
    }

    // log(level - shift) is a Brownian motion between grid times: scale is log-linear there, because a
    // watched path stops at every pillar.
    bridge path_between(const std::string& asset) override {
        const std::size_t i = find(asset, true);
        factor& f = factors_[i];
        if (!f.watched) {
            f.watched = true;
            f.before = into_->state("x" + std::to_string(i) + "_before", 0.0);
        }
        const value start = into_->read(f.before) + row("log_scale_start", i, [&](const occurrence& o) {
                                return kernels::log(map_of(f, o.start_years).scale);
                            });
        const value end = into_->read(f.state) + row("log_scale_end", i, [&](const occurrence& o) {
                              return kernels::log(map_of(f, o.years, true).scale);
                          });
        const value variance = row("variance", i, [&](const occurrence& o) {
            return covariance(f.moves_with, f.moves_with, o.start_years, o.years);
        });
        if (f.scenarios == nullptr) return {start, end, variance};
        // A watched interval is one step.
        const value level = volatility_of_path(i);
        return {start, end, level * level * variance};
    }

    value to_coordinate(const std::string& asset, value level, interval_end at) override {
        const std::size_t i = find(asset, true);
        // A level at or below the dividends to come is never reached from above: its coordinate is far away.
        constexpr double far_below = 1e-300;
        return log(max(level - shift(i, at), far_below));
    }

    value from_coordinate(const std::string& asset, value coordinate) override {
        const std::size_t i = find(asset, true);
        return exp(coordinate) + shift(i, interval_end::end);
    }

    void record_step() override {
        const std::size_t n = factors_.size();
        std::vector<value> shocks;
        for (std::size_t i = 0; i < n; ++i) shocks.push_back(into_->normal());
        const auto roots = step_roots();
        std::vector<value> next;
        for (std::size_t i = 0; i < n; ++i) {
            const value x = into_->read(factors_[i].state);
            std::vector<value> root;
            for (std::size_t j = 0; j <= i; ++j) root.push_back(root_row(roots, i, j));
            next.push_back(x + (factors_[i].scenarios == nullptr ? move_of(i, shocks, root)
                                                                 : scaled_move_of(i, shocks, root)));
            if (factors_[i].watched) into_->write(factors_[i].before, x);
        }
        for (std::size_t i = 0; i < n; ++i) into_->write(factors_[i].state, next[i]);
    }

  private:
    void add_asset(const std::string& name) {
        const markets::asset& a = market_.find_asset(name);
        factor f;
        f.name = name;
        f.asset = &a;
        f.carry = &market_.discount_curve(a.currency);
        if (!a.vol && !a.scenario_vol) {
            throw error(error_kind::input,
                        "asset '" + name + "' has no volatility; the model black_scholes needs one", a.where);
        }
        f.moves_with = {{name, a.vol ? &*a.vol : &one_}};
        f.scenarios = a.scenario_vol ? &*a.scenario_vol : nullptr;
        f.has_cash_dividends = std::any_of(a.dividends.begin(), a.dividends.end(),
                                           [](const auto& d) { return !d.proportional; });
        if (a.currency != trade_currency_) {
            f.quanto = drivers_of_rate(a.currency, "asset '" + name + "' is paid in");
        }
        factors_.push_back(std::move(f));
    }

    void add_currency(const std::string& name) {
        factor f;
        f.name = name;
        f.carry = &market_.discount_curve(name);
        f.moves_with = drivers_of_rate(name, "the trade pays in or asks for '" + name + "' and is worth");
        f.start = market_.fx_spot(name, trade_currency_);
        factors_.push_back(std::move(f));
    }

    drivers drivers_of_rate(const std::string& foreign, const std::string& why) const {
        drivers out;
        for (const auto& [pair, inverted] : market_.fx_legs(foreign, trade_currency_)) {
            if (!pair->vol) {
                throw error(error_kind::input,
                            why + " " + trade_currency_ + ": the pair " + pair->base + pair->quote +
                                " must have a volatility",
                            pair->where);
            }
            out.push_back({pair->base + pair->quote, &*pair->vol, inverted ? -1.0 : 1.0});
        }
        return out;
    }

    std::size_t find(const std::string& name, bool is_asset) const {
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            if (factors_[i].is_asset() == is_asset && factors_[i].name == name) return i;
        }
        throw error(error_kind::internal, "the model was not told about '" + name + "'");
    }

    affine map_of(const factor& f, double years, bool before_dividend = false) const {
        if (f.is_asset()) return markets::spot_map(*f.asset, *f.carry, years, before_dividend);
        return {f.start * f.carry->discount(years) / domestic_.discount(years), 0};
    }

    template <class F>
    value row(std::string_view name, std::size_t i, const F& number) {
        std::vector<double> numbers;
        numbers.reserve(runs_.size());
        for (const occurrence& o : runs_) numbers.push_back(number(o));
        return into_->row(std::string(name) + "#" + std::to_string(i), numbers);
    }

    template <class F>
    value step_row(std::string_view name, std::size_t i, const F& number) {
        std::vector<double> numbers;
        for (std::size_t s = 0; s + 1 < grid_.size(); ++s) numbers.push_back(number(grid_[s], grid_[s + 1]));
        return into_->row(std::string(name) + "#" + std::to_string(i), numbers);
    }

    value level(std::size_t i) {
        const factor& f = factors_[i];
        const value grown = row("scale", i, [&](const occurrence& o) { return map_of(f, o.years).scale; }) *
                            exp(into_->read(f.state));
        return f.has_cash_dividends ? grown + shift(i, interval_end::end, false) : grown;
    }

    std::size_t place_of(const occurrence& o) const { return static_cast<std::size_t>(&o - runs_.data()); }

    // Forward prices seen from the date at hand: their random part and that of the dividends.
    struct affine_values {
        value grown, shift;
    };
    // The mean of exp(x) to come is exp(x) but for the quanto drift until then.
    affine_values ahead_of(std::size_t i, std::span<const double> years, const std::string& named) {
        const factor& f = factors_[i];
        const value scale = row("scale_ahead " + named, i, [&](const occurrence& o) {
            const double until = years[place_of(o)];
            return map_of(f, until).scale * kernels::exp(-covariance(f.moves_with, f.quanto, o.years, until));
        });
        const value grown = scale * exp(into_->read(f.state));
        if (!f.has_cash_dividends) return {grown, into_->constant(0.0)};
        return {grown, row("shift_ahead " + named, i,
                           [&](const occurrence& o) { return map_of(f, years[place_of(o)]).shift; })};
    }

    void refuse_scenarios(const factor& f, const std::string& what) const {
        if (f.scenarios == nullptr) return;
        throw error(
            error_kind::input,
            what + " on '" + f.name + "' in " + trade_currency_ +
                " takes its volatility from the date at hand on, and scenarios of the volatility by path do "
                "not say it ahead; expected a volatility or a curve of them",
            f.scenarios->where);
    }

    // The dividends to come, at an end of an interval seen from inside it, or on a date after its own
    // dividend.
    value shift(std::size_t i, interval_end at, bool inside = true) {
        const factor& f = factors_[i];
        if (!f.has_cash_dividends) return into_->constant(0.0);
        const std::string_view name = at == interval_end::start ? "shift_start"
                                      : inside                  ? "shift_end"
                                                                : "shift";
        return row(name, i, [&](const occurrence& o) {
            return at == interval_end::start ? map_of(f, o.start_years).shift
                                             : map_of(f, o.years, inside).shift;
        });
    }

    double covariance(const drivers& a, const drivers& b, double from, double to) const {
        double sum = 0;
        for (const driver& x : a) {
            for (const driver& y : b) {
                sum += market_.correlation(x.name, y.name) * x.sign * y.sign *
                       volatility::covariance(*x.vol, *y.vol, from, to);
            }
        }
        return sum;
    }

    double half_variance(const factor& f, double from, double to) const {
        return -0.5 * covariance(f.moves_with, f.moves_with, from, to);
    }

    value move_of(std::size_t i, std::span<const value> shocks, std::span<const value> root) {
        const factor& f = factors_[i];
        const value drift = step_row("drift", i, [&](double from, double to) {
            return half_variance(f, from, to) - covariance(f.moves_with, f.quanto, from, to);
        });
        return correlated_move(drift, shocks, root);
    }

    // The move for a volatility of 1, scaled; but the part of the drift that goes with the square, which is
    // scaled twice. So the chain of shocks has no number of the path in it and can be made ahead.
    value scaled_move_of(std::size_t i, std::span<const value> shocks, std::span<const value> root) {
        const factor& f = factors_[i];
        const value quanto = step_row("quanto_drift", i, [&](double from, double to) {
            return -covariance(f.moves_with, f.quanto, from, to);
        });
        const value squared =
            step_row("half_variance", i, [&](double from, double to) { return half_variance(f, from, to); });
        const value level = volatility_of_path(i);
        return level * fma(level, squared, correlated_move(quanto, shocks, root));
    }

    // On the step that is walked, or that the section at hand follows.
    value volatility_of_path(std::size_t i) {
        const markets::scenario_volatility& from = *factors_[i].scenarios;
        program::scenario_rows rows{from.array, {}};
        for (std::size_t s = 0; s + 1 < grid_.size(); ++s) rows.rows.push_back(from.row_until(grid_[s + 1]));
        return into_->scenario("volatility#" + std::to_string(i), rows);
    }

    // For each step the triangular root of the covariance of all factors over it, row by row.
    std::vector<std::vector<double>> step_roots() const {
        const std::size_t n = factors_.size();
        std::vector<std::vector<double>> out;
        for (std::size_t s = 0; s + 1 < grid_.size(); ++s) {
            std::vector<double> c(n * n), root(n * n, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    c[i * n + j] =
                        covariance(factors_[i].moves_with, factors_[j].moves_with, grid_[s], grid_[s + 1]);
                }
            }
            for (std::size_t j = 0; j < n; ++j) {
                double pivot = c[j * n + j];
                for (std::size_t k = 0; k < j; ++k) pivot -= root[j * n + k] * root[j * n + k];
                // The matrix may be singular (two assets with correlation 1): a pivot within rounding of 0 is
                // 0.
                if (pivot <= c[j * n + j] * 1e-12) continue;
                root[j * n + j] = kernels::sqrt(pivot);
                for (std::size_t i = j + 1; i < n; ++i) {
                    double sum = c[i * n + j];
                    for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
                    root[i * n + j] = sum / root[j * n + j];
                }
            }
            out.push_back(std::move(root));
        }
        return out;
    }

    value root_row(const std::vector<std::vector<double>>& roots, std::size_t i, std::size_t j) {
        std::vector<double> numbers;
        numbers.reserve(roots.size());
        for (const auto& root : roots) numbers.push_back(root[i * factors_.size() + j]);
        return into_->row("root#" + std::to_string(i) + "," + std::to_string(j), numbers);
    }

    const markets::market_state& market_;
    std::string trade_currency_;
    const markets::curve& domestic_;
    const volatility one_ = volatility::flat(1);
    std::vector<factor> factors_;
    std::vector<double> grid_;
    recorder* into_ = nullptr;
    std::span<const occurrence> runs_;
};

}  // namespace

std::unique_ptr<model> make_black_scholes(const request& from) {
    return std::make_unique<black_scholes>(from);
}

}  // namespace tilewalk::models
