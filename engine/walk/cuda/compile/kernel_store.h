// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, by text, architecture and compiler. Processes may share a folder. A kernel that
// can't be written stays in memory; a damaged one is built again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/walk/cuda/compile/compiler.h"

namespace tilewalk::cuda {

class kernel_store {
  public:
    struct counts {
        std::uint64_t from_memory = 0, from_disk = 0, compiled = 0, damaged = 0;
    };

    // An empty folder keeps everything in memory.
    kernel_store(compiler& builds, std::filesystem::path folder);
    ~kernel_store();

    // Threads that ask for the same text wait for one build; different texts build in parallel. Throws the
    // compiler's exception; a later call tries again. Sets `compiled_here` to whether this call compiled.
    std::shared_ptr<const std::string> cubin(const compile_request& what, bool* compiled_here = nullptr);

    counts so_far() const;
    // Why the last compiled kernel is not in the folder; empty if it is.
    std::string why_not_kept() const;
    const std::filesystem::path& folder() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

// TILEWALK_CACHE_DIR, XDG_CACHE_HOME/tilewalk or HOME/.cache/tilewalk: the first that is set, or empty.
std::filesystem::path default_cache_folder();
// Why the folder can't keep kernels, as far as can be seen without writing; empty if it can.
std::string why_not_kept_in(const std::filesystem::path& folder);

}  // namespace tilewalk::cuda
