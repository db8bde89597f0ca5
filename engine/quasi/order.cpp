// SPDX-License-Identifier: Apache-2.0
#include "engine/quasi/order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <string>

#include "engine/quasi/directions.h"
#include "kernels/arithmetic.h"
#include "tilewalk/error.h"

namespace tilewalk::quasi {

namespace {

using kernels::bridge_node;

// Uniform shocks of a path that points make; where there are more they are independent. Each takes a
// dimension from the normals behind it.
constexpr std::uint64_t most_quasi_uniforms = 64;

std::vector<order::place_of_slot> slots_of(std::span<const std::uint32_t> streams, int slots,
                                           std::span<const program::stream_name> names) {
    std::vector<order::place_of_slot> out;
    for (const program::place_in_stream& p : program::places_in_streams(streams, slots))
        out.push_back({p, kernels::stream_key_of(program::key_of(names, p.stream))});
    return out;
}

// Steps between two whose places are known. Those that vary most are found first.
struct gap {
    int left, right;
    double length;
    friend bool operator<(const gap& a, const gap& b) {
        return a.length != b.length ? a.length < b.length : a.left > b.left;
    }
};

class bridge {
  public:
    // `clock` by step: the time at its end; it grows.
    explicit bridge(std::span<const double> clock) : clock_(clock) {}

    // Takes steps of an increasing list that are not yet known, and do not lie beyond its last.
    void take(std::span<const int> steps) {
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
    std::vector<bridge_node> nodes() && { return std::move(nodes_); }

  private:
    double time(int step) const { return step < 0 ? 0 : clock_[static_cast<std::size_t>(step)]; }
    static bool has_between(std::span<const int> steps, int left, int right) {
        const auto next = std::ranges::upper_bound(steps, left);
        return next != steps.end() && *next < right;
    }
    // The step in the list that is the nearest to the middle of the time.
    int middle_of(std::span<const int> steps, const gap& of) const {
        const double middle = (time(of.left) + time(of.right)) / 2;
        int best = -1;
        for (auto at = std::ranges::upper_bound(steps, of.left); at != steps.end() && *at < of.right; ++at) {
            if (best < 0 || distance(*at, middle) < distance(best, middle)) best = *at;
        }
        return best;
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

// Time at the end of each step; a step that takes none counts as one of the least that do.
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

}  // namespace

construction construction_named(std::string_view name) {
    const auto at = std::ranges::find(construction_names, name);
    if (at == construction_names.end())
        throw error(error_kind::usage, "there is no construction '" + std::string(name) + "'");
    return static_cast<construction>(at - construction_names.begin());
}

order::order(const program::path_program& code, const program::path_data& data, const program::timeline& when,
             const points& of)
    : normals_(slots_of(code.normal_streams, code.normals_per_step, data.normal_names)),
      uniforms_(slots_of(code.uniform_streams, code.uniforms_per_step, data.uniform_names)),
      is_bridged_(of.construction == construction::bridge && !normals_.empty() && when.steps() > 1) {
    const auto steps = static_cast<int>(when.steps());
    std::vector<int> all(when.steps());
    std::iota(all.begin(), all.end(), 0);
    if (is_bridged_) {
        const std::vector<double> clock = clock_of(when);
        std::vector<int> looked_at;
        for (const int s : all)
            if (!when.events_after(static_cast<std::size_t>(s)).empty()) looked_at.push_back(s);
        bridge made(clock);
        made.take(looked_at);
        made.take(all);
        nodes_ = std::move(made).nodes();
        for (std::size_t s = 0; s < clock.size(); ++s)
            inverse_roots_.push_back(1 / kernels::sqrt(clock[s] - (s == 0 ? 0 : clock[s - 1])));
    } else {
        for (int s = 0; s < steps; ++s) nodes_.push_back({s, -1, -1, 0, 0, 1});
    }
    has_quasi_uniforms_ = !uniforms_.empty() && when.steps() * uniforms_.size() <= most_quasi_uniforms;
    dimensions_of_node_ = normals_.size() + (has_quasi_uniforms_ ? uniforms_.size() : 0);
    if (dimensions_of_node_ > 0)
        quasi_nodes_ = std::min(nodes_.size(), most_dimensions / dimensions_of_node_);
}

bool operator==(const order& a, const order& b) {
    const auto are_alike = [](const order::place_of_slot& x, const order::place_of_slot& y) {
        return x.in_stream.stream == y.in_stream.stream && x.in_stream.dimension == y.in_stream.dimension &&
               x.in_stream.dimensions == y.in_stream.dimensions && x.key.low == y.key.low &&
               x.key.high == y.key.high;
    };
    const auto are_nodes_alike = [](const bridge_node& x, const bridge_node& y) {
        return x.step == y.step && x.left == y.left && x.right == y.right && x.by_left == y.by_left &&
               x.by_right == y.by_right && x.deviation == y.deviation;
    };
    return a.is_bridged_ == b.is_bridged_ && std::ranges::equal(a.normals_, b.normals_, are_alike) &&
           std::ranges::equal(a.uniforms_, b.uniforms_, are_alike) &&
           std::ranges::equal(a.nodes_, b.nodes_, are_nodes_alike) && a.inverse_roots_ == b.inverse_roots_;
}

}  // namespace tilewalk::quasi
