// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/parameters.h"

#include <algorithm>

#include "products/language/checking/wording.h"

namespace tilewalk::language::checking {

type type_of(parameter_type t) {
    switch (t) {
        case parameter_type::boolean:
            return type::truth;
        case parameter_type::choice:
            return type::choice;
        case parameter_type::date:
            return type::date;
        case parameter_type::schedule:
            return type::schedule;
        case parameter_type::asset:
            return type::asset;
        case parameter_type::asset_list:
            return type::asset_list;
        case parameter_type::currency:
            return type::currency;
        default:
            return type::number;
    }
}

parameters::parameters(syntax& tree) : tree_(tree), is_read_(tree.parameters.size(), false) {
    tree_.parameter_used.assign(tree_.parameters.size(), false);
    tree_.parameter_exchanged.assign(tree_.parameters.size(), false);
}

void parameters::check_declarations() const {
    for (const parameter& p : tree_.parameters) {
        const auto refuse = [&](const std::string& message) {
            throw error(error_kind::input, message, p.where);
        };
        if (is_special(p.name) || find_function(p.name) != nullptr ||
            std::find(keywords().begin(), keywords().end(), p.name) != keywords().end()) {
            refuse("parameter " + in_quotes(p.name) + " has the name of a word of the script language");
        }
        if (p.per.empty()) continue;
        const auto over = find(p.per);
        const type of = over ? type_at(*over) : type::number;
        if (!over || (of != type::schedule && of != type::asset_list)) {
            refuse("parameter " + in_quotes(p.name) + " is per " + in_quotes(p.per) +
                   ", which is neither a schedule nor an asset_list among the parameters" +
                   (over ? "" : suggestion(p.per, names())));
        }
        const type mine = type_of(p.type);
        if (mine != type::number && !(mine == type::date && of == type::schedule)) {
            refuse("parameter " + in_quotes(p.name) + " of type " + std::string(to_string(p.type)) +
                   " can't be per " + in_quotes(p.per) + "; numbers can, and dates per schedule");
        }
    }
}

std::optional<std::size_t> parameters::find(std::string_view name) const {
    for (std::size_t i = 0; i < tree_.parameters.size(); ++i) {
        if (tree_.parameters[i].name == name) return i;
    }
    return std::nullopt;
}

std::vector<std::string> parameters::names() const {
    std::vector<std::string> out;
    for (const parameter& p : tree_.parameters) out.push_back(p.name);
    return out;
}

std::vector<std::string> parameters::names_of_type(type t) const {
    std::vector<std::string> out;
    for (const parameter& p : tree_.parameters) {
        if (type_of(p.type) == t && p.per.empty()) out.push_back(p.name);
    }
    return out;
}

std::vector<std::string> parameters::names_of_optional() const {
    std::vector<std::string> out;
    for (const parameter& p : tree_.parameters) {
        if (p.optional) out.push_back(p.name);
    }
    return out;
}

void parameters::note_use(std::size_t number) {
    tree_.parameter_used[number] = true;
    is_read_[number] = true;
}

void parameters::check_all_are_read(const std::vector<std::string>& others) const {
    for (std::size_t i = 0; i < tree_.parameters.size(); ++i) {
        const parameter& p = tree_.parameters[i];
        const bool is_default = std::any_of(tree_.parameters.begin(), tree_.parameters.end(),
                                            [&](const parameter& q) { return q.same_as == p.name; });
        if (is_read_[i] || is_default) continue;
        std::vector<std::string> beside = others;
        for (const parameter& q : tree_.parameters) {
            if (q.name != p.name) beside.push_back(q.name);
        }
        throw error(error_kind::input,
                    "no line of the script reads parameter " + in_quotes(p.name) + suggestion(p.name, beside),
                    p.where);
    }
}

}  // namespace tilewalk::language::checking
