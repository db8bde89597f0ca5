// SPDX-License-Identifier: Apache-2.0
// The command tilewalk.
#include <string>
#include <vector>

#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    return run_program({argv + 1, argv + argc},
                       {add_price, add_greeks, add_scenarios, add_validate, add_explain, add_products,
                        add_diff, add_devices, add_warm, add_plan, add_run, add_merge, add_bench_program,
                        add_tune, add_verify_program, add_calibrate, add_market, add_import});
}
