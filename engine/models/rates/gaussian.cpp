// SPDX-License-Identifier: Apache-2.0
// Factors and their integrals have covariances in closed form on each piece of constant volatility, so bonds
// are lognormal. A swap is a sum of exponentials of one factor. Its coefficients change sign at most once in
// the order of payments, so it has at most one zero (Descartes), and an option on it is a sum of options on
// its payments (Jamshidian). With two factors, the second is fixed, and integrated over at the end.
#include "engine/models/rates/gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "engine/numerics/gauss_kronrod.h"
#include "tilewalk/error.h"

namespace tilewalk::rates {
namespace {

using analytics::right;
using two = std::array<double, 2>;

void check(const gaussian_rates& model) {
    for (const factor& f : model.factors) {
        if (!(f.mean_reversion >= 0) || !std::isfinite(f.mean_reversion)) {
            throw error(error_kind::input,
                        fmt::format("the mean reversion is {}; expected 0 or more", f.mean_reversion));
        }
        for (const double v : f.volatility.values) {
            if (!(v >= 0) || !std::isfinite(v)) {
                throw error(error_kind::input, fmt::format("the volatility is {}; expected 0 or more", v));
            }
        }
    }
    if (!(std::abs(model.correlation) <= 1)) {
        throw error(error_kind::input,
                    fmt::format("the correlation is {}; expected between -1 and 1", model.correlation));
    }
}

void need_order(const char* first, double earlier, const char* second, double later) {
    if (earlier >= 0 && later >= earlier && std::isfinite(later)) return;
    throw error(error_kind::input, fmt::format("{} is {} and {} is {}; expected 0 <= {} <= {}", first,
                                               earlier, second, later, first, second));
}

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// The integral of exp(-k u) over u from 0 to h.
double decayed(double k, double h) {
    const double x = k * h;
    return x == 0 ? h : -std::expm1(-x) / k;
}

// The integral of u exp(-x u) over u from 0 to 1.
double first_moment(double x) {
    if (x > 1) return (1 - (1 + x) * std::exp(-x)) / (x * x);
    double term = 1, sum = 0;
    for (int n = 0; n < 25; ++n) {
        sum += term / (n + 2);
        term *= -x / (n + 1);
    }
    return sum;
}

// Integral of exp(-a u) decayed(b, u) from 0 to h; by slopes, where a divided difference would cancel.
double decayed_twice(double a, double b, double h) {
    if (b * h > 0.1 && b > a / 16) return (decayed(a, h) - decayed(a + b, h)) / b;
    return h * h *
           analytics::gauss_kronrod([&](double share) { return first_moment((a + share * b) * h); }, 0, 1)
               .value;
}

// Covariances of factors, and covariances of factor i with the time integral of factor j, at one time.
struct covariances {
    std::array<two, 2> covariance{}, with_integral{};
};

covariances covariances_at(const gaussian_rates& model, double years) {
    std::vector<double> edges{years};
    for (const factor& f : model.factors) f.volatility.add_breaks(years, edges);
    std::ranges::sort(edges);
    covariances now;
    double from = 0;
    for (const double to : edges) {
        if (!(to > from)) continue;
        const double h = to - from;
        const covariances before = now;
        // Taken in the middle of the piece, since a pillar belongs to the piece before it.
        const two volatility{model.factors[0].volatility.from(0.5 * (from + to)),
                             model.factors[1].volatility.from(0.5 * (from + to))};
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::size_t j = 0; j < 2; ++j) {
                const double a = model.factors[i].mean_reversion, b = model.factors[j].mean_reversion,
                             noise = volatility[i] * volatility[j] * (i == j ? 1 : model.correlation);
                now.covariance[i][j] =
                    before.covariance[i][j] * std::exp(-(a + b) * h) + noise * decayed(a + b, h);
                now.with_integral[i][j] = std::exp(-a * h) * (before.with_integral[i][j] +
                                                              before.covariance[i][j] * decayed(b, h)) +
                                          noise * decayed_twice(a, b, h);
            }
        }
        from = to;
    }
    return now;
}

double quadratic(const std::array<two, 2>& covariance, const two& b) {
    return b[0] * b[0] * covariance[0][0] + 2 * b[0] * b[1] * covariance[0][1] +
           b[1] * b[1] * covariance[1][1];
}

// Minus the derivatives of a log bond price with respect to the factors.
two durations(const gaussian_rates& model, double years) {
    return {decayed(model.factors[0].mean_reversion, years), decayed(model.factors[1].mean_reversion, years)};
}

// A payment worth amount forward exp(-deviation z - deviation^2 / 2) with a standard normal z, in bonds that
// mature at the start of the swap; deviations increase with time.
struct lognormal_payment {
    double amount = 0, forward = 0, deviation = 0;
};

// 1 minus the value of the payments, and its slope in z; both have a common scale against overflow.
struct excess {
    double value = 0, slope = 0;
};
excess excess_at(const std::vector<lognormal_payment>& payments, double z) {
    const auto exponent = [z](const lognormal_payment& p) { return -p.deviation * (z + 0.5 * p.deviation); };
    double unit = 0;
    for (const lognormal_payment& p : payments) unit = std::max(unit, exponent(p));
    excess sum{std::exp(-unit), 0};
    for (const lognormal_payment& p : payments) {
        const double part = p.amount * p.forward * std::exp(exponent(p) - unit);
        sum.value -= part;
        sum.slope += p.deviation * part;
    }
    return sum;
}

// Mean of the positive part of 1 minus the payments (call), or of the payments minus 1 (put). For any strike,
// 1 minus the payments increases through its only zero: its coefficients change sign at most once from the 1
// to the last payment, and without a change they all have the sign of the 1.
double exercised(right option, const std::vector<lognormal_payment>& payments) {
    const double sign = option == right::call ? 1 : -1;
    double mean = 1, largest = 0;
    for (const lognormal_payment& p : payments) {
        mean -= p.amount * p.forward;
        largest = std::max(largest, p.deviation);
    }
    if (!(largest > 0)) return std::max(sign * mean, 0.0);
    // Beyond these bounds no payment has value in its own measure.
    double low = -40 - largest, high = 40, zero = 0;
    if (excess_at(payments, low).value > 0) return option == right::call ? mean : 0;
    if (!(excess_at(payments, high).value > 0)) return option == right::put ? -mean : 0;
    while (true) {
        const excess here = excess_at(payments, zero);
        (here.value > 0 ? high : low) = zero;
        double next = zero - here.value / here.slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        // The payoff is 0 at its zero, so that an error of the zero counts squared.
        if (std::abs(next - zero) <= 1e-10 || !(low < next && next < high)) break;
        zero = next;
    }
    double sum = normal_cdf(-sign * zero);
    for (const lognormal_payment& p : payments) {
        sum -= p.amount * p.forward * normal_cdf(-sign * (zero + p.deviation));
    }
    return std::max(sign * sum, 0.0);
}

void check(const swap_terms& swap) {
    if (swap.payments.empty() || swap.payments.size() != swap.accruals.size()) {
        throw error(
            error_kind::input,
            fmt::format("found {} payments with {} accruals; expected at least one and as many of each",
                        swap.payments.size(), swap.accruals.size()));
    }
    double before = swap.start;
    for (const double t : swap.payments) {
        need_order("a payment or the start of the swap", before, "the next payment", t);
        before = t;
    }
    for (const double accrual : swap.accruals) {
        if (accrual >= 0 && std::isfinite(accrual)) continue;
        throw error(error_kind::input, fmt::format("an accrual is {}; expected 0 or more", accrual));
    }
}

// A swap at the expiry of a swaption, given one of two factors: payments are lognormal in the other factor.
class conditional_swap {
  public:
    conditional_swap(const gaussian_rates& model, const markets::curve& curve, double expiry,
                     const swap_terms& swap, double strike)
        : payments_(swap.payments.size()), shifts_(swap.payments.size()) {
        const std::array<two, 2> covariance = covariances_at(model, expiry).covariance;
        const two to_start = durations(model, swap.start - expiry);
        const std::size_t n = payments_.size();
        // Minus the derivatives of log bond prices with respect to the factors, less those of the bond that
        // matures at the swap's start.
        std::vector<two> sensitivities(n);
        for (std::size_t k = 0; k < n; ++k) {
            const two b = durations(model, swap.payments[k] - expiry);
            sensitivities[k] = {b[0] - to_start[0], b[1] - to_start[1]};
            payments_[k].amount = strike * swap.accruals[k] + (k + 1 == n ? 1 : 0);
            payments_[k].forward =
                std::exp(curve.log_discount(swap.payments[k]) - curve.log_discount(swap.start));
        }

        // The given factor is the factor that moves the swap less.
        const two last = sensitivities.back();
        const std::size_t inner = last[0] * last[0] * covariance[0][0] >= last[1] * last[1] * covariance[1][1]
                                      ? 0
                                      : 1,
                          outer = 1 - inner;
        given_ = std::sqrt(covariance[outer][outer]);
        const double along = given_ > 0 ? covariance[0][1] / given_ : 0,
                     left = std::sqrt(std::max(covariance[inner][inner] - along * along, 0.0));
        for (std::size_t k = 0; k < n; ++k) {
            shifts_[k] = sensitivities[k][outer] * given_ + sensitivities[k][inner] * along;
            payments_[k].deviation = sensitivities[k][inner] * left;
        }
    }

    bool has_one_factor() const { return !(given_ > 0); }

    std::vector<lognormal_payment> from(double z) const {
        std::vector<lognormal_payment> seen = payments_;
        if (has_one_factor()) return seen;
        for (std::size_t k = 0; k < seen.size(); ++k) {
            seen[k].forward *= std::exp(-shifts_[k] * (z + 0.5 * shifts_[k]));
        }
        return seen;
    }

    // Panels of the integral over z. If the other factor has little variance, the integrand turns sharply at
    // zeros of the swap: panels end there, and where the turn is over.
    std::vector<double> panels() const {
        const auto [least, most] = std::ranges::minmax(shifts_);
        const double first = -9 - std::max(most, 0.0), end = 9 - std::min(least, 0.0);
        std::vector<double> edges{first, end};
        constexpr int looks = 64;
        for (int i = 0; i < looks; ++i) {
            double low = first + (end - first) * i / looks, high = first + (end - first) * (i + 1) / looks;
            const bool rises = excess_from(high) > 0;
            if ((excess_from(low) > 0) == rises) continue;
            for (double middle = 0.5 * (low + high); low < middle && middle < high;
                 middle = 0.5 * (low + high)) {
                ((excess_from(middle) > 0) == rises ? high : low) = middle;
            }
            const double width = width_of_turn(low);
            for (const double widths : {-9.0, -3.0, 0.0, 3.0, 9.0}) {
                const double edge = low + widths * width;
                if (edge > first && edge < end) edges.push_back(edge);
            }
        }
        std::ranges::sort(edges);
        return edges;
    }

  private:
    double excess_from(double z) const { return excess_at(from(z), 0).value; }

    // Standard deviation of the other factor's effect at a zero of the swap, in units of z.
    double width_of_turn(double zero) const {
        double open = 0, moved = 0;
        const std::vector<lognormal_payment> there = from(zero);
        for (std::size_t k = 0; k < there.size(); ++k) {
            open += there[k].amount * there[k].forward * there[k].deviation;
            moved += there[k].amount * there[k].forward * shifts_[k];
        }
        return std::abs(open / moved);
    }

    std::vector<lognormal_payment> payments_;  // values at the mean of the given factor
    std::vector<double> shifts_;               // moves of logarithms by a deviation of the given factor
    double given_ = 0;                         // the deviation of that factor
};

}  // namespace

gaussian_rates hull_white(double mean_reversion, models::by_term volatility) {
    return {{factor{mean_reversion, std::move(volatility)}, factor{0, models::by_term::flat(0)}}, 0};
}

gaussian_rates g2(double a, double sigma, double b, double eta, double rho) {
    return {{factor{a, models::by_term::flat(sigma)}, factor{b, models::by_term::flat(eta)}}, rho};
}

factor_law law_at(const gaussian_rates& model, double years) {
    check(model);
    need_order("today", 0, "the time", years);
    const covariances at = covariances_at(model, years);
    factor_law law;
    for (std::size_t i = 0; i < 2; ++i) {
        law.mean[i] = -(at.with_integral[i][0] + at.with_integral[i][1]);
        law.deviation[i] = std::sqrt(at.covariance[i][i]);
    }
    if (law.deviation[0] > 0 && law.deviation[1] > 0) {
        law.correlation = std::clamp(at.covariance[0][1] / (law.deviation[0] * law.deviation[1]), -1.0, 1.0);
    }
    return law;
}

double bond(const gaussian_rates& model, const markets::curve& curve, double years, double maturity,
            const std::array<double, 2>& x) {
    check(model);
    need_order("the time", years, "the maturity", maturity);
    const covariances at = covariances_at(model, years);
    const two b = durations(model, maturity - years);
    double exponent =
        curve.log_discount(maturity) - curve.log_discount(years) - 0.5 * quadratic(at.covariance, b);
    for (std::size_t i = 0; i < 2; ++i) {
        exponent -= b[i] * (x[i] + at.with_integral[i][0] + at.with_integral[i][1]);
    }
    return std::exp(exponent);
}

double bond_option(right option, const gaussian_rates& model, const markets::curve& curve, double expiry,
                   double maturity, double strike) {
    check(model);
    need_order("the expiry", expiry, "the maturity", maturity);
    const double forward = std::exp(curve.log_discount(maturity) - curve.log_discount(expiry));
    const covariances at = covariances_at(model, expiry);
    return curve.discount(expiry) *
           analytics::black_price(
               option, forward, strike,
               std::sqrt(std::max(quadratic(at.covariance, durations(model, maturity - expiry)), 0.0)));
}

double caplet(right option, const gaussian_rates& model, const markets::curve& curve, const period& fixed,
              double strike) {
    // A call on the rate above `strike` is a put on `growth` bonds, struck at 1.
    const double growth = 1 + fixed.accrual * strike;
    if (!(growth > 0)) {
        need_order("the start", fixed.start, "the end", fixed.end);
        return option == right::call ? curve.discount(fixed.start) - growth * curve.discount(fixed.end) : 0;
    }
    return growth * bond_option(option == right::call ? right::put : right::call, model, curve, fixed.start,
                                fixed.end, 1 / growth);
}

double cap(right option, const gaussian_rates& model, const markets::curve& curve,
           std::span<const period> periods, double strike) {
    double sum = 0;
    for (const period& p : periods) sum += caplet(option, model, curve, p, strike);
    return sum;
}

double annuity(const markets::curve& curve, const swap_terms& swap) {
    check(swap);
    double sum = 0;
    for (std::size_t i = 0; i < swap.payments.size(); ++i) {
        sum += swap.accruals[i] * curve.discount(swap.payments[i]);
    }
    return sum;
}

double swap_rate(const markets::curve& curve, const swap_terms& swap) {
    const double fixed = annuity(curve, swap);
    return (curve.discount(swap.start) - curve.discount(swap.payments.back())) / fixed;
}

double swaption(right option, const gaussian_rates& model, const markets::curve& curve, double expiry,
                const swap_terms& swap, double strike) {
    check(model);
    check(swap);
    need_order("the expiry", expiry, "the start of the swap", swap.start);
    const conditional_swap seen(model, curve, expiry, swap, strike);
    const double unit = curve.discount(swap.start);
    if (seen.has_one_factor()) return unit * exercised(option, seen.from(0));

    const auto integrand = [&](double z) { return std::exp(-0.5 * z * z) * exercised(option, seen.from(z)); };
    const std::vector<double> edges = seen.panels();
    long evaluations = 200000;
    double sum = 0, off = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const auto panel = analytics::integrate(integrand, edges[i], edges[i + 1], 1e-14, evaluations);
        sum += panel.value;
        off += panel.error;
    }
    if (!(off <= 1e-9 * std::max(1.0, sum))) {
        throw error(
            error_kind::input,
            fmt::format("the value of the swaption is known to {} only; expected smaller volatilities", off));
    }
    return unit * sum * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
}

double futures_convexity(const gaussian_rates& model, double start, double end) {
    check(model);
    need_order("the start", start, "the end", end);
    const covariances at = covariances_at(model, start);
    const two b = durations(model, end - start);
    const double years = end - start;
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const double share = years > 0 ? b[i] / years : 1;
        sum += share * (at.with_integral[i][0] + at.with_integral[i][1]);
        for (std::size_t j = 0; j < 2; ++j) sum += share * b[j] * at.covariance[i][j];
    }
    return sum;
}

}  // namespace tilewalk::rates
