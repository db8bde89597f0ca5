// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/memory.h"

namespace tilewalk::cuda {

in_flight::~in_flight() {
    for (const stream s : streams_) {
        try {
            on_.wait(s);
        } catch (const device_error&) {
            // The error that brought us here, seen again; nothing runs on a device that fails.
        }
    }
}

}  // namespace tilewalk::cuda
