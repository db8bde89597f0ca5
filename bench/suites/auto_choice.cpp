// SPDX-License-Identifier: Apache-2.0
// The suite `auto`: times the kernel build that the tuner chooses against the fastest of all candidates and
// against feed `none`. Its kernels differ in payoff, precision and resident warps, and did not serve to
// develop the tuner.
#include "bench/measure/suites.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "bench/measure/timing.h"
#include "bench/measure/workloads.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/tuning/tuner.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using cuda::kernel_decision;
using cuda::kernel_wish;
namespace knobs = cuda::knobs;
using program::precision;

struct combination {
    std::string_view workload;
    program::precision in;
    bool reads_shocks;
    int warps;  // resident warps per multiprocessor; 0: as many as fit
};

constexpr std::array combinations{
    combination{"asian", precision::double_, true, 64},
    combination{"asian", precision::double_, true, 24},
    combination{"asian", precision::double_, true, 16},
    combination{"asian", precision::single_fast, true, 32},
    combination{"asian", precision::single_fast, true, 8},
    combination{"asian", precision::mixed, true, 16},
    combination{"heston_step", precision::double_, true, 32},
    combination{"heston_step", precision::double_, true, 8},
    combination{"heston_step", precision::single, true, 16},
    combination{"heston_step", precision::single_fast, true, 0},
    combination{"heston_step", precision::mixed, true, 0},
    combination{"autocallable", precision::double_, true, 16},
    combination{"autocallable", precision::double_, true, 8},
    combination{"autocallable", precision::single, true, 0},
    combination{"autocallable", precision::single_fast, true, 16},
    combination{"asian", precision::double_, false, 0},
    combination{"asian", precision::single_fast, false, 0},
    combination{"heston_step", precision::double_, false, 0},
    combination{"heston_step", precision::single_fast, false, 0},
    combination{"autocallable", precision::single_fast, false, 0},
};

constexpr double tuner_seconds = 2;

kernel_wish open_wish(const combination& c) {
    kernel_wish how;
    how.precision = c.in;
    how.reads_shocks = c.reads_shocks;
    return how;
}

double time_of(gpu_timer& on, path_timer& kernel, const kernel_decision& how, int warps) {
    const auto ready = kernel.prepare(how, warps);
    return on.time([&] { kernel.launch(how, ready); }).milliseconds.median;
}

void add_more(std::vector<kernel_decision>& to, const path_timer& kernel) {
    const std::vector<kernel_decision> known = to;
    for (kernel_decision how : known) {
        if (!cuda::feed_named(how.feed).makes_use_of(knobs::layout) || how[knobs::distance] != 4) continue;
        for (const int distance : {6, 12}) {
            how[knobs::distance] = distance;
            if (how.layout() == kernels::ring_layout::padded)
                how[knobs::padding] = cuda::found_padding(distance);
            if (kernel.why_not(how).empty()) to.push_back(how);
        }
    }
}

struct searched {
    kernel_decision best;
    double milliseconds = std::numeric_limits<double>::infinity();
    std::size_t ways = 0;
};
searched search(gpu_timer& on, path_timer& kernel, std::vector<kernel_decision> all, int warps) {
    std::vector<std::string> texts;
    for (const auto& how : all) texts.push_back(kernel.text(how));
    on.compile(texts);
    std::vector<std::pair<double, std::size_t>> first;
    for (std::size_t i = 0; i < all.size(); ++i) {
        on.says(fmt::format("searching: {} of {}, {}", i + 1, all.size(), all[i].feed));
        const auto ready = kernel.prepare(all[i], warps);
        kernel.launch(all[i], ready);
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < 3; ++k) {
            if (const auto t = on.sample([&] { kernel.launch(all[i], ready); })) least = std::min(least, *t);
        }
        first.emplace_back(least, i);
    }
    std::ranges::sort(first);
    searched out;
    out.ways = all.size();
    constexpr std::size_t looked_at_again = 10;
    for (std::size_t k = 0; k < std::min(looked_at_again, first.size()); ++k) {
        const kernel_decision& how = all[first[k].second];
        const double t = time_of(on, kernel, how, warps);
        if (t < out.milliseconds) out.milliseconds = t, out.best = how;
    }
    return out;
}

void measure_one(gpu_timer& on, const combination& c, row& out) {
    const auto of = workloads_named(std::string(c.workload), c.in, on.says);
    path_timer kernel(on, of.front(), 0);
    const kernel_wish asked = open_wish(c);
    const tuning::outcome found = tuning::tune(on, kernel, asked, tuner_seconds, c.warps);
    if (found.wrong > 0) throw error(error_kind::internal, "ways to build it give other bits than the first");

    const auto fits = [&](const kernel_decision& how, int) { return kernel.why_not(how).empty(); };
    auto all = tuning::candidates(asked, of.front().code, fits);
    add_more(all, kernel);
    const searched full = search(on, kernel, std::move(all), c.warps);
    // Times both choices again, by turns: the smallest of many measured times is biased downwards.
    double by_tuner = 0, by_search = 0;
    constexpr int turns = 3;
    for (int i = 0; i < turns; ++i) {
        by_tuner += time_of(on, kernel, found.best, c.warps) / turns;
        by_search += time_of(on, kernel, full.best, c.warps) / turns;
    }
    by_search = std::min(by_search, by_tuner);
    out.figures["milliseconds"] = by_tuner;
    out.figures["best_milliseconds"] = by_search;
    out.figures["over_best"] = by_tuner / by_search;
    if (c.reads_shocks) {
        kernel_decision none;
        none.precision = c.in;
        none.feed = "none";
        out.figures["over_none"] = by_tuner / time_of(on, kernel, none, c.warps);
    }
    out.figures["over_rules"] = found.best_milliseconds / found.untuned_milliseconds;
    out.figures["feed"] = found.best.feed;
    out.figures["width"] = found.best[knobs::width];
    out.figures["distance"] = found.best[knobs::distance];
    out.figures["best_feed"] = full.best.feed;
    out.figures["best_width"] = full.best[knobs::width];
    out.figures["best_distance"] = full.best[knobs::distance];
    out.figures["ways_tuned"] = found.tried;
    out.figures["ways_searched"] = full.ways;
    out.figures["tuner_seconds"] = found.seconds;
}

}  // namespace

void run_auto(gpu_timer& on, const request&, const sink& to) {
    for (const combination& c : combinations) {
        row out;
        out.suite = "auto";
        out.axes = {{"workload", std::string(c.workload)},
                    {"precision", std::string(program::name_of(c.in))},
                    {"shocks", c.reads_shocks ? "read" : "made"},
                    {"warps", c.warps == 0 ? json("all") : json(c.warps)}};
        attempt(std::move(out), to, [&](row& r) { measure_one(on, c, r); });
    }
}

}  // namespace tilewalk::bench
