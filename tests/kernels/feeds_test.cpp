// SPDX-License-Identifier: Apache-2.0
// Feeds on the model of a block's memory: every shock arrives once, in order and with its value, for every
// distance, width, layout and number of steps; planted defects are found. Bank conflicts, computed by
// arithmetic, are as promised. The catalogues of feeds and memory spaces are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/device/spaces.h"
#include "kernels/draws.h"
#include "kernels/feeds/bulk_async.h"
#include "kernels/feeds/inline.h"
#include "kernels/feeds/l2_hint.h"
#include "kernels/feeds/l2_prefetch.h"
#include "kernels/feeds/none.h"
#include "kernels/feeds/register_batched.h"
#include "kernels/feeds/register_rolling.h"
#include "kernels/feeds/smem_batched.h"
#include "kernels/feeds/smem_rolling.h"
#include "kernels/feeds/smem_rolling_async.h"
#include "kernels/feeds/unroll.h"
#include "tests/block_memory.h"
#include "tilewalk/error.h"

namespace feeds_test {

using namespace tilewalk;
using namespace tilewalk::kernels;
using tests::block_memory;
using tests::model_thread;

namespace {

// A cube of shocks of one kind: all numbers differ, and its rows have gaps between them.
template <class shock>
struct cube {
    static constexpr std::size_t gap = 64 / sizeof(shock);
    std::size_t steps, slots, paths, pitch;
    bool slot_major;  // [slot][step][path] if true, else [step][slot][path]
    std::vector<shock> memory;

    cube(int step_count, int slot_count, int path_count, bool slots_first, int kind)
        : steps(static_cast<std::size_t>(step_count)),
          slots(static_cast<std::size_t>(slot_count)),
          paths(static_cast<std::size_t>(path_count)),
          pitch(paths + gap),
          slot_major(slots_first),
          memory(steps * slots * pitch + gap, shock(-1)) {
        for (int step = 0; step < step_count; ++step) {
            for (int slot = 0; slot < slot_count; ++slot) {
                for (int path = 0; path < path_count; ++path) {
                    *(begin() + (static_cast<std::size_t>(step) * step_stride() +
                                 static_cast<std::size_t>(slot) * slot_stride() +
                                 static_cast<std::size_t>(path))) = value(kind, step, slot, path);
                }
            }
        }
    }
    static shock value(int kind, int step, int slot, int path) {
        return static_cast<shock>(((step * 2 + kind) * 8 + slot) * 2048 + path);
    }
    shock* begin() {
        const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
        return memory.data() + (at % 32 == 0 ? 0 : (32 - at % 32) / sizeof(shock));
    }
    std::size_t step_stride() const { return slot_major ? pitch : slots * pitch; }
    std::size_t slot_stride() const { return slot_major ? steps * pitch : pitch; }
};

// Rows of scenarios: `rows` gives the row of each step and slot, in any order, as a packed trade lists them.
template <class shock, int slots_>
struct scenario_rows {
    static constexpr int slots = slots_;
    const shock* first;
    word64 row_stride;
    const word32* rows;

    constexpr const shock* at(int step, int slot) const {
        return first + rows[step * slots + slot] * row_stride;
    }
};

// Few scenario rows, so that steps share rows and go to and fro among them.
constexpr int scenario_row_count = 5;
constexpr int scenario_kind = 200;  // marks numbers that no shock has
constexpr word32 scenario_row(int step, int slot) {
    return static_cast<word32>((step * 3 + slot) % scenario_row_count);
}

template <template <class, class> class feed>
constexpr bool threads_meet = false;
template <>
constexpr bool threads_meet<feeds::bulk_async> = true;

// Runs a block that walks `steps` steps twice, as for a tile of two passes. Returns the faults found.
template <template <class, class> class feed, class shape>
std::vector<std::string> faults_of(int steps, int direction = 1, bool meets = threads_meet<feed>) {
    using shock = typename shape::shock;
    using of = feed<shape, model_thread>;
    constexpr int scenarios = shape::slots / 3;
    constexpr int normals = (shape::slots - scenarios + 1) / 2, shocks = shape::slots - scenarios;
    constexpr int paths = shape::threads * shape::width;
    cube<shock> normal(steps, normals, 3 * paths, true, 0);
    cube<shock> uniform(steps, shocks - normals, 3 * paths, false, 1);
    cube<shock> scenario(scenario_row_count, 1, 3 * paths, false, scenario_kind);
    std::vector<word32> rows;
    for (int step = 0; step < steps; ++step) {
        for (int slot = 0; slot < scenarios; ++slot) rows.push_back(scenario_row(step, slot));
    }
    block_memory block(shape::threads, of::shared_bytes());
    for (auto* c : {&normal, &uniform, &scenario})
        block.allow(c->begin(), c->steps * c->slots, c->paths * sizeof(shock), c->pitch * sizeof(shock));

    const auto walk = [&](int thread, int pass) {
        const int path = paths * (pass + 1) + thread * shape::width;  // a row's second or third block
        const array_source<shape, normals, const shock*, scenario_rows<shock, scenarios>> from{
            {normal.begin() + path, normal.step_stride(), normal.slot_stride()},
            {uniform.begin() + path, uniform.step_stride(), uniform.slot_stride()},
            {scenario.begin() + path, scenario.step_stride(), rows.data()}};
        int next = 0;
        of::walk(from, steps, model_thread{&block, thread}, [&](int step, const shocks_of_step<shape>& z) {
            if (step != next++) block.fault("a step out of turn", thread, static_cast<std::size_t>(step));
            for (int w = 0; w < shape::width; ++w) {
                for (int slot = 0; slot < shape::slots; ++slot) {
                    const bool is_normal = slot < normals;
                    const shock expected =
                        slot < shocks ? cube<shock>::value(is_normal ? 0 : 1, step,
                                                           is_normal ? slot : slot - normals, path + w)
                                      : cube<shock>::value(
                                            scenario_kind,
                                            static_cast<int>(scenario_row(step, slot - shocks)), 0, path + w);
                    if (z[w][slot] != expected)
                        block.fault("a wrong shock at step " + std::to_string(step), thread,
                                    static_cast<std::size_t>(slot));
                }
            }
        });
        if (next != steps) block.fault("steps walked", thread, static_cast<std::size_t>(next));
    };
    block.run(direction, meets, [&](int thread) {
        walk(thread, 0);
        walk(thread, 1);
    });
    block.finish();
    return block.faults();
}

template <class shape>
std::string words_of(int steps) {
    std::string text = sizeof(typename shape::shock) == 8 ? "double" : "float";
    text += " slots " + std::to_string(shape::slots) + " width " + std::to_string(shape::width) +
            " distance " + std::to_string(shape::distance) + " rows " + std::to_string(shape::rows) +
            " layout " + std::to_string(static_cast<int>(shape::layout)) + " padding " +
            std::to_string(shape::padding) + " steps " + std::to_string(steps);
    return text;
}

// Numbers of steps to try: 0 to 70 with `all`, else some, and neighbours of multiples of distance and rows.
template <class shape>
std::vector<int> numbers_of_steps(bool all) {
    std::set<int> counts{0, 1, 2, 69, 70};
    for (const int period : {all ? 1 : shape::distance, shape::rows}) {
        const int stride = all || period >= 8 ? period : 4 * period;
        for (int m = period; m < 70; m += stride) counts.insert({m - 1, m, m + 1});
    }
    return {counts.begin(), counts.end()};
}

template <template <class, class> class feed, class shape>
void expect_right(const char* name) {
    for (const int steps : numbers_of_steps<shape>(!threads_meet<feed>)) {
        for (const int direction : {1, -1}) {
            if (direction < 0 && !threads_meet<feed>) continue;
            EXPECT_EQ((faults_of<feed, shape>(steps, direction)), std::vector<std::string>{})
                << name << ": " << words_of<shape>(steps);
        }
    }
}

constexpr auto plain = ring_layout::plain, padded = ring_layout::padded, transposed = ring_layout::transposed;
constexpr int found = -1;

// Tries the widths, numbers of slots and distances that matter to a feed without shared memory.
template <template <class, class> class feed>
void expect_right_in_registers(const char* name) {
    constexpr int threads = 8;
    expect_right<feed, feed_shape<double, 1, 1, threads, 1, 1, plain, found>>(name);
    expect_right<feed, feed_shape<double, 5, 4, threads, 3, 1, plain, found>>(name);
    expect_right<feed, feed_shape<float, 1, 4, threads, 6, 12, plain, found>>(name);
    expect_right<feed, feed_shape<float, 0, 4, threads, 7, 4, plain, found>>(name);
    expect_right<feed, feed_shape<double, 3, 2, threads, 8, 4, plain, found>>(name);
    expect_right<feed, feed_shape<float, 2, 1, threads, 32, 16, plain, found>>(name);
}

// Tries each number of slots, width, distance, layout and number of rows together with several of the others.
template <template <class, class> class feed>
void expect_right_in_shared_memory(const char* name) {
    constexpr int threads = 8;
    expect_right<feed, feed_shape<double, 1, 1, threads, 1, 1, plain, found>>(name);
    expect_right<feed, feed_shape<float, 1, 1, threads, 1, 3, padded, found>>(name);
    expect_right<feed, feed_shape<double, 2, 2, threads, 2, 2, transposed, found>>(name);
    expect_right<feed, feed_shape<float, 3, 4, threads, 2, 5, plain, found>>(name);
    expect_right<feed, feed_shape<double, 5, 4, threads, 3, 1, padded, found>>(name);
    expect_right<feed, feed_shape<float, 2, 2, threads, 3, 4, transposed, found>>(name);
    expect_right<feed, feed_shape<double, 1, 4, threads, 5, 2, plain, found>>(name);
    expect_right<feed, feed_shape<float, 5, 1, threads, 5, 7, padded, 1>>(name);
    expect_right<feed, feed_shape<double, 1, 1, threads, 6, 4, padded, found>>(name);
    expect_right<feed, feed_shape<float, 1, 4, threads, 6, 12, transposed, found>>(name);
    expect_right<feed, feed_shape<double, 3, 2, threads, 8, 4, padded, 0>>(name);
    expect_right<feed, feed_shape<float, 2, 1, threads, 8, 8, plain, found>>(name);
    expect_right<feed, feed_shape<double, 0, 1, threads, 8, 3, transposed, found>>(name);
    expect_right<feed, feed_shape<float, 0, 4, threads, 7, 4, padded, found>>(name);
    expect_right<feed, feed_shape<double, 2, 1, threads, 12, 12, plain, found>>(name);
    expect_right<feed, feed_shape<float, 3, 2, threads, 16, 6, padded, found>>(name);
    expect_right<feed, feed_shape<double, 1, 2, threads, 24, 12, transposed, found>>(name);
    expect_right<feed, feed_shape<float, 1, 1, threads, 31, 4, plain, found>>(name);
    expect_right<feed, feed_shape<double, 1, 4, threads, 32, 64, padded, found>>(name);
    expect_right<feed, feed_shape<float, 5, 4, threads, 32, 16, transposed, found>>(name);
    expect_right<feed, feed_shape<float, 2, 4, 64, 6, 4, padded, found>>(name);
}

}  // namespace

TEST(feeds, none_brings_every_shock) {
    expect_right_in_registers<feeds::none>("none");
}
TEST(feeds, unroll_brings_every_shock) {
    expect_right_in_registers<feeds::unroll>("unroll");
}
TEST(feeds, register_batched_brings_every_shock) {
    expect_right_in_registers<feeds::register_batched>("register_batched");
}
TEST(feeds, register_rolling_brings_every_shock) {
    expect_right_in_registers<feeds::register_rolling>("register_rolling");
}
TEST(feeds, smem_batched_brings_every_shock) {
    expect_right_in_shared_memory<feeds::smem_batched>("smem_batched");
}
TEST(feeds, smem_rolling_brings_every_shock) {
    expect_right_in_shared_memory<feeds::smem_rolling>("smem_rolling");
}
TEST(feeds, smem_rolling_async_brings_every_shock) {
    expect_right_in_shared_memory<feeds::smem_rolling_async>("smem_rolling_async");
}
TEST(feeds, l2_prefetch_brings_every_shock) {
    expect_right_in_registers<feeds::l2_prefetch>("l2_prefetch");
}
TEST(feeds, l2_hint_brings_every_shock) {
    expect_right_in_registers<feeds::l2_hint>("l2_hint");
}
TEST(feeds, bulk_async_brings_every_shock) {
    expect_right_in_shared_memory<feeds::bulk_async>("bulk_async");
}

namespace {

template <class draws, int normals, int uniforms, int width>
void expect_draws() {
    using shock = typename draws::shock;
    using shape = feed_shape<shock, normals + uniforms, width, 64, 8, 4, plain, 0>;
    constexpr word64 seed = 11, path = 40;
    constexpr auto keys = schedule_of(seed);
    for (const int steps : {0, 1, 2, 3, 4, 5, 8, 9}) {
        int next = 0;
        feeds::inline_<shape, model_thread>::walk(
            feeds::random_draws<draws, one_stream<normals>, one_stream<uniforms>>{keys, path}, steps,
            model_thread{}, [&](int step, const shocks_of_step<shape>& z) {
                ASSERT_EQ(step, next++);
                for (int w = 0; w < width; ++w) {
                    for (int slot = 0; slot < normals + uniforms; ++slot) {
                        const bool is_normal = slot < normals;
                        const int number =
                            is_normal ? step * normals + slot : step * uniforms + slot - normals;
                        const auto block = static_cast<word32>(number / draws::per_block);
                        const word64 p = path + static_cast<word64>(w);
                        const auto drawn =
                            is_normal ? draws::normals(seed, p, block) : draws::uniforms(seed, p, block);
                        ASSERT_EQ(z[w][slot], drawn.x[number % draws::per_block])
                            << normals << " normals, " << uniforms << " uniforms, width " << width
                            << ", step " << step << ", slot " << slot;
                    }
                }
            });
        EXPECT_EQ(next, steps);
    }
}

template <class draws, int scenarios, int width>
void expect_draws_and_scenarios() {
    using shock = typename draws::shock;
    constexpr int normals = 2, uniforms = 1, steps = 9;
    using shape = feed_shape<shock, normals + uniforms + scenarios, width, 8, 8, 4, plain, 0>;
    using rows_of = scenario_rows<shock, scenarios>;
    constexpr word64 seed = 11;
    constexpr auto keys = schedule_of(seed);
    cube<shock> numbers(scenario_row_count, 1, 8 * width, false, scenario_kind);
    std::vector<word32> rows;
    for (int step = 0; step < steps; ++step) {
        for (int slot = 0; slot < scenarios; ++slot) rows.push_back(scenario_row(step, slot));
    }
    block_memory block(8, 0);
    block.allow(numbers.begin(), scenario_row_count, numbers.paths * sizeof(shock),
                numbers.pitch * sizeof(shock));
    block.run(1, false, [&](int thread) {
        const int path = thread * width;
        const feeds::random_draws<draws, one_stream<normals>, one_stream<uniforms>, rows_of> from{
            keys, static_cast<word64>(path), {numbers.begin() + path, numbers.step_stride(), rows.data()}};
        int next = 0;
        feeds::inline_<shape, model_thread>::walk(
            from, steps, model_thread{&block, thread}, [&](int step, const shocks_of_step<shape>& z) {
                EXPECT_EQ(step, next++);
                for (int w = 0; w < width; ++w) {
                    const auto number = static_cast<word32>(step * normals);
                    const auto drawn =
                        draws::normals(seed, static_cast<word64>(path + w), number / draws::per_block);
                    EXPECT_EQ(z[w][0], drawn.x[number % draws::per_block]);
                    for (int slot = 0; slot < scenarios; ++slot) {
                        EXPECT_EQ(z[w][normals + uniforms + slot],
                                  cube<shock>::value(scenario_kind,
                                                     static_cast<int>(scenario_row(step, slot)), 0, path + w))
                            << "step " << step << ", slot " << slot << ", path " << path + w;
                    }
                }
            });
        EXPECT_EQ(next, steps);
    });
    block.finish();
    EXPECT_EQ(block.faults(), std::vector<std::string>{});
}

// Draws several streams whose slots are in any order: every number must come from its own stream.
template <class draws, class normals, class uniforms, int width>
void expect_draws_of_streams() {
    using shock = typename draws::shock;
    using shape = feed_shape<shock, normals::count + uniforms::count, width, 64, 8, 4, plain, 0>;
    constexpr word64 seed = 11, path = word64{7} << 33 | 40;
    constexpr auto keys = schedule_of(seed);
    feeds::random_draws<draws, normals, uniforms> from{keys, path};
    for (int s = 0; s < normals::streams() + uniforms::streams(); ++s)
        from.names[s] = stream_key_of(0x123456789abcdef0u >> s);
    for (const int steps : {0, 1, 2, 3, 4, 5, 8, 9}) {
        int next = 0;
        feeds::inline_<shape, model_thread>::walk(
            from, steps, model_thread{}, [&](int step, const shocks_of_step<shape>& z) {
                ASSERT_EQ(step, next++);
                for (int w = 0; w < width; ++w) {
                    const word64 p = path + static_cast<word64>(w);
                    const auto number_of = [&](auto slots, int slot) {
                        using of = decltype(slots);
                        return step * of::dimensions(of::stream_of(slot)) + of::dimension_of(slot);
                    };
                    for (int slot = 0; slot < normals::count; ++slot) {
                        const int n = number_of(normals{}, slot);
                        const auto drawn = draws::normals(seed, p, static_cast<word32>(n / draws::per_block),
                                                          from.names[normals::stream_of(slot)]);
                        ASSERT_EQ(z[w][slot], drawn.x[n % draws::per_block]) << "normal " << slot;
                    }
                    for (int slot = 0; slot < uniforms::count; ++slot) {
                        const int n = number_of(uniforms{}, slot);
                        const auto drawn =
                            draws::uniforms(seed, p, static_cast<word32>(n / draws::per_block),
                                            from.names[normals::streams() + uniforms::stream_of(slot)]);
                        ASSERT_EQ(z[w][normals::count + slot], drawn.x[n % draws::per_block])
                            << "uniform " << slot;
                    }
                }
            });
        EXPECT_EQ(next, steps);
    }
}

// Draws the first and the last steps of a path that takes more than 65,536 Philox blocks.
template <class draws, int normals, int uniforms>
void expect_draws_of_a_long_path() {
    using shock = typename draws::shock;
    using shape = feed_shape<shock, normals + uniforms, 1, 64, 8, 4, plain, 0>;
    constexpr word64 seed = 11, path = 40;
    constexpr auto keys = schedule_of(seed);
    const int fewest =
        normals > 0 && uniforms > 0 ? std::min(normals, uniforms) : std::max(normals, uniforms);
    const int steps = 66'000 * draws::per_block / fewest;
    int checked = 0;
    feeds::inline_<shape, model_thread>::walk(
        feeds::random_draws<draws, one_stream<normals>, one_stream<uniforms>>{keys, path}, steps,
        model_thread{}, [&](int step, const shocks_of_step<shape>& z) {
            if (step > 3 && step < steps - 5) return;
            ++checked;
            for (int slot = 0; slot < normals + uniforms; ++slot) {
                const bool is_normal = slot < normals;
                const int number = is_normal ? step * normals + slot : step * uniforms + slot - normals;
                const auto block = static_cast<word32>(number / draws::per_block);
                const auto drawn =
                    is_normal ? draws::normals(seed, path, block) : draws::uniforms(seed, path, block);
                EXPECT_EQ(z[0][slot], drawn.x[number % draws::per_block])
                    << "step " << step << ", slot " << slot;
            }
        });
    EXPECT_EQ(checked, 9);
}

}  // namespace

TEST(feeds, inline_makes_the_shocks_of_several_streams) {
    using one = stream_slots<0>;
    using none = stream_slots<>;
    using five = stream_slots<0, 1, 2, 3, 4>;
    using mixed_up = stream_slots<0, 1, 0, 2, 1, 0, 2>;
    static_assert(mixed_up::streams() == 3 && mixed_up::dimensions(0) == 3 && mixed_up::dimension_of(6) == 1);
    static_assert(none::streams() == 0 && one_stream<3>::dimensions(0) == 3);
    expect_draws_of_streams<double_draws, five, none, 1>();
    expect_draws_of_streams<double_draws, five, five, 2>();
    expect_draws_of_streams<double_draws, mixed_up, one, 4>();
    expect_draws_of_streams<single_draws, five, one, 2>();
    expect_draws_of_streams<single_draws, mixed_up, mixed_up, 1>();
    expect_draws_of_streams<single_draws, one, mixed_up, 4>();
}

TEST(feeds, inline_makes_the_shocks_of_long_paths) {
    expect_draws_of_a_long_path<double_draws, 1, 0>();
    expect_draws_of_a_long_path<double_draws, 3, 2>();
    expect_draws_of_a_long_path<single_draws, 4, 1>();
}

TEST(feeds, inline_loads_scenarios_beside_the_shocks_it_makes) {
    expect_draws_and_scenarios<double_draws, 1, 1>();
    expect_draws_and_scenarios<double_draws, 2, 4>();
    expect_draws_and_scenarios<single_draws, 3, 2>();
    expect_draws_and_scenarios<single_draws, 1, 4>();
}

TEST(feeds, inline_makes_the_shocks_of_the_path) {
    expect_draws<double_draws, 1, 0, 1>();
    expect_draws<double_draws, 2, 1, 2>();
    expect_draws<double_draws, 3, 0, 4>();
    expect_draws<double_draws, 0, 1, 1>();
    expect_draws<double_draws, 0, 0, 1>();
    expect_draws<single_draws, 1, 0, 4>();
    expect_draws<single_draws, 2, 3, 1>();
    expect_draws<single_draws, 5, 1, 2>();
    expect_draws<single_draws, 6, 0, 1>();
}

namespace {

enum class ring_defect {
    none,
    waits_for_one_too_few,
    index_off_by_one,
    copies_before_it_reads,
    copies_past_the_end,
    commits_no_empty_groups,
    wraps_late,
    forgets_the_other_pieces,
};

template <ring_defect defect>
struct broken_ring {
    template <class shape, class memory>
    struct feed {
        using ring = thread_ring<shape, memory>;
        static constexpr word32 shared_bytes() { return ring::geometry().bytes(); }

        template <class source, class body>
        static void walk(const source& from, int steps, memory at, const body& use) {
            constexpr int distance = shape::distance;
            const ring ahead{at};
            const auto start = [&](int step, int position) {
                if constexpr (defect == ring_defect::commits_no_empty_groups) {
                    if (step >= steps) return;
                }
                if (step < steps || defect == ring_defect::copies_past_the_end)
                    ahead.copy(position, from, step);
                at.commit_copies();
            };
            for (int step = 0; step < distance; ++step) start(step, step);
            int position = 0;
            for (int step = 0; step < steps; ++step) {
                at.template wait_for_copies<distance - 1 + (defect == ring_defect::waits_for_one_too_few)>();
                if constexpr (defect == ring_defect::copies_before_it_reads) start(step + distance, position);
                auto z =
                    ahead.read(defect == ring_defect::index_off_by_one ? ring::after(position) : position);
                if constexpr (defect == ring_defect::forgets_the_other_pieces)
                    z[shape::width - 1][0] = z[0][0];
                if constexpr (defect != ring_defect::copies_before_it_reads) start(step + distance, position);
                position =
                    defect == ring_defect::wraps_late && position == distance - 1 && step == 2 * distance - 1
                        ? distance
                    : position >= distance ? 0
                                           : ring::after(position);
                use(step, z);
            }
        }
    };
};

enum class stage_defect {
    none,
    does_not_meet_after_a_stage,
    keeps_the_parity,
    expects_too_few_bytes,
    expects_too_many_bytes,
    does_not_publish,
    does_not_meet_before_waiting,
    leaves_barriers_open,
    fills_the_place_in_use,
};

template <stage_defect defect>
struct broken_stages {
    template <class shape, class memory>
    struct feed {
        static constexpr stage_geometry geometry() { return feeds::bulk_async<shape, memory>::geometry(); }
        static constexpr word32 shared_bytes() { return geometry().bytes(); }

        template <class source, class body>
        static void walk(const source& from, int steps, memory at, const body& use) {
            using piece = pieces<shape>;
            constexpr stage_geometry ring = geometry();
            constexpr int rows = shape::rows, stages = ring.stages();
            constexpr int wrong_bytes = defect == stage_defect::expects_too_few_bytes    ? -16
                                        : defect == stage_defect::expects_too_many_bytes ? 16
                                                                                         : 0;
            const auto fill = [&](int stage, int place) {
                const int first = stage * rows;
                if (first >= steps) return;
                const int count = std::min(steps - first, rows);
                at.expect_bytes(ring.barrier(place),
                                word32(count * shape::slots * ring.row_bytes + wrong_bytes));
                for (int row = 0; row < count; ++row) {
                    for (int slot = 0; slot < shape::slots; ++slot)
                        at.copy_bulk(ring.offset(place, row, slot), from.at(first + row, slot),
                                     word32(ring.row_bytes), ring.barrier(place));
                }
            };
            if (at.thread == 0) {
                for (int p = 0; p < stages; ++p) at.open_barrier(ring.barrier(p), 1);
                if (defect != stage_defect::does_not_publish) at.publish_barriers();
            }
            if (defect != stage_defect::does_not_meet_before_waiting) at.meet();
            for (int stage = 0; at.thread == 0 && stage < stages - 1; ++stage) fill(stage, stage);
            for (int stage = 0; stage * rows < steps; ++stage) {
                const int place = stage % stages;
                const int next = stage + stages - 1;
                if (at.thread == 0)
                    fill(next, defect == stage_defect::fills_the_place_in_use ? place : next % stages);
                at.wait_for_bytes(ring.barrier(place),
                                  defect == stage_defect::keeps_the_parity ? 0 : word32(stage / stages % 2));
                for (int step = stage * rows; step < std::min(steps, (stage + 1) * rows); ++step) {
                    use(step, shocks_from_pieces<shape>([&](int slot, int k) {
                            return at.template read<typename piece::type>(
                                ring.offset(place, step - stage * rows, slot) +
                                word32((at.thread * piece::count + k) * piece::bytes));
                        }));
                }
                if (defect != stage_defect::does_not_meet_after_a_stage) at.meet();
            }
            for (int p = 0; at.thread == 0 && p < stages; ++p) {
                if (defect != stage_defect::leaves_barriers_open) at.close_barrier(ring.barrier(p));
            }
        }
    };
};

using ring_of_two = feed_shape<double, 2, 2, 8, 5, 1, padded, found>;
using stages_of_three = feed_shape<float, 2, 1, 8, 4, 3, padded, found>;

template <ring_defect defect>
bool is_found() {
    return !faults_of<broken_ring<defect>::template feed, ring_of_two>(23).empty();
}
template <stage_defect defect>
bool is_found() {
    const auto faults = [](int direction) {
        return faults_of<broken_stages<defect>::template feed, stages_of_three>(23, direction, true);
    };
    return !faults(1).empty() || !faults(-1).empty();
}

}  // namespace

TEST(feeds, defects_of_a_ring_are_found) {
    EXPECT_FALSE(is_found<ring_defect::none>());
    EXPECT_TRUE(is_found<ring_defect::waits_for_one_too_few>());
    EXPECT_TRUE(is_found<ring_defect::index_off_by_one>());
    EXPECT_TRUE(is_found<ring_defect::copies_before_it_reads>());
    EXPECT_TRUE(is_found<ring_defect::copies_past_the_end>());
    EXPECT_TRUE(is_found<ring_defect::commits_no_empty_groups>());
    EXPECT_TRUE(is_found<ring_defect::wraps_late>());
    EXPECT_TRUE(is_found<ring_defect::forgets_the_other_pieces>());
}

TEST(feeds, defects_of_a_ring_of_stages_are_found) {
    EXPECT_FALSE(is_found<stage_defect::none>());
    EXPECT_TRUE(is_found<stage_defect::does_not_meet_after_a_stage>());
    EXPECT_TRUE(is_found<stage_defect::keeps_the_parity>());
    EXPECT_TRUE(is_found<stage_defect::expects_too_few_bytes>());
    EXPECT_TRUE(is_found<stage_defect::expects_too_many_bytes>());
    EXPECT_TRUE(is_found<stage_defect::does_not_publish>());
    EXPECT_TRUE(is_found<stage_defect::does_not_meet_before_waiting>());
    EXPECT_TRUE(is_found<stage_defect::leaves_barriers_open>());
    EXPECT_TRUE(is_found<stage_defect::fills_the_place_in_use>());
}

namespace {

// Requests to one bank of shared memory, at worst, when a warp reads `position` of its rings; 1 is ideal.
int conflicts(const ring_geometry& ring, int position) {
    constexpr int banks = 32, word_bytes = 4;
    const int at_once = 128 / ring.piece_bytes;  // threads that a request serves
    int worst = 0;
    for (int first = 0; first < 32; first += std::min(at_once, 32)) {
        std::vector<std::set<word32>> words_of_bank(banks);
        for (int thread = first; thread < first + std::min(at_once, 32); ++thread) {
            const word32 at = ring.offset(ring.rings - 1, thread, position);
            for (word32 word = at / word_bytes; word < (at + word32(ring.piece_bytes)) / word_bytes; ++word)
                words_of_bank[word % banks].insert(word);
        }
        for (const auto& words : words_of_bank) worst = std::max(worst, static_cast<int>(words.size()));
    }
    return worst;
}

ring_geometry ring_for(ring_layout layout, int positions, int padding, int piece_bytes) {
    return {layout, 3, 64, positions, padding, piece_bytes};
}

}  // namespace

TEST(feeds_rings, padded_and_transposed_have_no_bank_conflicts) {
    for (const int piece_bytes : {4, 8, 16}) {
        for (int positions = 1; positions <= 32; ++positions) {
            for (const auto layout : {padded, transposed}) {
                for (int at = 0; at < positions; ++at)
                    EXPECT_EQ(conflicts(ring_for(layout, positions, found, piece_bytes), at), 1)
                        << piece_bytes << " bytes, distance " << positions << ", layout "
                        << static_cast<int>(layout);
            }
            EXPECT_EQ(conflicts(ring_for(plain, positions, found, piece_bytes), 0),
                      std::gcd(positions, 128 / piece_bytes))
                << piece_bytes << " bytes, distance " << positions;
        }
    }
    EXPECT_EQ(conflicts(ring_for(plain, 8, 0, 8), 0), 8);   // this conflict made distance 8 slow in double
    EXPECT_EQ(conflicts(ring_for(padded, 8, 3, 8), 0), 1);  // no conflict, as for any odd ring length
    EXPECT_EQ(conflicts(ring_for(padded, 8, 2, 8), 0), 2);
}

TEST(feeds_rings, padding_is_found) {
    const auto length = [](int distance) { return ring_for(padded, distance, found, 8).length(); };
    for (int distance = 1; distance <= 32; ++distance) {
        const int before = length(distance) - 1;
        EXPECT_TRUE(before >= 2 && (before & (before - 1)) == 0) << distance;
        EXPECT_GE(length(distance), distance);
        EXPECT_TRUE(before / 2 + 1 < distance || before == 2)
            << distance << " is padded further than it must be";
    }
    EXPECT_EQ(length(8), 9);
    EXPECT_EQ(length(6), 9);
    EXPECT_EQ(length(9), 9);
    EXPECT_EQ(length(32), 33);
}

TEST(feeds_rings, every_piece_has_its_own_place) {
    for (const auto layout : {plain, padded, transposed}) {
        for (const int distance : {1, 2, 5, 8, 32}) {
            const ring_geometry ring = ring_for(layout, distance, found, 16);
            std::set<word32> taken;
            for (int r = 0; r < ring.rings; ++r) {
                for (int thread = 0; thread < ring.threads; ++thread) {
                    for (int position = 0; position < distance; ++position) {
                        const word32 at = ring.offset(r, thread, position);
                        EXPECT_TRUE(at % 16 == 0 && at + 16 <= ring.bytes() && taken.insert(at).second)
                            << r << ' ' << thread << ' ' << position << " of distance " << distance;
                    }
                }
            }
        }
    }
}

namespace {

constexpr cuda::device_limits old_device{8, 0, 49152};
constexpr cuda::device_limits new_device{9, 0, 232448};

std::string refusal(const cuda::kernel_wish& how, int slots = 1,
                    const cuda::device_limits& device = new_device) {
    try {
        cuda::check(cuda::with_presets(how), slots, device);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        return e.message();
    }
    return "";
}

cuda::kernel_wish with_feed(const std::string& feed) {
    cuda::kernel_wish how;
    how.feed = feed;
    return how;
}

}  // namespace

TEST(feeds_catalogue_of_feeds, lists_every_header) {
    std::set<std::string> headers;
    for (const auto& feed : cuda::feeds()) {
        EXPECT_TRUE(headers.insert(feed.header()).second) << feed.name;
        EXPECT_FALSE(feed.summary.empty()) << feed.name;
    }
    std::set<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(TILEWALK_SOURCE_DIR "/kernels/feeds")) {
        const std::string name = file.path().filename();
        if (name != "feed.h" && name != "ring.h") files.insert("kernels/feeds/" + name);
    }
    EXPECT_EQ(headers, files);
}

namespace {

template <template <class, class> class feed, class shape>
void expect_bytes(const std::string& name, cuda::kernel_decision how) {
    how.feed = name;
    const word32 of_kernel = feed<shape, model_thread>::shared_bytes();
    EXPECT_EQ(cuda::feed_shared_bytes(how, shape::slots), of_kernel) << name << ": " << words_of<shape>(0);
    EXPECT_EQ(of_kernel % 16, 0u) << name << ": " << words_of<shape>(0);
}

template <class shape>
void expect_bytes_of_all() {
    cuda::kernel_decision how;
    how.precision = sizeof(typename shape::shock) == 8 ? cuda::precision::double_ : cuda::precision::mixed;
    how[cuda::knobs::distance] = shape::distance;
    how[cuda::knobs::rows] = shape::rows;
    how[cuda::knobs::layout] = static_cast<int>(shape::layout);
    how[cuda::knobs::padding] = shape::padding >= 0 ? shape::padding : cuda::found_padding(shape::distance);
    how[cuda::knobs::width] = shape::width;
    how[cuda::knobs::block] = shape::threads;
    expect_bytes<feeds::none, shape>("none", how);
    expect_bytes<feeds::smem_batched, shape>("smem_batched", how);
    expect_bytes<feeds::smem_rolling, shape>("smem_rolling", how);
    expect_bytes<feeds::smem_rolling_async, shape>("smem_rolling_async", how);
    expect_bytes<feeds::bulk_async, shape>("bulk_async", how);
    expect_bytes<feeds::inline_, shape>("inline", how);
}

}  // namespace

TEST(feeds_catalogue_of_feeds, knows_the_shared_memory_of_a_kernel) {
    expect_bytes_of_all<feed_shape<double, 1, 1, 256, 8, 4, padded, found>>();
    expect_bytes_of_all<feed_shape<double, 3, 4, 64, 6, 5, padded, 1>>();
    expect_bytes_of_all<feed_shape<float, 2, 4, 128, 12, 12, transposed, found>>();
    expect_bytes_of_all<feed_shape<float, 5, 2, 64, 1, 1, plain, found>>();
    expect_bytes_of_all<feed_shape<float, 0, 1, 64, 32, 3, plain, found>>();
    EXPECT_EQ(cuda::with_presets(with_feed("smem_rolling"))[cuda::knobs::padding], 1);
}

TEST(feeds_catalogue_of_feeds, passes_what_works) {
    for (const auto& feed : cuda::feeds()) {
        EXPECT_EQ(refusal(with_feed(std::string(feed.name))), "") << feed.name;
        for (const auto& space : cuda::spaces()) {
            auto how = with_feed(std::string(feed.name));
            how.space = space.name;
            const bool works = !feed.makes_use_of(cuda::feed_entry::array) ||
                               (space.holds_paths &&
                                (space.has_addresses || !feed.makes_use_of(cuda::feed_entry::addresses)));
            EXPECT_EQ(refusal(how).empty(), works) << feed.name << " from " << space.name;
        }
    }
}

TEST(feeds_catalogue_of_feeds, says_what_would_work) {
    EXPECT_EQ(
        refusal(with_feed("smem_roling")),
        "there is no feed 'smem_roling'; did you mean 'smem_rolling'? there are none, unroll, "
        "register_batched, register_rolling, smem_batched, smem_rolling, smem_rolling_async, l2_prefetch, "
        "l2_hint, bulk_async, inline");
    EXPECT_EQ(
        refusal(with_feed("bulk_async"), 1, old_device),
        "bulk_async needs compute capability 9.0, this device has 8.0; these feeds run on it: none, unroll, "
        "register_batched, register_rolling, smem_batched, smem_rolling, smem_rolling_async, l2_prefetch, "
        "l2_hint");
    auto how = with_feed("smem_rolling_async");
    how[cuda::knobs::distance] = 32;
    how[cuda::knobs::layout] = static_cast<int>(plain);
    EXPECT_EQ(
        refusal(how, 1, old_device),
        "smem_rolling_async with distance 32, block 256 and width 1 needs 73,728 bytes of shared memory a "
        "block for 1 shocks a step, 8,192 of them for payoffs; this device has 49,152: distance 20, or block "
        "128 fits");
    how[cuda::knobs::distance] = 20;
    EXPECT_EQ(refusal(how, 1, old_device), "");
    how[cuda::knobs::distance] = 21;
    EXPECT_NE(refusal(how, 1, old_device), "");
    how[cuda::knobs::layout] = static_cast<int>(padded);  // pads 32 pieces a thread to 33
    EXPECT_NE(refusal(how, 1, old_device).find("distance 17, or block 128 fits"), std::string::npos)
        << refusal(how, 1, old_device);
    how[cuda::knobs::distance] = 18;
    how[cuda::knobs::width] = 2;
    how[cuda::knobs::block] = 128;
    EXPECT_NE(refusal(how, 1, old_device).find("or layout transposed, or block 64, or width 1 fits"),
              std::string::npos)
        << refusal(how, 1, old_device);
    how[cuda::knobs::width] = 4;
    how[cuda::knobs::block] = 64;
    EXPECT_NE(refusal(how, 300, old_device)
                  .find("none, unroll, register_batched, register_rolling, l2_prefetch, "
                        "l2_hint fit"),
              std::string::npos)
        << refusal(how, 300, old_device);
    how = with_feed("bulk_async");
    how[cuda::knobs::rows] = 64;
    how[cuda::knobs::distance] = 32;
    EXPECT_NE(refusal(how).find("rows"), std::string::npos) << refusal(how);
    how = with_feed("smem_rolling_async");
    how.space = "texture";
    EXPECT_EQ(refusal(how),
              "smem_rolling_async cannot read paths from space texture; it can from: global, read_only, "
              "l2_persisting, mapped");
    how.space = "constant";
    how.feed = "none";
    EXPECT_EQ(refusal(how),
              "none cannot read paths from space constant; it can from: global, read_only, texture, "
              "l2_persisting, mapped");
    how.space = "texure";
    EXPECT_NE(refusal(how).find("did you mean 'texture'?"), std::string::npos) << refusal(how);
    how = with_feed("none");
    how[cuda::knobs::distance] = 33;
    EXPECT_EQ(refusal(how), "distance: found 33, expected a number from 1 to 32");
    how = with_feed("none");
    how[cuda::knobs::width] = 3;
    EXPECT_EQ(refusal(how), "width: found 3, expected one of 1, 2, 4");
    how = with_feed("none");
    how[cuda::knobs::block] = 512;
    EXPECT_EQ(refusal(how), "block: found 512, expected one of 64, 128, 256");
    how = with_feed("none");
    how[cuda::knobs::rows] = 0;
    EXPECT_EQ(refusal(how), "rows: found 0, expected a number from 1 to 64");
    how = with_feed("none");
    how[cuda::knobs::padding] = -2;
    EXPECT_EQ(refusal(how), "padding: found -2, expected a number from 0 to 64");
}

TEST(feeds_catalogue_of_spaces, says_what_holds_an_array) {
    const auto refused = [](const char* space, std::uint64_t elements, int bytes) -> std::string {
        try {
            cuda::check_fits(cuda::space_named(space), elements, bytes);
        } catch (const error& e) {
            return e.message();
        }
        return "";
    };
    EXPECT_EQ(refused("constant", 7680, 8), "");
    EXPECT_EQ(
        refused("constant", 7681, 8),
        "an array of 7681 numbers of 8 bytes is too large for space constant, which holds 7680; these hold "
        "it: global, read_only, l2_persisting, mapped");
    EXPECT_EQ(refused("texture", std::uint64_t{1} << 27, 4), "");
    EXPECT_NE(refused("texture", (std::uint64_t{1} << 27) + 1, 8), "");
    EXPECT_EQ(refused("global", std::uint64_t{1} << 40, 8), "");
}

}  // namespace feeds_test
