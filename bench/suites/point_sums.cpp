// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/point_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "bench/measure/walk.h"
#include "bench/suites/random.h"
#include "engine/cuda/random/fill_kernels.h"
#include "engine/quasi/directions.h"
#include "engine/quasi/normal_tables.h"

namespace tilewalk::bench::normals {

namespace {

using arrays::element;
using kernels::word32;

constexpr int threads = kernels::studies::sums_threads,
              threads_of_tile = kernels::studies::sums_threads_of_tile;

std::string kernel_text(int of_block, const std::string& call) {
    return fmt::format(R"(#include "kernels/ptx.h"
#include "kernels/studies/point_sums.h"

extern __shared__ __align__(128) char shared[];

extern "C" __global__ void __launch_bounds__({}, 2) sum(const __grid_constant__ tilewalk::kernels::studies::point_sums_job a) {{
    using namespace tilewalk::kernels;
    studies::{};
}}
)",
                       of_block, call);
}

std::vector<word32> up_to(word32 end) {
    std::vector<word32> out(end);
    std::iota(out.begin(), out.end(), word32{0});
    return out;
}

}  // namespace

std::string sum_made_text(element of) {
    return kernel_text(threads, of == element::double_ ? "sum_made<double_draws>(a, shared)"
                                                       : "sum_made<single_draws>(a, shared)");
}

std::string sum_shared_text(element of) {
    return kernel_text(threads_of_tile, of == element::double_ ? "sum_shared<double_draws>(a, shared)"
                                                               : "sum_shared<single_draws>(a, shared)");
}

std::string sum_read_text(element of) {
    return kernel_text(threads, of == element::double_ ? "sum_read<double>(a)" : "sum_read<float>(a)");
}

std::string sum_filled_text(element of) {
    return random::points_text(of, random::shock_kind::normal, false, false);
}

std::vector<double> sums_by_the_cpu(element of, word32 dimensions, std::uint64_t paths) {
    std::vector<double> out;
    const auto sum = [&]<class shock>(shock total, word32 path) {
        shock place = 0;
        for (word32 d = 0; d < dimensions; ++d) {
            const auto normal = [](const auto& at) { return normal_of(quasi::normal_table<shock>(), at); };
            kernels::studies::take_step(place, total,
                                        kernels::shock_of_point<random::shock_kind::normal, shock>(
                                            kernels::point_of(quasi::directions_of(d), path),
                                            kernels::scramble_of(timed_walk::seed, 0, d, {}), normal));
        }
        return static_cast<double>(total);
    };
    for (word32 path = 0; path < paths; ++path)
        out.push_back(of == element::double_ ? sum(0.0, path) : sum(0.0f, path));
    return out;
}

point_sums::point_sums(gpu_timer& on, element of, word32 dimensions, std::uint64_t paths)
    : on_(on),
      of_(of),
      made_(on.find(sum_made_text(of), "sum")),
      shared_(on.find(sum_shared_text(of), "sum")),
      filled_(on.find(sum_filled_text(of), "fill")),
      read_(on.find(sum_read_text(of), "sum")),
      tables_(on.device(), of),
      slot_(on.uploaded(std::vector{kernels::slot_of_points{{}, 0, 1, 0}})),
      numbers_(on.uploaded(up_to(dimensions))),
      cube_(on.device(), random::padded_paths(paths, of) * dimensions * arrays::bytes_of(of)),
      sums_(on.device(), paths * arrays::bytes_of(of)),
      waits_(on.device(), {on.stream()}) {
    kernels::points_arguments& a = job_.points;
    a.into = {cube_.as<void>(), random::padded_paths(paths, of), dimensions, paths};
    a.seed = timed_walk::seed;
    a.paths_of_randomisation = paths;
    a.directions = tables_.directions(dimensions, on.stream());
    a.normals = tables_.normals(on.stream());
    a.slots = slot_.as<kernels::slot_of_points>();
    a.dimensions = numbers_.as<word32>();
    a.walkers = kernels::warps_of_points(false);
    a.steps = dimensions;
    a.slot_count = 1;
    job_.sums = sums_.as<void>();
    const auto of_thread = static_cast<std::uint64_t>(
        of == element::double_ ? kernels::paths_of_points<double> : kernels::paths_of_points<float>);
    a.groups = static_cast<word32>(paths / (kernels::paths_of_warp * of_thread));
    on.device().fill(sums_.as<void>(), 0xff, sums_.bytes(), on.stream());
}

void point_sums::make_in_registers() {
    run_those_there(made_, &job_);
}

// A block a tile, with rows for all of its steps.
void point_sums::make_in_shared_memory() {
    cuda::launch how;
    how.threads = threads_of_tile;
    how.blocks = static_cast<word32>(job_.points.into.paths / kernels::paths_per_tile);
    const word32 steps = job_.points.steps;
    how.shared_bytes = static_cast<std::uint32_t>(of_ == element::double_
                                                      ? kernels::studies::sums_bytes_of_tile<double>(steps)
                                                      : kernels::studies::sums_bytes_of_tile<float>(steps));
    run(shared_, how, &job_);
}

void point_sums::fill() {
    run_those_there(filled_, &job_.points);
}

void point_sums::fill_and_read() {
    fill();
    cuda::launch how;
    how.threads = threads;
    how.blocks = static_cast<word32>(blocks_for_all());
    run(read_, how, &job_);
}

std::uint64_t point_sums::blocks_for_all() const {
    const std::uint64_t groups_of_block = threads / kernels::paths_of_warp;
    return (job_.points.groups + groups_of_block - 1) / groups_of_block;
}

// Blocks that make points have a table in shared memory. As many run as are there at once, and go on.
void point_sums::run_those_there(cuda::kernel k, void* arguments) {
    cuda::launch how;
    how.threads = threads;
    how.shared_bytes = static_cast<std::uint32_t>(
        of_ == element::double_ ? kernels::kept_normals<double>::bytes : kernels::kept_normals<float>::bytes);
    how.blocks = job_.points.blocks =
        static_cast<word32>(std::min(blocks_for_all(), random::resident_blocks(on_.device(), k, how)));
    run(k, how, arguments);
}

void point_sums::run(cuda::kernel k, const cuda::launch& how, void* arguments) {
    void* of_launch[] = {arguments};
    on_.run(k, how, of_launch);
}

std::vector<double> point_sums::taken() {
    const std::size_t paths = job_.points.into.paths;
    std::vector<double> out;
    if (of_ == element::double_) {
        out = on_.downloaded<double>(sums_.as<void>(), paths);
    } else {
        const auto got = on_.downloaded<float>(sums_.as<void>(), paths);
        out.assign(got.begin(), got.end());
    }
    // Not a number, so that a kernel that leaves no sum is found out.
    on_.device().fill(sums_.as<void>(), 0xff, sums_.bytes(), on_.stream());
    return out;
}

namespace {

constexpr std::uint64_t compared_paths = 512;

void measure_point_sums(gpu_timer& on, element of, word32 dimensions, std::uint64_t most_paths,
                        const sink& to) {
    const char* const precision = of == element::double_ ? "double" : "single";
    const auto row_of_sums = [&](const char* points) {
        row r;
        r.suite = "random";
        r.axes = {
            {"kind", "point_sums"}, {"points", points}, {"dimensions", dimensions}, {"precision", precision}};
        return r;
    };
    const std::uint64_t paths = paths_for(most_paths, dimensions, on.device().free_bytes());
    on.says(fmt::format("random: sums of points, {}, {}", dimensions, precision));
    double cube_milliseconds = 0;
    const auto measure = [&](row& r, void (point_sums::*way)()) {
        point_sums sums(on, of, dimensions, paths);
        (sums.*way)();
        const auto expected = sums_by_the_cpu(of, dimensions, compared_paths);
        const auto got = sums.taken();
        if (!std::equal(expected.begin(), expected.end(), got.begin())) {
            r.wrong = "other bits than by the CPU";
        } else if (std::ranges::any_of(got, [](double x) { return std::isnan(x); })) {
            r.wrong = "paths without a sum";
        }
        if (!r.wrong.empty()) return;
        const auto t = on.time([&] { (sums.*way)(); });
        const double seconds = t.milliseconds.median * 1e-3;
        r.figures = figures_of(t);
        r.figures["paths"] = paths;
        r.figures["picoseconds_per_normal"] = seconds / static_cast<double>(paths * dimensions) * 1e12;
        if (way == &point_sums::fill_and_read) {
            cube_milliseconds = t.milliseconds.median;
            r.figures["fill_milliseconds"] = on.time([&] { sums.fill(); }).milliseconds.median;
        } else if (cube_milliseconds > 0) {
            r.over = row_of_sums("cube").axes;
            r.figures["ratio"] = cube_milliseconds / t.milliseconds.median;
        }
    };
    attempt(row_of_sums("cube"), to, [&](row& r) { measure(r, &point_sums::fill_and_read); });
    attempt(row_of_sums("shared"), to, [&](row& r) { measure(r, &point_sums::make_in_shared_memory); });
    attempt(row_of_sums("registers"), to, [&](row& r) { measure(r, &point_sums::make_in_registers); });
}

}  // namespace

std::vector<std::string> texts_of_point_sums() {
    std::vector<std::string> out;
    for (const element of : {element::single_, element::double_})
        for (const std::string& text :
             {sum_made_text(of), sum_shared_text(of), sum_read_text(of), sum_filled_text(of)})
            out.push_back(text);
    return out;
}

void measure_point_sums(gpu_timer& on, std::span<const word32> dimensions, std::uint64_t most_paths,
                        const sink& to) {
    for (const element of : {element::single_, element::double_})
        for (const word32 count : dimensions) measure_point_sums(on, of, count, most_paths, to);
}

}  // namespace tilewalk::bench::normals
