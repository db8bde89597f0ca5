// SPDX-License-Identifier: Apache-2.0
// Warmed and tuned kernels as tables.
#include "tilewalk/engine.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "python/extension/results.h"
#include "python/extension/runs.h"

namespace tilewalk::python {

namespace {

template <class Kernel>
nb::tuple told(const std::vector<Kernel>& kernels) {
    return nb::make_tuple(object_of(table_of(kernel_columns(kernels))), kernel_table(kernels));
}

nb::tuple warm(const book& trades, const market& in, const std::vector<std::string>& architectures,
               const nb::dict& settings, const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    watched_call call(asked.hears, asked.cancel);
    run_options options = call.watching(asked.options);
    options.on_progress = [&](const progress& now) {
        call.tell([now] {
            nb::dict out;
            out["kernels_done"] = now.trades_done;
            out["kernels"] = now.trades;
            return out;
        });
    };
    std::vector<warmed_kernel> found;
    call.run([&] { found = asked.by->warm(trades, in, options, architectures); });
    return told(found);
}

nb::tuple tune(const book& trades, const market& in, double seconds, bool greeks, const nb::dict& settings,
               const nb::dict& how) {
    const run_arguments asked = arguments_of(settings, how);
    watched_call call(asked.hears, asked.cancel);
    const run_options options = call.watching(asked.options);
    const auto says = [&](const std::string& text) {
        call.tell([text] {
            nb::dict out;
            out["doing"] = text;
            return out;
        });
    };
    std::vector<tuned_kernel> found;
    call.run([&] {
        found = greeks ? asked.by->tune_greeks(trades, in, {}, options, seconds, says)
                       : asked.by->tune(trades, in, options, seconds, says);
    });
    return told(found);
}

}  // namespace

void add_kernels(nb::module_& to) {
    const auto book_arg = nb::arg("book"), market_arg = nb::arg("market"), settings_arg = nb::arg("settings"),
               how_arg = nb::arg("how");
    to.def("warm", warm, book_arg, market_arg, nb::arg("architectures"), settings_arg, how_arg);
    to.def("tune", tune, book_arg, market_arg, nb::arg("seconds"), nb::arg("greeks"), settings_arg, how_arg);
    to.attr("default_tuning_seconds") = default_tuning_seconds;
}

}  // namespace tilewalk::python
