// SPDX-License-Identifier: Apache-2.0
// The extension tilewalk._core: the public C++ API in Python, before the package tilewalk refines it.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewalk::python {

namespace nb = nanobind;

inline nb::any any_of(nb::object of) {
    return nb::steal<nb::any>(of.release());
}

void add_errors(nb::module_& to);
void add_tables(nb::module_& to);
void add_markets(nb::module_& to);
void add_books(nb::module_& to);
void add_results(nb::module_& to);
void add_scenarios(nb::module_& to);
void add_differences(nb::module_& to);
void add_runs(nb::module_& to);
void add_kernels(nb::module_& to);
void add_shards(nb::module_& to);
void add_verification(nb::module_& to);
void add_pictures(nb::module_& to);
void add_machine(nb::module_& to);

}  // namespace tilewalk::python
