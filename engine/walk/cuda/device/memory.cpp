// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/memory.h"

namespace tilewalk::cuda {

in_flight::~in_flight() {
    for (const stream s : streams_) {
        try {
            on_.wait(s);
        } catch (const device_error&) {
            // The destructor may run because of an error, which is reported anyway.
        }
    }
}

}  // namespace tilewalk::cuda
