// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the examples of FIPS 180-4, and for lengths around the end of a block of 64 bytes.
#include "engine/base/digest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tilewalk::config::digest_test {
namespace {

TEST(digest, is_that_of_the_standards_messages) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

// Expected digests of a repeated alphabet are from Python's hashlib. SHA-256 appends an end bit and a length
// of 8 bytes, so 55 bytes of text fill one block and 56 need a second.
TEST(digest, is_right_about_the_edges_of_a_block) {
    const std::vector<std::pair<std::size_t, std::string>> known{
        {55, "595615dbe4f0f407ae397d08b4c2cb870cb9b0e11937416f950c5160acf9c005"},
        {56, "784f623b787495078e93ff28a25b581df0584055a7e71d8cd90c454716b92f51"},
        {63, "5ca3e1ef5207490eac01a795e5cc94d59582a5118bf9534665c8668d87aa647c"},
        {64, "2fcd5a0d60e4c941381fcc4e00a4bf8be422c3ddfafb93c809e8d1e2bfffae8e"},
        {65, "1b3cd1877ab2f2f19f7be001722554f336cb799df0329de0bb4c118dc6abc06d"},
        {1000, "915e53a44c18b19bb06ba5b3f5fcaf1dc4651e8404c63425cfc6174e74659d87"}};
    for (const auto& [bytes, digest] : known) {
        std::string text;
        for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>('a' + i % 26);
        EXPECT_EQ(sha256(text), digest) << bytes;
    }
}

TEST(digest, changes_with_each_byte) {
    const std::string text(70, 'x');
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = 'y';
        EXPECT_NE(sha256(other), sha256(text)) << i;
    }
}

}  // namespace
}  // namespace tilewalk::config::digest_test
