// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/arithmetic.h"
#include "kernels/normal_distribution.h"
#include "kernels/sobol.h"
#include "tilewalk/error.h"

namespace tilewalk::run {

std::uint64_t quasi_unit_paths(std::uint64_t run_paths) {
    if (run_paths < least_quasi_paths) {
        throw error(error_kind::usage, "a quasi-random run of " + std::to_string(run_paths) +
                                           " paths has no standard error; it needs at least " +
                                           std::to_string(least_quasi_paths) + " paths, " +
                                           std::to_string(least_randomisations) + " randomisations of " +
                                           std::to_string(kernels::paths_per_tile));
    }
    const std::uint64_t tiles = run_paths / kernels::paths_per_tile;
    return std::bit_floor(std::max<std::uint64_t>(tiles / most_wanted_randomisations, 1)) *
           kernels::paths_per_tile;
}

std::uint64_t paths_of_randomisation(std::uint64_t run_paths, std::uint64_t randomisations) {
    const std::uint64_t paths = (run_paths + randomisations - 1) / randomisations;
    constexpr std::uint64_t most = std::uint64_t{1} << kernels::bits_of_index;
    if (paths > most)
        throw error(error_kind::usage,
                    "found " + std::to_string(run_paths) +
                        " paths of quasi-random points, expected at most 2^32 for each of " +
                        std::to_string(randomisations) + " randomisations");
    return std::bit_ceil(kernels::tiles_of(std::max<std::uint64_t>(paths, 1))) * kernels::paths_per_tile;
}

double standard_error_of(const kernels::moments& paths) {
    return paths.count > 1 ? kernels::sqrt(paths.m2 / (paths.count - 1) / paths.count) : 0.0;
}

namespace {

// Quantile of Student's t, as a series in 1 / freedom about the normal quantile z.
double student_at(double z, double freedom) {
    const double z2 = z * z;
    const double a = (z2 + 1) / 4, b = ((5 * z2 + 16) * z2 + 3) / 96,
                 c = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                 d = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z * (1 + (a + (b + (c + d / freedom) / freedom) / freedom) / freedom);
}

}  // namespace

double width_95(double freedom) {
    return student_at(1.959963984540054, freedom);
}

double width_of(double confidence, double freedom) {
    return student_at(kernels::norm_inv(0.5 + 0.5 * confidence), freedom);
}

namespace {

double cube_root(double x) {
    return x == 0 ? 0 : std::copysign(kernels::exp(kernels::log(std::abs(x)) / 3), x);
}

}  // namespace

ends_of_interval ends_of(double confidence, double freedom, double lean) {
    const double width = width_of(confidence, freedom);
    constexpr double least_lean = 1e-6;  // a smaller lean moves an end by less than this
    if (!(std::abs(lean) > least_lean)) return {width, width};
    const auto undone = [&](double z) { return 3 / lean * (cube_root(1 + lean * (z - lean / 6)) - 1); };
    return {undone(width), -undone(-width)};
}

double lean_of(std::span<const double> numbers) {
    const auto n = static_cast<double>(numbers.size());
    if (n < 3) return 0;
    double mean = 0, squares = 0, cubes = 0;
    for (const double x : numbers) mean += x / n;
    for (const double x : numbers) {
        const double from_mean = x - mean;
        squares += from_mean * from_mean;
        cubes += from_mean * from_mean * from_mean;
    }
    const double variance = squares / (n - 1);
    const double lean =
        cubes * n / ((n - 1) * (n - 2)) / (variance * kernels::sqrt(variance)) / kernels::sqrt(n);
    return std::isfinite(lean) ? lean : 0;
}

double normal_of_student(double t, double degrees) {
    const double size =
        (8 * degrees + 1) / (8 * degrees + 3) * std::sqrt(degrees * std::log1p(t * t / degrees));
    return std::copysign(size, t);
}

// With weights w (each unit's fraction of the paths), the variance of the mean, sum w m, is estimated by sum
// w^2 (m - mean)^2 / (1 - sum w^2). The estimate is unbiased for equal weights, nearly so if one differs.
estimate estimate_of_units(std::span<const kernels::moments> units) {
    double paths = 0;
    for (const auto& u : units) paths += u.count;
    if (paths == 0) return {};
    const double origin = units.front().mean;  // makes the sum exact if all means are equal
    double sum = 0;
    for (const auto& u : units) sum += u.count / paths * (u.mean - origin);
    estimate out{origin + sum, 0, units.size()};
    double squares = 0, spread = 0;
    for (const auto& u : units) {
        const double share = u.count / paths;
        const double difference = share * (u.mean - out.mean);
        squares += share * share;
        spread += difference * difference;
    }
    if (squares < 1) out.standard_error = kernels::sqrt(spread / (1 - squares));
    std::vector<double> means;
    for (const auto& u : units) means.push_back(u.mean);
    out.lean = lean_of(means);
    return out;
}

namespace {

// Means by unit, of payoffs with the control subtracted and of the control itself, whose true mean is 0.
class shared_control {
  public:
    shared_control(std::span<const kernels::moments> left, std::span<const kernels::moments> payoffs)
        : origin_(left.front().mean) {
        double size = 0;
        for (std::size_t u = 0; u < left.size(); ++u) {
            left_.push_back(left[u].mean - origin_);
            control_.push_back(payoffs[u].mean - left[u].mean);
            size = std::max(size, std::abs(payoffs[u].mean) + std::abs(control_.back()));
        }
        constexpr double of_rounding = 1e-10;
        least_square_ = std::pow(of_rounding * size, 2);
    }
    std::size_t units() const { return left_.size(); }
    double origin() const { return origin_; }
    // Mean over all units but `one` (all units if `one` is none), less the origin. Each unit takes the
    // coefficient of the control that the remaining units give.
    double mean_without(std::size_t one) const {
        double sum = 0, count = 0;
        for (std::size_t u = 0; u < units(); ++u) {
            if (u == one) continue;
            sum += left_[u] - share_without(one, u) * control_[u];
            count += 1;
        }
        return sum / count;
    }
    static constexpr std::size_t none = ~std::size_t{0};

  private:
    // Coefficient of the control beyond the 1 that is subtracted already, from units but `one` and `other`.
    double share_without(std::size_t one, std::size_t other) const {
        double sum = 0, of_control = 0, product = 0, square = 0, count = 0;
        for (std::size_t u = 0; u < units(); ++u) {
            if (u == one || u == other) continue;
            sum += left_[u];
            of_control += control_[u];
            product += left_[u] * control_[u];
            square += control_[u] * control_[u];
            count += 1;
        }
        product -= sum / count * of_control;
        square -= of_control / count * of_control;
        // A control whose units differ only by rounding gives no coefficient.
        return square > count * least_square_ ? product / square : 0;
    }

    double origin_, least_square_ = 0;
    std::vector<double> left_, control_;
};

}  // namespace

std::vector<double> means_less_a_share(std::span<const kernels::moments> left,
                                       std::span<const kernels::moments> payoffs) {
    std::vector<double> out;
    const std::size_t n = left.size();
    if (n < least_units_of_share) {
        for (const kernels::moments& u : left) out.push_back(u.mean);
        return out;
    }
    const shared_control of(left, payoffs);
    double mean = 0;
    for (std::size_t u = 0; u < n; ++u) {
        out.push_back(of.mean_without(u));
        mean += out.back() / static_cast<double>(n);
    }
    const double middle = of.origin() + of.mean_without(shared_control::none);
    for (double& x : out) x = middle + static_cast<double>(n - 1) * (mean - x);
    return out;
}

double error_of_parts(std::span<const double> means, std::uint64_t part_paths, std::uint64_t run_paths) {
    std::vector<kernels::moments> units;
    units.reserve(means.size());
    for (std::size_t p = 0; p < means.size(); ++p) {
        const std::uint64_t first = std::min(run_paths, p * part_paths);
        units.push_back({static_cast<double>(std::min(part_paths, run_paths - first)), means[p], 0, 0, 0});
    }
    return estimate_of_units(units).standard_error;
}

double error_beside_parts(double error, std::span<const double> means) {
    const double n = static_cast<double>(means.size());
    double sum = 0, squares = 0;
    for (const double m : means) {
        const double from_first = m - means.front();
        sum += from_first;
        squares += from_first * from_first;
    }
    const double shown = (squares - sum * sum / n) / (n * (n - 1));
    // Normal quantile, from which that of chi squared over its freedom follows (Wilson and Hilferty 1931).
    constexpr double one_in_a_million = 4.75;
    const double c = 2 / (9 * (n - 1));
    const double least = std::pow(std::max(1 - c - one_in_a_million * std::sqrt(c), 0.0), 3);
    return error * error * std::min(least, 0.25) >= shown ? error : 0;
}

}  // namespace tilewalk::run
