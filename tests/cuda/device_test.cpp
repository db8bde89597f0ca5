// SPDX-License-Identifier: Apache-2.0
// Devices: objects that own a device's resources, with every call failing in turn; the fake device; the
// survey of devices; and a real GPU if there is one.
#include "engine/walk/cuda/device/device.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/walk/cuda/device/memory.h"
#include "tests/fake_device.h"

namespace tilewalk::cuda::device_test {

namespace {

constexpr std::array every_schedule{fake_gpu::schedule::at_once, fake_gpu::schedule::late,
                                    fake_gpu::schedule::by_dice};

struct fake {
    std::shared_ptr<fake_gpu> gpu = std::make_shared<fake_gpu>();
    std::optional<fake_device> on{gpu};

    std::string report() {
        on.reset();
        return gpu->report();
    }
};

TEST(device_fake_device, shows_memory_that_was_never_written) {
    fake f;
    std::array<unsigned char, 4> got{};
    const device_memory m(*f.on, got.size());
    f.on->download(got.data(), m.as<void>(), got.size(), stream::standard);
    EXPECT_EQ(got, (std::array<unsigned char, 4>{0xcd, 0xcd, 0xcd, 0xcd}));
}

TEST(device_fake_device, says_what_is_left_open) {
    fake f;
    f.on->allocate(8);
    f.on->allocate_pinned(8);
    f.on->record(f.on->open_event(), f.on->open_stream());
    f.on->load(std::string("text"));
    f.on->open_texture(f.on->allocate(16), 16, texel::single);
    EXPECT_EQ(f.report(),
              "left open: 2 memory\nleft open: 1 pinned memory\nleft open: 1 streams\nleft open: 1 events\n"
              "left open: 1 modules\nleft open: 1 textures\n");
}

TEST(device_fake_device, says_which_rule_was_broken) {
    const auto report_of = [](bool late, const std::function<void(device&)>& use) {
        fake f;
        if (late) f.gpu->when = fake_gpu::schedule::late;
        f.gpu->kernel = [](const auto&, const auto&, const launch&, std::span<void*> arguments) {
            auto* at = *static_cast<std::byte**>(arguments[0]);
            return [at] { *at = std::byte{1}; };
        };
        use(*f.on);
        return f.report();
    };
    const auto write_at = [](device& d, std::byte* at) {
        void* arguments[] = {&at};
        const owned_module m(d, d.load(std::string()));
        d.run(d.find(m.get(), "write"), {}, arguments, stream::standard);
    };
    std::array<std::byte, 32> host{};
    EXPECT_EQ(report_of(false, [](device& d) { d.release(d.allocate(8)); }), "");
    EXPECT_EQ(report_of(false,
                        [&](device& d) {
                            const device_memory m(d, 8);
                            d.upload(m.as<void>(), host.data(), 9, stream::standard);
                        }),
              "upload: outside of the memory of the device\n");
    EXPECT_EQ(report_of(false,
                        [&](device& d) {
                            const device_memory m(d, 8);
                            write_at(d, m.as<std::byte>() + 8);
                        }),
              "written outside of memory\n");
    EXPECT_EQ(report_of(false,
                        [&](device& d) {
                            void* gone = d.allocate(8);
                            d.release(gone);
                            write_at(d, static_cast<std::byte*>(gone));
                        }),
              "memory was written after its release\n");
    EXPECT_EQ(report_of(false,
                        [](device& d) {
                            void* twice = d.allocate(8);
                            d.release(twice);
                            d.release(twice);
                        }),
              "memory released that is not allocated\n");
    EXPECT_EQ(report_of(true,
                        [&](device& d) {
                            {
                                const device_memory m(d, 8);
                                write_at(d, m.as<std::byte>());
                            }
                            d.wait(stream::standard);
                        }),
              "memory released while work that may use it was not done\nmemory was written after its "
              "release\n");
    EXPECT_EQ(report_of(true,
                        [&](device& d) {
                            const device_memory m(d, 8);
                            const owned_stream s = new_stream(d);
                            d.fill(m.as<void>(), 0, 8, s.get());
                        }),
              "a stream was closed before its work was done\n");
    EXPECT_EQ(report_of(true,
                        [](device& d) {
                            const owned_event a = new_event(d, stream::standard);
                            const owned_event b = new_event(d, stream::standard);
                            EXPECT_EQ(d.milliseconds_between(a.get(), b.get()), 0);
                            d.wait(stream::standard);
                            EXPECT_GT(d.milliseconds_between(a.get(), b.get()), 0);
                        }),
              "milliseconds_between: an event that has not happened\n");
}

TEST(device_fake_device, does_deferred_work_when_it_is_waited_for) {
    fake f;
    f.gpu->when = fake_gpu::schedule::late;
    int from = 1, pageable = 0;
    {
        device& d = *f.on;
        const pinned_memory staging(d, sizeof(int));
        const device_memory a(d, sizeof(int)), b(d, sizeof(int));
        const owned_stream first = new_stream(d), second = new_stream(d);
        *staging.as<int>() = 1;
        d.upload(a.as<void>(), staging.as<void>(), sizeof(int), first.get());
        *staging.as<int>() = 2;  // too early: the copy to the device may read this
        d.upload(b.as<void>(), &from, sizeof(int), first.get());
        from = 3;  // harmless: pageable memory is read before the call returns
        const owned_event copied = new_event(d, first.get());
        EXPECT_FALSE(d.has_happened(copied.get()));
        d.wait_for(second.get(), copied.get());
        d.download(&pageable, a.as<void>(), sizeof(int), second.get());
        EXPECT_EQ(pageable, 0);
        d.wait(second.get());
        EXPECT_EQ(pageable, 2);
        EXPECT_TRUE(d.has_happened(copied.get()));
        d.download(&pageable, b.as<void>(), sizeof(int), stream::standard);
        d.wait(stream::standard);
        EXPECT_EQ(pageable, 1);
    }
    EXPECT_EQ(f.report(), "");
}

TEST(device_fake_device, happens_for_who_asks_twice) {
    fake f;
    f.gpu->when = fake_gpu::schedule::late;
    const owned_event e = new_event(*f.on, stream::standard);
    EXPECT_FALSE(f.on->has_happened(e.get()));
    EXPECT_TRUE(f.on->has_happened(e.get()));
}

TEST(device_fake_device, fails_as_planned_and_for_good_where_it_is_final) {
    fake f;
    f.gpu->failures = {{"allocate", 2, device_failure::out_of_memory}, {"wait", 1, device_failure::lost}};
    const device_memory first(*f.on, 8);
    EXPECT_THROW(device_memory(*f.on, 8), device_error);
    const device_memory third(*f.on, 8);
    for (int i = 0; i < 2; ++i) {
        try {
            f.on->wait(stream::standard);
            ADD_FAILURE() << "wait " << i << " did not fail";
        } catch (const device_error& e) {
            EXPECT_EQ(e.failure(), device_failure::lost) << e.what();
        }
    }
    EXPECT_THROW(f.on->allocate(8), device_error);
}

TEST(device_fake_device, is_as_large_as_it_says) {
    fake f;
    f.gpu->memory_bytes = 100;
    const device_memory m(*f.on, 60);
    EXPECT_EQ(f.on->free_bytes(), 40u);
    EXPECT_THROW(device_memory(*f.on, 41), device_error);
    EXPECT_EQ(f.gpu->most_bytes, 60u);
}

TEST(device_fake_device, keeps_the_order_of_streams_and_events_by_dice) {
    std::set<std::string> seen;
    for (std::uint32_t attempt = 0; attempt < 100; ++attempt) {
        auto gpu = std::make_shared<fake_gpu>();
        gpu->dice = attempt;
        fake f{gpu, std::optional<fake_device>(gpu)};
        f.gpu->when = fake_gpu::schedule::by_dice;
        std::string order;
        f.gpu->kernel = [&](const auto&, const auto& name, const launch&, std::span<void*>) {
            return [&order, name] { order += name; };
        };
        {
            device& d = *f.on;
            const owned_module code(d, d.load(std::string()));
            const owned_stream first = new_stream(d), second = new_stream(d);
            const auto run = [&](const char* name, const owned_stream& s) {
                d.run(d.find(code.get(), name), {}, {}, s.get());
            };
            run("a", first);
            run("b", second);
            const owned_event after_a = new_event(d, first.get());
            run("c", first);
            d.wait_for(second.get(), after_a.get());
            run("d", second);
            d.wait(first.get());
            d.wait(second.get());
            d.wait(stream::standard);
        }
        ASSERT_EQ(order.size(), 4u);
        for (const char* rule : {"ac", "ad", "bd"})
            EXPECT_LT(order.find(rule[0]), order.find(rule[1])) << order;
        seen.insert(order);
        EXPECT_EQ(f.report(), "");
    }
    EXPECT_GE(seen.size(), 3u) << *seen.begin();
}

std::vector<double> doubled(device& d, const std::vector<double>& numbers) {
    const std::size_t bytes = numbers.size() * sizeof(double);
    const pinned_memory staging(d, bytes);
    EXPECT_NE(staging.on_device<double>(), nullptr);
    device_memory in(d, bytes), out(d, bytes);
    const owned_module code(d, d.load(std::string("cubin")));
    const kernel k = d.find(code.get(), "double");
    const owned_texture seen(d, d.open_texture(in.as<void>(), bytes, texel::two_words));
    const owned_stream copies = new_stream(d), kernels = new_stream(d);
    std::vector<double> result(numbers.size());
    const in_flight guard(d, {copies.get(), kernels.get()});
    std::copy(numbers.begin(), numbers.end(), staging.as<double>());
    d.upload(in.as<void>(), staging.as<void>(), bytes, copies.get());
    const owned_event copied = new_event(d, copies.get());
    d.wait_for(kernels.get(), copied.get());
    d.fill(out.as<void>(), 0, bytes, kernels.get());
    const double* from = in.as<double>();
    double* to = out.as<double>();
    std::size_t count = numbers.size();
    void* arguments[] = {&from, &to, &count};
    d.run(k, {}, arguments, kernels.get());
    d.download(result.data(), out.as<void>(), bytes, kernels.get());
    d.wait(kernels.get());
    return result;
}

TEST(device_owners, leave_nothing_behind_whatever_call_fails) {
    const std::vector<double> numbers{1, 2, 3}, expected{2, 4, 6};
    for (const auto when : every_schedule) {
        const auto attempt = [&](const std::vector<fake_gpu::planned_failure>& failures,
                                 std::map<std::string, int>* calls) {
            fake f;
            f.gpu->when = when;
            f.gpu->failures = failures;
            f.gpu->kernel = [](const std::string& cubin, const std::string& name, const launch&,
                               std::span<void*> arguments) {
                EXPECT_EQ(cubin + " " + name, "cubin double");
                return [from = *static_cast<const double**>(arguments[0]),
                        to = *static_cast<double**>(arguments[1]),
                        count = *static_cast<std::size_t*>(arguments[2])] {
                    for (std::size_t i = 0; i < count; ++i) to[i] = 2 * from[i];
                };
            };
            std::string outcome;
            try {
                outcome = doubled(*f.on, numbers) == expected ? "right" : "wrong";
            } catch (const device_error&) {
                outcome = "failed";
            }
            if (calls != nullptr) *calls = f.gpu->calls;
            EXPECT_EQ(f.report(), "");
            return outcome;
        };
        std::map<std::string, int> calls;
        ASSERT_EQ(attempt({}, &calls), "right");
        ASSERT_GE(calls.size(), 14u);
        for (const auto& [call, count] : calls) {
            for (int nth = 1; nth <= count; ++nth) {
                for (const auto what : {device_failure::out_of_memory, device_failure::illegal_address,
                                        device_failure::lost, device_failure::refused}) {
                    // The second wait is a guard's, after the result has arrived: its failure is ignored.
                    const bool by_guard = call == "wait" && nth > 1;
                    EXPECT_EQ(attempt({{call, nth, what}}, nullptr), by_guard ? "right" : "failed")
                        << call << " number " << nth << " failing with " << static_cast<int>(what)
                        << ", schedule " << static_cast<int>(when);
                }
            }
        }
    }
}

TEST(device_owners, move_without_a_second_release) {
    fake f;
    {
        device_memory a(*f.on, 8), b(*f.on, 16);
        device_memory c = std::move(a);
        a = std::move(b);
        EXPECT_EQ(a.bytes(), 16u);
        EXPECT_EQ(c.bytes(), 8u);
        std::vector<owned_event> events;
        for (int i = 0; i < 10; ++i) events.push_back(new_event(*f.on, stream::standard));
    }
    EXPECT_EQ(f.report(), "");
}

TEST(device_owners, take_no_memory_for_nothing) {
    fake f;
    {
        const device_memory none(*f.on, 0);
        const pinned_memory none_pinned(*f.on, 0);
        EXPECT_EQ(none.as<void>(), nullptr);
        EXPECT_EQ(none_pinned.as<void>(), nullptr);
        f.on->upload(none.as<void>(), nullptr, 0, stream::standard);
    }
    EXPECT_EQ(f.report(), "");
}

TEST(device_survey, says_what_there_is_or_why_there_is_nothing) {
    const device_survey s = survey_devices();
    EXPECT_EQ(s.devices.empty(), !s.why_none.empty()) << s.why_none;
    for (const auto& d : s.devices) {
        EXPECT_EQ(d.properties.index, &d - s.devices.data());
        if (!d.why_not.empty()) continue;
        EXPECT_NE(d.properties.name, "");
        EXPECT_GE(d.properties.major * 10 + d.properties.minor, least_compute_capability);
        EXPECT_GT(d.properties.multiprocessors, 0);
    }
}

TEST(device_survey, a_device_that_is_not_there_is_refused_with_a_reason) {
    for (const int index : {-1, 1000}) {
        try {
            open_device(index);
            ADD_FAILURE() << "opened GPU " << index;
        } catch (const device_error& e) {
            EXPECT_EQ(e.failure(), device_failure::refused);
            EXPECT_EQ(std::string(e.what()).rfind("GPU " + std::to_string(index), 0), 0u) << e.what();
        }
    }
}

TEST(device_survey, an_architecture_is_named_as_compilers_name_it) {
    device_properties p;
    p.major = 9;
    EXPECT_EQ(p.architecture(), "sm_90");
    p.major = 12;
    p.minor = 1;
    EXPECT_EQ(p.architecture(), "sm_121");
}

// A kernel as PTX for every GPU that is supported; the driver translates it.
constexpr const char* ptx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .global .align 8 .f64 factor[2];
.extern .shared .align 8 .b8 row[];

// to[i] = from[i] * factor[1], by way of the end of a row of `bytes` in shared memory
.visible .entry scale(.param .u64 to, .param .u64 from, .param .u32 bytes)
{
    .reg .b32 %r<7>;
    .reg .b64 %l<6>;
    .reg .f64 %d<4>;
    ld.param.u64 %l1, [to];
    ld.param.u64 %l2, [from];
    ld.param.u32 %r5, [bytes];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %l3, %r4, 8;
    add.u64 %l1, %l1, %l3;
    add.u64 %l2, %l2, %l3;
    ld.global.f64 %d1, [%l2];
    shl.b32 %r6, %r3, 3;
    sub.u32 %r6, %r5, %r6;
    mov.u32 %r2, row;
    add.u32 %r6, %r6, %r2;
    st.shared.f64 [%r6+-8], %d1;
    bar.sync 0;
    ld.shared.f64 %d2, [%r6+-8];
    ld.global.f64 %d3, [factor+8];
    mul.f64 %d2, %d2, %d3;
    st.global.f64 [%l1], %d2;
    ret;
}

// to[i] = the double that stands at i in a texture
.visible .entry read_texture(.param .u64 to, .param .u64 image)
{
    .reg .b32 %r<8>;
    .reg .b64 %l<5>;
    ld.param.u64 %l1, [to];
    ld.param.u64 %l2, [image];
    mov.u32 %r1, %tid.x;
    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%l2, {%r1}];
    mov.b64 %l3, {%r2, %r3};
    mul.wide.u32 %l4, %r1, 8;
    add.u64 %l1, %l1, %l4;
    st.global.b64 [%l1], %l3;
    ret;
}

.visible .entry write_nowhere()
{
    .reg .b64 %l<2>;
    mov.u64 %l1, 16;
    st.global.u64 [%l1], %l1;
    ret;
}
)";

int usable(std::string& why_none) {
    const device_survey s = survey_devices();
    why_none = s.why_none;
    for (const auto& d : s.devices) {
        if (d.why_not.empty()) return d.properties.index;
        why_none += "GPU " + std::to_string(d.properties.index) + ": " + d.why_not + " ";
    }
    return -1;
}

class device_on_a_gpu : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_none;
        const int index = usable(why_none);
        if (index < 0) GTEST_SKIP() << why_none;
        on_ = open_device(index);
        numbers_.resize(4096);
        std::iota(numbers_.begin(), numbers_.end(), 1.0);
    }
    device& on() { return *on_; }
    std::size_t bytes() const { return numbers_.size() * sizeof(double); }

    std::vector<double> scaled(const launch& how) {
        device& d = on();
        const owned_module code(d, d.load(std::string(ptx) + '\0'));
        const kernel k = d.find(code.get(), "scale");
        device_memory in(d, bytes()), out(d, bytes());
        const owned_stream s = new_stream(d);
        const in_flight guard(d, {s.get()});
        const auto factor = d.variable(code.get(), "factor");
        EXPECT_EQ(factor.size(), 2 * sizeof(double));
        const double factors[] = {0, 3};
        d.upload(factor.data(), factors, sizeof factors, s.get());
        d.upload(in.as<void>(), numbers_.data(), bytes(), s.get());
        d.fill(out.as<void>(), 0xff, bytes(), s.get());
        const double* from = in.as<double>();
        double* to = out.as<double>();
        auto row_bytes = how.shared_bytes;
        void* arguments[] = {&to, &from, &row_bytes};
        launch full = how;
        if (full.persisting_bytes != 0) full.persisting = from;
        d.run(k, full, arguments, s.get());
        std::vector<double> result(numbers_.size());
        d.download(result.data(), to, bytes(), s.get());
        d.wait(s.get());
        return result;
    }
    std::vector<double> expected() const {
        std::vector<double> out = numbers_;
        for (double& x : out) x *= 3;
        return out;
    }

    std::unique_ptr<device> on_;
    std::vector<double> numbers_;
};

TEST_F(device_on_a_gpu, runs_kernels_with_as_much_shared_memory_as_it_has) {
    const auto blocks = static_cast<std::uint32_t>(numbers_.size() / 256);
    EXPECT_EQ(scaled({blocks, 256, 256 * 8, nullptr, 0}), expected());
    const auto most = static_cast<std::uint32_t>(on().properties().shared_bytes_per_block);
    EXPECT_GT(most, 48u * 1024);
    EXPECT_EQ(scaled({blocks, 256, most, nullptr, 0}), expected());
    try {
        scaled({blocks, 256, most + 1024, nullptr, 0});
        ADD_FAILURE() << "a launch with too much shared memory did not fail";
    } catch (const device_error& e) {
        EXPECT_EQ(e.failure(), device_failure::refused) << e.what();
    }
    EXPECT_EQ(scaled({blocks, 256, 256 * 8, nullptr, 0}), expected()) << "after a refused launch";
}

TEST_F(device_on_a_gpu, keeps_a_range_in_the_cache) {
    const auto blocks = static_cast<std::uint32_t>(numbers_.size() / 256);
    EXPECT_EQ(scaled({blocks, 256, 256 * 8, &numbers_, bytes()}), expected());
}

TEST_F(device_on_a_gpu, tells_what_a_kernel_takes) {
    const owned_module code(on(), on().load(std::string(ptx) + '\0'));
    const kernel k = on().find(code.get(), "scale");
    const auto small = on().attributes(k, {1, 256, 256 * 8, nullptr, 0});
    const auto large = on().attributes(
        k, {1, 256, static_cast<std::uint32_t>(on().properties().shared_bytes_per_block), nullptr, 0});
    EXPECT_GT(small.registers, 0);
    EXPECT_EQ(small.local_bytes, 0u);
    EXPECT_GT(small.blocks_per_multiprocessor, 1);
    EXPECT_EQ(large.blocks_per_multiprocessor, 1);
}

TEST_F(device_on_a_gpu, refuses_code_and_names_that_it_does_not_know) {
    // The driver may look at code only when a kernel is asked for by name.
    EXPECT_THROW(
        {
            const owned_module none(
                on(), on().load(std::string("no code at all, but long enough to be looked at\0", 49)));
            on().find(none.get(), "scale");
        },
        device_error);
    const owned_module code(on(), on().load(std::string(ptx) + '\0'));
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { on().find(code.get(), "missing"); }, [&] { on().variable(code.get(), "missing"); }}) {
        try {
            use();
            ADD_FAILURE() << "a missing name was found";
        } catch (const device_error& e) {
            EXPECT_EQ(e.failure(), device_failure::refused) << e.what();
        }
    }
}

TEST_F(device_on_a_gpu, reads_doubles_through_a_texture) {
    device& d = on();
    const owned_module code(d, d.load(std::string(ptx) + '\0'));
    const kernel k = d.find(code.get(), "read_texture");
    device_memory in(d, bytes()), out(d, bytes());
    const owned_texture image(d, d.open_texture(in.as<void>(), bytes(), texel::two_words));
    d.upload(in.as<void>(), numbers_.data(), bytes(), stream::standard);
    double* to = out.as<double>();
    auto handle = static_cast<std::uint64_t>(image.get());
    void* arguments[] = {&to, &handle};
    d.run(k, {1, 256, 0, nullptr, 0}, arguments, stream::standard);
    std::vector<double> result(256);
    d.download(result.data(), to, result.size() * sizeof(double), stream::standard);
    d.wait(stream::standard);
    EXPECT_EQ(result, std::vector<double>(numbers_.begin(), numbers_.begin() + 256));
    EXPECT_THROW(d.open_texture(in.as<void>(), std::size_t{1} << 40, texel::single), device_error);
}

TEST_F(device_on_a_gpu, says_that_memory_is_out_and_goes_on) {
    const std::size_t before = on().free_bytes();
    EXPECT_GT(before, 0u);
    try {
        on().allocate(on().properties().memory_bytes * 2);
        ADD_FAILURE() << "twice the memory was there";
    } catch (const device_error& e) {
        EXPECT_EQ(e.failure(), device_failure::out_of_memory) << e.what();
    }
    constexpr std::size_t large = std::size_t{256} << 20;
    {
        const device_memory m(on(), large);
        EXPECT_LT(on().free_bytes(), before);
    }
    on().wait(stream::standard);
    EXPECT_GT(on().free_bytes() + large / 4, before) << "what the pool keeps counts as free";
    const auto blocks = static_cast<std::uint32_t>(numbers_.size() / 256);
    EXPECT_EQ(scaled({blocks, 256, 256 * 8, nullptr, 0}), expected());
}

TEST_F(device_on_a_gpu, orders_streams_by_events) {
    device& d = on();
    const pinned_memory staging(d, bytes());
    EXPECT_NE(staging.on_device<void>(), nullptr);
    device_memory m(d, bytes());
    const owned_stream first = new_stream(d), second = new_stream(d);
    std::copy(numbers_.begin(), numbers_.end(), staging.as<double>());
    const owned_event begin = new_event(d, first.get());
    d.upload(m.as<void>(), staging.as<void>(), bytes(), first.get());
    const owned_event copied = new_event(d, first.get());
    d.wait_for(second.get(), copied.get());
    std::vector<double> back(numbers_.size());
    d.download(back.data(), m.as<void>(), bytes(), second.get());
    d.wait(second.get());
    EXPECT_EQ(back, numbers_);
    EXPECT_TRUE(d.has_happened(copied.get()));
    EXPECT_GE(d.milliseconds_between(begin.get(), copied.get()), 0);
}

TEST_F(device_on_a_gpu, is_used_by_many_threads) {
    const auto blocks = static_cast<std::uint32_t>(numbers_.size() / 256);
    std::vector<std::vector<double>> results(4);
    {
        std::vector<std::jthread> threads;
        for (auto& r : results) {
            threads.emplace_back([&, this] {
                for (int i = 0; i < 8; ++i) r = scaled({blocks, 256, 256 * 8, nullptr, 0});
            });
        }
    }
    for (const auto& r : results) EXPECT_EQ(r, expected());
}

// An illegal address destroys the process's context, so the test runs in a process of its own.
TEST_F(device_on_a_gpu, is_lost_for_good_by_a_wild_address) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto go_astray = [this] {
        device& d = on();
        const device_memory held(d, 1024);
        const owned_module code(d, d.load(std::string(ptx) + '\0'));
        const owned_stream s = new_stream(d);
        d.run(d.find(code.get(), "write_nowhere"), {}, {}, s.get());
        int code_of_exit = 1;
        try {
            d.wait(s.get());
        } catch (const device_error& e) {
            code_of_exit = e.failure() == device_failure::illegal_address ? 2 : 3;
        }
        try {
            d.allocate(1024);
        } catch (const device_error& e) {
            if (code_of_exit == 2 && e.is_final()) code_of_exit = 0;
        }
        return code_of_exit;
    };
    EXPECT_EXIT(std::exit(go_astray()), testing::ExitedWithCode(0), "");
}

}  // namespace

}  // namespace tilewalk::cuda::device_test
