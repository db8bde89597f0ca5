// SPDX-License-Identifier: Apache-2.0
// Replaces cuda_device.cpp in a build without CUDA.
#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

device_survey survey_devices() {
    device_survey none;
    none.why_none = "built without CUDA";
    return none;
}

std::unique_ptr<device> open_device(int index) {
    throw device_error(device_failure::refused, "GPU " + std::to_string(index) + ": built without CUDA");
}

}  // namespace tilewalk::cuda
