// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/all_commands.h"

namespace tilewalk::cli {

std::vector<adds_command> all_commands() {
    return {add_price,         add_greeks,  add_scenarios,      add_validate,  add_explain, add_products,
            add_diff,          add_devices, add_warm,           add_plan,      add_run,     add_merge,
            add_bench_program, add_tune,    add_verify_program, add_calibrate, add_market,  add_import};
}

}  // namespace tilewalk::cli
