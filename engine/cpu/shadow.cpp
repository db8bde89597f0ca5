// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/shadow.h"

#include <cmath>
#include <limits>

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
    const kernels::moments& m = whole_run.moments;
    const double standard_error = m.count > 1 ? std::sqrt(m.m2 / (m.count - 1) / m.count) : 0.0;
    out.in_standard_errors =
        standard_error > 0 ? out.difference / standard_error : std::copysign(infinity, out.difference);
    return out;
}

}  // namespace tilewalk::cpu
