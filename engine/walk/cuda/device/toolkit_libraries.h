// SPDX-License-Identifier: Apache-2.0
// Libraries of the CUDA toolkit that are loaded at run time, and the places where they may be.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// The folders in which alone libraries of the toolkit are looked for, if it is set; a colon between two.
inline constexpr const char* library_path_variable = "TILEWALK_CUDA_LIBRARY_PATH";

// All that the places depend on, besides what lies in folders. A test makes up its own.
struct surroundings {
    std::vector<std::string> loaded;                   // files of the libraries of this process
    std::filesystem::path own_file;                    // with Tilewalk's code in it
    std::function<std::string(const char*)> variable;  // of the environment; empty if it is not set
};

surroundings surroundings_of_process();

// Candidates in the order of search, in each place every name in turn:
//  1. a library that the process has loaded already, by whomever;
//  2. packages of Python (`nvidia/*/lib`): beside Tilewalk's own code, where the process has modules from, in
//     the environment in use, of the user;
//  3. the conda environment in use;
//  4. the loader's own search;
//  5. CUDA_HOME, CUDA_PATH, the toolkit of this build, the usual place.
// Python's cuda.pathfinder has the same order. The variable above stands for all of it.
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names, const surroundings& in);
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names);

// Libraries that were looked for in vain. Names that one folder lacks stand together.
class vain_search {
  public:
    // The reason is empty if the library is missing.
    void add(const std::string& library, const std::string& why_not);
    const std::string& words() const { return words_; }

  private:
    std::string words_, folder_;
    bool is_missing_ = false;
};

// Opens a library. Null if it is missing, and then why_not is empty, or does not load.
void* open_library(const std::string& library, std::string& why_not);

// The file of the library that contains this function; empty if it is unknown.
std::filesystem::path file_of_code(const void* function);

// Files of the libraries of this process, in the order in which they were loaded.
std::vector<std::string> loaded_libraries();

// The address of a library's function; null if it has none of this name.
void* function_of(void* library, const char* name);

template <class function>
bool find_function(void* library, const char* name, function& found) {
    found = reinterpret_cast<function>(function_of(library, name));
    return found != nullptr;
}

}  // namespace tilewalk::cuda
