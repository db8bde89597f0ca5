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

// Thrown for an unsupported object, with its place. Enclosing lists and mappings put theirs in front.
struct no_value {
    std::string place, found;
};

[[noreturn]] void refuse(const no_value& of) {
    const std::string place = of.place.starts_with('.') ? of.place.substr(1) : of.place;
    throw error(error_kind::usage, (place.empty() ? "" : place + ": ") + of.found);
}

std::string text_of(nb::handle object) {
    const nb::str text(object);
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
    PyErr_Clear();
    throw no_value{{}, "found a text with half a character in it (a surrogate), expected one that UTF-8 has"};
}

value read(nb::handle object, int depth);

value list_of(nb::handle object, int depth) {
    std::vector<value> items;
    for (nb::handle item : object) {
        try {
            items.push_back(read(item, depth + 1));
        } catch (no_value& e) {
            e.place.insert(0, "[" + std::to_string(items.size()) + "]");
            throw;
        }
    }
    return value::list(std::move(items));
}

// The text of a date or time. A time at midnight becomes a date, the only form that a YAML book can have.
value moment_of(nb::handle object) {
    std::string text = nb::cast<std::string>(object.attr("isoformat")());
    const std::size_t time = text.find('T');
    if (time != text.npos && text.find_first_not_of("0:.", time + 1) == text.npos) text.resize(time);
    return text;
}

std::string key_of(nb::handle object) {
    if (!nb::isinstance<nb::str>(object) && nb::hasattr(object, "isoformat")) return moment_of(object).text();
    return text_of(object);
}

template <class Items>
value mapping_of(Items items, int depth) {
    std::vector<value::member> members;
    for (auto [key, held] : items) {
        const std::string name = key_of(key);
        try {
            members.push_back({name, read(held, depth + 1)});
        } catch (no_value& e) {
            e.place.insert(0, "." + name);
            throw;
        }
    }
    return value::mapping(std::move(members));
}

// True for a mapping. A pandas Series is one too, unless its index is a RangeIndex, which makes it a list.
bool is_mapping(nb::handle object) {
    if (!nb::hasattr(object, "items")) return false;
    return !nb::hasattr(object, "index") ||
           nb::cast<std::string>(object.attr("index").type().attr("__name__")) != "RangeIndex";
}

std::string type_of(nb::handle object) {
    return nb::cast<std::string>(nb::type_name(object.type()));
}

// The dtype kind of NumPy arrays and scalars ('M' for dates, 'm' for time spans), 0 for other objects.
char kind_in_numpy(nb::handle object) {
    if (!nb::hasattr(object, "dtype")) return 0;
    if (nb::cast<std::string>(object.type().attr("__module__")) != "numpy") return 0;
    return nb::cast<std::string>(object.attr("dtype").attr("kind"))[0];
}

value read(nb::handle object, int depth) {
    if (depth > most_nesting)
        throw error(error_kind::usage, "found a value nested more than 100 deep, which is the limit");
    if (object.is_none()) return {};
    if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
    if (nb::isinstance<nb::int_>(object)) return value::scalar(text_of(object), false);
    if (nb::isinstance<nb::float_>(object)) {
        const double number = nb::cast<double>(object);
        // Kept as text: the reader refuses it and names the key, and one in a trade fails this trade alone.
        if (!std::isfinite(number)) return value::scalar(text_of(object), false);
        return number;
    }
    if (nb::isinstance<nb::str>(object)) {
        if (nb::hasattr(object, "is_unquoted")) return value::scalar(text_of(object), false);
        return text_of(object);
    }
    if (nb::isinstance<nb::dict>(object)) return mapping_of(nb::borrow<nb::dict>(object), depth);
    if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) return list_of(object, depth);
    if (is_mapping(object)) {
        const nb::object made = nb::module_::import_("builtins").attr("dict")(object.attr("items")());
        return mapping_of(nb::borrow<nb::dict>(made), depth);
    }
    if (nb::hasattr(object, "isoformat")) return moment_of(object);
    if (nb::hasattr(object, "__fspath__")) return path_of(object).string();
    const char kind = kind_in_numpy(object);
    // Dates in a unit finer than microseconds would become integers.
    if (kind == 'M') return read(object.attr("astype")("datetime64[us]").attr("tolist")(), depth + 1);
    // NumPy arrays and their scalars, and numbers such as Decimal or Fraction.
    if (kind != 'm') {
        if (nb::hasattr(object, "tolist")) return read(object.attr("tolist")(), depth + 1);
        if (nb::hasattr(object, "item")) return read(object.attr("item")(), depth + 1);
        if (nb::hasattr(object, "__float__")) return read(nb::float_(object), depth + 1);
    }
    throw no_value{{},
                   "found an object of type " + type_of(object) +
                       ", expected None, a bool, a number, a text, a date, a list or a dict"};
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
    try {
        return read(object, 0);
    } catch (const no_value& e) {
        refuse(e);
    }
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
    if (!nb::isinstance<nb::str>(path))
        throw error(error_kind::usage, "found a path in bytes, expected a text");
    try {
        return text_of(path);
    } catch (const no_value& e) {
        refuse(e);
    }
}

load_options loading(bool strict, bool confine) {
    load_options out;
    out.strict = strict;
    out.confine = confine;
    return out;
}

}  // namespace tilewalk::python
