// SPDX-License-Identifier: Apache-2.0
// The suite `tiles` (products of matrices) without a GPU: sizes, operation counts, the host's products, a
// device whose kernels do nothing, and loading cuBLAS.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/cublas_library.h"
#include "bench/measure/same_bits.h"
#include "bench/measure/suites.h"
#include "bench/suites/tiles.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/correlation.h"
#include "tests/benched.h"
#include "tests/fake_device.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_tiles_test {
namespace {

TEST(bench_tiles_tiles, fit_into_half_of_what_is_free) {
    for (const std::size_t assets : tiles::all_assets()) {
        for (const std::size_t bytes : {4u, 8u}) {
            for (const int shift : {20, 24, 28, 30, 33, 36}) {
                const std::size_t free = std::size_t{1} << shift;
                const auto size = tiles::size_for(assets, bytes, free);
                EXPECT_EQ(size.paths % 1024, 0u);
                EXPECT_LE((3 * size.paths * assets + (size.paths > 0 ? 2 * assets * assets : 0)) * bytes,
                          free / 2)
                    << assets << " assets, " << bytes << " bytes, " << free << " free";
            }
        }
    }
    // Expected sizes on a GPU with 80 GB: enough work to be timed, and less than a second of it.
    for (const std::size_t assets : tiles::all_assets()) {
        const auto size = tiles::size_for(assets, 8, std::size_t{79} << 30);
        EXPECT_GE(size.bytes(8), 1e8) << assets;
        EXPECT_LE(size.bytes(8), 1.1e9) << assets;
        EXPECT_LE(size.useful_flops(), 3.5e10) << assets;
    }
    EXPECT_EQ(tiles::size_for(4096, 8, 1 << 20).paths, 0u);
}

TEST(bench_tiles_tiles, count_two_operations_for_each_number_of_the_triangle) {
    EXPECT_EQ((tiles::product_size{1, 1024}.useful_flops()), 2 * 1024);
    EXPECT_EQ((tiles::product_size{4, 1}.useful_flops()), 2 * (1 + 2 + 3 + 4));
    EXPECT_EQ((tiles::product_size{4, 10}.bytes(8)), 2 * 4 * 10 * 8);
}

TEST(bench_tiles_tiles, publish_for_single_alone) {
    std::set<std::string> rows;
    for (const auto& v : cuda::correlation_variants()) {
        for (const std::size_t assets : tiles::all_assets()) {
            EXPECT_EQ(tiles::published_for(v.name, program::precision::double_, assets), "");
            if (!tiles::published_for(v.name, program::precision::single, assets).empty())
                rows.insert(std::string(v.name) + " " + std::to_string(assets));
        }
    }
    EXPECT_EQ(rows, (std::set<std::string>{"untiled 4096", "tiled_16_unrolled 4096"}));
}

TEST(bench_tiles_tiles, make_moves_on_the_host_by_hand) {
    program::move_numbers of;
    of.factors = 2;
    of.steps = 1;
    of.drifts = {0.5, -1};
    of.roots = {2, 3, 4};
    const std::vector<double> shocks{1, 10};
    EXPECT_EQ((tiles::moves_of_path<double>(of, shocks)), (std::vector<double>{2.5, 42}));
    EXPECT_EQ(tiles::square_roots<double>(of), (std::vector<double>{2, 0, 3, 4}));
    const auto product = tiles::product_of_path<double>(of, shocks);
    ASSERT_EQ(product.size(), 2u);
    EXPECT_EQ(product[0].exact, 2);
    EXPECT_EQ(product[1].exact, 43);
    EXPECT_GT(product[1].bound, 43 * 2e-16);
    EXPECT_LT(product[1].bound, 43 * 2e-15);
}

TEST(bench_tiles_tiles, bound_what_any_order_of_sums_may_give) {
    const auto of = tiles::some_numbers(300);
    ASSERT_EQ(of.roots.size(), 300u * 301 / 2);
    std::vector<float> shocks;
    for (int i = 0; i < 300; ++i) shocks.push_back(static_cast<float>(std::sin(1 + i * 1.7)));
    const auto exact = tiles::product_of_path<float>(of, shocks);
    const auto root = tiles::square_roots<float>(of);
    double worst = 0;
    for (std::size_t i = 0; i < 300; ++i) {
        float backward = 0;
        for (std::size_t j = 300; j-- > 0;) backward += shocks[j] * root[i * 300 + j];
        const auto off = static_cast<double>(std::abs(backward - exact[i].exact) / exact[i].bound);
        worst = std::max(worst, off);
        EXPECT_LE(off, 1) << i;
    }
    // A result with half of single's mantissa, as of tensor cores, exceeds the bound.
    const float rough =
        static_cast<float>(exact[299].exact) + std::abs(static_cast<float>(exact[299].bound)) * 1.01f;
    EXPECT_GT(std::abs(rough - exact[299].exact), exact[299].bound);
    EXPECT_GT(worst, 0);
}

TEST(bench_tiles_tiles, compare_compiles_without_spills) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const char* architecture : {"sm_80", "sm_90"}) expect_clean(compare_text(), architecture);
}

struct idle_gpu {
    std::shared_ptr<cuda::fake_gpu> gpu = std::make_shared<cuda::fake_gpu>();
    cuda::text_compiler compiler;
    cuda::kernel_store store{compiler, {}};
    gpu_timer on{std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)),
                 store,
                 open_clocks(""),
                 {0.5, 1, 1, 0}};

    std::vector<row> rows() {
        std::vector<row> out;
        suite_named("tiles").run(on, {}, [&](row r) { out.push_back(std::move(r)); });
        return out;
    }
};

TEST(bench_tiles_tiles, of_kernels_that_do_nothing_are_wrong) {
    idle_gpu idle;
    idle.gpu->memory_bytes = std::size_t{64} << 20;
    const auto rows = idle.rows();
    EXPECT_EQ(rows.size(), tiles::all_assets().size() * 2 * (cuda::correlation_variants().size() + 2));
    std::set<std::string> keys;
    std::size_t wrong = 0;
    for (const row& r : rows) {
        EXPECT_FALSE(r.is_result()) << key_of(r);
        EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
        wrong += !r.wrong.empty();
        if (r.axes["assets"] == 4096) {
            EXPECT_NE(r.skipped.find("memory"), std::string::npos) << key_of(r);
        }
    }
    EXPECT_GE(wrong, 8 * cuda::correlation_variants().size());
    EXPECT_EQ(idle.gpu->faults, std::vector<std::string>{});
}

TEST(bench_tiles_tiles, end_with_a_device_that_is_lost) {
    idle_gpu idle;
    idle.gpu->memory_bytes = std::size_t{64} << 20;
    idle.gpu->failures = {{"run", 5, cuda::device_failure::lost}};
    EXPECT_THROW(idle.rows(), cuda::device_error);
}

TEST(bench_tiles_cublas, is_refused_where_it_is_another_library) {
    for (const std::string library : {"libm.so.6", "no_such_library.so"}) {
        try {
            open_cublas(std::array{library});
            ADD_FAILURE() << library;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::device);
            EXPECT_NE(e.message().find(library), std::string::npos) << e.message();
            EXPECT_EQ(e.message().find("lacks functions") != std::string::npos, library == "libm.so.6")
                << e.message();
        }
    }
}

TEST(bench_tiles_cublas, has_all_functions_where_there_is_one) {
    try {
        const cublas_functions& f = cublas_of_machine();
        EXPECT_NE(f.cublasSgemm_v2, nullptr);
        EXPECT_NE(f.cublasDtrmm_v2, nullptr);
    } catch (const error& e) {
        GTEST_SKIP() << e.message();
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_tiles_test
