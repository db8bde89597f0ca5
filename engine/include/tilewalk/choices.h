// SPDX-License-Identifier: Apache-2.0
// Enumerations, and the names of their values in books, commands, results and Python.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tilewalk {

// Names in the order of the enumerators; empty for a type that is not a choice.
template <class type>
inline constexpr std::array<std::string_view, 0> choice_names = {};

template <class type>
concept choice = !choice_names<type>.empty();

enum class precision {
    double_,      // everything in double
    single,       // shocks, states, numbers and operations in float, with our own functions
    single_fast,  // like single, with the hardware approximations of a GPU; GPUs only
    mixed,        // shocks of single converted to double, everything else in double
};
template <>
inline constexpr std::array<std::string_view, 4> choice_names<precision>{"double", "single", "single_fast",
                                                                         "mixed"};

// Ways to build Brownian paths from the normals of quasi-random points.
enum class construction {
    automatic,  // chosen from a few paths of the trade
    steps,      // one normal a step, in the order of time
    bridge,     // Brownian bridge: the end of the path first, then the middle
    principal,  // principal components of the joint covariance, the largest first
    coarse,     // Brownian bridge over a few dates; pseudo-random steps between them
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<construction>{"auto", "steps", "bridge",
                                                                            "principal", "coarse"};

enum class technique {
    none,
    automatic,  // if a pilot shows a smaller error
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<technique>{"none", "auto"};

enum class antithetic {
    none,
    pairs,  // antithetic pairs: a path and its mirror image count as one sample, their mean
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<antithetic>{"none", "pairs"};

// The upper bound that accompanies the value of an exercise policy.
enum class upper_bound {
    regression,  // from the martingale fitted with the policy
    nested,      // from nested simulation
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<upper_bound>{"regression", "nested"};

enum class greek_method {
    automatic,  // pathwise, with jumps smoothed or held still by likelihood ratios; bumps where neither works
    pathwise,   // ignores jumps
    smoothed,
    likelihood_ratio,
    bump,
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<greek_method>{"auto", "pathwise", "smoothed",
                                                                            "likelihood_ratio", "bump"};

enum class greek_view {
    market,  // numbers of the market
    quotes,  // calibration quotes instead of the parameters fitted to them, for a market from calibrate()
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<greek_view>{"market", "quotes"};

// Empty for a value without an enumerator.
constexpr std::string_view name_of(choice auto value) {
    constexpr auto& names = choice_names<decltype(value)>;
    const auto at = static_cast<std::size_t>(value);
    return at < names.size() ? names[at] : std::string_view();
}

// Empty if no value has that name.
template <choice type>
constexpr std::optional<type> choice_named(std::string_view name) {
    const auto at = std::ranges::find(choice_names<type>, name);
    if (at == choice_names<type>.end()) return std::nullopt;
    return static_cast<type>(at - choice_names<type>.begin());
}

}  // namespace tilewalk
