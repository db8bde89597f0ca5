// SPDX-License-Identifier: Apache-2.0
// Sums are taken in a fixed order, so that equal paths give equal shifts on every machine.
#include "engine/decide/importance/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/math.h"
#include "kernels/normal_distribution.h"
#include "kernels/philox.h"
#include "kernels/shocks.h"

namespace tilewalk::importance {

namespace {

constexpr std::size_t lanes = cpu::lanes;

// Limits on directions: one slot's normals times a power of the time left. More would fit noise.
constexpr std::size_t most_directions = 12, most_powers = 3;

// Orthonormal directions in which normals are shifted: each shifts one slot, by a function of the step.
class directions {
  public:
    directions(std::size_t slots, std::span<const double> times) : slots_(slots), steps_(times.size() - 1) {
        const std::size_t powers = std::clamp<std::size_t>(most_directions / slots, 1, most_powers);
        const double end = times.back();
        for (std::size_t d = 0; d < powers && d < steps_; ++d) {
            std::vector<double> f(steps_);
            for (std::size_t s = 0; s < steps_; ++s) {
                // The first direction is a drift at an even rate in time, or by step if no time passes.
                f[s] = end > 0 ? kernels::sqrt(times[s + 1] - times[s]) : 1.0;
                for (std::size_t k = 0; k < d; ++k)
                    f[s] *= end > 0 ? (end - times[s]) / end : double(steps_ - s) / double(steps_);
            }
            const double all = squares(f);
            for (int round = 0; round < 2; ++round) {
                for (const std::vector<double>& before : by_step_) {
                    double along = 0;
                    for (std::size_t s = 0; s < steps_; ++s) along += before[s] * f[s];
                    for (std::size_t s = 0; s < steps_; ++s) f[s] -= along * before[s];
                }
            }
            const double left = squares(f);
            if (!(left > 1e-6 * all)) continue;
            for (double& x : f) x /= kernels::sqrt(left);
            by_step_.push_back(std::move(f));
        }
    }

    std::size_t slots() const { return slots_; }
    std::size_t steps() const { return steps_; }
    std::size_t powers() const { return by_step_.size(); }
    std::size_t size() const { return slots_ * powers(); }
    std::size_t place(std::size_t slot, std::size_t power) const { return slot * powers() + power; }
    double at(std::size_t power, std::size_t step) const { return by_step_[power][step]; }

  private:
    static double squares(const std::vector<double>& of) {
        double sum = 0;
        for (const double x : of) sum += x * x;
        return sum;
    }
    std::size_t slots_, steps_;
    std::vector<std::vector<double>> by_step_;  // [power][step], the same for each slot
};

using point = std::vector<double>;  // coordinate by direction

double product(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}
// Returns the density at `at` of normals with mean `shift`, over the density of unshifted normals.
double density_of(std::span<const double> shift, std::span<const double> at) {
    return kernels::exp(product(shift, at) - 0.5 * product(shift, shift));
}

// A mixture of shifted normals; `shares` are of the shifted paths and add up to 1.
struct mixture {
    std::vector<point> shifts;
    std::vector<double> shares;
    double unshifted;  // share of all paths that is not shifted

    double density(std::span<const double> at) const {
        double sum = 0;
        for (std::size_t w = 0; w < shifts.size(); ++w) sum += shares[w] * density_of(shifts[w], at);
        return sum;
    }
    double weight(std::span<const double> at) const {
        return 1 / (unshifted + (1 - unshifted) * density(at));
    }
    // Returns a shift for each of `paths` paths; each shift as often as its share says.
    std::vector<point> dealt(std::size_t paths) const {
        std::vector<point> out;
        for (std::size_t i = 0; i < paths; ++i) {
            const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(paths);
            std::size_t way = 0;
            for (double sum = shares[0]; sum <= at && way + 1 < shifts.size(); sum += shares[++way]) continue;
            out.push_back(shifts[way]);
        }
        return out;
    }
};

// Paths of a pilot: coordinates of their normals along the directions, and payoffs.
struct paths {
    std::vector<point> at;
    std::vector<double> payoffs;
    std::size_t size() const { return payoffs.size(); }
    void add(paths&& more) {
        std::ranges::move(more.at, std::back_inserter(at));
        payoffs.insert(payoffs.end(), more.payoffs.begin(), more.payoffs.end());
    }
};

class walks {
  public:
    walks(const pilot& by, const directions& along)
        : by_(by), along_(along), normals_((along.slots() * along.steps() + 1) / 2 * 2) {}

    // Walks a path for each shift. The number of shifts must be a multiple of `lanes`.
    paths walk(std::span<const point> shifts) {
        paths out;
        for (std::size_t first = 0; first < shifts.size(); first += lanes) {
            const auto of_block = shifts.subspan(first, lanes);
            draw();
            std::vector<point> at = place(of_block);
            arrays::shock_cube cube;
            cube.first = &normals_.front().of[0];
            cube.step_stride = along_.slots() * lanes;
            cube.slot_stride = lanes;
            cube.steps = along_.steps();
            cube.slots = along_.slots();
            cube.paths = lanes;
            std::vector<double> payoffs(lanes);
            by_.walk(next_, cube, payoffs.data());
            ++next_;
            out.add({std::move(at), std::move(payoffs)});
        }
        return out;
    }
    std::uint64_t blocks_walked() const { return next_; }

  private:
    static constexpr kernels::stream_key key{0x73686966u << 2, 0x74u};

    void draw() {
        for (std::size_t block = 0; block < normals_.size(); block += 2)
            by_.draw(&normals_[block].of, by_.seed, next_ * lanes, static_cast<std::uint32_t>(block / 2),
                     key);
    }

    // Shifts the normals of a block, and returns the coordinates of its paths.
    std::vector<point> place(std::span<const point> shifts) {
        std::vector<point> out(lanes, point(along_.size(), 0.0));
        for (std::size_t step = 0; step < along_.steps(); ++step) {
            for (std::size_t slot = 0; slot < along_.slots(); ++slot) {
                double* const z = normals_[step * along_.slots() + slot].of;
                for (std::size_t d = 0; d < along_.powers(); ++d) {
                    const std::size_t k = along_.place(slot, d);
                    for (std::size_t p = 0; p < lanes; ++p) z[p] += shifts[p][k] * along_.at(d, step);
                }
                for (std::size_t d = 0; d < along_.powers(); ++d) {
                    const std::size_t k = along_.place(slot, d);
                    for (std::size_t p = 0; p < lanes; ++p) out[p][k] += z[p] * along_.at(d, step);
                }
            }
        }
        return out;
    }

    const pilot& by_;
    const directions& along_;
    std::uint64_t next_ = 0;
    struct row {
        double of[lanes];
    };
    std::vector<row> normals_;  // by step and slot; draws come in pairs of rows
};

// Shifts of all sizes: along one slot; along all alike, as if assets fell together; in random directions.
class scouts {
  public:
    scouts(std::uint64_t seed, const directions& along) : seed_(seed), along_(along) {}

    // Returns a shift for each path; groups of `alike` paths share one.
    std::vector<point> send(std::size_t paths) {
        std::vector<point> out;
        for (std::size_t i = 0; out.size() < paths; ++i) {
            // Multiples of the golden ratio spread sizes evenly over each kind.
            const double size = least + (most - least) * fraction(static_cast<double>(i) * golden);
            const double side = i % 2 == 0 ? 1 : -1;
            const bool has_one_slot = along_.slots() == 1;
            point shift(along_.size(), 0.0);
            switch (i / 2 % 4) {
                case 0:
                case 1:
                    shift[along_.place(i / 4 % along_.slots(), 0)] = side * size;
                    break;
                case 2:
                    for (std::size_t slot = 0; slot < along_.slots(); ++slot)
                        shift[along_.place(slot, 0)] =
                            side * size / kernels::sqrt(static_cast<double>(along_.slots()));
                    break;
                default:
                    take_any_way(shift, has_one_slot ? side * size : size);
            }
            out.insert(out.end(), alike, shift);
        }
        return out;
    }

  private:
    static constexpr std::size_t alike = 8;
    static_assert(lanes % alike == 0);
    // Sizes of shifts, in standard deviations. Payoffs further out than `most` hardly count.
    static constexpr double least = 1, most = 7;
    static constexpr double golden = 0.6180339887498949;
    static double fraction(double x) { return x - std::floor(x); }

    void take_any_way(point& shift, double size) {
        double squares = 0;
        for (double& x : shift) {
            const kernels::philox_block b = kernels::path_block(seed_, next_++, 0, kernels::seed_stream);
            x = kernels::norm_inv((static_cast<double>(b.x0) + 0.5) * 0x1p-32);
            squares += x * x;
        }
        for (double& x : shift) x *= size / kernels::sqrt(squares);
    }

    std::uint64_t seed_, next_ = 0;
    const directions& along_;
};

// Paths walked with many shifts, taken as one sample of the mixture of these shifts. A path's weight is the
// density of unshifted normals over that of the mixture; the share of unshifted paths bounds it.
class pool {
  public:
    pool(double centre, double unshifted) : centre_(centre), unshifted_(unshifted) {}

    // `shifts` has the shift of each path of `more`.
    void add(paths&& more, const std::vector<point>& shifts) {
        const std::size_t known = components_.size(), before = paying_.size();
        for (const point& s : shifts) {
            if (components_.size() == known || components_.back().shift != s)
                components_.push_back({s, 0.5 * product(s, s), 0});
            ++components_.back().paths;
        }
        paths_ += static_cast<double>(shifts.size());
        double largest = 0;
        for (const double y : more.payoffs) largest = std::max(largest, kernels::abs(y - centre_));
        for (std::size_t i = 0; i < more.size(); ++i)
            if (kernels::abs(more.payoffs[i] - centre_) > rounding * largest)
                paying_.push_back({std::move(more.at[i]), more.payoffs[i] - centre_});
        for (std::size_t i = 0; i < paying_.size(); ++i) {
            sampled& s = paying_[i];
            for (std::size_t k = i < before ? known : 0; k < components_.size(); ++k) {
                const component& c = components_[k];
                s.density += c.paths * kernels::exp(product(c.shift, s.at) - c.half_square);
            }
            s.weight = paths_ / s.density;
        }
    }

    // Returns the mixture closest in cross-entropy to the best sampling law for the payoff. Starts from one
    // shift, and adds shifts while each leaves clearly less variance. Empty if no path pays.
    std::optional<mixture> closest() const {
        if (paying_.empty()) return std::nullopt;
        mixture out{
            {mean_by([](const sampled& s) { return s.weight * kernels::abs(s.payoff); })}, {1.0}, unshifted_};
        while (out.shifts.size() < most_ways) {
            mixture more = out;
            // Start the new shift at the mean of the paths that make most of the second moment.
            more.shifts.push_back(
                mean_by([&](const sampled& s) { return s.weight * out.weight(s.at) * s.payoff * s.payoff; }));
            for (double& x : more.shares) x *= 0.5;
            more.shares.push_back(0.5);
            settle(more);
            if (!(squares_left(more) < clearly_less * squares_left(out))) break;
            out = std::move(more);
        }
        return out;
    }

  private:
    static constexpr double rounding = 1e-12;
    static constexpr std::size_t most_ways = 3;
    static constexpr double clearly_less = 0.85;

    struct component {
        point shift;
        double half_square = 0, paths = 0;
    };
    struct sampled {
        point at;
        double payoff = 0;
        double density = 0;  // sum over components of density times number of paths
        double weight = 0;
    };

    point mean_by(const auto& counts) const {
        point out(paying_.front().at.size(), 0.0);
        double sum = 0;
        for (const sampled& s : paying_) {
            const double x = counts(s);
            sum += x;
            for (std::size_t k = 0; k < out.size(); ++k) out[k] += x * s.at[k];
        }
        for (double& x : out) x /= sum;
        return out;
    }
    // Returns the second moment, up to a constant factor, that a run with this mixture would have.
    double squares_left(const mixture& by) const {
        double sum = 0;
        for (const sampled& s : paying_) sum += s.weight * by.weight(s.at) * s.payoff * s.payoff;
        return sum;
    }
    // Improves a mixture by expectation maximisation: each path belongs to the shifts in proportion to their
    // densities, and each shift moves to the weighted mean of its paths.
    void settle(mixture& m) const {
        constexpr int rounds = 20;
        for (int round = 0; round < rounds; ++round) {
            mixture next{std::vector<point>(m.shifts.size(), point(m.shifts.front().size(), 0.0)),
                         std::vector<double>(m.shifts.size(), 0.0), m.unshifted};
            for (const sampled& s : paying_) {
                const double counts = s.weight * kernels::abs(s.payoff) / m.density(s.at);
                for (std::size_t w = 0; w < m.shifts.size(); ++w) {
                    const double part = counts * m.shares[w] * density_of(m.shifts[w], s.at);
                    next.shares[w] += part;
                    for (std::size_t k = 0; k < s.at.size(); ++k) next.shifts[w][k] += part * s.at[k];
                }
            }
            double all = 0;
            for (const double x : next.shares) all += x;
            for (std::size_t w = 0; w < m.shifts.size(); ++w) {
                // A shift that attracts no paths keeps its place.
                if (!(next.shares[w] > least_share * all)) {
                    next.shares[w] = least_share * all;
                    next.shifts[w] = m.shifts[w];
                } else {
                    for (double& x : next.shifts[w]) x /= next.shares[w];
                }
            }
            all = 0;
            for (const double x : next.shares) all += x;
            for (double& x : next.shares) x /= all;
            m = std::move(next);
        }
    }
    static constexpr double least_share = 0.01;

    double centre_, unshifted_, paths_ = 0;
    std::vector<sampled> paying_;
    std::vector<component> components_;
};

// Returns the payoff's centre. At least half of the paths of a rare payoff pay the median, so variance comes
// from payoffs that differ from it.
double median_of(std::vector<double> payoffs) {
    const auto middle = payoffs.begin() + static_cast<std::ptrdiff_t>(payoffs.size() / 2);
    std::nth_element(payoffs.begin(), middle, payoffs.end());
    return *middle;
}

// Returns the effective share of paths that differ from the centre: the share if all differences were equal.
double share_that_pays(std::span<const double> payoffs, double centre) {
    double sum = 0, squares = 0;
    for (const double y : payoffs) {
        sum += kernels::abs(y - centre);
        squares += (y - centre) * (y - centre);
    }
    return squares > 0 ? sum * sum / (squares * static_cast<double>(payoffs.size())) : 0;
}
// Above this share a payoff is not rare: shifts gain little, and points and controls gain more without them.
constexpr double most_share_that_pays = 0.1;

// Variances per path without shifts and with weights, both estimated on paths of the run's mixture.
struct variances {
    double plain = 0, weighted = 0;
    double fewer_paths() const {
        if (!(plain > 0)) return 1;
        constexpr double most = 1e12;
        return weighted * most > plain ? plain / weighted : most;
    }
};
variances judged(const paths& of, const mixture& by, double centre) {
    double mean = 0;
    variances out;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const double y = of.payoffs[i] - centre, w = by.weight(of.at[i]);
        mean += w * y;
        out.plain += w * y * y;
        out.weighted += w * y * (w * y);
    }
    const double n = static_cast<double>(of.size());
    mean /= n;
    out.plain = out.plain / n - mean * mean;
    out.weighted = out.weighted / n - mean * mean;
    return out;
}
double variance_of(std::span<const double> payoffs, double centre) {
    double sum = 0, squares = 0;
    for (const double y : payoffs) {
        sum += y - centre;
        squares += (y - centre) * (y - centre);
    }
    const double n = static_cast<double>(payoffs.size());
    return squares / n - sum / n * (sum / n);
}
// True if unshifted paths do not contradict the gain: the mixture's weights reduce their second moment.
bool agree(const paths& plain, const mixture& by, double centre) {
    double squares = 0, weighted = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double y = plain.payoffs[i] - centre;
        squares += y * y;
        weighted += by.weight(plain.at[i]) * y * y;
    }
    return weighted <= squares;
}
// Least gain in paths. Paths with shifts take up to twice as long, and a pilot may err.
constexpr double least_gain = 3;

bool all_finite(const std::vector<double>& of) {
    return std::ranges::all_of(of, [](double x) { return std::isfinite(x); });
}

}  // namespace

outcome find(const pilot& by) {
    outcome out;
    const std::size_t steps = by.times.size() - 1;
    const bool fits =
        by.slots > 0 && by.slots <= pilot::most_slots && steps > 0 && by.slots * steps <= pilot::most_normals;
    if (!fits || by.blocks < pilot::fewest_blocks) return out;
    const directions along(by.slots, by.times);
    walks with(by, along);
    const std::size_t of_plain = std::max<std::size_t>(by.blocks / 8, 1) * lanes,
                      of_scouts = std::max<std::size_t>(by.blocks / 4, 1) * lanes, of_judges = of_scouts,
                      of_rounds = by.blocks * lanes - of_plain - of_scouts - of_judges;
    const point none(along.size(), 0.0);

    const paths plain = with.walk(std::vector<point>(of_plain, none));
    if (!all_finite(plain.payoffs)) return out;
    const double centre = median_of(plain.payoffs);
    out.variance = variance_of(plain.payoffs, centre);
    if (share_that_pays(plain.payoffs, centre) > most_share_that_pays) return out;

    pool known(centre, by.unshifted);
    known.add(paths(plain), std::vector<point>(of_plain, none));
    const auto look = [&](const std::vector<point>& shifts) {
        paths found = with.walk(shifts);
        if (!all_finite(found.payoffs)) return false;
        known.add(std::move(found), shifts);
        return true;
    };
    if (!look(scouts(by.seed, along).send(of_scouts))) return out;
    std::optional<mixture> best = known.closest();
    constexpr std::size_t most_rounds = 4;
    const std::size_t blocks = of_rounds / lanes, rounds = std::min(most_rounds, blocks);
    for (std::size_t r = 0; best && r < rounds; ++r) {
        const std::size_t of_round = blocks * (r + 1) / rounds - blocks * r / rounds;
        if (!look(best->dealt(of_round * lanes))) return out;
        best = known.closest();
    }
    if (!best) return out;

    // The last paths judge the mixture as a run would use it, with its share of unshifted paths.
    const auto unshifted = static_cast<std::size_t>(by.unshifted * static_cast<double>(of_judges) + 0.5);
    std::vector<point> mixed = best->dealt(of_judges - unshifted);
    mixed.resize(of_judges, none);
    const paths judges = with.walk(mixed);
    if (!all_finite(judges.payoffs)) return out;
    const variances of = judged(judges, *best, centre);
    if (!(of.fewer_paths() > least_gain) || !agree(plain, *best, centre)) return out;
    out.variance = of.weighted;
    found_shifts& found = out.shifts.emplace();
    found.fewer_paths = of.fewer_paths();
    found.pilot_paths = with.blocks_walked() * lanes;
    found.normals.centre = centre;
    found.normals.unshifted = by.unshifted;
    for (std::size_t w = 0; w < best->shifts.size(); ++w) {
        program::normal_shift& way = found.normals.ways.emplace_back();
        way.share = best->shares[w];
        way.by_slot.assign(by.slots, std::vector<double>(steps, 0.0));
        for (std::size_t slot = 0; slot < by.slots; ++slot)
            for (std::size_t d = 0; d < along.powers(); ++d)
                for (std::size_t s = 0; s < steps; ++s)
                    way.by_slot[slot][s] += best->shifts[w][along.place(slot, d)] * along.at(d, s);
    }
    return out;
}

}  // namespace tilewalk::importance
