// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of kernels through the run-time compiler)
// Compiles every feed (prefetch strategy) in a small path kernel: no spills, no stack frame, the instructions
// that characterise the feed, and as many copies of the step's code as it should have.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/device/spaces.h"
#include "tests/known_kernels.h"

namespace feed_kernels_test {

using namespace tilewalk;

namespace {

struct feed_kernel {
    std::string feed;
    std::string shock = "double";
    int slots = 1;
    int width = 1;
    int threads = 256;
    int distance = 8;
    int rows = 4;
    std::string layout = "padded";
    std::string space = "read_only";
    std::string row_space = "read_only";
    int l2_bytes = 0;
    int streams = 1;          // streams of each kind; slots take them in turn
    std::string defect = {};  // source of a feed, in place of a known one
};

std::string text_of(const feed_kernel& k) {
    const auto& feed = cuda::feed_named(k.feed);
    const auto& space = cuda::space_named(k.space);
    const auto& row_space = cuda::space_named(k.row_space);
    const int normals = (k.slots + 1) / 2;
    const std::string source = feed.makes_use_of(cuda::feed_entry::array)
                                   ? fmt::format("arrays<shape, {}, spaces::{}>", normals, space.type)
                                   : fmt::format(
                                         "feeds::random_draws<{}_draws, kernels::program::normal_slots, "
                                         "kernels::program::uniform_slots>",
                                         k.shock == "double" ? "double" : "single");
    const auto slots_of = [&](int count) {
        std::string streams;
        for (int slot = 0; slot < count; ++slot)
            streams += (slot > 0 ? ", " : "") + std::to_string(slot % k.streams);
        return "stream_slots<" + streams + ">";
    };
    std::string includes;
    for (const std::string_view header :
         {std::string_view("kernels/draws.h"), std::string_view("kernels/operations.h"),
          std::string_view("kernels/path_kernel.h"), std::string_view("kernels/reductions/tree.h"),
          space.header, row_space.header})
        includes += fmt::format("#include \"{}\"\n", header);
    includes += fmt::format("#include \"{}\"\n", feed.header());
    return fmt::format(
        R"({includes}
namespace tilewalk::kernels {{
{defect}
struct program {{
    using normal_slots = {normal_slots};
    using uniform_slots = {uniform_slots};
    static constexpr int states = 3, terms = 2, sections = 2, scenarios = 0, step_nodes = 8,
                         output = 2;
    static constexpr int row_width(int k) {{ return k == 0 ? 2 : 1; }}
    // A note in the PTX marks each copy of the step.
    template <int k, class real, class shock, class row_numbers, class numbers>
    static void section(real (&s)[states], const shock* z, const row_numbers& row, const numbers& term) {{
        if constexpr (k == 0) {{
            real sum = row[0];
            for (int slot = 0; slot < {slots}; ++slot) sum = sum + term[0] * real(z[slot]);
            s[0] = s[0] + sum;
            s[1] = kernels::floor(s[1] + s[0] * row[1]);
            asm volatile("// a copy of the step");
        }} else {{
            s[2] = kernels::max(real(0), s[1] * row[0] - term[1]);
        }}
    }}
}};
struct choice {{
    using real = {shock};
    using program = kernels::program;
    using shape = feed_shape<{shock}, {slots}, {width}, {threads}, {distance}, {rows}, ring_layout::{layout}, -1, {l2}>;
    using memory = thread_memory<spaces::{space}>;
    using numbers = numbers_in_memory<real, spaces::{row_space}>;
    using source = {source};
    using feed = feeds::{type}<shape, memory>;
    using reduction = reductions::tree<{threads}>;
}};
}}  // namespace tilewalk::kernels
// One block a multiprocessor at least: without that ptxas spills where it hopes to gain occupancy.
extern "C" __global__ void __launch_bounds__({threads}, 1)
walk(const __grid_constant__ tilewalk::kernels::path_arguments a) {{
    extern __shared__ __align__(128) char shared[];
    tilewalk::kernels::walk_tile<tilewalk::kernels::choice>(a, shared);
}}
)",
        fmt::arg("includes", includes), fmt::arg("defect", k.defect), fmt::arg("slots", k.slots),
        fmt::arg("shock", k.shock), fmt::arg("width", k.width), fmt::arg("threads", k.threads),
        fmt::arg("distance", k.distance), fmt::arg("rows", k.rows), fmt::arg("layout", k.layout),
        fmt::arg("l2", k.l2_bytes), fmt::arg("space", space.type), fmt::arg("row_space", row_space.type),
        fmt::arg("source", source), fmt::arg("normal_slots", slots_of(normals)),
        fmt::arg("uniform_slots", slots_of(k.slots - normals)),
        fmt::arg("type", k.defect.empty() ? feed.type() : "defect"));
}

// A PTX instruction that the kernel of a feed must have, `least` to `most` times.
struct promise {
    std::string_view instruction;
    int least = 1;
    int most = 1 << 20;
};

void expect_kernel(const feed_kernel& k, const std::string& architecture,
                   const std::vector<promise>& promises) {
    std::vector<std::string> instructions;
    for (const auto& p : promises) instructions.emplace_back(p.instruction);
    const auto got = tests::facts_of({text_of(k), architecture}, instructions);
    const std::string words =
        fmt::format("{} {} slots {} width {} threads {} distance {} {} on {}", k.feed, k.shock, k.slots,
                    k.width, k.threads, k.distance, k.space, architecture);
    EXPECT_TRUE(got.is_in_registers()) << words << '\n' << got;
    EXPECT_EQ(got.warnings, 0) << words << '\n' << got;
    for (std::size_t i = 0; i < promises.size(); ++i) {
        const int found = got.words.at(i);
        EXPECT_TRUE(found >= promises[i].least && found <= promises[i].most)
            << words << ": " << promises[i].instruction << " stands " << found << " times";
    }
}

class feed_kernels : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
};

// With double shocks: one a step, one path a thread, distance 8. The compiler chooses the type after v2.
std::vector<promise> promises_in_double(std::string_view feed) {
    const std::string_view step = "// a copy of the step", load = "ld.global.nc.v2.";
    const promise once{step, 1, 1};
    const promise with_rest{step, 8, 15};  // the steps left at the end may be laid out, too
    if (feed == "none") return {once, {load, 1, 1}};
    if (feed == "unroll") return {with_rest, {load, 8, 15}};
    if (feed == "register_batched") return {{step, 8, 8}, {load, 8, 8}};
    if (feed == "register_rolling") return {{step, 8, 8}, {load, 16, 16}};
    if (feed == "smem_batched") return {once, {load, 8, 8}};
    if (feed == "smem_rolling") return {once, {load, 2, 2}};
    if (feed == "smem_rolling_async")
        return {once,
                {"cp.async.ca.shared.global [", 2, 2},
                {", 8;", 2},
                {"cp.async.wait_group 7;", 1, 1},
                {"cp.async.commit_group;", 2, 2}};
    if (feed == "l2_prefetch") return {once, {"prefetch.global.L2 [", 2, 2}};
    if (feed == "l2_hint") return {with_rest, {"ld.global.L2::256B.v2.b32", 8, 15}};
    if (feed == "bulk_async")
        return {once,
                {"cp.async.bulk.shared::cluster.global.mbarrier", 2, 2},
                {"mbarrier.try_wait.parity", 1, 1}};
    // Draws two steps at a time, in a loop for groups without events and in a loop for the others.
    if (feed == "inline") return {{step, 4, 4}};
    return {{"a feed without promises"}};
}

// Expected with float shocks: three a step, four paths a thread, so one access of 16 bytes per shock. The
// step's code occurs once for each path.
std::vector<promise> promises_in_single(std::string_view feed) {
    const promise once{"// a copy of the step", 4, 4};
    if (feed == "none") return {once, {"ld.global.nc.v4.", 3, 3}};
    if (feed == "smem_rolling")
        return {once, {"ld.global.nc.v4.", 6, 6}, {"st.shared.v4.", 6, 6}, {"ld.shared.v4.", 3, 3}};
    if (feed == "smem_rolling_async")
        return {once, {"cp.async.cg.shared.global.L2::128B [", 6, 6}, {"ld.shared.v4.", 3, 3}};
    if (feed == "l2_prefetch") return {once, {"prefetch.global.L2 [", 6, 6}};
    if (feed == "l2_hint") return {{"ld.global.L2::128B.v4.b32", 15, 27}};
    if (feed == "bulk_async") return {once, {"ld.shared.v4.", 3, 3}};
    return {};
}

}  // namespace

TEST_F(feed_kernels, keep_to_registers_and_say_what_they_do) {
    for (const auto& feed : cuda::feeds()) {
        const std::string name(feed.name);
        // Rows are put into constant memory, so that all loads from global memory are of shocks.
        const feed_kernel in_double{.feed = name, .row_space = "constant"};
        if (feed.least_compute_capability <= 80) expect_kernel(in_double, "sm_80", promises_in_double(name));
        expect_kernel(in_double, "sm_90", promises_in_double(name));
        expect_kernel({.feed = name,
                       .shock = "float",
                       .slots = 3,
                       .width = 4,
                       .threads = 64,
                       .distance = 5,
                       .rows = 12,
                       .layout = "transposed",
                       .row_space = "global",
                       .l2_bytes = 128},
                      "sm_90", promises_in_single(name));
    }
}

// Keys of a trade's streams, two words each, are loaded by one instruction and stay in registers.
TEST_F(feed_kernels, keep_the_keys_of_streams_in_registers) {
    for (const int streams : {1, 2, 3}) {
        for (const int width : {1, 2}) {
            const feed_kernel in_double{
                .feed = "inline", .slots = 6, .width = width, .row_space = "constant", .streams = streams};
            feed_kernel in_single = in_double;
            in_single.shock = "float";
            const int keys = 2 * streams;
            expect_kernel(in_double, "sm_90", {{"ld.global.nc.v2.", keys, keys}});
            expect_kernel(in_single, "sm_90", {{"ld.global.nc.v2.", keys, keys}});
        }
    }
}

TEST_F(feed_kernels, read_every_space) {
    for (const auto& space : cuda::spaces()) {
        const std::string name(space.name);
        feed_kernel k{.feed = "none", .row_space = name};
        if (space.holds_paths) k.space = name;
        std::vector<promise> promises;
        if (name == "constant") promises = {{"tilewalk_rows[61440]", 1, 1}, {"ld.const.", 3}};
        if (name == "texture") promises = {{"tex.1d.v4.u32.s32", 4}};
        if (name == "global") promises = {{"ld.global.nc.", 4, 4}};  // loads at starts of rows and of events
        if (name == "read_only") promises = {{"ld.global.nc.", 5}};
        expect_kernel(k, "sm_90", promises);
        k.shock = "float";
        k.width = 4;
        k.threads = 128;
        expect_kernel(k, "sm_80", {});
    }
}

// A ring in registers that is indexed at run time is moved to local memory, which must be noticed.
TEST_F(feed_kernels, a_ring_that_is_no_longer_in_registers_is_found) {
    feed_kernel k{.feed = "register_rolling"};
    k.defect = R"(
namespace feeds {
template <class shape, class memory>
struct defect {
    static constexpr word32 shared_bytes() { return 0; }
    template <class source, class body>
    static void walk(const source& from, int steps, memory at, const body& use) {
        shocks_of_step<shape> ring[shape::distance]{};
        for (int k = 0; k < shape::distance && k < steps; ++k) ring[k] = load_shocks<shape>(at, from, k);
        rolled(0, steps, [&](int step) {
            const auto z = ring[step % shape::distance];
            if (step + shape::distance < steps)
                ring[step % shape::distance] = load_shocks<shape>(at, from, step + shape::distance);
            use(step, z);
        });
    }
};
}  // namespace feeds
)";
    EXPECT_FALSE(tests::facts_of({text_of(k), "sm_90"}).is_in_registers());
}

}  // namespace feed_kernels_test
