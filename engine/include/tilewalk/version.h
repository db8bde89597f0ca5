// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tilewalk {

// "0.1.0"
std::string_view version() noexcept;

// The tools the library was built with: "GCC 12.2.0", and of CUDA "12.9", or nothing if it was built without.
std::string compiler();
std::string_view cuda_version() noexcept;

}  // namespace tilewalk
