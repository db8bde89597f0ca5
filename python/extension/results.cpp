// SPDX-License-Identifier: Apache-2.0
#include "python/extension/results.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <sstream>

#include "python/extension/interpreter.h"
#include "tilewalk/columns.h"
#include "tilewalk/compare.h"
#include "tilewalk/decisions.h"
#include "tilewalk/metrics.h"
#include "tilewalk/page.h"
#include "tilewalk/products.h"
#include "tilewalk/results.h"

namespace tilewalk::python {

namespace {

text_form form_of(std::size_t columns, bool spreadsheet_safe, bool parts) {
    text_form out;
    out.columns = columns;
    out.spreadsheet_safe = spreadsheet_safe;
    out.parts = parts;
    return out;
}

std::string text(const held_results& self, const std::string& format, std::size_t columns,
                 bool spreadsheet_safe, bool parts) {
    const output_format as = format_of(format);
    return text_by(
        [&](std::ostream& out) { write(out, self.get(), as, form_of(columns, spreadsheet_safe, parts)); });
}

std::string text_of_greeks(const held_results& self, const std::string& format, std::size_t columns,
                           bool spreadsheet_safe, bool parts) {
    const output_format as = format_of(format);
    return text_by([&](std::ostream& out) {
        write_greeks(out, self.get(), as, form_of(columns, spreadsheet_safe, parts));
    });
}

std::string text_of_totals(const held_results& self, const std::string& format) {
    const output_format as = format_of(format);
    return text_by([&](std::ostream& out) { write_totals(out, self.get(), as); });
}

// JSON of the manifest and these rows, by the writer of whole results, so that both have the same members.
std::string json_of_rows(const held_results& self, const std::vector<std::size_t>& rows, bool parts) {
    results few;
    few.manifest = self.get().manifest;
    for (const std::size_t row : rows) few.rows.push_back(self.get().rows.at(row));
    return text_by(
        [&](std::ostream& out) { write(out, few, output_format::json, form_of(200, false, parts)); });
}

nb::bytes parquet(const held_results& self, bool of_greeks) {
    std::string all = text_by([&](std::ostream& out) {
        write_parquet(out, of_greeks ? greek_columns(self.get()) : price_columns(self.get()));
    });
    return nb::bytes(all.data(), all.size());
}

// The complete state, from which results_of_json() makes the same results, bit for bit.
nb::tuple state_of(const held_results& self) {
    std::string json = text_by([&](std::ostream& out) {
        const text_form form = form_of(200, false, true);
        if (self.get().greeks.empty()) {
            write(out, self.get(), output_format::json, form);
        } else {
            write_greeks(out, self.get(), output_format::json, form);
        }
    });
    return nb::make_tuple(nb::str(json.data(), json.size()), self.get().policies);
}

nb::any results_of_json(const std::string& json, const std::string& name, const std::string& policies) {
    results out;
    {
        const without_interpreter others_run;
        out = read_results(json, name);
    }
    out.policies = policies;
    return object_of(std::move(out));
}

std::vector<std::string> failures(const held_results& self) {
    std::vector<std::string> out;
    for (const price_row& row : self.get().rows)
        if (row.status == trade_status::failed) out.push_back(row.trade);
    return out;
}

std::string metrics(const held_results& self, const std::string& command, const std::string& name) {
    const without_interpreter others_run;
    return metrics_text(
        {.command = command, .book = name, .prices = self.get(), .at = std::chrono::system_clock::now()});
}

std::vector<std::string> remarks(const held_results& self) {
    const results& of = self.get();
    std::vector<std::string> out;
    if (of.rows.empty()) out.emplace_back(remark_on_no_trades);
    const std::size_t failed = of.failed();
    if (failed > 0 && failed == of.rows.size()) {
        const price_row& first = of.rows.front();
        out.push_back((failed == 1 ? "the only trade failed: "
                                   : "all " + std::to_string(failed) + " trades failed; the first: ") +
                      "trade '" + first.trade + "': " + first.message);
    }
    if (const std::vector<factor_pair>& missing = of.manifest.missing_correlations; !missing.empty())
        out.push_back(remark_on_correlations(missing));
    if (const std::string few = remark_on_few_parts(of); !few.empty()) out.push_back(few);
    for (const std::string& lost : of.manifest.lost_devices)
        out.push_back("a GPU failed and was left out: " + lost);
    for (const left_work& left : of.manifest.left_to_processor)
        out.push_back("left to the processor: " + left.text());
    return out;
}

struct held_comparison {
    comparison of;
};

nb::dict dict_of(const price_difference& d, bool agrees) {
    constexpr const char* words[] = {"compared",      "only_first",  "only_second",   "failed_first",
                                     "failed_second", "failed_both", "other_currency"};
    nb::dict out;
    out["trade"] = d.trade;
    out["currency"] = d.currency;
    out["found"] = words[static_cast<std::size_t>(d.found)];
    out["first"] = d.first;
    out["second"] = d.second;
    out["difference"] = d.difference;
    out["error"] = d.error;
    out["z"] = d.z;
    out["common_random_numbers"] = d.common_random_numbers;
    out["same_bits"] = d.same_bits;
    out["other_quantity"] = d.other_quantity;
    out["agrees"] = agrees;
    return out;
}

difference_rule rule_of(double limit, std::optional<double> tolerance, bool relative) {
    difference_rule out;
    out.limit = limit;
    if (tolerance) out.tolerance = price_tolerance{*tolerance, relative};
    return out;
}

}  // namespace

std::shared_ptr<const table> held_results::rows() const {
    const std::lock_guard<std::mutex> alone(lock_);
    if (!rows_) rows_ = table_of_rows(*of_);
    return rows_;
}

std::shared_ptr<const table> held_results::greeks() const {
    const std::lock_guard<std::mutex> alone(lock_);
    if (!greeks_) greeks_ = table_of_greeks(*of_);
    return greeks_;
}

nb::any object_of(results of) {
    return any_of(
        nb::cast(std::make_unique<held_results>(std::move(of)).release(), nb::rv_policy::take_ownership));
}

output_format format_of(const std::string& word) {
    const std::vector<std::string> known{"table", "csv", "json"};
    for (const auto as : {output_format::table, output_format::csv, output_format::json})
        if (known[static_cast<std::size_t>(as)] == word) return as;
    throw error(error_kind::usage, "unknown format '" + word + "'" + alternatives(word, "formats:", known));
}

void add_results(nb::module_& to) {
    nb::class_<held_results>(to, "Results", "Prices and sensitivities of a run.")
        .def("__len__", [](const held_results& self) { return self.get().rows.size(); })
        .def("rows",
             [](const held_results& self) {
                 std::shared_ptr<const table> made;
                 {
                     const without_interpreter others_run;
                     made = self.rows();
                 }
                 return object_of(made);
             })
        .def("greeks",
             [](const held_results& self) {
                 std::shared_ptr<const table> made;
                 {
                     const without_interpreter others_run;
                     made = self.greeks();
                 }
                 return object_of(made);
             })
        .def("totals", [](const held_results& self) { return object_of(table_of_totals(self.get())); })
        .def("greek_totals",
             [](const held_results& self) { return object_of(table_of_greek_totals(self.get())); })
        .def("text", text, nb::arg("format"), nb::arg("columns") = 200, nb::arg("spreadsheet_safe") = false,
             nb::arg("parts") = false)
        .def("text_of_greeks", text_of_greeks, nb::arg("format"), nb::arg("columns") = 200,
             nb::arg("spreadsheet_safe") = false, nb::arg("parts") = false)
        .def("text_of_totals", text_of_totals, nb::arg("format"))
        .def("json_of_rows", json_of_rows, nb::arg("rows"), nb::arg("parts") = false)
        .def("parquet", parquet, nb::arg("of_greeks"))
        .def("page",
             [](const held_results& self) {
                 const without_interpreter others_run;
                 return page_of(self.get());
             })
        .def("state", state_of)
        .def("failures", failures)
        .def_prop_ro("remarks", remarks)
        .def("metrics", metrics, nb::arg("command"), nb::arg("name"))
        .def_prop_ro("has_greeks", [](const held_results& self) { return !self.get().greeks.empty(); })
        .def_prop_ro("policies", [](const held_results& self) { return self.get().policies; })
        .def("decisions_json", [](const held_results& self) {
            const without_interpreter others_run;
            return json_of(decisions_of(self.get()));
        });
    to.def(
        "decisions_json",
        [](const std::string& json, const std::string& name) {
            const without_interpreter others_run;
            return json_of(read_decisions(json, name));
        },
        nb::arg("json"), nb::arg("name"));
    to.def("read_results", results_of_json, nb::arg("json"), nb::arg("name"), nb::arg("policies") = "");

    nb::class_<held_comparison>(to, "Comparison", "Two results, trade by trade.")
        .def(
            "rows",
            [](const held_comparison& self, double limit, std::optional<double> tolerance, bool relative) {
                nb::list out;
                const difference_rule by = rule_of(limit, tolerance, relative);
                for (const price_difference& d : self.of.rows) out.append(dict_of(d, self.of.agrees(d, by)));
                return out;
            },
            nb::arg("limit") = default_limit, nb::arg("tolerance") = nb::none(), nb::arg("relative") = false)
        .def(
            "text",
            [](const held_comparison& self, double limit, std::optional<double> tolerance, bool relative) {
                return text_by(
                    [&](std::ostream& out) { write(out, self.of, rule_of(limit, tolerance, relative)); });
            },
            nb::arg("limit") = default_limit, nb::arg("tolerance") = nb::none(), nb::arg("relative") = false)
        .def_prop_ro("common_random_numbers",
                     [](const held_comparison& self) { return self.of.common_random_numbers; });
    to.def(
        "compare",
        [](const held_results& first, const held_results& second) {
            const without_interpreter others_run;
            return held_comparison{compare(first.get(), second.get())};
        },
        nb::arg("first"), nb::arg("second"));
}

}  // namespace tilewalk::python
