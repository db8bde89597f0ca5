// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/extension/interpreter.h"
#include "python/extension/module.h"
#include "python/extension/runs.h"
#include "python/extension/values.h"
#include "tilewalk/products.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::python {

namespace {

nb::dict dict_of(const product_page& page) {
    nb::list parameters;
    for (const product_parameter& p : page.parameters) {
        nb::dict one;
        one["name"] = p.name;
        one["type"] = p.type;
        one["range"] = p.range;
        one["default"] = p.default_value;
        one["help"] = p.help;
        parameters.append(one);
    }
    nb::dict out;
    out["name"] = page.name;
    out["group"] = page.group;
    out["summary"] = page.summary;
    out["description"] = page.description;
    out["formula"] = page.formula;
    out["parameters"] = parameters;
    out["script"] = page.script;
    out["example"] = page.example;
    out["text"] = text_of(page, output_format::table);
    return out;
}

nb::dict settings_of_book(const book& self) {
    nb::dict out;
    for (const run_setting& known : setting_table())
        if (const auto text = known.text(self.settings())) out[known.name.c_str()] = *text;
    return out;
}

}  // namespace

void add_books(nb::module_& to) {
    nb::class_<book>(to, "Book", "Trades, with the market and the settings that they ask for.")
        .def_static(
            "load",
            [](nb::handle file, bool strict, bool confine) {
                const std::filesystem::path path = path_of(file);
                const without_interpreter others_run;
                return book::load(path, loading(strict, confine));
            },
            nb::arg("file"), nb::arg("strict") = false, nb::arg("confine") = false)
        .def_static(
            "parse",
            [](const std::string& yaml, const std::string& name, nb::handle folder) {
                const std::filesystem::path in = path_of(folder);
                const without_interpreter others_run;
                return book::parse(yaml, name, in);
            },
            nb::arg("yaml"), nb::arg("name"), nb::arg("folder"))
        .def_static(
            "of",
            [](nb::handle written, const std::string& name, nb::handle folder) {
                const value of = value_of(written);
                const std::filesystem::path in = path_of(folder);
                const without_interpreter others_run;
                return book::from_value(of, name, in);
            },
            nb::arg("written"), nb::arg("name"), nb::arg("folder"))
        .def("__len__", &book::size)
        .def_prop_ro("market", [](const book& self) { return self.market(); })
        .def_prop_ro("settings", settings_of_book)
        .def_prop_ro("files",
                     [](const book& self) {
                         std::vector<std::string> out;
                         for (const auto& file : self.files()) out.push_back(file.string());
                         return out;
                     })
        .def("only", &book::only, nb::arg("trades"))
        .def("written", [](const book& self) { return object_of(self.written()); })
        .def("yaml", [](const book& self) { return self.written().yaml(); });

    to.def("product_pages", [] {
        nb::list out;
        for (const product_page& page : product_pages()) out.append(dict_of(page));
        return out;
    });
    to.def(
        "load_product", [](nb::handle file) { return dict_of(load_product_page(path_of(file))); },
        nb::arg("file"));
    to.def(
        "read_product",
        [](const std::string& yaml, const std::string& name) {
            return dict_of(read_product_page(yaml, name));
        },
        nb::arg("yaml"), nb::arg("name") = "product");
    to.def(
        "yaml_of", [](nb::handle object) { return value_of(object).yaml(); }, nb::arg("object"));
    to.def(
        "object_of_yaml",
        [](const std::string& yaml, const std::string& name) { return object_of(value::parse(yaml, name)); },
        nb::arg("yaml"), nb::arg("name"));
    to.def("alternatives", alternatives, nb::arg("wrong"), nb::arg("what"), nb::arg("known"));
}

}  // namespace tilewalk::python
