// SPDX-License-Identifier: Apache-2.0
// Kernels on cuRAND's device API for the suite `random`: texts that include its header, and their launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/timing.h"
#include "engine/walk/arrays/element.h"
#include "engine/walk/cuda/compile/toolkit_headers.h"
#include "engine/walk/cuda/device/memory.h"
#include "kernels/studies/normals_job.h"

namespace tilewalk::bench::normals {

struct device_generator {
    std::string_view name;   // name in rows
    std::string_view state;  // cuRAND's type of a state
    bool keeps_state;        // if starting a state takes longer than one launch's numbers
};
// cuRAND's generators that are measured; the first is Philox.
std::span<const device_generator> device_generators();

// Finds the headers of cuRAND's device API; throws as cuda::find_toolkit_headers does.
cuda::toolkit_headers curand_headers(std::span<const std::string> folders);

// The kernels `set_up` (starts states that a generator keeps) and `fill`; both take studies::fill_job.
std::string set_up_text(const device_generator& of);
std::string fill_text(const device_generator& from, arrays::element of);
// Text of the kernel `walk`: the Asian on Philox. It takes kernels::studies::asian_job.
std::string curand_asian_text(arrays::element of);

std::vector<std::string> curand_texts();

kernels::studies::asian_job asian_terms();

class device_fill {
  public:
    device_fill(gpu_timer& on, const cuda::toolkit_headers& with, const device_generator& from,
                arrays::element of, void* to, std::size_t bytes);

    bool keeps_state() const { return set_up_.has_value(); }
    void set_up();
    void run();

  private:
    void launch(cuda::kernel k);

    gpu_timer& on_;
    std::optional<cuda::kernel> set_up_;
    cuda::kernel fill_;
    cuda::launch how_;
    cuda::device_memory states_;
    kernels::studies::fill_job job_{};
    cuda::in_flight waits_;
};

// Walks the Asian of the suite `random` to one result, with cuRAND's Philox in registers.
class device_asian {
  public:
    device_asian(gpu_timer& on, const cuda::toolkit_headers& with, arrays::element of, std::uint64_t paths);

    void run();
    kernels::tile_result result();

  private:
    gpu_timer& on_;
    cuda::kernel walk_, merge_;
    cuda::launch how_;
    cuda::device_memory results_, merged_;
    kernels::studies::asian_job job_;
    cuda::in_flight waits_;
};

}  // namespace tilewalk::bench::normals
