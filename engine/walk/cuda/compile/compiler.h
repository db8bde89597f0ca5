// SPDX-License-Identifier: Apache-2.0
// Compiles CUDA text to machine code at run time by NVRTC, without a GPU. The kernel headers are embedded.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/walk/cuda/compile/toolkit_headers.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct compile_request {
    std::string text;          // a translation unit that includes only "kernels/..." and `headers`
    std::string architecture;  // such as "sm_90"
    // Toolkit headers, for comparison kernels that use the toolkit's own functions. With any, contraction and
    // --use_fast_math are on, and bits are not promised.
    toolkit_headers headers{};
};

struct compiled {
    std::string cubin;
    std::string ptx;  // only if asked for
    std::string log;  // warnings, and ptxas's report of registers, spills and stack
};

// A run-time compiler. compile() throws tilewalk::error (compile) with the compiler's messages.
class compiler {
  public:
    virtual ~compiler() = default;
    virtual compiled compile(const compile_request& what, bool with_ptx = false) = 0;
    // One line with all else that decides the output: the compiler's version, its options, our headers.
    virtual std::string fingerprint() const = 0;
};

// The NVRTC of this machine. Throws tilewalk::error (device) that lists the places searched. Thread-safe.
compiler& nvrtc_compiler();
// Empty if nvrtc_compiler() works, otherwise the reason.
std::string why_no_compiler();

// "NVRTC 13.0", and the folder of its library; empty if NVRTC is not found.
std::string nvrtc_version();
std::string nvrtc_folder();

// Opens the first library of the list (paths or names for the loader) that is a recent enough NVRTC and has
// its built-ins library beside it; throws like nvrtc_compiler(). Libraries are never unloaded.
std::unique_ptr<compiler> open_nvrtc(std::span<const std::string> libraries);

}  // namespace tilewalk::cuda
