// SPDX-License-Identifier: Apache-2.0
// A CUDA back end whose devices are fake GPUs (tests/fake_device.h). Compiled kernels are kept in no folder.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/study/session/engine_state.h"
#include "engine/walk/cuda/device/backend.h"
#include "tests/fake_device.h"

namespace tilewalk::tests {

// The compiler `by` must outlive the returned back end.
inline std::shared_ptr<cuda::backend> backend_on(const std::vector<std::shared_ptr<cuda::fake_gpu>>& gpus,
                                                 cuda::compiler& by) {
    cuda::gpu_machine m;
    m.survey = [gpus] {
        cuda::device_survey found;
        for (const auto& g : gpus) found.devices.push_back({g->properties, ""});
        return found;
    };
    m.open = [gpus](int i) -> std::unique_ptr<cuda::device> {
        return std::make_unique<cuda::fake_device>(gpus[static_cast<std::size_t>(i)]);
    };
    m.why_no_compiler = [] { return std::string(); };
    m.compiler = [&by]() -> cuda::compiler& { return by; };
    m.kernel_folder.clear();
    m.tiles_before_gpus = 0;
    return std::make_shared<cuda::backend>(m);
}
inline engine engine_on(const std::vector<std::shared_ptr<cuda::fake_gpu>>& gpus, cuda::compiler& by) {
    return studies::engine_on(backend_on(gpus, by));
}

}  // namespace tilewalk::tests
