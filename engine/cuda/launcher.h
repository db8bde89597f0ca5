// SPDX-License-Identifier: Apache-2.0
// Walks the tiles of many trades on GPUs: one kernel for all trades of a shape, launched over lists of
// (trade, tile). Which device walks a tile, and in how many chunks a run is cut, changes no bit: results are
// kept by tile and merged in the run's one tree. A device that fails hands its work to the
// others: as long as one lives, so does the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/arrays/shock_cube.h"
#include "engine/arrays/shock_file.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernel_choice.h"
#include "engine/cuda/kernel_store.h"
#include "engine/cuda/packed_trades.h"
#include "engine/cuda/random/catalogue.h"
#include "engine/cuda/tuned_choices.h"
#include "engine/run/job.h"
#include "kernels/tile_result.h"

namespace tilewalk::cuda {

// A device with the kernels that are loaded on it, for many runs.
class loaded_device {
  public:
    explicit loaded_device(std::unique_ptr<device> d) : device_(std::move(d)) {}
    ~loaded_device();

    device& get() const { return *device_; }
    // The kernel `name` of a cubin; loaded once.
    kernel find(const std::shared_ptr<const std::string>& cubin, const char* name);
    // A variable of a cubin that is loaded.
    std::span<std::byte> variable(const std::shared_ptr<const std::string>& cubin, const char* name);

  private:
    std::unique_ptr<device> device_;
    std::mutex lock_;
    struct loaded {
        std::shared_ptr<const std::string> cubin;  // keeps its address, the key, from being used again
        module in;
    };
    std::map<const std::string*, loaded> modules_;
};

// How GPUs are to walk.
struct gpu_settings {
    kernel_choice how;
    std::string correlation = "auto";  // who correlates shocks, see makes_moves_ahead
    // Where shocks come from that a feed brings; null: the first of the catalogue.
    const random::catalogue_entry* source = nullptr;
    std::uint64_t memory_bytes = 0;  // of each device, that the run may take; 0: what is free
    int compile_threads = 1;
    tuned_choices* tuned = nullptr;  // asked where the choice is open
};

struct gpu_run : run::walk, gpu_settings {};

// Facts that GPUs tell of one walk or several.
struct gpu_facts {
    // Kernels that the walks took, with those that fill and merge, for every kind of device.
    std::size_t kernels_compiled = 0, kernels_from_cache = 0;
    std::size_t launches = 0;
    // From the first launch of a chunk to the end of its last, and of that with a kernel running: the longest
    // of the devices.
    double device_seconds = 0, kernel_seconds = 0;
    struct share {
        bool has_walked = false;    // something that the results are made of, if there are any
        std::optional<error> lost;  // why it could not go on; then the other devices took its work
    };
    std::vector<share> shares;  // by device

    void add(const gpu_facts& more);
};

// The parts of a quasi-random run are its units (see engine/run/units.h).
struct gpu_outcome : run::outcome, gpu_facts {};

// A kernel that jobs need, by their index.
struct needed_kernel {
    std::string name;  // for people
    std::string text;
    std::vector<std::size_t> jobs;
    bool is_walk = false;  // a path kernel with shocks that are its own, built like this
    kernel_choice how{};
};
// A device whose measured choices count.
struct tuned_device {
    tuned_choices& choices;
    const device_properties& on;
};
// All that a run of these jobs compiles, but for what fills arrays with shocks.
std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_choice& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned = {});

class launcher : public run::back_end {
  public:
    launcher(std::vector<std::shared_ptr<loaded_device>> devices, kernel_store& kernels,
             gpu_settings with = {})
        : devices_(std::move(devices)), kernels_(kernels), with_(std::move(with)) {}

    run::outcome walk_all(const run::walk& of) override;
    // The facts of all walks through that interface.
    const gpu_facts& facts() const { return facts_; }
    // The same with settings of its own, and with what GPUs know of the run.
    gpu_outcome walk_all(const gpu_run& run);

  private:
    std::vector<std::shared_ptr<loaded_device>> devices_;
    kernel_store& kernels_;
    gpu_settings with_;
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
