// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/toolkit_libraries.h"

#include <dlfcn.h>

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

void* open_library(const std::string& library, std::string& why_not) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    const char* said = ::dlerror();
    why_not = said != nullptr ? said : "";
    if (why_not.find("No such file") != std::string::npos) why_not.clear();
    return nullptr;
}

void* function_of(void* library, const char* name) {
    return ::dlsym(library, name);
}

}  // namespace tilewalk::cuda
