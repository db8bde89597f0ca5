// SPDX-License-Identifier: Apache-2.0
// Knobs: the numeric constants with which a path kernel is built. Settings, checks, messages, stored choices,
// the tuner and benchmarks all read this table. CONTRIBUTING.md says how to add a knob.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/feeds/ring.h"
#include "tilewalk/run_settings.h"

namespace tilewalk::cuda {

// Values that a knob allows: a range, a list, or names for 0, 1, ...
struct knob_values {
    int least = 0, most = 0;
    std::span<const int> list{};
    std::span<const std::string_view> names{};

    constexpr bool is_range() const { return list.empty() && names.empty(); }
    constexpr bool has(int value) const {
        return list.empty() ? value >= least && value <= most : std::ranges::find(list, value) != list.end();
    }
};

struct knob {
    enum class part {
        kernel,  // a knob of every kernel, whatever its feed
        shape,   // a member of kernels::feed_shape, for feeds that use it
        feed,    // a template argument of the feed's own, after the shape and the memory
    };

    using field =
        std::variant<std::optional<int> run_settings::*, std::optional<std::string> run_settings::*>;

    std::string_view name;  // in settings, stored choices and benchmarks
    field setting;          // the member of run_settings that sets the knob
    part of;
    knob_values values;
    int preset;                  // value if neither the run nor a rule sets one
    bool takes_auto;             // whether the setting may be "auto", which leaves the knob open
    std::span<const int> tuned;  // values that the tuner tries; empty: the knob stays open
    std::span<const int> swept;  // values that `bench prefetch` measures; empty: the knob stays open
    std::string_view meaning;    // a phrase for help texts
};

namespace knob_lists {

inline constexpr std::array<std::string_view, 3> layouts{"plain", "padded", "transposed"};
static_assert(layouts[static_cast<std::size_t>(kernels::ring_layout::plain)] == "plain" &&
              layouts[static_cast<std::size_t>(kernels::ring_layout::padded)] == "padded" &&
              layouts[static_cast<std::size_t>(kernels::ring_layout::transposed)] == "transposed");
inline constexpr std::array all_layouts{0, 1, 2};
// Padded and transposed, which both avoid bank conflicts; which is faster depends on the size of a copy.
inline constexpr std::array layouts_without_conflicts{1, 2};
inline constexpr std::array tuned_distances{2, 4, 8, 16};
inline constexpr std::array swept_distances{1, 2, 4, 6, 8, 12, 16};
inline constexpr std::array widths{1, 2, 4};
inline constexpr std::array blocks{64, 128, 256};
inline constexpr std::array tuned_blocks{128, 256};

}  // namespace knob_lists

// All knobs, in the order shown to users.
inline constexpr std::array knob_table{
    knob{"distance",
         &run_settings::distance,
         knob::part::shape,
         {1, 32},
         8,
         false,
         knob_lists::tuned_distances,
         knob_lists::swept_distances,
         "Steps that a feed runs ahead"},
    knob{"layout",
         &run_settings::layout,
         knob::part::shape,
         {0, 2, {}, knob_lists::layouts},
         static_cast<int>(kernels::ring_layout::padded),
         false,
         knob_lists::layouts_without_conflicts,
         knob_lists::all_layouts,
         "Layout of the rings in shared memory; if left out, what suits the copies"},
    // The preset suits the preset distance.
    knob{"padding",
         &run_settings::padding,
         knob::part::shape,
         {0, 64},
         1,
         true,
         {},
         {},
         "Elements that the padded layout adds to a ring"},
    knob{"width",
         &run_settings::width,
         knob::part::kernel,
         {0, 0, knob_lists::widths},
         1,
         false,
         knob_lists::widths,
         knob_lists::widths,
         "Paths per thread"},
    knob{"rows",
         &run_settings::rows,
         knob::part::shape,
         {1, 64},
         4,
         false,
         {},
         {},
         "Steps per stage of a bulk copy"},
    knob{"block",
         &run_settings::block,
         knob::part::kernel,
         {0, 0, knob_lists::blocks},
         256,
         false,
         knob_lists::tuned_blocks,
         {},
         "Threads per block"},
};

struct knob_id {
    std::size_t at;
    constexpr const knob& line() const { return knob_table[at]; }
    friend constexpr bool operator==(knob_id, knob_id) = default;
};

// A name that is not in the table fails to compile.
consteval knob_id knob_named(std::string_view name) {
    const auto found = std::ranges::find(knob_table, name, &knob::name);
    if (found == knob_table.end()) throw "there is no such knob";
    return {static_cast<std::size_t>(found - knob_table.begin())};
}

constexpr std::array<knob_id, knob_table.size()> all_knobs() {
    std::array<knob_id, knob_table.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i};
    return all;
}

namespace knobs {

inline constexpr knob_id distance = knob_named("distance"), layout = knob_named("layout"),
                         padding = knob_named("padding"), width = knob_named("width"),
                         rows = knob_named("rows"), block = knob_named("block");

}  // namespace knobs

class knob_set {
  public:
    constexpr knob_set(std::initializer_list<knob_id> all) {
        for (const knob_id k : all) bits_ |= 1u << k.at;
    }
    constexpr bool has(knob_id k) const { return (bits_ >> k.at & 1) != 0; }

  private:
    unsigned bits_ = 0;
};

// A value as users write it, such as "8" or "padded".
std::string text_of(const knob& of, int value);
// Empty if `text` is not a value of the knob.
std::optional<int> value_of(const knob& of, std::string_view text);
// All values as users write them; empty if they are a range.
std::vector<std::string> value_names(const knob& of);

std::vector<std::string> knob_names();

// The value that `settings` ask for; empty if they leave the knob open. They must have passed check().
std::optional<int> asked_value(const knob& of, const run_settings& settings);

// Values of the feed's own knobs, in the order of the table, as template arguments such as ", 3".
std::string own_arguments(std::span<const knob> table, const knob_set& of_feed, std::span<const int> values);

// Throws tilewalk::error (usage), listing the values that the knob allows.
void check(const knob& of, int value);

}  // namespace tilewalk::cuda
