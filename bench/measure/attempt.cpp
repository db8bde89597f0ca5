// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/attempt.h"

#include <utility>

#include "bench/measure/timing.h"
#include "engine/walk/cuda/device/device.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

void attempt(row r, const sink& to, const std::function<void(row&)>& make) {
    try {
        make(r);
    } catch (const clock_throttled& e) {
        r.skipped = e.what();
    } catch (const cuda::device_error& e) {
        if (e.is_final()) throw;
        (e.failure() == cuda::device_failure::out_of_memory ? r.skipped : r.wrong) = e.what();
    } catch (const error& e) {
        if (e.kind() == error_kind::cancelled) throw;
        r.wrong = e.what();
    }
    to(std::move(r));
}

void skip(row r, const sink& to, std::string why) {
    r.skipped = std::move(why);
    to(std::move(r));
}

}  // namespace tilewalk::bench
