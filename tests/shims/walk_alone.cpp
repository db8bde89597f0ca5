// SPDX-License-Identifier: Apache-2.0
// This program links only the objects of tilewalk_walk and walks a call written by hand as a program, which
// shows that walking needs no markets and no trades. Exits with 0 if the price is Black's within 4.5 standard
// errors, exceeded by chance 7 times in a million.
#include <cmath>
#include <iostream>

#include "engine/numerics/black.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/units.h"
#include "tests/regressed_call.h"

int main() {
    using namespace tilewalk;
    const tests::regressed_call call;
    cpu::back_end on(*cpu::runnable_instruction_sets().sets[0], 2, program::precision::double_);
    const kernels::moments found = call.walked(on, 42, 65536, 0).whole().moments;
    const double truth =
        analytics::black_price(analytics::right::call, call.spot, call.strike, call.volatility);
    std::cout << found.mean << ", expected " << truth << '\n';
    return std::fabs(found.mean - truth) < 4.5 * run::standard_error_of(found) ? 0 : 1;
}
