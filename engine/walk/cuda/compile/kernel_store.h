// SPDX-License-Identifier: Apache-2.0
// Compiled kernels, kept on disk for the next run, by text, architecture and compiler. Many processes may
// share a folder. A kernel that can't be written is kept in memory; a damaged one is built again.
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

    // The cubin of this text. Threads that ask for the same text wait for one build; different texts build in
    // parallel. Throws the compiler's exception; a later call tries again. `compiled_here` is set to whether
    // this call compiled it.
    std::shared_ptr<const std::string> cubin(const compile_request& what, bool* compiled_here = nullptr);

    counts so_far() const;
    // The reason why the last kernel that was compiled is not in the folder; empty if it is.
    std::string why_not_kept() const;
    const std::filesystem::path& folder() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

// TILEWALK_CACHE_DIR, or XDG_CACHE_HOME/tilewalk, or HOME/.cache/tilewalk, or empty: the first that is set.
std::filesystem::path default_cache_folder();
// Why the folder can keep no kernels, as far as can be seen without writing to it; empty: it can.
std::string why_not_kept_in(const std::filesystem::path& folder);

}  // namespace tilewalk::cuda
