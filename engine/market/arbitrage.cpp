// SPDX-License-Identifier: Apache-2.0
// Butterflies by call prices at the quotes and by Gatheral's g between them, calendar spreads by total
// variance at constant moneyness.
#include "engine/market/arbitrage.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "engine/market/wording.h"
#include "kernels/exponential.h"
#include "kernels/normal_distribution.h"

namespace tilewalk::markets {
namespace {

constexpr double checked_deviations = 6;
constexpr double quoted_deviations = 4;  // of SVI
constexpr int even_points = 400;         // over all that is checked
constexpr int points_between = 16;       // two neighbouring quotes
// What rounding makes of prices, of variances and of g.
constexpr double price_rounding = 1e-13;
constexpr double variance_rounding = 1e-12;
constexpr double ratio_rounding = 1e-9;

// Of a call, where the forward is 1.
double call_price(double log_moneyness, double volatility, double years) {
    const double deviation = volatility * std::sqrt(years);
    const double d1 = -log_moneyness / deviation + deviation / 2;
    return kernels::norm_cdf(d1) - kernels::exp(log_moneyness) * kernels::norm_cdf(d1 - deviation);
}

// A place where something is looked for.
struct spot_check {
    double x = 0;
    const expiry* of = nullptr;  // whose quote stands there, if one does
    const quote* at = nullptr;   // that quote
    bool quoted = false;         // between quotes, or as good as that for SVI
};

class search {
  public:
    explicit search(const implied_surface& surface) : surface_(surface) {}

    std::vector<arbitrage> all() {
        const std::vector<expiry>& expiries = surface_.expiries();
        for (std::size_t i = 0; i < expiries.size(); ++i) {
            convexity(expiries[i]);
            butterflies(expiries[i]);
            if (i + 1 == expiries.size()) break;
            butterflies_between(expiries[i], expiries[i + 1]);
            calendar(expiries[i], expiries[i + 1]);
        }
        return std::move(found_);
    }

  private:
    bool is_svi() const { return surface_.form() == implied_surface::written_by::svi; }

    // "the strike 100", of a quote as written.
    std::string named(const expiry& e, const spot_check& point) const {
        if (is_svi()) return "the log-moneyness " + rounded(point.x);
        const bool by_strike = surface_.form() == implied_surface::written_by::strike;
        return std::string(by_strike ? "the strike " : "the moneyness ") +
               (point.at ? point.at->written : rounded(e.forward * kernels::exp(point.x)));
    }

    // In order, with the quotes of both expiries if there are two; where they meet, the later one's is first.
    std::vector<spot_check> places(const expiry& e, const expiry* next) const {
        const expiry& last = next ? *next : e;
        auto [low, high] = surface_.reach(last.years, checked_deviations);
        std::vector<spot_check> points;
        for (const expiry* of : {next, &e}) {
            if (!of) continue;
            for (std::size_t i = 0; i < of->quotes.size(); ++i) {
                const double x = of->quotes[i].log_moneyness;
                points.push_back({x, of, &of->quotes[i], false});
                if (i + 1 == of->quotes.size()) break;
                const double width = of->quotes[i + 1].log_moneyness - x;
                for (int k = 1; k < points_between; ++k)
                    points.push_back({x + width * k / points_between, nullptr, nullptr, false});
            }
            if (of->quotes.empty()) continue;
            low = std::min(low, of->quotes.front().log_moneyness);
            high = std::max(high, of->quotes.back().log_moneyness);
        }
        for (int k = 0; k <= even_points; ++k)
            points.push_back({low + (high - low) * k / even_points, nullptr, nullptr, false});
        for (spot_check& point : points) point.quoted = is_quoted(e, point.x) && is_quoted(last, point.x);
        std::stable_sort(points.begin(), points.end(),
                         [](const spot_check& a, const spot_check& b) { return a.x < b.x; });
        return points;
    }

    bool is_quoted(const expiry& e, double x) const {
        if (is_svi()) {
            return std::abs(x) <= quoted_deviations * std::sqrt(std::max(e.variance.at(x).variance, 0.0));
        }
        // The logarithms of one moneyness under two forwards differ by rounding.
        const double rounding = 1e-12;
        return x >= e.variance.first_quote() - rounding && x <= e.variance.last_quote() + rounding;
    }

    // Runs of points where `size_at` is positive, each by its worst: in_quotes if any of its points is.
    template <class SizeAt, class InQuotes, class Say>
    void runs(const std::vector<spot_check>& points, SizeAt size_at, InQuotes in_quotes, Say say) {
        std::optional<std::pair<spot_check, double>> worst;
        bool worst_in_quotes = false;
        const auto end = [&] {
            if (worst) say(worst->first, worst->second, worst_in_quotes);
            worst.reset();
            worst_in_quotes = false;
        };
        for (const spot_check& point : points) {
            const double size = size_at(point);
            if (!(size > 0)) {
                end();
                continue;
            }
            const bool of_quotes = in_quotes(point);
            // A quote that is wrong is named rather than a worse point beside it.
            if (!worst || (of_quotes && !worst_in_quotes) ||
                (of_quotes == worst_in_quotes && size > worst->second)) {
                worst = std::pair(point, size);
            }
            worst_in_quotes = worst_in_quotes || of_quotes;
        }
        end();
    }

    // Call prices of the quotes alone.
    void convexity(const expiry& e) {
        struct call {
            double strike, price;
        };
        const auto strike_of = [&](const quote& q) {
            return surface_.form() == implied_surface::written_by::strike ? "the strike " + q.written
                                                                          : "the moneyness " + q.written;
        };
        std::vector<call> calls{{0, 1}};
        for (const quote& q : e.quotes) {
            calls.push_back(
                {kernels::exp(q.log_moneyness), call_price(q.log_moneyness, q.volatility, e.years)});
        }
        for (std::size_t i = 1; i < calls.size(); ++i) {
            const quote& q = e.quotes[i - 1];
            const call &before = calls[i - 1], &here = calls[i];
            const bool last = i + 1 == calls.size();
            // The last call costs at most what the one before costs, every other what its neighbours allow.
            const double allowed = last ? before.price
                                        : before.price + (calls[i + 1].price - before.price) *
                                                             (here.strike - before.strike) /
                                                             (calls[i + 1].strike - before.strike);
            const double size = here.price - allowed;
            if (!(size > price_rounding * std::max(1.0, here.strike))) continue;
            const std::string neighbours = last ? "the one at " + e.quotes[i - 2].written + " costs"
                                                : "those at " + (i == 1 ? "0" : e.quotes[i - 2].written) +
                                                      " and " + e.quotes[i].written + " allow";
            found_.push_back(
                {arbitrage::kind::butterfly, true, e.years, q.log_moneyness, size, q.where, q.key_path,
                 "butterfly arbitrage at " + strike_of(q) + " of " + e.written + ": with the volatility " +
                     rounded(q.volatility) + " the call costs " + rounded(here.price * e.forward) +
                     ", more than the " + rounded(allowed * e.forward) + " that " + neighbours +
                     at_most(e, q, allowed)});
        }
    }

    // The volatility at which a call has this price, in words.
    static std::string at_most(const expiry& e, const quote& q, double price) {
        if (!(price > std::max(1 - kernels::exp(q.log_moneyness), 0.0))) {
            return "; no volatility is low enough there, expected higher ones beside it";
        }
        double low = 0, high = q.volatility;
        for (int k = 0; k < 100; ++k) {
            const double middle = (low + high) / 2;
            (call_price(q.log_moneyness, middle, e.years) < price ? low : high) = middle;
        }
        return "; expected a volatility of at most " + rounded(low);
    }

    void butterflies(const expiry& e) {
        runs(
            places(e, nullptr),
            [&](const spot_check& p) { return -ratio_rounding - density_ratio(e.variance.at(p.x), p.x); },
            [&](const spot_check& p) { return is_svi() && p.quoted; },
            [&](const spot_check& p, double size, bool in_quotes) {
                const smile_point w = e.variance.at(p.x);
                report(arbitrage::kind::butterfly, in_quotes, e, p, size + ratio_rounding,
                       "butterfly arbitrage at " + named(e, p) + " of " + e.written +
                           negative_density(w, p.x) +
                           (in_quotes ? "" : ", by the interpolation between quotes or beyond them"));
            });
    }

    static std::string negative_density(const smile_point& w, double x) {
        if (!(w.variance > 0)) return ": the total variance is " + rounded(w.variance);
        return ": the density is " + rounded(density_ratio(w, x)) + " times a lognormal one";
    }

    void butterflies_between(const expiry& first, const expiry& second) {
        const double middle = first.years + (second.years - first.years) / 2;
        const auto size_at = [&](const spot_check& p) {
            const smile_point w0 = first.variance.at(p.x), w1 = second.variance.at(p.x);
            const bool ends_are_sound = density_ratio(w0, p.x) >= 0 && density_ratio(w1, p.x) >= 0;
            const smile_point w = surface_.total_variance(middle, p.x).at;
            return ends_are_sound ? -ratio_rounding - density_ratio(w, p.x) : 0;
        };
        runs(
            places(first, &second), size_at, [](const spot_check&) { return false; },
            [&](const spot_check& p, double size, bool) {
                const std::string where = is_svi() ? "the log-moneyness " + rounded(p.x)
                                                   : "the moneyness " + rounded(kernels::exp(p.x));
                report(arbitrage::kind::butterfly, false, second, {p.x, nullptr, nullptr, false},
                       size + ratio_rounding,
                       "butterfly arbitrage at " + where + " halfway from " + first.written + " to " +
                           second.written + negative_density(surface_.total_variance(middle, p.x).at, p.x) +
                           ", by the interpolation in time");
                found_.back().years = middle;
            });
    }

    void calendar(const expiry& first, const expiry& second) {
        const auto variance = [](const expiry& e, double x) { return e.variance.at(x).variance; };
        runs(
            places(first, &second),
            [&](const spot_check& p) {
                const double before = variance(first, p.x);
                return before - variance(second, p.x) - variance_rounding * std::abs(before);
            },
            [&](const spot_check& p) { return p.quoted && (is_svi() || p.at); },
            [&](const spot_check& p, double, bool in_quotes) {
                const expiry& named_by = p.of ? *p.of : second;
                const double before = variance(first, p.x), after = variance(second, p.x);
                report(
                    arbitrage::kind::calendar, in_quotes, second, p, before - after,
                    "calendar arbitrage at " + named(named_by, p) + " of " + named_by.written +
                        ": the total variance falls from " + rounded(before) + " at " + first.written +
                        " to " + rounded(after) + " at " + second.written +
                        (in_quotes ? "; expected a volatility of at least " +
                                         rounded(std::sqrt(before / second.years)) + " at " + second.written
                                   : ", by the interpolation between quotes or beyond them"));
            });
    }

    void report(arbitrage::kind what, bool in_quotes, const expiry& e, const spot_check& p, double size,
                std::string message) {
        found_.push_back({what, in_quotes, e.years, p.x, size, p.at ? p.at->where : e.where,
                          p.at ? p.at->key_path : e.key_path, std::move(message)});
    }

    const implied_surface& surface_;
    std::vector<arbitrage> found_;
};

}  // namespace

std::vector<arbitrage> find_arbitrage(const implied_surface& surface) {
    return search(surface).all();
}

}  // namespace tilewalk::markets
