// SPDX-License-Identifier: Apache-2.0
#include "engine/bench/suites/group.h"

#include "engine/cuda/device.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

void group::add(json axes, const std::function<void(row&)>& measure) {
    row r;
    r.suite = suite_;
    r.axes = std::move(axes);
    try {
        measure(r);
    } catch (const cuda::device_error& e) {
        if (e.is_final()) throw;
        (e.failure() == cuda::device_failure::out_of_memory ? r.skipped : r.wrong) = e.what();
    } catch (const error& e) {
        if (e.kind() != error_kind::compile && e.kind() != error_kind::device) throw;
        r.wrong = e.what();
    }
    const double milliseconds = r.is_result() ? r.figures.value("milliseconds", 0.0) : 0;
    if (first_.is_null()) {
        first_ = r.axes;
        first_milliseconds_ = milliseconds;
    } else {
        r.over = first_;
        if (first_milliseconds_ > 0 && milliseconds > 0)
            r.figures["ratio"] = first_milliseconds_ / milliseconds;
    }
    to_(std::move(r));
}

}  // namespace tilewalk::bench
