// SPDX-License-Identifier: Apache-2.0
// Reads the products that the build has put into the binary.
#include "engine/book/library.h"

#include <algorithm>
#include <string>

namespace tilewalk::books {

namespace {

std::vector<std::shared_ptr<const language::product>> read_files() {
    std::vector<std::shared_ptr<const language::product>> products;
    for (const auto& file : library_files()) {
        const std::string name = "library/" + std::string(file.name);
        const config::document read = config::read_document(file.text, name);
        products.push_back(read_product(read.root));
        config::demand_end(read);
        // The file is found by the name of its product: there can be no two of one name.
        if (products.back()->name + ".yaml" != file.name) {
            throw error(error_kind::internal,
                        "found the product '" + products.back()->name + "' in a file of another name",
                        {name});
        }
    }
    std::sort(products.begin(), products.end(),
              [](const auto& a, const auto& b) { return a->name < b->name; });
    return products;
}

}  // namespace

std::vector<std::shared_ptr<const language::product>> read_library() {
    // The files are part of the binary and products never change, so a process reads them once.
    static const auto products = read_files();
    return products;
}

}  // namespace tilewalk::books
