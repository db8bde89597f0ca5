// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/toolkit_libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tilewalk::cuda {

std::vector<std::string> toolkit_library_folders() {
    std::vector<std::string> folders = {TILEWALK_CUDA_LIBRARIES};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* set = std::getenv(variable);
        folders.push_back(set != nullptr && *set != '\0' ? set + std::string("/lib64") : "");
    }
    folders.emplace_back("/usr/local/cuda/lib64");

    std::vector<std::string> known;
    for (const std::string& folder : folders) {
        if (folder.empty() || std::find(known.begin(), known.end(), folder) != known.end()) continue;
        known.push_back(folder);
    }
    return known;
}

std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names) {
    std::vector<std::string> all(names.begin(), names.end());
    for (const std::string& folder : toolkit_library_folders()) {
        for (const std::string_view name : names) all.push_back(folder + '/' + std::string(name));
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

std::string folder_of_code(const void* function) {
    Dl_info found{};
    if (::dladdr(function, &found) == 0 || found.dli_fname == nullptr) return {};
    const std::string file = found.dli_fname;
    const std::size_t end = file.rfind('/');
    return end == std::string::npos ? "" : file.substr(0, end);
}

}  // namespace tilewalk::cuda
