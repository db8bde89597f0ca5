// SPDX-License-Identifier: Apache-2.0
// The commands: each adds itself with its options and examples, and says what to run when it was asked for.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace tilewalk::cli {

struct command {
    CLI::App* app;
    std::function<int()> run;  // the exit code
};

command add_price(CLI::App& to);
command add_validate(CLI::App& to);
command add_explain(CLI::App& to);
command add_warm(CLI::App& to);
command add_products(CLI::App& to);
command add_diff(CLI::App& to);
command add_devices(CLI::App& to);
command add_bench(CLI::App& to);
command add_tune(CLI::App& to);
command add_verify(CLI::App& to);
command add_calibrate(CLI::App& to);

}  // namespace tilewalk::cli
