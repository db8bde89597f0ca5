// SPDX-License-Identifier: Apache-2.0
// All headers of kernels/, embedded in the binary for the run-time compiler.
#pragma once

#include <span>
#include <string_view>

namespace tilewalk::cuda {

struct kernel_header {
    std::string_view name;  // such as "kernels/feeds/none.h"
    std::string_view text;
};
std::span<const kernel_header> kernel_headers();  // defined in a file that the build generates

}  // namespace tilewalk::cuda
