// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/shards.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "python/extension/differences.h"
#include "python/extension/interpreter.h"
#include "python/extension/results.h"
#include "python/extension/runs.h"
#include "python/extension/scenarios.h"
#include "python/extension/values.h"

namespace tilewalk::python {

namespace {

sharded_request request_of(const nb::dict& asked) {
    const auto text = [&](const char* name) {
        return asked.contains(name) && !asked[name].is_none() ? path_of(asked[name]).string() : std::string();
    };
    const auto truth = [&](const char* name) { return asked.contains(name) && nb::cast<bool>(asked[name]); };
    const auto words = [&](const char* name) {
        return asked.contains(name) && !asked[name].is_none()
                   ? nb::cast<std::vector<std::string>>(asked[name])
                   : std::vector<std::string>();
    };
    sharded_request out;
    out.book = text("book");
    out.market = text("market");
    out.scenarios = text("scenarios");
    out.explains = truth("explains");
    out.how.strict = truth("strict");
    out.how.confine = truth("confine");
    out.demand_correlations = truth("demand_correlations");
    out.trades = words("trades");
    for (const auto& [name, way] :
         {std::pair{"shift", market_change::way::shift}, std::pair{"set", market_change::way::set}}) {
        if (!asked.contains(name) || asked[name].is_none()) continue;
        for (auto [key, amount] : nb::cast<nb::dict>(asked[name]))
            out.changes.push_back({nb::cast<std::string>(nb::str(key)), nb::cast<double>(amount), way});
    }
    if (truth("differences"))
        out.differences = {.cross_gamma = truth("cross_gamma"), .vanna = truth("vanna")};
    if (asked.contains("settings")) out.settings = settings_of(nb::cast<nb::dict>(asked["settings"]));
    if (asked.contains("greeks") && !asked["greeks"].is_none()) {
        greek_options which;
        which.wanted = words("greeks");
        if (const std::string method = text("method"); !method.empty())
            which.method = greek_method_named(method);
        if (const std::string view = text("view"); !view.empty()) which.view = greek_view_named(view);
        out.greeks = which;
    }
    return out;
}

run_options options_of(const nb::dict& settings, const std::string& journal) {
    run_options out;
    out.overrides = settings_of(settings);
    out.journal = journal;
    return out;
}

shards::stage stage_of(const std::string& word) {
    if (word == "pricing") return shards::stage::pricing;
    if (word == "training") return shards::stage::training;
    throw error(error_kind::usage, "unknown stage '" + word + "', expected pricing or training");
}

shards plan(const nb::dict& asked, std::size_t count, nb::handle folder, double train_within,
            const nb::dict& settings, nb::object progress, nb::object cancel) {
    const sharded_request request = request_of(asked);
    const std::filesystem::path at = path_of(folder);
    const auto by = engine_with("auto");
    return run_beside(
        std::move(progress), std::move(cancel),
        [&](const run_options& options) {
            return shards::plan(*by, request, count, at, train_within, options);
        },
        options_of(settings, ""));
}

nb::dict run_shard(const shards& self, std::size_t number, const std::string& of, const std::string& journal,
                   const nb::dict& settings, nb::object progress, nb::object cancel) {
    const shards::stage stage = stage_of(of);
    const auto by = engine_with("auto");
    const shard_outcome done = run_beside(
        std::move(progress), std::move(cancel),
        [&](const run_options& options) { return self.run(*by, number, stage, options); },
        options_of(settings, journal));
    nb::dict out;
    out["was_done"] = done.was_done;
    out["blocks_taken"] = done.blocks_taken;
    out["damaged"] = done.damaged;
    out["decisions"] = done.decisions;
    out["file"] = done.file;
    return out;
}

nb::any merge(const shards& self, nb::object progress, nb::object cancel) {
    const auto by = engine_with("auto");
    if (!self.request().scenarios.empty())
        return object_of(run_beside(std::move(progress), std::move(cancel), [&](const run_options& options) {
            return self.merge_scenarios(*by, options);
        }));
    if (self.request().differences)
        return object_of(run_beside(std::move(progress), std::move(cancel), [&](const run_options& options) {
            return self.merge_differences(*by, options);
        }));
    return object_of(run_beside(std::move(progress), std::move(cancel),
                                [&](const run_options& options) { return self.merge(*by, options); }));
}

}  // namespace

void add_shards(nb::module_& to) {
    const auto progress_arg = nb::arg("progress") = nb::none();
    const auto cancel_arg = nb::arg("cancel") = nb::none();
    nb::class_<shards>(to, "Shards", "Parts of a request in a folder.")
        .def_static("plan", plan, nb::arg("request"), nb::arg("count"), nb::arg("folder"),
                    nb::arg("train_within"), nb::arg("settings"), progress_arg, cancel_arg)
        .def_static(
            "open", [](nb::handle folder) { return shards::open(path_of(folder)); }, nb::arg("folder"))
        .def_prop_ro("count", &shards::count)
        .def_prop_ro("digest", &shards::digest)
        .def_prop_ro("costs", &shards::costs)
        .def_prop_ro("untrained", &shards::untrained)
        .def_prop_ro("next_folder", [](const shards& self) { return self.next_folder().string(); })
        .def_prop_ro("book", [](const shards& self) { return self.request().book.string(); })
        .def("run", run_shard, nb::arg("number"), nb::arg("stage"), nb::arg("journal"), nb::arg("settings"),
             progress_arg, cancel_arg)
        .def("merge", merge, progress_arg, cancel_arg)
        .def("merge_training", [](shards& self) {
            const without_interpreter others_run;
            self.merge_training();
        });
}

}  // namespace tilewalk::python
