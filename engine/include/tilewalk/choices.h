// SPDX-License-Identifier: Apache-2.0
// Choices among a few: enumerations, and the names by which books, commands, results and Python call their
// values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tilewalk {

// In the order of the enumerators; empty for a type that is no choice.
template <class type>
inline constexpr std::array<std::string_view, 0> choice_names = {};

template <class type>
concept choice = !choice_names<type>.empty();

enum class precision {
    double_,      // everything in double
    single,       // shocks, states, numbers and operations in float, with our own functions
    single_fast,  // the same with the approximations of a GPU's hardware: on a GPU alone
    mixed,        // single's shocks converted to double, everything else in double
};
template <>
inline constexpr std::array<std::string_view, 4> choice_names<precision>{"double", "single", "single_fast",
                                                                         "mixed"};

// Ways in which the normal numbers of quasi-random points make the steps of Brownian paths.
enum class construction {
    automatic,  // as a few paths of a trade show
    steps,      // each step has its own, in the order of time
    bridge,     // where the path ends comes first, then what is between
    principal,  // the largest principal components of all paths together come first
    coarse,     // a bridge over a few dates, and what is between is drawn without points
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<construction>{"auto", "steps", "bridge",
                                                                            "principal", "coarse"};

// Whether a technique that makes errors smaller is used.
enum class technique {
    none,
    automatic,  // where a pilot shows a smaller error
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<technique>{"none", "auto"};

// Paths that count as one sample.
enum class antithetic {
    none,
    pairs,  // a path and the one of the opposite shocks, by their mean
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<antithetic>{"none", "pairs"};

// The bound beside what a policy is worth.
enum class upper_bound {
    regression,  // from the martingale that the policy comes with
    nested,      // from paths inside of paths
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<upper_bound>{"regression", "nested"};

enum class greek_method {
    automatic,  // the derivative of paths, with jumps smoothed or held still by likelihood ratios, or a
                // difference of prices where that can't be
    pathwise,   // sees no jumps
    smoothed,
    likelihood_ratio,
    bump,
};
template <>
inline constexpr std::array<std::string_view, 5> choice_names<greek_method>{"auto", "pathwise", "smoothed",
                                                                            "likelihood_ratio", "bump"};

enum class greek_view {
    market,  // to the numbers of the market
    quotes,  // in place of those that models were fitted with, to the quotes of the fit, which a market from
             // calibrate() keeps
};
template <>
inline constexpr std::array<std::string_view, 2> choice_names<greek_view>{"market", "quotes"};

// Empty for a value that has no enumerator.
constexpr std::string_view name_of(choice auto value) {
    constexpr auto& names = choice_names<decltype(value)>;
    const auto at = static_cast<std::size_t>(value);
    return at < names.size() ? names[at] : std::string_view();
}

// Nothing if no value has that name.
template <choice type>
constexpr std::optional<type> choice_named(std::string_view name) {
    const auto at = std::ranges::find(choice_names<type>, name);
    if (at == choice_names<type>.end()) return std::nullopt;
    return static_cast<type>(at - choice_names<type>.begin());
}

}  // namespace tilewalk
