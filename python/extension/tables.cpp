// SPDX-License-Identifier: Apache-2.0
#include "python/extension/tables.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "python/extension/arrow.h"
#include "tilewalk/error.h"
#include "tilewalk/products.h"

namespace tilewalk::python {

namespace {

// A table as Python holds it: by a pointer, so that views of columns can outlive the results.
struct shown_table {
    std::shared_ptr<const table> of;
};

const column& find(const table& in, const std::string& name) {
    std::vector<std::string> known;
    for (const column& one : in.columns) {
        if (one.name == name) return one;
        known.push_back(one.name);
    }
    throw error(error_kind::usage, "no column '" + name + "'" + alternatives(name, "columns:", known));
}

template <class Number>
nb::any view(const std::vector<Number>& of, nb::handle owner) {
    return any_of(nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(of.data(), {of.size()}, owner)));
}

nb::any str_of(std::string_view text) {
    return any_of(nb::str(text.data(), text.size()));
}

nb::any array(nb::handle_t<shown_table> self, const std::string& name) {
    const table& in = *nb::cast<shown_table&>(self).of;
    const column& of = find(in, name);
    if (const auto* all = std::get_if<figures>(&of.data)) return view(*all, self);
    if (const auto* all = std::get_if<counts>(&of.data)) return view(*all, self);
    if (const auto* all = std::get_if<flags>(&of.data))
        return any_of(
            nb::cast(nb::ndarray<nb::numpy, const bool, nb::ndim<1>>(all->data(), {all->size()}, self)));
    if (const auto* all = std::get_if<coded_texts>(&of.data))
        return std::visit([&](const auto& codes) { return view(codes, self); }, all->of());
    return any_of(nb::none());
}

nb::list strings(const shown_table& self, const std::string& name) {
    const column& of = find(*self.of, name);
    nb::list out;
    if (const auto* all = std::get_if<texts>(&of.data)) {
        for (std::size_t row = 0; row < self.of->rows; ++row) out.append(str_of(all->at(row)));
    } else if (const auto* coded = std::get_if<coded_texts>(&of.data)) {
        for (const std::string& word : coded->words()) out.append(str_of(word));
    }
    return out;
}

const char* kind_of(const column& of) {
    constexpr const char* kinds[] = {"figures", "counts", "flags", "texts", "coded"};
    return kinds[of.data.index()];
}

nb::any cell(const shown_table& self, const std::string& name, std::size_t row) {
    if (row >= self.of->rows) throw nb::index_error("no such row");
    const column& of = find(*self.of, name);
    if (const auto* all = std::get_if<figures>(&of.data)) return any_of(nb::float_((*all)[row]));
    if (!of.absent.empty() && of.absent[row] != 0) return any_of(nb::none());
    if (const auto* all = std::get_if<counts>(&of.data)) return any_of(nb::int_((*all)[row]));
    if (const auto* all = std::get_if<flags>(&of.data)) return any_of(nb::bool_((*all)[row] != 0));
    if (const auto* all = std::get_if<texts>(&of.data)) return str_of(all->at(row));
    const auto& coded = std::get<coded_texts>(of.data);
    return std::visit(
        [&](const auto& codes) { return str_of(coded.words()[static_cast<std::size_t>(codes[row])]); },
        coded.of());
}

std::vector<std::size_t> places(const shown_table& self, const std::string& name, const std::string& text) {
    const column& of = find(*self.of, name);
    std::vector<std::size_t> out;
    if (const auto* all = std::get_if<texts>(&of.data))
        for (std::size_t row = 0; row < self.of->rows; ++row)
            if (all->at(row) == text) out.push_back(row);
    return out;
}

}  // namespace

void coded_texts::add(std::string_view text) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<std::int32_t>(words_.size()));
    if (is_new) words_.emplace_back(text);
    std::get<0>(codes_).push_back(at->second);
}

void coded_texts::finish() {
    const std::vector<std::int32_t> wide = std::move(std::get<0>(codes_));
    const auto fits = [&](auto narrow) {
        return words_.size() <= static_cast<std::size_t>(std::numeric_limits<decltype(narrow)>::max());
    };
    const auto narrowed = [&]<class Code>(std::vector<Code> out) {
        out.reserve(wide.size());
        for (const std::int32_t code : wide) out.push_back(static_cast<Code>(code));
        return out;
    };
    if (fits(std::int8_t{})) {
        codes_ = narrowed(std::vector<std::int8_t>());
    } else if (fits(std::int16_t{})) {
        codes_ = narrowed(std::vector<std::int16_t>());
    } else {
        codes_ = wide;
    }
    numbers_.clear();
}

nb::any object_of(std::shared_ptr<const table> made) {
    return any_of(nb::cast(shown_table{std::move(made)}));
}

void add_tables(nb::module_& to) {
    nb::class_<shown_table>(to, "Table", "Columns in memory, which NumPy and Arrow read without a copy.")
        .def("__len__", [](const shown_table& self) { return self.of->rows; })
        .def_prop_ro("names",
                     [](const shown_table& self) {
                         std::vector<std::string> out;
                         for (const column& one : self.of->columns) out.push_back(one.name);
                         return out;
                     })
        .def(
            "kind",
            [](const shown_table& self, const std::string& name) { return kind_of(find(*self.of, name)); },
            nb::arg("name"))
        .def("array", array, nb::arg("name"))
        .def("strings", strings, nb::arg("name"))
        .def("cell", cell, nb::arg("name"), nb::arg("row"))
        .def("places", places, nb::arg("name"), nb::arg("text"))
        .def("arrow_stream", [](const shown_table& self) { return arrow_stream(self.of); });
}

}  // namespace tilewalk::python
