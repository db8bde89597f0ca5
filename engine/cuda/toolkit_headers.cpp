// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/toolkit_headers.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "engine/config/digest.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/toolkit_libraries.h"
#include "engine/kept/kept_file.h"

namespace tilewalk::cuda {

namespace {

namespace fs = std::filesystem;

// Far larger than any header.
constexpr std::uint64_t most_header_bytes = std::uint64_t{1} << 26;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

// The entries of a folder, sorted by name; none if there is no such folder.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code none;
    for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
        out.push_back(at->path());
    std::sort(out.begin(), out.end());
    return out;
}

std::string digest_of(const std::vector<fs::path>& files) {
    std::string all;
    for (const fs::path& file : files) {
        std::string text;
        if (kept::read_file(file, most_header_bytes, text) != kept::reading::done)
            throw error(error_kind::io, "can't read the header " + file.string());
        all += config::sha256(file.filename().string()) + config::sha256(text);
    }
    return config::sha256(all);
}

}  // namespace

toolkit_headers find_toolkit_headers(std::span<const std::string_view> names,
                                     std::span<const std::string> folders) {
    std::string looked_in;
    for (const std::string& folder : folders) {
        const fs::path places[] = {folder, fs::path(folder) / "cccl"};
        std::vector<fs::path> found;
        for (const std::string_view name : names) {
            for (const fs::path& place : places) {
                if (!is_file(place / name)) continue;
                found.push_back(place / name);
                break;
            }
        }
        if (found.size() < names.size()) {
            looked_in += (looked_in.empty() ? "" : ", ") + folder;
            continue;
        }
        for (const fs::path& beside : entries_of(found.front().parent_path())) {
            if (is_file(beside) && beside != found.front()) found.push_back(beside);
        }
        return {{places[0].string(), places[1].string()}, digest_of(found)};
    }
    std::string wanted;
    for (const std::string_view name : names)
        wanted += (wanted.empty() ? "<" : ", <") + std::string(name) + '>';
    throw error(error_kind::device, "no toolkit with the headers " + wanted + " was found; looked in " +
                                        (looked_in.empty() ? "no folder" : looked_in));
}

std::vector<std::string> toolkit_header_folders() {
    std::vector<fs::path> all;
    const auto add_beside = [&](const std::string& libraries) {
        if (!libraries.empty()) all.push_back(fs::path(libraries).parent_path() / "include");
    };
    add_beside(nvrtc_folder());
    for (const std::string& folder : toolkit_library_folders()) add_beside(folder);
    // Newest first, as far as names tell.
    auto toolkits = entries_of("/usr/local");
    std::reverse(toolkits.begin(), toolkits.end());
    for (const fs::path& toolkit : toolkits) {
        if (!toolkit.filename().string().starts_with("cuda")) continue;
        all.push_back(toolkit / "include");
        for (const fs::path& target : entries_of(toolkit / "targets")) all.push_back(target / "include");
    }
    all.emplace_back("/usr/include");

    std::vector<std::string> out;
    for (const fs::path& folder : all) {
        if (std::find(out.begin(), out.end(), folder.string()) == out.end()) out.push_back(folder.string());
    }
    return out;
}

}  // namespace tilewalk::cuda
