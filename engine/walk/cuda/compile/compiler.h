// SPDX-License-Identifier: Apache-2.0
// Compiles CUDA text to machine code at run time, without a GPU: NVRTC with the kernel headers embedded here.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/walk/cuda/compile/toolkit_headers.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct compile_request {
    std::string text;          // a translation unit; includes "kernels/..." and `headers` alone
    std::string architecture;  // "sm_90"
    // Toolkit headers, for comparison kernels written with the toolkit alone. Contraction and --use_fast_math
    // are then on, and bits are not promised.
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
    // One line with all else that decides the output: the compiler's version, its options, the headers.
    virtual std::string fingerprint() const = 0;
};

// The machine's NVRTC. Throws tilewalk::error (device) that lists where it looked. Thread-safe.
compiler& nvrtc_compiler();
// Empty if nvrtc_compiler() works, otherwise the reason.
std::string why_no_compiler();

// "NVRTC 13.0", and its folder; empty if there is none.
std::string nvrtc_version();
std::string nvrtc_folder();

// Opens the first of these libraries (paths or loader names) that is a new enough NVRTC with its built-ins
// beside it; throws as nvrtc_compiler() does. Libraries stay loaded.
std::unique_ptr<compiler> open_nvrtc(std::span<const std::string> libraries);

}  // namespace tilewalk::cuda
