// SPDX-License-Identifier: Apache-2.0
// Headers of the CUDA toolkit that this machine has, for kernels that show what one would write without ours.
// Kernels that price read none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

struct toolkit_headers {
    std::vector<std::string> folders;  // where a compiler looks for them, in turn
    std::string digest;                // of those that decide what comes out: part of a kernel's key
};

// Of the first of these folders that has every header of these names, in itself or in its folder `cccl`,
// where the CUDA C++ library is from 13.0 on. The digest is of the first header and all that lie beside it
// (its own parts), and of the other names. Throws tilewalk::error (device) that says where it looked.
toolkit_headers find_toolkit_headers(std::span<const std::string_view> names,
                                     std::span<const std::string> folders);

// Beside the NVRTC that is in use, whose headers are of its own version; then beside the libraries of every
// toolkit that is known; then in the usual places.
std::vector<std::string> toolkit_header_folders();

}  // namespace tilewalk::cuda
