// SPDX-License-Identifier: Apache-2.0
// A kernel is kept as two files named by its key: the source text (KEY.cu, for people) and the machine code
// (KEY.cubin), with the key and a digest, so that a truncated, damaged or renamed file never runs. Both files
// are written under another name and then renamed.
#include "engine/walk/cuda/compile/kernel_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/base/digest.h"
#include "engine/walk/kept/kept_file.h"

namespace tilewalk::cuda {
namespace {

constexpr std::string_view entry_magic = "tilewalk kernel 1\n";
// Larger files are not read; no kernel comes near this size.
constexpr std::uint64_t most_entry_bytes = std::uint64_t{1} << 28;

std::string entry_of(const std::string& key, const std::string& cubin) {
    std::string entry(entry_magic);
    entry += key + '\n' + config::sha256(cubin) + '\n';
    return entry + cubin;
}

std::optional<std::string> cubin_in(const std::string& entry, const std::string& key) {
    const std::string head = std::string(entry_magic) + key + '\n';
    const std::size_t digest_end = head.size() + key.size();  // the key is a digest, too
    if (entry.size() <= digest_end || !entry.starts_with(head) || entry[digest_end] != '\n') return {};
    std::string cubin = entry.substr(digest_end + 1);
    if (entry.compare(head.size(), key.size(), config::sha256(cubin)) != 0) return {};
    return cubin;
}

}  // namespace

struct kernel_store::state {
    using kernel = std::shared_ptr<const std::string>;

    compiler& builds;
    const std::string fingerprint;
    std::filesystem::path folder;

    mutable std::mutex guard;  // guards the members below
    std::map<std::string, std::shared_future<kernel>> kernels;
    counts count;
    std::string why_not_kept, why_foreign;

    state(compiler& by, std::filesystem::path at)
        : builds(by), fingerprint(by.fingerprint()), folder(std::move(at)) {
        // Made absolute, so that a change of the working folder does not matter.
        std::error_code ignored;
        if (!folder.empty()) {
            const auto from_root = std::filesystem::absolute(folder, ignored);
            if (!ignored) folder = from_root;
        }
    }

    std::string key_of(const compile_request& what) const {
        // Digests have a fixed length, so different requests never give the same concatenation.
        return config::sha256(config::sha256(what.text) + config::sha256(what.architecture) +
                              config::sha256(fingerprint) + what.headers.digest);
    }

    void add(std::uint64_t counts::*which) {
        const std::lock_guard lock(guard);
        ++(count.*which);
    }

    void say_why_not_kept(const std::string& why) {
        const std::lock_guard lock(guard);
        why_not_kept = why;
    }

    // Whether somebody else may have written the file or folder `path`, which is then not used.
    bool is_foreign(const std::filesystem::path& path) {
        const std::string why = kept::why_foreign(path);
        if (why.empty()) return false;
        const std::lock_guard lock(guard);
        if (why_foreign.empty()) why_foreign = why;
        return true;
    }

    std::optional<std::string> read(const std::string& key) {
        if (folder.empty() || is_foreign(folder)) return {};
        std::string entry;
        const std::filesystem::path file = folder / (key + ".cubin");
        const kept::reading got = kept::read_own_file(file, most_entry_bytes, entry);
        if (got == kept::reading::absent) return {};
        if (got == kept::reading::foreign && is_foreign(file)) return {};
        auto cubin = got == kept::reading::done ? cubin_in(entry, key) : std::nullopt;
        if (!cubin) add(&counts::damaged);
        return cubin;
    }

    void keep(const std::string& key, const compile_request& what, const std::string& cubin) {
        if (folder.empty()) return say_why_not_kept("no folder for compiled kernels is known");
        try {
            kept::make_own_folder(folder);
            if (is_foreign(folder)) throw error(error_kind::io, kept::why_foreign(folder));
            kept::write_file(folder / (key + ".cu"),
                             "// For " + what.architecture + " by " + fingerprint + '\n' + what.text);
            kept::write_file(folder / (key + ".cubin"), entry_of(key, cubin));
            say_why_not_kept("");
        } catch (const error& e) {
            say_why_not_kept(e.what());
        }
    }

    kernel build(const std::string& key, const compile_request& what, bool& compiled_here) {
        if (auto cubin = read(key)) {
            add(&counts::from_disk);
            return std::make_shared<const std::string>(std::move(*cubin));
        }
        auto made = std::make_shared<const std::string>(builds.compile(what).cubin);
        compiled_here = true;
        add(&counts::compiled);
        keep(key, what, *made);
        return made;
    }
};

kernel_store::kernel_store(compiler& builds, std::filesystem::path folder)
    : state_(std::make_unique<state>(builds, std::move(folder))) {}

kernel_store::~kernel_store() = default;

std::shared_ptr<const std::string> kernel_store::cubin(const compile_request& what, bool* compiled_here) {
    if (compiled_here != nullptr) *compiled_here = false;
    const std::string key = state_->key_of(what);
    std::promise<state::kernel> promise;
    std::shared_future<state::kernel> built = promise.get_future().share();
    bool builds_it = false;
    {
        const std::lock_guard lock(state_->guard);
        const auto [found, is_new] = state_->kernels.try_emplace(key, built);
        builds_it = is_new;
        built = found->second;
    }
    if (!builds_it) {
        auto kernel = built.get();
        state_->add(&counts::from_memory);
        return kernel;
    }
    try {
        bool compiled = false;
        auto kernel = state_->build(key, what, compiled);
        if (compiled_here != nullptr) *compiled_here = compiled;
        promise.set_value(kernel);
        return kernel;
    } catch (...) {
        // The failed build is forgotten before waiting threads learn of it, so that later callers try again.
        {
            const std::lock_guard lock(state_->guard);
            state_->kernels.erase(key);
        }
        promise.set_exception(std::current_exception());
        throw;
    }
}

std::shared_ptr<const std::string> kernel_store::known(const compile_request& what) {
    const std::string key = state_->key_of(what);
    const auto in_memory = [&]() -> std::optional<std::shared_future<state::kernel>> {
        const std::lock_guard lock(state_->guard);
        const auto found = state_->kernels.find(key);
        if (found == state_->kernels.end()) return {};
        return found->second;
    };
    if (const auto built = in_memory()) {
        if (built->wait_for(std::chrono::seconds(0)) != std::future_status::ready) return nullptr;
        try {
            return built->get();
        } catch (const error&) {
            return nullptr;
        }
    }
    auto cubin = state_->read(key);
    if (!cubin) return nullptr;
    auto kernel = std::make_shared<const std::string>(std::move(*cubin));
    std::promise<state::kernel> promise;
    promise.set_value(kernel);
    const std::lock_guard lock(state_->guard);
    if (state_->kernels.try_emplace(key, promise.get_future().share()).second) ++state_->count.from_disk;
    return kernel;
}

kernel_store::counts kernel_store::so_far() const {
    const std::lock_guard lock(state_->guard);
    return state_->count;
}

std::string kernel_store::why_not_kept() const {
    const std::lock_guard lock(state_->guard);
    return state_->why_not_kept;
}

std::string kernel_store::why_foreign() const {
    const std::lock_guard lock(state_->guard);
    return state_->why_foreign;
}

const std::filesystem::path& kernel_store::folder() const {
    return state_->folder;
}

std::vector<std::size_t> longest_first(std::size_t kernels,
                                       const std::function<std::size_t(std::size_t)>& length) {
    std::vector<std::size_t> out(kernels);
    std::iota(out.begin(), out.end(), std::size_t{0});
    std::ranges::stable_sort(out, std::greater(), length);
    return out;
}

std::filesystem::path default_cache_folder() {
    const auto set = [](const char* name) -> std::filesystem::path {
        const char* value = std::getenv(name);
        return value != nullptr ? value : "";
    };
    if (auto folder = set("TILEWALK_CACHE_DIR"); !folder.empty()) return folder;
    // Relative paths are ignored, as the XDG standard demands.
    if (const auto caches = set("XDG_CACHE_HOME"); caches.is_absolute()) return caches / "tilewalk";
    if (const auto home = set("HOME"); home.is_absolute()) return home / ".cache" / "tilewalk";
    return {};
}

std::string why_not_kept_in(const std::filesystem::path& folder) {
    if (folder.empty()) return "TILEWALK_CACHE_DIR, XDG_CACHE_HOME and HOME name no folder";
    // A missing folder would be created in its nearest existing parent, so that parent must be writable.
    std::error_code unknown;
    std::filesystem::path at = std::filesystem::absolute(folder, unknown);
    while (at.has_relative_path() && !std::filesystem::exists(at, unknown)) at = at.parent_path();
    if (!std::filesystem::is_directory(at, unknown)) return at.string() + " is no folder";
    if (at == std::filesystem::absolute(folder, unknown))
        if (std::string why = kept::why_foreign(at); !why.empty()) return why;
    if (::access(at.c_str(), W_OK | X_OK) == 0) return {};
    return at.string() + ": " + std::generic_category().message(errno);
}

}  // namespace tilewalk::cuda
