// SPDX-License-Identifier: Apache-2.0
// Particles use one thread and the kernels' own functions, so the leverage is the same on every machine.
//
// Each step sorts the particles by x in batches and by v within a batch, and assigns lattice points in this
// order (L'Ecuyer, Lecot and Tuffin, "A randomized quasi-Monte Carlo simulation method for Markov chains",
// 2008), shifted anew for each step. The conditional mean of v at x is a local quadratic regression with the
// quartic kernel and the paper's bandwidth, 1.5 standard deviations of x times particles^(-1/5).
#include "engine/models/local/leverage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/models/local/leveraged_step.h"
#include "engine/numerics/black.h"
#include "kernels/math.h"
#include "kernels/shocks.h"

namespace tilewalk::models {

namespace {

constexpr double bandwidth = 1.5;
// The bandwidth is widened until it holds this many particles.
constexpr std::size_t least_neighbours = 64;
constexpr std::size_t node_points = 65;
constexpr std::size_t lag = 8;
// Fraction of particles beyond each end of a node's means, which are flat there.
constexpr double tail_share = 1.0 / 1024;
// Floor on conditional mean variance / overall mean variance; a lower value would rest on single particles.
constexpr double least_share = 1e-3;
constexpr double most_leverage = 1e4;  // reached only if the variance vanishes

// Roberts's additive sequence in two dimensions: powers of 1 / 1.3247..., the root of g^3 = g + 1.
constexpr double lattice[] = {0.75487766624669276, 0.56984029099805327};
constexpr kernels::word32 shift_stream = 2;

// Steps have one length, with two exceptions. The first is divided at 1/16, 4/16 and 9/16, because the
// conditional mean hardly depends on x yet; late steps are longer, as smiles change slowly.
constexpr double first_pieces = 4, late_share = 1.0 / 128, longest = 1.0 / 16;

double fraction(double x) {
    return x - kernels::floor(x);
}

double normal_of(double turn) {
    return kernels::norm_inv(kernels::clamp(turn, 0x1p-53, 1 - 0x1p-53));
}

// Moments of particles near a place, for a local quadratic fit; distances are in bandwidths.
struct particle_moments {
    double s[5] = {}, v[3] = {};

    void add(double distance, double variance) {
        const double room = 1 - distance * distance;
        double weight = room * room;
        for (int power = 0; power < 5; ++power) {
            s[power] += weight;
            if (power < 3) v[power] += weight * variance;
            weight *= distance;
        }
    }
    double level() const {
        const double a = s[2] * s[4] - s[3] * s[3], b = s[2] * s[3] - s[1] * s[4],
                     c = s[1] * s[3] - s[2] * s[2];
        const double spread = s[0] * a + s[1] * b + s[2] * c;
        const double mean = v[0] / s[0];
        // A parabola needs particles at three distinct places, and is sensitive to outliers.
        if (!(spread > 1e-9 * s[0] * s[0] * s[0])) return mean;
        return kernels::clamp((v[0] * a + v[1] * b + v[2] * c) / spread, 0.5 * mean, 2 * mean);
    }
};

}  // namespace

leverage::leverage(markets::local_volatility local, heston_parameters p, const particle_settings& how)
    : local_(std::move(local)), p_(std::move(p)), how_(how) {
    if (const markets::implied_surface* surface = local_.implied()) {
        for (const markets::expiry& e : surface->expiries()) stops_.push_back(e.years);
    }
    for (const by_term* t : {&p_.kappa, &p_.theta, &p_.sigma, &p_.rho})
        stops_.insert(stops_.end(), t->years.begin(), t->years.end());
    std::ranges::sort(stops_);
}

double leverage::node::at(double x) const {
    const double intervals = static_cast<double>(means.size() - 1);
    const double place = kernels::clamp((x - low) * (intervals / (high - low)), 0.0, intervals);
    const double below = std::min(kernels::floor(place), intervals - 1);
    const auto i = static_cast<std::size_t>(below);
    return kernels::fma(place - below, means[i + 1] - means[i], means[i]);
}

double leverage::next_time() const {
    const double length = 1 / how_.steps_per_year;
    double next = now_ + std::max(length, std::min(now_ * late_share, longest));
    for (double i = 1; i <= first_pieces; ++i) {
        const double early = length * (i / first_pieces) * (i / first_pieces);
        if (early > now_) {
            next = early;
            break;
        }
    }
    const auto stop = std::ranges::upper_bound(stops_, now_);
    return stop != stops_.end() && *stop < next + 1e-9 ? *stop : next;
}

void leverage::walk_to(double years, const std::function<void()>& poll) {
    if (particles_.empty()) {
        particles_.assign(how_.particles, {0, p_.v0});
        all_mean_ = p_.v0;
    }
    while (nodes_.empty() || nodes_.back().years < years) {
        if (poll) poll();
        const double to = next_time();
        move(to);
        nodes_.push_back(seen(to));
        now_ = to;
        compare_with_surface(to);
    }
}

// Moves the particles to time `to`, with the leverage averaged over both ends of the step. At its end, which
// the particles have not reached, conditional means of variance are extrapolated along their trend.
void leverage::move(double to) {
    const heston_step step(p_, now_, to);
    const auto rows = rows_of_leveraged<double>(
        [&](const char*, double (*number)(const heston_step&)) { return number(step); }, step.has_tail());
    const std::pair<double, double> range = local_.table_range(now_, to);
    const double low = range.first, high = range.second;
    step_table lever{low, high, std::vector<double>(4 * node_points)};
    local_.table(now_, to, low, high, lever.numbers);
    const double per_interval = (high - low) / static_cast<double>(lever.numbers.size() - 1);
    const double all_before = all_mean_;
    all_mean_ = std::max(kernels::fma(all_mean_, step.decay(), step.risen()), least_mean_variance(p_));
    const bool is_far = nodes_.size() > lag;
    const double back = is_far ? nodes_[nodes_.size() - 1 - lag].years : 0;
    const double all_back = is_far ? nodes_[nodes_.size() - 1 - lag].all_mean : p_.v0;
    const double ahead = now_ > 0 ? (to - now_) / (now_ - back) : 0;
    for (std::size_t i = 0; i < lever.numbers.size(); ++i) {
        const double x = low + per_interval * static_cast<double>(i);
        const double share = mean_of(now_, x) / all_before;
        const double next =
            kernels::clamp(share + ahead * (share - mean_of(back, x) / all_back), 0.5 * share, 2 * share);
        const double mean = std::max(0.5 * (share * all_before + next * all_mean_), least_share * all_mean_);
        lever.numbers[i] = std::min(lever.numbers[i] / kernels::sqrt(mean), most_leverage);
    }
    const double intervals = static_cast<double>(lever.numbers.size() - 1), per_x = intervals / (high - low);
    const auto lever_at = [&](double x) {
        const double place = kernels::clamp((x - low) * per_x, 0.0, intervals);
        const double below = std::min(kernels::floor(place), intervals - 1);
        const auto i = static_cast<std::size_t>(below);
        return kernels::fma(place - below, lever.numbers[i + 1] - lever.numbers[i], lever.numbers[i]);
    };

    const std::size_t batch =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(particles_.size()))));
    for (std::size_t i = 0; i < particles_.size(); i += batch) {
        const auto begin = particles_.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end =
            particles_.begin() + static_cast<std::ptrdiff_t>(std::min(i + batch, particles_.size()));
        std::sort(begin, end, [](const particle& a, const particle& b) {
            return std::pair(a.v, a.x) < std::pair(b.v, b.x);
        });
    }
    const auto shift =
        kernels::uniforms_of_block(kernels::path_block(how_.seed, nodes_.size(), 0, shift_stream));
    double number = 0;
    for (particle& p : particles_) {
        const double z = normal_of(fraction(kernels::fma(number, lattice[0], shift.first)));
        const double alone = normal_of(fraction(kernels::fma(number, lattice[1], shift.second)));
        const auto moved = move_leveraged<double>(rows, p.x, p.v, z, alone, lever_at);
        p = {moved.x, moved.v};
        ++number;
    }
    std::sort(particles_.begin(), particles_.end());
}

leverage::node leverage::seen(double years) const {
    const std::size_t n = particles_.size();
    double mean = 0, square = 0;
    for (const particle& p : particles_) mean += p.x;
    mean /= static_cast<double>(n);
    for (const particle& p : particles_) square += (p.x - mean) * (p.x - mean);
    const double deviation = kernels::sqrt(square / static_cast<double>(n));
    const double usual = bandwidth * deviation * kernels::pow(static_cast<double>(n), -0.2);

    const auto beyond = static_cast<std::size_t>(static_cast<double>(n) * tail_share);
    node out{years, all_mean_, particles_[beyond].x, particles_[n - 1 - beyond].x,
             std::vector<double>(node_points)};
    if (!(out.high - out.low > 1e-12)) out.low -= 1e-12, out.high += 1e-12;
    const double per_interval = (out.high - out.low) / static_cast<double>(node_points - 1);
    const std::size_t neighbours = std::min(least_neighbours, n);
    std::size_t nearest = 0;  // index of the first of the nearest particles
    for (std::size_t k = 0; k < node_points; ++k) {
        const double x = out.low + per_interval * static_cast<double>(k);
        while (nearest + neighbours < n && particles_[nearest + neighbours].x - x < x - particles_[nearest].x)
            ++nearest;
        const double reach = std::max({usual, 1.0001 * (x - particles_[nearest].x),
                                       1.0001 * (particles_[nearest + neighbours - 1].x - x), 1e-12});
        const auto first = std::ranges::lower_bound(particles_, x - reach, {}, &particle::x);
        particle_moments near;
        for (auto at = first; at != particles_.end() && at->x < x + reach; ++at)
            near.add((at->x - x) / reach, at->v);
        const double level = near.level();
        out.means[k] = level;
    }
    // Lines between points lie above a convex mean; lowers the points as local_volatility::table does.
    double before = out.means.front();
    for (std::size_t k = 1; k + 1 < node_points; ++k) {
        const double here = out.means[k];
        out.means[k] = here - (before + out.means[k + 1] - 2 * here) / 12;
        before = here;
    }
    for (double& m : out.means) m = std::max(m, least_share * all_mean_);
    return out;
}

double leverage::mean_of(double years, double x) const {
    if (nodes_.empty()) return p_.v0;
    const node& first = nodes_.front();
    if (years <= first.years) {
        // Before the first node: the dependence on x is the node's, and the level is interpolated from v0.
        const double shape = first.at(x) / first.at(0);
        const double weight = years / first.years;
        return std::max(shape * (p_.v0 + weight * (first.at(0) - p_.v0)), least_share * p_.v0);
    }
    const auto above = std::min(std::ranges::lower_bound(nodes_, years, {}, &node::years), nodes_.end() - 1);
    const node &a = *(above - 1), &b = *above;
    const double weight = std::min((years - a.years) / (b.years - a.years), 1.0);
    return kernels::fma(weight, b.at(x) - a.at(x), a.at(x));
}

double leverage::mean_variance(double years, double x) {
    const std::lock_guard guard(lock_);
    walk_to(years);
    return mean_of(years, x);
}

step_table leverage::table(double from, double to, std::size_t points, const std::function<void()>& poll) {
    const auto [low, high] = local_.table_range(from, to);
    step_table made{low, high, std::vector<double>(points)};
    local_.table(from, to, low, high, made.numbers);
    const std::lock_guard guard(lock_);
    walk_to(to, poll);
    const double per_interval = (high - low) / static_cast<double>(points - 1);
    for (std::size_t i = 0; i < points; ++i) {
        const double x = low + per_interval * static_cast<double>(i);
        const double mean = 0.5 * (mean_of(from, x) + mean_of(to, x));
        made.numbers[i] = std::min(made.numbers[i] / kernels::sqrt(mean), most_leverage);
    }
    return made;
}

void leverage::compare_with_surface(double years) {
    const markets::implied_surface* const surface = local_.implied();
    if (surface == nullptr) return;
    const auto is_here = [&](const markets::expiry& e) { return e.years == years; };
    if (std::ranges::none_of(surface->expiries(), is_here)) return;
    const double middle = surface->implied_volatility(years, 0) * std::sqrt(years);
    for (const double deviations : {-1.0, 0.0, 1.0}) {
        const double x = deviations * middle, strike = std::exp(x);
        const double sign = deviations < 0 ? -1 : 1;
        double paid = 0;
        for (const particle& p : particles_) paid += std::max(sign * (kernels::exp(p.x) - strike), 0.0);
        const double volatility = surface->implied_volatility(years, x);
        const double price = analytics::black_price(sign > 0 ? analytics::right::call : analytics::right::put,
                                                    1, strike, volatility * std::sqrt(years));
        differences_.push_back({years, deviations,
                                (paid / static_cast<double>(particles_.size()) - price) /
                                    analytics::black_vega(1, strike, volatility, years)});
    }
}

std::vector<leverage::difference> leverage::differences(double years) {
    const std::lock_guard guard(lock_);
    walk_to(years);
    std::vector<difference> out = differences_;
    std::erase_if(out, [&](const difference& d) { return d.years > years; });
    return out;
}

}  // namespace tilewalk::models
