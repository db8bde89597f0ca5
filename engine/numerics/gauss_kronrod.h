// SPDX-License-Identifier: Apache-2.0
// Gauss-Kronrod integration with 21 points, on one panel (interval) or adaptive. Not for priced paths.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace tilewalk::analytics {

// Nodes on [-1, 1], from the middle outwards; each stands for its mirror image, too. The ten points with a
// `gauss` weight are exact for polynomials up to degree 19, all 21 up to degree 31.
struct kronrod_node {
    double x = 0, kronrod = 0, gauss = 0;
};

inline constexpr std::array<kronrod_node, 11> kronrod_nodes{{
    {0, 0.149445554002916906, 0},
    {0.148874338981631211, 0.147739104901338491, 0.29552422471475287},
    {0.294392862701460198, 0.142775938577060081, 0},
    {0.433395394129247191, 0.134709217311473326, 0.269266719309996355},
    {0.562757134668604683, 0.123491976262065851, 0},
    {0.679409568299024406, 0.109387158802297642, 0.219086362515982044},
    {0.780817726586416897, 0.0931254545836976055, 0},
    {0.865063366688984511, 0.0750396748109199528, 0.149451349150580593},
    {0.930157491355708226, 0.054755896574351996, 0},
    {0.97390652851717172, 0.0325581623079647275, 0.0666713443086881376},
    {0.995657163025808081, 0.0116946388673718743, 0},
}};

// Gauss and Kronrod agree by accident where f oscillates: at a tolerance of a thousandth, in one panel of a
// thousand. The error therefore includes the coefficients of the last three polynomials that 21 points tell
// apart (orthonormal for Kronrod's weights, degrees 18 to 20).
using last_polynomials = std::array<double, 3>;

inline const std::array<last_polynomials, kronrod_nodes.size()>& kronrod_last_polynomials() {
    static const std::array<last_polynomials, kronrod_nodes.size()> all = [] {
        constexpr std::size_t points = kronrod_nodes.size();
        std::array<last_polynomials, points> made{};
        std::array<double, points> before{}, now{};
        double norm_before = 1;
        now.fill(1);
        for (int degree = 0;; ++degree) {
            double norm = 0;  // over both halves; the weights sum to two
            for (std::size_t i = 0; i < points; ++i) {
                norm += (i == 0 ? 0.5 : 1.0) * kronrod_nodes[i].kronrod * now[i] * now[i];
            }
            if (degree >= 18) {
                for (std::size_t i = 0; i < points; ++i) {
                    made[i][static_cast<std::size_t>(degree - 18)] = now[i] / std::sqrt(norm);
                }
            }
            if (degree == 20) return made;
            const double back = degree == 0 ? 0 : norm / norm_before;
            for (std::size_t i = 0; i < points; ++i) {
                const double next = kronrod_nodes[i].x * now[i] - back * before[i];
                before[i] = std::exchange(now[i], next);
            }
            norm_before = norm;
        }
    }();
    return all;
}

template <class number>
struct integral {
    number value{};
    double error = 0;  // at least |Gauss - Kronrod|, far more than Kronrod's own error
    double size = 0;   // integral of |f|, to bound rounding errors
};

template <class F>
auto gauss_kronrod(const F& f, double from, double to) {
    const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    using number = decltype(f(middle));
    number kronrod{}, gauss{};
    std::array<number, 3> last{};
    double size = 0;
    const auto& polynomials = kronrod_last_polynomials();
    for (std::size_t i = 0; i < kronrod_nodes.size(); ++i) {
        const kronrod_node& node = kronrod_nodes[i];
        const number right = f(middle + half * node.x),
                     left = node.x > 0 ? f(middle - half * node.x) : number{};
        const number even = right + left, odd = right - left;
        kronrod += node.kronrod * even;
        gauss += node.gauss * even;
        size += node.kronrod * (std::abs(right) + std::abs(left));
        last[0] += node.kronrod * polynomials[i][0] * even;
        last[1] += node.kronrod * polynomials[i][1] * (node.x > 0 ? odd : number{});
        last[2] += node.kronrod * polynomials[i][2] * even;
    }
    double error = std::abs(kronrod - gauss);
    // Keeps NaN, which std::max would not.
    for (const number& share : last) error = error > std::abs(share) ? error : std::abs(share);
    return integral<number>{kronrod * half, error * std::abs(half), size * std::abs(half)};
}

// Integrates f, bisecting panels until each one's error is below `tolerance` or is rounding. Reduces
// `evaluations` by those spent; once none are left, the remaining panels count with the error they have.
template <class F>
auto integrate(const F& f, double from, double to, double tolerance, long& evaluations) {
    using number = decltype(f(from));
    integral<number> sum;
    std::vector<std::pair<double, double>> panels{{from, to}};
    while (!panels.empty()) {
        const auto [a, b] = panels.back();
        panels.pop_back();
        const integral<number> panel = gauss_kronrod(f, a, b);
        evaluations -= 2 * static_cast<long>(kronrod_nodes.size()) - 1;
        const double middle = 0.5 * (a + b);
        const bool rounded = panel.error <= 1e-14 * panel.size || !(a < middle && middle < b);
        // Written `!(>)` so that a panel with NaN also ends here and shows in the sum.
        if (rounded || !(panel.error > tolerance) || evaluations <= 0) {
            sum.value += panel.value;
            sum.error += 3 * panel.error;  // tripled: near the tolerance four shares can be small by accident
            sum.size += panel.size;
        } else {
            panels.emplace_back(middle, b);
            panels.emplace_back(a, middle);
        }
    }
    return sum;
}

}  // namespace tilewalk::analytics
