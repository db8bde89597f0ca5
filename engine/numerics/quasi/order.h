// SPDX-License-Identifier: Apache-2.0
// The order in which a trade's shocks take the dimensions of quasi-random points. The first dimensions are
// spread best, so they go to the numbers that move the payoff most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/numerics/quasi/components.h"
#include "kernels/bridge.h"
#include "kernels/philox.h"
#include "kernels/sobol.h"
#include "products/program/passes.h"
#include "products/program/streams.h"
#include "products/program/timeline.h"
#include "tilewalk/choices.h"

namespace tilewalk::quasi {

using tilewalk::construction;
using tilewalk::name_of;
// All constructions but `automatic`, which is decided before there are points.
inline constexpr std::span construction_names = std::span(choice_names<construction>).subspan<1>();

construction construction_named(std::string_view name);

struct points {
    quasi::construction construction = construction::bridge;
    friend bool operator==(const points&, const points&) = default;
};

struct order_of_steps {
    // Nodes in the order in which they take dimensions; each is a place of paths after a step.
    std::vector<kernels::bridge_node> nodes;
    std::vector<double> variances;      // by node: the variance that its number adds to paths
    std::vector<double> inverse_roots;  // by step: one over the deviation of its move; empty without a bridge
    // Numbers of the first `components` nodes are principal components: the place after the step of node k is
    // the sum over i of loadings[k * components + i] times number i.
    std::size_t components = 0;
    std::vector<double> loadings;
    std::size_t most_points = 0;  // later nodes are drawn without points
};

// A coarse bridge as steps towards targets, which are its places on a few dates.
struct steps_to_targets {
    std::vector<kernels::bridge_node> nodes;  // targets, numbered by target instead of step
    // By step, as `ahead` is.
    std::vector<kernels::step_to_target<double>> steps;
    std::vector<std::uint32_t> ahead;  // number of the next target
};
// True if points can be places of targets (kernels/targets.h). Uniforms are then drawn without points.
bool meets_targets(const points& of, const program::path_program& code, const program::timeline& when);

// True if a thread can hold a path's points: at most few_dimensions, each used in one step, without uniforms.
inline constexpr std::size_t few_dimensions = 32;
bool are_few(const points& of, const program::path_program& code, const program::timeline& when);

class order {
  public:
    std::size_t steps() const { return steps_->nodes.size(); }
    std::size_t normals() const { return normals_.size(); }    // per step
    std::size_t uniforms() const { return uniforms_.size(); }  // per step
    bool is_bridged() const { return !steps_->inverse_roots.empty(); }

    std::span<const kernels::bridge_node> nodes() const { return steps_->nodes; }
    std::span<const double> inverse_roots() const { return steps_->inverse_roots; }
    std::size_t components() const { return steps_->components; }
    std::span<const double> loadings() const { return steps_->loadings; }
    // The slots that are rotated to principal components; empty if every slot keeps its own numbers.
    const rotated_slots& rotated() const { return rotated_; }
    quasi::steps_to_targets steps_to_targets() const;

    // Dimensions by node and slot; kernels::no_dimension where a number is drawn without points.
    std::span<const std::uint32_t> dimensions_of_normals() const { return normal_dimensions_; }
    std::uint32_t dimension_of_normal(std::size_t node, std::size_t slot) const {
        return normal_dimensions_[node * normals_.size() + slot];
    }
    // True if uniforms come from points, as they do if they are few. Their dimensions are by step and slot.
    bool has_quasi_uniforms() const { return has_quasi_uniforms_; }
    std::span<const std::uint32_t> dimensions_of_uniforms() const { return uniform_dimensions_; }
    std::uint32_t dimension_of_uniform(std::size_t step, std::size_t slot) const {
        return uniform_dimensions_[step * uniforms_.size() + slot];
    }

    // A slot of shocks. A lone slot builds no path: its number at a node is that of the node's step.
    struct place_of_slot {
        program::place_in_stream in_stream;
        kernels::stream_key key;
        bool is_lone = false;
    };
    std::span<const place_of_slot> normal_slots() const { return normals_; }
    std::span<const place_of_slot> uniform_slots() const { return uniforms_; }

    // A copy after change(steps), which must not change the number of steps.
    template <class F>
    order with_steps(const F& change) const {
        order_of_steps steps = *steps_;
        change(steps);
        order out = *this;
        out.steps_ = std::make_shared<const order_of_steps>(std::move(steps));
        return out;
    }

    // Equal for two orders of one maker only if they make the same numbers.
    std::vector<std::uint64_t> identity() const;
    // True if `other`, of the same trade but from any maker, makes the same numbers.
    bool makes_the_numbers_of(const order& other) const;

  private:
    friend class order_maker;
    order(const program::path_program& code, const program::path_data& data,
          std::shared_ptr<const order_of_steps> steps, rotated_slots rotated, bool by_variance);
    void take_dimensions_node_by_node();
    void take_dimensions_by_variance();

    std::vector<place_of_slot> normals_, uniforms_;
    std::shared_ptr<const order_of_steps> steps_;
    rotated_slots rotated_;
    std::vector<std::uint32_t> normal_dimensions_, uniform_dimensions_;
    bool has_quasi_uniforms_ = false, by_variance_ = false;
};

// Makes orders, from any thread. Trades share the order of steps, as a book has few sets of dates.
class order_maker {
  public:
    order made_for(const program::path_program& code, const program::path_data& data,
                   const program::timeline& when, const points& of);

  private:
    // Made by the first caller who needs them, while callers with other dates go on.
    struct common_steps {
        std::once_flag once{};
        std::shared_ptr<const order_of_steps> made{};
    };
    template <class key, class F>
    std::shared_ptr<const order_of_steps> common(std::map<key, common_steps>& among, key of, const F& make);

    // A bridge depends on its construction, on times, and on the steps that a section follows.
    using dates = std::tuple<construction, std::vector<double>, std::vector<bool>>;
    std::mutex lock_;  // guards the maps, not their elements
    std::map<dates, common_steps> bridges_;
    std::map<std::size_t, common_steps> in_time_;
};

}  // namespace tilewalk::quasi
