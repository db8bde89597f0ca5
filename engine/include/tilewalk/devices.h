// SPDX-License-Identifier: Apache-2.0
// The processor and GPUs of this machine, the CUDA libraries for GPUs, and why one of them can't be used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

struct processor_page {
    std::string name;
    int threads = 0;  // usable threads
    std::vector<std::string>
        instruction_sets;  // usable by Tilewalk, best first; empty if the processor is too old
};

struct gpu_page {
    int index = 0;  // number of the GPU in the setting `device`
    std::string name, uuid;
    std::string compute_capability;  // "9.0"
    std::uint64_t memory_bytes = 0;
    int multiprocessors = 0;
    std::uint64_t clock_hertz = 0;
    std::uint64_t shared_bytes = 0;  // most shared memory of a thread block
    std::uint64_t l2_bytes = 0;
    std::string why_not;  // why Tilewalk can't use the GPU; empty if it can
};

struct device_pages {
    processor_page processor;
    std::vector<gpu_page> gpus;
    std::string why_no_gpu;    // why no GPU was found; empty if there are GPUs
    std::string cuda_driver;   // newest CUDA version that the driver supports, "13.0"; empty without a driver
    std::string cuda_runtime;  // CUDA version of this build of Tilewalk; empty without CUDA
    std::string compiler;      // run-time compiler of kernels, "NVRTC 13.0"; may be empty
    std::string compiler_folder;
    std::string why_no_compiler;  // why kernels can't be compiled; empty if they can
    std::string kernel_folder;    // cache of compiled kernels; empty if there is none
    std::string why_not_kept;     // why kernels are not kept there; empty if they are

    // GPUs that `device: auto` uses beside the processor, in long runs. If there are none, `why_processor`
    // says why.
    std::vector<int> automatic;
    std::string why_processor;
};

// Cores that this process may run on, as containers or `taskset` allow; the default number of threads.
int usable_cores();

device_pages describe_devices();

}  // namespace tilewalk
