// SPDX-License-Identifier: Apache-2.0
// Tables of compiled and of tuned kernels: all words of the table for people, and the columns for programs.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tilewalk/columns.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/write.h"

namespace kernel_tables_test {
namespace {

using namespace tilewalk;

std::vector<warmed_kernel> warmed() {
    return {{"walk_1", {"asian", "barrier"}, "sm_90", false, 2.345, 50'949, ""},
            {"fill_points_12", {"asian"}, "sm_100f", true, 0, 1'234'567, ""},
            {"walk\n2", {}, "sm_80", false, 1234.5, 0, "no compiler"}};
}

std::vector<tuned_kernel> tuned() {
    std::vector<tuned_kernel> out(3);
    out[0] = {"walk_1", {"asian", "barrier"}, "none", "smem x 4", 1.25, 0.5, 4096, 12,
              1.55,     "/cache/a.json",      ""};
    out[1] = {"walk_2", {}, "none", "none", 12345.6789, 12345.6789, 1024, 1, 2, "/cache/b.json", ""};
    out[2] = {"walk_3", {"phoenix"}, "none", "", 0, 0, 0, 0, 0, "", "other bits"};
    return out;
}

std::size_t place_of(const column_table& table, std::string_view name) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].name == name) return i;
    ADD_FAILURE() << "no column " << name;
    return 0;
}

std::string text_at(const column_table& table, std::size_t row, std::string_view column) {
    const cell at = table.at(row, place_of(table, column));
    if (const auto* view = std::get_if<std::string_view>(&at)) return std::string(*view);
    return std::get<std::string>(at);
}

cell cell_at(const column_table& table, std::size_t row, std::string_view column) {
    return table.at(row, place_of(table, column));
}

TEST(kernel_tables, warmed_kernels_are_told_and_counted) {
    EXPECT_EQ(kernel_table(warmed()),
              "walk_1          sm_90    compiled      2.35 s    50.9 kB  asian, barrier\n"
              "fill_points_12  sm_100f  from cache    0.00 s  1234.6 kB  asian\n"
              "walk\\x0a2       sm_80    FAILED      1234.50 s             \n"
              "  no compiler\n"
              "3 kernels: 1 compiled, 1 from the cache, 1 failed; 1.3 MB of machine code\n");
    const std::vector<warmed_kernel> kernels = warmed();
    EXPECT_TRUE(kernel_table(std::span(kernels).first(1), 9.5)
                    .ends_with("\n1 kernel: 1 compiled, 0 from the cache, 0 failed; 0.1 MB of machine code, "
                               "in 9.50 s\n"));
    const column_table table = kernel_columns(kernels);
    ASSERT_EQ(table.rows, 3U);
    const char* outcomes[] = {"compiled", "from cache", "failed"};
    for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(text_at(table, row, "kernel"), kernels[row].name);
        EXPECT_EQ(text_at(table, row, "architecture"), kernels[row].architecture);
        EXPECT_EQ(text_at(table, row, "outcome"), outcomes[row]);
        EXPECT_EQ(text_at(table, row, "message"), kernels[row].failure);
        EXPECT_EQ(cell_at(table, row, "seconds"), cell(kernels[row].seconds));
        EXPECT_EQ(cell_at(table, row, "bytes"),
                  row == 2 ? cell() : cell(static_cast<std::int64_t>(kernels[row].bytes)));
    }
    EXPECT_EQ(text_at(table, 0, "products"), "asian, barrier");
}

TEST(kernel_tables, products_left_out_for_one_reason_share_a_line) {
    const warmed_library library{{warmed().front()},
                                 {{"exchange", "it takes 2 assets"},
                                  {"asset\tX", "it has no volatility"},
                                  {"spread", "it takes 2 assets"}}};
    EXPECT_EQ(kernel_table(library),
              "walk_1  sm_90    compiled      2.35 s    50.9 kB  asian, barrier\n"
              "no kernel for exchange, spread: it takes 2 assets\n"
              "no kernel for asset\\x09X: it has no volatility\n"
              "1 kernel: 1 compiled, 0 from the cache, 0 failed; 0.1 MB of machine code\n");
}

TEST(kernel_tables, tuned_kernels_are_told_with_what_was_gained) {
    EXPECT_EQ(kernel_table(tuned()),
              "walk_1  asian, barrier\n"
              "  by the rules     1.2500 ms  none\n"
              "  fastest          0.5000 ms  smem x 4: 2.50 times as fast\n"
              "  12 ways, 4096 paths a trade, timed for 1.6 s; kept in /cache/a.json\n"
              "walk_2\n"
              "  by the rules  12345.6789 ms  none\n"
              "  and nothing was faster\n"
              "  1 ways, 1024 paths a trade, timed for 2.0 s; kept in /cache/b.json\n"
              "walk_3  phoenix\n"
              "  FAILED: other bits\n"
              "3 kernels: 1 made faster, 1 failed\n");
    const std::vector<tuned_kernel> kernels = tuned();
    const column_table table = kernel_columns(kernels);
    ASSERT_EQ(table.rows, 3U);
    EXPECT_EQ(cell_at(table, 0, "times_as_fast"), cell(2.5));
    EXPECT_EQ(cell_at(table, 1, "times_as_fast"), cell(1.0));
    EXPECT_EQ(cell_at(table, 0, "ways"), cell(std::int64_t{12}));
    for (const char* name : {"times_as_fast", "by_the_rules_milliseconds", "fastest_milliseconds"})
        EXPECT_EQ(cell_at(table, 2, name), cell()) << name << " of a kernel that failed";
    EXPECT_EQ(text_at(table, 2, "message"), "other bits");
    EXPECT_EQ(text_at(table, 0, "kept_in"), "/cache/a.json");
}

TEST(kernel_tables, architectures_and_times_have_bounds) {
    EXPECT_NO_THROW(check_architectures({"sm_80", "sm_90a", "sm_100", "sm_120f"}, "--arch"));
    for (const char* wrong : {"", "90", "sm_", "sm_9", "sm_1000", "sm_90b", "SM_90", "sm_9x", "compute_90"}) {
        try {
            check_architectures({"sm_90", wrong}, "--arch");
            ADD_FAILURE() << "took " << wrong;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_EQ(std::string(e.what()),
                      "--arch: found '" + std::string(wrong) + "', expected an architecture such as sm_90");
        }
    }
    for (const double right : {1e-9, 2.0, 3600.0}) EXPECT_TRUE(is_tuning_time(right)) << right;
    for (const double wrong : {0.0, -1.0, 3600.1, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(is_tuning_time(wrong)) << wrong;
    EXPECT_EQ(expected_tuning_time(), "a number above 0, up to 3600");
}

}  // namespace

}  // namespace kernel_tables_test
