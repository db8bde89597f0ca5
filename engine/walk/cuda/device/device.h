// SPDX-License-Identifier: Apache-2.0
// The interface to one GPU. Every call that can fail on a GPU is here, so that a test can let each fail once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/reduce_stored.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

enum class device_failure {
    out_of_memory,    // smaller requests may still succeed
    illegal_address,  // the context is lost: every later call fails
    lost,             // the device itself is lost, as when it has left the bus
    refused,          // the device does not support this launch or setting
    other,
};

class device_error : public error {
  public:
    device_error(device_failure what, const std::string& message)
        : error(error_kind::device, message), what_(what) {}
    device_failure failure() const noexcept { return what_; }
    // Whether this process can do nothing more on the device.
    bool is_final() const noexcept {
        return what_ == device_failure::illegal_address || what_ == device_failure::lost;
    }

  private:
    device_failure what_;
};

struct device_properties {
    int index = 0;
    std::string name;
    std::string uuid;
    std::string driver;        // the CUDA version that the driver supports
    int major = 0, minor = 0;  // compute capability
    std::size_t memory_bytes = 0;
    int multiprocessors = 0;
    int threads_per_multiprocessor = 0;
    std::size_t shared_bytes_per_block = 0;  // most that a block may request
    std::size_t shared_bytes_per_multiprocessor = 0;
    std::size_t l2_bytes = 0;
    std::size_t persisting_l2_bytes = 0;  // most that launches may keep in the second-level cache
    int clock_khz = 0;
    bool maps_host_memory = false;
    bool reduces_stored = false;  // whether the build has reduce_stored()

    std::string architecture() const;  // such as "sm_90"
};

// Handles are valid only for the device that gave them.
enum class stream : std::uintptr_t { standard = 0 };
enum class event : std::uintptr_t {};
enum class module : std::uintptr_t {};
enum class kernel : std::uintptr_t {};
enum class texture : std::uint64_t {};

struct kernel_attributes {
    int registers = 0;
    std::size_t local_bytes = 0;
    std::size_t static_shared_bytes = 0;
    int blocks_per_multiprocessor = 0;  // that fit at once, for the launch passed to attributes()
};

struct launch {
    std::uint32_t blocks = 1;
    std::uint32_t threads = 1;
    std::uint32_t shared_bytes = 0;  // dynamic shared memory
    // Memory that is kept in the second-level cache, as far as it fits.
    const void* persisting = nullptr;
    std::size_t persisting_bytes = 0;
    bool together = false;  // a cooperative launch: all blocks run at once and may wait for each other
};

enum class texel : std::uint8_t { single, two_words };  // a float, or a double as two 32-bit words

class device {
  public:
    virtual ~device() = default;
    virtual const device_properties& properties() const = 0;
    virtual std::size_t free_bytes() = 0;

    // Memory that any stream may use at once; null for 0 bytes. Release only what no work uses any more.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    virtual void* allocate_pinned(std::size_t bytes) = 0;
    virtual void release_pinned(void* memory) noexcept = 0;
    virtual void* device_address_of(void* pinned) = 0;

    virtual stream open_stream() = 0;
    virtual void close_stream(stream s) noexcept = 0;
    virtual void wait(stream s) = 0;
    // Events. An event happens when its stream has done all work that was queued before the last record().
    virtual event open_event() = 0;
    virtual void record(event e, stream s) = 0;
    virtual void wait_for(stream s, event e) = 0;
    virtual bool has_happened(event e) = 0;
    virtual double milliseconds_between(event first, event second) = 0;
    virtual void close_event(event e) noexcept = 0;

    // Host memory that is not pinned may be reused as soon as upload() returns. Pinned memory is read later,
    // and all destinations are written later, in the order of the stream.
    virtual void upload(void* to, const void* from, std::size_t bytes, stream s) = 0;
    virtual void download(void* to, const void* from, std::size_t bytes, stream s) = 0;
    virtual void fill(void* memory, int byte, std::size_t bytes, stream s) = 0;

    virtual module load(std::span<const char> cubin) = 0;
    virtual void unload(module m) noexcept = 0;
    virtual kernel find(module m, const char* name) = 0;
    virtual std::span<std::byte> variable(module m, const char* name) = 0;
    virtual kernel_attributes attributes(kernel k, const launch& at) = 0;
    virtual texture open_texture(const void* memory, std::size_t bytes, texel kind) = 0;
    virtual void close_texture(texture t) noexcept = 0;

    virtual void run(kernel k, const launch& how, std::span<void*> arguments, stream s) = 0;
    // Reduces stored payoffs to results of tiles. Requires device_properties::reduces_stored.
    virtual void reduce_stored(const kernels::stored_payoffs& what, stream s) = 0;
};

struct device_finding {
    device_properties properties;
    std::string why_not;  // why Tilewalk can't use the device; empty if it can
};
struct device_survey {
    std::vector<device_finding> devices;
    std::string driver, runtime;  // CUDA versions; empty if not found
    std::string why_none;         // why there are no devices; empty if there are
};

// 80 stands for 8.0.
inline constexpr int least_compute_capability = 80;

// Finds all GPUs. Does not throw if a driver or a GPU is missing.
device_survey survey_devices();
std::unique_ptr<device> open_device(int index);

}  // namespace tilewalk::cuda
