// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cpu/shadow.h"

#include <cmath>
#include <limits>

#include "engine/walk/units.h"

namespace tilewalk::cpu {

shadow compare(const kernels::tile_result& sample, const kernels::tile_result& in_double,
               const kernels::tile_result& whole_run) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    shadow out;
    const bool both_finite = sample.not_finite == 0 && in_double.not_finite == 0;
    if (both_finite) {
        out.difference = sample.moments.mean - in_double.moments.mean;
    } else if (sample.not_finite != in_double.not_finite) {
        out.difference = infinity;
    }
    if (out.difference == 0) return out;
    const double standard_error = run::standard_error_of(whole_run.moments);
    out.in_standard_errors =
        standard_error > 0 ? out.difference / standard_error : std::copysign(infinity, out.difference);
    return out;
}

}  // namespace tilewalk::cpu
