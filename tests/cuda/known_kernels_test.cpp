// SPDX-License-Identifier: Apache-2.0
// The ledger of kernels (tests/data/kernels.txt): an unknown kernel is compiled, a wrong line is found, and
// the digest covers all that registers and instructions depend on.
#include "tests/known_kernels.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_headers.h"
#include "tests/own_folder.h"

namespace tilewalk::tests::known_kernels_test {
namespace {

const cuda::compile_request spilling{
    "#include \"kernels/ptx.h\"\n"
    R"(extern "C" __global__ void __launch_bounds__(1024, 2) kernel(double* x) {
    double z[48];
    for (int i = 0; i < 48; ++i) z[i] = x[i];
    for (int i = 0; i < 48; ++i) {
        for (int j = 0; j < 48; ++j) z[j] = z[j] * z[i] + z[(j + 7) % 48];
    }
    for (int i = 0; i < 48; ++i) x[i] = z[i];
}
)",
    "sm_90"};

kernel_digests with_line_in(std::string_view changed, const std::string& line) {
    std::vector<std::string> texts;
    std::vector<cuda::kernel_header> headers;
    for (const auto& header : cuda::kernel_headers())
        texts.push_back(std::string(header.text) + (header.name == changed ? line : ""));
    for (const auto& header : cuda::kernel_headers()) headers.push_back({header.name, texts[headers.size()]});
    return kernel_digests(headers);
}

class known_kernels : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    }
    kernel_ledger with_line(const std::string& line, const std::string& how = "") const {
        return {folder_.write("kernels.txt", "# A ledger.\n" + line + "\n"), how};
    }
    const own_folder folder_;
    const std::string digest_ = kernel_digests().of(spilling, {});
};

TEST_F(known_kernels, a_spill_is_found_where_the_ledger_does_not_know_it) {
    const kernel_facts got = kernel_ledger(folder_ / "missing", "").facts_of(spilling, {});
    EXPECT_FALSE(got.is_in_registers()) << got;
    EXPECT_GT(got.spill_stores, 0) << got;
}

TEST_F(known_kernels, a_spill_is_told_by_the_ledger) {
    const kernel_facts got = with_line(digest_ + " 1 32 8 4 12 0 0 0").facts_of(spilling, {});
    EXPECT_EQ(got.stack_bytes, 8);
    EXPECT_EQ(got.spill_stores, 4);
    EXPECT_EQ(got.spill_loads, 12);
    EXPECT_FALSE(got.is_in_registers());
}

TEST_F(known_kernels, a_line_that_lies_is_found_when_it_is_ignored) {
    const std::string lie = digest_ + " 1 32 0 0 0 0 0 0";
    EXPECT_TRUE(with_line(lie).facts_of(spilling, {}).is_in_registers());
    EXPECT_THROW(with_line(lie, "ignore").facts_of(spilling, {}), std::runtime_error);
}

TEST_F(known_kernels, are_those_of_the_file_unless_it_is_ignored) {
    const std::string line = digest_ + " 1 32 8 4 12 0 0 0";
    EXPECT_TRUE(with_line(line).knows(spilling, {}));
    EXPECT_FALSE(with_line(line).knows(spilling, {"fma."}));
    EXPECT_FALSE(with_line(line, "ignore").knows(spilling, {}));
    EXPECT_FALSE(kernel_ledger(folder_ / "missing", "").knows(spilling, {}));
}

TEST_F(known_kernels, what_is_asked_for_is_written_and_known_from_then_on) {
    const auto asked = folder_ / "asked";
    const kernel_facts made = kernel_ledger(folder_ / "missing", asked).facts_of(spilling, {"fma.rn.f64"});
    EXPECT_NE(made.log.find("ptxas"), std::string::npos);
    const kernel_facts known = kernel_ledger(asked, "").facts_of(spilling, {"fma.rn.f64"});
    EXPECT_EQ(known.log.find("ptxas"), std::string::npos);
    EXPECT_EQ(known.registers, made.registers);
    EXPECT_EQ(known.spill_loads, made.spill_loads);
    EXPECT_EQ(known.words, made.words);
    EXPECT_NO_THROW(kernel_ledger(asked, "ignore").facts_of(spilling, {"fma.rn.f64"}));
}

TEST_F(known_kernels, a_digest_changes_with_what_the_facts_follow_from) {
    EXPECT_EQ(kernel_digests().of(spilling, {}), digest_);
    EXPECT_NE(kernel_digests().of(spilling, {"fma."}), digest_);
    cuda::compile_request other = spilling;
    other.architecture = "sm_80";
    EXPECT_NE(kernel_digests().of(other, {}), digest_);
    other = spilling;
    other.text += '\n';
    EXPECT_NE(kernel_digests().of(other, {}), digest_);
    other = spilling;
    other.headers = {{"/a/toolkit"}, "its digest"};
    EXPECT_NE(kernel_digests().of(other, {}), digest_);
}

TEST_F(known_kernels, a_digest_changes_with_a_header_that_is_included_and_with_no_other) {
    const std::string line = "inline constexpr int more = 1;\n";
    EXPECT_NE(with_line_in("kernels/ptx.h", line).of(spilling, {}), digest_);
    EXPECT_NE(with_line_in("kernels/arguments.h", line).of(spilling, {}), digest_);  // ptx.h includes it
    EXPECT_EQ(with_line_in("kernels/way_back/kernel.h", line).of(spilling, {}), digest_);
    EXPECT_EQ(with_line_in("kernels/ptx.h", "  // A comment.\n").of(spilling, {}), digest_);
}

TEST_F(known_kernels, a_file_that_is_no_ledger_is_refused) {
    EXPECT_THROW(with_line("<<<<<<< ours"), std::runtime_error);
    EXPECT_THROW(with_line(digest_), std::runtime_error);
    EXPECT_THROW(with_line(digest_ + " 1 32 0 0 0 0 0"), std::runtime_error);
    EXPECT_THROW(with_line(digest_ + " 1 32 0 0 0 0 0 0 x"), std::runtime_error);
    const std::string line = digest_ + " 1 32 0 0 0 0 0 0";
    EXPECT_THROW(with_line(line + "\n" + digest_ + " 1 32 8 0 0 0 0 0"), std::runtime_error);
    EXPECT_NO_THROW(with_line(line + "\n" + line));  // a merge in git may leave a line twice
    EXPECT_THROW(with_line(line, "ingore"), std::invalid_argument);
}

}  // namespace
}  // namespace tilewalk::tests::known_kernels_test
