// SPDX-License-Identifier: Apache-2.0
// A cache of compiled kernels on disk, by text, architecture and compiler. Processes may share its folder. A
// kernel that can't be written stays in memory. A damaged one is compiled again, and so is one that
// somebody other than root and this user may have written: an entry proves that it is whole, not who made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"

namespace tilewalk::cuda {

class kernel_store {
  public:
    struct counts {
        std::uint64_t from_memory = 0, from_disk = 0, compiled = 0, damaged = 0;
    };

    // If `folder` is empty, kernels are kept in memory only.
    kernel_store(compiler& builds, std::filesystem::path folder);
    ~kernel_store();

    // The machine code for a request. Threads that ask for the same text wait for one build; different texts
    // are built in parallel. If the compiler throws, so does this call, and a later one tries again. Sets
    // `compiled_here` to whether this call compiled.
    std::shared_ptr<const std::string> cubin(const compile_request& what, bool* compiled_here = nullptr);

    // The machine code for a request if it is in memory or in the folder; else null.
    std::shared_ptr<const std::string> known(const compile_request& what);

    counts so_far() const;
    // Why the kernel compiled last is not in the folder; empty if it is there.
    std::string why_not_kept() const;
    // Why the folder, or an entry of it, was not used: somebody else may have written it. Empty if all was.
    std::string why_foreign() const;
    const std::filesystem::path& folder() const;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

// The order in which threads should compile kernels: longest text first, as its kernel takes longest, and the
// others would wait for it at the end.
std::vector<std::size_t> longest_first(std::size_t kernels,
                                       const std::function<std::size_t(std::size_t)>& length);

// TILEWALK_CACHE_DIR, else XDG_CACHE_HOME/tilewalk, else HOME/.cache/tilewalk; empty if none is set.
std::filesystem::path default_cache_folder();
// Why kernels can't be kept in `folder`, as far as this shows without writing; empty if they can.
std::string why_not_kept_in(const std::filesystem::path& folder);

}  // namespace tilewalk::cuda
