// SPDX-License-Identifier: Apache-2.0
// Timings of kernels generated from YAML, each alone and many times over: the Asian and the worst-of
// autocallable with shocks in registers, and the Asian with shocks from memory by every feed, at several
// occupancies. Results end in device memory; the time is that of the path kernel between two events. Prints
// one JSON object a line; bench/gpu_figures.py compares them with the hand-written kernels of
// bench/gpu_baselines.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure/timing.h"
#include "bench/measure/workloads.h"
#include "engine/cuda/backend.h"
#include "engine/cuda/best_choice.h"
#include "engine/cuda/feeds.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using cuda::kernel_choice;
using program::precision;

struct generated_case {
    std::string workload;
    kernel_choice how;
    std::vector<int> warps{0};  // per multiprocessor; 0: as many as fit
};

bool anything_fits(const kernel_choice&, int) {
    return true;
}

// Shocks in registers: every block size and width, with the limits on registers of the best choice and of the
// compiler.
void add_inline(const workload& of, std::vector<generated_case>& to) {
    for (const int threads : {64, 128, 256}) {
        for (const int width : {1, 2, 4}) {
            generated_case c{of.name, {}};
            c.how.precision = of.precision;
            c.how.feed = "inline";
            c.how.threads = threads;
            c.how.width = width;
            c.how.blocks = kernel_choice::automatic_blocks;
            c.how = best_choice(c.how, of.code, anything_fits);
            to.push_back(c);
            if (c.how.blocks == 0) continue;
            c.how.blocks = 0;
            to.push_back(c);
        }
    }
}

// Shocks from memory: every feed, with few warps on a multiprocessor and with many.
void add_streamed(const workload& of, std::vector<generated_case>& to) {
    for (const auto& feed : cuda::feeds()) {
        if (!feed.makes_use_of(cuda::feed_entry::array)) continue;
        const bool has_distance = feed.makes_use_of(cuda::feed_entry::distance);
        const bool has_rows = feed.makes_use_of(cuda::feed_entry::rows);
        for (const int width : {1, 2, 4}) {
            for (const int distance : has_rows       ? std::vector{24}
                                      : has_distance ? std::vector{6, 8, 12}
                                                     : std::vector{8}) {
                generated_case c{of.name, {}, {64, 32, 16, 8}};
                c.how.precision = of.precision;
                c.how.feed = std::string(feed.name);
                c.how.distance = distance;
                c.how.rows = has_rows ? 12 : c.how.rows;
                c.how.width = width;
                c.how.layout = kernels::ring_layout::padded;
                to.push_back(c);
                if (!feed.makes_use_of(cuda::feed_entry::layout)) continue;
                c.how.layout = kernels::ring_layout::transposed;
                to.push_back(c);
            }
        }
    }
}

void print(const generated_case& c, path_timer& kernel, const path_timer::prepared& ready,
           const gpu_timer::timing& t) {
    const double seconds = t.milliseconds.median * 1e-3;
    const auto tiles = kernel.results();
    json line{{"generated", c.workload},
              {"precision", std::string(program::name_of(c.how.precision))},
              {"feed", c.how.feed},
              {"distance", c.how.distance},
              {"rows", c.how.rows},
              {"layout", std::string(cuda::layout_names[static_cast<std::size_t>(c.how.layout)])},
              {"width", c.how.width},
              {"block", c.how.threads},
              {"warps_per_multiprocessor", ready.warps},
              {"registers", ready.registers},
              {"local_bytes", ready.local_bytes},
              {"rate", static_cast<double>(kernel.paths() * kernel.of().path_steps()) / seconds},
              {"unit", "path-steps/s"},
              {"bytes_per_second", static_cast<double>(kernel.bytes_read(c.how)) / seconds},
              {"milliseconds", t.milliseconds.median},
              {"p10", t.milliseconds.p10},
              {"p90", t.milliseconds.p90},
              {"not_finite", 0}};
    line.update(price_figures(tiles, tiles.size()));
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

// All cases of one workload. Its arrays are made once.
int measure(gpu_timer& on, const workload& of, const std::vector<generated_case>& cases) {
    path_timer kernel(on, of, 0);
    std::vector<std::string> texts;
    // Cases that the device can't run are left out.
    for (const auto& c : cases) {
        if (kernel.why_not(c.how).empty()) texts.push_back(kernel.text(c.how));
    }
    on.compile(texts);
    int failures = 0;
    for (const auto& c : cases) {
        if (!kernel.why_not(c.how).empty()) continue;
        try {
            int before = 0;
            for (const int warps : c.warps) {
                const auto ready = kernel.prepare(c.how, warps);
                // More warps were asked for than fit, so this occupancy has been measured already.
                if (ready.warps == before) continue;
                before = ready.warps;
                print(c, kernel, ready, on.time_warm([&] { kernel.launch(c.how, ready); }));
            }
        } catch (const std::exception& e) {
            ++failures;
            std::fprintf(stderr, "%s, %s, %s, distance %d, width %d, block %d: %s\n", c.workload.c_str(),
                         std::string(program::name_of(c.how.precision)).c_str(), c.how.feed.c_str(),
                         c.how.distance, c.how.width, c.how.threads, e.what());
        }
    }
    return failures;
}

int measure_all() {
    cuda::backend gpus;
    const auto found = gpus.choose("0");
    stop_rule until;
    until.fewest = 21;
    until.seconds = 0.2;
    gpu_timer on(found.devices.front(), gpus.kernels(),
                 open_clocks(found.devices.front()->get().properties().uuid), until);
    int failures = 0;
    for (const char* name : {"asian", "autocallable"}) {
        for (const precision p :
             {precision::single_fast, precision::single, precision::mixed, precision::double_}) {
            const auto all = workloads_named(name, p, [](const std::string&) {});
            std::vector<generated_case> cases;
            add_inline(all.front(), cases);
            const bool streams = p == precision::single_fast || p == precision::double_;
            if (std::string(name) == "asian" && streams) add_streamed(all.front(), cases);
            failures += measure(on, all.front(), cases);
        }
    }
    return failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace tilewalk::bench

int main() {
    try {
        return tilewalk::bench::measure_all();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
