// SPDX-License-Identifier: Apache-2.0
#include "python/extension/runs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <system_error>

#include "python/extension/differences.h"
#include "python/extension/interpreter.h"
#include "python/extension/results.h"
#include "python/extension/scenarios.h"
#include "python/extension/values.h"
#include "tilewalk/products.h"
#include "tilewalk/session.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::python {

namespace {

// Time between two checks for Ctrl-C, each of which takes some microseconds.
constexpr std::chrono::milliseconds between_looks{50};

nb::dict dict_of(const progress& now) {
    nb::dict out;
    out["trades_done"] = now.trades_done;
    out["trades"] = now.trades;
    out["path_steps_done"] = now.path_steps_done;
    out["path_steps"] = now.path_steps;
    out["policies_done"] = now.policies_done;
    out["policies"] = now.policies;
    out["round"] = now.round;
    out["trades_in_tolerance"] = now.trades_in_tolerance;
    out["widest"] = now.widest;
    return out;
}

// The text of a setting's value. A count, such as a number of paths, may be a float like 1e6.
std::string text_of_setting(const run_setting& known, nb::handle object) {
    if (nb::isinstance<nb::float_>(object)) {
        const double number = nb::cast<double>(object);
        constexpr double most_exact = 9e15;
        const bool counts =
            known.takes == run_setting::value_type::count || known.takes == run_setting::value_type::bytes;
        if (counts && number == std::floor(number) && std::fabs(number) < most_exact)
            return std::to_string(static_cast<long long>(number));
        return value(number).text();
    }
    if (nb::isinstance<nb::str>(object)) return nb::cast<std::string>(object);
    if (nb::hasattr(object, "__fspath__")) return path_of(object).string();
    return nb::cast<std::string>(nb::str(object));
}

template <class Work>
auto run(const run_arguments& of, Work work) {
    return run_beside(of.hears, of.cancel, work, of.options);
}

greek_options greeks_of(const std::vector<std::string>& wanted, const std::string& method,
                        const std::string& view) {
    return {wanted, greek_method_named(method), greek_view_named(view)};
}

nb::any price(const book& trades, const market& in, const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(
        run(asked, [&](const run_options& options) { return asked.by->price(trades, in, options); }));
}

nb::list price_in(const book& trades, const std::vector<market>& in, const nb::dict& settings,
                  const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    std::vector<results> found =
        run(asked, [&](const run_options& options) { return asked.by->price(trades, in, options); });
    nb::list out;
    for (results& one : found) out.append(object_of(std::move(one)));
    return out;
}

nb::any greeks(const book& trades, const market& in, const std::vector<std::string>& wanted,
               const std::string& method, const std::string& view, const nb::dict& settings,
               const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    const greek_options which = greeks_of(wanted, method, view);
    return object_of(
        run(asked, [&](const run_options& options) { return asked.by->greeks(trades, in, which, options); }));
}

nb::any scenarios(const book& trades, const market& in, const scenario_list& list, const nb::dict& settings,
                  const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(run(
        asked, [&](const run_options& options) { return asked.by->scenarios(trades, in, list, options); }));
}

nb::any find_differences(const book& trades, const market& in, bool cross_gamma, bool vanna,
                         const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(run(asked, [&](const run_options& options) {
        return differences(*asked.by, trades, in, {.cross_gamma = cross_gamma, .vanna = vanna}, options);
    }));
}

std::string explain(const book& trades, const market& in, bool with_program, const nb::dict& settings,
                    const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    const auto plans =
        run(asked, [&](const run_options& options) { return asked.by->explain(trades, in, options); });
    return explanation_json(plans, in.as_of(), with_program);
}

nb::tuple validate(const book& trades, const market& in, const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    std::vector<factor_pair> missing;
    const auto problems = run(
        asked, [&](const run_options& options) { return asked.by->validate(trades, in, options, &missing); });
    nb::list found, pairs;
    for (const trade_problem& p : problems)
        found.append(nb::make_tuple(p.trade, p.failure, p.where.file, p.where.line, p.where.column));
    for (const factor_pair& pair : missing) pairs.append(nb::make_tuple(pair.first, pair.second));
    return nb::make_tuple(found, pairs);
}

nb::list depends_on(const book& trades, const market& in, const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    const auto found =
        run(asked, [&](const run_options& options) { return asked.by->depends_on(trades, in, options); });
    nb::list out;
    for (const trade_dependence& one : found) {
        nb::dict numbers;
        for (const market_number& number : one.numbers) numbers[number.key.c_str()] = number.value;
        out.append(nb::make_tuple(one.trade, numbers, one.failure));
    }
    return out;
}

nb::any price_open(const session& self, const market& in, const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(run(asked, [&](const run_options& options) { return self.price(in, options); }));
}

nb::any greeks_open(const session& self, const market& in, const std::vector<std::string>& wanted,
                    const std::string& method, const std::string& view, const nb::dict& settings,
                    const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    const greek_options which = greeks_of(wanted, method, view);
    return object_of(run(asked, [&](const run_options& options) { return self.greeks(in, which, options); }));
}

nb::any scenarios_open(const session& self, const market& in, const scenario_list& list,
                       const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(
        run(asked, [&](const run_options& options) { return self.scenarios(in, list, options); }));
}

nb::any differences_open(const session& self, const market& in, bool cross_gamma, bool vanna,
                         const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    return object_of(run(asked, [&](const run_options& options) {
        return self.differences(in, {.cross_gamma = cross_gamma, .vanna = vanna}, options);
    }));
}

nb::dict facts_of(const session& self) {
    const session_facts facts = self.facts();
    nb::dict out;
    out["trades_planned"] = facts.trades_planned;
    out["plans"] = facts.plans;
    out["programs"] = facts.programs;
    out["programs_compiled"] = facts.programs_compiled;
    out["crews"] = facts.crews;
    out["threads"] = facts.threads;
    out["gpu_runs"] = facts.gpu_runs;
    return out;
}

nb::list setting_rows() {
    nb::list out;
    for (const run_setting& known : setting_table()) {
        nb::dict one;
        one["name"] = known.name;
        one["meaning"] = known.meaning;
        one["preset"] = known.preset;
        one["choices"] = known.choices;
        one["expected"] = known.expected();
        one["decides_bits"] = known.decides_bits;
        one["is_of_gpu"] = known.of == run_setting::part::gpu;
        out.append(one);
    }
    return out;
}

}  // namespace

void watched_call::look_at_python() {
    const nb::gil_scoped_acquire interpreter;
    std::function<nb::dict()> news;
    {
        const std::lock_guard<std::mutex> alone(lock_);
        news.swap(news_);
    }
    if (raised_) return;  // the work is already stopping
    try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!cancel_.is_none() && nb::bool_(cancel_.attr("is_set")())) stop_ = true;
        if (news && !hears_.is_none()) hears_(news());
    } catch (...) {  // kept until the work has ended, then rethrown
        raised_ = std::current_exception();
        stop_ = true;
    }
}

run_options watched_call::watching(run_options options) {
    options.cancel = &stop_;
    if (!hears_.is_none())
        options.on_progress = [this](const progress& now) { tell([now] { return dict_of(now); }); };
    return options;
}

void watched_call::tell(std::function<nb::dict()> made) {
    const std::lock_guard<std::mutex> alone(lock_);
    news_ = std::move(made);
}

void watched_call::run(const std::function<void()>& work) {
    std::exception_ptr failed;
    bool ends = false;
    {
        const without_interpreter others_run;
        const auto do_all = [&] {
            try {
                work();
            } catch (...) {
                failed = std::current_exception();
            }
            const std::lock_guard<std::mutex> alone(lock_);
            is_done_ = true;
            ended_.notify_all();
        };
        std::thread worker;
        try {
            worker = std::thread(do_all);
        } catch (const std::system_error&) {
            do_all();  // no thread can be started: run in the caller's
        }
        std::unique_lock<std::mutex> held(lock_);
        while (!ended_.wait_for(held, between_looks, [this] { return is_done_; })) {
            held.unlock();
            ends = is_python_ending();
            if (ends)
                stop_ = true;
            else
                look_at_python();
            held.lock();
        }
        held.unlock();
        if (worker.joinable()) worker.join();
    }
    if (ends) {
        PyErr_SetNone(PyExc_SystemExit);  // ends a thread silently
        throw nb::python_error();
    }
    if (!raised_) look_at_python();  // reports the last progress
    if (raised_) std::rethrow_exception(raised_);
    if (failed) std::rethrow_exception(failed);
}

run_arguments arguments_of(const nb::dict& said, const nb::dict& how) {
    const auto get = [&](const char* name) -> nb::object {
        return how.contains(name) ? nb::object(how[name]) : nb::none();
    };
    const auto text = [&](const char* name, const char* otherwise) {
        const nb::object at = get(name);
        return at.is_none() ? std::string(otherwise) : text_of_setting({}, at);
    };
    const auto truth = [&](const char* name) {
        const nb::object at = get(name);
        return !at.is_none() && nb::cast<bool>(nb::bool_(at));
    };
    run_arguments out;
    out.hears = get("progress");
    out.cancel = get("cancel");
    out.by = engine_with(text("instruction_set", "auto"));
    out.options.overrides = settings_of(
        said, {"progress", "cancel", "instruction_set", "journal", "keep_policies", "market",
               "demand_correlations", "trades", "shift", "set", "strict", "confine", "default_quantity"});
    out.options.journal = text("journal", "");
    out.options.keep_policies = truth("keep_policies");
    out.options.demand_correlations = truth("demand_correlations");
    return out;
}

run_settings settings_of(const nb::dict& by_name, const std::vector<std::string>& also) {
    run_settings out;
    for (auto [key, said] : by_name) {
        const std::string name = nb::cast<std::string>(nb::str(key));
        const run_setting* found = nullptr;
        std::vector<std::string> known = also;
        for (const run_setting& one : setting_table()) {
            known.push_back(one.name);
            if (one.name == name) found = &one;
        }
        if (found == nullptr)
            throw error(error_kind::usage,
                        "unknown setting '" + name + "'" + alternatives(name, "known settings:", known));
        if (said.is_none()) continue;
        const std::string text = text_of_setting(*found, said);
        if (const auto wrong = found->read(text, out))
            throw error(error_kind::usage, name + ": found '" + text + "'" + *wrong);
    }
    return out;
}

std::shared_ptr<const engine> engine_with(const std::string& instruction_set) {
    // Never destroyed: threads may use it during shutdown.
    static const auto* const shared = new std::shared_ptr<const engine>(std::make_shared<engine>());
    if (instruction_set == "auto") return *shared;
    return std::make_shared<engine>(engine_settings{instruction_set});
}

void add_runs(nb::module_& to) {
    const auto book_arg = nb::arg("book"), market_arg = nb::arg("market"), settings_arg = nb::arg("settings"),
               how_arg = nb::arg("how");
    to.def("price", price, book_arg, market_arg, settings_arg, how_arg);
    to.def("price_in", price_in, book_arg, nb::arg("markets"), settings_arg, how_arg);
    to.def("greeks", greeks, book_arg, market_arg, nb::arg("wanted"), nb::arg("method"), nb::arg("view"),
           settings_arg, how_arg);
    to.def("scenarios", scenarios, book_arg, market_arg, nb::arg("scenarios"), settings_arg, how_arg);
    to.def("differences", find_differences, book_arg, market_arg, nb::arg("cross_gamma"), nb::arg("vanna"),
           settings_arg, how_arg);
    to.def("explain", explain, book_arg, market_arg, nb::arg("with_program"), settings_arg, how_arg);
    to.def("validate", validate, book_arg, market_arg, settings_arg, how_arg);
    to.def("depends_on", depends_on, book_arg, market_arg, settings_arg, how_arg);
    to.def("setting_rows", setting_rows);
    nb::class_<session>(to, "Session", "A book that is open for many calls.")
        .def("price", price_open, market_arg, settings_arg, how_arg)
        .def("greeks", greeks_open, market_arg, nb::arg("wanted"), nb::arg("method"), nb::arg("view"),
             settings_arg, how_arg)
        .def("scenarios", scenarios_open, market_arg, nb::arg("scenarios"), settings_arg, how_arg)
        .def("differences", differences_open, market_arg, nb::arg("cross_gamma"), nb::arg("vanna"),
             settings_arg, how_arg)
        .def("facts", facts_of);
    to.def(
        "open",
        [](const book& trades, const std::string& instruction_set) {
            const without_interpreter others_run;
            return engine_with(instruction_set)->open(trades);
        },
        book_arg, nb::arg("instruction_set") = "auto");
}

}  // namespace tilewalk::python
