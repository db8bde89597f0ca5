// SPDX-License-Identifier: Apache-2.0
// Assets and interest rates moved by their models and lognormal exchange rates, correlated, under the measure
// of the trade currency's numeraire: what a model need not know, which is dividends, currencies and the
// others.
#include "engine/models/world.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/market/wording.h"
#include "engine/models/loading.h"
#include "engine/models/model.h"
#include "engine/models/rates.h"
#include "kernels/math.h"
#include "products/dates/date.h"
#include "products/program/row_names.h"
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
namespace row_names = program::row_names;

// A normal move: `root` is its row of the triangular root of the step's covariance.
value correlated_move(value drift, std::span<const value> shocks, std::span<const value> root) {
    value move = drift;
    for (std::size_t j = 0; j < root.size(); ++j) move = fma(shocks[j], root[j], move);
    return move;
}

// A source of noise: an asset's own, another of its model, a quoted pair of currencies, or a factor of
// interest rates. -1: the pair is taken the other way round.
struct driver {
    std::string name;  // as the correlations call it
    const volatility* vol = nullptr;
    double sign = 1;
    loading by{};
};
// The log of an asset moves with one driver; that of an exchange rate with one, or with two where it is a
// cross; the integral of a rate with one for each factor.
using drivers = std::vector<driver>;

// The interest rates of a currency that has a model for them.
struct moving_rates {
    std::string currency;
    const markets::curve* today = nullptr;
    const rate_model* model = nullptr;
    std::unique_ptr<rate_walk> walk;
    drivers quanto;  // of the rate that turns the currency into the trade's; empty: it is the trade's
    std::vector<drivers> noises;
    std::size_t first_source = 0;
    bool is_watched = false;  // the growth before the step is kept
    std::uint32_t before = 0;
};
constexpr std::size_t do_not_move = static_cast<std::size_t>(-1);

// What a path carries: an asset or an exchange rate. Level(t) = scale(t) exp(x(t) + growth(t)) + shift(t), or
// x(t) exp(growth(t)) in the place of the exponential: exp(x), or x, is a martingale up to the quanto drift,
// and growth is how much more than the curve says the numeraire of the asset's currency has grown, or that of
// the trade's beside the foreign one.
struct factor {
    std::string name;                       // of the asset or the currency
    const markets::asset* asset = nullptr;  // none: an exchange rate
    const markets::curve* carry = nullptr;  // discount curve of the asset's or the foreign currency
    drivers moves_with;
    std::unique_ptr<models::walk> walk;  // of an asset
    std::vector<own_factor> others;      // of its model
    drivers quanto;  // of the rate that turns the asset's currency into the trade's; empty: the same currency
    double start = 0;                 // exchange rate today
    std::size_t rates = do_not_move;  // of the asset's or the foreign currency
    bool has_cash_dividends = false;  // that shift the asset
    bool falls = false;               // by cash dividends, as a whole
    std::uint32_t state = 0;
    bool watched = false;  // a bridge was asked for: the value before the step is kept
    std::uint32_t before = 0;
    std::uint32_t before_jumps = 0;  // of one that may jump
    std::uint32_t before_fall = 0;   // where a watched asset ends its step, a dividend of that day apart

    bool is_asset() const { return asset != nullptr; }
    coordinate moves_in() const { return walk ? walk->moves_in() : coordinate::logarithm; }
    bool is_logarithm() const { return moves_in() == coordinate::logarithm; }
};

// What makes a move: a factor's own noise, an own factor of its model that correlations name, or a noise of
// interest rates.
struct source {
    const factor* of = nullptr;  // none: interest rates
    bool is_own = false;
    const drivers* quanto = nullptr;
    drivers moves_with;
};

// Between two steps a watched path is taken for a bridge, as if rates went straight from one to the other. An
// asset that is sold when it has come down by 5 % is off by 1.2e-3 of its price with 2 steps a year, rates of
// 3 % volatility and a correlation of -0.8, and by nothing that a standard error of 2e-4 can see with 10 or
// with 50.
constexpr double watched_steps_per_year_of_rates = 50;

class joint_world final : public world {
  public:
    explicit joint_world(const request& from)
        : market_(from.market),
          trade_currency_(from.trade_currency),
          domestic_(market_.discount_curve(trade_currency_)) {
        domestic_rates_ = add_rates(trade_currency_);
        for (const auto& name : from.rate_currencies) add_rates(name);
        for (const auto& name : from.assets) add_asset(name);
        for (const auto& name : from.currencies) {
            if (name != trade_currency_) add_currency(name);
        }
        for (const factor& f : factors_) sources_.push_back({&f, true, &f.quanto, f.moves_with});
        for (const factor& f : factors_) {
            for (const own_factor& other : f.others) {
                const std::string name = f.name + "." + other.name;
                if (market_.has_correlations(name))
                    sources_.push_back({&f, false, &f.quanto, {{name, &one_}}});
            }
        }
        for (moving_rates& r : rates_) {
            r.first_source = sources_.size();
            for (const drivers& noise : r.noises) sources_.push_back({nullptr, false, &r.quanto, noise});
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
            const auto stop_every = [&](double longest) {
                const double steps = std::ceil((to - from) / longest);
                for (double k = 1; k < steps; ++k) times.push_back(from + (to - from) * (k / steps));
            };
            if (const double longest = f.walk->longest_watched_step(); longest > 0) stop_every(longest);
            if (f.rates != do_not_move) stop_every(1 / watched_steps_per_year_of_rates);
            add(f.asset->dividend_yield.pillars());
            for (const auto& d : f.asset->dividends) {
                if (d.years > from && d.years < to) times.push_back(d.years);
            }
        }
    }

    void add_breaks(double last, std::vector<double>& times) const override {
        for (const factor& f : factors_) {
            if (f.walk) f.walk->add_breaks(last, times);
            if (!f.falls) continue;
            for (const markets::dividend& d : f.asset->dividends) {
                if (!d.proportional && d.years <= last + dates::same_time_years) times.push_back(d.years);
            }
        }
        for (const moving_rates& r : rates_) r.walk->add_breaks(last, times);
    }

    double longest_step(std::span<const double> stops) const override {
        const bool is_by_itself = sources_.size() == 1 && sources_.front().quanto->empty();
        double longest = 0;
        const auto meet = [&](double here) {
            if (here > 0 && (longest == 0 || here < longest)) longest = here;
        };
        for (const factor& f : factors_) meet(f.walk ? f.walk->longest_step({stops, is_by_itself}) : 0);
        for (const moving_rates& r : rates_) meet(r.walk->longest_step(stops.back()));
        return longest;
    }

    std::vector<std::string> describe() const override {
        std::vector<std::string> out;
        for (const factor& f : factors_) {
            if (!f.is_asset()) continue;
            out.push_back(f.name + ": " + model_of(*f.asset).describe() + f.walk->detail());
            for (const std::string& remark : model_of(*f.asset).remarks())
                out.push_back(f.name + ": " + remark);
            for (const std::string& remark : f.walk->remarks()) out.push_back(f.name + ": " + remark);
        }
        for (const moving_rates& r : rates_) {
            out.push_back(r.currency + ": " + r.model->describe());
            for (const std::string& remark : r.model->remarks()) out.push_back(r.currency + ": " + remark);
        }
        return out;
    }

    std::vector<correlation_taken> correlations() const override {
        std::map<std::pair<std::string, std::string>, correlation_taken> taken;
        const auto add = [&](const drivers& some, const drivers& others) {
            for (const driver& a : some) {
                for (const driver& b : others) {
                    const auto pair = std::pair(std::min(a.name, b.name), std::max(a.name, b.name));
                    const bool follows =
                        (market_.own_factors.contains(a.name) || market_.own_factors.contains(b.name)) &&
                        !market_.correlations.contains(pair);
                    if (a.name == b.name || follows || taken.contains(pair)) continue;
                    taken[pair] = {pair.first, pair.second, market_.correlation(a.name, b.name),
                                   market_.states_correlation(a.name, b.name)};
                }
            }
        };
        for (const source& s : sources_) {
            for (const source& other : sources_) {
                add(s.moves_with, other.moves_with);
                if (&other == &s) break;
            }
            add(s.moves_with, *s.quanto);
        }
        std::vector<correlation_taken> out;
        for (auto& [pair, correlation] : taken) out.push_back(std::move(correlation));
        return out;
    }

    market_numbers numbers_at(std::span<const double> years) const override {
        market_numbers out;
        const auto add_currency_numbers = [&](const std::string& name) {
            if (std::ranges::find(out.currencies, name, &currency_numbers::name) != out.currencies.end())
                return;
            currency_numbers c;
            c.name = name;
            const markets::curve& of = market_.discount_curve(name);
            for (const double t : years) c.discounts.push_back(of.discount(t));
            if (const std::size_t moving = find_rates(name); moving != do_not_move) {
                c.model = rates_[moving].model->describe();
                c.parameters = market_.rate_parameters.find(name)->second;
            }
            out.currencies.push_back(std::move(c));
        };
        const auto add_rates_of = [&](const drivers& some) {
            for (const driver& d : some) {
                const auto pair = std::ranges::find_if(
                    market_.fx, [&](const markets::fx_rate& r) { return r.base + r.quote == d.name; });
                const bool is_known =
                    std::ranges::find(out.exchange_rates, d.name, &exchange_rate_numbers::pair) !=
                    out.exchange_rates.end();
                if (pair == market_.fx.end() || is_known) continue;
                exchange_rate_numbers x{d.name, pair->rate, {}, {}};
                const markets::curve &base = market_.discount_curve(pair->base),
                                     &quote = market_.discount_curve(pair->quote);
                for (const double t : years) {
                    x.forwards.push_back(pair->rate * base.discount(t) / quote.discount(t));
                    x.volatilities.push_back(kernels::sqrt(d.vol->total_variance(t) / t));
                }
                out.exchange_rates.push_back(std::move(x));
            }
        };
        add_currency_numbers(trade_currency_);
        for (const factor& f : factors_) {
            add_currency_numbers(f.is_asset() ? f.asset->currency : f.name);
            if (f.is_asset()) {
                out.assets.push_back(numbers_of(f, years));
            } else {
                add_rates_of(f.moves_with);
            }
            add_rates_of(f.quanto);
        }
        for (const moving_rates& r : rates_) {
            add_currency_numbers(r.currency);
            add_rates_of(r.quanto);
        }
        return out;
    }

    void begin(std::vector<double> grid, recorder& into) override {
        grid_ = std::move(grid);
        into_ = &into;
        for (std::size_t i = 0; i < factors_.size(); ++i) {
            factors_[i].state = into.state("x" + std::to_string(i), factors_[i].is_logarithm() ? 0.0 : 1.0);
            if (!factors_[i].walk) continue;
            step_of_factor of(*this, i, {});
            factors_[i].walk->begin(of);
        }
        for (moving_rates& r : rates_) {
            step_of_rates of(*this, r, {});
            r.walk->begin(of);
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
        const std::size_t rates = factors_[i].rates;
        if (!factors_[i].quanto.empty()) {
            expect_lognormal(factors_[i], "the forward price");
            expect_still_rates(factors_[i], "the forward price");
        }
        if (rates != do_not_move) return forward_under_moving_rates(i, years, named);
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
        expect_lognormal(f, "the value of an option");
        expect_still_rates(f, "the value of an option");
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

    value bond(const std::string& currency, std::span<const double> years,
               const std::string& named) override {
        if (const std::size_t moving = find_rates(currency); moving != do_not_move) {
            step_of_rates of(*this, rates_[moving], {});
            return rates_[moving].walk->bond(of, years, named);
        }
        const markets::curve& of = market_.discount_curve(currency);
        return row("bond " + currency + " " + named, 0, [&](const occurrence& o) {
            return of.discount(years[place_of(o)]) / of.discount(o.years);
        });
    }

    double discount(const std::string& currency, double years) const override {
        return market_.discount_curve(currency).discount(years);
    }

    bool has_random_rates(const std::string& currency) const override {
        return find_rates(currency) != do_not_move;
    }

    value discount_on_path(const std::string& currency, interval_end at) override {
        const bool at_start = at == interval_end::start;
        const markets::curve& of = market_.discount_curve(currency);
        const value expected =
            row((at_start ? "discount_start " : "discount_end ") + currency, 0,
                [&](const occurrence& o) { return of.discount(at_start ? o.start_years : o.years); });
        const std::size_t moving = find_rates(currency);
        if (moving == do_not_move) return expected;
        moving_rates& r = rates_[moving];
        if (!at_start) return expected * exp(-growth_of(r));
        if (!r.is_watched) {
            r.is_watched = true;
            r.before = into_->state(currency + "_growth_before", 0.0);
        }
        return expected * exp(-into_->read(r.before));
    }

    // log(level - shift) is a Brownian motion between grid times: scale is log-linear there, because a
    // watched path stops at every pillar. Where it is level - shift itself, scale is taken to be linear.
    bridge path_between(const std::string& asset) override {
        const std::size_t i = find(asset, true);
        factor& f = factors_[i];
        if (!f.watched) {
            f.watched = true;
            f.before = into_->state("x" + std::to_string(i) + "_before", 0.0);
            if (f.falls) f.before_fall = into_->state("x" + std::to_string(i) + "_before_fall", 0.0);
            if (f.walk && f.walk->jumps())
                f.before_jumps = into_->state("x" + std::to_string(i) + "_before_jumps", 0.0);
        }
        if (!f.is_logarithm()) return level_between(i);
        const value scale_at_start = row("log_scale_start", i, [&](const occurrence& o) {
            return kernels::log(map_of(f, o.start_years).scale);
        });
        const value start = into_->read(f.before) + scale_at_start;
        const value end = grown(f, into_->read(f.falls ? f.before_fall : f.state)) +
                          row("log_scale_end", i, [&](const occurrence& o) {
                              return kernels::log(map_of(f, o.years, true).scale);
                          });
        const value variance = row(row_names::variance, i, [&](const occurrence& o) {
            return covariance(f.moves_with, f.moves_with, o.start_years, o.years);
        });
        if (!f.walk) return {start, end, variance};
        step_of_factor of(*this, i, {});
        const bridge path{start, end, f.walk->variance_between(of, variance)};
        if (!f.walk->jumps()) return path;
        return {path.start, path.end, path.variance, into_->read(f.before_jumps) + scale_at_start};
    }

    value to_coordinate(const std::string& asset, value level, interval_end at) override {
        const std::size_t i = find(asset, true);
        // A level at or below the dividends to come is never reached from above: its coordinate is far away.
        constexpr double far_below = 1e-300, far_below_zero = -1e15;
        if (factors_[i].moves_in() == coordinate::level) return level - shift(i, at);
        if (factors_[i].moves_in() == coordinate::level_from_zero) {
            const value over_shift = level - shift(i, at);
            return select(over_shift < into_->constant(0.0), into_->constant(far_below_zero), over_shift);
        }
        return log(max(level - shift(i, at), far_below));
    }

    value from_coordinate(const std::string& asset, value at) override {
        const std::size_t i = find(asset, true);
        switch (factors_[i].moves_in()) {
            case coordinate::logarithm:
                break;
            case coordinate::level:
                return at + shift(i, interval_end::end);
            case coordinate::level_from_zero:
                return max(at, 0.0) + shift(i, interval_end::end);
        }
        return exp(at) + shift(i, interval_end::end);
    }

    value mean_price(const std::string& asset, double fraction, value mean, value variance) override {
        const std::size_t i = find(asset, true);
        const factor& f = factors_[i];
        value price = mean;
        if (f.moves_in() == coordinate::logarithm) price = exp(fma(0.5, variance, mean));
        if (f.moves_in() == coordinate::level_from_zero) price = max(mean, 0.0);
        if (!f.has_cash_dividends) return price;
        return price + row("shift_at " + std::to_string(fraction), i, [&](const occurrence& o) {
                   return map_of(f, o.start_years + fraction * (o.years - o.start_years)).shift;
               });
    }

    void record_step() override {
        const std::size_t n = factors_.size(), all = sources_.size();
        std::vector<value> shocks;
        for (std::size_t i = 0; i < all; ++i) shocks.push_back(into_->normal());
        const auto roots = step_roots();
        shares_noise_.assign(all, false);
        for (const auto& root : roots) {
            for (std::size_t i = 0; i < all; ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    if (root[i * all + j] != 0) shares_noise_[i] = shares_noise_[j] = true;
                }
            }
        }
        std::vector<value> moves;
        for (std::size_t i = 0; i < all; ++i) {
            std::vector<value> root;
            for (std::size_t j = 0; j <= i; ++j) root.push_back(root_row(roots, i, j));
            moves.push_back(correlated_move(drift_of(i), shocks, root));
        }
        std::vector<value> next;
        for (std::size_t i = 0; i < n; ++i) {
            const value x = into_->read(factors_[i].state);
            value start = x;
            if (factors_[i].walk) {
                step_of_factor of(*this, i, moves, shocks[i]);
                const moved to = factors_[i].walk->record(of, x);
                next.push_back(to.x);
                if (to.start.valid()) start = to.start;
            } else {
                next.push_back(x + moves[i]);
            }
            if (factors_[i].watched) {
                into_->write(factors_[i].before, grown(factors_[i], start));
                if (factors_[i].walk && factors_[i].walk->jumps())
                    into_->write(factors_[i].before_jumps, grown(factors_[i], x));
            }
            if (!factors_[i].falls) continue;
            if (factors_[i].watched) into_->write(factors_[i].before_fall, next[i]);
            next[i] = fallen(i, next[i]);
        }
        for (moving_rates& r : rates_) {
            step_of_rates of(*this, r, moves);
            if (r.is_watched) into_->write(r.before, growth_of(r));
            r.walk->record(of);
        }
        for (std::size_t i = 0; i < n; ++i) into_->write(factors_[i].state, next[i]);
    }

  private:
    // A step of one factor, or, in a section that follows steps, its intervals.
    class step_of_factor final : public step {
      public:
        // `shock` is the factor's own of the standard normals that moves are made of.
        step_of_factor(joint_world& of, std::size_t number, std::span<const value> moves, value shock = {})
            : world_(of), number_(number), moves_(moves), shock_(shock) {}

        recorder& into() const override { return *world_.into_; }
        std::span<const double> grid() const override { return world_.grid_; }
        value own() const override { return moves_[number_]; }
        value other(std::size_t k) override {
            const auto [at, is_new] = others_.try_emplace(k);
            if (is_new) at->second = world_.other_move(number_, k, moves_);
            return at->second;
        }
        apart noise_apart(std::size_t k) override {
            // Where nobody else shares them, two independent normals are all there is to it.
            if (world_.is_by_itself(number_, k)) return {into().normal(), shock_};
            const by_term& rho = world_.factors_[number_].others[k].correlation;
            const std::string name = "_apart_" + std::to_string(k);
            const value per_root =
                row("per_root", [](double from, double to) { return 1 / kernels::sqrt(to - from); });
            const value shared = row("shared" + name, [&](double from, double) { return -rho.from(from); });
            const value unshared = row("unshared" + name, [&](double from, double to) {
                constexpr double least = 1e-12;
                const double of_own = rho.from(from);
                return 1 / kernels::sqrt(std::max(1 - of_own * of_own, least) * (to - from));
            });
            return {per_root * other(k), unshared * fma(shared, other(k), own())};
        }
        value row(std::string_view name, const std::function<double(double, double)>& number) override {
            if (!moves_.empty()) return world_.step_row(name, number_, number);
            return world_.row(name, number_,
                              [&](const occurrence& o) { return number(o.start_years, o.years); });
        }
        std::uint32_t state(std::string_view name, double initial) override {
            return into().state("x" + std::to_string(number_) + "_" + std::string(name), initial);
        }

      private:
        joint_world& world_;
        std::size_t number_;
        std::span<const value> moves_;
        value shock_;
        std::map<std::size_t, value> others_;  // made so far: each has a shock of its own
    };

    class step_of_rates final : public rate_step {
      public:
        step_of_rates(joint_world& of, const moving_rates& rates, std::span<const value> moves)
            : world_(of), rates_(rates), moves_(moves) {}

        recorder& into() const override { return *world_.into_; }
        std::span<const double> grid() const override { return world_.grid_; }
        value noise(std::size_t number) const override { return moves_[rates_.first_source + number]; }
        value row(std::string_view name, const std::function<double(double, double)>& number) override {
            const std::string of_currency = row_names::of_currency(rates_.currency, name);
            if (!moves_.empty()) return world_.step_row(of_currency, 0, number);
            return world_.row(of_currency, 0,
                              [&](const occurrence& o) { return number(o.start_years, o.years); });
        }
        std::uint32_t state(std::string_view name, double initial) override {
            return into().state(rates_.currency + "_" + std::string(name), initial);
        }

      private:
        joint_world& world_;
        const moving_rates& rates_;
        std::span<const value> moves_;
    };

    // The place of a currency's rates, which are added when first asked for.
    std::size_t add_rates(const std::string& currency) {
        if (const std::size_t known = find_rates(currency); known != do_not_move) return known;
        const auto moved_by = market_.rate_models.find(currency);
        if (moved_by == market_.rate_models.end()) return do_not_move;
        moving_rates r;
        r.currency = currency;
        r.today = &market_.discount_curve(currency);
        r.model = moved_by->second.get();
        r.walk = r.model->start(*r.today);
        if (currency != trade_currency_) {
            r.quanto = drivers_of_rate(
                currency, "the trade depends on the moving rates of '" + currency + "' and is worth");
        }
        const std::vector<own_factor> names = r.model->factors();
        for (const auto& sum : r.walk->noises()) {
            drivers noise;
            for (const rate_noise& n : sum)
                noise.push_back({currency + "." + names[n.factor].name, n.scale, 1, n.by});
            r.noises.push_back(std::move(noise));
        }
        rates_.push_back(std::move(r));
        return rates_.size() - 1;
    }

    std::size_t find_rates(const std::string& currency) const {
        const auto at = std::ranges::find(rates_, currency, &moving_rates::currency);
        return at == rates_.end() ? do_not_move : static_cast<std::size_t>(at - rates_.begin());
    }

    value growth_of(const moving_rates& r) {
        step_of_rates of(*this, r, {});
        return r.walk->log_growth(of);
    }

    // What a factor carries with what the numeraires of its currencies have grown.
    value grown(const factor& f, value x) {
        const auto by = [&](value growth) { return f.is_logarithm() ? x + growth : x * exp(growth); };
        if (!f.is_asset() && domestic_rates_ != do_not_move) x = by(growth_of(rates_[domestic_rates_]));
        if (f.rates == do_not_move) return x;
        const value growth = growth_of(rates_[f.rates]);
        return f.is_asset() ? by(growth) : by(-growth);
    }

    asset_numbers numbers_of(const factor& f, std::span<const double> years) const {
        const markets::asset& a = *f.asset;
        asset_numbers out;
        out.name = f.name;
        out.currency = a.currency;
        out.model = model_of(a).describe() + f.walk->detail();
        out.spot = a.spot;
        out.parameters = a.model_parameters;
        out.falls_by_dividends = f.falls;
        for (const markets::dividend& d : a.dividends) {
            if (years.empty() || d.years > years.back() + dates::same_time_years) break;
            out.dividends.push_back({d.years, d.amount, d.proportional});
        }
        const bool rates_move = f.rates != do_not_move || domestic_rates_ != do_not_move;
        const bool has_known_mean = f.walk->why_not_lognormal().empty() && !rates_move;
        for (const double t : years) {
            out.forwards.push_back(markets::forward(a, *f.carry, t));
            if (!f.quanto.empty())
                out.quanto_forwards.push_back(has_known_mean ? std::optional(quanto_forward(f, t))
                                                             : std::nullopt);
            std::optional<double> implied;
            if (f.rates == do_not_move && t > 0)
                implied = a.vol ? kernels::sqrt(a.vol->total_variance(t) / t)
                                : model_of(a).implied_volatility(t, 0);
            out.volatilities.push_back(implied);
        }
        return out;
    }

    double quanto_forward(const factor& f, double years) const {
        const auto drifted = [&](double from) {
            return kernels::exp(-covariance(f.moves_with, f.quanto, from, years));
        };
        const affine map = map_of(f, years);
        double left = drifted(0);
        if (f.falls) {
            double last = 0;
            for (const markets::dividend& d : f.asset->dividends) {
                if (d.years > years + dates::same_time_years) break;
                left -= markets::cash_fall(*f.asset, *f.carry, last, d.years) * drifted(d.years);
                last = d.years;
            }
        }
        return map.scale * left + map.shift;
    }

    void add_asset(const std::string& name) {
        const markets::asset& a = market_.find_asset(name);
        factor f;
        f.name = name;
        f.asset = &a;
        f.carry = &market_.discount_curve(a.currency);
        f.walk = model_of(a).start(a, *f.carry);
        f.others = model_of(a).own_factors();
        f.moves_with = {{name, &f.walk->scale()}};
        const bool pays_cash = std::any_of(a.dividends.begin(), a.dividends.end(),
                                           [](const auto& d) { return !d.proportional; });
        f.falls = pays_cash && a.falls_by_dividends;
        f.has_cash_dividends = pays_cash && !f.falls;
        f.rates = add_rates(a.currency);
        if (f.rates != do_not_move && pays_cash) {
            throw error(error_kind::input,
                        "asset '" + name + "' pays cash dividends, and the rates of " + a.currency +
                            ", which say what they are worth, move by a model; expected proportional "
                            "dividends or a dividend_yield",
                        a.where);
        }
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
        f.rates = add_rates(name);
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
        for (const occurrence& o : runs_) {
            if (numbers.size() % program::recorder::most_between_polls == 0) into_->poll();
            numbers.push_back(number(o));
        }
        return into_->row(row_names::numbered(name, i), numbers);
    }

    template <class F>
    value step_row(std::string_view name, std::size_t i, const F& number) {
        std::vector<double> numbers;
        for (std::size_t s = 0; s + 1 < grid_.size(); ++s) {
            if (s % program::recorder::most_between_polls == 0) into_->poll();
            numbers.push_back(number(grid_[s], grid_[s + 1]));
        }
        return into_->row(row_names::numbered(name, i), numbers);
    }

    // The logarithm that is left once the cash dividends of the step's end are paid.
    value fallen(std::size_t i, value x) {
        constexpr double nothing_left = 1e-30;  // also a number in single
        const factor& f = factors_[i];
        const value fall = step_row("fall", i, [&](double from, double to) {
            return markets::cash_fall(*f.asset, *f.carry, from, to);
        });
        return select(fall > into_->constant(0.0), log(max(exp(x) - fall, nothing_left)), x);
    }

    value level(std::size_t i) {
        const factor& f = factors_[i];
        const value moved =
            row("scale", i, [&](const occurrence& o) { return map_of(f, o.years).scale; }) * risen(f);
        return f.has_cash_dividends ? moved + shift(i, interval_end::end, false) : moved;
    }

    // The martingale itself, and what it is with what numeraires have grown.
    value martingale(const factor& f) {
        const value x = into_->read(f.state);
        return f.is_logarithm() ? exp(x) : x;
    }
    value risen(const factor& f) {
        const value x = grown(f, into_->read(f.state));
        return f.is_logarithm() ? exp(x) : x;
    }

    bridge level_between(std::size_t i) {
        const factor& f = factors_[i];
        const value at_start =
            row("scale_start", i, [&](const occurrence& o) { return map_of(f, o.start_years).scale; });
        const value at_end =
            row("scale_end", i, [&](const occurrence& o) { return map_of(f, o.years, true).scale; });
        const value scaled = row(row_names::variance, i, [&](const occurrence& o) {
            return covariance(f.moves_with, f.moves_with, o.start_years, o.years);
        });
        step_of_factor of(*this, i, {});
        const value start = at_start * into_->read(f.before), end = at_end * grown(f, into_->read(f.state));
        value of_scale = at_start * at_end;
        if (f.rates != do_not_move) of_scale = of_scale * exp(2.0 * growth_of(rates_[f.rates]));
        return {start, end, of_scale * f.walk->variance_between(of, scaled)};
    }

    std::size_t place_of(const occurrence& o) const { return static_cast<std::size_t>(&o - runs_.data()); }

    // Forward prices seen from the date at hand: their random part and that of the dividends.
    struct affine_values {
        value grown, shift;
    };
    // The mean of the martingale to come is what it is now but for the quanto drift until then.
    affine_values ahead_of(std::size_t i, std::span<const double> years, const std::string& named) {
        const factor& f = factors_[i];
        const value scale = row("scale_ahead " + named, i, [&](const occurrence& o) {
            const double until = years[place_of(o)];
            expect_no_fall(f, o.years, until);
            return map_of(f, until).scale * kernels::exp(-covariance(f.moves_with, f.quanto, o.years, until));
        });
        const value grown = scale * martingale(f);
        if (!f.has_cash_dividends) return {grown, into_->constant(0.0)};
        return {grown, row("shift_ahead " + named, i,
                           [&](const occurrence& o) { return map_of(f, years[place_of(o)]).shift; })};
    }

    // What the spot buys until then in bonds: exact for any model, in the asset's own currency.
    value forward_under_moving_rates(std::size_t i, std::span<const double> years, const std::string& named) {
        const factor& f = factors_[i];
        const value until = row("scale_ahead " + named, i,
                                [&](const occurrence& o) { return map_of(f, years[place_of(o)]).scale; });
        const value as_expected = row("bond_expected " + named, i, [&](const occurrence& o) {
            return f.carry->discount(years[place_of(o)]) / f.carry->discount(o.years);
        });
        const value now = until * risen(f);
        return now * (as_expected / bond(f.asset->currency, years, named));
    }

    void expect_still_rates(const factor& f, const std::string& what) const {
        for (const std::size_t moving : {domestic_rates_, f.rates}) {
            if (moving == do_not_move) continue;
            throw error(error_kind::input,
                        what + " on '" + f.name + "' in " + trade_currency_ +
                            " is not known ahead while the rates of " + rates_[moving].currency +
                            " move by a model; expected a market without one for them",
                        rates_[moving].model->where());
        }
    }

    // A path with less left than a dividend pays less, so that the mean is not known from the spot alone.
    static void expect_no_fall(const factor& f, double from, double to) {
        if (!f.falls || markets::cash_fall(*f.asset, *f.carry, from, to) == 0) return;
        throw error(
            error_kind::input,
            "what '" + f.name +
                "' is worth ahead is not known while it falls by a cash dividend on the way; expected "
                "dividend_model: escrowed, or no cash dividend between the two dates",
            f.asset->where);
    }

    void expect_lognormal(const factor& f, const std::string& what) const {
        if (!f.walk) return;
        const std::string why = f.walk->why_not_lognormal();
        if (why.empty()) return;
        throw error(error_kind::input, what + " on '" + f.name + "' in " + trade_currency_ + " " + why,
                    f.walk->where());
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
                       models::covariance(*x.vol, x.by, *y.vol, y.by, from, to);
            }
        }
        return sum;
    }

    double half_variance(const factor& f, double from, double to) const {
        return -0.5 * covariance(f.moves_with, f.moves_with, from, to);
    }

    // The part of a source's move that is no noise.
    value drift_of(std::size_t i) {
        const source& s = sources_[i];
        return step_row(row_names::drift, i, [&](double from, double to) {
            const double own = !s.is_own    ? 0
                               : s.of->walk ? s.of->walk->drift(from, to)
                                            : half_variance(*s.of, from, to);
            return own - covariance(s.moves_with, *s.quanto, from, to);
        });
    }

    std::optional<std::size_t> source_of_other(std::size_t i, std::size_t k) const {
        const std::string name = factors_[i].name + "." + factors_[i].others[k].name;
        for (std::size_t s = factors_.size(); s < sources_.size(); ++s) {
            if (sources_[s].moves_with.front().name == name) return s;
        }
        return std::nullopt;
    }

    // Whether a factor and own factor k of its model share noise with each other alone, without a drift.
    bool is_by_itself(std::size_t i, std::size_t k) const {
        return !shares_noise_[i] && factors_[i].quanto.empty() && !source_of_other(i, k);
    }

    // Own factor k of a factor's model. One that correlations do not name has noise of its own beside what it
    // shares with the factor, so that it agrees with any correlations of the others.
    value other_move(std::size_t i, std::size_t k, std::span<const value> moves) {
        if (const auto named = source_of_other(i, k)) return moves[*named];
        const own_factor& other = factors_[i].others[k];
        const value fresh = step_row(other.name + "_noise", i, [&](double from, double to) {
            const double shared = other.correlation.from(from);
            return kernels::sqrt(std::max(0.0, 1 - shared * shared)) * kernels::sqrt(to - from);
        });
        const value shared = step_row(other.name + "_correlation", i,
                                      [&](double from, double) { return other.correlation.from(from); });
        return fma(shared, moves[i], fresh * into_->normal());
    }

    // For each step the triangular root of the covariance of all factors over it, row by row.
    std::vector<std::vector<double>> step_roots() const {
        const std::size_t n = sources_.size();
        std::vector<std::vector<double>> out;
        for (std::size_t s = 0; s + 1 < grid_.size(); ++s) {
            std::vector<double> c(n * n), root(n * n, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    c[i * n + j] =
                        covariance(sources_[i].moves_with, sources_[j].moves_with, grid_[s], grid_[s + 1]);
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
        for (const auto& root : roots) numbers.push_back(root[i * sources_.size() + j]);
        return into_->row(row_names::element_of_covariance_root(i, j), numbers);
    }

    const markets::market_state& market_;
    std::string trade_currency_;
    const markets::curve& domestic_;
    const volatility one_ = volatility::flat(1);
    std::vector<factor> factors_;
    std::vector<moving_rates> rates_;
    std::size_t domestic_rates_ = do_not_move;
    std::vector<source> sources_;     // first the factors' own
    std::vector<bool> shares_noise_;  // with another source, by source; from the step on
    std::vector<double> grid_;
    recorder* into_ = nullptr;
    std::span<const occurrence> runs_;
};

}  // namespace

std::unique_ptr<world> make_world(const request& from) {
    return std::make_unique<joint_world>(from);
}

}  // namespace tilewalk::models
