// SPDX-License-Identifier: Apache-2.0
// Headers of this machine's CUDA toolkit, for kernels that show what one would write without ours. Kernels
// that price include none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

struct toolkit_headers {
    std::vector<std::string> folders;  // in the order in which a compiler searches them
    std::string digest;                // of the headers that decide the output; part of a kernel's key
};

// The headers from the first of these folders that has all of these names, in itself or in its folder `cccl`,
// where the CUDA C++ library is from 13.0 on. The digest covers the first header and all files beside it (its
// own parts), and the other names. Throws tilewalk::error (device) that lists where it looked.
toolkit_headers find_toolkit_headers(std::span<const std::string_view> names,
                                     std::span<const std::string> folders);

// Folders of headers of the toolkit whose NVRTC lies in this folder, in the order of search; none if that is
// empty. No other toolkit's: headers and a compiler of two versions are no pair.
std::vector<std::string> toolkit_header_folders(const std::string& libraries);

}  // namespace tilewalk::cuda
