// SPDX-License-Identifier: Apache-2.0
// Blocks: files of finished work, either whole or worth nothing. A record is the bytes of a result under the
// fingerprint of all that it follows from.
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

// `request` is a text that identifies the request. Equal records give equal bytes.
void write_block(const std::filesystem::path& file, std::string_view request, const std::vector<record>& all);

enum class finding { whole, absent, damaged, of_another_request };
struct read_block {
    finding is = finding::absent;
    std::vector<record> records{};  // if whole
};
read_block block_in(const std::filesystem::path& file, std::string_view request);

}  // namespace tilewalk::kept
