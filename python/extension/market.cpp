// SPDX-License-Identifier: Apache-2.0
// Markets and calibration.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "python/extension/interpreter.h"
#include "python/extension/results.h"
#include "python/extension/runs.h"
#include "python/extension/values.h"
#include "tilewalk/calibration.h"
#include "tilewalk/market.h"

namespace tilewalk::python {

namespace {

market changed(const market& self, const std::vector<std::pair<std::string, double>>& shifts,
               const std::vector<std::pair<std::string, double>>& sets) {
    std::vector<market_change> changes;
    for (const auto& [key, by] : shifts) changes.push_back({key, by, market_change::way::shift});
    for (const auto& [key, to] : sets) changes.push_back({key, to, market_change::way::set});
    const without_interpreter others_run;
    return self.changed(changes);
}

nb::dict dict_of(const market_number& number) {
    nb::dict out;
    out["key"] = number.key;
    out["value"] = number.value;
    out["unit"] = number.unit;
    return out;
}

nb::dict dict_of(const model_fit& fit) {
    constexpr const char* states[] = {"fitted", "fixed", "at_bound"};
    nb::list parameters, quotes;
    for (const fitted_parameter& p : fit.parameters) {
        nb::dict one;
        one["name"] = p.name;
        one["value"] = p.value;
        one["state"] = states[static_cast<std::size_t>(p.is)];
        parameters.append(one);
    }
    for (const fitted_quote& q : fit.quotes) {
        nb::dict one;
        one["name"] = q.name;
        one["key"] = q.key;
        one["weight"] = q.weight;
        one["market"] = q.market;
        one["model"] = q.model;
        one["difference"] = q.difference();
        quotes.append(one);
    }
    nb::dict out;
    out["of"] = fit.of;
    out["model"] = fit.model;
    out["part"] = fit.part;
    out["unit"] = fit.unit;
    out["parameters"] = parameters;
    out["quotes"] = quotes;
    out["has_converged"] = fit.has_converged;
    out["is_sound"] = fit.is_sound();
    out["starts"] = fit.starts;
    out["iterations"] = fit.iterations;
    out["evaluations"] = fit.evaluations;
    out["root_mean_square"] = fit.root_mean_square;
    out["largest"] = fit.largest;
    out["has_arbitrage"] = fit.has_arbitrage;
    out["remarks"] = fit.remarks;
    return out;
}

nb::dict fitted_to(const market_quotes& quotes, nb::object cancel) {
    const calibration found = run_beside(nb::none(), std::move(cancel), [&](const run_options& options) {
        return calibrate(quotes, options.cancel);
    });
    nb::list fits;
    for (const model_fit& fit : found.fits) fits.append(dict_of(fit));
    nb::dict out;
    out["as_of"] = found.as_of;
    out["fits"] = fits;
    out["market"] = found.market;
    out["is_sound"] = found.is_sound();
    std::string shown = text_of(found, output_format::table);
    out["text"] = shown;
    return out;
}

}  // namespace

void add_markets(nb::module_& to) {
    nb::class_<market>(to, "Market", "A market as of a day, which never changes.")
        .def_static(
            "load",
            [](nb::handle file, bool strict, bool confine) {
                const std::filesystem::path path = path_of(file);
                const without_interpreter others_run;
                return market::load(path, loading(strict, confine));
            },
            nb::arg("file"), nb::arg("strict") = false, nb::arg("confine") = false)
        .def_static(
            "parse",
            [](const std::string& yaml, const std::string& name) {
                const without_interpreter others_run;
                return market::parse(yaml, name);
            },
            nb::arg("yaml"), nb::arg("name") = "market")
        .def_static(
            "of",
            [](nb::handle written, const std::string& name) {
                const value of = value_of(written);
                const without_interpreter others_run;
                return market::from_value(of, name);
            },
            nb::arg("written"), nb::arg("name") = "market")
        .def_prop_ro("as_of", &market::as_of)
        .def_prop_ro("remarks", &market::remarks)
        .def_prop_ro("files",
                     [](const market& self) {
                         std::vector<std::string> out;
                         for (const auto& file : self.files()) out.push_back(file.string());
                         return out;
                     })
        .def("numbers", [](const market& self) { return object_of(table_of_numbers(self.numbers())); })
        .def("changes", [](const market& self) { return object_of(table_of_numbers(self.changes())); })
        .def(
            "number", [](const market& self, const std::string& key) { return dict_of(self.number(key)); },
            nb::arg("key"))
        .def("changed", changed, nb::arg("shifts"), nb::arg("sets"))
        .def("written", [](const market& self) { return object_of(self.written()); })
        .def("yaml", [](const market& self) { return self.written().yaml(); });

    nb::class_<market_quotes>(to, "Quotes", "A market with the quotes that its models are fitted to.")
        .def_static(
            "load", [](nb::handle file) { return market_quotes::load(path_of(file)); }, nb::arg("file"))
        .def_static(
            "parse",
            [](const std::string& yaml, const std::string& name) { return market_quotes::parse(yaml, name); },
            nb::arg("yaml"), nb::arg("name") = "quotes")
        .def_static(
            "of", [](nb::handle written) { return market_quotes::parse(value_of(written).yaml()); },
            nb::arg("written"));
    to.def("calibrate", fitted_to, nb::arg("quotes"), nb::arg("cancel") = nb::none());
}

}  // namespace tilewalk::python
