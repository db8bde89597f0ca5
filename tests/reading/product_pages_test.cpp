// SPDX-License-Identifier: Apache-2.0
// The generated page of a product has everything that the product declares.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tilewalk/products.h"

namespace tilewalk::product_pages_test {
namespace {

TEST(product_pages, tell_all_that_a_product_says) {
    const std::string script = "on maturity:\n    pay a * spot(underlying) + b\n";
    const product_page page = read_product_page(R"(product: mine
summary: One line.
description: More of it.
formula: a S + b
parameters:
  underlying: {type: asset, help: The asset.}
  maturity: {type: date, help: The end.}
  a: {type: number, above: 0.5, maximum: 2, help: How often.}
  b: {type: number, minimum: -1, below: 3, default: 0.25, help: How much.}
example: {underlying: ACME, maturity: 1, a: 1}
script: |
  on maturity:
      pay a * spot(underlying) + b
)",
                                                "mine.yaml");
    EXPECT_EQ(page.name, "mine");
    EXPECT_EQ(page.summary, "One line.");
    EXPECT_EQ(page.description, "More of it.");
    EXPECT_EQ(page.formula, "a S + b");
    EXPECT_EQ(page.script, script);
    EXPECT_NE(page.example.find("ACME"), std::string::npos);
    ASSERT_EQ(page.parameters.size(), 4U);
    const product_parameter &a = page.parameters[2], &b = page.parameters[3];
    EXPECT_EQ(a.range, "> 0.5, <= 2");
    EXPECT_EQ(a.default_value, "");
    EXPECT_EQ(a.help, "How often.");
    EXPECT_EQ(b.range, ">= -1, < 3");
    EXPECT_EQ(b.default_value, "0.25");
}

TEST(product_pages, stand_in_the_order_of_their_names) {
    const std::vector<product_page> all = product_pages();
    EXPECT_TRUE(std::ranges::is_sorted(all, {}, &product_page::name));
    EXPECT_GE(all.size(), 64U);
}

}  // namespace
}  // namespace tilewalk::product_pages_test
