// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/memory.h"

namespace tilewalk::cuda {

in_flight::~in_flight() {
    for (const stream s : streams_) {
        try {
            on_.wait(s);
        } catch (const device_error&) {
            // The error is the one that led here, reported again; a device that fails runs nothing.
        }
    }
}

}  // namespace tilewalk::cuda
