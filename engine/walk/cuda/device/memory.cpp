// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/memory.h"

namespace tilewalk::cuda {

in_flight::~in_flight() {
    for (const stream s : streams_) {
        try {
            on_.wait(s);
        } catch (const device_error&) {
            // This is the error that led here, reported again. A failed device runs nothing, so no work is
            // left.
        }
    }
}

}  // namespace tilewalk::cuda
