// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tilewalk {

std::string_view version() noexcept;

// Tools the library was built with: "GCC 12.2.0" and, of CUDA, "12.9"; empty without CUDA.
std::string compiler();
std::string_view cuda_version() noexcept;

}  // namespace tilewalk
