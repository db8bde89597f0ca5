// SPDX-License-Identifier: Apache-2.0
// Pricing asks the kernel store for its shock kernels, and the device for their occupancy, once for a run and
// not for each trade.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engine/walk/cuda/device/backend.h"
#include "tests/fake_backend.h"
#include "tests/fake_device.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::asked_kernels_test {
namespace {

struct asked {
    std::uint64_t of_store = 0;  // requests for a kernel that was asked for before
    int of_device = 0;
};
asked asked_for(int trades) {
    std::string text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets: {A: {currency: USD, spot: 100, volatility: 0.2}}
trades:
)";
    for (int i = 0; i < trades; ++i) {
        const std::string number = std::to_string(i + 5);
        text += "  - {id: t" + number + ", product: asian, underlying: A, strike: 100, " +
                "averaging_dates: {start: 0, end: 1, count: " + number + "}}\n";
    }
    run_options with;
    with.overrides.device = "cuda";
    with.overrides.random = "sobol";
    with.overrides.construction = construction::bridge;
    with.overrides.controls = technique::none;
    with.overrides.paths = 4096;
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    cuda::text_compiler compiler;
    const auto gpus = tests::backend_on({gpu}, compiler);
    const results priced = studies::engine_on(gpus).price(book::parse(text), with);
    EXPECT_EQ(priced.rows.size(), static_cast<std::size_t>(trades));
    EXPECT_GT(gpu->calls["run"], trades);
    EXPECT_EQ(gpu->report(), "");
    return {gpus->kernels().so_far().from_memory, gpu->calls["attributes"]};
}

TEST(asked_kernels, are_as_many_for_many_trades) {
    const asked few = asked_for(2), many = asked_for(12);
    EXPECT_EQ(many.of_store, few.of_store);
    EXPECT_LT(many.of_device, few.of_device + 10);
}

}  // namespace
}  // namespace tilewalk::asked_kernels_test
