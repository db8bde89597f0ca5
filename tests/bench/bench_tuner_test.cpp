// SPDX-License-Identifier: Apache-2.0
// The tuner, which finds and remembers the fastest build of a kernel: its contest on made-up times, its
// candidates, and its stored choices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "bench/measure/conflicts.h"
#include "bench/measure/workloads.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/tuning/tuner.h"
#include "tests/benched.h"
#include "tests/fake_device.h"
#include "tests/own_folder.h"
#include "tilewalk/error.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench_tuner_test {

namespace {

using cuda::kernel_decision;
using cuda::kernel_wish;
namespace knobs = cuda::knobs;
using kernels::ring_layout;
using tuning::contest;

constexpr double unlimited = 1e9;

struct made_up_times {
    std::vector<double> true_milliseconds;
    double noise = 0;
    double seconds = 0;
    std::size_t samples = 0;
    std::mt19937_64 dice{7};

    std::optional<double> take(std::size_t i) {
        const double t = true_milliseconds[i] * std::exp(noise * std::normal_distribution<double>()(dice));
        seconds += t * 1e-3;
        ++samples;
        return t;
    }
    contest run(double limit) {
        return tuning::halve(
            true_milliseconds.size(), [&](std::size_t i) { return take(i); }, limit, [&] { return seconds; });
    }
};

TEST(bench_tuner_contest, finds_the_fastest_among_noisy_ones) {
    made_up_times t;
    for (int i = 0; i < 60; ++i) t.true_milliseconds.push_back(1.0 + 0.02 * ((i * 37 + 20) % 60));
    t.noise = 0.003;
    const contest c = t.run(unlimited);
    EXPECT_NE(c.winner, 0U);
    EXPECT_EQ(t.true_milliseconds[c.winner], 1.0);
    EXPECT_NEAR(c.winner_milliseconds, 1.0, 0.01);
    // Far fewer samples than if every candidate were timed as often as the two finalists.
    EXPECT_LT(t.samples, 60U * 16);
}

TEST(bench_tuner_contest, rounds_have_half_the_candidates_and_twice_the_samples) {
    const std::vector<double> times{4, 1, 2, 3};
    std::vector<int> samples(times.size());
    const contest c = tuning::halve(
        times.size(),
        [&](std::size_t i) {
            ++samples[i];
            return std::optional(times[i]);
        },
        unlimited, [] { return 0.0; });
    EXPECT_EQ(c.winner, 1U);
    EXPECT_EQ(samples, (std::vector<int>{2 + 9, 2 + 4 + 9, 2 + 4, 2}))
        << "the first and the last one meet again";
}

TEST(bench_tuner_contest, leaves_what_is_there_where_nothing_is_faster_by_more_than_a_hair) {
    made_up_times t{{1.0, 0.995, 2.0, 3.0}};
    EXPECT_EQ(t.run(unlimited).winner, 0U);
    made_up_times faster{{1.0, 0.95, 2.0, 3.0}};
    const contest c = faster.run(unlimited);
    EXPECT_EQ(c.winner, 1U);
    EXPECT_NEAR(c.first_milliseconds / c.winner_milliseconds, 1 / 0.95, 1e-12);
}

TEST(bench_tuner_contest, ends_when_its_time_is_over) {
    made_up_times t;
    for (int i = 0; i < 100; ++i) t.true_milliseconds.push_back(100.0 - 0.5 * i);
    const contest c = t.run(1.0);
    EXPECT_LT(t.seconds, 10.0);  // all would take 17 s; a sample in progress is finished
    EXPECT_GE(t.true_milliseconds[0], t.true_milliseconds[c.winner]);
}

TEST(bench_tuner_contest, samples_that_do_not_count_are_no_times) {
    std::size_t asked = 0;
    const contest c = tuning::halve(
        3,
        [&](std::size_t i) -> std::optional<double> {
            // Candidate 2 never gives a time that counts, candidate 0 does in two of three tries.
            if (i == 2 || (i == 0 && ++asked % 3 == 0)) return std::nullopt;
            return i == 0 ? 2.0 : 1.0;
        },
        unlimited, [] { return 0.0; });
    EXPECT_EQ(c.winner, 1U);
    const contest none = tuning::halve(
        2, [](std::size_t) -> std::optional<double> { return std::nullopt; }, unlimited, [] { return 0.0; });
    EXPECT_EQ(none.winner, 0U);
    EXPECT_TRUE(std::isinf(none.winner_milliseconds));
}

bool fits_an_h100(const kernel_decision& how, int slots) {
    try {
        cuda::check(how, slots, {9, 0, 227 * 1024});
        return true;
    } catch (const error&) {
        return false;
    }
}

kernel_wish open_wish(bool reads) {
    kernel_wish how;
    how.reads_shocks = reads;
    return how;
}

TEST(bench_tuner_candidates, are_all_possible_all_different_and_of_one_kind) {
    for (const auto& entry : bench::workloads()) {
        const auto of = entry.make(program::precision::double_);
        for (const bool reads : {false, true}) {
            const auto all = tuning::candidates(open_wish(reads), of.code, fits_an_h100);
            ASSERT_GT(all.size(), entry.name == "basket_of_50" ? 5U : 10U) << entry.name;
            const kernel_decision first = cuda::decide(open_wish(reads), of.code, fits_an_h100);
            EXPECT_EQ(all.front(), first) << "what runs without a tuner is the first";
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_TRUE(fits_an_h100(all[i], of.code.slots_per_step()));
                EXPECT_EQ(cuda::feed_named(all[i].feed).makes_use_of(cuda::feed_entry::array), reads);
                if (i > 0 && cuda::feed_named(all[i].feed).makes_use_of(knobs::rows)) {
                    EXPECT_EQ(all[i][knobs::distance], 2 * all[i][knobs::rows])
                        << "a stage read, one on its way";
                }
                for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i] == all[j]) << i << " and " << j;
            }
        }
    }
}

TEST(bench_tuner_candidates, begin_with_one_that_fits_whatever_a_step_takes) {
    for (const int shocks : {1, 19, 40, 60}) {
        auto code = bench::workloads().front().make(program::precision::double_).code;
        code.uniforms_per_step = shocks - code.normals_per_step;
        const kernel_decision best = cuda::decide(open_wish(true), code, fits_an_h100);
        EXPECT_TRUE(fits_an_h100(best, shocks)) << shocks;
        EXPECT_EQ(best[knobs::distance] == knobs::distance.line().preset, shocks == 1)
            << best[knobs::distance];
        kernel_wish said = open_wish(true);
        said[knobs::distance] = 8;
        EXPECT_EQ(cuda::decide(said, code, fits_an_h100)[knobs::distance], 8);
    }
}

TEST(bench_tuner_candidates, of_ways_back_begin_with_the_rules_and_are_all_different) {
    const auto of = bench::workloads_named("backward", program::precision::double_, [](const auto&) {});
    const program::path_program& code = of.front().code;
    const auto adjoint = program::adjoint(code, program::all_numbers_of(code));
    for (const auto precision :
         {program::precision::double_, program::precision::single, program::precision::single_fast}) {
        const bool is_fast = program::is_fast(precision);
        const auto by_rules = cuda::best_way_back(precision, 10, code, adjoint);
        const auto all = tuning::candidates(by_rules, code.slots_per_step());
        ASSERT_GT(all.size(), is_fast ? 10U : 30U);
        EXPECT_EQ(all.front().reads, by_rules.reads);
        const auto are_alike = [](const cuda::way_back_decision& a, const cuda::way_back_decision& b) {
            if (a.keeps_shocks != b.keeps_shocks) return false;
            return a.keeps_shocks ? a.reads == b.reads : a.width() == b.width();
        };
        std::size_t again = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i].block(), by_rules.block());
            EXPECT_EQ(all[i].precision, precision);
            EXPECT_TRUE(!is_fast || all[i].width() == by_rules.width()) << "another has other bits";
            again += all[i].keeps_shocks ? 0U : 1U;
            for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(are_alike(all[i], all[j])) << i << " and " << j;
        }
        EXPECT_EQ(again, is_fast ? 1U : 3U) << "one for each number of paths a thread";
    }
}

TEST(bench_tuner_workloads, are_known_by_name_and_a_book_by_its_file) {
    const auto ignored = [](const std::string&) {};
    for (const auto& entry : bench::workloads()) {
        const auto all =
            bench::workloads_named(std::string(entry.name), program::precision::single_fast, ignored);
        ASSERT_EQ(all.size(), 1U);
        EXPECT_EQ(all[0].steps(), 252U);
        EXPECT_GT(all[0].paths, 0U);
    }
    std::vector<std::string> left_out;
    const auto book =
        bench::workloads_named(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml", program::precision::double_,
                               [&](const std::string& why) { left_out.push_back(why); });
    EXPECT_GT(book.size(), 3U);
    EXPECT_TRUE(left_out.empty()) << left_out.front();
    std::set<std::string> names;
    for (const auto& w : book) {
        EXPECT_TRUE(names.insert(w.name).second) << w.name << " is there twice";
        EXPECT_TRUE(w.name.starts_with("demo.yaml: ")) << w.name;
    }
    try {
        bench::workloads_named("asain", program::precision::double_, ignored);
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("did you mean 'asian'"), std::string::npos) << e.message();
    }
}

TEST(bench_tuner_conflicts, follow_the_arithmetic_of_the_layouts) {
    const auto passes = [](ring_layout layout, int positions, int bytes) {
        return bench::predicted_passes({layout, 1, 256, positions, -1, bytes});
    };
    for (const int bytes : {4, 8, 16}) {
        for (int positions = 1; positions <= 32; ++positions) {
            EXPECT_EQ(passes(ring_layout::transposed, positions, bytes), 1) << positions << ", " << bytes;
            EXPECT_EQ(passes(ring_layout::padded, positions, bytes), 1) << positions << ", " << bytes;
            // Threads that shared memory serves at a time, for elements of one bank's width or several.
            const int threads = 128 / bytes;
            int common = positions;
            for (int rest = threads; rest != 0;) {
                const int next = common % rest;
                common = rest;
                rest = next;
            }
            EXPECT_EQ(passes(ring_layout::plain, positions, bytes), common) << positions << ", " << bytes;
        }
    }
    EXPECT_EQ(bench::predicted_passes({ring_layout::padded, 1, 256, 6, 2, 4}), 8);
}

class bench_tuner_tuned : public testing::Test {
  protected:
    bench_tuner_tuned() {
        on_ = cuda::fake_gpu::some_properties();
        on_.driver = "13.0";
    }

    cuda::tuned_choice found() const {
        cuda::tuned_choice out;
        out.how.feed = "bulk_async";
        out.how[knobs::distance] = 12;
        out.how[knobs::rows] = 6;
        out.how[knobs::layout] = static_cast<int>(ring_layout::transposed);
        out.how[knobs::padding] = 0;
        out.how[knobs::width] = 2;
        out.how[knobs::block] = 128;
        out.how.blocks = 4;
        out.milliseconds = 0.75;
        out.untuned_milliseconds = 1.5;
        out.date = "2026-01-31";
        return out;
    }

    tests::own_folder own_;
    std::filesystem::path folder_ = own_.path();
    cuda::device_properties on_;
    bench::workload asian_ = bench::workloads().front().make(program::precision::double_);
};

TEST_F(bench_tuner_tuned, choices_are_remembered_by_device_driver_and_kernel) {
    const auto asked = open_wish(true);
    cuda::tuned_choices first(folder_);
    EXPECT_FALSE(first.find(on_, asian_.code, asked));
    first.remember(on_, asian_.code, asked, found());

    cuda::tuned_choices second(folder_);
    const auto got = second.find(on_, asian_.code, asked);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->how, found().how);
    EXPECT_EQ(got->milliseconds, 0.75);
    EXPECT_EQ(got->untuned_milliseconds, 1.5);
    EXPECT_EQ(got->date, "2026-01-31");
    EXPECT_TRUE(first.find(on_, asian_.code, asked)) << "also by who remembered it";

    auto other = on_;
    other.driver = "13.1";
    EXPECT_FALSE(second.find(other, asian_.code, asked));
    other = on_;
    other.name = "another GPU";
    EXPECT_FALSE(second.find(other, asian_.code, asked));
    auto single = asked;
    single.precision = program::precision::single;
    EXPECT_FALSE(second.find(on_, asian_.code, single));
    EXPECT_FALSE(second.find(on_, asian_.code, open_wish(false))) << "shocks that are made";
    const auto heston =
        bench::workloads_named("heston_step", program::precision::double_, [](const auto&) {});
    EXPECT_FALSE(second.find(on_, heston.front().code, asked));
}

TEST_F(bench_tuner_tuned, files_that_are_damaged_say_nothing) {
    const auto asked = open_wish(true);
    cuda::tuned_choices writer(folder_);
    writer.remember(on_, asian_.code, asked, found());
    const auto file = writer.file_of(on_, asian_.code, asked);
    std::string text;
    {
        std::ifstream in(file);
        text.assign(std::istreambuf_iterator<char>(in), {});
    }
    const auto with = [&](const std::string& what, const std::string& instead) {
        std::string changed = text;
        const auto at = changed.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        return changed.replace(at, what.size(), instead);
    };
    for (const std::string& damaged :
         {std::string(), std::string("{"), std::string("[]"), text.substr(0, text.size() / 2),
          with("\"width\": 2", "\"width\": \"2\""), with("\"width\": 2", "\"width\": 0"),
          with("bulk_async", "bulk_asink"), with("transposed", "sideways"),
          with("\"subject\": \"", "\"subject\": \"0"),
          with("\"blocks_resident\": 4", "\"blocks_resident\": -1"), with("\"date\"", "\"dat\"")}) {
        std::ofstream(file, std::ios::trunc) << damaged;
        EXPECT_FALSE(cuda::tuned_choices(folder_).find(on_, asian_.code, asked)) << damaged;
    }
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_TRUE(cuda::tuned_choices(folder_).find(on_, asian_.code, asked));
}

TEST_F(bench_tuner_tuned, choices_that_somebody_else_may_have_written_say_nothing) {
    namespace fs = std::filesystem;
    const auto asked = open_wish(true);
    const fs::path tuned = folder_ / "tuned";
    cuda::tuned_choices writer(tuned);
    writer.remember(on_, asian_.code, asked, found());
    const fs::path file = writer.file_of(on_, asian_.code, asked);
    const auto is_found = [&] {
        return cuda::tuned_choices(tuned).find(on_, asian_.code, asked).has_value();
    };
    EXPECT_TRUE(is_found());
    for (const fs::path& at : {file, tuned}) {
        for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
            fs::permissions(at, others, fs::perm_options::add);
            EXPECT_FALSE(is_found()) << at;
            if (at == tuned) {
                EXPECT_THROW(writer.remember(on_, asian_.code, asked, found()), error);
            }
            fs::permissions(at, others, fs::perm_options::remove);
            EXPECT_TRUE(is_found()) << at;
        }
    }
}

TEST_F(bench_tuner_tuned, nothing_is_remembered_without_a_folder) {
    cuda::tuned_choices none{std::filesystem::path()};
    EXPECT_FALSE(none.find(on_, asian_.code, open_wish(true)));
    EXPECT_THROW(none.remember(on_, asian_.code, open_wish(true), found()), error);
}

TEST_F(bench_tuner_tuned, kernels_are_built_as_was_found_where_that_is_open) {
    cuda::tuned_choices choices(folder_);
    auto made = found();
    made.how.feed = "inline";
    auto asked = open_wish(false);
    choices.remember(on_, asian_.code, asked, made);
    const run::job job{&asian_.code, &asian_.trades[0].data, &asian_.trades[0].when};
    const auto width_of = [&](const std::optional<cuda::tuned_device>& by) {
        for (const auto& k : cuda::kernels_of({&job, 1}, asked, "auto", by)) {
            if (k.is_walk) return k.how[knobs::width] * 1000 + k.how[knobs::block];
        }
        return 0;
    };
    EXPECT_EQ(width_of({}), 4256);
    EXPECT_EQ(width_of(cuda::tuned_device{choices, on_}), 2128);
    asked.feed = "inline";  // an explicit setting rules out the tuned choice
    EXPECT_EQ(width_of(cuda::tuned_device{choices, on_}), 4256);
}

TEST(bench_tuner_path_timer, has_room_for_every_result_of_a_trade) {
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->kernel = [](const std::string&, const std::string&, const cuda::launch&, std::span<void*>) {
        return [] {};
    };
    auto on = std::make_unique<cuda::fake_device>(gpu);
    cuda::text_compiler compiler;
    cuda::kernel_store store(compiler, {});
    const std::string uuid = on->properties().uuid;
    bench::gpu_timer timer(std::make_shared<cuda::loaded_device>(std::move(on)), store,
                           bench::open_clocks(uuid), {1.0, 1, 3, 0});
    bench::workload of = bench::workloads().front().make(program::precision::double_);
    const std::uint64_t paths = 4 * kernels::paths_per_tile;
    EXPECT_EQ(tuning::path_timer(timer, of, paths).results().size(), 4 * of.trades.size());
    of.code.outputs.push_back(of.code.outputs.front());  // one for a control, one for its sum with the payoff
    of.code.crossed.push_back({0, 1});
    EXPECT_EQ(tuning::path_timer(timer, of, paths).results().size(), 3 * 4 * of.trades.size());
}

// Any build of a kernel gives the same bits, for trades with controls on points that paths compute and on
// points that they read.
TEST(bench_tuner_tuned_on_a_gpu, every_way_has_the_same_bits) {
    if (some_gpu() == nullptr) GTEST_SKIP() << "no GPU";
    const tests::own_folder cache;
    ASSERT_EQ(::setenv("TILEWALK_CACHE_DIR", cache.path().c_str(), 1), 0);
    const book trades = book::load(TILEWALK_SOURCE_DIR "/configs/books/demo.yaml")
                            .only({"acme_call", "asian_eur", "asian_running", "autocall", "down_and_out"});
    const auto found = engine().tune(trades, *trades.market(), {}, 0.1, [](const std::string&) {});
    EXPECT_GE(found.size(), 3u);
    for (const tuned_kernel& k : found) EXPECT_EQ(k.failure, "") << k.name;
}

}  // namespace

}  // namespace tilewalk::bench_tuner_test
