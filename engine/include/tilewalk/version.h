// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tilewalk {

std::string_view version() noexcept;

// Compiler and CUDA version that built the library: "GCC 12.2.0" and "12.9", which is empty without CUDA.
std::string compiler();
std::string_view cuda_version() noexcept;

}  // namespace tilewalk
