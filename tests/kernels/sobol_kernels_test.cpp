// SPDX-License-Identifier: Apache-2.0
// Kernels that fill cubes with Sobol points have the bits of the CPU, both built for the host and on a GPU if
// there is one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cpu/point_shocks.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/point_rows.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/draws.h"
#include "kernels/point_arguments.h"
#include "kernels/targets.h"
#include "tests/fake_device.h"
#include "tests/host_kernel.h"
#include "tests/known_kernels.h"
#include "tests/on_a_gpu.h"
#include "tests/quasi_orders.h"

namespace tilewalk::sobol_kernels_test {
namespace {

using arrays::element;
using kernels::shock_kind;

constexpr std::uint64_t seed = 42, tile = kernels::paths_per_tile;

using cubin_maker = std::function<std::shared_ptr<const std::string>(const std::string& text)>;

template <class shock>
std::vector<shock> filled(cuda::loaded_device& on, const cubin_maker& cubin, const quasi::order& of,
                          shock_kind kind, std::uint64_t unit_paths, std::uint64_t first_path,
                          std::uint64_t paths, cuda::point_way way = cuda::point_way::read) {
    cuda::device& d = on.get();
    const cuda::owned_stream s = cuda::new_stream(d);
    cuda::point_rows rows;
    rows.add(of, way);
    const element type = sizeof(shock) == 8 ? element::double_ : element::single_;
    const auto kernel_of = [&](const std::string& text, const char* name) {
        return on.find(cubin(text), name);
    };
    random::opening from{d, kernel_of, seed, 16 * unit_paths, rows.rows(kind), type};
    from.unit_paths = unit_paths;
    const auto source = random::find("sobol", random::back_end::gpu).open(from);
    EXPECT_EQ(source->unit_paths(), unit_paths);
    const std::uint64_t pitch = random::padded_paths(paths, type);
    const cuda::device_memory cube(d, rows.rows(kind) * pitch * sizeof(shock));
    std::vector<cuda::device_memory> memory;
    const auto placed = rows.placed(kind, 0, d, memory, s.get());
    source->fill({cube.as<void>(), pitch, rows.rows(kind), kind, {}, placed}, first_path, paths, s.get());
    std::vector<shock> out(rows.rows(kind) * pitch);
    d.download(out.data(), cube.as<void>(), cube.bytes(), s.get());
    d.wait(s.get());
    return out;
}

template <class shock, class draws>
std::vector<shock> of_the_cpu(const quasi::order& of, shock_kind kind, std::uint64_t unit_paths,
                              std::uint64_t first_path, std::uint64_t paths) {
    const cpu::lane_operations& set = *cpu::runnable_instruction_sets().sets[0];
    const cpu::lane_points<shock>& functions = [&]() -> const auto& {
        if constexpr (sizeof(shock) == 8) {
            return set.double_points;
        } else {
            return set.single_points;
        }
    }
    ();
    cpu::point_shocks<shock> points(functions);
    const bool is_normal = kind == shock_kind::normal;
    const std::size_t slots = is_normal ? of.normals() : of.uniforms();
    std::vector<shock> out(of.steps() * slots * paths);
    for (std::uint64_t at = 0; at < paths; at += cpu::lanes) {
        const auto others = [&](std::size_t step, std::size_t slot, shock* to) {
            const quasi::order::place_of_slot& p = of.normal_slots()[slot];
            const std::size_t number = step * p.in_stream.dimensions + p.in_stream.dimension;
            for (std::uint64_t lane = 0; lane < cpu::lanes; ++lane) {
                to[lane] = draws::normals(seed, first_path + at + lane,
                                          static_cast<kernels::word32>(number / draws::per_block), p.key)
                               .x[number % draws::per_block];
            }
        };
        const cpu::run_of_points run{&of, unit_paths};
        if (is_normal) {
            points.begin_normals(run, seed, first_path + at, others);
        } else {
            points.begin_uniforms(run, seed, first_path + at);
        }
        for (std::size_t step = 0; step < of.steps(); ++step) {
            for (std::size_t slot = 0; slot < slots; ++slot) {
                const shock* const x =
                    is_normal ? points.normals(step, slot, others) : points.uniforms(step, slot);
                std::copy_n(x, cpu::lanes, out.data() + (step * slots + slot) * paths + at);
            }
        }
    }
    return out;
}

template <class shock, class draws>
void expect_bits_of_the_cpu(cuda::loaded_device& on, const cubin_maker& cubin, const quasi::order& of,
                            shock_kind kind, std::uint64_t unit_paths, std::uint64_t first_path) {
    const std::uint64_t paths = tile;
    const auto on_device = filled<shock>(on, cubin, of, kind, unit_paths, first_path, paths);
    const auto on_cpu = of_the_cpu<shock, draws>(of, kind, unit_paths, first_path, paths);
    ASSERT_EQ(on_device.size(), on_cpu.size());
    std::size_t other = 0;
    for (std::size_t i = 0; i < on_cpu.size(); ++i)
        if (std::memcmp(&on_device[i], &on_cpu[i], sizeof(shock)) != 0) ++other;
    EXPECT_EQ(other, 0u) << "of " << on_cpu.size() << " shocks of " << sizeof(shock) << " bytes";
}

struct plain_memory {
    template <class piece, class place>
    static piece load(place from) {
        piece out;
        std::memcpy(&out, from, sizeof out);
        return out;
    }
};

// Walks paths from target to target and calls check(path, step, slot, shock) for every move of two slots;
// `path` counts from the first path of the targets.
template <class draws, class lone, class checker>
void walk_to_targets(const quasi::order& of, const std::vector<typename draws::shock>& targets,
                     std::uint64_t first_path, std::uint64_t paths, const checker& check) {
    using shock = typename draws::shock;
    constexpr int width = 4;
    using shape = kernels::feed_shape<shock, 2, width, 64, 8, 4, kernels::ring_layout::plain, 0>;
    using drawn = kernels::feeds::random_draws<draws, kernels::stream_slots<0, 1>, kernels::stream_slots<>>;
    using source = kernels::draws_to_targets<shape, drawn, lone>;
    const quasi::steps_to_targets by = of.steps_to_targets();
    std::vector<kernels::step_to_target<shock>> steps;
    for (const auto& x : by.steps)
        steps.push_back({static_cast<shock>(x.by_left), static_cast<shock>(x.by_right),
                         static_cast<shock>(x.deviation), static_cast<shock>(x.inverse_root)});
    const kernels::philox_schedule keys = kernels::schedule_of(seed);
    for (std::uint64_t path = 0; path < paths; path += width) {
        const source from{{keys, first_path + path, {}, {of.normal_slots()[0].key, of.normal_slots()[1].key}},
                          steps.data(),
                          by.ahead.data(),
                          targets.data() + path,
                          paths};
        kernels::feeds::inline_<shape, plain_memory>::walk(
            from, static_cast<int>(of.steps()), plain_memory{}, [&](int step, const auto& z) {
                for (std::uint64_t w = 0; w < width; ++w)
                    for (int slot = 0; slot < 2; ++slot)
                        check(path + w, step, slot, z[static_cast<int>(w)][slot]);
            });
    }
}

std::shared_ptr<cuda::fake_gpu> gpu_of_host() {
    auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->kernel = [all = tests::host_kernels()](const std::string& text, const std::string& name,
                                                const cuda::launch& how, std::span<void*> arguments) {
        return name == "rotate"
                   ? all.launched<kernels::rotation_arguments>(text, name, how.blocks, how.threads, arguments)
                   : all.launched<kernels::points_arguments>(text, name, how.blocks, how.threads, arguments);
    };
    return gpu;
}

class sobol_kernels_on_the_host : public testing::Test {
  protected:
    template <class shock, class draws>
    void compare(const quasi::order& of, shock_kind kind) {
        std::map<std::string, std::shared_ptr<const std::string>> texts;
        {
            cuda::loaded_device on(std::make_unique<cuda::fake_device>(gpu_));
            const auto cubin = [&](const std::string& text) {
                return texts.try_emplace(text, std::make_shared<const std::string>(text)).first->second;
            };
            expect_bits_of_the_cpu<shock, draws>(on, cubin, of, kind, 2 * tile, 5 * tile);
        }
        EXPECT_EQ(gpu_->faults.size(), 0u) << gpu_->report();
    }
    template <class shock, class draws>
    void compare_with_targets(const tests::made_trade& t) {
        constexpr std::uint64_t unit_paths = 2 * tile, first_path = 5 * tile, paths = tile;
        const quasi::order of = tests::order_of(t, quasi::construction::coarse);
        ASSERT_TRUE(quasi::meets_targets({quasi::construction::coarse}, t.code, t.when));
        std::vector<shock> targets;
        {
            std::map<std::string, std::shared_ptr<const std::string>> texts;
            cuda::loaded_device on(std::make_unique<cuda::fake_device>(gpu_));
            const auto cubin = [&](const std::string& text) {
                return texts.try_emplace(text, std::make_shared<const std::string>(text)).first->second;
            };
            targets = filled<shock>(on, cubin, of, shock_kind::normal, unit_paths, first_path, paths,
                                    cuda::point_way::targets);
        }
        EXPECT_EQ(gpu_->faults.size(), 0u) << gpu_->report();
        EXPECT_EQ(targets.size(), 32 * 2 * paths);
        const std::vector<shock> truth =
            of_the_cpu<shock, draws>(of, shock_kind::normal, unit_paths, first_path, paths);
        std::size_t other = 0;
        const auto check = [&](std::uint64_t path, int step, int slot, shock x) {
            const std::size_t row = static_cast<std::size_t>(2 * step + slot);
            if (std::memcmp(&x, &truth[row * paths + path], sizeof x) != 0) ++other;
        };
        if (t.code.lone_normals.empty()) {
            walk_to_targets<draws, kernels::lone_slots<>>(of, targets, first_path, paths, check);
        } else {
            walk_to_targets<draws, kernels::lone_slots<1>>(of, targets, first_path, paths, check);
        }
        EXPECT_EQ(other, 0u) << "of " << truth.size() << " shocks of " << sizeof(shock) << " bytes";
    }
    std::shared_ptr<cuda::fake_gpu> gpu_ = gpu_of_host();
};

using sobol_kernels_on_a_gpu = tests::on_a_gpu;

}  // namespace

TEST_F(sobol_kernels_on_the_host, bridges_have_the_bits_of_the_cpu) {
    const quasi::order of = tests::order_of(tests::trade_of(2, 0, tests::uneven_times(11), {4, 10}));
    compare<double, kernels::double_draws>(of, shock_kind::normal);
    compare<float, kernels::single_draws>(of, shock_kind::normal);
}

// With little shared memory, only few warps have room for their stacks beside the table.
TEST_F(sobol_kernels_on_the_host, bridges_have_the_bits_of_the_cpu_where_shared_memory_is_short) {
    gpu_->properties.shared_bytes_per_block = 36000;
    const quasi::order of = tests::order_of(tests::trade_of(1, 0, tests::uneven_times(40), {39}));
    compare<double, kernels::double_draws>(of, shock_kind::normal);
}

// Times double from step to step, so each step is the middle of all time before the next. The stack is as
// deep as there are steps, and only one warp's fits.
TEST_F(sobol_kernels_on_the_host, deep_bridges_have_the_bits_of_the_cpu) {
    gpu_->properties.shared_bytes_per_block = 70000;
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) times.push_back(std::ldexp(1.0, i - 60));
    const quasi::order of = tests::order_of(tests::trade_of(1, 0, times, {59}));
    compare<double, kernels::double_draws>(of, shock_kind::normal);
}

TEST_F(sobol_kernels_on_the_host, numbers_that_build_no_path_have_the_bits_of_the_cpu) {
    tests::made_trade t = tests::trade_of(2, 0, tests::uneven_times(5), {4});
    t.code.lone_normals = {1};
    compare<double, kernels::double_draws>(tests::order_of(t), shock_kind::normal);
}

TEST_F(sobol_kernels_on_the_host, coarse_bridges_have_the_bits_of_the_cpu) {
    const quasi::order of =
        tests::order_of(tests::trade_of(1, 0, tests::uneven_times(40), {39}), quasi::construction::coarse);
    compare<double, kernels::double_draws>(of, shock_kind::normal);
}

// The second of two slots draws without a path (`lone_normals`), and paths continue after their last target.
TEST_F(sobol_kernels_on_the_host, paths_that_meet_targets_have_the_bits_of_the_cpu) {
    tests::made_trade with_lone = tests::trade_of(2, 0, tests::uneven_times(70), {69});
    with_lone.code.lone_normals = {1};
    compare_with_targets<double, kernels::double_draws>(with_lone);
    std::set<std::size_t> first_forty;
    for (std::size_t s = 0; s < 40; ++s) first_forty.insert(s);
    compare_with_targets<float, kernels::single_draws>(
        tests::trade_of(2, 0, tests::uneven_times(70), first_forty));
}

TEST(sobol_kernels_targets, are_met_where_memory_then_holds_a_part_of_the_steps) {
    const quasi::points coarse{quasi::construction::coarse}, bridge{quasi::construction::bridge};
    const auto meets = [](const quasi::points& of, int normals, int steps) {
        const tests::made_trade t = tests::trade_of(normals, 1, tests::uneven_times(steps), {});
        return quasi::meets_targets(of, t.code, t.when);
    };
    EXPECT_TRUE(meets(coarse, 1, 65));
    EXPECT_FALSE(meets(coarse, 1, 64));
    EXPECT_FALSE(meets(coarse, 0, 65));
    EXPECT_FALSE(meets(bridge, 1, 65));
    EXPECT_TRUE(meets(coarse, 600, 65));
    EXPECT_FALSE(meets(coarse, 700, 65)) << "of 21,201 dimensions";
}

TEST(sobol_kernels_made_points, are_few_and_of_few_trades) {
    using cuda::point_way;
    const quasi::points in_steps{quasi::construction::steps}, bridge{quasi::construction::bridge};
    const auto few = [](const quasi::points& of, int normals, int uniforms, int steps) {
        const tests::made_trade t = tests::trade_of(normals, uniforms, tests::uneven_times(steps), {});
        return quasi::are_few(of, t.code, t.when);
    };
    EXPECT_TRUE(few(in_steps, 4, 0, 8));
    EXPECT_FALSE(few(in_steps, 4, 0, 9));
    EXPECT_FALSE(few(in_steps, 4, 1, 8));
    EXPECT_FALSE(few(in_steps, 0, 0, 8));
    EXPECT_FALSE(few(bridge, 1, 0, 2));
    EXPECT_TRUE(few(bridge, 4, 0, 1));
    EXPECT_FALSE(few({quasi::construction::principal}, 4, 0, 1)) << "whose numbers are rotated";

    const tests::made_trade one = tests::trade_of(1, 0, tests::uneven_times(3), {2}),
                            other = tests::trade_of(1, 0, tests::uneven_times(4), {3});
    const auto job_of = [](const program::path_program& code, const tests::made_trade& t) {
        return run::job{&code, &t.data, &t.when};
    };
    const auto ways_among = [](const std::vector<run::job>& all, const std::vector<run::job>& some,
                               const cuda::kernel_wish& how, const std::optional<quasi::points>& points) {
        const cuda::ways_of_points ways(how, all, [&](const run::job&) { return points; });
        std::vector<point_way> out;
        for (const run::job& job : some) out.push_back(ways.way_of(job));
        return out;
    };
    const auto ways = [&](const std::vector<run::job>& jobs, const cuda::kernel_wish& how = {},
                          const std::optional<quasi::points>& points = quasi::points{
                              quasi::construction::steps}) { return ways_among(jobs, jobs, how, points); };
    const run::job a = job_of(one.code, one), b = job_of(other.code, other), c = job_of(one.code, other);
    using all = std::vector<point_way>;
    EXPECT_EQ(ways({a, a, b}), (all{point_way::made, point_way::made, point_way::made}));
    // Three jobs with the same steps of the same noise share points and read them, whatever their programs.
    EXPECT_EQ(ways({a, a, a, b}), (all{point_way::read, point_way::read, point_way::read, point_way::made}));
    EXPECT_EQ(ways({b, b, c}), (all{point_way::read, point_way::read, point_way::read}));
    // Jobs looked up as a subset go the same way as among all jobs.
    EXPECT_EQ(ways_among({a, a, a, b}, {b, a}, {}, in_steps), (all{point_way::made, point_way::read}));
    // Jobs of the same program share a kernel, so all go one way.
    EXPECT_EQ(ways({a, a, a, c}), (all{point_way::read, point_way::read, point_way::read, point_way::read}));
    EXPECT_EQ(ways({a, b}, {}, bridge), (all{point_way::read, point_way::read}));
    EXPECT_EQ(ways({a, b}, {}, std::nullopt), (all{point_way::read, point_way::read}));
    cuda::kernel_wish asked;
    asked.feed = "register_rolling";
    EXPECT_EQ(ways({a, b}, asked), (all{point_way::read, point_way::read}));
    asked.feed = "inline";
    EXPECT_EQ(ways({a, b}, asked), (all{point_way::made, point_way::made}));
}

// Seven assets are more than a thread sums at once, and not a multiple of it.
TEST_F(sobol_kernels_on_the_host, principal_components_have_the_bits_of_the_cpu) {
    const std::vector<std::vector<double>> roots{{1},
                                                 {0.5, 0.8},
                                                 {0.3, 0.2, 0.9},
                                                 {0.1, 0.1, 0.1, 1},
                                                 {0.4, 0, 0, 0.2, 0.7},
                                                 {0.2, 0.3, 0, 0, 0.1, 1},
                                                 {0.6, 0, 0.1, 0, 0, 0.2, 0.5}};
    const quasi::order of =
        tests::order_of(tests::correlated_trade_of(roots, 3), quasi::construction::principal);
    ASSERT_EQ(of.rotated().slots.size(), 7u);
    compare<double, kernels::double_draws>(of, shock_kind::normal);
    compare<float, kernels::single_draws>(of, shock_kind::normal);
}

// Components are made for some dates only: steps lie between these, and one comes after the last. The first
// of two slots builds no path.
TEST_F(sobol_kernels_on_the_host, principal_components_of_some_dates_have_the_bits_of_the_cpu) {
    tests::made_trade t = tests::trade_of(2, 0, tests::uneven_times(40), {1, 3, 4, 20, 30});
    t.code.lone_normals = {0};
    const quasi::order of = tests::order_of(t, quasi::construction::principal);
    ASSERT_EQ(of.components(), 5u);
    compare<double, kernels::double_draws>(of, shock_kind::normal);
    compare<float, kernels::single_draws>(of, shock_kind::normal);
}

// 90 dates, but no more than 64 components; bridges make the other dates.
TEST_F(sobol_kernels_on_the_host, most_components_have_the_bits_of_the_cpu) {
    std::set<std::size_t> dates;
    for (std::size_t s = 0; s < 90; ++s) dates.insert(s);
    const quasi::order of = tests::order_of(tests::trade_of(1, 0, tests::uneven_times(90), dates),
                                            quasi::construction::principal);
    ASSERT_EQ(of.components(), 64u);
    compare<double, kernels::double_draws>(of, shock_kind::normal);
}

TEST_F(sobol_kernels_on_the_host, steps_and_uniforms_have_the_bits_of_the_cpu) {
    const quasi::order of =
        tests::order_of(tests::trade_of(1, 2, tests::uneven_times(3), {2}), quasi::construction::steps);
    compare<double, kernels::double_draws>(of, shock_kind::normal);
    compare<double, kernels::double_draws>(of, shock_kind::uniform);
    compare<float, kernels::single_draws>(of, shock_kind::uniform);
}

namespace {

void expect_registers_alone(const std::string& text, const char* architecture) {
    const auto got = tests::facts_of({text, architecture}, {".local"});
    EXPECT_EQ(got.words.at(0), 0) << text;
    EXPECT_TRUE(got.is_in_registers()) << got;
}

}  // namespace

TEST(sobol_kernels, compile_without_a_gpu_and_keep_all_in_registers) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const char* architecture : {"sm_80", "sm_90"}) {
        for (const element of : {element::double_, element::single_}) {
            for (const bool approximate : {false, true}) {
                if (approximate && of == element::double_) continue;
                for (const std::string& text : random::texts_of_points(of, approximate))
                    expect_registers_alone(text, architecture);
            }
        }
    }
}

TEST_F(sobol_kernels_on_a_gpu, sobol_points_have_the_bits_of_the_cpu) {
    cuda::loaded_device& on = *chosen_.devices.front();
    const cubin_maker cubin = [&](const std::string& text) {
        return gpus_.kernels().cubin({text, on.get().properties().architecture(), {}});
    };
    const auto compare = [&](const quasi::order& of) {
        for (const std::uint64_t first : {0 * tile, 37 * tile}) {
            expect_bits_of_the_cpu<double, kernels::double_draws>(on, cubin, of, shock_kind::normal, 8 * tile,
                                                                  first);
            expect_bits_of_the_cpu<float, kernels::single_draws>(on, cubin, of, shock_kind::normal, 8 * tile,
                                                                 first);
            if (!of.has_quasi_uniforms()) continue;
            expect_bits_of_the_cpu<double, kernels::double_draws>(on, cubin, of, shock_kind::uniform,
                                                                  8 * tile, first);
            expect_bits_of_the_cpu<float, kernels::single_draws>(on, cubin, of, shock_kind::uniform, 8 * tile,
                                                                 first);
        }
    };
    std::vector<std::vector<double>> roots;
    for (std::size_t i = 0; i < 50; ++i) {
        roots.emplace_back(i + 1, 0.1);
        roots.back().back() = 1;
    }
    for (const std::string_view name : quasi::construction_names) {
        const quasi::construction how = quasi::construction_named(name);
        compare(tests::order_of(tests::correlated_trade_of(roots, 12), how));
        std::set<std::size_t> weekly;
        for (std::size_t s = 4; s < 252; s += 5) weekly.insert(s);
        compare(tests::order_of(tests::trade_of(2, 0, tests::uneven_times(252), weekly), how));
        compare(tests::order_of(tests::trade_of(1, 1, tests::uneven_times(1), {0}), how));
        compare(tests::order_of(tests::trade_of(3, 1, tests::uneven_times(60), {11, 59}), how));
        compare(tests::order_of(tests::trade_of(1, 0, tests::uneven_times(252), {251}), how));
        // 1,200 steps are more places than a block has room for, and 200 assets on 120 dates are more
        // dimensions than the Sobol points have.
        compare(tests::order_of(tests::trade_of(1, 0, tests::uneven_times(1200), {1199}), how));
        compare(tests::order_of(tests::trade_of(200, 0, tests::uneven_times(120), {119}), how));
    }
}

}  // namespace tilewalk::sobol_kernels_test
