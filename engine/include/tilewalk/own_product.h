// SPDX-License-Identifier: Apache-2.0
// Pages of the user's own products, checked without a book.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tilewalk/products.h"

namespace tilewalk {

// Reads a product file as a book would. Throws tilewalk::error (input, io) with the place of the fault.
product_page load_product_page(const std::filesystem::path& file);
product_page read_product_page(std::string_view yaml, const std::string& name = "product");

}  // namespace tilewalk
