// SPDX-License-Identifier: Apache-2.0
// Times kernels generated from YAML: the Asian and the worst-of autocallable with shocks drawn in registers,
// and the Asian with shocks from memory by every feed (prefetch strategy), at several occupancies. Prints one
// JSON object a line; bench/gpu_figures.py sets them beside the hand-written kernels of bench/gpu_baselines.
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/timing.h"
#include "bench/measure/workloads.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using cuda::kernel_decision;
using cuda::kernel_wish;
namespace knobs = cuda::knobs;
using program::precision;

struct generated_case {
    std::string workload;
    kernel_decision how;
    std::vector<int> warps{0};  // resident warps per multiprocessor to measure; 0: as many as fit
};

bool anything_fits(const kernel_decision&, int) {
    return true;
}

// Adds kernels that draw shocks in registers: every block and width, with and without our limit of registers.
void add_inline(const workload& of, std::vector<generated_case>& to) {
    for (const int threads : knobs::block.line().values.list) {
        for (const int width : knobs::width.line().values.list) {
            kernel_wish wish;
            wish.precision = of.precision;
            wish.feed = "inline";
            wish[knobs::block] = threads;
            wish[knobs::width] = width;
            generated_case c{of.name, decide(wish, of.code, anything_fits)};
            to.push_back(c);
            if (c.how.blocks == 0) continue;
            c.how.blocks = 0;
            to.push_back(c);
        }
    }
}

// Adds kernels that read shocks from memory: every feed, with few and with many resident warps.
void add_streamed(const workload& of, std::vector<generated_case>& to) {
    static constexpr std::array distances{6, 8, 12};
    static constexpr std::array distance_of_stages{24};
    for (const auto& feed : cuda::feeds()) {
        if (!feed.makes_use_of(cuda::feed_entry::array)) continue;
        const bool has_rows = feed.makes_use_of(knobs::rows);
        const auto values = [&](cuda::knob_id k) -> std::span<const int> {
            if (k == knobs::block) return {};
            if (k != knobs::distance) return k.line().tuned;
            return has_rows ? std::span<const int>(distance_of_stages) : distances;
        };
        kernel_wish wish;
        wish.precision = of.precision;
        wish.feed = std::string(feed.name);
        if (has_rows) wish[knobs::rows] = 12;
        cuda::for_each_setting(feed, wish, values, [&](const kernel_wish& one) {
            to.push_back({of.name, cuda::with_presets(one), {64, 32, 16, 8}});
        });
    }
}

void print(const generated_case& c, path_timer& kernel, const path_timer::prepared& ready,
           const gpu_timer::timing& t) {
    const double seconds = t.milliseconds.median * 1e-3;
    const auto tiles = kernel.results();
    json line{{"generated", c.workload},
              {"precision", std::string(program::name_of(c.how.precision))},
              {"feed", c.how.feed},
              {"distance", c.how[knobs::distance]},
              {"rows", c.how[knobs::rows]},
              {"layout", text_of(knobs::layout.line(), c.how[knobs::layout])},
              {"width", c.how[knobs::width]},
              {"block", c.how[knobs::block]},
              {"warps_per_multiprocessor", ready.warps},
              {"registers", ready.registers},
              {"local_bytes", ready.local_bytes},
              {"rate", static_cast<double>(kernel.paths() * kernel.timed().path_steps()) / seconds},
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

int measure(gpu_timer& on, const workload& of, const std::vector<generated_case>& cases) {
    path_timer kernel(on, of, 0);
    std::vector<std::string> texts;
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
                // The same count again: no more warps fit than before, and that occupancy has been measured.
                if (ready.warps == before) continue;
                before = ready.warps;
                print(c, kernel, ready, on.time_warm([&] { kernel.launch(c.how, ready); }));
            }
        } catch (const std::exception& e) {
            ++failures;
            std::fprintf(stderr, "%s, %s, %s: %s\n", c.workload.c_str(),
                         std::string(program::name_of(c.how.precision)).c_str(), described(c.how).c_str(),
                         e.what());
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
