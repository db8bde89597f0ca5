// SPDX-License-Identifier: Apache-2.0
// Lists of scenarios and their results: the cube of gains as arrays, everything else as tables.
#include "python/extension/scenarios.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <utility>

#include "python/extension/archive.h"
#include "python/extension/errors.h"
#include "python/extension/interpreter.h"
#include "python/extension/results.h"
#include "python/extension/values.h"
#include "tilewalk/columns.h"
#include "tilewalk/files.h"
#include "tilewalk/metrics.h"
#include "tilewalk/page.h"
#include "tilewalk/products.h"

namespace tilewalk::python {

namespace {

struct held_scenarios {
    std::shared_ptr<const scenario_results> of;
};

nb::any cube(nb::handle_t<held_scenarios> self, const std::vector<double> scenario_results::*numbers) {
    const scenario_results& of = *nb::cast<held_scenarios&>(self).of;
    const std::vector<double>& all = of.*numbers;
    if (all.empty() && !of.scenarios.empty() && of.trades() > 0) return any_of(nb::none());
    return any_of(nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
        all.data(), {of.scenarios.size(), of.trades()}, self)));
}

template <std::vector<double> scenario_results::*numbers>
nb::any cube_of(nb::handle_t<held_scenarios> self) {
    return cube(self, numbers);
}

struct total_at {
    const portfolio_gains* of;
    const scenario* in;
    std::size_t at;
};
struct tail_of {
    const portfolio_risk* of;
    const tail* at;
    const scenario* worst;
};
struct share_of {
    const portfolio_risk* of;
    const trade_in_tail* at;
    const price_row* trade;
};

template <class Row>
struct filling {
    const std::vector<Row>& rows;
    table out{};

    template <class Column, class Get>
    filling& add(std::string name, Get get) {
        out.columns.push_back(column_of<Column>(std::move(name), rows, get));
        out.rows = rows.size();
        return *this;
    }
    nb::any made() { return object_of(std::make_shared<const table>(std::move(out))); }
};

nb::any scenarios_of(const held_scenarios& self) {
    return filling<scenario>{self.of->scenarios}
        .add<coded_texts>("set", [](const scenario& s) -> const std::string& { return s.set; })
        .add<texts>("scenario", [](const scenario& s) -> const std::string& { return s.name; })
        .add<counts>("days", [](const scenario& s) { return s.days; })
        .add<texts>("first_day", [](const scenario& s) -> const std::string& { return s.first_day; })
        .add<texts>("last_day", [](const scenario& s) -> const std::string& { return s.last_day; })
        .made();
}

nb::any totals_of(const held_scenarios& self) {
    std::vector<total_at> rows;
    for (const portfolio_gains& of : self.of->totals)
        for (std::size_t s = 0; s < self.of->scenarios.size(); ++s)
            rows.push_back({&of, &self.of->scenarios[s], s});
    return filling<total_at>{rows}
        .add<coded_texts>("portfolio",
                          [](const total_at& t) -> const std::string& { return t.of->portfolio; })
        .add<coded_texts>("currency", [](const total_at& t) -> const std::string& { return t.of->currency; })
        .add<flags>("is_converted", [](const total_at& t) { return t.of->is_converted; })
        .add<counts>("trades", [](const total_at& t) { return t.of->trades.size(); })
        .add<figures>("base_value", [](const total_at& t) { return t.of->base_value; })
        .add<coded_texts>("set", [](const total_at& t) -> const std::string& { return t.in->set; })
        .add<coded_texts>("scenario", [](const total_at& t) -> const std::string& { return t.in->name; })
        .add<figures>("gain", [](const total_at& t) { return t.of->gains[t.at]; })
        .add<figures>("standard_error", [](const total_at& t) { return t.of->errors[t.at]; })
        .add<counts>("failed", [](const total_at& t) { return t.of->failed[t.at]; })
        .made();
}

nb::any tails_of(const held_scenarios& self) {
    std::vector<tail_of> rows;
    for (const portfolio_risk& of : self.of->risks)
        for (const tail& at : of.tails)
            rows.push_back(
                {&of, &at, at.at < self.of->scenarios.size() ? &self.of->scenarios[at.at] : nullptr});
    return filling<tail_of>{rows}
        .add<coded_texts>("set", [](const tail_of& t) -> const std::string& { return t.of->set; })
        .add<coded_texts>("portfolio", [](const tail_of& t) -> const std::string& { return t.of->portfolio; })
        .add<coded_texts>("currency", [](const tail_of& t) -> const std::string& { return t.of->currency; })
        .add<flags>("is_converted", [](const tail_of& t) { return t.of->is_converted; })
        .add<counts>("scenarios", [](const tail_of& t) { return t.of->scenarios; })
        .add<counts>("left_out", [](const tail_of& t) { return t.of->left_out.size(); })
        .add<figures>("level", [](const tail_of& t) { return t.at->level; })
        .add<figures>("value_at_risk", [](const tail_of& t) { return t.at->quantile.value; })
        .add<figures>("value_at_risk_noise", [](const tail_of& t) { return t.at->quantile.noise; })
        .add<figures>("value_at_risk_sampling", [](const tail_of& t) { return t.at->quantile.sampling; })
        .add<figures>("shortfall", [](const tail_of& t) { return t.at->shortfall.value; })
        .add<figures>("shortfall_noise", [](const tail_of& t) { return t.at->shortfall.noise; })
        .add<figures>("shortfall_sampling", [](const tail_of& t) { return t.at->shortfall.sampling; })
        .add<coded_texts>("scenario",
                          [](const tail_of& t) { return t.worst != nullptr ? t.worst->name : std::string(); })
        .made();
}

nb::any shares_of(const held_scenarios& self) {
    std::vector<share_of> rows;
    for (const portfolio_risk& of : self.of->risks)
        for (const trade_in_tail& at : of.shares) rows.push_back({&of, &at, &self.of->base.rows[at.trade]});
    return filling<share_of>{rows}
        .add<coded_texts>("set", [](const share_of& t) -> const std::string& { return t.of->set; })
        .add<coded_texts>("portfolio",
                          [](const share_of& t) -> const std::string& { return t.of->portfolio; })
        .add<coded_texts>("currency", [](const share_of& t) -> const std::string& { return t.of->currency; })
        .add<flags>("is_converted", [](const share_of& t) { return t.of->is_converted; })
        .add<figures>("level", [](const share_of& t) { return t.at->level; })
        .add<texts>("trade", [](const share_of& t) -> const std::string& { return t.trade->trade; })
        .add<figures>("component_value_at_risk", [](const share_of& t) { return t.at->component_quantile; })
        .add<figures>("component_value_at_risk_error",
                      [](const share_of& t) { return t.at->component_quantile_error; })
        .add<figures>("component_shortfall", [](const share_of& t) { return t.at->component_shortfall; })
        .add<figures>("component_shortfall_error",
                      [](const share_of& t) { return t.at->component_shortfall_error; })
        .add<figures>("incremental_value_at_risk",
                      [](const share_of& t) { return t.at->incremental_quantile; })
        .add<figures>("incremental_shortfall", [](const share_of& t) { return t.at->incremental_shortfall; })
        .made();
}

nb::any explained_of(const held_scenarios& self) {
    const scenario_results& r = *self.of;
    filling<explained_gain> fill{r.explained};
    fill.add<coded_texts>("set", [&](const explained_gain& g) { return r.scenarios[g.scenario].set; })
        .add<coded_texts>("scenario", [&](const explained_gain& g) { return r.scenarios[g.scenario].name; })
        .add<coded_texts>("portfolio", [](const explained_gain& g) { return g.portfolio; })
        .add<coded_texts>("currency", [](const explained_gain& g) { return g.currency; })
        .add<figures>("gain", [](const explained_gain& g) { return g.gain; })
        .add<figures>("standard_error", [](const explained_gain& g) { return g.error; });
    for (std::size_t m = 0; m < r.measures.size(); ++m)
        fill.add<figures>(r.measures[m], [m](const explained_gain& g) { return g.by_measure[m]; });
    return fill.add<figures>("left", [](const explained_gain& g) { return g.left; }).made();
}

nb::any failures_of(const held_scenarios& self) {
    const scenario_results& r = *self.of;
    return filling<failed_gain>{r.failures}
        .add<coded_texts>("set", [&](const failed_gain& f) { return r.scenarios[f.scenario].set; })
        .add<coded_texts>("scenario", [&](const failed_gain& f) { return r.scenarios[f.scenario].name; })
        .add<texts>("trade", [&](const failed_gain& f) { return r.base.rows[f.trade].trade; })
        .add<coded_texts>("message", [](const failed_gain& f) { return f.message; })
        .add<coded_texts>("kind", [](const failed_gain& f) { return word_of(f.kind); })
        .made();
}

std::string text_of_scenarios(const held_scenarios& self, const std::string& format, std::size_t columns) {
    const output_format as = format_of(format);
    text_form form;
    form.columns = columns;
    return text_by([&](std::ostream& out) { write(out, *self.of, as, form); });
}

nb::bytes parquet_of_scenarios(const held_scenarios& self) {
    const std::string all = text_by([&](std::ostream& out) { write_parquet(out, gain_columns(*self.of)); });
    return nb::bytes(all.data(), all.size());
}

std::string page(const held_scenarios& self) {
    const without_interpreter others_run;
    return page_of(self.of->base, {.scenarios = self.of.get()});
}

std::string metrics_of_scenarios(const held_scenarios& self, const std::string& name) {
    const without_interpreter others_run;
    return metrics_text({.command = "scenarios",
                         .book = name,
                         .prices = self.of->base,
                         .scenarios = self.of.get(),
                         .at = std::chrono::system_clock::now()});
}

std::string write_page_of_scenarios(const held_scenarios& self, const std::string& file) {
    std::vector<std::string> known;
    for (const scenario_report& one : scenario_reports()) {
        known.emplace_back(one.file);
        if (one.file != file) continue;
        return text_by([&](std::ostream& out) { one.write(out, *self.of); });
    }
    throw error(error_kind::usage,
                "no file '" + file + "' of scenarios" + alternatives(file, "files:", known));
}

nb::bytes state_of_scenarios(const held_scenarios& self) {
    std::string all;
    {
        const without_interpreter others_run;
        all = archived(*self.of);
    }
    return nb::bytes(all.data(), all.size());
}

}  // namespace

nb::any object_of(scenario_results of) {
    return any_of(nb::cast(held_scenarios{std::make_shared<const scenario_results>(std::move(of))}));
}

void add_scenarios(nb::module_& to) {
    nb::class_<scenario_list>(to, "ScenarioList", "Scenarios in order, and what is to be told of them.")
        .def_static(
            "load",
            [](nb::handle file, const market& base) { return scenario_list::load(path_of(file), base); },
            nb::arg("file"), nb::arg("base"))
        .def_static(
            "of",
            [](nb::handle written, const market& base, nb::handle folder) {
                return scenario_list::parse(value_of(written).yaml(), "scenarios", base, path_of(folder));
            },
            nb::arg("written"), nb::arg("base"), nb::arg("folder"))
        .def_rw("explains", &scenario_list::explains)
        .def_ro("remarks", &scenario_list::remarks)
        .def_prop_ro("files",
                     [](const scenario_list& self) {
                         std::vector<std::string> out;
                         for (const input_file& one : self.inputs) out.push_back(one.file);
                         return out;
                     })
        .def("__len__", [](const scenario_list& self) { return self.scenarios.size(); });

    nb::class_<held_scenarios>(to, "Gains", "What a book gains in scenarios.")
        .def_prop_ro("shape",
                     [](const held_scenarios& self) {
                         return nb::make_tuple(self.of->scenarios.size(), self.of->trades());
                     })
        .def("gains", cube_of<&scenario_results::gains>)
        .def("errors", cube_of<&scenario_results::errors>)
        .def("converted_gains", cube_of<&scenario_results::converted_gains>)
        .def("converted_errors", cube_of<&scenario_results::converted_errors>)
        .def("scenarios", scenarios_of)
        .def("totals", totals_of)
        .def("tails", tails_of)
        .def("shares", shares_of)
        .def("explained", explained_of)
        .def("failures", failures_of)
        .def("base", [](const held_scenarios& self) { return object_of(self.of->base); })
        .def_prop_ro("portfolios", [](const held_scenarios& self) { return self.of->portfolios; })
        .def_prop_ro("remarks", [](const held_scenarios& self) { return self.of->remarks; })
        .def("text", text_of_scenarios, nb::arg("format"), nb::arg("columns") = 200)
        .def("report", write_page_of_scenarios, nb::arg("file"))
        .def("parquet", parquet_of_scenarios)
        .def("page", page)
        .def("metrics", metrics_of_scenarios, nb::arg("name"))
        .def("state", state_of_scenarios);
    to.def(
        "read_gains",
        [](const nb::bytes& state) {
            return object_of(from_archive({static_cast<const char*>(state.data()), state.size()}));
        },
        nb::arg("state"));
    to.def("scenario_files", [] {
        nb::list out;
        for (const scenario_report& one : scenario_reports())
            out.append(nb::make_tuple(std::string(one.file), std::string(one.meaning)));
        return out;
    });
}

}  // namespace tilewalk::python
