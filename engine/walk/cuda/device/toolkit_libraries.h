// SPDX-License-Identifier: Apache-2.0
// Finds the shared libraries of the CUDA toolkit at run time.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// If set, libraries are searched for only in these folders, separated by colons.
inline constexpr const char* library_path_variable = "TILEWALK_CUDA_LIBRARY_PATH";

// Surroundings that the search depends on, besides the files on disk. Tests make up their own.
struct surroundings {
    std::vector<std::string> loaded;  // paths of the shared libraries that this process has loaded
    std::filesystem::path own_file;   // the program or library that contains Tilewalk
    std::function<std::string(const char*)> variable;  // reads an environment variable; empty if not set
};

surroundings surroundings_of_process();

// Candidates in the order of search, in each place every name in turn:
//  1. a library that the process has already loaded;
//  2. Python packages (`nvidia/*/lib`): beside Tilewalk's own code, beside loaded modules, in the environment
//     in use, of the user;
//  3. the conda environment in use;
//  4. the loader's own search;
//  5. CUDA_HOME, CUDA_PATH, the toolkit of this build, the usual place.
// Python's cuda.pathfinder has the same order. library_path_variable replaces all of it.
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names, const surroundings& in);
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names);

// The message of a failed search. Libraries missing from the same folder are listed together.
class vain_search {
  public:
    // `why_not` is the reason why the library was unsuitable; empty if it was not found.
    void add(const std::string& library, const std::string& why_not);
    const std::string& words() const { return words_; }

  private:
    std::string words_, folder_;
    bool is_missing_ = false;
};

// Null on failure; why_not is then the loader's message, or empty if the library does not exist.
void* open_library(const std::string& library, std::string& why_not);

// The file that contains the code of `function`; empty if unknown.
std::filesystem::path file_of_code(const void* function);

std::vector<std::string> loaded_libraries();

// Null if the library has no function of this name.
void* function_of(void* library, const char* name);

template <class function>
bool find_function(void* library, const char* name, function& found) {
    found = reinterpret_cast<function>(function_of(library, name));
    return found != nullptr;
}

}  // namespace tilewalk::cuda
