// SPDX-License-Identifier: Apache-2.0
// Differences for standard shifts of a market as a table, and files for risk systems.
#include "python/extension/differences.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <sstream>
#include <utility>

#include "python/extension/interpreter.h"
#include "python/extension/results.h"
#include "python/extension/runs.h"
#include "tilewalk/files.h"
#include "tilewalk/products.h"

namespace tilewalk::python {

namespace {

struct held_differences {
    std::shared_ptr<const difference_results> of;
};

nb::any rows_of(const held_differences& self) {
    using row = difference_row;
    const difference_results& of = *self.of;
    const std::vector<row>& rows = of.rows;
    const auto figures_of = [&](const char* name, difference row::*side, double difference::*figure) {
        return column_of<figures>(name, rows, [=](const row& r) { return (r.*side).*figure; });
    };
    table out;
    out.rows = rows.size();
    out.columns = {
        column_of<texts>("trade", rows, [&](const row& r) { return of.values.rows[r.trade].trade; }),
        column_of<coded_texts>("currency", rows,
                               [&](const row& r) { return of.values.rows[r.trade].currency; }),
        column_of<coded_texts>("key", rows, [](const row& r) { return r.key; }),
        column_of<coded_texts>("second_key", rows, [](const row& r) { return r.second_key; }),
        column_of<figures>("size", rows, [](const row& r) { return r.size; }),
        column_of<figures>("second_size", rows, [](const row& r) { return r.second_size; }),
        figures_of("delta", &row::own, &difference::delta),
        figures_of("delta_error", &row::own, &difference::delta_error),
        figures_of("gamma", &row::own, &difference::gamma),
        figures_of("gamma_error", &row::own, &difference::gamma_error),
        figures_of("base_delta", &row::base, &difference::delta),
        figures_of("base_delta_error", &row::base, &difference::delta_error),
        figures_of("base_gamma", &row::base, &difference::gamma),
        figures_of("base_gamma_error", &row::base, &difference::gamma_error),
        column_of<coded_texts>("method", rows, [](const row& r) { return r.method; }),
        column_of<counts>("paths", rows, [](const row& r) { return r.paths; }),
    };
    return object_of(std::make_shared<const table>(std::move(out)));
}

std::vector<std::string> files_of(const held_differences& self) {
    std::vector<std::string> out;
    for (const difference_report& one : difference_reports())
        if (!one.is_of_simm || self.of->simm) out.emplace_back(one.file);
    return out;
}

std::vector<std::string> files_of_values() {
    std::vector<std::string> out;
    for (const difference_report& one : value_reports()) out.emplace_back(one.file);
    return out;
}

std::string write_report_of_differences(const held_differences& self, const std::string& file) {
    for (const difference_report& one : difference_reports()) {
        if (one.file != file) continue;
        const without_interpreter others_run;
        std::ostringstream out;
        one.write(out, *self.of);
        return std::move(out).str();
    }
    throw error(error_kind::usage, "no file '" + file + "'" + alternatives(file, "files:", files_of(self)));
}

nb::any values(const book& trades, const market& in, const held_results& priced) {
    difference_results out;
    {
        const without_interpreter others_run;
        out = valued(trades, in, priced.get());
    }
    return object_of(std::move(out));
}

}  // namespace

nb::any object_of(difference_results of) {
    return any_of(nb::cast(held_differences{std::make_shared<const difference_results>(std::move(of))}));
}

void add_differences(nb::module_& to) {
    nb::class_<held_differences>(to, "Differences", "Values of a book, and their differences for shifts.")
        .def("rows", rows_of)
        .def("values", [](const held_differences& self) { return object_of(self.of->values); })
        .def_prop_ro("currency", [](const held_differences& self) { return self.of->currency; })
        .def_prop_ro("failures", [](const held_differences& self) { return self.of->failures; })
        .def_prop_ro("remarks", [](const held_differences& self) { return self.of->remarks; })
        .def_prop_ro("files", files_of)
        .def("report", write_report_of_differences, nb::arg("file"));
    to.def("valued", values, nb::arg("book"), nb::arg("market"), nb::arg("priced"));
    to.def("value_files", files_of_values);
}

}  // namespace tilewalk::python
