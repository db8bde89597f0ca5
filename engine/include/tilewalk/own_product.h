// SPDX-License-Identifier: Apache-2.0
// Products of one's own, checked on their own: the page of a product that a book may name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tilewalk/products.h"

namespace tilewalk {

// Reads the file of a product as a book would. Throws tilewalk::error (input, io) with the place of what is
// wrong.
product_page load_product_page(const std::filesystem::path& file);
// The same from text; `name` is what errors call it.
product_page read_product_page(std::string_view yaml, const std::string& name = "product");

}  // namespace tilewalk
