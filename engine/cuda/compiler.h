// SPDX-License-Identifier: Apache-2.0
// CUDA text to machine code, at run time and without a GPU: NVRTC, with the kernel headers that travel in
// this library.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/cuda/toolkit_headers.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct compile_request {
    std::string text;          // a translation unit; includes "kernels/..." alone, but for `headers`
    std::string architecture;  // "sm_90"
    // For a text that shows what one would write with the toolkit alone. It is built as one would for speed,
    // with contraction and --use_fast_math: its bits are promised by nobody.
    toolkit_headers headers{};
};

struct compiled {
    std::string cubin;
    std::string ptx;  // if it was asked for
    std::string log;  // warnings, and ptxas's report of registers, spills and stack
};

// Throws tilewalk::error (compile) with the compiler's own words.
class compiler {
  public:
    virtual ~compiler() = default;
    virtual compiled compile(const compile_request& what, bool with_ptx = false) = 0;
    // What decides what comes out, besides the request: the compiler's version, its options, the headers.
    // One line.
    virtual std::string fingerprint() const = 0;
};

// The NVRTC that this machine has, found at run time; throws tilewalk::error (device) that says what was
// looked for if there is none. Safe to use by many threads.
compiler& nvrtc_compiler();
// Empty if nvrtc_compiler() works, else why not.
std::string why_no_compiler();

// The folder of that library; empty where there is none, or it is not known.
std::string nvrtc_folder();

// The first of these libraries that is an NVRTC new enough; throws as nvrtc_compiler() does. A library is a
// path, or a name that the loader finds; it stays loaded.
std::unique_ptr<compiler> open_nvrtc(std::span<const std::string> libraries);

}  // namespace tilewalk::cuda
