// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/group.h"

#include <utility>

#include "bench/measure/attempt.h"

namespace tilewalk::bench {

void group::add(json axes, const std::function<void(row&)>& measure) {
    row r;
    r.suite = suite_;
    r.axes = std::move(axes);
    const auto with_ratio = [&](row made) {
        const double milliseconds = made.is_result() ? made.figures.value("milliseconds", 0.0) : 0;
        if (first_.is_null()) {
            first_ = made.axes;
            first_milliseconds_ = milliseconds;
        } else {
            made.over = first_;
            if (first_milliseconds_ > 0 && milliseconds > 0)
                made.figures["ratio"] = first_milliseconds_ / milliseconds;
        }
        to_(std::move(made));
    };
    attempt(std::move(r), with_ratio, measure);
}

}  // namespace tilewalk::bench
