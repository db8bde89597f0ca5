// SPDX-License-Identifier: Apache-2.0
#include "engine/numerics/quasi/order.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "engine/numerics/quasi/directions.h"
#include "kernels/arithmetic.h"
#include "products/language/nearest.h"
#include "tilewalk/error.h"

namespace tilewalk::quasi {

namespace {

using kernels::bridge_node;

// If a path has more uniforms than this, none come from points: they would take dimensions from normals.
constexpr std::uint64_t most_quasi_uniforms = 64;

// Dates of a coarse bridge, and of principal components. At 2^17 paths 32 dates leave an Asian on 252 dates
// 1.3 times the variance that a full bridge leaves (bench/README.md). Components cost their number squared.
constexpr std::size_t coarse_dates = 32, component_dates = 64;

std::vector<order::place_of_slot> slots_of(std::span<const std::uint32_t> streams, int slots,
                                           std::span<const program::stream_name> names) {
    std::vector<order::place_of_slot> out;
    for (const program::place_in_stream& p : program::places_in_streams(streams, slots))
        out.push_back({p, kernels::stream_key_of(program::key_of(names, p.stream))});
    return out;
}

// A gap between two steps known already; the longest gap comes first.
struct gap {
    int left, right;
    double length;
    friend bool operator<(const gap& a, const gap& b) {
        return a.length != b.length ? a.length < b.length : a.left > b.left;
    }
};

class bridge {
  public:
    // `clock` has the time at the end of each step, in increasing order.
    explicit bridge(std::span<const double> clock) : clock_(clock) {}

    // Adds nodes for steps of an increasing list that have none yet.
    void add_steps(std::span<const int> steps) {
        if (steps.empty()) return;
        if (known_.empty() || known_.back() < steps.back()) {
            take_last(known_.empty() ? -1 : known_.back(), steps.back());
        }
        std::priority_queue<gap> gaps;
        const auto add = [&](int left, int right) {
            if (has_between(steps, left, right)) gaps.push({left, right, time(right) - time(left)});
        };
        int left = -1;
        for (const int right : known_) {
            add(left, right);
            left = right;
        }
        while (!gaps.empty()) {
            const gap of = gaps.top();
            gaps.pop();
            const int middle = middle_of(steps, of);
            take_between(of.left, middle, of.right);
            add(of.left, middle);
            add(middle, of.right);
        }
    }
    void know_all(std::span<const int> steps) {
        for (const int s : steps) {
            nodes_.push_back({s, -1, -1, 0, 0, 0});
            know(s);
        }
    }
    // Keeps the first `kept` nodes; all other steps follow in order of time, each between the step before and
    // the next kept one.
    void go_on_in_time(std::size_t kept) {
        nodes_.resize(std::min(kept, nodes_.size()));
        known_.clear();
        for (const bridge_node& n : nodes_) know(n.step);
        const std::vector<int> before = known_;
        auto next = before.begin();
        for (int s = 0; s < static_cast<int>(clock_.size()); ++s) {
            if (next != before.end() && *next == s) {
                ++next;
            } else if (next == before.end()) {
                take_last(s - 1, s);
            } else {
                take_between(s - 1, s, *next);
            }
        }
    }
    const std::vector<bridge_node>& nodes() const { return nodes_; }

  private:
    double time(int step) const { return step < 0 ? 0 : clock_[static_cast<std::size_t>(step)]; }
    static bool has_between(std::span<const int> steps, int left, int right) {
        const auto next = std::ranges::upper_bound(steps, left);
        return next != steps.end() && *next < right;
    }
    // The step of the list, between both ends of the gap, that is nearest to the middle of its time.
    int middle_of(std::span<const int> steps, const gap& of) const {
        const double middle = (time(of.left) + time(of.right)) / 2;
        const auto first = std::ranges::upper_bound(steps, of.left),
                   end = std::ranges::lower_bound(steps, of.right);
        const auto behind =
            std::lower_bound(first, end, middle, [&](int s, double t) { return time(s) < t; });
        if (behind == first) return *first;
        if (behind == end || distance(*std::prev(behind), middle) <= distance(*behind, middle))
            return *std::prev(behind);
        return *behind;
    }
    double distance(int step, double from) const { return kernels::abs(time(step) - from); }
    void know(int step) { known_.insert(std::ranges::upper_bound(known_, step), step); }
    void take_last(int left, int step) {
        nodes_.push_back({step, left, -1, left < 0 ? 0.0 : 1.0, 0, kernels::sqrt(time(step) - time(left))});
        know(step);
    }
    void take_between(int left, int step, int right) {
        const double all = time(right) - time(left), before = time(step) - time(left),
                     behind = time(right) - time(step);
        nodes_.push_back({step, left, right, left < 0 ? 0.0 : behind / all, before / all,
                          kernels::sqrt(before * behind / all)});
        know(step);
    }

    std::span<const double> clock_;
    std::vector<int> known_;
    std::vector<bridge_node> nodes_;
};

// The time at the end of each step. A step of no length counts as long as the shortest other one.
std::vector<double> clock_of(const program::timeline& when) {
    double least = 0;
    for (std::size_t s = 0; s < when.steps(); ++s) {
        const double takes = when.times[s + 1] - when.times[s];
        if (takes > 0 && (least == 0 || takes < least)) least = takes;
    }
    if (least == 0) least = 1;
    std::vector<double> out;
    double now = 0;
    for (std::size_t s = 0; s < when.steps(); ++s) {
        const double takes = when.times[s + 1] - when.times[s];
        out.push_back(now += takes > 0 ? takes : least);
    }
    return out;
}

std::vector<int> some_of(std::span<const int> list, std::size_t most) {
    if (list.size() <= most) return {list.begin(), list.end()};
    std::vector<int> out;
    for (std::size_t i = 1; i <= most; ++i) out.push_back(list[i * list.size() / most - 1]);
    return out;
}

void take_components(std::span<const int> steps, std::span<const double> clock, order_of_steps& to) {
    std::vector<double> times;
    for (const int s : steps) times.push_back(clock[static_cast<std::size_t>(s)]);
    const std::size_t n = times.size();
    const principal_axes axes = axes_of_brownian_path(times);
    to.components = n;
    to.variances = axes.variances;
    to.loadings = axes.directions;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) to.loadings[k * n + i] *= kernels::sqrt(axes.variances[i]);
}

order_of_steps bridged(const program::timeline& when, const std::vector<bool>& is_looked_at,
                       construction how) {
    const std::vector<double> clock = clock_of(when);
    std::vector<int> all(clock.size()), looked_at;
    std::iota(all.begin(), all.end(), 0);
    for (const int s : all)
        if (is_looked_at[static_cast<std::size_t>(s)]) looked_at.push_back(s);
    order_of_steps out;
    bridge made(clock);
    if (how == construction::principal) {
        const std::vector<int> dates = some_of(looked_at.empty() ? all : looked_at, component_dates);
        take_components(dates, clock, out);
        made.know_all(dates);
    }
    made.add_steps(looked_at);
    made.add_steps(all);
    if (how == construction::coarse) made.go_on_in_time(coarse_dates);
    out.nodes = made.nodes();
    out.most_points = how == construction::coarse ? std::min(coarse_dates, clock.size()) : clock.size();
    for (std::size_t n = out.components; n < out.nodes.size(); ++n)
        out.variances.push_back(out.nodes[n].deviation * out.nodes[n].deviation);
    for (std::size_t s = 0; s < clock.size(); ++s)
        out.inverse_roots.push_back(1 / kernels::sqrt(clock[s] - (s == 0 ? 0 : clock[s - 1])));
    return out;
}

order_of_steps in_time(std::size_t steps) {
    order_of_steps out;
    for (std::size_t s = 0; s < steps; ++s) out.nodes.push_back({static_cast<int>(s), -1, -1, 0, 0, 1});
    out.variances.assign(steps, 1.0);
    out.most_points = steps;
    return out;
}

}  // namespace

construction construction_named(std::string_view name) {
    const auto found = choice_named<construction>(name);
    if (!found || found == construction::automatic)
        throw error(error_kind::usage, "there is no construction '" + std::string(name) +
                                           "'; expected one of " +
                                           language::joined(std::vector<std::string>(
                                               construction_names.begin(), construction_names.end())));
    return *found;
}

order::order(const program::path_program& code, const program::path_data& data,
             std::shared_ptr<const order_of_steps> by_steps, rotated_slots rotated, bool by_variance)
    : normals_(slots_of(code.normal_streams, code.normals_per_step, data.normal_names)),
      uniforms_(slots_of(code.uniform_streams, code.uniforms_per_step, data.uniform_names)),
      steps_(std::move(by_steps)),
      rotated_(std::move(rotated)),
      by_variance_(by_variance) {
    for (const std::uint32_t slot : code.lone_normals) normals_[slot].is_lone = true;
    const std::size_t count = steps_->nodes.size();
    has_quasi_uniforms_ = !uniforms_.empty() && count * uniforms_.size() <= most_quasi_uniforms &&
                          count * (normals_.size() + uniforms_.size()) <= most_dimensions;
    normal_dimensions_.assign(count * normals_.size(), kernels::no_dimension);
    if (has_quasi_uniforms_) uniform_dimensions_.assign(count * uniforms_.size(), kernels::no_dimension);
    if (by_variance_) {
        take_dimensions_by_variance();
    } else {
        take_dimensions_node_by_node();
    }
}

// Nodes take dimensions in order: all that a node needs, or none if too few are left.
void order::take_dimensions_node_by_node() {
    const std::size_t uniforms = has_quasi_uniforms_ ? uniforms_.size() : 0, all = normals_.size() + uniforms;
    std::uint32_t next = 0;
    for (std::size_t n = 0; n < steps_->nodes.size() && next + all <= most_dimensions; ++n) {
        for (std::size_t s = 0; s < normals_.size(); ++s, ++next)
            if (n < steps_->most_points) normal_dimensions_[n * normals_.size() + s] = next;
        for (std::size_t s = 0; s < uniforms; ++s) uniform_dimensions_[n * uniforms + s] = next++;
    }
}

void order::take_dimensions_by_variance() {
    struct component_of_walk {
        double variance;
        std::uint32_t* dimension;
    };
    std::vector<double> weights(normals_.size(), 1.0);
    for (std::size_t j = 0; j < rotated_.slots.size(); ++j)
        weights[rotated_.slots[j]] = rotated_.variances[j];
    const auto variance_of_step = [&](std::size_t step) {
        if (!is_bridged()) return 1.0;
        const double root = steps_->inverse_roots[step];
        return 1 / (root * root);
    };
    std::vector<component_of_walk> components_of_walk;
    for (std::size_t n = 0; n < steps_->nodes.size(); ++n) {
        const auto step = static_cast<std::size_t>(steps_->nodes[n].step);
        for (std::size_t s = 0; s < normals_.size(); ++s)
            components_of_walk.push_back(
                {weights[s] * (normals_[s].is_lone ? variance_of_step(step) : steps_->variances[n]),
                 &normal_dimensions_[n * normals_.size() + s]});
        // Adds uniforms of step n, which need not be the node's step: the list is sorted below.
        for (std::size_t s = 0; has_quasi_uniforms_ && s < uniforms_.size(); ++s)
            components_of_walk.push_back(
                {variance_of_step(n), &uniform_dimensions_[n * uniforms_.size() + s]});
    }
    std::ranges::stable_sort(components_of_walk, std::ranges::greater{}, &component_of_walk::variance);
    for (std::uint32_t d = 0; d < components_of_walk.size() && d < most_dimensions; ++d)
        *components_of_walk[d].dimension = d;
}

bool meets_targets(const points& of, const program::path_program& code, const program::timeline& when) {
    static_assert(2 * coarse_dates >= most_quasi_uniforms);
    const auto normals = static_cast<std::size_t>(code.normals_per_step);
    // With fewer steps, places at targets would take as much memory as the moves of all steps.
    return of.construction == construction::coarse && normals > 0 && when.steps() > 2 * coarse_dates &&
           coarse_dates * normals <= most_dimensions;
}

bool are_few(const points& of, const program::path_program& code, const program::timeline& when) {
    const std::size_t taken = when.steps() * static_cast<std::size_t>(code.normals_per_step);
    const bool is_in_steps = of.construction == construction::steps ||
                             (when.steps() == 1 && of.construction != construction::principal);
    return is_in_steps && code.uniforms_per_step == 0 && taken > 0 && taken <= few_dimensions;
}

steps_to_targets order::steps_to_targets() const {
    const std::span<const bridge_node> targets = nodes().first(steps_->most_points);
    std::vector<int> in_time;
    for (const bridge_node& t : targets) in_time.push_back(t.step);
    std::ranges::sort(in_time);
    const auto number_of = [&](int step) {
        return step < 0 ? -1 : static_cast<int>(std::ranges::lower_bound(in_time, step) - in_time.begin());
    };
    quasi::steps_to_targets out;
    for (bridge_node t : targets) {
        for (int* const step : {&t.step, &t.left, &t.right}) *step = number_of(*step);
        out.nodes.push_back(t);
    }
    out.steps.resize(steps());
    out.ahead.resize(steps());
    for (std::size_t n = 0; n < steps(); ++n) {
        const bridge_node& of = nodes()[n];
        const auto step = static_cast<std::size_t>(of.step);
        const double root = inverse_roots()[step];
        const bool is_target = n < targets.size();
        out.steps[step] = is_target
                              ? kernels::step_to_target<double>{0, 1, 0, root}
                              : kernels::step_to_target<double>{of.by_left, of.by_right, of.deviation, root};
        const int ahead = is_target ? of.step : of.right;
        out.ahead[step] =
            static_cast<std::uint32_t>(ahead < 0 ? static_cast<int>(targets.size()) - 1 : number_of(ahead));
    }
    return out;
}

std::vector<std::uint64_t> order::identity() const {
    std::vector<std::uint64_t> out{reinterpret_cast<std::uintptr_t>(steps_.get()), normals_.size(),
                                   by_variance_};
    for (const auto* slots : {&normals_, &uniforms_}) {
        for (const place_of_slot& s : *slots) {
            out.push_back(std::uint64_t{s.in_stream.dimension} << 32 | s.in_stream.dimensions);
            out.push_back(std::uint64_t{s.key.high} << 32 | s.key.low);
            out.push_back(s.is_lone);
        }
    }
    for (const std::uint32_t slot : rotated_.slots) out.push_back(slot);
    for (const auto* numbers : {&rotated_.rotation, &rotated_.variances})
        for (const double x : *numbers) out.push_back(std::bit_cast<std::uint64_t>(x));
    return out;
}

bool order::makes_the_numbers_of(const order& other) const {
    const auto is_same_node = [](const bridge_node& a, const bridge_node& b) {
        return a.step == b.step && a.left == b.left && a.right == b.right && a.by_left == b.by_left &&
               a.by_right == b.by_right && a.deviation == b.deviation;
    };
    return is_bridged() == other.is_bridged() && std::ranges::equal(nodes(), other.nodes(), is_same_node) &&
           std::ranges::equal(loadings(), other.loadings()) && rotated_.rotation == other.rotated_.rotation &&
           normal_dimensions_ == other.normal_dimensions_ && uniform_dimensions_ == other.uniform_dimensions_;
}

template <class key, class F>
std::shared_ptr<const order_of_steps> order_maker::common(std::map<key, common_steps>& among, key of,
                                                          const F& make) {
    common_steps* found = nullptr;
    {
        const std::lock_guard guard(lock_);
        found = &among[std::move(of)];
    }
    std::call_once(found->once, [&] { found->made = std::make_shared<const order_of_steps>(make()); });
    return found->made;
}

order order_maker::made_for(const program::path_program& code, const program::path_data& data,
                            const program::timeline& when, const points& of) {
    const bool by_variance = of.construction == construction::principal;
    rotated_slots rotated = by_variance ? rotated_by_covariance(code, data) : rotated_slots{};
    if (of.construction == construction::steps || code.normals_per_step == 0 || when.steps() < 2)
        return {code, data, common(in_time_, when.steps(), [&] { return in_time(when.steps()); }),
                std::move(rotated), by_variance};
    std::vector<bool> is_looked_at;
    for (std::size_t s = 0; s < when.steps(); ++s) is_looked_at.push_back(!when.events_after(s).empty());
    return {code, data,
            common(bridges_, dates{of.construction, when.times, is_looked_at},
                   [&] { return bridged(when, is_looked_at, of.construction); }),
            std::move(rotated), by_variance};
}

}  // namespace tilewalk::quasi
