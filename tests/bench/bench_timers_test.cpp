// SPDX-License-Identifier: Apache-2.0
// Timers of kernels on a fake GPU: launches, counts and flushed caches; and whether the clock rates during a
// time allow it to count.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/timing.h"
#include "bench/suites/points_of_paths.h"
#include "engine/numerics/quasi/order.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/way_back_text.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/tuning/clocks.h"
#include "engine/walk/tuning/gpu_timer.h"
#include "engine/walk/tuning/path_timer.h"
#include "engine/walk/tuning/tuner.h"
#include "engine/walk/tuning/way_back_timer.h"
#include "kernels/arguments.h"
#include "products/program/adjoint.h"
#include "tests/fake_device.h"
#include "tests/own_folder.h"

namespace tilewalk::bench_timers_test {
namespace {

using cuda::point_way;
using program::precision;
namespace knobs = cuda::knobs;

class bench_timers : public testing::Test {
  protected:
    bench_timers() {
        gpu_->kernel = [this](const std::string&, const std::string& kernel, const cuda::launch&,
                              std::span<void*> arguments) -> cuda::fake_gpu::work {
            if (kernel == "walk") launched_ = *static_cast<const kernels::path_arguments*>(arguments[0]);
            return [] {};
        };
    }

    static tuning::workload asian(quasi::construction how, int days) {
        tuning::workload of = bench::normals::asian_in_steps(precision::double_, days);
        of.points->construction = how;
        return of;
    }
    static cuda::kernel_decision way_of(const tuning::workload& of, point_way points) {
        cuda::kernel_wish asked;
        asked.reads_shocks = true;
        asked.points = points;
        return cuda::decide(asked, of.code, [](const cuda::kernel_decision&, int) { return true; });
    }
    const kernels::path_arguments& launched(const tuning::workload& of, point_way points) {
        tuning::path_timer kernel(on_, of, paths);
        const cuda::kernel_decision how = way_of(of, points);
        kernel.launch(how, kernel.prepare(how, 0));
        numbers_.resize(packed(of).size());
        if (launched_.numbers != nullptr) std::memcpy(numbers_.data(), launched_.numbers, numbers_.size());
        return launched_;
    }
    static std::vector<std::byte> packed(const tuning::workload& of) {
        const run::job job{&of.code, &of.trades[0].data, &of.trades[0].when};
        return cuda::pack({&job, 1}, program::number_type::double_).numbers;
    }

    static constexpr std::uint64_t paths = 32 * kernels::paths_per_tile;
    std::shared_ptr<cuda::fake_gpu> gpu_ = std::make_shared<cuda::fake_gpu>();
    cuda::text_compiler compiler_;
    cuda::kernel_store store_{compiler_, {}};
    tuning::gpu_timer on_{std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu_)),
                          store_,
                          tuning::open_clocks(gpu_->properties.uuid),
                          {1.0, 1, 3, 0}};
    kernels::path_arguments launched_{};
    std::vector<std::byte> numbers_;  // read by the last launch
};

TEST_F(bench_timers, hand_a_kernel_what_its_points_are_made_of) {
    const tuning::workload few = asian(quasi::construction::steps, 4);
    const auto made = launched(few, point_way::made);
    EXPECT_EQ(numbers_, packed(few));
    EXPECT_NE(made.made_points, nullptr);
    EXPECT_EQ(made.paths_of_randomisation * 16, paths) << "as many randomisations as a run has";

    const tuning::workload many = asian(quasi::construction::coarse, 252);
    const auto targets = launched(many, point_way::targets);
    EXPECT_EQ(numbers_, packed(many));
    EXPECT_NE(targets.steps_to_targets, nullptr);
    EXPECT_NE(targets.targets_ahead, nullptr);
    EXPECT_NE(targets.normal.first, nullptr);

    const auto read = launched(many, point_way::read);
    EXPECT_NE(read.normal.first, nullptr);
    EXPECT_EQ(read.steps_to_targets, nullptr);
}

// The timer keeps warps down by shared memory, which limits the blocks that reside on a multiprocessor.
TEST_F(bench_timers, keep_no_more_warps_than_asked_and_hardly_fewer) {
    const int warps_of_block = 8;
    gpu_->attributes_of = [](const cuda::launch& how) {
        return cuda::kernel_attributes{
            32, 0, 0, std::min(8, static_cast<int>(228U * 1024U / (how.shared_bytes + 1024U)))};
    };
    const tuning::workload of = asian(quasi::construction::steps, 4);
    tuning::path_timer kernel(on_, of, paths);
    cuda::kernel_decision how = way_of(of, point_way::made);
    how[knobs::block] = 32 * warps_of_block;
    EXPECT_EQ(kernel.prepare(how, 0).warps, 8 * warps_of_block);
    for (int warps = warps_of_block; warps <= 8 * warps_of_block; ++warps) {
        const auto got = kernel.prepare(how, warps);
        EXPECT_EQ(got.warps, warps / warps_of_block * warps_of_block) << warps;
    }
}

TEST_F(bench_timers, flush_the_caches_before_a_sample_unless_it_is_to_be_warm) {
    const auto cold = on_.time([] {});
    EXPECT_EQ(gpu_->calls["fill"], static_cast<int>(cold.milliseconds.samples)) << "none for what warms up";
    gpu_->calls["fill"] = 0;
    on_.time_warm([] {});
    EXPECT_EQ(gpu_->calls["fill"], 0);
}

TEST_F(bench_timers, compile_ahead_and_count_what_is_done) {
    std::atomic<int> asked{0};
    std::atomic<bool> may_compile{false};
    compiler_.refuses = [&](const std::string&) {
        may_compile.wait(false);
        ++asked;
        return false;
    };
    std::vector<std::string> said;
    on_.says = [&](const std::string& text) {
        said.push_back(text);
        may_compile = true;
        may_compile.notify_all();
    };
    on_.compile(std::vector<std::string>{"a", "b", "c"});
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(said.at(0), "compiling kernels: 0 of 3");
}

TEST_F(bench_timers, tell_how_many_ways_back_were_tried) {
    const tuning::workload of = asian(quasi::construction::steps, 4);
    const auto adjoint = program::adjoint(of.code, program::all_numbers_of(of.code));
    const program::path_data data = program::data_of_back(adjoint, of.trades[0].data);
    tuning::way_back_timer kernel(on_, {&of.code, &of.trades[0].data, &of.trades[0].when, {&adjoint, &data}},
                                  kernels::paths_per_tile);
    const auto by_rules = cuda::best_way_back(precision::double_, 10, of.code, adjoint);
    const tuning::outcome got = tuning::tune(on_, kernel, by_rules, 0);
    EXPECT_EQ(got.tried, tuning::candidates(by_rules, of.code.slots_per_step()).size());
    EXPECT_EQ(got.wrong, 0U);
}

// A fake of NVIDIA's management library (NVML) with one GPU, whose clock and throttle reasons the test sets.
class made_nvml : public tests::own_folder {
  public:
    made_nvml() {
        const std::string name = "libnvidia-ml.so.1";
        if (void* real = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
            // The loader would return the real library, once loaded, instead of the fake.
            ::dlclose(real);
            return;
        }
        const auto source = write("nvml.cpp", R"(
#include <cstring>
extern "C" {
struct gpu;
unsigned clock_mhz = 0;
unsigned long long reasons = 0;
int sessions = 0;
int nvmlInit_v2() { ++sessions; return 0; }
int nvmlShutdown() { --sessions; return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, gpu**) { return std::strcmp(uuid, "GPU-here"); }
int nvmlDeviceGetClockInfo(gpu*, unsigned of, unsigned* to) { *to = of == 1 ? clock_mhz : 2619; return 0; }
int nvmlDeviceGetMaxClockInfo(gpu*, unsigned, unsigned* to) { *to = 2000; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(gpu*, unsigned long long* to) { *to = reasons; return 0; }
int nvmlSystemGetDriverVersion(char* to, unsigned size) { std::strncpy(to, "580.65", size); return 0; }
})");
        const std::string library = (*this / name).string();
        if (std::system((std::string(TILEWALK_CXX) + " -shared -fPIC -Wl,-soname," + name + " -o '" +
                         library + "' '" + source.string() + "'")
                            .c_str()) == 0)
            library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    ~made_nvml() {
        if (library_ != nullptr) ::dlclose(library_);
    }
    bool is_there() const { return library_ != nullptr; }
    template <class value>
    value& variable(const char* name) const {
        return *static_cast<value*>(::dlsym(library_, name));
    }

  private:
    void* library_ = nullptr;
};

TEST(bench_timers_clocks, are_throttled_where_they_are_slow_for_a_reason) {
    const made_nvml library;
    if (!library.is_there()) GTEST_SKIP() << "a management library is in use, or none can be built";
    auto& mhz = library.variable<unsigned>("clock_mhz");
    auto& reasons = library.variable<unsigned long long>("reasons");
    {
        const auto clocks = tuning::open_clocks("GPU-here");
        EXPECT_EQ(clocks->driver(), "580.65");
        constexpr unsigned long long idle = 1, asked_for = 2, power = 4;
        const struct {
            unsigned mhz;
            unsigned long long reasons;
            bool throttled;
        } cases[] = {{2000, 0, false},
                     {1500, power, true},
                     {1500, power | idle, true},
                     {1980, power, false},
                     {1500, idle | asked_for, false}};
        for (const auto& c : cases) {
            mhz = c.mhz;
            reasons = c.reasons;
            const auto now = clocks->now();
            ASSERT_TRUE(now);
            EXPECT_EQ(now->multiprocessor_mhz, static_cast<int>(c.mhz));
            EXPECT_EQ(now->memory_mhz, 2619);
            EXPECT_EQ(now->throttled, c.throttled) << c.mhz << " MHz by " << c.reasons;
        }
        EXPECT_EQ(library.variable<int>("sessions"), 1);
    }
    EXPECT_EQ(library.variable<int>("sessions"), 0) << "which are closed with the clocks";
    const auto unknown = tuning::open_clocks("GPU-elsewhere");
    EXPECT_FALSE(unknown->now());
    EXPECT_EQ(unknown->driver(), "");
}

}  // namespace
}  // namespace tilewalk::bench_timers_test
