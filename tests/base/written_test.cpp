// SPDX-License-Identifier: Apache-2.0
// Written YAML: lines are broken at the right places, and the text reads back as the same values.
#include <gtest/gtest.h>

#include <string>

#include "tilewalk/value.h"

namespace tilewalk::written_test {
namespace {

value two(std::size_t letters) {
    return value::list({std::string(letters, 'x'), "z"});
}

// Beside its two words a line has 10 characters: indentation, key, brackets, comma and blanks. A continuation
// line is indented by four columns from the key.
TEST(written, a_line_has_110_columns_at_most) {
    const auto inside = [](std::size_t letters) {
        return value::mapping({{"a", value::mapping({{"b", two(letters)}})}});
    };
    const std::string fits = "  b: [" + std::string(100, 'x') + ", z]";
    EXPECT_EQ(fits.size(), 110u);
    EXPECT_EQ(inside(100).yaml(), "a:\n" + fits + "\n");
    EXPECT_EQ(inside(101).yaml(), "a:\n  b: [" + std::string(101, 'x') + ",\n      z]\n");
    for (const std::size_t letters : {100u, 101u})
        EXPECT_EQ(value::parse(inside(letters).yaml()), inside(letters)) << letters;
}

TEST(written, a_list_alone_goes_on_at_the_margin) {
    EXPECT_EQ(two(105).yaml(), "[" + std::string(105, 'x') + ", z]\n");
    EXPECT_EQ(two(106).yaml(), "[" + std::string(106, 'x') + ",\nz]\n");
}

}  // namespace
}  // namespace tilewalk::written_test
