// SPDX-License-Identifier: Apache-2.0
// Time of a run by stage: every stage has a row, the rows add up, and no price depends on timing. Benchmarks
// look at how long stages take.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/study/session/engine_state.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/fake_device.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::timings_test {
namespace {

constexpr const char* book_text = R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
settings: {paths: 2048, threads: 2}
trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: early, product: american, option: put, underlying: A, strike: 100, maturity: 0.5, exercise_step: 0.25}
)";

book a_book(timings* times = nullptr) {
    load_options how;
    how.times = times;
    return book::parse(book_text, "book.yaml", ".", how);
}

run_options options(timings* times) {
    run_options out;
    out.overrides.device = "cpu";
    out.overrides.training_paths = 1024;
    out.times = times;
    return out;
}

std::map<std::string_view, timings::row> by_name(const timings& of) {
    std::map<std::string_view, timings::row> out;
    for (const timings::row& r : of.so_far().stages)
        EXPECT_TRUE(out.emplace(r.name, r).second) << r.name << " is there twice";
    return out;
}

void until_a_time_is_told_of(std::string_view name, const timings& times) {
    while (!(by_name(times)[name].seconds > 0)) continue;
}

// No time counts twice: the remainder `other` is never negative.
void expect_to_add_up(const timings& times) {
    const timings::account all = times.so_far();
    double sum = 0;
    for (const timings::row& r : all.stages) {
        EXPECT_GE(r.seconds, 0) << r.name;
        sum += r.seconds;
    }
    EXPECT_NEAR(sum, all.seconds, 1e-9 * (1 + all.seconds));
}

std::string csv_of(const results& r) {
    std::ostringstream out;
    write(out, r, output_format::csv);
    return out.str();
}

TEST(timings, have_a_row_for_every_stage_and_one_for_the_rest) {
    const timings unused;
    const std::vector<timings::row> rows = unused.so_far().stages;
    ASSERT_EQ(rows.size(), stages_of_a_run + 1);
    std::set<std::string_view> names;
    for (const timings::row& r : rows) {
        EXPECT_FALSE(r.name.empty());
        names.insert(r.name);
    }
    EXPECT_EQ(names.size(), rows.size());
    EXPECT_EQ(rows.front().name, "reading the book");
    EXPECT_EQ(rows.back().name, "other");
}

TEST(timings, of_a_stage_inside_another_count_once) {
    timings times;
    {
        const timings::during outer(&times, stage::walking);
        {
            const timings::during inner(&times, stage::packing);
            until_a_time_is_told_of("packing", times);
        }
        const timings::during another(&times, stage::walking);
    }
    expect_to_add_up(times);
    auto rows = by_name(times);
    EXPECT_GT(rows["packing"].seconds, 0);
    EXPECT_LE(rows["walking paths"].seconds, times.so_far().seconds - rows["packing"].seconds);
}

TEST(timings, tell_of_a_stage_that_has_not_ended) {
    timings times;
    const timings::during now(&times, stage::planning);
    until_a_time_is_told_of("planning", times);
    expect_to_add_up(times);
}

TEST(timings, of_other_threads_are_in_no_sum) {
    timings times;
    {
        const timings::beside opening(&times, stage::opening_gpus);
        until_a_time_is_told_of("other", times);
    }
    EXPECT_GT(by_name(times)["opening GPUs"].beside_seconds, 0);
    EXPECT_EQ(by_name(times)["opening GPUs"].seconds, 0);
    expect_to_add_up(times);
}

TEST(timings, may_be_wanted_by_nobody) {
    const timings::during alone(nullptr, stage::planning);
    const timings::beside other(nullptr, stage::planning);
}

TEST(timings, make_a_table_whose_rows_add_up_to_the_digit) {
    const timings::account made{
        {{"planning", 0.00014, 0}, {"opening GPUs", 0.00014, 0.3}, {"other", 1.00014, 0}}, 1.00042};
    EXPECT_EQ(text_of(made),
              "stage                       ms    share  beside, ms\n"
              "------------------  ----------  -------  ----------\n"
              "planning                   0.1    0.0 %\n"
              "opening GPUs               0.1    0.0 %       300.0\n"
              "other                   1000.2  100.0 %\n"
              "all                     1000.4  100.0 %\n"
              "beside: of other threads while the stages of the table ran; in no sum\n");
}

TEST(timings, change_no_bit_of_a_price) {
    const engine pricer;
    timings times;
    const book trades = a_book(&times);
    EXPECT_EQ(csv_of(pricer.price(trades, options(&times))), csv_of(pricer.price(trades, options(nullptr))));
    const auto rows = by_name(times);
    for (const char* const name : {"reading the book", "reading the market", "planning", "policies",
                                   "controls", "points", "walking paths", "bounds", "rows"})
        EXPECT_GT(rows.at(name).seconds, 0) << name;
    for (const char* const name : {"derivatives", "packing", "building kernels", "shadows"})
        EXPECT_EQ(rows.at(name).seconds, 0) << name;
    expect_to_add_up(times);
}

TEST(timings, of_sensitivities_are_those_of_all_their_walks) {
    const engine pricer;
    timings times;
    const book trades = a_book();
    const auto told = [&](timings* to) {
        return pricer.greeks(trades, *trades.market(), {{"delta", "theta"}}, options(to));
    };
    const results with = told(&times), without = told(nullptr);
    EXPECT_EQ(csv_of(with), csv_of(without));
    ASSERT_EQ(with.greeks.size(), without.greeks.size());
    for (std::size_t i = 0; i < with.greeks.size(); ++i)
        EXPECT_EQ(with.greeks[i].value, without.greeks[i].value);
    EXPECT_GT(by_name(times)["derivatives"].seconds, 0);
    expect_to_add_up(times);
}

TEST(timings, of_single_precision_have_shadows) {
    timings times;
    run_options how = options(&times);
    how.overrides.precision = precision::single;
    engine().price(a_book(), how);
    EXPECT_GT(by_name(times)["shadows"].seconds, 0);
    expect_to_add_up(times);
}

TEST(timings, of_a_session_are_those_of_the_call) {
    const engine pricer;
    const book trades = a_book();
    const session ready = pricer.open(trades);
    timings first, second;
    const std::string told = csv_of(ready.price(*trades.market(), options(&first)));
    EXPECT_EQ(csv_of(ready.price(*trades.market(), options(&second))), told);
    for (const timings* const of : {&first, &second}) {
        EXPECT_GT(by_name(*of)["planning"].seconds, 0);
        EXPECT_GT(by_name(*of)["walking paths"].seconds, 0);
        expect_to_add_up(*of);
    }
}

// A fake GPU whose kernels do nothing, which is enough to test opening and packing.
struct idle_gpu {
    std::shared_ptr<cuda::fake_gpu> gpu = std::make_shared<cuda::fake_gpu>();
    cuda::text_compiler compiler;
    std::atomic<int> opened = 0;

    idle_gpu() {
        gpu->kernel = [](const std::string&, const std::string&, const cuda::launch&,
                         std::span<void*>) -> cuda::fake_gpu::work { return [] {}; };
    }
    engine made() {
        cuda::gpu_machine m;
        m.survey = [this] {
            cuda::device_survey found;
            found.devices.push_back({gpu->properties, ""});
            return found;
        };
        m.open = [this](int) -> std::unique_ptr<cuda::device> {
            ++opened;
            return std::make_unique<cuda::fake_device>(gpu);
        };
        m.why_no_compiler = [] { return std::string(); };
        m.compiler = [this]() -> cuda::compiler& { return compiler; };
        m.kernel_folder.clear();
        m.tiles_before_gpus = 0;
        return studies::engine_on(std::make_shared<cuda::backend>(m));
    }
};

TEST(timings, of_gpus_have_packing_and_kernels) {
    idle_gpu machine;
    timings times;
    run_options how = options(&times);
    how.overrides.device = "cuda";
    machine.made().price(a_book(), how);
    const auto rows = by_name(times);
    for (const char* const name : {"packing", "building kernels", "walking paths"})
        EXPECT_GT(rows.at(name).seconds, 0) << name;
    expect_to_add_up(times);
}

TEST(timings_devices_opened_ahead, are_those_that_the_run_takes) {
    idle_gpu machine;
    timings times;
    {
        const engine pricer = machine.made();
        pricer.open_devices("auto", &times);
        run_options how = options(&times);
        how.overrides.device = "cuda";
        EXPECT_EQ(pricer.price(a_book(), how).manifest.devices.size(), 1U);
        pricer.open_devices("cuda", &times);
    }
    EXPECT_EQ(machine.opened, 1);
    EXPECT_GT(by_name(times)["opening GPUs"].beside_seconds, 0);
    expect_to_add_up(times);
}

// A device that fails to open ahead of the run fails the run that asks for it, and nothing before.
TEST(timings_devices_opened_ahead, fail_in_the_run_that_asks_for_them) {
    idle_gpu machine;
    const engine pricer = machine.made();
    run_options how = options(nullptr);
    for (const char* const wanted : {"7", "gpu"}) {
        pricer.open_devices(wanted);
        how.overrides.device = wanted;
        EXPECT_THROW(pricer.price(a_book(), how), error) << wanted;
    }
    how.overrides.device = "cpu";
    EXPECT_EQ(pricer.price(a_book(), how).failed(), 0U);
    EXPECT_EQ(machine.opened, 0);
}

}  // namespace
}  // namespace tilewalk::timings_test
