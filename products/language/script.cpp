// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "products/language/checker.h"
#include "products/language/parser.h"
#include "products/language/product.h"

namespace tilewalk::language {

script::script(std::string source, location origin, const std::vector<parameter>& parameters,
               const std::vector<placed_text>& features)
    : source_(std::move(source)) {
    syntax tree = parse(source_, origin);
    for (const placed_text& f : features) {
        expression e = parse_expression(f.text, f.where);
        if (f.text == word_of_states) {
            tree.states_word = e.where;
            continue;
        }
        features_.push_back(f);
        tree.features.push_back(std::move(e));
    }
    tree.parameters = parameters;
    check(tree);
    tree_ = std::make_shared<const syntax>(std::move(tree));
}

bool script::has_rights() const {
    return tree_->has_rights;
}

}  // namespace tilewalk::language
