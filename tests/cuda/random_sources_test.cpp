// SPDX-License-Identifier: Apache-2.0
// Random sources: a cube of numbers is the same in any chunks, our own have the bits of the CPU, quasi-random
// units have an honest standard error, and numbers of every generator available here pass statistics.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/noise_rows.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/curand.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "engine/walk/units.h"
#include "products/program/streams.h"
#include "tests/fake_device.h"
#include "tests/known_kernels.h"

namespace random_sources_test {
namespace {

using namespace tilewalk;
using arrays::element;
using random::cube;
using random::shock_kind;

constexpr std::uint64_t tile = kernels::paths_per_tile;

// Acts as a GPU: runs fill kernels on the host, where they compile, too; their source stands for the cubin.
template <class arguments, auto function>
cuda::fake_gpu::work launched(const cuda::launch& how, std::span<void*> given) {
    EXPECT_EQ(how.threads, 256u);
    return [a = *static_cast<const arguments*>(given[0]), blocks = how.blocks] {
        for (std::uint32_t block = 0; block < blocks; ++block) {
            for (int thread = 0; thread < 256; ++thread) function(a, block, thread);
        }
    };
}

struct host_stores {
    template <class shock, int count>
    static void store(shock* to, const kernels::neighbours<shock, count>& x) {
        std::memcpy(to, x.x, sizeof x);
    }
};

using on_host = cuda::fake_gpu::work (*)(const cuda::launch& how, std::span<void*> given);

template <class draws, class shock>
void add_kernels(std::map<std::string, on_host>& to, element of) {
    constexpr auto normal = shock_kind::normal, uniform = shock_kind::uniform;
    using drawn = kernels::draws_arguments;
    using bits = kernels::bits_arguments;
    to[random::draw_text(of, normal)] = launched<drawn, &kernels::draw_shocks<draws, normal, host_stores>>;
    to[random::draw_text(of, uniform)] = launched<drawn, &kernels::draw_shocks<draws, uniform, host_stores>>;
    to[random::convert_bits_text(of, normal)] =
        launched<bits, &kernels::convert_bits<shock, normal, host_stores>>;
    to[random::convert_bits_text(of, uniform)] =
        launched<bits, &kernels::convert_bits<shock, uniform, host_stores>>;
    to[random::convert_points_text(of)] = launched<bits, &kernels::convert_points<shock, host_stores>>;
}

const std::map<std::string, on_host>& host_kernels() {
    static const std::map<std::string, on_host> all = [] {
        std::map<std::string, on_host> made;
        add_kernels<kernels::double_draws, double>(made, element::double_);
        add_kernels<kernels::single_draws, float>(made, element::single_);
        return made;
    }();
    return all;
}

struct host_device {
    std::shared_ptr<cuda::fake_gpu> gpu = std::make_shared<cuda::fake_gpu>();
    std::unique_ptr<cuda::device> it;

    host_device() {
        gpu->kernel = [](const std::string& text, const std::string& name, const cuda::launch& how,
                         std::span<void*> given) {
            EXPECT_EQ(name, "fill");
            return host_kernels().at(text)(how, given);
        };
        it = std::make_unique<cuda::fake_device>(gpu);
    }
    ~host_device() {
        modules_.clear();
        it.reset();
        EXPECT_EQ(gpu->report(), "");
    }
    host_device(const host_device&) = delete;
    host_device& operator=(const host_device&) = delete;

    random::opening opening(element of, std::uint64_t run_paths, std::uint64_t most_rows = 40,
                            std::uint64_t seed = 42) {
        const auto kernel_of = [this](const std::string& text, const char* name) {
            if (!modules_.contains(text)) modules_.emplace(text, cuda::owned_module(*it, it->load(text)));
            return it->find(modules_.at(text).get(), name);
        };
        return {*it, kernel_of, seed, run_paths, most_rows, of};
    }

  private:
    std::map<std::string, cuda::owned_module> modules_;
};

// Random numbers [row][path] of `paths` paths from first_path on, made in chunks of these sizes, by turns.
template <class shock>
std::vector<shock> made(cuda::device& on, random::random_source& source, shock_kind kind, std::uint64_t rows,
                        std::uint64_t first_path, std::uint64_t paths,
                        const std::vector<std::uint64_t>& chunks,
                        std::span<const random::keyed_rows> keyed = {}) {
    const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
    std::vector<shock> all(rows * paths);
    std::size_t turn = 0;
    for (std::uint64_t at = 0; at < paths;) {
        const std::uint64_t count = std::min(chunks[turn++ % chunks.size()], paths - at);
        const std::uint64_t pitch =
            random::padded_paths(count + 1, of);  // wider than the chunk, so that both matter
        const std::size_t bytes = rows * pitch * sizeof(shock);
        const cuda::device_memory memory(on, bytes);
        on.fill(memory.as<void>(), 0xff, bytes, cuda::stream::standard);
        source.fill({memory.as<void>(), pitch, rows, kind, keyed}, first_path + at, count,
                    cuda::stream::standard);
        std::vector<shock> chunk(rows * pitch);
        on.download(chunk.data(), memory.as<void>(), bytes, cuda::stream::standard);
        on.wait(cuda::stream::standard);
        for (std::uint64_t r = 0; r < rows; ++r) {
            const auto row = chunk.begin() + static_cast<std::ptrdiff_t>(r * pitch);
            std::copy_n(row, count, all.begin() + static_cast<std::ptrdiff_t>(r * paths + at));
            for (std::uint64_t p = count; p < pitch; ++p) {
                EXPECT_TRUE(std::isnan(row[static_cast<std::ptrdiff_t>(p)])) << "beside the chunk";
            }
        }
        at += count;
    }
    return all;
}

template <class shock>
bool same_bits(const std::vector<shock>& a, const std::vector<shock>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(shock)) == 0;
}

// In place of a cuRAND generator: each number encodes its seed, offset and dimension.
struct coordinates {
    int type = 0;
    unsigned long long seed = 0, offset = 0;
    unsigned int dimensions = 1;

    static unsigned long long number(int type, unsigned long long seed, unsigned long long position) {
        return (position + static_cast<unsigned>(type)) * 0x9e3779b97f4a7c15ull ^
               seed * 0xbf58476d1ce4e5b9ull;
    }
    static std::uint32_t word(int type, unsigned long long seed, unsigned long long position) {
        return static_cast<std::uint32_t>(number(type, seed, position) >> 32);
    }
    static unsigned long long point(unsigned long long dimension, unsigned long long index) {
        return number(204, dimension, index);
    }
};

std::vector<unsigned long long> seeds_seen;
int generators_alive = 0;
int failing_call = -1;  // failure after so many more calls; negative: none
constexpr int launch_failure = 201, type_error = 103, out_of_memory = 102;

bool fails() {
    return failing_call >= 0 && failing_call-- == 0;
}

coordinates& of(void* g) {
    return *static_cast<coordinates*>(g);
}

random::curand_functions coordinate_functions() {
    random::curand_functions f;
    f.curandCreateGenerator = [](void** g, int type) {
        if (fails()) return out_of_memory;
        *g = new coordinates{type};
        ++generators_alive;
        return 0;
    };
    f.curandDestroyGenerator = [](void* g) {
        delete static_cast<coordinates*>(g);
        --generators_alive;
        return 0;
    };
    f.curandSetStream = [](void*, void*) { return fails() ? launch_failure : 0; };
    f.curandSetPseudoRandomGeneratorSeed = [](void* g, unsigned long long seed) {
        if (fails()) return launch_failure;
        seeds_seen.push_back(seed);
        of(g).seed = seed;
        of(g).offset = 0;
        return 0;
    };
    f.curandSetGeneratorOffset = [](void* g, unsigned long long offset) {
        if (of(g).type == 142) return type_error;
        if (fails()) return launch_failure;
        of(g).offset = offset;
        return 0;
    };
    f.curandSetGeneratorOrdering = [](void*, int ordering) { return ordering == 103 ? 0 : type_error; };
    f.curandSetQuasiRandomGeneratorDimensions = [](void* g, unsigned int dimensions) {
        if (dimensions == 0 || dimensions > 20000) return 104;
        of(g).dimensions = dimensions;
        return fails() ? launch_failure : 0;
    };
    f.curandGenerate = [](void* g, unsigned int* into, std::size_t count) {
        if (fails()) return launch_failure;
        for (std::size_t i = 0; i < count; ++i)
            into[i] = coordinates::word(of(g).type, of(g).seed, of(g).offset++);
        return 0;
    };
    f.curandGenerateLongLong = [](void* g, unsigned long long* into, std::size_t count) {
        if (fails()) return launch_failure;
        const std::size_t points = count / of(g).dimensions;
        for (std::size_t d = 0; d < of(g).dimensions; ++d) {
            for (std::size_t i = 0; i < points; ++i)
                into[d * points + i] = coordinates::point(d, of(g).offset + i);
        }
        of(g).offset += points;
        return 0;
    };
    return f;
}

const random::curand_functions coordinate_curand = coordinate_functions();

constexpr random::curand_type pseudo_types[] = {random::curand_type::philox, random::curand_type::xorwow,
                                                random::curand_type::mrg32k3a, random::curand_type::mt19937};

}  // namespace

TEST(random_sources_units, pieces_cover_a_chunk_once_and_never_cross_a_unit) {
    for (const std::uint64_t unit : {tile, 4 * tile, 64 * tile}) {
        for (std::uint64_t first = 0; first < 10 * tile; first += tile) {
            for (const std::uint64_t paths : {std::uint64_t{0}, tile, 7 * tile, 130 * tile}) {
                std::uint64_t next = first;
                run::for_each_piece(unit, first, paths, [&](const run::unit_piece& p) {
                    EXPECT_EQ(p.unit * unit + p.from, next);
                    EXPECT_EQ(first + p.at, next);
                    EXPECT_GT(p.paths, 0u);
                    EXPECT_LE(p.from + p.paths, unit);
                    next += p.paths;
                });
                EXPECT_EQ(next, first + paths);
            }
        }
    }
}

TEST(random_sources_units, a_quasi_random_run_has_enough_of_them) {
    for (const std::uint64_t paths : {8 * tile, 9 * tile + 5, 31 * tile, 32 * tile, 63 * tile, 64 * tile,
                                      100'000 + tile, std::uint64_t{1} << 20, (std::uint64_t{1} << 40) - 1}) {
        const std::uint64_t unit = run::quasi_unit_paths(paths);
        EXPECT_EQ(unit % tile, 0u);
        EXPECT_TRUE(std::has_single_bit(unit));
        const std::uint64_t units = (paths + unit - 1) / unit;
        EXPECT_GE(units, std::min<std::uint64_t>(32, paths / tile)) << paths;
        EXPECT_LE(units, 64u) << paths;
    }
    EXPECT_EQ(run::quasi_unit_paths(std::uint64_t{1} << 20), std::uint64_t{1} << 15);
    try {
        run::quasi_unit_paths(8 * tile - 1);
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("at least 8192 paths"), std::string::npos) << e.message();
    }
}

TEST(random_sources_units, the_standard_error_is_that_of_the_mean_of_units) {
    const auto unit = [](double count, double mean) { return kernels::moments{count, mean, 1, 1, 1}; };
    // With units of equal size, the error is the deviation of their means over the root of their number.
    const std::vector<kernels::moments> four = {unit(1024, 1), unit(1024, 2), unit(1024, 4), unit(1024, 5)};
    const auto e = run::estimate_of_units(four);
    EXPECT_DOUBLE_EQ(e.mean, 3);
    EXPECT_DOUBLE_EQ(e.standard_error, std::sqrt((4. + 1 + 1 + 4) / 3 / 4));
    const std::vector<kernels::moments> equal = {unit(1024, 0.1), unit(1024, 0.1), unit(3, 0.1)};
    EXPECT_EQ(run::estimate_of_units(equal).mean, 0.1);
    EXPECT_EQ(run::estimate_of_units(equal).standard_error, 0);
    EXPECT_EQ(run::estimate_of_units({four.data(), 1}).standard_error, 0);
    EXPECT_EQ(run::estimate_of_units({}).mean, 0);
}

TEST(random_sources_units, the_squared_standard_error_has_no_bias_to_speak_of) {
    std::mt19937_64 seeds(5);
    std::normal_distribution<double> normal;
    const std::vector<double> counts = {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 300};
    const double paths = std::accumulate(counts.begin(), counts.end(), 0.0);
    double claimed = 0, seen = 0;
    constexpr int trials = 200'000;
    for (int t = 0; t < trials; ++t) {
        std::vector<kernels::moments> units;
        for (const double n : counts) units.push_back({n, normal(seeds) / std::sqrt(n), 0, 0, 0});
        const auto e = run::estimate_of_units(units);
        claimed += e.standard_error * e.standard_error / trials;
        seen += e.mean * e.mean / trials;
    }
    EXPECT_NEAR(seen * paths, 1, 0.02);
    EXPECT_NEAR(claimed * paths, 1, 0.02);
}

TEST(random_sources_catalogue, has_one_default_that_both_sides_know) {
    const auto all = random::catalogue();
    EXPECT_EQ(all.front().name, "philox");
    EXPECT_FALSE(all.front().needs_gpu);
    EXPECT_EQ(all.size(), 8u);
    for (const auto& entry : all) {
        EXPECT_EQ(&random::find(entry.name, random::back_end::gpu), &entry);
        EXPECT_FALSE(entry.summary.empty());
    }
}

TEST(random_sources_catalogue, says_what_is_wrong_with_a_name) {
    const auto message = [](const char* name, random::back_end on) -> std::string {
        try {
            random::find(name, on);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            return e.message();
        }
        return "";
    };
    EXPECT_EQ(
        message("curand_mrg32k3", random::back_end::gpu),
        "there is no random source 'curand_mrg32k3'; did you mean 'curand_mrg32k3a'?; there are philox, "
        "philox_7, sobol, curand_philox, curand_xorwow, curand_mrg32k3a, curand_mt19937, "
        "curand_scrambled_sobol");
    EXPECT_EQ(
        message("curand_xorwow", random::back_end::cpu),
        "the random source 'curand_xorwow' makes its numbers on a GPU, and this run is on the CPU; there it "
        "has 'philox'");
    EXPECT_EQ(message("philox", random::back_end::cpu), "");
}

TEST(random_sources_catalogue, fewer_rounds_are_for_single_fast_alone) {
    const auto& fewer = random::find("philox_7", random::back_end::gpu);
    EXPECT_EQ(fewer.rounds, 7);
    EXPECT_NO_THROW(random::check_precision(fewer, program::precision::single_fast));
    for (const auto p :
         {program::precision::double_, program::precision::single, program::precision::mixed}) {
        EXPECT_NO_THROW(random::check_precision(random::catalogue().front(), p));
        try {
            random::check_precision(fewer, p);
            FAIL();
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_EQ(
                e.message(),
                "the random source 'philox_7' is for the precision single_fast alone, and this run's is " +
                    std::string(program::name_of(p)) + "; for that there is 'philox'");
        }
    }
    // Another number of Philox rounds is for approximate normals alone: others have the CPU's bits.
    EXPECT_THROW(random::draw_text(element::single_, shock_kind::normal, false, 7), error);
    EXPECT_THROW(random::draw_text(element::double_, shock_kind::normal, true, 7), error);
}

TEST(random_sources_catalogue, quasi_random_dimensions_are_limited) {
    const auto& sobol = random::find("curand_scrambled_sobol", random::back_end::gpu);
    EXPECT_TRUE(sobol.is_quasi);
    EXPECT_NO_THROW(random::check_normals(sobol, 20000));
    try {
        random::check_normals(sobol, 20001);
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("found 20001 normal random numbers a path, expected at most the 20000"),
                  std::string::npos)
            << e.message();
    }
    EXPECT_NO_THROW(random::check_normals(random::catalogue().front(), 1'000'000));
}

TEST(random_sources_curand_library, says_what_was_looked_for) {
    const std::vector<std::string> nowhere = {"libtilewalk_nowhere.so.10", "/nowhere/libcurand.so.10",
                                              "libm.so.6"};
    try {
        random::open_curand(nowhere);
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::device);
        EXPECT_EQ(e.message(),
                  "this machine has no cuRAND, which this random source needs; looked for "
                  "libtilewalk_nowhere.so.10, "
                  "/nowhere/libcurand.so.10, libm.so.6 (lacks functions of cuRAND)");
    }
}

template <class draws>
void expect_our_own_numbers() {
    using shock = typename draws::shock;
    const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
    host_device device;
    const auto source = random::find("philox", random::back_end::gpu).open(device.opening(of, 1 << 20));
    constexpr std::uint64_t rows = 7, first = (std::uint64_t{5} << 32) + 3 * tile, paths = 2 * tile;
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        const auto got = made<shock>(*device.it, *source, kind, rows, first, paths, {paths});
        EXPECT_TRUE(same_bits(got, made<shock>(*device.it, *source, kind, rows, first, paths, {tile})));
        constexpr kernels::word64 seed = 42;
        std::size_t different = 0;
        for (std::uint64_t r = 0; r < rows; ++r) {
            for (std::uint64_t p = 0; p < paths; ++p) {
                const auto number = static_cast<kernels::word32>(r / draws::per_block);
                const auto block = kind == shock_kind::normal ? draws::normals(seed, first + p, number)
                                                              : draws::uniforms(seed, first + p, number);
                different += block.x[r % draws::per_block] != got[r * paths + p];
            }
        }
        EXPECT_EQ(different, 0u);
    }
}

TEST(random_sources_cubes, of_philox_hold_what_paths_make_in_registers) {
    expect_our_own_numbers<kernels::double_draws>();
    expect_our_own_numbers<kernels::single_draws>();
}

// Trades whose slots take numbers of named streams by turns, and share arrays by name: a number depends on
// its stream's name, not on the rows before it.
template <class draws>
void expect_numbers_of_names() {
    using shock = typename draws::shock;
    const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
    struct trade {
        std::vector<std::uint32_t> streams;
        std::vector<program::stream_name> names;
        std::uint64_t steps;
        std::size_t share = 0;
    };
    const auto name = [](const char* text) { return program::stream_name(text); };
    std::vector<trade> trades = {
        {{0}, {name("A")}, 3},
        {{0, 1, 0, 2, 1, 0, 2}, {name("A"), name("B"), name("C")}, 5},
        {{}, {}, 4},  // two slots without a name
        {{0, 1}, {name("B"), name("A")}, 2},
        {{0}, {name("A")}, 9},  // also of stream A, but with more steps
        {{0, 1, 2, 3, 4}, {name("A"), name("B"), name("C"), name("D"), name("E")}, 7},
        {{0, 1}, {name("B"), name("A")}, 1},
    };
    const auto slots_of = [](const trade& t) { return t.streams.empty() ? 2 : t.streams.size(); };
    cuda::noise_rows rows;
    for (trade& t : trades) t.share = rows.add(t.streams, static_cast<int>(slots_of(t)), t.names, t.steps);
    EXPECT_EQ(trades[4].share, trades[0].share);
    EXPECT_EQ(trades[6].share, trades[3].share);
    ASSERT_EQ(rows.rows(), 9u + 35 + 8 + 4 + 35);

    host_device device;
    const auto source =
        random::find("philox", random::back_end::gpu).open(device.opening(of, 1 << 20, rows.rows()));
    std::vector<cuda::device_memory> slots;
    const auto keyed = rows.keyed(*device.it, slots, cuda::stream::standard);
    constexpr std::uint64_t first = (std::uint64_t{5} << 32) + 3 * tile, paths = 2 * tile;
    constexpr kernels::word64 seed = 42;
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        const auto got = made<shock>(*device.it, *source, kind, rows.rows(), first, paths, {paths}, keyed);
        EXPECT_TRUE(
            same_bits(got, made<shock>(*device.it, *source, kind, rows.rows(), first, paths, {tile}, keyed)));
        std::vector<bool> compared(rows.rows());
        std::size_t different = 0;
        for (const trade& t : trades) {
            for (std::uint64_t r = 0; r < t.steps * slots_of(t); ++r) {
                const std::uint64_t step = r / slots_of(t), slot = r % slots_of(t);
                const bool is_nameless = t.streams.empty();
                const auto same = [&](std::uint64_t other) {
                    return is_nameless || t.streams[other] == t.streams[slot];
                };
                std::uint64_t dimension = 0, dimensions = 0;
                for (std::uint64_t other = 0; other < slots_of(t); ++other) {
                    dimension += same(other) && other < slot;
                    dimensions += same(other);
                }
                const kernels::stream_key key = is_nameless
                                                    ? kernels::stream_key{}
                                                    : kernels::stream_key_of(t.names[t.streams[slot]].key);
                const std::uint64_t number = step * dimensions + dimension;
                const auto block = static_cast<kernels::word32>(number / draws::per_block);
                const std::uint64_t row = rows.first_row(t.share) + r;
                compared[row] = true;
                for (std::uint64_t p = 0; p < paths; ++p) {
                    const auto expected = kind == shock_kind::normal
                                              ? draws::normals(seed, first + p, block, key)
                                              : draws::uniforms(seed, first + p, block, key);
                    different += expected.x[number % draws::per_block] != got[row * paths + p];
                }
            }
        }
        EXPECT_EQ(different, 0u);
        EXPECT_EQ(std::count(compared.begin(), compared.end(), false), 0) << "rows of no trade";
    }
}

TEST(random_sources_cubes, of_philox_hold_the_numbers_of_names) {
    expect_numbers_of_names<kernels::double_draws>();
    expect_numbers_of_names<kernels::single_draws>();
}

// Filling rows that have keys, anywhere in a cube, changes no other row, and no path beyond the last.
template <class draws>
void expect_rows_from_the_first() {
    using shock = typename draws::shock;
    const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
    constexpr std::uint64_t rows = 14, first_row = 4, paths = tile;
    const kernels::stream_key key = kernels::stream_key_of(0x3edcba9876543210);
    host_device device;
    const auto source = random::find("philox", random::back_end::gpu).open(device.opening(of, 1 << 20));
    // Without slots each number fills a row. With these a step has three rows, and one stays untouched.
    const kernels::word32 slots_of_step[] = {2, 0};
    const cuda::device_memory slots(*device.it, sizeof slots_of_step);
    device.it->upload(slots.as<void>(), slots_of_step, sizeof slots_of_step, cuda::stream::standard);
    for (const bool has_slots : {false, true}) {
        const random::keyed_rows some{
            key, has_slots ? 2u : 1u, has_slots ? 3u : 1u,
            5,   first_row,           has_slots ? slots.as<kernels::word32>() : nullptr};
        const auto got = made<shock>(*device.it, *source, shock_kind::normal, rows, 0, paths, {paths},
                                     std::span(&some, 1));
        const std::vector<std::uint64_t> row_of_number = has_slots
                                                             ? std::vector<std::uint64_t>{6, 4, 9, 7, 12}
                                                             : std::vector<std::uint64_t>{4, 5, 6, 7, 8};
        for (std::uint64_t r = 0; r < rows; ++r) {
            const auto at = std::find(row_of_number.begin(), row_of_number.end(), r);
            const auto n = static_cast<std::uint64_t>(at - row_of_number.begin());
            for (std::uint64_t p = 0; p < paths; ++p) {
                const shock x = got[r * paths + p];
                if (at == row_of_number.end()) {
                    ASSERT_TRUE(std::isnan(x)) << "row " << r;
                    continue;
                }
                const auto block = static_cast<kernels::word32>(n / draws::per_block);
                ASSERT_EQ(x, draws::normals(kernels::word64{42}, p, block, key).x[n % draws::per_block])
                    << "row " << r;
            }
        }
    }
}

TEST(random_sources_cubes, keep_what_is_beside_keyed_rows) {
    expect_rows_from_the_first<kernels::double_draws>();
    expect_rows_from_the_first<kernels::single_draws>();
}

template <class shock>
void expect_chunks_to_change_nothing(random::curand_type type) {
    const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
    host_device device;
    const bool is_sobol = type == random::curand_type::scrambled_sobol64;
    const auto opening = device.opening(of, 200 * tile);
    const auto source = is_sobol ? random::open_sobol_source(opening, coordinate_curand)
                                 : random::open_curand_source(opening, coordinate_curand, type);
    // A range of paths across the end of a unit (64 tiles).
    const std::uint64_t first = 40 * tile, paths = 40 * tile;
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        constexpr std::uint64_t rows = 5;
        const auto whole = made<shock>(*device.it, *source, kind, rows, first, paths, {paths});
        EXPECT_TRUE(same_bits(
            whole, made<shock>(*device.it, *source, kind, rows, first, paths, {30 * tile, 3 * tile})));
        auto more = made<shock>(*device.it, *source, kind, 3 * rows, first, paths, {paths});
        more.resize(whole.size());
        EXPECT_TRUE(same_bits(whole, more));
        const std::uint64_t unit_paths = source->unit_paths();
        std::size_t different = 0;
        for (std::uint64_t r = 0; r < rows; ++r) {
            for (std::uint64_t p = 0; p < paths; ++p) {
                const std::uint64_t unit = (first + p) / unit_paths, in_unit = (first + p) % unit_paths;
                shock expected = 0;
                const auto convert = [&](auto word) {
                    expected = kind == shock_kind::normal ? kernels::shock_of_bits<shock_kind::normal>(word)
                                                          : kernels::shock_of_bits<shock_kind::uniform>(word);
                };
                using word = typename kernels::format<shock>::word;
                if (is_sobol && kind == shock_kind::uniform) {
                    using draws =
                        std::conditional_t<sizeof(shock) == 8, kernels::double_draws, kernels::single_draws>;
                    expected = draws::uniforms(kernels::word64{42}, first + p,
                                               static_cast<kernels::word32>(r / draws::per_block))
                                   .x[r % draws::per_block];
                } else if (is_sobol) {
                    const auto point = coordinates::point(r, in_unit) ^ kernels::digital_shift(42, unit, r);
                    convert(static_cast<word>(point >> (64 - 8 * sizeof(word))));
                } else {
                    const std::uint64_t stream = 2 * unit + (kind == shock_kind::uniform ? 1 : 0);
                    const bool skips = type != random::curand_type::mt19937;
                    const unsigned long long seed = skips ? 42 : seeds_seen.back();
                    const unsigned long long origin = skips ? stream << 37 : 0;
                    const std::uint64_t at = r * unit_paths + in_unit;
                    const auto w = [&](std::uint64_t i) {
                        return coordinates::word(static_cast<int>(type), seed, origin + i);
                    };
                    if constexpr (sizeof(shock) == 8) {
                        convert(word{w(2 * at)} | word{w(2 * at + 1)} << 32);
                    } else {
                        convert(w(at));
                    }
                }
                different += expected != whole[r * paths + p];
            }
        }
        EXPECT_EQ(different, 0u) << static_cast<int>(type);
    }
}

TEST(random_sources_cubes, of_curand_are_the_same_in_any_chunks_and_beside_any_rows) {
    for (const auto type : pseudo_types) {
        expect_chunks_to_change_nothing<double>(type);
        expect_chunks_to_change_nothing<float>(type);
    }
    expect_chunks_to_change_nothing<double>(random::curand_type::scrambled_sobol64);
    expect_chunks_to_change_nothing<float>(random::curand_type::scrambled_sobol64);
}

TEST(random_sources_cubes, no_two_units_of_mt19937_start_from_one_seed) {
    host_device device;
    std::vector<unsigned long long> seeds;
    for (const std::uint64_t run_seed : {std::uint64_t{1}, std::uint64_t{2}}) {
        const auto source = random::open_curand_source(device.opening(element::double_, 1 << 20, 1, run_seed),
                                                       coordinate_curand, random::curand_type::mt19937);
        const cuda::device_memory row(*device.it, tile * sizeof(double));
        seeds_seen.clear();
        for (std::uint64_t unit = 0; unit < 8; ++unit) {
            for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
                source->fill({row.as<void>(), tile, 1, kind}, unit * source->unit_paths(), tile,
                             cuda::stream::standard);
            }
        }
        seeds.insert(seeds.end(), seeds_seen.begin(), seeds_seen.end());
    }
    EXPECT_EQ(seeds.size(), 32u);
    EXPECT_LT(*std::max_element(seeds.begin(), seeds.end()), std::uint64_t{1} << 32);
    std::sort(seeds.begin(), seeds.end());
    EXPECT_EQ(std::adjacent_find(seeds.begin(), seeds.end()), seeds.end());
}

TEST(random_sources_cubes, shifts_of_randomisations_differ_in_every_bit_now_and_then) {
    kernels::word64 always = ~kernels::word64{0}, never = ~kernels::word64{0};
    std::vector<kernels::word64> all;
    for (kernels::word64 unit = 0; unit < 32; ++unit) {
        for (kernels::word64 row = 0; row < 32; ++row) {
            all.push_back(kernels::digital_shift(42, unit, row));
            always &= all.back();
            never &= ~all.back();
        }
    }
    EXPECT_EQ(always, 0u);
    EXPECT_EQ(never, 0u);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_NE(kernels::digital_shift(42, 0, 0), kernels::digital_shift(43, 0, 0));
}

TEST(random_sources_cubes, bits_at_the_ends_become_finite_shocks_in_order) {
    const kernels::word64 words64[] = {0,          1ull << 12,           1ull << 40, (1ull << 63) - 1,
                                       1ull << 63, ~0ull - (1ull << 40), ~0ull};
    const kernels::word32 words32[] = {0, 1, 1u << 20, (1u << 31) - 1, 1u << 31, ~0u - 1, ~0u};
    const auto check = [](const auto& words) {
        for (std::size_t i = 0; i < std::size(words); ++i) {
            const auto normal = kernels::shock_of_bits<shock_kind::normal>(words[i]);
            const auto uniform = kernels::shock_of_bits<shock_kind::uniform>(words[i]);
            EXPECT_TRUE(std::isfinite(normal));
            EXPECT_GT(uniform, 0);
            EXPECT_LT(uniform, 1);
            if (i == 0) continue;
            EXPECT_LE(kernels::shock_of_bits<shock_kind::normal>(words[i - 1]), normal) << i;
            EXPECT_LE(kernels::shock_of_bits<shock_kind::uniform>(words[i - 1]), uniform) << i;
        }
    };
    check(words64);
    check(words32);
    EXPECT_NEAR(kernels::normal_of_bits(0ull), -8.2095, 1e-3);
    EXPECT_NEAR(kernels::normal_of_bits(0u), -6.3380, 1e-3);
    EXPECT_EQ(kernels::normal_of_bits(~0u), -kernels::normal_of_bits(0u));
    EXPECT_EQ(kernels::normal_of_bits(12345u), -kernels::normal_of_bits(~12345u));
}

TEST(random_sources_cubes, a_failure_of_curand_is_named_and_leaves_nothing_behind) {
    for (int call = 0;; ++call) {
        host_device device;
        failing_call = call;
        bool failed = false;
        for (const auto type : {random::curand_type::xorwow, random::curand_type::scrambled_sobol64}) {
            try {
                const auto opening = device.opening(element::single_, 64 * tile, 1);
                const auto source = type == random::curand_type::xorwow
                                        ? random::open_curand_source(opening, coordinate_curand, type)
                                        : random::open_sobol_source(opening, coordinate_curand);
                made<float>(*device.it, *source, shock_kind::normal, 1, 0, tile, {tile});
            } catch (const cuda::device_error& e) {
                failed = true;
                EXPECT_NE(e.message().find("cuRAND's curand"), std::string::npos) << e.message();
                const bool is_memory = e.message().find("ALLOCATION_FAILED (102)") != std::string::npos;
                EXPECT_EQ(e.failure(),
                          is_memory ? cuda::device_failure::out_of_memory : cuda::device_failure::other);
            }
            EXPECT_EQ(generators_alive, 0);
        }
        if (!failed) {
            EXPECT_GE(call, 9);
            failing_call = -1;
            return;
        }
    }
}

TEST(random_sources_cubes, of_odd_shapes_are_refused) {
    host_device device;
    const auto source =
        random::find("philox", random::back_end::gpu).open(device.opening(element::double_, 1 << 20, 2));
    const cuda::device_memory at(*device.it, 4 * tile * sizeof(double));
    void* const memory = at.as<void>();
    const auto fill = [&](const cube& into, std::uint64_t first, std::uint64_t paths) {
        source->fill(into, first, paths, cuda::stream::standard);
    };
    const cube good{memory, 2 * tile, 2, shock_kind::normal};
    EXPECT_NO_THROW(fill(good, tile, 2 * tile));
    EXPECT_THROW(fill(good, 1, tile), error);
    EXPECT_THROW(fill(good, 0, tile + 4), error);
    EXPECT_THROW(fill(good, 0, 3 * tile), error);
    EXPECT_THROW(fill({memory, 2 * tile + 1, 2, shock_kind::normal}, 0, tile), error);
    EXPECT_THROW(fill({static_cast<double*>(memory) + 2, tile, 2, shock_kind::normal}, 0, tile), error);
    EXPECT_THROW(fill({memory, tile, 3, shock_kind::normal}, 0, tile), error);
}

TEST(random_sources_fill_kernels, compile_without_a_gpu_and_store_16_bytes_at_a_time) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    std::vector<std::string> texts;
    for (const auto& [text, host] : host_kernels()) texts.push_back(text);
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        for (const int rounds : {7, kernels::philox_rounds})
            texts.push_back(random::draw_text(element::single_, kind, true, rounds));
    }
    bool newer = false;
    for (const std::string& text : texts) {
        newer = !newer;
        const auto got = tests::facts_of({text, newer ? "sm_90" : "sm_80"},
                                         {".entry fill", ".local", "st.global", "st.global.v4.b32"});
        EXPECT_GT(got.kernels, 0) << text;
        EXPECT_GT(got.words.at(0), 0) << text;
        EXPECT_EQ(got.words.at(1), 0) << text;
        EXPECT_GT(got.words.at(2), 0) << text;
        EXPECT_EQ(got.words.at(2), got.words.at(3)) << text;
    }
}

// Bounds of the statistics below: all are nearly normal sums. Over random seeds, some figure of a cube would
// exceed its bound with probability 1e-7 by the normal law, and 1e-6 as sums of fourth powers deviate from
// it. Seeds are fixed.

namespace {

double bound_of(std::size_t figures) {
    return -kernels::norm_inv(1e-7 / (2 * static_cast<double>(figures)));
}

struct figure {
    std::string name;
    double deviations;  // distance from the expected value, in standard deviations
};

std::vector<figure> figures_of(const std::vector<double>& x, std::size_t rows) {
    const std::size_t paths = x.size() / rows;
    const auto sum = [](std::size_t count, const auto& term) {
        double all = 0;
        for (std::size_t i = 0; i < count; ++i) all += term(i);
        return all;
    };
    const auto deviations = [](double sum_of, std::size_t count, double variance) {
        return sum_of / std::sqrt(variance * static_cast<double>(count));
    };
    std::vector<figure> all;
    const auto power = [&](const char* name, double mean, double variance, const auto& f) {
        all.push_back({name, deviations(sum(x.size(), [&](std::size_t i) { return f(x[i]) - mean; }),
                                        x.size(), variance)});
    };
    power("mean", 0, 1, [](double z) { return z; });
    power("variance", 1, 2, [](double z) { return z * z; });
    power("third moment", 0, 15, [](double z) { return z * z * z; });
    power("fourth moment", 3, 96, [](double z) { return z * z * z * z; });
    for (const std::size_t lag : {std::size_t{1}, std::size_t{2}, std::size_t{32}, std::size_t{1024}}) {
        const std::size_t count = x.size() - lag;
        all.push_back({"correlation of paths " + std::to_string(lag) + " apart",
                       deviations(sum(count, [&](std::size_t i) { return x[i] * x[i + lag]; }), count, 1)});
    }
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t s = r + 1; s < rows; ++s) {
            const double* const a = x.data() + r * paths;
            const double* const b = x.data() + s * paths;
            all.push_back({"correlation of rows " + std::to_string(r) + " and " + std::to_string(s),
                           deviations(sum(paths, [&](std::size_t p) { return a[p] * b[p]; }), paths, 1)});
            all.push_back(
                {"correlation of squares of rows " + std::to_string(r) + " and " + std::to_string(s),
                 deviations(sum(paths, [&](std::size_t p) { return (a[p] * a[p] - 1) * (b[p] * b[p] - 1); }),
                            paths, 4)});
        }
    }
    return all;
}

template <class shock>
std::vector<double> as_normals(const std::vector<shock>& x, shock_kind kind) {
    std::vector<double> all;
    all.reserve(x.size());
    for (const shock v : x) {
        const auto z = static_cast<double>(v);
        all.push_back(kind == shock_kind::normal ? z : kernels::norm_inv(z));
    }
    return all;
}

struct bench {
    cuda::device& on;
    std::function<std::unique_ptr<random::random_source>(element of, std::uint64_t run_paths,
                                                         std::uint64_t most_rows)>
        open;
};

template <class shock>
void expect_random(const bench& b, const std::string& name, shock_kind kind, std::uint64_t first_path,
                   std::uint64_t paths) {
    constexpr std::uint64_t rows = 8;
    const auto source =
        b.open(sizeof(shock) == 8 ? element::double_ : element::single_, first_path + paths, rows);
    const auto x = made<shock>(b.on, *source, kind, rows, first_path, paths, {paths});
    if (kind == shock_kind::uniform) {
        ASSERT_GT(*std::min_element(x.begin(), x.end()), 0) << name;
        ASSERT_LT(*std::max_element(x.begin(), x.end()), 1) << name;
    }
    const auto figures = figures_of(as_normals(x, kind), rows);
    for (const auto& f : figures) {
        EXPECT_LT(std::abs(f.deviations), bound_of(figures.size())) << name << ": " << f.name;
    }
}

template <class shock = double>
void expect_kinds_to_differ(const bench& b, const std::string& name) {
    const auto source = b.open(sizeof(shock) == 8 ? element::double_ : element::single_, 64 * tile, 1);
    const auto z = made<shock>(b.on, *source, shock_kind::normal, 1, 0, 64 * tile, {64 * tile});
    const auto u = as_normals(made<shock>(b.on, *source, shock_kind::uniform, 1, 0, 64 * tile, {64 * tile}),
                              shock_kind::uniform);
    double sum = 0;
    for (std::size_t p = 0; p < z.size(); ++p) sum += static_cast<double>(z[p]) * u[p];
    EXPECT_LT(std::abs(sum) / std::sqrt(static_cast<double>(z.size())), bound_of(1)) << name;
}

// Expects the mean of a smooth function of four normals to be 1 within its standard error, which for
// quasi-random points must be far below that of random ones.
void expect_quasi_random(const bench& b, element of) {
    constexpr std::uint64_t paths = 128 * tile, rows = 4;
    const auto source = b.open(of, paths, rows);
    const std::vector<std::uint64_t> chunks = {paths};
    const auto x = of == element::double_
                       ? made<double>(b.on, *source, shock_kind::normal, rows, 0, paths, chunks)
                       : as_normals(made<float>(b.on, *source, shock_kind::normal, rows, 0, paths, chunks),
                                    shock_kind::normal);
    const std::uint64_t unit_paths = source->unit_paths();
    ASSERT_EQ(paths / unit_paths, 32u);
    std::vector<kernels::moments> units;
    for (std::uint64_t p = 0; p < paths; ++p) {
        if (p % unit_paths == 0) units.push_back({static_cast<double>(unit_paths), 0, 0, 0, 0});
        const double z = (x[p] + x[paths + p] + x[2 * paths + p] + x[3 * paths + p]) / 2;
        units.back().mean += std::exp(0.2 * z - 0.02) / static_cast<double>(unit_paths);
    }
    const auto got = run::estimate_of_units(units);
    const double random_error = std::sqrt((std::exp(0.04) - 1) / static_cast<double>(paths));
    EXPECT_LT(got.standard_error, random_error / 5);
    EXPECT_GT(got.standard_error, random_error / 1e4);
    // Student's t with 31 degrees of freedom is beyond 7 with probability 8e-8.
    EXPECT_LT(std::abs(got.mean - 1), 7 * got.standard_error);
}

}  // namespace

TEST(random_sources_statistics, can_tell_what_is_not_random) {
    constexpr std::size_t rows = 8;
    host_device device;
    const auto source =
        random::find("philox", random::back_end::gpu).open(device.opening(element::double_, 64 * tile));
    const auto good = made<double>(*device.it, *source, shock_kind::normal, rows, 0, 64 * tile, {64 * tile});
    const auto worst = [&](const auto& spoil) {
        auto x = good;
        spoil(x);
        double most = 0;
        for (const auto& f : figures_of(x, rows)) most = std::max(most, std::abs(f.deviations));
        return most;
    };
    const double bound = bound_of(figures_of(good, rows).size());
    EXPECT_LT(worst([](auto&) {}), bound);
    EXPECT_GT(worst([](auto& x) {
                  for (double& z : x) z += 0.01;
              }),
              bound);
    EXPECT_GT(worst([](auto& x) {
                  for (double& z : x) z *= 1.01;
              }),
              bound);
    EXPECT_GT(worst([](auto& x) {
                  for (double& z : x) z = std::clamp(z, -2.8, 2.8);
              }),
              bound);
    EXPECT_GT(worst([](auto& x) {
                  for (std::size_t i = 0; i + 32 < x.size(); i += 8) x[i + 32] = x[i];
              }),
              bound);
    EXPECT_GT(worst([](auto& x) { std::copy_n(x.begin(), 4 * tile, x.begin() + 3 * 64 * tile); }), bound);
}

TEST(random_sources_statistics, of_our_own_numbers) {
    host_device device;
    const bench b{*device.it, [&](element of, std::uint64_t run_paths, std::uint64_t rows) {
                      return random::catalogue().front().open(device.opening(of, run_paths, rows));
                  }};
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        expect_random<double>(b, "philox", kind, 0, 64 * tile);
        expect_random<float>(b, "philox", kind, 0, 64 * tile);
    }
    expect_kinds_to_differ(b, "philox");
}

// cuRAND on the host makes the same kinds of numbers, in another order. MT19937 takes seconds to start on a
// CPU and is tested on GPUs alone.
TEST(random_sources_statistics, of_curand_on_the_host) {
    random::curand_functions curand;
    try {
        curand = random::curand_of_machine();
    } catch (const error& e) {
        GTEST_SKIP() << e.message();
    }
    Dl_info about{};
    ASSERT_NE(::dladdr(reinterpret_cast<const void*>(curand.curandGenerate), &about), 0);
    void* const library = ::dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    curand.curandCreateGenerator = reinterpret_cast<decltype(curand.curandCreateGenerator)>(
        ::dlsym(library, "curandCreateGeneratorHost"));
    ASSERT_NE(curand.curandCreateGenerator, nullptr);
    host_device device;
    for (const auto type :
         {random::curand_type::philox, random::curand_type::xorwow, random::curand_type::mrg32k3a}) {
        const bench b{*device.it, [&](element of, std::uint64_t run_paths, std::uint64_t rows) {
                          return random::open_curand_source(device.opening(of, run_paths, rows), curand,
                                                            type);
                      }};
        const std::string name = "type " + std::to_string(static_cast<int>(type));
        expect_random<double>(b, name, shock_kind::normal, 32 * tile, 64 * tile);
        expect_random<float>(b, name, shock_kind::uniform, 0, 64 * tile);
    }
    const bench b{*device.it, [&](element of, std::uint64_t run_paths, std::uint64_t rows) {
                      return random::open_sobol_source(device.opening(of, run_paths, rows), curand);
                  }};
    expect_quasi_random(b, element::double_);
    expect_quasi_random(b, element::single_);
}

namespace {

class random_sources_on_a_gpu : public testing::Test {
  protected:
    void SetUp() override {
        const auto survey = cuda::survey_devices();
        std::string why = survey.why_none;
        for (const auto& d : survey.devices) {
            why += d.why_not;
            if (!d.why_not.empty()) continue;
            if (why = cuda::why_no_compiler(); why.empty()) device_ = cuda::open_device(d.properties.index);
            break;
        }
        if (device_ == nullptr) GTEST_SKIP() << why;
    }
    void TearDown() override {
        modules_.clear();
        device_.reset();
    }

    random::opening opening(element of, std::uint64_t run_paths, std::uint64_t most_rows) {
        const auto kernel_of = [this](const std::string& text, const char* name) {
            if (!modules_.contains(text)) {
                const auto made =
                    cuda::nvrtc_compiler().compile({text, device_->properties().architecture()});
                modules_.emplace(text, cuda::owned_module(*device_, device_->load(made.cubin)));
            }
            return device_->find(modules_.at(text).get(), name);
        };
        return {*device_, kernel_of, 42, run_paths, most_rows, of};
    }

    bench bench_of(const random::catalogue_entry& entry) {
        return {*device_, [this, &entry](element of, std::uint64_t run_paths, std::uint64_t rows) {
                    random::opening from = opening(of, run_paths, rows);
                    from.approximate = entry.is_for_single_fast;
                    return entry.open(from);
                }};
    }

    static std::string why_not(const random::catalogue_entry& entry) {
        if (entry.rounds != 0 || entry.is_points) return "";
        try {
            random::curand_of_machine();
        } catch (const error& e) {
            return e.message();
        }
        return "";
    }

    std::unique_ptr<cuda::device> device_;
    std::map<std::string, cuda::owned_module> modules_;
};

constexpr std::uint64_t gpu_first = 512 * tile, gpu_paths = 1024 * tile;

}  // namespace

TEST_F(random_sources_on_a_gpu, our_own_numbers_are_those_of_the_cpu) {
    host_device host;
    const auto& philox = random::catalogue().front();
    for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
        const auto on_gpu = philox.open(opening(element::double_, 1 << 20, 7));
        const auto on_host = philox.open(host.opening(element::double_, 1 << 20, 7));
        EXPECT_TRUE(same_bits(made<double>(*device_, *on_gpu, kind, 7, 3 * tile, 8 * tile, {8 * tile}),
                              made<double>(*host.it, *on_host, kind, 7, 3 * tile, 8 * tile, {8 * tile})));
        const auto single_on_gpu = philox.open(opening(element::single_, 1 << 20, 7));
        const auto single_on_host = philox.open(host.opening(element::single_, 1 << 20, 7));
        EXPECT_TRUE(
            same_bits(made<float>(*device_, *single_on_gpu, kind, 7, 3 * tile, 8 * tile, {8 * tile}),
                      made<float>(*host.it, *single_on_host, kind, 7, 3 * tile, 8 * tile, {8 * tile})));
    }
}

TEST_F(random_sources_on_a_gpu, give_the_same_cube_in_any_chunks_and_beside_any_rows) {
    for (const auto& entry : random::catalogue()) {
        if (const std::string why = why_not(entry); !why.empty()) GTEST_SKIP() << why;
        const auto b = bench_of(entry);
        const auto expect_the_same = [&]<class shock>(shock, shock_kind kind) {
            const element of = sizeof(shock) == 8 ? element::double_ : element::single_;
            constexpr std::uint64_t rows = 70;
            const auto source = b.open(of, 4096 * tile, rows);
            constexpr std::uint64_t paths = 96 * tile;
            const std::uint64_t first = 992 * tile;
            const auto whole = made<shock>(*device_, *source, kind, rows, first, paths, {paths});
            const auto again = b.open(of, 4096 * tile, rows);
            EXPECT_TRUE(same_bits(
                whole, made<shock>(*device_, *again, kind, rows, first, paths, {40 * tile, 7 * tile})))
                << entry.name;
            const auto fewer = made<shock>(*device_, *again, kind, 3, first, paths, {paths});
            EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), whole.begin())) << entry.name;
        };
        for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
            if (entry.is_for_single_fast) {
                expect_the_same(float{}, kind);
            } else {
                expect_the_same(double{}, kind);
            }
        }
    }
}

TEST_F(random_sources_on_a_gpu, are_random) {
    for (const auto& entry : random::catalogue()) {
        if (const std::string why = why_not(entry); !why.empty()) GTEST_SKIP() << why;
        const auto b = bench_of(entry);
        const std::string name(entry.name);
        if (entry.is_for_single_fast) {
            expect_kinds_to_differ<float>(b, name);
            for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform})
                expect_random<float>(b, name, kind, gpu_first, gpu_paths);
            continue;
        }
        expect_kinds_to_differ(b, name);
        if (entry.is_quasi) {
            expect_quasi_random(b, element::double_);
            expect_quasi_random(b, element::single_);
            continue;
        }
        for (const shock_kind kind : {shock_kind::normal, shock_kind::uniform}) {
            expect_random<double>(b, name, kind, gpu_first, gpu_paths);
            expect_random<float>(b, name, kind, gpu_first, gpu_paths);
        }
    }
}

TEST_F(random_sources_on_a_gpu, have_points_of_20000_dimensions) {
    const auto& sobol = random::find("curand_scrambled_sobol", random::back_end::gpu);
    if (const std::string why = why_not(sobol); !why.empty()) GTEST_SKIP() << why;
    constexpr std::uint64_t rows = 20000, paths = 4 * tile;
    const auto source = bench_of(sobol).open(element::single_, 32 * tile, rows);
    const auto x = made<float>(*device_, *source, shock_kind::normal, rows, 0, paths, {paths});
    EXPECT_TRUE(same_bits(x, made<float>(*device_, *source, shock_kind::normal, rows, 0, paths, {tile})));
    for (std::uint64_t r = 0; r < rows; ++r) {
        for (std::uint64_t unit = 0; unit < paths / tile; ++unit) {
            const float* const from = x.data() + r * paths + unit * tile;
            const double mean = std::accumulate(from, from + tile, 0.0) / static_cast<double>(tile);
            // A tile's points are stratified in each dimension: one in each of 1024 equally likely intervals.
            ASSERT_LT(std::abs(mean), 0.02) << "dimension " << r << ", unit " << unit;
        }
    }
}

}  // namespace random_sources_test
