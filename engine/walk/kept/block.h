// SPDX-License-Identifier: Apache-2.0
// Blocks: files of finished work. A block is either whole or ignored. A record is the bytes of a result,
// filed under the fingerprint of everything that the result depends on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/kept/fingerprint.h"

namespace tilewalk::kept {

struct record {
    key of;
    std::string bytes;
    friend bool operator==(const record&, const record&) = default;
};

// `request` is a text that identifies the run. Equal records give a file of equal bytes.
void write_block(const std::filesystem::path& file, std::string_view request, const std::vector<record>& all);

enum class finding { whole, absent, damaged, of_another_request };
struct read_block {
    finding is = finding::absent;
    std::vector<record> records{};  // filled if the block is whole
};
read_block block_in(const std::filesystem::path& file, std::string_view request);

}  // namespace tilewalk::kept
