// SPDX-License-Identifier: Apache-2.0
// Base class of tests that need a GPU: skipped without one, or failed if TILEWALK_REQUIRE_GPU is set.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/error.h"

namespace tilewalk::tests {

class on_a_gpu : public ::testing::Test {
  protected:
    static bool is_required() { return std::getenv("TILEWALK_REQUIRE_GPU") != nullptr; }
    void SetUp() override {
        try {
            chosen_ = gpus_.choose(is_required() ? "0" : "auto");
        } catch (const error&) {
            if (is_required()) throw;
        }
        if (chosen_.devices.empty()) GTEST_SKIP() << "no GPU";
    }

    cuda::backend gpus_;
    cuda::backend::choice chosen_;
};

}  // namespace tilewalk::tests
