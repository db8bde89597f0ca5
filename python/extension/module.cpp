// SPDX-License-Identifier: Apache-2.0
#include "python/extension/module.h"

#include "python/extension/interpreter.h"

NB_MODULE(_core, to) {
    using namespace tilewalk::python;
    to.doc() = "The engine of tilewalk; the package around it is what to use.";
    add_ending(to);
    add_errors(to);
    add_tables(to);
    add_markets(to);
    add_books(to);
    add_results(to);
    add_scenarios(to);
    add_differences(to);
    add_runs(to);
    add_kernels(to);
    add_shards(to);
    add_verification(to);
    add_pictures(to);
    add_machine(to);
}
