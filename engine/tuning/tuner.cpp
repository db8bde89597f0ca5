// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/cuda/best_choice.h"
#include "engine/cuda/feeds.h"
#include "engine/tuning/statistics.h"
#include "tilewalk/error.h"

namespace tilewalk::tuning {

namespace {

using cuda::feed_entry;
using cuda::kernel_choice;

// Faster by less is no reason to leave what runs everywhere else.
constexpr double least_gain = 1.01;

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Shocks made in registers: how many paths a thread and how many threads, with the registers of the rules, of
// the compiler, and of some numbers of resident blocks.
void add_inline(kernel_choice how, const program::path_program& p,
                const std::function<bool(const kernel_choice&, int)>& fits, std::vector<kernel_choice>& to) {
    for (const int threads : {128, 256}) {
        for (const int width : {1, 2, 4}) {
            how.threads = threads;
            how.width = width;
            how.blocks = kernel_choice::automatic_blocks;
            to.push_back(cuda::best_choice(how, p, fits));
            for (const int warps : {0, 16, 24, 32}) {
                how.blocks = warps * 32 / threads;
                to.push_back(how);
            }
        }
    }
}

void add_streamed(kernel_choice how, int slots, std::vector<kernel_choice>& to) {
    how.has_best_layout = false;
    how.blocks = 0;
    const int shock_bytes = how.precision == program::precision::double_ ? 8 : 4;
    for (const feed_entry& feed : cuda::feeds()) {
        if (!feed.makes_use_of(feed_entry::array)) continue;
        how.feed = std::string(feed.name);
        const bool has_distance = feed.makes_use_of(feed_entry::distance),
                   has_ring = feed.makes_use_of(feed_entry::layout),
                   has_rows = feed.makes_use_of(feed_entry::rows);
        for (const int distance : !has_distance ? std::vector{kernel_choice{}.distance}
                                  : has_rows    ? std::vector{8, 16, 24}
                                                : std::vector{2, 4, 8, 16}) {
            for (const int width : {1, 2, 4}) {
                how.distance = distance;
                how.width = width;
                if (has_rows) how.rows = distance / 2;
                // What lies in registers on the way, and code that is laid out, must stay small.
                constexpr int most_bytes = 256;
                if (!has_ring && !has_rows && has_distance &&
                    distance * slots * width * shock_bytes > most_bytes)
                    continue;
                // Both layouts are free of conflicts; which is faster depends on the size of a copy.
                for (const auto layout : {kernels::ring_layout::padded, kernels::ring_layout::transposed}) {
                    how.layout = layout;
                    if (has_ring || layout == kernels::ring_layout::padded) to.push_back(how);
                }
            }
        }
    }
}

}  // namespace

std::vector<kernel_choice> candidates(const kernel_choice& asked, const program::path_program& p,
                                      const std::function<bool(const kernel_choice&, int)>& fits) {
    std::vector<kernel_choice> all;
    kernel_choice how = asked;
    all.push_back(cuda::best_choice(how, p, fits));
    all.back().is_open = how.is_open = false;
    if (cuda::feed_named(asked.feed).makes_use_of(feed_entry::array)) {
        add_streamed(how, p.slots_per_step(), all);
    } else {
        add_inline(how, p, fits, all);
    }
    std::vector<kernel_choice> out;
    for (kernel_choice& c : all) {
        c.has_best_layout = false;
        if (!fits(c, p.slots_per_step()) || std::ranges::find(out, c) != out.end()) continue;
        out.push_back(c);
    }
    return out;
}

contest halve(std::size_t count, const std::function<std::optional<double>(std::size_t)>& take,
              double seconds, const std::function<double()>& now) {
    const double begin = now();
    std::vector<std::vector<double>> samples(count);
    std::vector<std::size_t> left(count);
    std::iota(left.begin(), left.end(), std::size_t{0});
    const auto time_of = [&](std::size_t c) {
        return samples[c].empty() ? std::numeric_limits<double>::infinity() : summarise(samples[c]).median;
    };
    const auto is_late = [&] { return now() - begin > seconds; };
    const auto one_of = [&](std::size_t c) {
        if (const auto got = take(c)) samples[c].push_back(*got);
    };
    for (std::size_t often = 2; left.size() > 1; often *= 2) {
        for (std::size_t i = 0; i < often && !is_late(); ++i) {
            for (const std::size_t c : left) one_of(c);
        }
        std::ranges::stable_sort(left, {}, time_of);
        left.resize((left.size() + 1) / 2);
        if (is_late()) left.resize(1);
    }
    // The last two against each other: what there was first is always one of them.
    contest out;
    out.winner = left.front();
    constexpr std::size_t final_samples = 9;
    for (std::size_t i = 0; i < final_samples; ++i) {
        one_of(0);
        if (out.winner != 0) one_of(out.winner);
    }
    out.first_milliseconds = time_of(0);
    out.winner_milliseconds = time_of(out.winner);
    if (!(out.winner_milliseconds * least_gain < out.first_milliseconds)) {
        out.winner = 0;
        out.winner_milliseconds = out.first_milliseconds;
    }
    return out;
}

outcome tune(gpu_timer& on, path_timer& kernel, const kernel_choice& asked, double seconds, int warps) {
    const auto fits = [&](const kernel_choice& how, int) { return kernel.why_not(how).empty(); };
    const auto all = candidates(asked, kernel.of().code, fits);
    if (all.empty()) throw error(error_kind::usage, "there is no way to build this kernel for this device");
    std::vector<std::string> texts;
    for (const kernel_choice& how : all) texts.push_back(kernel.text(how));
    on.compile(texts);

    outcome out;
    out.untuned = all.front();
    out.tried = all.size();
    // Checked before anything is timed; this warms up, too.
    std::vector<kernel_choice> right;
    std::vector<path_timer::prepared> ready;
    std::vector<kernels::tile_result> truth;
    for (const kernel_choice& how : all) {
        on.says("checking " + how.feed);
        const auto one = kernel.prepare(how, warps);
        // What spills is never fastest, and not worth a comparison.
        if (one.local_bytes > 0 && !right.empty()) continue;
        kernel.launch(how, one);
        const auto tiles = kernel.results();
        if (truth.empty()) truth = tiles;
        if (std::memcmp(tiles.data(), truth.data(), truth.size() * sizeof(truth[0])) != 0) {
            ++out.wrong;
            continue;
        }
        right.push_back(how);
        ready.push_back(one);
    }
    on.says("timing");
    const double begin = seconds_now();
    const contest c = halve(
        right.size(), [&](std::size_t i) { return on.sample([&] { kernel.launch(right[i], ready[i]); }); },
        seconds, seconds_now);
    out.seconds = seconds_now() - begin;
    if (!std::isfinite(c.winner_milliseconds)) throw clock_throttled();
    out.best = right[c.winner];
    out.best_milliseconds = c.winner_milliseconds;
    out.untuned_milliseconds = c.first_milliseconds;
    return out;
}

}  // namespace tilewalk::tuning
