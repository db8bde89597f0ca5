// SPDX-License-Identifier: Apache-2.0
// Where a library of the CUDA toolkit may be that is loaded at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// In the toolkit of this build, in the user's (CUDA_HOME, CUDA_PATH), in the usual place.
std::vector<std::string> toolkit_library_folders();

// With the loader, then in those folders; of each place every name, in turn.
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names);

// Null if it is not there, and then why_not is empty, or does not load.
void* open_library(const std::string& library, std::string& why_not);

// The folder of the library that this function of it lies in; empty where that is not known.
std::string folder_of_code(const void* function);

// The address of a library's function; null if it has none of this name.
void* function_of(void* library, const char* name);

template <class function>
bool find_function(void* library, const char* name, function& found) {
    found = reinterpret_cast<function>(function_of(library, name));
    return found != nullptr;
}

}  // namespace tilewalk::cuda
