// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit's headers on this machine, for kernels to compare with. Kernels that price include none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

struct toolkit_headers {
    std::vector<std::string> folders;  // in the order in which the compiler searches them
    std::string digest;  // of the headers that the compiled code depends on; part of a kernel's key
};

// Searches `folders` for the first that has all headers `names`, in itself or in its folder `cccl` (CUDA 13.0
// and later). The digest covers the first header, all files beside it, and the other names. Throws
// tilewalk::error (device), listing the folders.
toolkit_headers find_toolkit_headers(std::span<const std::string_view> names,
                                     std::span<const std::string> folders);

// Header folders of the toolkit to which NVRTC in the folder `libraries` belongs, in search order; empty if
// `libraries` is empty. The headers of another toolkit would not fit the compiler.
std::vector<std::string> toolkit_header_folders(const std::string& libraries);

}  // namespace tilewalk::cuda
