// SPDX-License-Identifier: Apache-2.0
// CUDA toolkit headers of this machine, for comparison kernels. Kernels that price include none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

struct toolkit_headers {
    std::vector<std::string> folders;  // in the compiler's search order
    std::string digest;                // covers the headers that decide the output; part of a kernel's key
};

// Takes the first folder that has all names, in itself or in `cccl`, as since 13.0. The digest covers the
// first header, all files beside it, and the other names. Throws tilewalk::error (device) listing the places.
toolkit_headers find_toolkit_headers(std::span<const std::string_view> names,
                                     std::span<const std::string> folders);

// Header folders of the toolkit whose NVRTC lies in `libraries`, in search order; empty if that is empty.
// Headers of another toolkit would not fit the compiler.
std::vector<std::string> toolkit_header_folders(const std::string& libraries);

}  // namespace tilewalk::cuda
