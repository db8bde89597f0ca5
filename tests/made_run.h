// SPDX-License-Identifier: Apache-2.0
// A made-up run of the benchmark suite prefetch, as a GPU might give it: every feed, distance, layout, width
// and occupancy. Times follow a simple law of latency and bandwidth; their noise is judged as in a real run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/row.h"
#include "bench/measure/timing.h"

namespace tilewalk::tests {

struct made_run_options {
    std::uint64_t seed = 1;
    double sample_noise = 0.01;  // the standard deviation of a sample, over its median
    std::string slowed_feed;     // the feed that takes `slowed` times as long
    double slowed = 1;
    std::vector<std::string> precisions{"single", "double"};
    std::vector<int> warps{8, 16, 64}, widths{1, 2}, distances{2, 4, 6, 8, 12};
};

class made_samples {
  public:
    made_samples(std::uint64_t seed, double noise) : chance_(seed), noise_(noise) {}

    // A sample: around the median, but late once in thirty times.
    double operator()(double median) {
        const double late = uniform() < 1.0 / 30 ? 3 * noise_ * uniform() : 0;
        return median * std::exp(noise_ * normal() + late);
    }
    double normal() {
        return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979 * uniform());
    }
    double uniform() { return (static_cast<double>(chance_() >> 12) + 0.5) * 0x1p-52; }

    // Takes samples until the stopping rule ends them, as a benchmark does.
    bench::summary measured(double median) {
        double clock = 0;
        const auto got = bench::measure(
            [&]() -> std::optional<double> {
                const double ms = (*this)(median);
                clock += ms * 1e-3;
                return ms;
            },
            bench::stop_rule{}, [&] { return clock; });
        return got->of;
    }

  private:
    std::mt19937_64 chance_;
    double noise_;
};

inline bench::json figures_of(const bench::summary& s) {
    return {{"milliseconds", s.median},
            {"p10", s.p10},
            {"p90", s.p90},
            {"noise", s.noise},
            {"samples", s.samples}};
}

inline bench::json made_about() {
    return {{"device", "NVIDIA H100 80GB HBM3"},
            {"compute_capability", "9.0"},
            {"multiprocessors", 132},
            {"memory_bytes", 85017755648},
            {"l2_bytes", 52428800},
            {"clock_mhz", 1980},
            {"driver", "580.65.06"},
            {"runtime", "13.0"},
            {"clock_mhz_seen", 1980},
            {"memory_clock_mhz_seen", 2619},
            {"copy_bytes_per_second", 2.98e12},
            {"version", "0.1.0"},
            {"commit", "0123abc"},
            {"date", "2026-11-21"}};
}

inline bench::run made_run(const made_run_options& how = {}) {
    using bench::json;
    constexpr double copy = 2.98e12;
    made_samples samples(how.seed, how.sample_noise);
    bench::run out;
    out.about = made_about();
    std::map<std::string, double> reference_ms;

    struct kind {
        std::string_view name;
        double hidden;  // fraction of the latency left at a distance of 1
        bool has_distance, has_layout, has_rows;
    };
    constexpr kind kinds[] = {
        {"none", 1, false, false, false},
        {"unroll", 0.9, true, false, false},
        {"register_batched", 0.8, true, false, false},
        {"register_rolling", 1.1, true, false, false},
        {"smem_batched", 1.0, true, true, false},
        {"smem_rolling", 1.05, true, true, false},
        {"smem_rolling_async", 0.6, true, true, false},
        {"l2_prefetch", 0.85, true, false, false},
        {"l2_hint", 0.95, true, false, false},
        {"bulk_async", 0.5, true, false, true},
        {"inline", 0, false, false, false},
    };
    for (const std::string& precision : how.precisions) {
        const double bytes = (precision == "double" ? 8.0 : 4.0) * 252 * (1 << 20);
        for (const int warps : how.warps) {
            for (const kind& k : kinds) {
                const std::vector<int> no_axis{0};
                const std::vector<std::string> no_layout{""}, layouts{"plain", "padded", "transposed"};
                for (const int distance : k.has_distance ? how.distances : no_axis) {
                    for (const int rows : k.has_rows ? std::vector<int>{4, 12} : no_axis) {
                        for (const std::string& layout : k.has_layout ? layouts : no_layout) {
                            for (const int width : k.name == "inline" ? std::vector<int>{1} : how.widths) {
                                bench::row r;
                                r.suite = "prefetch";
                                r.axes = {{"workload", "asian"}, {"precision", precision}, {"feed", k.name}};
                                if (distance > 0) r.axes["distance"] = distance;
                                if (rows > 0) r.axes["rows"] = rows;
                                if (!layout.empty()) r.axes["layout"] = layout;
                                r.axes["width"] = width;
                                r.axes["block"] = 256;
                                r.axes["warps"] = warps;
                                const std::string group = precision + std::to_string(warps);
                                const bool is_reference = k.name == "none" && width == 1;
                                if (!is_reference) {
                                    r.over = {{"workload", "asian"}, {"precision", precision},
                                              {"feed", "none"},      {"width", 1},
                                              {"block", 256},        {"warps", warps}};
                                }
                                if (k.name == "bulk_async" && distance * rows > 96) {
                                    r.skipped = "the ring takes more shared memory than a block may have";
                                    out.rows.push_back(std::move(r));
                                    continue;
                                }
                                const double conflicts = layout == "plain" && distance % 8 == 0 ? 8
                                                         : layout == "plain"                    ? 2
                                                                                                : 1;
                                const double ahead = distance > 0 ? distance : 1;
                                const double latency = k.hidden * std::pow(ahead * width, -0.7) * 96 / warps;
                                double ms = 1e3 * bytes / copy *
                                            (1.03 + latency * (1 + 0.1 * (conflicts - 1)) +
                                             0.02 * (conflicts - 1) + 0.01 * ahead * warps / 64);
                                if (k.name == "inline") ms *= 1.4;
                                if (k.name == how.slowed_feed) ms *= how.slowed;
                                const bench::summary s = samples.measured(ms);
                                r.figures = figures_of(s);
                                if (is_reference) reference_ms[group] = s.median;
                                if (!is_reference) r.figures["ratio"] = reference_ms.at(group) / s.median;
                                if (k.name != "inline") {
                                    r.figures["bytes_per_second"] = bytes / (s.median * 1e-3);
                                    r.figures["share_of_copy"] = bytes / (s.median * 1e-3) / copy;
                                }
                                r.figures["registers"] = 32 + 2 * distance * width;
                                r.figures["shared_bytes"] = k.has_layout ? 2048 * distance * width : 0;
                                r.figures["resident_warps"] = warps;
                                if (k.has_layout) r.figures["conflicts"] = conflicts;
                                r.figures["price"] = 5.7612345678;
                                r.figures["standard_error"] = 0.0078;
                                out.rows.push_back(std::move(r));
                            }
                        }
                    }
                }
            }
        }
    }
    return out;
}

}  // namespace tilewalk::tests
