// SPDX-License-Identifier: Apache-2.0
// The processor and GPUs of this machine, the libraries they need, and why some are not used.
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
    int index = 0;  // its number in the setting `device`
    std::string name, uuid;
    std::string compute_capability;  // "9.0"
    std::uint64_t memory_bytes = 0;
    int multiprocessors = 0;
    std::uint64_t clock_hertz = 0;
    std::uint64_t shared_bytes = 0;  // limit of a block
    std::uint64_t l2_bytes = 0;
    std::string why_not;  // empty if usable
};

struct device_pages {
    processor_page processor;
    std::vector<gpu_page> gpus;
    std::string why_no_gpu;    // empty if there are GPUs
    std::string cuda_driver;   // newest CUDA version of the driver, "13.0"; empty without a driver
    std::string cuda_runtime;  // CUDA of the build; empty without CUDA
    std::string compiler;      // compiler of kernels, "NVRTC 13.0"; may be empty
    std::string compiler_folder;
    std::string why_no_compiler;  // may be empty
    std::string kernel_folder;    // cache of compiled kernels; empty if they are not kept
    std::string why_not_kept;     // may be empty

    // The GPUs that `device: auto` uses; empty for the processor, with the reason.
    std::vector<int> automatic;
    std::string why_processor;
};

// Cores this process may run on (a container or `taskset` can reduce them): the default number of threads.
int usable_cores();

device_pages describe_devices();

}  // namespace tilewalk
