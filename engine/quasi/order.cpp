// SPDX-License-Identifier: Apache-2.0
#include "engine/quasi/order.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

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
    // The step in the list, between both ends, that is the nearest to the middle of the time.
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

order_of_steps bridged(const program::timeline& when, const std::vector<bool>& is_looked_at) {
    const std::vector<double> clock = clock_of(when);
    std::vector<int> all(clock.size()), looked_at;
    std::iota(all.begin(), all.end(), 0);
    for (const int s : all)
        if (is_looked_at[static_cast<std::size_t>(s)]) looked_at.push_back(s);
    bridge made(clock);
    made.take(looked_at);
    made.take(all);
    order_of_steps out{std::move(made).nodes(), {}};
    for (std::size_t s = 0; s < clock.size(); ++s)
        out.inverse_roots.push_back(1 / kernels::sqrt(clock[s] - (s == 0 ? 0 : clock[s - 1])));
    return out;
}

}  // namespace

construction construction_named(std::string_view name) {
    const auto at = std::ranges::find(construction_names, name);
    if (at == construction_names.end())
        throw error(error_kind::usage, "there is no construction '" + std::string(name) + "'");
    return static_cast<construction>(at - construction_names.begin());
}

order::order(const program::path_program& code, const program::path_data& data,
             std::shared_ptr<const order_of_steps> steps)
    : normals_(slots_of(code.normal_streams, code.normals_per_step, data.normal_names)),
      uniforms_(slots_of(code.uniform_streams, code.uniforms_per_step, data.uniform_names)),
      steps_(std::move(steps)) {
    const std::size_t count = steps_->nodes.size();
    has_quasi_uniforms_ = !uniforms_.empty() && count * uniforms_.size() <= most_quasi_uniforms;
    dimensions_of_node_ = normals_.size() + (has_quasi_uniforms_ ? uniforms_.size() : 0);
    if (dimensions_of_node_ > 0) quasi_nodes_ = std::min(count, most_dimensions / dimensions_of_node_);
}

std::vector<std::uint64_t> order::identity() const {
    std::vector<std::uint64_t> out{reinterpret_cast<std::uintptr_t>(steps_.get()), normals_.size()};
    for (const auto* slots : {&normals_, &uniforms_}) {
        for (const place_of_slot& s : *slots) {
            out.push_back(std::uint64_t{s.in_stream.dimension} << 32 | s.in_stream.dimensions);
            out.push_back(std::uint64_t{s.key.high} << 32 | s.key.low);
        }
    }
    return out;
}

order order_maker::made_for(const program::path_program& code, const program::path_data& data,
                            const program::timeline& when, const points& of) {
    if (of.construction == construction::steps || code.normals_per_step == 0 || when.steps() < 2) {
        std::shared_ptr<const order_of_steps>& known = in_time_[when.steps()];
        if (!known) {
            auto made = std::make_shared<order_of_steps>();
            for (std::size_t s = 0; s < when.steps(); ++s)
                made->nodes.push_back({static_cast<int>(s), -1, -1, 0, 0, 1});
            known = std::move(made);
        }
        return {code, data, known};
    }
    std::vector<bool> is_looked_at;
    for (std::size_t s = 0; s < when.steps(); ++s) is_looked_at.push_back(!when.events_after(s).empty());
    std::shared_ptr<const order_of_steps>& known = bridges_[{when.times, is_looked_at}];
    if (!known) known = std::make_shared<const order_of_steps>(bridged(when, is_looked_at));
    return {code, data, known};
}

}  // namespace tilewalk::quasi
