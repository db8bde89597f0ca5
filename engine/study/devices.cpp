// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/devices.h"

#include <algorithm>

#include "engine/base/crew.h"
#include "engine/base/machine.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/device/device.h"
#include "tilewalk/engine.h"

namespace tilewalk {

namespace {

gpu_page page_of(const cuda::device_finding& found) {
    const cuda::device_properties& p = found.properties;
    gpu_page page;
    page.index = p.index;
    page.name = p.name;
    page.uuid = p.uuid;
    page.compute_capability = std::to_string(p.major) + "." + std::to_string(p.minor);
    page.memory_bytes = p.memory_bytes;
    page.multiprocessors = p.multiprocessors;
    page.clock_hertz = static_cast<std::uint64_t>(p.clock_khz) * 1000;
    page.shared_bytes = p.shared_bytes_per_block;
    page.l2_bytes = p.l2_bytes;
    page.why_not = found.why_not;
    return page;
}

}  // namespace

int usable_cores() {
    return threads::usable_cores();
}

device_pages describe_devices() {
    device_pages pages;
    pages.processor.name = processor_name();
    pages.processor.threads = usable_cores();
    pages.processor.instruction_sets = engine::instruction_sets();

    const cuda::device_survey survey = cuda::survey_devices();
    for (const cuda::device_finding& found : survey.devices) pages.gpus.push_back(page_of(found));
    pages.why_no_gpu = survey.why_none;
    pages.cuda_driver = survey.driver;
    pages.cuda_runtime = survey.runtime;

    pages.why_no_compiler = cuda::why_no_compiler();
    pages.compiler = cuda::nvrtc_version();
    pages.compiler_folder = cuda::nvrtc_folder();
    pages.kernel_folder = cuda::default_cache_folder().string();
    pages.why_not_kept = cuda::why_not_kept_in(cuda::default_cache_folder());

    for (const gpu_page& gpu : pages.gpus) {
        if (gpu.why_not.empty() && pages.why_no_compiler.empty()) pages.automatic.push_back(gpu.index);
    }
    if (pages.automatic.empty()) {
        const bool one_is_fit = std::any_of(pages.gpus.begin(), pages.gpus.end(),
                                            [](const gpu_page& g) { return g.why_not.empty(); });
        pages.why_processor = one_is_fit           ? "no compiler of kernels"
                              : pages.gpus.empty() ? pages.why_no_gpu
                                                   : "no GPU can be used";
    }
    return pages;
}

}  // namespace tilewalk
