// SPDX-License-Identifier: Apache-2.0
// Enumerations, and the names of their enumerators in books, commands, results and Python.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tilewalk {

// Names of the enumerators of a choice, in their order; empty for any other type.
template <class type>
inline constexpr std::array<std::string_view, 0> choice_names = {};

template <class type>
concept choice = !choice_names<type>.empty();

enum class precision {
    double_,      // everything in double
    single,       // random numbers, states and arithmetic in float, with Tilewalk's own exp, log and the like
    single_fast,  // like single, but with a GPU's approximate instructions; GPUs only
    mixed,        // random numbers drawn in float and converted, all else in double
};
template <>
inline constexpr std::array<std::string_view, 4> choice_names<precision>{"double", "single", "single_fast",
                                                                         "mixed"};

// Ways to build Brownian paths from the normals of quasi-random points.
enum class construction {
    automatic,  // chosen by a pilot run on a few paths of the trade
    steps,      // one normal per time step, in the order of time
    bridge,     // Brownian bridge: the end of the path first, then the middle
    principal,  // principal components of the covariance over dates and assets, the largest first
    coarse,     // Brownian bridge over a few dates; pseudo-random numbers for the steps between
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<construction>{"auto", "steps", "bridge",
                                                                            "principal", "coarse"};

enum class technique {
    none,
    automatic,  // used if a pilot run shows a smaller error with it
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<technique>{"none", "auto"};

enum class antithetic {
    none,
    pairs,  // antithetic pairs: a path and its mirror image count as one sample, their mean
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<antithetic>{"none", "pairs"};

// Methods for the dual (martingale) bound on a trade with early exercise; its policy is the other bound.
enum class upper_bound {
    regression,  // by a martingale that is regressed along with the policy
    nested,      // by simulation within each path
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<upper_bound>{"regression", "nested"};

enum class greek_method {
    // pathwise, with jumps of the payoff smoothed or left to likelihood ratios; bumps where neither works
    automatic,
    pathwise,  // ignores jumps of the payoff
    smoothed,
    likelihood_ratio,
    bump,
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<greek_method>{"auto", "pathwise", "smoothed",
                                                                            "likelihood_ratio", "bump"};

enum class greek_view {
    market,  // sensitivities to numbers of the market
    quotes,  // to calibration quotes, not parameters fitted to them; needs a market from calibrate()
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<greek_view>{"market", "quotes"};

// Name of a value; empty if `value` is no enumerator.
constexpr std::string_view name_of(choice auto value) {
    constexpr auto& names = choice_names<decltype(value)>;
    const auto at = static_cast<std::size_t>(value);
    return at < names.size() ? names[at] : std::string_view();
}

// Value with this name; empty if there is none.
template <choice type>
constexpr std::optional<type> choice_named(std::string_view name) {
    const auto at = std::ranges::find(choice_names<type>, name);
    if (at == choice_names<type>.end()) return std::nullopt;
    return static_cast<type>(at - choice_names<type>.begin());
}

}  // namespace tilewalk
