// SPDX-License-Identifier: Apache-2.0
#include "python/extension/values.h"

#include <nanobind/stl/string.h>

#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk::python {

namespace {

constexpr int most_nesting = 100;

std::string text_of(nb::handle object) {
    return nb::cast<std::string>(nb::str(object));
}

value read(nb::handle object, int depth);

value list_of(nb::handle object, int depth) {
    std::vector<value> items;
    for (nb::handle item : object) items.push_back(read(item, depth + 1));
    return value::list(std::move(items));
}

// A day that falls on midnight is a date, which is all that YAML has.
value moment_of(nb::handle object) {
    std::string text = nb::cast<std::string>(object.attr("isoformat")());
    const std::size_t time = text.find('T');
    if (time != text.npos && text.find_first_not_of("0:.", time + 1) == text.npos) text.resize(time);
    return text;
}

// A day reads as a key as it does as a value.
std::string key_of(nb::handle object) {
    if (!nb::isinstance<nb::str>(object) && nb::hasattr(object, "isoformat")) return moment_of(object).text();
    return text_of(object);
}

// Members of whatever has items(): a dict, or a Series of pandas.
template <class Items>
value mapping_of(Items items, int depth) {
    std::vector<value::member> members;
    for (auto [key, held] : items) members.push_back({key_of(key), read(held, depth + 1)});
    return value::mapping(std::move(members));
}

// A Series whose index only counts is a list.
bool is_mapping(nb::handle object) {
    if (!nb::hasattr(object, "items")) return false;
    return !nb::hasattr(object, "index") ||
           nb::cast<std::string>(object.attr("index").type().attr("__name__")) != "RangeIndex";
}

value read(nb::handle object, int depth) {
    if (depth > most_nesting) throw error(error_kind::usage, "a value that is nested more than 100 deep");
    if (object.is_none()) return {};
    if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
    if (nb::isinstance<nb::int_>(object)) return value::scalar(text_of(object), false);
    if (nb::isinstance<nb::float_>(object)) {
        const double number = nb::cast<double>(object);
        // As its word: who reads it refuses it at its key, and in a trade refuses that trade alone.
        if (!std::isfinite(number)) return value::scalar(text_of(object), false);
        return number;
    }
    if (nb::isinstance<nb::str>(object)) return nb::cast<std::string>(object);
    if (nb::isinstance<nb::dict>(object)) return mapping_of(nb::borrow<nb::dict>(object), depth);
    if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) return list_of(object, depth);
    if (is_mapping(object)) {
        const nb::object made = nb::module_::import_("builtins").attr("dict")(object.attr("items")());
        return mapping_of(nb::borrow<nb::dict>(made), depth);
    }
    if (nb::hasattr(object, "isoformat")) return moment_of(object);
    if (nb::hasattr(object, "__fspath__")) return path_of(object).string();
    // Arrays, and the numbers that they are made of.
    if (nb::hasattr(object, "tolist")) return read(object.attr("tolist")(), depth + 1);
    if (nb::hasattr(object, "item")) return read(object.attr("item")(), depth + 1);
    throw error(error_kind::usage, "found an object of type " +
                                       nb::cast<std::string>(nb::type_name(object.type())) +
                                       ", expected None, a bool, a number, a text, a date, a list or a dict");
}

nb::object scalar_of(const value& of) {
    const std::string& text = of.text();
    if (of.is_quoted()) return nb::str(text.data(), text.size());
    if (text == "true" || text == "false") return nb::bool_(text == "true");
    if (text == "null" || text == "~") return nb::none();
    const char* end = text.data() + text.size();
    long long whole = 0;
    if (const auto [at, failed] = std::from_chars(text.data(), end, whole);
        failed == std::errc() && at == end)
        return nb::int_(whole);
    double number = 0;
    if (const auto [at, failed] = std::from_chars(text.data(), end, number);
        failed == std::errc() && at == end && std::isfinite(number))
        return nb::float_(number);
    return nb::str(text.data(), text.size());
}

}  // namespace

value value_of(nb::handle object) {
    return read(object, 0);
}

nb::any object_of(const value& of) {
    switch (of.kind()) {
        case value::shape::nothing:
            return any_of(nb::none());
        case value::shape::scalar:
            return any_of(scalar_of(of));
        case value::shape::list: {
            nb::list out;
            for (const value& item : of.items()) out.append(object_of(item));
            return any_of(out);
        }
        case value::shape::mapping:
            break;
    }
    nb::dict out;
    for (const value::member& member : of.members()) out[member.key.c_str()] = object_of(member.held);
    return any_of(out);
}

std::filesystem::path path_of(nb::handle object) {
    const nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    if (!nb::isinstance<nb::str>(path)) throw error(error_kind::usage, "a path in bytes, expected a text");
    return nb::cast<std::string>(path);
}

}  // namespace tilewalk::python
