// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/all_commands.h"

namespace tilewalk::cli {

std::vector<adds_command> all_commands(adds_command bench, adds_command verify) {
    return {add_price, add_greeks,  add_scenarios, add_validate,  add_explain, add_products,
            add_diff,  add_devices, add_warm,      add_plan,      add_run,     add_merge,
            bench,     add_tune,    verify,        add_calibrate, add_market,  add_import};
}

}  // namespace tilewalk::cli
