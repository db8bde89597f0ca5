// SPDX-License-Identifier: Apache-2.0
// Pictures of trades, and import of portfolios.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/extension/interpreter.h"
#include "python/extension/module.h"
#include "python/extension/runs.h"
#include "python/extension/values.h"
#include "tilewalk/import.h"
#include "tilewalk/page.h"

namespace tilewalk::python {

namespace {

std::string picture(const book& trades, const market& in, const std::string& trade, std::size_t paths,
                    const nb::dict& settings, const nb::dict&) {
    run_options options;
    options.overrides = settings_of(settings);
    const auto by = engine_with("auto");
    const without_interpreter others_run;
    const trade_paths walked = paths_of(*by, trades, in, trade, options, paths);
    return picture_of(by->explain(trades.only({trade}), in, options).front(), walked);
}

nb::dict imported(nb::handle portfolio, nb::handle names) {
    const std::filesystem::path file = path_of(portfolio);
    const std::filesystem::path leads = path_of(names);
    imported_portfolio found;
    {
        const without_interpreter others_run;
        found = import_ore(file, leads);
    }
    nb::list refused;
    for (const refused_trade& one : found.refused)
        refused.append(
            nb::make_tuple(one.trade, one.reason, one.where.file, one.where.line, one.where.column));
    nb::dict out;
    out["book"] = object_of(found.book);
    out["found"] = found.found;
    out["imported"] = found.imported;
    out["refused"] = refused;
    out["taken"] = found.taken;
    return out;
}

}  // namespace

void add_pictures(nb::module_& to) {
    to.def("picture", picture, nb::arg("book"), nb::arg("market"), nb::arg("trade"), nb::arg("paths"),
           nb::arg("settings"), nb::arg("how"));
    to.def("import_ore", imported, nb::arg("portfolio"), nb::arg("names"));
}

}  // namespace tilewalk::python
