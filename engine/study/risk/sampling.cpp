// SPDX-License-Identifier: Apache-2.0
// A bootstrap resample takes n of n gains with replacement: those at floor(n u) for n uniforms u. Its k-th
// gain belongs to the k-th smallest uniform, which has the beta law of k and n - k + 1. Given that uniform,
// smaller ones are independent and uniform, so that mean and variance of the mean of the k lowest gains are
// sums over the gains up to there. Both errors are thus integrals over the beta law, smooth within each
// gain's interval: nothing is drawn. Maritz and Jarrett (1978) have this estimator for the quantile.
#include "engine/study/risk/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/exponential.h"

namespace tilewalk::risk {

namespace {

// The 8-point Gauss-Legendre rule on [-1, 1]; each node also stands for its mirror image.
struct gauss_node {
    double x, weight;
};
constexpr std::array<gauss_node, 4> gauss_nodes{{{0.18343464249564980, 0.36268378337836199},
                                                 {0.52553240991632899, 0.31370664587788727},
                                                 {0.79666647741362674, 0.22238103445337448},
                                                 {0.96028985649753623, 0.10122853629037626}}};

// The law of the k-th smallest of n uniforms, by intervals of length 1 / n, one for each gain.
class order_law {
  public:
    order_law(std::size_t n, std::size_t k)
        : n_(static_cast<double>(n)),
          below_(static_cast<double>(k - 1)),
          above_(static_cast<double>(n - k)),
          mode_(n > 1 ? below_ / (n_ - 1) : 0.5) {
        peak_ = exponent(mode_);
    }
    // Calls use(gain, uniform, weight) with weights proportional to probabilities. Leaves out intervals whose
    // density is below 1e-18 of the mode's.
    template <class body>
    void for_each(const body& use) const {
        const auto size = static_cast<std::size_t>(n_);
        const std::size_t middle = std::min(static_cast<std::size_t>(mode_ * n_), size - 1);
        for (std::size_t i = middle; i < size && (i == middle || at(static_cast<double>(i) / n_) > least);
             ++i)
            of_interval(i, use);
        for (std::size_t i = middle; i > 0 && at(static_cast<double>(i) / n_) > least; --i)
            of_interval(i - 1, use);
    }

  private:
    static constexpr double least = 1e-18;

    // Returns the logarithm of the density, but for a constant. 0 log 0 is 0.
    double exponent(double u) const {
        return (below_ > 0 ? below_ * kernels::log(u) : 0) + (above_ > 0 ? above_ * kernels::log(1 - u) : 0);
    }
    // Returns the density relative to the mode's.
    double at(double u) const {
        if ((u <= 0 && below_ > 0) || (u >= 1 && above_ > 0)) return 0;
        return kernels::exp(exponent(u) - peak_);
    }
    template <class body>
    void of_interval(std::size_t i, const body& use) const {
        const double middle = (static_cast<double>(i) + 0.5) / n_, half = 0.5 / n_;
        for (const gauss_node& node : gauss_nodes) {
            for (const double x : {-node.x, node.x}) {
                const double u = middle + half * x;
                use(i, u, node.weight * at(u));
            }
        }
    }

    double n_, below_, above_, mode_, peak_ = 0;
};

// Weighted variance in one pass.
class weighted_spread {
  public:
    void add(double x, double weight) {
        if (!(weight > 0)) return;
        weight_ += weight;
        const double step = (x - mean_) * weight / weight_;
        squares_ += weight * (x - mean_) * (x - mean_ - step);
        mean_ += step;
    }
    double variance() const { return weight_ > 0 ? std::max(squares_ / weight_, 0.0) : 0; }

  private:
    double weight_ = 0, mean_ = 0, squares_ = 0;
};

double error_of_quantile(std::span<const double> sorted, std::size_t place) {
    weighted_spread spread;
    order_law(sorted.size(), place).for_each([&](std::size_t i, double, double weight) {
        spread.add(sorted[i], weight);
    });
    return std::sqrt(spread.variance());
}

double error_of_shortfall(std::span<const double> sorted, std::size_t within) {
    const double n = static_cast<double>(sorted.size()), k = static_cast<double>(within);
    // Gains are taken less the quantile, so that sums of large gains that are close lose no digits.
    const double origin = sorted[within - 1];
    std::vector<double> sums{0}, squares{0};
    for (const double g : sorted) {
        sums.push_back(sums.back() + (g - origin));
        squares.push_back(squares.back() + (g - origin) * (g - origin));
    }
    weighted_spread of_mean;
    double within_variance = 0, weights = 0;
    order_law(sorted.size(), within).for_each([&](std::size_t i, double u, double weight) {
        const double x = sorted[i] - origin, part = u - static_cast<double>(i) / n;
        const double mean = (sums[i] / n + x * part) / u;
        const double variance = std::max((squares[i] / n + x * x * part) / u - mean * mean, 0.0);
        of_mean.add(((k - 1) * mean + x) / k, weight);
        within_variance += weight * (k - 1) * variance / (k * k);
        weights += weight;
    });
    return std::sqrt(of_mean.variance() + within_variance / weights);
}

}  // namespace

sampling_errors sampling_errors_of(std::span<const double> sorted, std::size_t place, std::size_t within) {
    if (sorted.size() < 2) return {};
    return {error_of_quantile(sorted, place), error_of_shortfall(sorted, within)};
}

}  // namespace tilewalk::risk
