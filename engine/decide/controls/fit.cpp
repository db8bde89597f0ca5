// SPDX-License-Identifier: Apache-2.0
// Fits a control to a pilot's paths. Sums have a fixed order, so that equal paths give equal controls.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "engine/decide/controls/control.h"
#include "kernels/math.h"

namespace tilewalk::controls {

namespace {

using column = std::vector<double>;

// Returns the inner product by 64 partial sums, which compilers vectorise: 0.24 microseconds for 2,048 paths,
// and 1.1 with eight partial sums (g++ 12, AMD EPYC, 2026-11-27).
double product(const column& a, const column& b) {
    constexpr std::size_t parts = 64;
    std::array<double, parts> sums{};
    std::size_t p = 0;
    for (; p + parts <= a.size(); p += parts)
        for (std::size_t k = 0; k < parts; ++k) sums[k] += a[p + k] * b[p + k];
    for (std::size_t k = 0; p + k < a.size(); ++k) sums[k] += a[p + k] * b[p + k];
    for (std::size_t half = parts / 2; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    return sums[0];
}
void add_times(column& to, double factor, const column& what) {
    for (std::size_t p = 0; p < to.size(); ++p) to[p] += factor * what[p];
}

// Least squares by Gram-Schmidt: each column is made orthogonal to earlier ones. Copies share columns.
class regression {
  public:
    explicit regression(column of) : left_(std::move(of)) { add(column(left_.size(), 1.0)); }

    // Rounds of orthogonalisation; the second removes what rounding left in the first.
    static constexpr int rounds_to_rounding = 2;
    // Adds a column. A column that depends linearly on earlier columns gets the coefficient 0.
    void add(column c, int rounds = rounds_to_rounding) {
        const double all = product(c, c);
        std::vector<double> on = taken_from(c, rounds);
        const double squares = product(c, c);
        const bool counts = squares > least_share * all;
        on.push_back(counts ? kernels::sqrt(squares) : 0);
        double along = 0;
        if (counts) {
            for (double& x : c) x /= on.back();
            along = product(c, left_);
            add_times(left_, -along, c);
        } else {
            c.assign(c.size(), 0.0);
        }
        directions_.push_back(std::make_shared<const column>(std::move(c)));
        on_.push_back(std::move(on));
        along_.push_back(along);
    }
    // Returns by how much the column would reduce the sum of squares of the residual.
    double worth(column c) const {
        const double all = product(c, c);
        taken_from(c, 1);
        const double squares = product(c, c);
        if (!(squares > least_share * all)) return 0;
        const double along = product(c, left_);
        return along * along / squares;
    }
    // Returns the coefficient of each column; the constant comes first.
    std::vector<double> coefficients() const {
        std::vector<double> out(on_.size(), 0.0);
        for (std::size_t i = on_.size(); i-- > 0;) {
            if (on_[i][i] == 0) continue;
            double x = along_[i];
            for (std::size_t j = i + 1; j < on_.size(); ++j) x -= on_[j][i] * out[j];
            out[i] = x / on_[i][i];
        }
        return out;
    }
    const column& left() const { return left_; }
    double squares_left() const { return product(left_, left_); }
    std::size_t columns() const { return on_.size(); }
    // Directions are orthogonal and of length 1, or 0 for a dependent column.
    const column& direction(std::size_t number) const { return *directions_[number]; }

    static constexpr double least_share = 1e-10;

  private:
    std::vector<double> taken_from(column& c, int rounds) const {
        std::vector<double> on(directions_.size(), 0.0);
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < directions_.size(); ++i) {
                const double x = product(*directions_[i], c);
                on[i] += x;
                add_times(c, -x, *directions_[i]);
            }
        }
        return on;
    }

    column left_;
    std::vector<std::shared_ptr<const column>> directions_;
    std::vector<std::vector<double>> on_;  // [column][direction], up to the column's own direction
    std::vector<double> along_;            // by direction: component of what is fitted
};

struct shape {
    std::vector<double> of_sums;  // coefficient by sum of the basis
    std::vector<double> on_ratios{};
    double on_sum = 0, on_exponential = 0;
    std::vector<knot> knots{};
    std::vector<bool> is_jump{};  // by knot; false: a call, which changes the slope
    column sum{}, power{};
    std::shared_ptr<const regression> fitted{};
    double squares_left = 0;
};

double deviation_of(const column& c) {
    const double n = static_cast<double>(c.size());
    double mean = 0, squares = 0;
    for (const double x : c) mean += x / n;
    for (const double x : c) squares += (x - mean) * (x - mean) / n;
    return kernels::sqrt(squares);
}
column map(const column& of, const auto& by) {
    column out(of.size());
    std::transform(of.begin(), of.end(), out.begin(), by);
    return out;
}
column call_on(const column& power, double at) {
    return map(power, [at](double x) { return std::max(x - at, 0.0); });
}
column digital_on(const column& power, double at) {
    return map(power, [at](double x) { return at < x ? 1.0 : 0.0; });
}
// False if few paths carry most of the column's variance, such as for exponentials of normals with deviation
// 0.7 or more. A sample of the column then shows neither its mean nor its tail.
bool is_tame(const column& c) {
    constexpr double most_kurtosis = 30;
    const double n = static_cast<double>(c.size());
    double mean = 0, squares = 0, fourth = 0;
    for (const double x : c) mean += x / n;
    for (const double x : c) {
        const double square = (x - mean) * (x - mean);
        squares += square / n;
        fourth += square * square / n;
    }
    return std::isfinite(fourth) && fourth <= most_kurtosis * squares * squares;
}

// Finds for every strike how far a call or digital would reduce a residual's squares. Sums over the paths
// above each strike make every strike cheap.
class strikes {
  public:
    strikes(const column& power, const regression& beside) : beside_(beside.columns()) {
        std::vector<std::size_t> order(power.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, {}, [&](std::size_t p) { return power[p]; });
        for (const std::size_t p : order) ordered_.push_back(power[p]);
        for (std::size_t i = 0; i < beside_.size(); ++i) beside_[i] = above_of(order, beside.direction(i));
        left_ = above_of(order, beside.left());
        power_ = above_of(order, power);
    }
    const column& ordered() const { return ordered_; }
    double worth(std::size_t place, bool is_jump) const {
        const double at = ordered_[place], paths = static_cast<double>(ordered_.size() - 1 - place);
        const auto along = [&](const above& c) {
            return is_jump ? c.sum[place] : c.by_power[place] - at * c.sum[place];
        };
        const double all =
            is_jump ? paths : power_.by_power[place] - at * (2 * power_.sum[place] - at * paths);
        double squares = all;
        for (const above& c : beside_) squares -= along(c) * along(c);
        if (!(squares > regression::least_share * all)) return 0;
        return along(left_) * along(left_) / squares;
    }

  private:
    // Sums of a column over the paths above each place of the order.
    struct above {
        column sum, by_power;
    };
    above above_of(const std::vector<std::size_t>& order, const column& c) const {
        above out{column(c.size()), column(c.size())};
        double sum = 0, by_power = 0;
        for (std::size_t place = c.size(); place-- > 0;) {
            out.sum[place] = sum;
            out.by_power[place] = by_power;
            sum += c[order[place]];
            by_power += c[order[place]] * ordered_[place];
        }
        return out;
    }

    column ordered_;
    std::vector<above> beside_;
    above left_, power_;
};

class fitting {
  public:
    fitting(const pilot_paths& on, jumps may_jump)
        : payoffs_(on.payoffs),
          sums_(on.sums),
          may_jump_(may_jump == jumps::yes),
          nothing_left_(1e-28 * product(payoffs_, payoffs_)),
          beside_ratios_(payoffs_) {
        for (const column& r : on.ratios) beside_ratios_.add(is_tame(r) ? r : column(payoffs_.size(), 0.0));
    }

    // Returns the coefficients of a linear fit to the sums; empty if payoffs depend on none of them.
    std::optional<std::vector<double>> direction() const {
        regression linear(payoffs_);
        for (const column& s : sums_) linear.add(s);
        std::vector<double> out = linear.coefficients();
        out.erase(out.begin());
        if (std::ranges::all_of(out, [](double x) { return x == 0 || !std::isfinite(x); }))
            return std::nullopt;
        return out;
    }

    // Fits all coefficients of `s` anew, with its strikes and its weights of the sums as they are.
    void settle(shape& s) const {
        s.sum.assign(payoffs_.size(), 0.0);
        for (std::size_t r = 0; r < sums_.size(); ++r) add_times(s.sum, s.of_sums[r], sums_[r]);
        s.power = map(s.sum, [](double x) { return kernels::exp(x); });
        regression of = beside_ratios_;
        of.add(s.sum);
        of.add(s.power);
        for (std::size_t k = 0; k < s.knots.size(); ++k)
            of.add(s.is_jump[k] ? digital_on(s.power, s.knots[k].at) : call_on(s.power, s.knots[k].at));
        const std::vector<double> found = of.coefficients();
        const std::size_t at_sum = beside_ratios_.columns(), at_knots = at_sum + 2;
        s.on_ratios.assign(found.begin() + 1, found.begin() + static_cast<std::ptrdiff_t>(at_sum));
        s.on_sum = found[at_sum];
        s.on_exponential = found[at_sum + 1];
        for (std::size_t k = 0; k < s.knots.size(); ++k) {
            s.knots[k].slope = s.is_jump[k] ? 0 : found[at_knots + k];
            s.knots[k].jump = s.is_jump[k] ? found[at_knots + k] : 0;
        }
        s.squares_left = of.squares_left();
        s.fitted = std::make_shared<const regression>(std::move(of));
    }

    // Adds the call or digital, with a strike among quantiles of the exponential, that reduces the residual
    // most. Returns false if none reduces it by 1 %.
    bool add_knot(shape& s) const {
        if (s.squares_left <= nothing_left_) return false;
        const strikes all(s.power, *s.fitted);
        const column& ordered = all.ordered();
        double most = least_share_of_knot * s.squares_left;
        bool found = false, is_jump = false;
        std::size_t best = 0;
        const auto try_at = [&](std::size_t place, bool jump) {
            if (!jump && !has_room(s, ordered[place])) return;
            const double worth = all.worth(place, jump);
            if (!(worth > most)) return;
            most = worth;
            found = true;
            is_jump = jump;
            best = place;
        };
        std::size_t apart = ordered.size() / quantiles;
        for (std::size_t q = 1; q < quantiles; ++q)
            for (const bool jump : {false, true})
                if (!jump || may_jump_) try_at(q * apart, jump);
        if (!found) return false;
        // Descents do not move a digital's strike, so refine it among the paths nearby.
        while (is_jump && apart > 1) {
            const std::size_t around = best, closer = std::max<std::size_t>(apart / 4, 1);
            for (std::size_t k = 1; k < 8; ++k)
                if (around + k * closer >= apart && around + k * closer - apart < ordered.size())
                    try_at(around + k * closer - apart, true);
            apart = closer;
        }
        s.knots.push_back({ordered[best], 0, 0});
        s.is_jump.push_back(is_jump);
        settle(s);
        return true;
    }

    // Gauss-Newton steps on all numbers at once, including the strikes of calls and how much each of `sums_`
    // weighs in the sum that they are calls on.
    void descend(shape& s, int most_rounds) {
        if (most_deviation_ == 0) most_deviation_ = std::max(most_growth * deviation_of(s.sum), narrow);
        for (int round = 0; round < most_rounds && s.squares_left > nothing_left_; ++round) {
            const double before = s.squares_left;
            if (!step(s) || s.squares_left > 0.999 * before) return;
        }
    }

  private:
    static constexpr double least_share_of_knot = 0.01;
    static constexpr std::size_t quantiles = 32;
    static constexpr double most_growth = 1.5, narrow = 0.5;  // bounds on the sum's deviation

    // Fewest paths between two strikes, and beyond the outermost: closer calls would make a jump of noise.
    std::size_t least_apart() const { return std::max<std::size_t>(payoffs_.size() / 128, 4); }
    static std::ptrdiff_t paths_below(const shape& s, double at) {
        return std::ranges::count_if(s.power, [at](double x) { return x < at; });
    }
    bool are_apart(std::ptrdiff_t a, std::ptrdiff_t b) const {
        return std::abs(a - b) >= static_cast<std::ptrdiff_t>(least_apart());
    }
    bool has_room(const shape& s, double at) const {
        const std::ptrdiff_t below = paths_below(s, at);
        if (!are_apart(below, 0) || !are_apart(below, std::ssize(s.power))) return false;
        for (std::size_t k = 0; k < s.knots.size(); ++k)
            if (!s.is_jump[k] && !are_apart(below, paths_below(s, s.knots[k].at))) return false;
        return true;
    }
    bool is_spread_out(shape s) const {
        while (!s.knots.empty()) {
            const double at = s.knots.back().at;
            const bool is_jump = s.is_jump.back();
            s.knots.pop_back();
            s.is_jump.pop_back();
            if (!is_jump && !has_room(s, at)) return false;
        }
        return true;
    }

    bool step(shape& s) const {
        // A single round is precise enough: a step is taken only if the squares shrink.
        constexpr int rounds = 1;
        regression of = *s.fitted;
        column slope = map(s.power, [&](double x) { return s.on_sum + s.on_exponential * x; });
        std::vector<std::size_t> moving;
        for (std::size_t k = 0; k < s.knots.size(); ++k) {
            if (s.is_jump[k] || s.knots[k].slope == 0) continue;
            moving.push_back(k);
            column beyond = digital_on(s.power, s.knots[k].at);
            for (double& x : beyond) x *= s.knots[k].slope;
            for (std::size_t p = 0; p < slope.size(); ++p) slope[p] += beyond[p] * s.power[p];
            for (double& x : beyond) x = -x;
            of.add(std::move(beyond), rounds);
        }
        for (const column& sum : sums_) {
            column moved = slope;
            for (std::size_t p = 0; p < moved.size(); ++p) moved[p] *= sum[p];
            of.add(std::move(moved), rounds);
        }
        const std::vector<double> by = of.coefficients();
        const std::size_t at_knots = s.fitted->columns(), at_sums = at_knots + moving.size();
        for (double share = 1; share > 0.05; share /= 2) {
            shape to = s;
            for (std::size_t i = 0; i < moving.size(); ++i)
                to.knots[moving[i]].at += share * by[at_knots + i];
            for (std::size_t r = 0; r < sums_.size(); ++r) to.of_sums[r] += share * by[at_sums + r];
            if (std::ranges::any_of(to.knots, [](const knot& k) { return !(k.at > 0); })) continue;
            settle(to);
            if (!(to.squares_left < s.squares_left) || !is_spread_out(to)) continue;
            // The wider a sum, the more of the mean of its exponential comes from paths too rare for a pilot.
            if (deviation_of(to.sum) > most_deviation_) continue;
            s = std::move(to);
            return true;
        }
        return false;
    }

    const column payoffs_;
    std::span<const std::vector<double>> sums_;
    const bool may_jump_;
    const double nothing_left_;  // a sum of squares up to this is rounding alone
    regression beside_ratios_;
    double most_deviation_ = 0;  // of a control's sum; 0 until descend sets it
};

weights weights_of(const std::vector<double>& parts, std::span<const weights> basis) {
    weights out(basis.front().size(), std::vector<double>(basis.front().front().size(), 0.0));
    for (std::size_t r = 0; r < basis.size(); ++r)
        for (std::size_t i = 0; i < out.size(); ++i) add_times(out[i], parts[r], basis[r][i]);
    return out;
}

// Returns the sum over sources of their largest weight: 1 for one asset's moves, or an average.
double size_of(const weights& w) {
    double sum = 0;
    for (const auto& by_step : w) {
        const auto largest = std::ranges::max_element(by_step, {}, [](double x) { return std::abs(x); });
        sum += *largest;
    }
    return sum;
}

// Returns the fewest paths for a fit to so many sums: fewer would fit noise.
std::size_t fewest_paths(std::size_t sums) {
    return 8 * (sums + 8);
}
// Greatest standard deviation of a control's sum. Moments of wider exponentials can't be estimated.
constexpr double most_deviation = 2;

}  // namespace

std::optional<control> fit(const pilot_paths& on, std::span<const weights> basis, jumps may_jump,
                           double least) {
    const column& payoffs = on.payoffs;
    if (on.sums.empty() || payoffs.size() < fewest_paths(on.sums.size())) return std::nullopt;
    const regression constant(payoffs);
    const double all = constant.squares_left();
    if (!std::isfinite(all) || !(all > 0)) return std::nullopt;
    fitting of(on, may_jump);
    const auto direction = of.direction();
    if (!direction) return std::nullopt;
    const double size = size_of(weights_of(*direction, basis));
    if (size == 0 || !std::isfinite(size)) return std::nullopt;
    shape s;
    for (const double x : *direction) s.of_sums.push_back(x / size);
    of.settle(s);
    constexpr int rounds_between = 4, rounds_at_end = 16;
    while (s.knots.size() < control::most_knots && of.add_knot(s)) of.descend(s, rounds_between);
    of.descend(s, rounds_at_end);
    control out;
    out.of_moves = weights_of(s.of_sums, basis);
    out.parts = s.of_sums;
    out.on_sum = s.on_sum;
    out.on_exponential = s.on_exponential;
    std::ranges::copy(s.knots, out.knots.begin());
    if (std::ranges::any_of(s.on_ratios, [](double x) { return x != 0; })) out.on_ratios = s.on_ratios;
    out.pilot_paths = payoffs.size();
    double fourth = 0;
    for (const double x : constant.left()) fourth += x * x * x * x;
    out.share_of_hits = all * all / fourth / static_cast<double>(payoffs.size());
    const double n = static_cast<double>(payoffs.size());
    const double numbers = static_cast<double>(s.fitted->columns() + s.knots.size() + s.of_sums.size());
    double left = s.squares_left / (n - numbers);
    const double variance = all / (n - 1);
    // The fit puts a jump somewhere between two neighbouring pilot paths.
    for (const knot& k : s.knots) left += 2 * k.jump * k.jump / n;
    out.fewer_paths = left * control::fewest_paths > variance ? variance / left : control::fewest_paths;
    if (deviation_of(s.sum) > most_deviation || !(out.fewer_paths > least)) return std::nullopt;
    return out;
}

drift no_drift(const control& of) {
    drift out;
    out.parts.assign(of.parts.size(), 0.0);
    out.on_ratios.assign(of.on_ratios.size(), 0.0);
    return out;
}

control moved(control of, const drift& by, double distance) {
    const std::vector<weights> basis = basis_of(of.of_moves.size(), of.of_moves.front().size());
    const weights apart = weights_of(by.parts, basis);
    for (std::size_t i = 0; i < apart.size(); ++i) add_times(of.of_moves[i], distance, apart[i]);
    add_times(of.parts, distance, by.parts);
    of.on_sum += distance * by.on_sum;
    of.on_exponential += distance * by.on_exponential;
    if (!of.on_ratios.empty()) add_times(of.on_ratios, distance, by.on_ratios);
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        // Strikes move in proportion, so that they stay above 0 however far they move.
        const double times = kernels::exp(distance * by.knots[k].at / of.knots[k].at);
        of.knots[k].at *= times;
        if (times != 1) of.knots[k].share_between = 1;
        of.knots[k].slope += distance * by.knots[k].slope;
        of.knots[k].jump += distance * by.knots[k].jump;
    }
    return of;
}

double control::value(double sum) const {
    const double power = kernels::exp(sum);
    double out = on_sum * sum + on_exponential * power;
    for (const knot& k : knots) out += k.slope * std::max(power - k.at, 0.0) + (k.at < power ? k.jump : 0);
    return out;
}

double control::size(double sum) const {
    const double power = kernels::exp(sum);
    double out = std::abs(on_sum * sum) + std::abs(on_exponential) * power;
    for (const knot& k : knots) out += std::abs(k.slope) * std::max(power, k.at) + std::abs(k.jump);
    return out;
}

std::vector<double> sum_on(const control& of, const pilot_paths& paths) {
    column out(paths.payoffs.size(), 0.0);
    for (std::size_t r = 0; r < paths.sums.size(); ++r) add_times(out, of.parts[r], paths.sums[r]);
    return out;
}

std::vector<double> left_by(const control& of, const pilot_paths& on) {
    column out = on.payoffs;
    add_times(out, -1, map(sum_on(of, on), [&](double x) { return of.value(x); }));
    for (std::size_t k = 0; k < of.on_ratios.size(); ++k) add_times(out, -of.on_ratios[k], on.ratios[k]);
    return out;
}

namespace {

// Returns the weight below which a knot's slope or jump counts for nothing, so that its strike is not fitted.
double least_weight(const control& of) {
    double largest = std::max(std::abs(of.on_sum), std::abs(of.on_exponential));
    for (const knot& k : of.knots) largest = std::max({largest, std::abs(k.slope), std::abs(k.jump)});
    return 1e-3 * largest;
}

// Returns the strike, near its present one, at which jump number `jump` reduces the payoffs' residual most.
double best_place(const control& of, std::size_t jump, const pilot_paths& on) {
    const column sum = sum_on(of, on), power = map(sum, [](double x) { return kernels::exp(x); });
    regression others(on.payoffs);
    for (std::size_t k = 0; k < of.on_ratios.size(); ++k)
        if (of.on_ratios[k] != 0) others.add(on.ratios[k]);
    others.add(sum);
    others.add(power);
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        const knot& is = of.knots[k];
        if (is.slope != 0) others.add(call_on(power, is.at));
        if (is.jump != 0 && k != jump) others.add(digital_on(power, is.at));
    }
    column ordered = power;
    std::ranges::sort(ordered);
    const double at = of.knots[jump].at;
    const auto middle = static_cast<std::size_t>(std::ranges::lower_bound(ordered, at) - ordered.begin());
    const std::size_t reach = ordered.size() / 8;
    double best = at, most = 0;
    for (std::size_t p = middle > reach ? middle - reach : 0; p + 1 < ordered.size() && p < middle + reach;
         ++p) {
        const double place = (ordered[p] + ordered[p + 1]) / 2;
        const double worth = others.worth(digital_on(power, place));
        if (!(worth > most)) continue;
        most = worth;
        best = place;
    }
    return best;
}

}  // namespace

drift drift_of_jumps(const control& of, const pilot_paths& above, const pilot_paths& below, double distance) {
    drift out = no_drift(of);
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        if (std::abs(of.knots[k].jump) <= least_weight(of)) continue;
        const double up = best_place(of, k, above), down = best_place(of, k, below);
        out.knots[k].at = of.knots[k].at * kernels::log(up / down) / distance;
    }
    return out;
}

drift drift_of(const control& of, const pilot_paths& derivatives, double reach) {
    const drift none = no_drift(of);
    const std::vector<column>& sums = derivatives.sums;
    if (derivatives.payoffs.size() < fewest_paths(sums.size())) return none;
    const column sum = sum_on(of, derivatives), power = map(sum, [](double x) { return kernels::exp(x); });
    drift out = none;
    regression fitted(derivatives.payoffs);
    std::vector<double*> numbers;
    const auto add = [&](column c, double& number) {
        fitted.add(std::move(c));
        numbers.push_back(&number);
    };
    add(sum, out.on_sum);
    add(power, out.on_exponential);
    for (std::size_t k = 0; k < of.on_ratios.size(); ++k)
        if (of.on_ratios[k] != 0) add(derivatives.ratios[k], out.on_ratios[k]);
    const double least = least_weight(of);
    bool has_slope = std::abs(of.on_sum) > least || std::abs(of.on_exponential) > least;
    bool has_jump = false;
    column slope = map(power, [&](double x) { return of.on_sum + of.on_exponential * x; });
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        const knot& is = of.knots[k];
        if (std::abs(is.slope) > least) {
            has_slope = true;
            const column beyond = digital_on(power, is.at);
            for (std::size_t p = 0; p < slope.size(); ++p) slope[p] += is.slope * beyond[p] * power[p];
            add(call_on(power, is.at), out.knots[k].slope);
            add(map(beyond, [&](double x) { return -is.slope * x; }), out.knots[k].at);
        }
        if (std::abs(is.jump) > least) {
            has_jump = true;
            add(digital_on(power, is.at), out.knots[k].jump);
        }
    }
    // The weights of the sums are kept if the control jumps: new weights would move the jump.
    if (has_slope && !has_jump) {
        for (std::size_t r = 0; r < sums.size(); ++r) {
            column turned = slope;
            for (std::size_t p = 0; p < turned.size(); ++p) turned[p] *= sums[r][p];
            add(std::move(turned), out.parts[r]);
        }
    }
    const std::vector<double> found = fitted.coefficients();
    if (std::ranges::any_of(found, [](double x) { return !std::isfinite(x); })) return none;
    for (std::size_t i = 0; i < numbers.size(); ++i) *numbers[i] = found[i + 1];
    column turn(sum.size(), 0.0);
    for (std::size_t r = 0; r < sums.size(); ++r) add_times(turn, reach * out.parts[r], sums[r]);
    bool is_near = deviation_of(turn) <= std::max(deviation_of(sum), 0.1);
    for (std::size_t k = 0; k < of.knots.size(); ++k)
        is_near = is_near && std::abs(reach * out.knots[k].at) <= of.knots[k].at;
    return is_near ? out : none;
}

}  // namespace tilewalk::controls
