// SPDX-License-Identifier: Apache-2.0
// Verification: the verdict, its columns, and the texts of the command.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/extension/results.h"
#include "python/extension/runs.h"
#include "tilewalk/products.h"
#include "tilewalk/verify.h"

namespace tilewalk::python {

namespace {

run_settings settings_for_verification(const nb::dict& by_name) {
    std::vector<std::string> known;
    for (const verified_setting& one : verified_settings()) known.emplace_back(one.name);
    for (auto [key, said] : by_name) {
        const std::string name = nb::cast<std::string>(nb::str(key));
        if (std::ranges::find(known, name) == known.end())
            throw error(error_kind::usage, "verify: unknown setting '" + name + "'" +
                                               alternatives(name, "known settings:", known));
    }
    return settings_of(by_name);
}

nb::any verify(std::optional<std::uint64_t> trades, const std::vector<std::string>& products, bool greeks,
               const std::string& plant, const nb::dict& settings, const nb::dict& how) {
    verify_request what;
    what.trades = trades;
    what.products = products;
    what.greeks = greeks;
    what.plant = plant;
    what.settings = settings_for_verification(settings);
    const auto get = [&](const char* name) {
        return how.contains(name) ? nb::object(how[name]) : nb::none();
    };
    const verification made = run_beside(get("progress"), get("cancel"), [&](const run_options& watched) {
        what.on_progress = watched.on_progress;
        what.cancel = watched.cancel;
        return verify_prices(what);
    });
    if (!made.is_complete()) throw error(error_kind::cancelled, "the run was stopped");
    return any_of(nb::cast(made));
}

}  // namespace

void add_verification(nb::module_& to) {
    nb::class_<verification>(to, "Verification", "The verdict on prices of random trades that are known.")
        .def("rows", [](const verification& self) { return object_of(table_of(self.columns())); })
        .def(
            "text",
            [](const verification& self, const std::string& format, std::size_t columns) {
                text_form form;
                form.columns = columns;
                return self.text(format_of(format), form);
            },
            nb::arg("format"), nb::arg("columns") = 200)
        .def_prop_ro("holds", &verification::holds);
    to.def("verify", verify, nb::arg("trades").none(), nb::arg("products"), nb::arg("greeks"),
           nb::arg("plant"), nb::arg("settings"), nb::arg("how"));
    to.attr("most_verified_trades") = most_verified_trades;
}

}  // namespace tilewalk::python
