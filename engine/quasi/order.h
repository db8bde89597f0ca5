// SPDX-License-Identifier: Apache-2.0
// The order in which a trade's shocks take the dimensions of quasi-random points. The first dimensions are
// spread best, so those numbers take them that move the payoff most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/bridge.h"
#include "kernels/philox.h"
#include "products/program/passes.h"
#include "products/program/streams.h"
#include "products/program/timeline.h"

namespace tilewalk::quasi {

// Ways in which the normal numbers of points make the steps of Brownian paths.
enum class construction {
    steps,   // each step has its own, in the order of time
    bridge,  // where the path ends comes first, then what is between
};
inline constexpr std::array<std::string_view, 2> construction_names{"steps", "bridge"};

construction construction_named(std::string_view name);

// The way in which a job takes its points.
struct points {
    quasi::construction construction = construction::bridge;
    friend bool operator==(const points&, const points&) = default;
};

class order {
  public:
    order(const program::path_program& code, const program::path_data& data, const program::timeline& when,
          const points& of);

    std::size_t steps() const { return nodes_.size(); }
    std::size_t normals() const { return normals_.size(); }    // of a step
    std::size_t uniforms() const { return uniforms_.size(); }  // likewise
    bool is_bridged() const { return is_bridged_; }

    // Nodes in the order of their dimensions; each is where paths are after a step.
    std::span<const kernels::bridge_node> nodes() const { return nodes_; }
    // By step, one over the deviation of its move.
    std::span<const double> inverse_roots() const { return inverse_roots_; }

    // Nodes from this one on are drawn without points, which have no dimensions left.
    std::size_t quasi_nodes() const { return quasi_nodes_; }
    std::size_t dimensions_of_node() const { return dimensions_of_node_; }
    std::uint32_t dimension_of_normal(std::size_t node, std::size_t slot) const {
        return static_cast<std::uint32_t>(node * dimensions_of_node_ + slot);
    }
    // Uniform shocks are of points where they are few.
    bool has_quasi_uniforms() const { return has_quasi_uniforms_; }
    std::uint32_t dimension_of_uniform(std::size_t step, std::size_t slot) const {
        return static_cast<std::uint32_t>(step * dimensions_of_node_ + normals_.size() + slot);
    }

    // The place in its stream of each slot, and the stream's key.
    struct place_of_slot {
        program::place_in_stream in_stream;
        kernels::stream_key key;
    };
    std::span<const place_of_slot> normal_slots() const { return normals_; }
    std::span<const place_of_slot> uniform_slots() const { return uniforms_; }

    // Whether all numbers that they make are the same.
    friend bool operator==(const order& a, const order& b);

  private:
    std::vector<place_of_slot> normals_, uniforms_;
    std::vector<kernels::bridge_node> nodes_;
    std::vector<double> inverse_roots_;
    std::size_t dimensions_of_node_ = 0, quasi_nodes_ = 0;
    bool is_bridged_ = false, has_quasi_uniforms_ = false;
};

}  // namespace tilewalk::quasi
