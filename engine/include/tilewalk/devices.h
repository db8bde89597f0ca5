// SPDX-License-Identifier: Apache-2.0
// The devices of this machine: its processor, its GPUs, the libraries that they need, and why something is
// not used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewalk {

struct processor_page {
    std::string name;
    int threads = 0;                            // that it runs for us at once
    std::vector<std::string> instruction_sets;  // that Tilewalk can use, best first; empty: it can't be used
};

struct gpu_page {
    int index = 0;  // what the setting `device` calls it
    std::string name, uuid;
    std::string compute_capability;  // "9.0"
    std::uint64_t memory_bytes = 0;
    int multiprocessors = 0;
    std::uint64_t clock_hertz = 0;
    std::uint64_t shared_bytes = 0;  // most that a block may use
    std::uint64_t l2_bytes = 0;
    std::string why_not;  // empty: it can be used
};

struct device_pages {
    processor_page processor;
    std::vector<gpu_page> gpus;
    std::string why_no_gpu;       // why there is none to look at, else empty
    std::string cuda_driver;      // the newest CUDA that the driver knows, "13.0"; empty: no driver
    std::string cuda_runtime;     // that Tilewalk was built with; empty: without
    std::string compiler;         // of kernels, "NVRTC 13.0"; empty: none
    std::string compiler_folder;  // where that lies
    std::string why_no_compiler;  // or empty
    std::string kernel_folder;    // where compiled kernels are kept; empty: nowhere
    std::string why_not_kept;     // why they are not, else empty

    // The choice of `device: auto`: GPUs, or none for the processor, and why.
    std::vector<int> automatic;
    std::string why_processor;
};

// Cores on which this process may run: one thread each, unless told. A container or `taskset` can make them
// fewer than the machine has.
int usable_cores();

// Looks at the devices and opens none.
device_pages describe_devices();

}  // namespace tilewalk
