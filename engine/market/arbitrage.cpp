// SPDX-License-Identifier: Apache-2.0
// Checks quotes by call prices; between them and for SVI, butterflies by Gatheral's g, calendars by variance.
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
constexpr double quoted_deviations = 4;  // an SVI smile counts as quoted up to here
constexpr double highest_volatility = 10;
constexpr int even_points = 400;    // spread evenly over the checked log-moneyness
constexpr int points_between = 16;  // points between two neighbouring quotes
constexpr double price_rounding = 1e-13;
constexpr double variance_rounding = 1e-12;
constexpr double ratio_rounding = 1e-9;

double call_price(double log_moneyness, double volatility, double years) {
    const double deviation = volatility * std::sqrt(years);
    const double d1 = -log_moneyness / deviation + deviation / 2;
    return kernels::norm_cdf(d1) - kernels::exp(log_moneyness) * kernels::norm_cdf(d1 - deviation);
}

// A quoted call: its strike and its price, both as fractions of the forward.
struct call {
    double strike = 0, price = 1;
    const quote* at = nullptr;  // null for the call with strike 0
};

std::vector<call> calls_of(const expiry& e) {
    std::vector<call> calls(1);
    for (const quote& q : e.quotes) {
        calls.push_back(
            {kernels::exp(q.log_moneyness), call_price(q.log_moneyness, q.volatility, e.years), &q});
    }
    return calls;
}

bool exceeds(double price, double bound, double strike) {
    return price - bound > price_rounding * std::max(1.0, strike);
}

double chord(const call& a, const call& b, double strike) {
    return a.price + (b.price - a.price) * ((strike - a.strike) / (b.strike - a.strike));
}

// The highest price without arbitrage of a call at `strike`, given the quoted calls. Prices fall and are
// convex in the strike, so they lie on or below the chord between the two neighbouring quotes.
double most_price(const std::vector<call>& calls, double strike) {
    if (strike >= calls.back().strike) return calls.back().price;
    const auto above = std::upper_bound(calls.begin(), calls.end(), strike,
                                        [](double k, const call& c) { return k < c.strike; });
    return chord(*(above - 1), *above, strike);
}

// The lowest price without arbitrage of a call at `strike`: by convexity, prices lie on or above the chord
// through any two neighbouring quotes, extended to the left and right of them.
double least_price(const std::vector<call>& calls, double strike) {
    const double rounding = 1e-12 * strike;
    double least = std::max(1 - strike, 0.0);
    for (std::size_t i = 0; i + 1 < calls.size(); ++i) {
        const call &left = calls[i], &right = calls[i + 1];
        if (std::abs(right.strike - strike) <= rounding) return right.price;
        if (right.strike < strike || left.strike > strike)
            least = std::max(least, chord(left, right, strike));
    }
    return least;
}

struct spot_check {
    double x = 0;
    const expiry* of = nullptr;  // expiry of the quote at x; null if there is none
    const quote* at = nullptr;
};

class search {
  public:
    explicit search(const implied_surface& surface) : surface_(surface) {}

    std::vector<arbitrage> all() {
        const std::vector<expiry>& expiries = surface_.expiries();
        for (std::size_t i = 0; i < expiries.size(); ++i) {
            // Arbitrage in the quotes shows in every interpolation of them, so it is not searched for there.
            if (!butterflies_in_quotes(expiries[i])) butterflies(expiries[i]);
            if (i + 1 == expiries.size()) break;
            butterflies_between(expiries[i], expiries[i + 1]);
            if (!calendar_in_quotes(expiries[i], expiries[i + 1])) calendar(expiries[i], expiries[i + 1]);
        }
        return std::move(found_);
    }

  private:
    bool is_svi() const { return surface_.form() == implied_surface::written_by::svi; }

    // Returns such as "the strike 100". A quote's strike is spelt as in the file.
    std::string named(const expiry& e, const spot_check& point) const {
        if (point.at) return named(*point.at);
        if (is_svi()) return "the log-moneyness " + rounded(point.x);
        const bool by_strike = surface_.form() == implied_surface::written_by::strike;
        return (by_strike ? "the strike " : "the moneyness ") + rounded(e.forward * kernels::exp(point.x));
    }

    // The points to check, sorted by log-moneyness: the quotes of both expiries, points between quotes, and
    // evenly spaced points. At equal log-moneyness the quote of `next` comes before that of `e`.
    std::vector<spot_check> places(const expiry& e, const expiry* next) const {
        const expiry& last = next ? *next : e;
        auto [low, high] = surface_.reach(last.years, checked_deviations);
        std::vector<spot_check> points;
        for (const expiry* of : {next, &e}) {
            if (!of) continue;
            for (std::size_t i = 0; i < of->quotes.size(); ++i) {
                const double x = of->quotes[i].log_moneyness;
                points.push_back({x, of, &of->quotes[i]});
                if (i + 1 == of->quotes.size()) break;
                const double width = of->quotes[i + 1].log_moneyness - x;
                for (int k = 1; k < points_between; ++k)
                    points.push_back({x + width * k / points_between, nullptr, nullptr});
            }
            if (of->quotes.empty()) continue;
            low = std::min(low, of->quotes.front().log_moneyness);
            high = std::max(high, of->quotes.back().log_moneyness);
        }
        for (int k = 0; k <= even_points; ++k)
            points.push_back({low + (high - low) * k / even_points, nullptr, nullptr});
        std::stable_sort(points.begin(), points.end(),
                         [](const spot_check& a, const spot_check& b) { return a.x < b.x; });
        return points;
    }

    // An SVI smile has no quotes; its points near the money count as quoted. False for smiles with quotes.
    bool is_quoted(const expiry& e, double x) const {
        return is_svi() &&
               std::abs(x) <= quoted_deviations * std::sqrt(std::max(e.variance.at(x).variance, 0.0));
    }

    // For each run of neighbouring points with a positive `size_at`, calls `say` with the worst point, its
    // size, and whether any point of the run is in_quotes.
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
            // Within a run, a point in the quotes is reported rather than a worse one beyond them.
            if (!worst || (of_quotes && !worst_in_quotes) ||
                (of_quotes == worst_in_quotes && size > worst->second)) {
                worst = std::pair(point, size);
            }
            worst_in_quotes = worst_in_quotes || of_quotes;
        }
        end();
    }

    std::string named(const quote& q) const {
        const bool by_strike = surface_.form() == implied_surface::written_by::strike;
        return (by_strike ? "the strike " : "the moneyness ") + q.written;
    }

    // Reports a quoted call priced beyond `bound`. The message names the quotes that imply the bound
    // (`whose`) and the volatility that meets it.
    void report_price(arbitrage::violation what, const expiry& e, const quote& q, double price, double bound,
                      const std::string& whose) {
        const bool too_dear = price > bound;
        const double intrinsic = std::max(1 - kernels::exp(q.log_moneyness), 0.0);
        std::string expected = "; no volatility is low enough for that";
        if (bound > intrinsic) {
            double low = 0, high = highest_volatility;
            for (int k = 0; k < 100; ++k) {
                const double middle = (low + high) / 2;
                (call_price(q.log_moneyness, middle, e.years) < bound ? low : high) = middle;
            }
            expected = std::string("; expected a volatility of at ") + (too_dear ? "most " : "least ") +
                       rounded(low);
        }
        const std::string kind = what == arbitrage::violation::butterfly ? "butterfly" : "calendar";
        found_.push_back({what, true, e.years, q.log_moneyness, std::abs(price - bound), q.where, q.key_path,
                          kind + " arbitrage at " + named(q) + " of " + e.written + ": with the volatility " +
                              rounded(q.volatility) + " the call costs " + rounded(price) +
                              " of the forward, " + (too_dear ? "more" : "less") + " than the " +
                              rounded(bound) + " that " + whose + " allow" + expected});
    }

    bool butterflies_in_quotes(const expiry& e) {
        const std::vector<call> calls = calls_of(e);
        const std::size_t before = found_.size();
        for (std::size_t i = 1; i < calls.size(); ++i) {
            const bool last = i + 1 == calls.size();
            // The last call costs no more than the one before it, any other no more than its neighbours'
            // chord.
            const double most =
                last ? calls[i - 1].price : chord(calls[i - 1], calls[i + 1], calls[i].strike);
            if (!exceeds(calls[i].price, most, calls[i].strike)) continue;
            const std::string left = calls[i - 1].at ? calls[i - 1].at->written : "0";
            report_price(
                arbitrage::violation::butterfly, e, *calls[i].at, calls[i].price, most,
                last ? "the quotes to " + left : "those at " + left + " and " + calls[i + 1].at->written);
        }
        return found_.size() > before;
    }

    // Per unit of forward, a later call costs no less than an earlier call of the same moneyness.
    bool calendar_in_quotes(const expiry& first, const expiry& second) {
        const std::vector<call> early = calls_of(first), late = calls_of(second);
        const std::size_t before = found_.size();
        for (const call& c : late) {
            const double least = c.at ? least_price(early, c.strike) : 0;
            if (!exceeds(least, c.price, c.strike)) continue;
            report_price(arbitrage::violation::calendar, second, *c.at, c.price, least,
                         "the quotes of " + first.written);
        }
        for (const call& c : early) {
            // Skip a moneyness that both expiries quote: the first loop checked it.
            const bool is_seen = std::any_of(late.begin(), late.end(), [&](const call& other) {
                return std::abs(other.strike - c.strike) <= 1e-12 * c.strike;
            });
            if (is_seen) continue;
            const double most = most_price(late, c.strike);
            if (!exceeds(c.price, most, c.strike)) continue;
            report_price(arbitrage::violation::calendar, first, *c.at, c.price, most,
                         "the quotes of " + second.written);
        }
        return found_.size() > before;
    }

    void butterflies(const expiry& e) {
        runs(
            places(e, nullptr),
            [&](const spot_check& p) { return -ratio_rounding - density_ratio(e.variance.at(p.x), p.x); },
            [&](const spot_check& p) { return is_quoted(e, p.x); },
            [&](const spot_check& p, double size, bool in_quotes) {
                const smile_point w = e.variance.at(p.x);
                report(arbitrage::violation::butterfly, in_quotes, e, p, size + ratio_rounding,
                       "butterfly arbitrage at " + named(e, p) + " of " + e.written +
                           negative_density(w, p.x) + (in_quotes ? "" : of_interpolation()));
            });
    }

    std::string of_interpolation() const {
        return std::string(is_svi() ? ", far from the money" : ", by the interpolation alone") +
               "; the local volatility is bounded there";
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
                report(arbitrage::violation::butterfly, false, second, {p.x, nullptr, nullptr},
                       size + ratio_rounding,
                       "butterfly arbitrage at " + where + " halfway from " + first.written + " to " +
                           second.written + negative_density(surface_.total_variance(middle, p.x).at, p.x) +
                           of_interpolation());
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
            [&](const spot_check& p) { return is_quoted(first, p.x) && is_quoted(second, p.x); },
            [&](const spot_check& p, double, bool in_quotes) {
                const expiry& named_by = p.of ? *p.of : second;
                const double before = variance(first, p.x), after = variance(second, p.x);
                report(
                    arbitrage::violation::calendar, in_quotes, second, p, before - after,
                    "calendar arbitrage at " + named(named_by, p) + " of " + named_by.written +
                        ": the total variance falls from " + rounded(before) + " at " + first.written +
                        " to " + rounded(after) + " at " + second.written +
                        (in_quotes ? "; expected a volatility of at least " +
                                         rounded(std::sqrt(before / second.years)) + " at " + second.written
                                   : of_interpolation()));
            });
    }

    void report(arbitrage::violation what, bool in_quotes, const expiry& e, const spot_check& p, double size,
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
