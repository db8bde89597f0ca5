// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/feeds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "engine/walk/cuda/device/spaces.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

using enum feed_entry::use;

// Shared memory for the payoffs of a tile, which a path kernel has besides its feed's.
constexpr std::uint64_t bytes_of_payoffs(int rows) {
    return static_cast<std::uint64_t>(rows) * kernels::paths_per_tile * sizeof(double);
}

int shock_bytes(const kernel_decision& how) {
    return static_cast<int>(bytes_of(program::shock_type(how.precision)));
}

std::uint64_t nothing(const kernel_decision&, int) {
    return 0;
}
std::uint64_t ring(const kernel_decision& how, int slots) {
    return ring_of(how, slots).bytes();
}
std::uint64_t stages(const kernel_decision& how, int slots) {
    return kernels::stage_geometry{how[knobs::rows], how[knobs::distance], slots,
                                   how[knobs::block] * how[knobs::width] * shock_bytes(how)}
        .bytes();
}

// columns: name, summary, uses, knobs, least compute capability, shared memory
constexpr auto feed_catalogue = std::to_array<feed_entry>({
    {"none",
     "a plain load where it is used, not unrolled: the baseline",  //
     array,
     {},
     80,
     nothing},
    {"unroll",
     "plain loads, the loop unrolled by distance",  //
     array,
     {knobs::distance},
     80,
     nothing},
    {"register_batched",
     "distance steps loaded at once into registers, used up, loaded again",  //
     array,
     {knobs::distance},
     80,
     nothing},
    {"register_rolling",
     "a ring in registers, one load a step",  //
     array,
     {knobs::distance},
     80,
     nothing},
    {"smem_batched",
     "distance steps loaded at once into shared memory, used up, loaded again",  //
     array,
     {knobs::distance, knobs::layout, knobs::padding},
     80,
     ring},
    {"smem_rolling",
     "a ring in shared memory, one load a step",  //
     array,
     {knobs::distance, knobs::layout, knobs::padding},
     80,
     ring},
    {"smem_rolling_async",
     "a ring in shared memory, one asynchronous copy a step",  //
     array | addresses,
     {knobs::distance, knobs::layout, knobs::padding},
     80,
     ring},
    {"l2_prefetch",
     "the second-level cache is asked distance steps ahead",  //
     array | addresses,
     {knobs::distance},
     80,
     nothing},
    {"l2_hint",
     "loads that bring the 256 bytes around to the second-level cache, unrolled by distance",  //
     array | addresses,
     {knobs::distance},
     80,
     nothing},
    {"bulk_async",
     "bulk copies of a block's rows into a ring of stages of rows steps",  //
     array | addresses,
     {knobs::distance, knobs::rows},
     90,
     stages},
    {"inline",
     "no array: shocks are made in registers",  //
     0,
     {},
     80,
     nothing},
});

template <class predicate>
std::vector<std::string> names_of_feeds(const predicate& fits) {
    std::vector<std::string> names;
    for (const feed_entry& feed : feed_catalogue) {
        if (fits(feed)) names.emplace_back(feed.name);
    }
    return names;
}

[[noreturn]] void refuse_feed(const std::string& message) {
    throw error(error_kind::usage, message);
}

void check_spaces(const kernel_decision& how, const feed_entry& feed) {
    const space_entry& rows = space_named(how.row_space);
    const auto holds_rows = [](const space_entry& s) { return s.holds_rows; };
    if (!holds_rows(rows)) {
        refuse_feed(fmt::format("row_space {} does not hold numbers that all paths read; these do: {}",
                                rows.name, config::joined(names_of_spaces(holds_rows))));
    }
    if (!feed.makes_use_of(array)) return;
    const space_entry& paths = space_named(how.space);
    const auto feeds_it = [&](const space_entry& s) {
        return s.holds_paths && (s.has_addresses || !feed.makes_use_of(addresses));
    };
    if (!feeds_it(paths)) {
        refuse_feed(fmt::format("{} cannot read paths from space {}; it can from: {}", feed.name, paths.name,
                                config::joined(names_of_spaces(feeds_it))));
    }
}

void check_capability(const feed_entry& feed, const device_limits& device) {
    const int has = device.major * 10 + device.minor;
    if (has >= feed.least_compute_capability) return;
    const auto runs = names_of_feeds([&](const feed_entry& other) {
        return has >= other.least_compute_capability && other.makes_use_of(array) == feed.makes_use_of(array);
    });
    refuse_feed(fmt::format(
        "{} needs compute capability {}.{}, this device has {}.{}; {}", feed.name,
        feed.least_compute_capability / 10, feed.least_compute_capability % 10, device.major, device.minor,
        runs.empty() ? "no feed runs on it" : "these feeds run on it: " + config::joined(runs)));
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

// Changes of one knob each, as small as possible, with which the kernel would fit into shared memory.
std::vector<std::string> what_fits(const kernel_decision& how, int slots, const feed_entry& feed,
                                   std::uint64_t payoff_bytes, std::uint64_t limit) {
    std::vector<std::string> found;
    const bool finds_padding = how[knobs::padding] == found_padding(how[knobs::distance]);
    const auto fits = [&](kernel_decision other) {
        if (finds_padding) other[knobs::padding] = found_padding(other[knobs::distance]);
        return feed.shared_bytes(other, slots) + payoff_bytes <= limit;
    };
    const auto largest_below = [&](knob_id k) {
        kernel_decision other = how;
        for (int value = how[k] - 1; value > 0; --value) {
            if (!k.line().values.has(value)) continue;
            other[k] = value;
            if (!fits(other)) continue;
            found.push_back(fmt::format("{} {}", k.line().name, value));
            return;
        }
    };
    for (const knob_id k : {knobs::distance, knobs::rows})
        if (feed.makes_use_of(k)) largest_below(k);
    if (feed.makes_use_of(knobs::layout)) {
        kernel_decision other = how;
        other[knobs::layout] = static_cast<int>(kernels::ring_layout::transposed);
        if (fits(other)) found.emplace_back("layout transposed");
    }
    for (const knob_id k : {knobs::block, knobs::width}) largest_below(k);
    return found;
}

void check_shared_memory(const kernel_decision& how, int slots, const feed_entry& feed,
                         const device_limits& device, int payoff_rows) {
    const std::uint64_t payoff_bytes = bytes_of_payoffs(payoff_rows);
    const std::uint64_t needed = feed.shared_bytes(how, slots) + payoff_bytes;
    if (needed <= device.shared_bytes_per_block) return;
    const auto fitting = what_fits(how, slots, feed, payoff_bytes, device.shared_bytes_per_block);
    std::string advice;
    for (std::size_t i = 0; i < fitting.size(); ++i) advice += (i > 0 ? ", or " : "") + fitting[i];
    if (fitting.empty()) {
        advice = config::joined(names_of_feeds([&](const feed_entry& other) {
            return other.makes_use_of(array) == feed.makes_use_of(array) && other.shared_bytes == nothing;
        }));
    }
    refuse_feed(
        fmt::format("{} with distance {}, block {} and width {} needs {} bytes of shared memory a block "
                    "for {} shocks a step, {} of them for payoffs; this device has {}: {} fit{}",
                    feed.name, how[knobs::distance], how[knobs::block], how[knobs::width],
                    with_commas(needed), slots, with_commas(payoff_bytes),
                    with_commas(device.shared_bytes_per_block), advice, fitting.empty() ? "" : "s"));
}

}  // namespace

kernels::ring_geometry ring_of(const kernel_decision& how, int slots) {
    const int width = how[knobs::width], paths = kernels::paths_of_piece(width, shock_bytes(how));
    return {how.layout(),         slots * (width / paths), how[knobs::block],
            how[knobs::distance], how[knobs::padding],     paths * shock_bytes(how)};
}

std::string feed_entry::header() const {
    return fmt::format("kernels/feeds/{}.h", name);
}

std::string feed_entry::type() const {
    // `inline` is a keyword of C++.
    return name == "inline" ? "inline_" : std::string(name);
}

std::string feed_entry::own_arguments(const kernel_decision& how) const {
    return cuda::own_arguments(knob_table, knobs, how.values);
}

std::span<const feed_entry> feeds() {
    return feed_catalogue;
}

const feed_entry& feed_named(std::string_view name) {
    const auto found = std::ranges::find(feed_catalogue, name, &feed_entry::name);
    if (found != feed_catalogue.end()) return *found;
    const auto known = names_of_feeds([](const feed_entry&) { return true; });
    refuse_feed(fmt::format("there is no feed {}{}", config::shown(name),
                            config::alternatives(name, "there are", known)));
}

const feed_entry& feed_of(const kernel_wish& wish) {
    return feed_named(wish.feed ? std::string_view(*wish.feed)
                                : std::string_view(wish.reads_shocks && wish.points == point_way::read
                                                       ? "smem_rolling_async"
                                                       : "inline"));
}

bool reads_shocks(const kernel_wish& wish) {
    return feed_of(wish).makes_use_of(array);
}

bool reads_shocks(const kernel_decision& how) {
    return feed_named(how.feed).makes_use_of(array);
}

point_way way_of_points(const kernel_decision& how) {
    return reads_shocks(how) ? point_way::read : how.points;
}

std::uint64_t feed_shared_bytes(const kernel_decision& how, int slots) {
    return feed_named(how.feed).shared_bytes(how, slots);
}

int found_padding(int distance) {
    constexpr int found = -1;
    return kernels::ring_geometry{kernels::ring_layout::padded, 1, 1, distance, found, 1}.length() - distance;
}

void check(const kernel_decision& how, int slots, const device_limits& device, int payoff_rows) {
    const feed_entry& feed = feed_named(how.feed);
    for (const knob_id k : all_knobs()) check(k.line(), how[k]);
    check_spaces(how, feed);
    check_capability(feed, device);
    check_shared_memory(how, slots, feed, device, payoff_rows);
}

}  // namespace tilewalk::cuda
