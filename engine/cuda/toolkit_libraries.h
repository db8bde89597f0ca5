// SPDX-License-Identifier: Apache-2.0
// Libraries of the CUDA toolkit that are loaded at run time, and the places where they may be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// The toolkit of this build, the user's (CUDA_HOME, CUDA_PATH), and the usual place.
std::vector<std::string> toolkit_library_folders();

// Candidates in the order of search: the loader's own search, then those folders; in each place every name,
// in turn.
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names);

// Opens a library. Null if it is missing, and then why_not is empty, or does not load.
void* open_library(const std::string& library, std::string& why_not);

// The folder of the library that contains this function; empty if it is unknown.
std::string folder_of_code(const void* function);

// The address of a library's function; null if it has none of this name.
void* function_of(void* library, const char* name);

template <class function>
bool find_function(void* library, const char* name, function& found) {
    found = reinterpret_cast<function>(function_of(library, name));
    return found != nullptr;
}

}  // namespace tilewalk::cuda
