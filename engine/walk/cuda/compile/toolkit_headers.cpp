// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/toolkit_headers.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "engine/base/digest.h"
#include "engine/walk/kept/kept_file.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_header_bytes = std::uint64_t{1} << 26;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code none;
    for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
        out.push_back(at->path());
    std::sort(out.begin(), out.end());
    return out;
}

// Whether a Python package has the whole toolkit, as those named by a version have: `nvidia/cu13`.
bool is_whole_toolkit(const fs::path& package) {
    const std::string name = package.filename().string();
    return name.starts_with("cu") && name.size() > 2 && name[2] >= '0' && name[2] <= '9';
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
    throw error(error_kind::device, "the toolkit of NVRTC has no headers " + wanted + "; looked in " +
                                        (looked_in.empty() ? "no folder" : looked_in) +
                                        ", and those of another toolkit are not mixed with it");
}

std::vector<std::string> toolkit_header_folders(const std::string& libraries) {
    if (libraries.empty()) return {};
    const fs::path root = fs::path(libraries).parent_path();
    std::vector<std::string> out = {(root / "include").string()};
    for (const fs::path& target : entries_of(root / "targets")) out.push_back((target / "include").string());
    // System libraries may lie one folder deeper than system headers.
    if (root == "/usr/lib") out.emplace_back("/usr/include");
    // CUDA 12's Python packages have a folder per component, perhaps beside another version's whole toolkit.
    if (root.parent_path().filename() == "nvidia" && !is_whole_toolkit(root)) {
        for (const fs::path& part : entries_of(root.parent_path())) {
            if (part != root && !is_whole_toolkit(part)) out.push_back((part / "include").string());
        }
    }
    return out;
}

}  // namespace tilewalk::cuda
