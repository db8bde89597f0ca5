// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "products/language/product.h"

namespace tilewalk::language {

namespace {

constexpr std::array<std::pair<parameter_type, std::string_view>, 11> names{{
    {parameter_type::amount, "amount"},
    {parameter_type::number, "number"},
    {parameter_type::rate, "rate"},
    {parameter_type::integer, "integer"},
    {parameter_type::boolean, "boolean"},
    {parameter_type::choice, "choice"},
    {parameter_type::date, "date"},
    {parameter_type::schedule, "schedule"},
    {parameter_type::asset, "asset"},
    {parameter_type::asset_list, "asset_list"},
    {parameter_type::currency, "currency"},
}};

}  // namespace

std::optional<parameter_type> parse_parameter_type(std::string_view name) {
    for (const auto& [type, text] : names) {
        if (text == name) return type;
    }
    return std::nullopt;
}

std::string_view to_string(parameter_type type) {
    for (const auto& [known, text] : names) {
        if (known == type) return text;
    }
    return "unknown";
}

}  // namespace tilewalk::language
