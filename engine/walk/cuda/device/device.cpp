// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

std::string device_properties::architecture() const {
    return "sm_" + std::to_string(major) + std::to_string(minor);
}

}  // namespace tilewalk::cuda
