// SPDX-License-Identifier: Apache-2.0
// Loads NVRTC at run time, so that Tilewalk builds without CUDA headers and starts without NVRTC. The C
// interface is small and unchanged since CUDA 11.
#include "engine/walk/cuda/compile/compiler.h"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/digest.h"
#include "engine/walk/cuda/compile/kernel_headers.h"
#include "engine/walk/cuda/device/toolkit_libraries.h"

namespace tilewalk::cuda {
namespace {

constexpr int least_major = 12;  // the first version with C++20
constexpr std::string_view least_version = "12.0";
constexpr const char* file_name = "path_kernel.cu";  // named in messages
constexpr int success = 0;

// ptxas reports spills if verbose.
constexpr std::string_view options[] = {"-default-device", "-std=c++20", "--ptxas-options=-v"};
// No contraction, as in every other compiler of the kernel headers.
constexpr std::string_view our_arithmetic = "--fmad=false";
constexpr std::string_view fast_arithmetic = "--use_fast_math";

// A kernel with a stack frame is recompiled without its wish for blocks (see kernels/resident_blocks.h).
constexpr std::string_view no_wish = "-DTILEWALK_NO_RESIDENT_BLOCKS";
constexpr std::string_view wish = "TILEWALK_RESIDENT_BLOCKS";

// By default ptxas may spill for a higher occupancy: 21 of 693 kernels of the library's products did, with 11
// feeds in 3 precisions, for sm_80 and sm_90 (CUDA 13.0). Compiled again with this option none spills: the
// digital's in double with smem_batched on sm_90 goes from 32 registers and 44 bytes to 69 registers. Kernels
// that do not spill would grow, too: the Asian's in single with inline from 32 registers to 58.
constexpr std::string_view spare_registers = "--ptxas-options=--minnctapersm=1";

using nvrtc_program = struct nvrtc_program_state*;

struct nvrtc_functions {
    int (*nvrtcVersion)(int*, int*);
    const char* (*nvrtcGetErrorString)(int);
    int (*nvrtcCreateProgram)(nvrtc_program*, const char* text, const char* name, int headers,
                              const char* const* header_texts, const char* const* header_names);
    int (*nvrtcDestroyProgram)(nvrtc_program*);
    int (*nvrtcCompileProgram)(nvrtc_program, int options, const char* const*);
    int (*nvrtcGetProgramLogSize)(nvrtc_program, std::size_t*);
    int (*nvrtcGetProgramLog)(nvrtc_program, char*);
    int (*nvrtcGetCUBINSize)(nvrtc_program, std::size_t*);
    int (*nvrtcGetCUBIN)(nvrtc_program, char*);
    int (*nvrtcGetPTXSize)(nvrtc_program, std::size_t*);
    int (*nvrtcGetPTX)(nvrtc_program, char*);
};

std::filesystem::path file_of(const nvrtc_functions& f) {
    return file_of_code(reinterpret_cast<const void*>(f.nvrtcVersion));
}

std::string first_errors(std::string_view log) {
    constexpr int most_lines = 8;
    const std::size_t error = log.find("error");
    if (error != std::string_view::npos) {
        const std::size_t line = log.rfind('\n', error);
        if (line != std::string_view::npos) log.remove_prefix(line + 1);
    }
    std::string shown;
    int lines = 0;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(line.size() < log.size() ? line.size() + 1 : line.size());
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        if (lines == most_lines) return shown + "\n...";
        shown += '\n';
        shown += line;
        ++lines;
    }
    return shown;
}

class nvrtc final : public compiler {
  public:
    nvrtc(const nvrtc_functions& functions, int major, int minor)
        : call_(functions),
          version_("NVRTC " + std::to_string(major) + '.' + std::to_string(minor)),
          // NVRTC 13.0 and later have a cache, which returns kernels without ptxas's report.
          has_cache_(major >= 13) {
        std::string all_headers;
        for (const auto& header : kernel_headers()) {
            names_.emplace_back(header.name);
            texts_.emplace_back(header.text);
            all_headers += header.name;
            all_headers += '\0';
            all_headers += header.text;
            all_headers += '\0';
        }
        fingerprint_ = version_;
        for (const std::string_view option : options) fingerprint_.append(" ").append(option);
        fingerprint_.append(" ").append(our_arithmetic);
        fingerprint_.append(" or ").append(no_wish).append(" or ").append(spare_registers);
        fingerprint_.append("; for what is compared ").append(fast_arithmetic);
        fingerprint_ += " headers " + config::sha256(all_headers);
    }

    std::string fingerprint() const override { return fingerprint_; }

    const std::string& version() const { return version_; }

    std::string folder() const { return file_of(call_).parent_path().string(); }

    compiled compile(const compile_request& what, bool with_ptx) override {
        std::vector<std::vector<std::string_view>> ways;
        if (what.text.find(wish) != std::string::npos) ways.push_back({no_wish});
        ways.push_back({no_wish, spare_registers});
        compiled best = compile_with(what, with_ptx, {});
        for (const auto& way : ways) {
            if (stack_bytes(best.log) == 0) break;
            compiled next = compile_with(what, with_ptx, way);
            if (stack_bytes(next.log) < stack_bytes(best.log)) best = std::move(next);
        }
        return best;
    }

  private:
    compiled compile_with(const compile_request& what, bool with_ptx,
                          const std::vector<std::string_view>& more) const {
        std::vector<const char*> names, texts;
        for (const auto& name : names_) names.push_back(name.c_str());
        for (const auto& text : texts_) texts.push_back(text.c_str());

        struct owned_program {
            const nvrtc_functions& call;
            nvrtc_program p = nullptr;
            ~owned_program() {
                if (p != nullptr) call.nvrtcDestroyProgram(&p);
            }
        } made{call_};
        check(call_.nvrtcCreateProgram(&made.p, what.text.c_str(), file_name, static_cast<int>(names.size()),
                                       texts.data(), names.data()),
              what, "");

        std::vector<std::string> words = {"--gpu-architecture=" + what.architecture};
        words.insert(words.end(), std::begin(options), std::end(options));
        words.emplace_back(what.headers.folders.empty() ? our_arithmetic : fast_arithmetic);
        for (const std::string& folder : what.headers.folders) words.push_back("--include-path=" + folder);
        if (has_cache_) words.emplace_back("--no-cache");
        words.insert(words.end(), more.begin(), more.end());
        std::vector<const char*> pointers;
        for (const auto& word : words) pointers.push_back(word.c_str());
        const int result =
            call_.nvrtcCompileProgram(made.p, static_cast<int>(pointers.size()), pointers.data());

        compiled out;
        out.log = bytes(made.p, what, call_.nvrtcGetProgramLogSize, call_.nvrtcGetProgramLog);
        strip_terminator(out.log);
        check(result, what, out.log);
        out.cubin = bytes(made.p, what, call_.nvrtcGetCUBINSize, call_.nvrtcGetCUBIN);
        if (with_ptx) {
            out.ptx = bytes(made.p, what, call_.nvrtcGetPTXSize, call_.nvrtcGetPTX);
            strip_terminator(out.ptx);
        }
        return out;
    }

    static std::size_t stack_bytes(std::string_view log) {
        constexpr std::string_view words = " bytes stack frame";
        std::size_t sum = 0;
        for (std::size_t at = log.find(words); at != std::string_view::npos; at = log.find(words, at + 1)) {
            std::size_t first = at;
            while (first > 0 && log[first - 1] >= '0' && log[first - 1] <= '9') --first;
            std::size_t bytes = 0;
            std::from_chars(log.data() + first, log.data() + at, bytes);
            sum += bytes;
        }
        return sum;
    }

    void check(int result, const compile_request& what, std::string_view log) const {
        if (result == success) return;
        throw error(error_kind::compile, version_ + " made no kernel for " + what.architecture + ": " +
                                             call_.nvrtcGetErrorString(result) + first_errors(log));
    }

    std::string bytes(nvrtc_program from, const compile_request& what,
                      int (*size)(nvrtc_program, std::size_t*), int (*get)(nvrtc_program, char*)) const {
        std::size_t count = 0;
        check(size(from, &count), what, "");
        std::string got(count, '\0');
        check(get(from, got.data()), what, "");
        return got;
    }

    static void strip_terminator(std::string& text) {
        while (!text.empty() && text.back() == '\0') text.pop_back();
    }

    nvrtc_functions call_;
    std::string version_;
    bool has_cache_;
    std::vector<std::string> names_, texts_;  // of the headers
    std::string fingerprint_;
};

// Loads NVRTC's built-ins library from the folder of NVRTC or of its link's target, because NVRTC opens it by
// a bare name that the loader may find elsewhere. Returns why that fails, or nothing.
std::string load_builtins(const std::filesystem::path& nvrtc, int major, int minor) {
    namespace fs = std::filesystem;
    const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + '.' + std::to_string(minor);
    std::error_code ignored;
    fs::path file = nvrtc.parent_path() / name;
    if (!fs::exists(file, ignored)) file = fs::canonical(nvrtc, ignored).parent_path() / name;
    for (const fs::path loaded : loaded_libraries()) {
        if (loaded.filename() == name && !fs::equivalent(loaded, file, ignored))
            return "has not its own " + name + ": that of " + loaded.parent_path().string() +
                   " is loaded already, and two toolkits are not mixed";
    }
    std::string why_not;
    if (open_library(file.string(), why_not) != nullptr) return "";
    return why_not.empty() ? "has no " + name + " beside it, and that of another toolkit is not taken"
                           : why_not;
}

// Opens an NVRTC; null, with the reason, if missing or unsuitable. Never unloaded: NVRTC keeps threads.
std::unique_ptr<nvrtc> open(const std::string& library, std::string& why_not) {
    void* handle = open_library(library, why_not);
    if (handle == nullptr) return nullptr;
    nvrtc_functions f{};
    int major = 0, minor = 0;
    if (!find_function(handle, "nvrtcVersion", f.nvrtcVersion) || f.nvrtcVersion(&major, &minor) != success) {
        why_not = "is no NVRTC";
        return nullptr;
    }
    if (major < least_major) {
        why_not = "is NVRTC " + std::to_string(major) + '.' + std::to_string(minor);
        return nullptr;
    }
    if (!find_function(handle, "nvrtcGetErrorString", f.nvrtcGetErrorString) ||
        !find_function(handle, "nvrtcCreateProgram", f.nvrtcCreateProgram) ||
        !find_function(handle, "nvrtcDestroyProgram", f.nvrtcDestroyProgram) ||
        !find_function(handle, "nvrtcCompileProgram", f.nvrtcCompileProgram) ||
        !find_function(handle, "nvrtcGetProgramLogSize", f.nvrtcGetProgramLogSize) ||
        !find_function(handle, "nvrtcGetProgramLog", f.nvrtcGetProgramLog) ||
        !find_function(handle, "nvrtcGetCUBINSize", f.nvrtcGetCUBINSize) ||
        !find_function(handle, "nvrtcGetCUBIN", f.nvrtcGetCUBIN) ||
        !find_function(handle, "nvrtcGetPTXSize", f.nvrtcGetPTXSize) ||
        !find_function(handle, "nvrtcGetPTX", f.nvrtcGetPTX)) {
        why_not = "lacks functions of NVRTC";
        return nullptr;
    }
    why_not = load_builtins(file_of(f), major, minor);
    if (!why_not.empty()) return nullptr;
    return std::make_unique<nvrtc>(f, major, minor);
}

std::vector<std::string> known_libraries() {
    constexpr std::string_view names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    return toolkit_libraries(names);
}

std::unique_ptr<nvrtc> open_first(std::span<const std::string> libraries) {
    vain_search looked_for;
    for (const std::string& library : libraries) {
        std::string why_not;
        if (auto found = open(library, why_not)) return found;
        looked_for.add(library, why_not);
    }
    throw error(error_kind::device, "no run-time compiler: NVRTC " + std::string(least_version) +
                                        " or newer was not found; looked for " + looked_for.words());
}

std::string what_to_do() {
    if (surroundings_of_process().variable(library_path_variable).empty())
        return "`pip install nvidia-cuda-nvrtc` brings one for an environment of Python";
    return std::string(library_path_variable) + " is set, so nothing else was looked for";
}

struct found_compiler {
    std::unique_ptr<nvrtc> it;
    std::string why_not;

    found_compiler() {
        try {
            it = open_first(known_libraries());
        } catch (const error& e) {
            why_not = e.message() + "; " + what_to_do();
        }
    }
};

found_compiler& find_compiler() {
    static found_compiler found;
    return found;
}

}  // namespace

std::unique_ptr<compiler> open_nvrtc(std::span<const std::string> libraries) {
    return open_first(libraries);
}

compiler& nvrtc_compiler() {
    found_compiler& found = find_compiler();
    if (!found.it) throw error(error_kind::device, found.why_not);
    return *found.it;
}

std::string nvrtc_version() {
    const found_compiler& found = find_compiler();
    return found.it ? found.it->version() : "";
}

std::string nvrtc_folder() {
    const found_compiler& found = find_compiler();
    return found.it ? found.it->folder() : "";
}

std::string why_no_compiler() {
    return find_compiler().why_not;
}

}  // namespace tilewalk::cuda
