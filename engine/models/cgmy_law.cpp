// SPDX-License-Identifier: Apache-2.0
// With k(z) = log E exp(z X) for the sum X of a step's jumps, compensated or not,
//
//     P(X > x) = 1 / (2 pi i)  integral of  exp(k(z) - z x) / z dz
//
// along a line that crosses the real axis between 0 and M, and -P(X < x) along a line that crosses it between
// -G and 0. The crossing is near the saddle point of the integrand, so that a probability of 1e-17 is as
// accurate as a probability of one half. The line is bent into a branch of a hyperbola towards the side of x,
// as seen from the centre (centre_of()): exp(-z x) then decays even if exp(k) hardly does, and the trapezoid
// rule in z(v) = a + b (sin(tilt) cosh v + i cos(tilt) sinh v) converges exponentially (Boyarchenko and
// Levendorskii 2019). exp(k) is analytic except on the real axis beyond -G and M, so a strip of tilts is free
// of singularities.
#include "engine/models/cgmy_law.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/math.h"

namespace tilewalk::models {

namespace {

constexpr double pi = 0x1.921fb54442d18p+1;

// A complex number without library calls, whose fused multiply-adds are written out. With std::complex, GCC
// 12 would fuse or not depending on the machine.
struct complex {
    double re = 0, im = 0;
};
complex operator+(complex a, complex b) {
    return {a.re + b.re, a.im + b.im};
}
complex operator-(complex a, complex b) {
    return {a.re - b.re, a.im - b.im};
}
complex operator*(complex a, complex b) {
    return {kernels::fma(a.re, b.re, -(a.im * b.im)), kernels::fma(a.re, b.im, a.im * b.re)};
}
complex operator*(double a, complex b) {
    return {a * b.re, a * b.im};
}
double square_of(complex a) {
    return kernels::fma(a.re, a.re, a.im * a.im);
}
complex operator/(complex a, complex b) {
    const complex product = a * complex{b.re, -b.im};
    return (1 / square_of(b)) * product;
}
complex exp(complex a) {
    if (a.re < -750) return {};  // exp(a) is 0, and its angle may be too large to reduce
    const double size = kernels::exp(a.re);
    const auto turned = kernels::sincos(a.im);
    return {size * turned.cosine, size * turned.sine};
}

double angle(complex a) {
    if (a.im == 0) return a.re < 0 ? pi : 0;
    const double size = kernels::sqrt(square_of(a));
    double tangent = a.re > 0 ? a.im / (size + a.re) : (size - a.re) / a.im;
    for (int i = 0; i < 3; ++i) tangent = tangent / (1 + kernels::sqrt(1 + tangent * tangent));
    const double square = tangent * tangent;
    double sum = 0;
    for (int k = 12; k >= 0; --k) sum = 1.0 / (2 * k + 1) - square * sum;
    return 16 * tangent * sum;
}
complex log(complex a) {
    return {0.5 * kernels::log(square_of(a)), angle(a)};
}

// (1 - exp(-a)) / a
complex mean_exp(complex a) {
    if (square_of(a) < 0.25) {
        complex sum{};
        for (int k = 16; k >= 1; --k) sum = complex{1} - (1.0 / (k + 1)) * (a * sum);
        return sum;
    }
    return (complex{1} - exp(complex{} - a)) / a;
}

complex one_less_exp(complex a) {
    return square_of(a) < 0.25 ? a * mean_exp(a) : complex{1} - exp(complex{} - a);
}

double gamma_function(double s) {
    double below = 1;
    for (; s < 12; ++s) below *= s;
    const double one_over = 1 / s, square = one_over * one_over;
    const double tail =
        one_over *
        (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
    const double half_log_of_two_pi = 0x1.d67f1c864beb5p-1;
    return kernels::exp((s - 0.5) * kernels::log(s) - s + half_log_of_two_pi + tail) / below;
}

// [1 - Y u - (1 - u)^Y] / (Y (1 - Y)), which is u^2 / 2 for small u and has limits at Y = 0 and Y = 1.
complex bent(double y, complex u) {
    if (square_of(u) < 0.0625) {
        complex sum{1};
        for (int k = 28; k >= 1; --k) sum = complex{1} + ((k + 1 - y) / (k + 2)) * (u * sum);
        return 0.5 * (u * u * sum);
    }
    const complex left = complex{1} - u, l = log(left);
    if (y < 0.5) return (1 / (1 - y)) * (complex{} - u - l * mean_exp((-y) * l));
    return (1 / y) * (u + left * l * mean_exp((1 - y) * l));
}
// [1 - (1 - u)^Y] / Y, with its limit at Y = 0
complex power_less(double y, complex u) {
    if (square_of(u) < 0.0625) return (1 - y) * bent(y, u) + u;
    const complex l = log(complex{1} - u);
    return complex{} - l * mean_exp((-y) * l);
}

// log E exp(z X) for the jumps X of a year less their mean.
complex compensated(const cgmy_parameters& p, complex z) {
    const double scale = p.c * gamma_function(2 - p.y);
    return scale * (kernels::pow(p.m, p.y) * bent(p.y, (1 / p.m) * z) +
                    kernels::pow(p.g, p.y) * bent(p.y, (-1 / p.g) * z));
}

// Mean of a year's jumps, which compensation subtracts; analytic continuation where there is no mean.
double mean_of_jumps(const cgmy_parameters& p) {
    const complex up{kernels::log(p.m)}, down{kernels::log(p.g)};
    const double e = 1 - p.y;
    return p.c * gamma_function(2 - p.y) * (down * mean_exp(e * down) - up * mean_exp(e * up)).re;
}

struct tail {
    double probability = 0, density = 0;
    double error = 0;  // estimated error, relative to the probability
};

// If a probability is known to this absolute error, its complement is, too.
constexpr double fair = 1e-11;

// The law of a step's jumps on one side of a centre, as a function of the distance x from it.
class one_side {
  public:
    // `centre` is measured from the mean of the jumps.
    one_side(const cgmy_parameters& p, double years, double centre)
        : p_(p), centre_(centre), is_natural_(p.y < 0.5) {
        scale_ = years * p.c * gamma_function(is_natural_ ? 1 - p.y : 2 - p.y);
        curved_ = scale_ * (is_natural_ ? 1 - p.y : 1);
        up_ = scale_ * kernels::pow(p.m, p.y);
        down_ = scale_ * kernels::pow(p.g, p.y);
    }

    tail more_than(double x) { return tail_at(more_, x, 0, p_.m); }
    tail less_than(double x) { return tail_at(less_, x, -p_.g, 0); }

  private:
    struct node {
        complex z, exponent, weight, weight_over_z;
    };
    using contour = std::vector<node>;

    // Tilts at which the transform of a normal still decays.
    static constexpr double most_tilt = 0.36, strip = 0.36;
    static constexpr double digits = 35;  // the trapezoid rule is truncated at terms below exp(-digits)
    static constexpr double width = 2 * pi * strip / digits;
    static constexpr std::size_t most_nodes = 20'000, most_nodes_of_a_line = 500;

    // k(z) for jumps measured from the centre. Without a linear term in z, no digits are lost for large z.
    complex exponent(complex z) const {
        const complex up = (1 / p_.m) * z, down = (-1 / p_.g) * z;
        if (is_natural_) return up_ * power_less(p_.y, up) + down_ * power_less(p_.y, down);
        return up_ * bent(p_.y, up) + down_ * bent(p_.y, down) - centre_ * z;
    }
    double slope(double z) const {
        const double up = kernels::log(1 - z / p_.m), down = kernels::log(1 + z / p_.g), e = 1 - p_.y;
        if (is_natural_) {
            return up_ / p_.m * kernels::exp(-e * up) - down_ / p_.g * kernels::exp(-e * down);
        }
        const auto of = [&](double l) { return l * mean_exp(complex{e * l}).re; };
        return down_ / p_.g * of(down) - up_ / p_.m * of(up) - centre_;
    }

    double curvature(double z) const {
        const double e = p_.y - 2;
        return curved_ * (kernels::pow(p_.m - z, e) + kernels::pow(p_.g + z, e));
    }

    // Place where the line crosses the real axis: the one minimum of the integrand between the singularities
    // `low` and `high`. If jumps of size x are rare, the minimum is close to a singularity; the line then
    // keeps 1 / x away from it, within which the integrand changes little.
    double crossing(double x, double low, double high) const {
        double least = -35, most = 35;
        const auto place = [&](double v) { return low + (high - low) / (1 + kernels::exp(-v)); };
        for (int i = 0; i < 24; ++i) {
            const double v = 0.5 * (least + most), z = place(v);
            (slope(z) - x - 1 / z < 0 ? least : most) = v;
        }
        const double best = place(0.5 * (least + most)), off = std::min(0.5 * (high - low), 1 / x),
                     near = low == 0 ? std::min(best, high - off) : std::max(best, low + off);
        return exponent({near}).re < 1 ? near : best;
    }

    contour make_contour(double x, double low, double high, double tilt) const {
        const auto at = kernels::sincos(tilt);
        const double cross = crossing(x, low, high);
        // The strip of tilts ends before the singularities, and within the scale on which a normal of this
        // curvature decays.
        const double b =
            std::min(std::min(cross - low, high - cross) / (at.sine - kernels::sin(tilt - 1.1 * strip)),
                     5 / kernels::sqrt(curvature(cross) + 1 / (cross * cross)));
        const double a = cross - b * at.sine;
        // If x exceeds most small jumps, its probability is far below the integrand, which is mostly the
        // transform of "no jump" (exp(k) close to 1). This part has no mass beyond x and is left out.
        const bool without_none = tilt > 0 && low == 0 && kernels::abs(exponent({cross}).re) < 0.1;
        contour nodes;
        double largest = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < (tilt > 0 ? most_nodes : most_nodes_of_a_line); ++i) {
            const double grown = kernels::exp(width * static_cast<double>(i)), fallen = 1 / grown,
                         cosh = 0.5 * (grown + fallen), sinh = 0.5 * (grown - fallen);
            const complex z{a + b * at.sine * cosh, b * at.cosine * sinh};
            complex weight{b * at.sine * sinh * width / pi, b * at.cosine * cosh * width / pi};
            complex e = exponent(z), share{1};
            if (without_none) {
                const bool is_less = e.re < 0;
                share = is_less ? complex{} - one_less_exp(complex{} - e) : one_less_exp(e);
                if (is_less) e = {};
            }
            weight = weight * share;
            const double height = e.re - z.re * x + 0.5 * kernels::log(square_of(weight));
            nodes.push_back({z, e, weight, weight / z});
            largest = std::max(largest, height);
            if (height < largest - digits - 7) break;
        }
        nodes.front().weight = 0.5 * nodes.front().weight;
        nodes.front().weight_over_z = 0.5 * nodes.front().weight_over_z;
        return nodes;
    }

    tail sum(const contour& nodes, double x) const {
        double probability = 0, density = 0, even = 0, size = 0, last = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const node& n = nodes[i];
            const complex e = exp(n.exponent - x * n.z);
            const complex part = e * n.weight_over_z;
            probability += part.im;
            if (i % 2 == 0) even += 2 * part.im;
            density += (e * n.weight).im;
            last = kernels::sqrt(square_of(part));
            size += last;
        }
        if (probability == 0) return {};  // underflow
        // The error of the sum with half of the nodes is the square root of the error of the whole sum.
        const double missed = kernels::abs(even / probability - 1);
        const double error = missed * missed + (1e-15 * size + last) / kernels::abs(probability);
        return {kernels::abs(probability), density, error};
    }

    tail tail_at(contour& nodes, double x, double low, double high) {
        constexpr double good = 1e-12;
        if (!nodes.empty()) {
            const tail known = sum(nodes, x);
            if (known.error < good) return known;
        }
        nodes = make_contour(x, low, high, most_tilt);
        const tail bent = sum(nodes, x);
        if (bent.error * bent.probability < fair) return bent;
        // Small jumps without a finite sum spread the law across the centre: a straight line may be better.
        contour line = make_contour(x, low, high, 0);
        const tail straight = sum(line, x);
        if (!(straight.error < bent.error)) return bent;
        nodes = std::move(line);
        return straight;
    }

    cgmy_parameters p_;
    double centre_, scale_, curved_, up_, down_;
    bool is_natural_;
    contour more_, less_;
};

// The centre of the law, measured from its mean. If small jumps have a finite sum (Y < 1), it is X without
// jumps; else the slope of the transform's phase at the frequency where its size is 1 / e.
double centre_of(const cgmy_parameters& p, double years) {
    if (p.y < 1) return -years * mean_of_jumps(p);
    double low = -20, high = 100;
    const auto at = [&](double v) { return years * compensated(p, {0, kernels::exp(v)}); };
    for (int i = 0; i < 40; ++i) {
        const double v = 0.5 * (low + high);
        (at(v).re > -1 ? low : high) = v;
    }
    return at(low).im / kernels::exp(low);
}

double density_of_normal(double z) {
    constexpr double root_of_two_pi = 0x1.40d931ff62706p+1;
    return kernels::exp(-0.5 * z * z) / root_of_two_pi;
}

struct met {
    double z = 0, slope = 0;  // slope: dx / dz
    double error = 0;
};
// The normal z with the same probability as x. Uses the smaller tail if it is accurate enough, else the more
// accurate tail: far from the bulk of the law, a tail may be lost.
met meet(one_side& side, double x, bool is_below) {
    tail t = is_below ? side.less_than(x) : side.more_than(x);
    if (!(t.error * t.probability < fair)) {
        const tail other = is_below ? side.more_than(x) : side.less_than(x);
        if (!(t.error * t.probability <= other.error * other.probability)) {
            is_below = !is_below;
            t = other;
        }
    }
    const double z = kernels::norm_inv(std::min(t.probability, 1.0));
    return {is_below ? z : -z, density_of_normal(z) / t.density, t.error};
}

// Distances above `low` at which the distribution function equals that of each of `normals`, which increase.
// `first` is the first guess for the first distance.
std::vector<double> distances(one_side& side, const std::vector<double>& normals, double low, double first,
                              double& error) {
    constexpr int most_tries = 300;
    // With this error of z one more Newton step suffices, since it squares the error.
    constexpr double good = 1e-6;
    std::vector<double> out;
    double slope = 0, bend = 0;
    for (std::size_t i = 0; i < normals.size(); ++i) {
        const double z = normals[i], step = i > 0 ? z - normals[i - 1] : 0;
        double high = std::numeric_limits<double>::infinity();
        double x = std::max(low, i > 0 ? low + step * (slope + 0.5 * step * bend) : first);
        met at = meet(side, x, z < 0);
        for (int tries = 0; !(kernels::abs(z - at.z) < good) && tries < most_tries; ++tries) {
            (at.z < z ? low : high) = x;
            x += (z - at.z) * at.slope;
            if (!(x > low && x < high)) {
                x = high > 1e300      ? 2 * low + first
                    : high > 16 * low ? kernels::sqrt(low * high)
                                      : 0.5 * (low + high);
            }
            at = meet(side, x, z < 0);
        }
        const bool is_met = kernels::abs(z - at.z) < good && at.error < 1;
        error = std::max(error, (is_met ? at.error : 1) * kernels::norm_cdf(-kernels::abs(z)));
        low = std::max(low, x + (z - at.z) * at.slope);
        out.push_back(low);
        bend = i > 0 ? (at.slope - slope) / step : 0;
        slope = at.slope;
    }
    return out;
}

constexpr double end = 8.5;

// Mean of exp(x) for a standard normal z, with x piecewise linear in z, by five-point Gauss-Legendre.
double mean_of_exp(const std::vector<double>& x, double spacing) {
    constexpr std::array places{0.0, 0.5384693101056831, 0.9061798459386640};
    constexpr std::array weights{0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double sum = kernels::norm_cdf(-end) * (kernels::exp(x.front()) + kernels::exp(x.back()));
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
        const double middle = -end + (static_cast<double>(i) + 0.5) * spacing;
        for (std::size_t k = 0; k < places.size(); ++k) {
            for (const double side : {-1.0, 1.0}) {
                if (k == 0 && side > 0) continue;
                const double on = 0.5 * side * places[k];
                sum += 0.5 * spacing * weights[k] * density_of_normal(middle + on * spacing) *
                       kernels::exp(x[i] + (0.5 + on) * (x[i + 1] - x[i]));
            }
        }
    }
    return sum;
}

}  // namespace

double cgmy_variance(const cgmy_parameters& p) {
    return p.c * gamma_function(2 - p.y) * (kernels::pow(p.m, p.y - 2) + kernels::pow(p.g, p.y - 2));
}

double cgmy_gap(const cgmy_parameters& p) {
    return compensated(p, {1}).re;
}

cgmy_table make_cgmy_table(const cgmy_parameters& p, double years, std::size_t points) {
    const double deviation = kernels::sqrt(years * cgmy_variance(p)), nearest = 1e-13 * deviation,
                 centre = centre_of(p, years), drift = -years * cgmy_gap(p),
                 spacing = 2 * end / static_cast<double>(points - 1);
    cgmy_table out;
    std::vector<double> normals(points), x(points, drift + centre);
    for (std::size_t i = 0; i < points; ++i) normals[i] = -end + spacing * static_cast<double>(i);

    for (const double sign : {-1.0, 1.0}) {
        const cgmy_parameters seen = sign > 0 ? p : cgmy_parameters{p.c, p.m, p.g, p.y};
        one_side side(seen, years, sign * centre);
        const double first = meet(side, nearest, false).z;
        std::vector<double> beyond;
        for (std::size_t i = 0; i < points; ++i) {
            const double z = sign * normals[sign > 0 ? i : points - 1 - i];
            if (z > first) beyond.push_back(z);
        }
        const std::vector<double> at =
            distances(side, beyond, nearest, std::max(deviation, -sign * centre), out.inversion_error);
        for (std::size_t k = 0; k < at.size(); ++k) {
            const std::size_t i = points - at.size() + k;
            x[sign > 0 ? i : points - 1 - i] += sign * at[k];
        }
    }

    std::vector<double> lines = x;
    double off = 0, size = 0;
    for (std::size_t i = 1; i + 1 < points; ++i) {
        const double bend = (x[i + 1] - x[i]) - (x[i] - x[i - 1]), weight = density_of_normal(normals[i]);
        lines[i] -= bend / 12;
        // Mean error that remains between lines and law: a multiple of the second difference.
        off += weight * kernels::exp(x[i]) * 0.032 * kernels::abs(bend);
        size += weight * kernels::abs(kernels::exp(x[i]) - 1);
    }
    out.coarseness = off / size;
    out.moved = -kernels::log(mean_of_exp(lines, spacing));
    for (double& number : lines) number += out.moved;
    out.table = {-end, end, std::move(lines)};
    return out;
}

}  // namespace tilewalk::models
