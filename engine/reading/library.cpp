// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/library.h"

#include <algorithm>

namespace tilewalk::books {

namespace {

std::shared_ptr<const language::product> read(const library_file& file) {
    const std::string name = "library/" + std::string(file.name);
    const config::document text = config::read_document(file.text, name);
    auto product = read_product(text.root);
    config::demand_end(text);
    if (product->name + ".yaml" != file.name) {
        throw error(error_kind::internal,
                    "found the product '" + product->name + "' in a file of another name", {name});
    }
    return product;
}

}  // namespace

product_library::product_library(std::span<const library_file> files) {
    for (const library_file& file : files) entries_[file.name.substr(0, file.name.rfind('.'))].file = &file;
}

std::shared_ptr<const language::product> product_library::find(std::string_view name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return nullptr;
    const entry& e = found->second;
    std::call_once(e.once, [&] { e.product = read(*e.file); });
    return e.product;
}

std::vector<std::string> product_library::names() const {
    std::vector<std::string> names;
    for (const auto& [name, e] : entries_) names.emplace_back(name);
    return names;
}

const product_library& library() {
    // Shared by the whole process, which reads each product once: products never change.
    static const product_library own(library_files());
    return own;
}

std::vector<std::shared_ptr<const language::product>> read_library() {
    std::vector<std::shared_ptr<const language::product>> products;
    for (const std::string& name : library().names()) products.push_back(library().find(name));
    return products;
}

std::shared_ptr<const language::product> product_of(std::string_view name, const own_products& own) {
    if (const auto found = own.find(name); found != own.end()) return found->second;
    return library().find(name);
}

}  // namespace tilewalk::books
