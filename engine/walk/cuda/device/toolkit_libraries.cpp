// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/toolkit_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <system_error>

namespace tilewalk::cuda {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code none;
    for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
        if (is_folder(at->path())) out.push_back(at->path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

constexpr const char* site_names[] = {"site-packages", "dist-packages"};

class paths {
  public:
    void add(const fs::path& path) {
        if (!path.empty() && std::find(all_.begin(), all_.end(), path) == all_.end()) all_.push_back(path);
    }
    void add_sites_below(const fs::path& prefix) {
        if (!prefix.is_absolute()) return;
        for (const fs::path& python : folders_in(prefix / "lib")) {
            if (!python.filename().string().starts_with("python3")) continue;
            for (const char* name : site_names) {
                if (is_folder(python / name)) add(python / name);
            }
        }
    }
    const std::vector<fs::path>& all() const { return all_; }

  private:
    std::vector<fs::path> all_;
};

// The folder of Python packages (site-packages) above the file; empty if there is none.
fs::path site_of(const fs::path& file) {
    for (fs::path at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
        for (const char* name : site_names) {
            if (at.filename() == name) return at;
        }
    }
    return {};
}

std::vector<fs::path> sites(const surroundings& in) {
    paths out;
    std::error_code ignored;
    for (const fs::path& own : {in.own_file, fs::weakly_canonical(in.own_file, ignored)}) {
        // Both paths are searched, since package managers may link installed files into a store.
        out.add(site_of(own));
        constexpr int most_levels = 4;
        fs::path at = own.parent_path();
        for (int level = 0; level < most_levels && at.has_relative_path(); ++level, at = at.parent_path()) {
            if (is_folder(at / "nvidia")) out.add(at);
            out.add_sites_below(at);
        }
    }
    for (const std::string& file : in.loaded) out.add(site_of(file));
    out.add_sites_below(in.variable("VIRTUAL_ENV"));
    const std::string user_base = in.variable("PYTHONUSERBASE");
    out.add_sites_below(user_base.empty() ? fs::path(in.variable("HOME")) / ".local" : fs::path(user_base));
    return out.all();
}

class candidates {
  public:
    explicit candidates(std::span<const std::string_view> names) : names_(names) {}

    void add(const std::string& library) {
        if (std::find(all_.begin(), all_.end(), library) == all_.end()) all_.push_back(library);
    }
    void add_by_loader() {
        for (const std::string_view name : names_) add(std::string(name));
    }
    void add_in(const fs::path& folder) {
        for (const std::string_view name : names_) add((folder / name).string());
    }
    // Adds existing files only, because few of these folders have the library.
    void add_what_is_in(const fs::path& folder) {
        for (const std::string_view name : names_) {
            if (is_there(folder / name)) add((folder / name).string());
        }
    }
    bool has(const fs::path& file) const {
        return std::find(names_.begin(), names_.end(), file.filename()) != names_.end();
    }
    std::vector<std::string> all() && { return std::move(all_); }

  private:
    std::span<const std::string_view> names_;
    std::vector<std::string> all_;
};

}  // namespace

surroundings surroundings_of_process() {
    fs::path own = file_of_code(reinterpret_cast<const void*>(&surroundings_of_process));
    std::error_code ignored;
    // The loader reports the program under the name it was called by, which may lack the folder.
    if (!own.is_absolute()) own = fs::read_symlink("/proc/self/exe", ignored);
    return {loaded_libraries(), own, [](const char* name) -> std::string {
                const char* set = std::getenv(name);
                return set != nullptr ? set : "";
            }};
}

std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names, const surroundings& in) {
    candidates out(names);
    if (const std::string chosen = in.variable(library_path_variable); !chosen.empty()) {
        for (std::size_t at = 0; at <= chosen.size();) {
            const std::size_t end = std::min(chosen.find(':', at), chosen.size());
            if (end > at) out.add_in(chosen.substr(at, end - at));
            at = end + 1;
        }
        return std::move(out).all();
    }

    for (const std::string& file : in.loaded) {
        if (out.has(file)) out.add(file);
    }
    for (const fs::path& site : sites(in)) {
        // CUDA 13's folder is always listed, so that messages name it; CUDA 12's folders only if they exist.
        out.add_in(site / "nvidia" / "cu13" / "lib");
        for (const fs::path& package : folders_in(site / "nvidia")) out.add_what_is_in(package / "lib");
    }
    if (const fs::path conda = in.variable("CONDA_PREFIX"); !conda.empty()) {
        out.add_in(conda / "lib");
        for (const fs::path& target : folders_in(conda / "targets")) out.add_what_is_in(target / "lib");
    }
    out.add_by_loader();
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const fs::path home = in.variable(variable); !home.empty()) out.add_in(home / "lib64");
    }
    for (const char* usual : {TILEWALK_CUDA_LIBRARIES, "/usr/local/cuda/lib64"}) {
        if (*usual != '\0') out.add_in(usual);
    }
    return std::move(out).all();
}

std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names) {
    return toolkit_libraries(names, surroundings_of_process());
}

void vain_search::add(const std::string& library, const std::string& why_not) {
    const fs::path path = library;
    const bool is_beside = is_missing_ && why_not.empty() && path.parent_path() == folder_;
    words_ += words_.empty() ? "" : is_beside ? " or " : ", ";
    words_ += is_beside ? path.filename().string() : library;
    if (!why_not.empty()) words_ += " (" + why_not + ")";
    folder_ = path.parent_path().string();
    is_missing_ = why_not.empty();
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

fs::path file_of_code(const void* function) {
    Dl_info found{};
    if (::dladdr(function, &found) == 0 || found.dli_fname == nullptr) return {};
    return found.dli_fname;
}

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> out;
    const auto add = [](dl_phdr_info* library, std::size_t, void* to) {
        if (library->dlpi_name != nullptr && *library->dlpi_name != '\0')
            static_cast<std::vector<std::string>*>(to)->emplace_back(library->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(add, &out);
    return out;
}

}  // namespace tilewalk::cuda
