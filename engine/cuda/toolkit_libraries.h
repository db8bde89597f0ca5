// SPDX-License-Identifier: Apache-2.0
// Where a library of the CUDA toolkit may be that is loaded at run time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::cuda {

// With the loader, in the toolkit of this build, in the user's (CUDA_HOME, CUDA_PATH), in the usual place; of
// each place every name, in turn.
std::vector<std::string> toolkit_libraries(std::span<const std::string_view> names);

}  // namespace tilewalk::cuda
