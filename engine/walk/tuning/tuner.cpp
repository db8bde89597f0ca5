// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/tuner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/tuning/statistics.h"
#include "tilewalk/error.h"

namespace tilewalk::tuning {

namespace {

using cuda::feed_entry;
using cuda::kernel_decision;
using cuda::kernel_wish;
namespace knobs = cuda::knobs;

// A smaller gain is not worth leaving the rules' choice.
constexpr double least_gain = 1.01;

// Adds kernels that draw their shocks, by threads, paths per thread, and registers: as the rules bound them,
// without a bound, and for 16 to 32 resident warps.
void add_inline(kernel_wish how, const program::path_program& p, const cuda::fits_devices& fits,
                std::vector<kernel_decision>& to) {
    for (const int threads : knobs::block.line().tuned) {
        for (const int width : knobs::width.line().tuned) {
            how[knobs::block] = threads;
            how[knobs::width] = width;
            how.blocks.reset();
            to.push_back(cuda::decide(how, p, fits));
            for (const int warps : {0, 16, 24, 32}) {
                how.blocks = warps * 32 / threads;
                to.push_back(cuda::with_presets(how));
            }
        }
    }
}

void add_streamed(kernel_wish how, int slots, std::vector<kernel_decision>& to) {
    how.blocks = 0;
    const int shock_bytes = static_cast<int>(bytes_of(program::shock_type(how.precision)));
    for (const feed_entry& feed : cuda::feeds()) {
        if (!feed.makes_use_of(feed_entry::array)) continue;
        how.feed = std::string(feed.name);
        const bool has_rows = feed.makes_use_of(knobs::rows);
        const auto tried = [&](cuda::knob_id k) -> std::span<const int> {
            // Distances for bulk copies, whose stages of few steps would be many small copies.
            static constexpr std::array distances_of_stages{8, 16, 24};
            if (k == knobs::distance && has_rows) return distances_of_stages;
            return k == knobs::block ? std::span<const int>() : k.line().tuned;
        };
        cuda::for_each_setting(feed, how, tried, [&](kernel_wish one) {
            if (has_rows) one[knobs::rows] = *one[knobs::distance] / 2;
            // Most bytes of shocks that a thread holds in registers. The bound also keeps unrolled code
            // small.
            constexpr int most_bytes = 256;
            const kernel_decision built = cuda::with_presets(one);
            const bool holds_in_registers =
                feed.makes_use_of(knobs::distance) && !has_rows && !feed.makes_use_of(knobs::layout);
            if (holds_in_registers &&
                built[knobs::distance] * slots * built[knobs::width] * shock_bytes > most_bytes)
                return;
            to.push_back(built);
        });
    }
}

}  // namespace

std::vector<kernel_decision> candidates(const kernel_wish& asked, const program::path_program& p,
                                        const cuda::fits_devices& fits) {
    std::vector<kernel_decision> all{cuda::decide(asked, p, fits)};
    if (!cuda::reads_shocks(asked)) add_inline(asked, p, fits, all);
    // Points may also be read from arrays.
    if (cuda::reads_shocks(asked) || asked.points != cuda::point_way::read)
        add_streamed(asked, p.slots_per_step(), all);
    std::vector<kernel_decision> out;
    for (kernel_decision& c : all) {
        if (!fits(c, p.slots_per_step()) || std::ranges::find(out, c) != out.end()) continue;
        out.push_back(std::move(c));
    }
    return out;
}

std::vector<cuda::way_back_decision> candidates(const cuda::way_back_decision& by_rules, int slots) {
    kernel_wish asked = cuda::open_wish_of(by_rules);
    asked[knobs::block] = by_rules.block();
    std::vector<kernel_decision> reads;
    for (const int width : knobs::width.line().tuned) {
        kernel_wish again = asked;
        again.feed = "inline";
        again[knobs::width] = width;
        reads.push_back(cuda::with_presets(again));
    }
    if (slots > 0) add_streamed(asked, slots, reads);
    std::vector<cuda::way_back_decision> out{by_rules};
    for (const kernel_decision& r : reads) {
        cuda::way_back_decision one = cuda::read_by(by_rules, r);
        if (!cuda::have_same_bits(one, by_rules)) continue;
        const bool is_first =
            one.keeps_shocks == by_rules.keeps_shocks &&
            (one.reads == by_rules.reads || (!one.keeps_shocks && one.width() == by_rules.width()));
        if (!is_first) out.push_back(std::move(one));
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
    // The finalist is timed against candidate 0, in turn.
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

namespace {

[[noreturn]] void refuse_all() {
    throw error(error_kind::usage, "there is no way to build this kernel for this device");
}

void decide(gpu_timer& on, const std::function<kernel_decision(std::size_t)>& decision_of, std::size_t count,
            const std::function<std::optional<double>(std::size_t)>& sample, double seconds, outcome& out) {
    on.says("timing");
    const double begin = seconds_now();
    const contest c = halve(count, sample, seconds, seconds_now);
    out.seconds = seconds_now() - begin;
    if (!std::isfinite(c.winner_milliseconds)) throw clock_throttled();
    out.best = decision_of(c.winner);
    out.best_milliseconds = c.winner_milliseconds;
    out.untuned_milliseconds = c.first_milliseconds;
}

}  // namespace

outcome tune(gpu_timer& on, way_back_timer& kernel, const cuda::way_back_decision& by_rules, double seconds) {
    std::vector<cuda::way_back_decision> all = candidates(by_rules, kernel.timed().code->slots_per_step());
    std::erase_if(all, [&](const auto& how) { return !kernel.why_not(how).empty(); });
    if (all.empty()) refuse_all();
    std::vector<std::string> texts;
    for (const auto& how : all) texts.push_back(kernel.text(how));
    on.compile(texts);

    const auto told = [](const cuda::way_back_decision& how) {
        kernel_decision reads = how.reads;
        if (!how.keeps_shocks) reads.feed = "inline";
        return reads;
    };
    outcome out;
    out.untuned = told(all.front());
    out.tried = all.size();
    std::vector<cuda::way_back_decision> right;
    std::optional<run::tally> truth;
    for (const auto& how : all) {
        on.says("checking " + how.reads.feed);
        if (kernel.figures(how).local_bytes > 0 && !right.empty()) continue;
        run::tally found = kernel.found(how);
        if (!truth) truth = found;
        if (!(found == *truth)) {
            ++out.wrong;
            continue;
        }
        right.push_back(how);
    }
    decide(
        on, [&](std::size_t i) { return told(right[i]); }, right.size(),
        [&](std::size_t i) { return kernel.sample(right[i]); }, seconds, out);
    return out;
}

outcome tune(gpu_timer& on, path_timer& kernel, const kernel_wish& asked, double seconds, int warps) {
    const auto fits = [&](const kernel_decision& how, int) { return kernel.why_not(how).empty(); };
    const auto all = candidates(asked, kernel.timed().code, fits);
    if (all.empty()) refuse_all();
    std::vector<std::string> texts;
    for (const kernel_decision& how : all) texts.push_back(kernel.text(how));
    on.compile(texts);

    outcome out;
    out.untuned = all.front();
    out.tried = all.size();
    // Compares bits before any timing, which also warms up.
    std::vector<kernel_decision> right;
    std::vector<path_timer::prepared> ready;
    std::vector<kernels::tile_result> truth;
    for (const kernel_decision& how : all) {
        on.says("checking " + how.feed);
        const auto one = kernel.prepare(how, warps);
        // Kernels that spill are never the fastest, so they are not timed.
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
    decide(
        on, [&](std::size_t i) { return right[i]; }, right.size(),
        [&](std::size_t i) {
            return on.sample([&] {
                // Making the arrays of points is part of the time, as it differs between candidates.
                if (asked.points != cuda::point_way::read) kernel.fill(right[i]);
                kernel.launch(right[i], ready[i]);
            });
        },
        seconds, out);
    return out;
}

}  // namespace tilewalk::tuning
