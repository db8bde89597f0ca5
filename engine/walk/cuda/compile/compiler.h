// SPDX-License-Identifier: Apache-2.0
// A compiler of CUDA text to machine code, at run time and without a GPU: NVRTC with the kernel headers
// carried in this library.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/walk/cuda/compile/toolkit_headers.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct compile_request {
    std::string text;          // a translation unit; includes "kernels/..." alone, but for `headers`
    std::string architecture;  // "sm_90"
    // Headers of the toolkit, for a text that shows a kernel written with the toolkit alone. Such a text is
    // built for speed, with contraction and --use_fast_math; its bits are not promised.
    toolkit_headers headers{};
};

struct compiled {
    std::string cubin;
    std::string ptx;  // only if asked for
    std::string log;  // warnings, and ptxas's report of registers, spills and stack
};

// Throws tilewalk::error (compile) with the compiler's own words.
class compiler {
  public:
    virtual ~compiler() = default;
    virtual compiled compile(const compile_request& what, bool with_ptx = false) = 0;
    // One line with everything that decides the output besides the request: the compiler's version, its
    // options, the headers.
    virtual std::string fingerprint() const = 0;
};

// The NVRTC of this machine, found at run time. If there is none, throws tilewalk::error (device) that lists
// where it looked. Safe to use by many threads.
compiler& nvrtc_compiler();
// Empty if nvrtc_compiler() works, otherwise the reason.
std::string why_no_compiler();

// The name and version of that library, "NVRTC 13.0", and its folder; empty if there is none.
std::string nvrtc_version();
std::string nvrtc_folder();

// The first of these libraries that is an NVRTC new enough, with the library of its built-in functions beside
// it; throws as nvrtc_compiler() does. A library is a path, or a name that the loader finds; it stays loaded.
std::unique_ptr<compiler> open_nvrtc(std::span<const std::string> libraries);

}  // namespace tilewalk::cuda
