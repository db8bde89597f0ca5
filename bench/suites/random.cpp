// SPDX-License-Identifier: Apache-2.0
// The suite `random`: normals a second of each random source and of cuRAND's device API; an Asian with shocks
// from registers, by us and by cuRAND, or from a filled cube; and a trade with few quasi-random points, in
// registers or from a cube. Checks first: mean and variance of normals, the CPU's bits for our walks and
// sums, cuRAND's price within its error.
#include "bench/suites/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bench/measure/attempt.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "bench/suites/curand_device.h"
#include "bench/suites/points_of_paths.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/tile.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench {

namespace normals {

const char* const asian_book =
    "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, "
    "volatility: 0.2}}}\n"
    "trades:\n  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: "
    "1, count: 252}}\n";

namespace {

using arrays::element;

constexpr std::uint64_t cube_rows = 64, walk_steps = 252;
// The most paths of a cube (fewer if memory is short): 2^26 normals in 64 rows.
constexpr std::uint64_t most_paths_of_cube = std::uint64_t{1} << 20;
std::uint64_t cube_paths(const gpu_timer& on) {
    return paths_for(most_paths_of_cube, cube_rows, on.device().free_bytes());
}
std::uint64_t walk_paths(const gpu_timer& on) {
    return paths_for(std::uint64_t{1} << 19, walk_steps, on.device().free_bytes());
}
constexpr std::array<std::uint64_t, 3> sampled_rows{0, 31, cube_rows - 1};

const char* name_of(element of) {
    return of == element::double_ ? "double" : "single";
}

bool is_single(program::precision p) {
    return program::shock_type(p) == element::single_;
}

random::opening opening_on(gpu_timer& on, std::uint64_t paths, std::uint64_t rows, element of,
                           bool approximate) {
    random::opening out{on.device(),
                        [&on](const std::string& text, const char* name) { return on.find(text, name); },
                        timed_walk::seed,
                        paths,
                        rows,
                        of};
    out.approximate = approximate;
    return out;
}

struct memory_cube {
    memory_cube(gpu_timer& on, std::uint64_t paths, std::uint64_t rows, element of)
        : memory(on.device(), random::padded_paths(paths, of) * rows * arrays::bytes_of(of)),
          cube{memory.as<void>(), random::padded_paths(paths, of), rows, random::shock_kind::normal} {}

    cuda::device_memory memory;
    random::cube cube;
};

template <class real>
std::vector<double> sample_of(gpu_timer& on, const random::cube& from, std::uint64_t paths) {
    std::vector<double> out;
    for (const std::uint64_t r : sampled_rows) {
        const auto got = on.downloaded<real>(static_cast<const real*>(from.first) + r * from.pitch, paths);
        out.insert(out.end(), got.begin(), got.end());
    }
    return out;
}

struct maker {
    std::string name;
    const random::catalogue_entry* source;
    element of;
    bool approximate;
};

std::vector<maker> makers() {
    std::vector<maker> out;
    for (const element of : {element::single_, element::double_}) {
        for (const auto& source : random::catalogue()) {
            if (of == element::single_ || !source.is_for_single_fast)
                out.push_back({std::string(source.name), &source, of, source.is_for_single_fast});
        }
        if (of == element::single_)
            out.push_back({"philox_approximate", &random::catalogue().front(), of, true});
    }
    return out;
}

row row_of(std::string_view source, element of) {
    row r;
    r.suite = "random";
    r.axes = {{"kind", "fill"}, {"source", source}, {"precision", name_of(of)}};
    return r;
}

// Times `fill` in normals a second, after checking the statistics of what it writes.
void measure_fill(gpu_timer& on, row& r, const memory_cube& made, element of, std::uint64_t paths,
                  const std::function<void()>& fill) {
    on.device().fill(made.memory.as<void>(), 0xff, made.memory.bytes(), on.stream());
    fill();
    r.wrong = why_not_normal(of == element::double_ ? sample_of<double>(on, made.cube, paths)
                                                    : sample_of<float>(on, made.cube, paths));
    if (!r.wrong.empty()) return;
    const auto t = on.time(fill);
    const double seconds = t.milliseconds.median * 1e-3, count = static_cast<double>(paths * cube_rows);
    const double rate = count * static_cast<double>(arrays::bytes_of(of)) / seconds;
    r.figures = figures_of(t);
    r.figures["paths"] = paths;
    r.figures["normals_per_second"] = count / seconds;
    r.figures["bytes_per_second"] = rate;
    r.figures["share_of_copy"] = rate / on.copy_rate();
}

struct own_fill {
    std::array<std::optional<double>, 2> milliseconds;

    std::optional<double>& of(element e) { return milliseconds.at(e == element::double_ ? 1 : 0); }
    void compare(row& r, element e) {
        if (!r.wrong.empty() || !of(e)) return;
        r.over = row_of(random::catalogue().front().name, e).axes;
        r.figures["ratio"] = *of(e) / r.figures.at("milliseconds").get<double>();
    }
};

own_fill measure_makers(gpu_timer& on, const sink& to) {
    own_fill ours;
    const std::uint64_t paths = cube_paths(on);
    for (const maker& m : makers()) {
        on.says("random: " + m.name + ", " + name_of(m.of));
        std::unique_ptr<random::random_source> source;
        std::optional<memory_cube> made;
        const cuda::in_flight waits(on.device(), {on.stream()});
        try {
            source = m.source->open(opening_on(on, paths, cube_rows, m.of, m.approximate));
            made.emplace(on, paths, cube_rows, m.of);
        } catch (const cuda::device_error& e) {
            if (e.is_final()) throw;
            skip(row_of(m.name, m.of), to, e.what());
            continue;
        } catch (const error& e) {
            skip(row_of(m.name, m.of), to, e.what());
            continue;
        }
        attempt(row_of(m.name, m.of), to, [&](row& r) {
            measure_fill(on, r, *made, m.of, paths, [&] { source->fill(made->cube, 0, paths, on.stream()); });
            if (m.source != &random::catalogue().front() || m.approximate) {
                ours.compare(r, m.of);
            } else if (r.wrong.empty()) {
                ours.of(m.of) = r.figures.at("milliseconds").get<double>();
            }
        });
    }
    return ours;
}

struct device_headers {
    std::optional<cuda::toolkit_headers> found;
    std::string why_not;

    explicit device_headers(std::span<const std::string> folders) {
        try {
            found = curand_headers(folders);
        } catch (const error& e) {
            why_not = e.message();
        }
    }
};

void measure_device_generators(gpu_timer& on, const device_headers& headers, own_fill& ours, const sink& to) {
    const std::uint64_t paths = cube_paths(on);
    for (const element of : {element::single_, element::double_}) {
        for (const device_generator& from : device_generators()) {
            const row of_row = row_of(from.name, of);
            if (!headers.found) {
                skip(of_row, to, headers.why_not);
                continue;
            }
            on.says("random: " + std::string(from.name) + ", " + name_of(of));
            attempt(of_row, to, [&](row& r) {
                const memory_cube made(on, paths, cube_rows, of);
                device_fill fill(on, *headers.found, from, of, made.memory.as<void>(), made.memory.bytes());
                if (fill.keeps_state()) fill.set_up();
                measure_fill(on, r, made, of, paths, [&] { fill.run(); });
                if (!r.wrong.empty()) return;
                if (fill.keeps_state())
                    r.figures["set_up_milliseconds"] = on.time([&] { fill.set_up(); }).milliseconds.median;
                ours.compare(r, of);
            });
        }
    }
}

row row_of_walk(std::string_view shocks, program::precision p) {
    row r;
    r.suite = "random";
    r.axes = {{"kind", "asian"}, {"shocks", shocks}, {"precision", program::name_of(p)}};
    return r;
}

bool same_bits(const kernels::tile_result& a, const kernels::tile_result& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

// How closely a price must agree with the CPU's: in bits, or within five joint standard errors, which a
// correct price from other random numbers exceeds for one seed in 1.7 million.
enum class agreement { bits, five_errors };
std::string why_not_the_cpus(const estimate& got, agreement how, std::uint64_t paths) {
    const auto book = tilewalk::book::parse(asian_book, "benchmark");
    run_options options;
    options.overrides.controls = technique::none;
    options.overrides.paths = paths;
    options.overrides.seed = timed_walk::seed;
    options.overrides.device = "cpu";
    options.overrides.random = "philox";
    const results priced = engine().price(book, options);
    const price_row& r = priced.rows.at(0);
    if (r.status != trade_status::priced) return "the CPU can't price it: " + r.message;
    const bool right = how == agreement::bits ? got.price == r.price && got.standard_error == r.standard_error
                                              : std::abs(got.price - r.price) <=
                                                    5 * std::hypot(got.standard_error, r.standard_error);
    return right ? ""
                 : "the price is " + std::to_string(got.price) + " +- " + std::to_string(got.standard_error) +
                       ", on the CPU " + std::to_string(r.price) + " +- " + std::to_string(r.standard_error);
}

std::string why_not_priced_alike(const kernels::tile_result& got, std::uint64_t paths) {
    if (got.not_finite != 0) return std::to_string(got.not_finite) + " payoffs are no finite numbers";
    if (got.moments.count != static_cast<double>(paths))
        return "a result of " + std::to_string(got.moments.count) + " paths, expected " +
               std::to_string(paths);
    return why_not_the_cpus(estimate_of(got), agreement::five_errors, paths);
}

void add_walk_figures(row& r, const gpu_timer::timing& t, std::uint64_t paths) {
    r.figures = figures_of(t);
    r.figures["paths"] = paths;
    r.figures["path_steps_per_second"] =
        static_cast<double>(paths * walk_steps) / (t.milliseconds.median * 1e-3);
}

void measure_walks(gpu_timer& on, program::precision p, const device_headers& headers, const sink& to) {
    const planned_walk in_registers = inline_asian(p), streamed = streamed_asian(p);
    const std::uint64_t paths = walk_paths(on);
    std::optional<kernels::tile_result> expected;
    double inline_milliseconds = 0;
    attempt(row_of_walk("inline", p), to, [&](row& r) {
        timed_walk w(on, in_registers, paths);
        w.run();
        const auto got = w.result();
        r.wrong = why_not_the_cpus(estimate_of(got), is_single(p) ? agreement::five_errors : agreement::bits,
                                   paths);
        if (!r.wrong.empty()) return;
        expected = got;
        const auto t = on.time([&] { w.run(); });
        inline_milliseconds = t.milliseconds.median;
        add_walk_figures(r, t, paths);
        r.figures["block"] = in_registers.how[cuda::knobs::block];
        r.figures["width"] = in_registers.how[cuda::knobs::width];
    });
    const auto time_beside_ours = [&](row& r, auto& other) {
        other.run();
        r.wrong = why_not_priced_alike(other.result(), paths);
        if (!r.wrong.empty()) return;
        const auto t = on.time([&] { other.run(); });
        add_walk_figures(r, t, paths);
        if (inline_milliseconds == 0) return;
        r.over = row_of_walk("inline", p).axes;
        r.figures["ratio"] = inline_milliseconds / t.milliseconds.median;
    };
    if (program::is_fast(p)) {
        const planned_walk in_fewer_rounds = inline_asian(p, kernels::fewest_philox_rounds);
        attempt(row_of_walk("inline_philox_7", p), to, [&](row& r) {
            timed_walk w(on, in_fewer_rounds, paths);
            time_beside_ours(r, w);
        });
    }
    attempt(row_of_walk("streamed", p), to, [&](row& r) {
        const element of = program::shock_type(p);
        memory_cube made(on, paths, walk_steps, of);
        const random::keyed_rows of_asset{
            kernels::stream_key_of(program::key_of(streamed.trade.data.normal_names, 0)),
            1,
            1,
            walk_steps,
            0,
            nullptr};
        made.cube.keyed = {&of_asset, 1};
        const auto opened = opening_on(on, paths, walk_steps, of, program::is_fast(p));
        timed_walk w(on, streamed, paths);
        const auto fill = [&] { random::draw_cube(opened, made.cube, 0, paths, on.stream()); };
        const kernels::array_argument normals{made.cube.first, made.cube.pitch, made.cube.pitch, 0};
        const auto both = [&] {
            fill();
            w.run(normals);
        };
        both();
        if (!expected) {
            r.wrong = "there is no right result with shocks in registers to compare with";
        } else if (!same_bits(w.result(), *expected)) {
            r.wrong = "other bits than with shocks in registers";
        }
        if (!r.wrong.empty()) return;
        const auto t = on.time(both);
        add_walk_figures(r, t, paths);
        r.figures["fill_milliseconds"] = on.time(fill).milliseconds.median;
        r.figures["walk_milliseconds"] = on.time([&] { w.run(normals); }).milliseconds.median;
        r.figures["feed"] = streamed.how.feed;
        r.over = row_of_walk("inline", p).axes;
        r.figures["ratio"] = inline_milliseconds / t.milliseconds.median;
    });
    const row by_curand = row_of_walk(device_generators().front().name, p);
    if (!headers.found) return skip(by_curand, to, headers.why_not);
    attempt(by_curand, to, [&](row& r) {
        device_asian walk_of_curand(on, *headers.found, program::shock_type(p), paths);
        time_beside_ours(r, walk_of_curand);
    });
}

}  // namespace

std::uint64_t paths_for(std::uint64_t most, std::uint64_t rows, std::size_t free_bytes) {
    std::uint64_t paths = most;
    while (paths > kernels::paths_per_tile && paths * rows * sizeof(double) > free_bytes / 4) paths /= 2;
    return paths;
}

std::string why_not_normal(std::span<const double> sample) {
    const auto n = static_cast<double>(sample.size());
    double sum = 0, squares = 0;
    for (const double x : sample) {
        sum += x;
        squares += x * x;
    }
    const double mean = sum / n, variance = squares / n - mean * mean;
    if (std::abs(mean) <= 5 / std::sqrt(n) && std::abs(variance - 1) <= 5 * std::sqrt(2 / n)) return {};
    return "no normals: of " + std::to_string(sample.size()) + " the mean is " + std::to_string(mean) +
           " and the variance " + std::to_string(variance);
}

planned_walk inline_asian(program::precision p, int rounds) {
    cuda::kernel_wish how;
    how.precision = p;
    how.rounds = rounds;
    return plan_walk(asian_book, how);
}

planned_walk streamed_asian(program::precision p) {
    // Asynchronous copies of 16 bytes: the fastest ring in shared memory at any occupancy.
    cuda::kernel_wish how;
    how.precision = p;
    how.feed = "smem_rolling_async";
    how[cuda::knobs::distance] = 8;
    how[cuda::knobs::width] = is_single(p) ? 4 : 2;
    how.blocks = 0;
    return plan_walk(asian_book, how);
}

namespace {

constexpr std::array walked{program::precision::single_fast, program::precision::double_};

}  // namespace

void measure(gpu_timer& on, std::span<const std::string> header_folders, const sink& to) {
    std::vector<std::string> texts{cuda::merge_kernel_text()};
    for (const element of : {element::single_, element::double_}) {
        texts.push_back(random::draw_text(of, random::shock_kind::normal));
        texts.push_back(random::convert_bits_text(of, random::shock_kind::normal));
        texts.push_back(random::convert_points_text(of));
    }
    for (const int rounds : {kernels::fewest_philox_rounds, kernels::philox_rounds})
        texts.push_back(random::draw_text(element::single_, random::shock_kind::normal, true, rounds));
    for (const program::precision p : walked) {
        texts.push_back(inline_asian(p).text());
        if (program::is_fast(p)) texts.push_back(inline_asian(p, kernels::fewest_philox_rounds).text());
        texts.push_back(streamed_asian(p).text());
    }
    for (const std::string& text : texts_of_points_of_paths()) texts.push_back(text);
    on.compile(texts);
    const device_headers headers(header_folders);
    if (headers.found) on.compile(curand_texts(), *headers.found);
    own_fill ours = measure_makers(on, to);
    measure_device_generators(on, headers, ours, to);
    for (const program::precision p : walked) measure_walks(on, p, headers, to);
    measure_points_of_paths(on, most_paths_of_cube, to);
}

}  // namespace normals

void run_random(gpu_timer& on, const request&, const sink& to) {
    normals::measure(on, cuda::toolkit_header_folders(cuda::nvrtc_folder()), to);
}

}  // namespace tilewalk::bench
