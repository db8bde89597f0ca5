// SPDX-License-Identifier: Apache-2.0
// The fit of a control to the paths of a pilot. All sums are taken in one order, so that the same control
// comes of the same paths everywhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/controls/control.h"
#include "kernels/math.h"

namespace tilewalk::controls {

namespace {

using column = std::vector<double>;

// Paths are summed in eight parts, which a processor adds up side by side.
double product(const column& a, const column& b) {
    constexpr std::size_t parts = 8;
    std::array<double, parts> sums{};
    std::size_t p = 0;
    for (; p + parts <= a.size(); p += parts)
        for (std::size_t k = 0; k < parts; ++k) sums[k] += a[p + k] * b[p + k];
    for (; p < a.size(); ++p) sums[0] += a[p] * b[p];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}
void add_times(column& to, double factor, const column& what) {
    for (std::size_t p = 0; p < to.size(); ++p) to[p] += factor * what[p];
}

// Least squares: columns are made orthogonal to those before them, one after the other.
class regression {
  public:
    explicit regression(column of) : left_(std::move(of)) { add(column(left_.size(), 1.0)); }

    // A column that those before it add up to has the coefficient 0.
    void add(column c) {
        const double all = product(c, c);
        // Twice, because once leaves what rounding made.
        std::vector<double> on = taken_from(c, 2);
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
        directions_.push_back(std::move(c));
        on_.push_back(std::move(on));
        along_.push_back(along);
    }
    // The squares that a column would take away.
    double worth(column c) const {
        const double all = product(c, c);
        taken_from(c, 1);
        const double squares = product(c, c);
        if (!(squares > least_share * all)) return 0;
        const double along = product(c, left_);
        return along * along / squares;
    }
    // By column; the first is the constant.
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

  private:
    static constexpr double least_share = 1e-10;
    std::vector<double> taken_from(column& c, int rounds) const {
        std::vector<double> on(directions_.size(), 0.0);
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < directions_.size(); ++i) {
                const double x = product(directions_[i], c);
                on[i] += x;
                add_times(c, -x, directions_[i]);
            }
        }
        return on;
    }

    column left_;
    std::vector<column> directions_;
    std::vector<std::vector<double>> on_;  // by column, its parts along the directions up to its own
    std::vector<double> along_;            // of what is fitted
};

// Payoffs as a function of one sum: its coefficients, and what they leave.
struct shape {
    std::vector<double> of_sums;  // by sum of the basis
    double on_sum = 0, on_exponential = 0;
    std::vector<knot> knots{};
    std::vector<bool> is_jump{};  // by knot; else a change of slope
    column sum{}, power{}, left{};
    double squares_left = 0;
    std::size_t numbers = 0;
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

class fitting {
  public:
    fitting(std::span<const double> payoffs, std::span<const std::vector<double>> sums, jumps may_jump)
        : payoffs_(payoffs.begin(), payoffs.end()),
          sums_(sums),
          may_jump_(may_jump == jumps::yes),
          nothing_left_(1e-28 * product(payoffs_, payoffs_)) {}

    // The linear fit, or nothing if payoffs depend on no sum.
    std::optional<std::vector<double>> direction() const {
        regression linear(payoffs_);
        for (const column& s : sums_) linear.add(s);
        std::vector<double> out = linear.coefficients();
        out.erase(out.begin());
        if (std::ranges::all_of(out, [](double x) { return x == 0 || !std::isfinite(x); }))
            return std::nullopt;
        return out;
    }

    // Everything but knots and directions is fitted anew.
    void settle(shape& s) const {
        s.sum.assign(payoffs_.size(), 0.0);
        for (std::size_t r = 0; r < sums_.size(); ++r) add_times(s.sum, s.of_sums[r], sums_[r]);
        s.power = map(s.sum, [](double x) { return kernels::exp(x); });
        regression of(payoffs_);
        add_functions(s, of);
        const std::vector<double> found = of.coefficients();
        s.on_sum = found[1];
        s.on_exponential = found[2];
        for (std::size_t k = 0; k < s.knots.size(); ++k) {
            s.knots[k].slope = s.is_jump[k] ? 0 : found[3 + k];
            s.knots[k].jump = s.is_jump[k] ? found[3 + k] : 0;
        }
        s.left = of.left();
        s.squares_left = of.squares_left();
        s.numbers = of.columns();
    }

    // Adds the knot that takes most away, among quantiles of the exponential. False if that is next to
    // nothing.
    bool add_knot(shape& s) const {
        if (s.squares_left <= nothing_left_) return false;
        regression of(payoffs_);
        add_functions(s, of);
        column ordered = s.power;
        std::ranges::sort(ordered);
        double most = least_share_of_knot * of.squares_left();
        bool found = false, is_jump = false;
        std::size_t best = 0;
        const auto try_at = [&](std::size_t place, bool jump) {
            const double at = ordered[place];
            if (!jump && !has_room(s, at)) return;
            const double worth = of.worth(jump ? digital_on(s.power, at) : call_on(s.power, at));
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
        // No descent moves a jump: it is looked for among the paths around.
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

    // Gauss and Newton: all numbers move at once, the knots of calls and the direction among them, as long as
    // that leaves less.
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
    static constexpr double most_growth = 1.5, narrow = 0.5;  // of deviations of sums

    // Paths beyond each strike, and between two. Calls with next to none between them would make a jump that
    // no path shows.
    std::size_t least_apart() const { return std::max<std::size_t>(payoffs_.size() / 128, 4); }
    static std::ptrdiff_t paths_below(const shape& s, double at) {
        return std::ranges::count_if(s.power, [at](double x) { return x < at; });
    }
    bool are_apart(std::ptrdiff_t a, std::ptrdiff_t b) const {
        return std::abs(a - b) >= static_cast<std::ptrdiff_t>(least_apart());
    }
    // For a call with this strike.
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

    static void add_functions(const shape& s, regression& to) {
        to.add(s.sum);
        to.add(s.power);
        for (std::size_t k = 0; k < s.knots.size(); ++k)
            to.add(s.is_jump[k] ? digital_on(s.power, s.knots[k].at) : call_on(s.power, s.knots[k].at));
    }

    bool step(shape& s) const {
        regression of(s.left);
        add_functions(s, of);
        // Derivatives to the sum, and to the strikes of calls.
        column slope = map(s.power, [&](double x) { return s.on_sum + s.on_exponential * x; });
        std::vector<std::size_t> moving;
        for (std::size_t k = 0; k < s.knots.size(); ++k) {
            if (s.is_jump[k] || s.knots[k].slope == 0) continue;
            moving.push_back(k);
            column beyond = digital_on(s.power, s.knots[k].at);
            for (double& x : beyond) x *= s.knots[k].slope;
            for (std::size_t p = 0; p < slope.size(); ++p) slope[p] += beyond[p] * s.power[p];
            for (double& x : beyond) x = -x;
            of.add(std::move(beyond));
        }
        for (const column& sum : sums_) {
            column moved = slope;
            for (std::size_t p = 0; p < moved.size(); ++p) moved[p] *= sum[p];
            of.add(std::move(moved));
        }
        const std::vector<double> by = of.coefficients();
        const std::size_t at_knots = 3 + s.knots.size(), at_sums = at_knots + moving.size();
        for (double share = 1; share > 0.05; share /= 2) {
            shape to = s;
            for (std::size_t i = 0; i < moving.size(); ++i)
                to.knots[moving[i]].at += share * by[at_knots + i];
            for (std::size_t r = 0; r < sums_.size(); ++r) to.of_sums[r] += share * by[at_sums + r];
            if (std::ranges::any_of(to.knots, [](const knot& k) { return !(k.at > 0); })) continue;
            settle(to);
            if (!(to.squares_left < s.squares_left) || !is_spread_out(to)) continue;
            // The wider a sum, the more of the mean of its exponential is on paths that no pilot has.
            if (deviation_of(to.sum) > most_deviation_) continue;
            s = std::move(to);
            return true;
        }
        return false;
    }

    const column payoffs_;
    std::span<const std::vector<double>> sums_;
    const bool may_jump_;
    const double nothing_left_;  // but rounding
    double most_deviation_ = 0;  // of a sum; 0: it is not known yet
};

// Weights of the sum that has these parts of the basis.
weights weights_of(const std::vector<double>& parts, std::span<const weights> basis) {
    weights out(basis.front().size(), std::vector<double>(basis.front().front().size(), 0.0));
    for (std::size_t r = 0; r < basis.size(); ++r)
        for (std::size_t i = 0; i < out.size(); ++i) add_times(out[i], parts[r], basis[r][i]);
    return out;
}

// The largest weight of each source, added up: 1 for an asset's own moves, and for an average of assets.
double size_of(const weights& w) {
    double sum = 0;
    for (const auto& by_step : w) {
        const auto largest = std::ranges::max_element(by_step, {}, [](double x) { return std::abs(x); });
        sum += *largest;
    }
    return sum;
}

// Fewer paths would be fitted by chance.
std::size_t fewest_paths(std::size_t sums) {
    return 8 * (sums + 8);
}
// A wider exponential has no moments to speak of.
constexpr double most_deviation = 2;

}  // namespace

std::optional<control> fit(std::span<const double> payoffs, std::span<const std::vector<double>> sums,
                           std::span<const weights> basis, jumps may_jump, double least_gain) {
    if (sums.empty() || payoffs.size() < fewest_paths(sums.size())) return std::nullopt;
    const regression constant(column(payoffs.begin(), payoffs.end()));
    const double all = constant.squares_left();
    if (!std::isfinite(all) || !(all > 0)) return std::nullopt;
    fitting of(payoffs, sums, may_jump);
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
    out.pilot_paths = payoffs.size();
    double fourth = 0;
    for (const double x : constant.left()) fourth += x * x * x * x;
    out.share_of_hits = all * all / fourth / static_cast<double>(payoffs.size());
    const double n = static_cast<double>(payoffs.size());
    const double numbers = static_cast<double>(s.numbers + s.knots.size() + s.of_sums.size());
    double left = s.squares_left / (n - numbers);
    const double variance = all / (n - 1);
    // A jump lies somewhere between two paths of the pilot.
    for (const knot& k : s.knots) left += 2 * k.jump * k.jump / n;
    out.fewer_paths = left * control::fewest_paths > variance ? variance / left : control::fewest_paths;
    if (deviation_of(s.sum) > most_deviation || !(out.fewer_paths > least_gain)) return std::nullopt;
    return out;
}

control moved(control of, const drift& by, double distance) {
    const std::vector<weights> basis = basis_of(of.of_moves.size(), of.of_moves.front().size());
    const weights apart = weights_of(by.parts, basis);
    for (std::size_t i = 0; i < apart.size(); ++i) add_times(of.of_moves[i], distance, apart[i]);
    add_times(of.parts, distance, by.parts);
    of.on_sum += distance * by.on_sum;
    of.on_exponential += distance * by.on_exponential;
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        // No strike falls to 0, however far it moves.
        of.knots[k].at *= kernels::exp(distance * by.knots[k].at / of.knots[k].at);
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

namespace {

column sum_of(const control& of, std::span<const std::vector<double>> sums) {
    column out(sums.front().size(), 0.0);
    for (std::size_t r = 0; r < sums.size(); ++r) add_times(out, of.parts[r], sums[r]);
    return out;
}

}  // namespace

std::vector<double> left_by(const control& of, const pilot_paths& on) {
    column out = on.payoffs;
    add_times(out, -1, map(sum_of(of, on.sums), [&](double x) { return of.value(x); }));
    return out;
}

namespace {

// It does not matter where a knot of next to nothing stands.
double least_weight(const control& of) {
    double largest = std::max(std::abs(of.on_sum), std::abs(of.on_exponential));
    for (const knot& k : of.knots) largest = std::max({largest, std::abs(k.slope), std::abs(k.jump)});
    return 1e-3 * largest;
}

// The place, about the one that it has, where a jump of the control takes most away from payoffs.
double best_place(const control& of, std::size_t jump, std::span<const double> payoffs,
                  std::span<const std::vector<double>> sums) {
    const column sum = sum_of(of, sums), power = map(sum, [](double x) { return kernels::exp(x); });
    regression others(column(payoffs.begin(), payoffs.end()));
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
    drift out;
    out.parts.assign(above.sums.size(), 0.0);
    for (std::size_t k = 0; k < of.knots.size(); ++k) {
        if (std::abs(of.knots[k].jump) <= least_weight(of)) continue;
        const double up = best_place(of, k, above.payoffs, above.sums),
                     down = best_place(of, k, below.payoffs, below.sums);
        out.knots[k].at = of.knots[k].at * kernels::log(up / down) / distance;
    }
    return out;
}

drift drift_of(const control& of, std::span<const double> derivatives,
               std::span<const std::vector<double>> sums, double reach) {
    drift none;
    none.parts.assign(sums.size(), 0.0);
    if (derivatives.size() < fewest_paths(sums.size())) return none;
    const column sum = sum_of(of, sums), power = map(sum, [](double x) { return kernels::exp(x); });
    drift out = none;
    regression fitted(column(derivatives.begin(), derivatives.end()));
    std::vector<double*> numbers;
    const auto add = [&](column c, double& number) {
        fitted.add(std::move(c));
        numbers.push_back(&number);
    };
    add(sum, out.on_sum);
    add(power, out.on_exponential);
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
    // The sum that a jump depends on would move the jump.
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
