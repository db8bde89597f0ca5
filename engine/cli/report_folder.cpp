// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/report_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::cli {

void report_folder::make() const {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed)
        throw error(error_kind::io, "--files: can't make the folder: " + failed.message(), {folder_, 0, 0});
}

void report_folder::add(std::string_view file) {
    outputs_.emplace_back((std::filesystem::path(folder_) / file).string(), "--files");
}

void report_folder::keep_apart_from(const std::vector<std::filesystem::path>& inputs,
                                    std::vector<const output*> others) const {
    for (const output& one : outputs_) others.push_back(&one);
    keep_apart(others, inputs);
}

void report_folder::refuse_old(std::string_view file, const std::string& why) const {
    if (folder_.empty()) return;
    const std::filesystem::path old = std::filesystem::path(folder_) / file;
    std::error_code unknown;
    if (!std::filesystem::exists(old, unknown)) return;
    throw error(error_kind::io,
                "--files: found a file of an earlier run where this run writes none (" + why +
                    "), expected no such file; remove it, or take another folder",
                {old.string(), 0, 0});
}

std::string files_text(const std::vector<std::pair<std::string_view, std::string_view>>& files) {
    constexpr std::size_t columns = 80, indent = 2;
    std::size_t width = 0;
    for (const auto& [file, meaning] : files) width = std::max(width, indent + file.size() + 2);
    std::string out = "Files of --files:\n";
    for (const auto& [file, meaning] : files) {
        out += fmt::format("{:{}}{:<{}}", "", indent, file, width - indent);
        std::string_view left = meaning;
        while (width + left.size() > columns) {
            const std::size_t end = left.rfind(' ', columns - width);
            if (end == left.npos) break;
            out += fmt::format("{}\n{:{}}", left.substr(0, end), "", width);
            left.remove_prefix(end + 1);
        }
        out += fmt::format("{}\n", left);
    }
    return out + "\n";
}

}  // namespace tilewalk::cli
