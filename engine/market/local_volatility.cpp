// SPDX-License-Identifier: Apache-2.0
// Dupire's formula and bilinear grids. Uses exp and log of kernels/: the same bits on every machine.
#include "engine/market/local_volatility.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "engine/market/wording.h"
#include "kernels/exponential.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {
namespace {

// Two-point Gauss-Legendre nodes on [0, 1].
constexpr double gauss_points[] = {0.21132486540518711775, 0.78867513459481288225};

struct grid_place {
    std::size_t below = 0;
    double weight = 0;
};

grid_place find_place(const std::vector<double>& numbers, double at) {
    if (at <= numbers.front()) return {0, 0};
    if (at >= numbers.back()) return {numbers.size() - 1, 0};
    const auto above = std::upper_bound(numbers.begin(), numbers.end(), at);
    const auto below = static_cast<std::size_t>(above - numbers.begin()) - 1;
    return {below, (at - numbers[below]) / (numbers[below + 1] - numbers[below])};
}

void check_increasing(const std::vector<double>& numbers, bool may_start_at_0, const char* what) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool high_enough =
            i > 0 ? numbers[i] > numbers[i - 1] : (may_start_at_0 ? numbers[i] >= 0 : numbers[i] > 0);
        if (high_enough && std::isfinite(numbers[i])) continue;
        throw error(error_kind::input, "found the " + std::string(what) + " " + rounded(numbers[i]) +
                                           " in a grid of local volatilities, expected strictly increasing "
                                           "numbers above 0");
    }
}

}  // namespace

local_volatility local_volatility::of_surface(implied_surface surface) {
    std::vector<double> kinks;
    for (const expiry& e : surface.expiries()) kinks.push_back(e.years);
    kinks.pop_back();  // after the last expiry, total variance goes on with the same slope
    local_volatility made(std::move(surface));
    made.kinks_ = std::move(kinks);
    return made;
}

local_volatility local_volatility::of_grid(local_volatility_grid grid, forward_function forward) {
    check_increasing(grid.years, true, "time");
    check_increasing(grid.spots, false, "spot");
    bool fits = !grid.years.empty() && !grid.spots.empty() && grid.volatilities.size() == grid.years.size();
    for (const std::vector<double>& row : grid.volatilities) {
        fits = fits && row.size() == grid.spots.size();
        for (const double vol : row) {
            if (vol >= 0 && vol <= most_volatility) continue;
            throw error(error_kind::input, "found the local volatility " + rounded(vol) +
                                               ", expected one between 0 and " + rounded(most_volatility));
        }
    }
    if (!fits) {
        throw error(error_kind::input,
                    "found a grid of local volatilities of another shape, expected a row for each of " +
                        std::to_string(grid.years.size()) + " times with one for each of " +
                        std::to_string(grid.spots.size()) + " spots, and at least one of both");
    }
    std::vector<double> kinks = grid.years;
    local_volatility made(given{std::move(grid), std::move(forward)});
    made.kinks_ = std::move(kinks);
    return made;
}

double local_volatility::given::at(double years, double x) const {
    const grid_place t = find_place(grid.years, years);
    const grid_place s = find_place(grid.spots, forward(years) * kernels::exp(x));
    const auto across = [&](std::size_t row) {
        const std::vector<double>& vols = grid.volatilities[row];
        return s.weight == 0 ? vols[s.below] : (1 - s.weight) * vols[s.below] + s.weight * vols[s.below + 1];
    };
    return t.weight == 0 ? across(t.below)
                         : (1 - t.weight) * across(t.below) + t.weight * across(t.below + 1);
}

template <class Piece>
double local_volatility::over_pieces(double t0, double t1, Piece piece) const {
    double sum = 0, from = t0;
    for (auto kink = std::upper_bound(kinks_.begin(), kinks_.end(), t0); kink != kinks_.end() && *kink < t1;
         ++kink) {
        sum += piece(from, *kink);
        from = *kink;
    }
    return sum + piece(from, t1);
}

double local_volatility::local_variance(double t0, double t1, double x) const {
    double integral = 0;
    if (const auto* grid = std::get_if<given>(&form_)) {
        // The volatility is linear in time on a piece: two Gauss points integrate its square exactly.
        integral = over_pieces(t0, t1, [&](double from, double to) {
            double squares = 0;
            for (const double point : gauss_points) {
                const double vol = grid->at(from + (to - from) * point, x);
                squares += vol * vol;
            }
            return squares / 2 * (to - from);
        });
    } else {
        const implied_surface& surface = std::get<implied_surface>(form_);
        integral = over_pieces(t0, t1, [&](double from, double to) {
            double stretched = 0, rise = 0;
            for (const double point : gauss_points) {
                const implied_surface::value w = surface.total_variance(from + (to - from) * point, x);
                stretched += 1 / std::max(density_ratio(w.at, x), least_ratio);
                rise = w.by_time;  // the same at all times of the piece
            }
            return std::max(rise, 0.0) * stretched / 2 * (to - from);
        });
    }
    return std::min(integral / (t1 - t0), most_volatility * most_volatility);
}

std::pair<double, double> local_volatility::table_range(double t0, double t1) const {
    const auto* grid = std::get_if<given>(&form_);
    if (!grid) return std::get<implied_surface>(form_).reach(t1, table_deviations);
    double most = 0;
    for (const std::vector<double>& row : grid->grid.volatilities)
        most = std::max(most, *std::max_element(row.begin(), row.end()));
    const double variance = most * most * t1;
    const double reach =
        std::clamp(table_deviations * std::sqrt(variance) + variance / 2, 1e-8, implied_surface::most_reach);
    // Volatility is constant outside the grid, as outside of a table, so the table ends with the grid. Spots
    // are turned into x by the forward at the middle of the step, to which the table's averages belong best.
    const double forward = grid->forward(t0 + (t1 - t0) / 2);
    const double low = kernels::log(grid->grid.spots.front() / forward);
    const double high = kernels::log(grid->grid.spots.back() / forward);
    return {low < 0 ? std::max(low, -reach) : -reach, high > 0 ? std::min(high, reach) : reach};
}

void local_volatility::table(double t0, double t1, double x_low, double x_high, std::span<double> out) const {
    const double step = (x_high - x_low) / static_cast<double>(out.size() - 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double x = i + 1 == out.size() ? x_high : x_low + step * static_cast<double>(i);
        out[i] = std::sqrt(local_variance(t0, t1, x));
    }
    double before = out[0];
    for (std::size_t i = 1; i + 1 < out.size(); ++i) {
        const double here = out[i], bend = before + out[i + 1] - 2 * here;
        out[i] = std::clamp(here - bend / 12, 0.0, most_volatility);
        before = here;
    }
}

}  // namespace tilewalk::markets
