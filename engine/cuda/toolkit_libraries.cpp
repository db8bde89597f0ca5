// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/toolkit_libraries.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tilewalk::cuda {

std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names) {
    std::vector<std::string> folders = {TILEWALK_CUDA_LIBRARIES};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* set = std::getenv(variable);
        folders.push_back(set != nullptr && *set != '\0' ? set + std::string("/lib64") : "");
    }
    folders.emplace_back("/usr/local/cuda/lib64");

    std::vector<std::string> all(names.begin(), names.end());
    for (auto folder = folders.begin(); folder != folders.end(); ++folder) {
        if (folder->empty() || std::find(folders.begin(), folder, *folder) != folder) continue;
        for (const std::string_view name : names) all.push_back(*folder + '/' + std::string(name));
    }
    return all;
}

}  // namespace tilewalk::cuda
