// SPDX-License-Identifier: Apache-2.0
// One GPU as Tilewalk uses it. Everything that can fail on a GPU goes through this interface, so that a test
// can stand in for it and fail each call once.
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
    out_of_memory,    // a request for less memory may succeed
    illegal_address,  // the context is lost, and every later call fails
    lost,             // the device itself is lost
    refused,          // a launch or setting that the device does not support
    other,
};

class device_error : public error {
  public:
    device_error(device_failure what, const std::string& message)
        : error(error_kind::device, message), what_(what) {}
    device_failure failure() const noexcept { return what_; }
    // True if this process can do nothing more on this device.
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
    std::string driver;        // CUDA version of the driver
    int major = 0, minor = 0;  // compute capability
    std::size_t memory_bytes = 0;
    int multiprocessors = 0;
    int threads_per_multiprocessor = 0;
    std::size_t shared_bytes_per_block = 0;  // the most that a block may ask for
    std::size_t shared_bytes_per_multiprocessor = 0;
    std::size_t l2_bytes = 0;
    std::size_t persisting_l2_bytes = 0;  // the most that may be set aside
    int clock_khz = 0;
    bool maps_host_memory = false;
    bool reduces_stored = false;  // depends on the build alone

    std::string architecture() const;  // "sm_90"
};

// Handles mean nothing outside their device.
enum class stream : std::uintptr_t { standard = 0 };
enum class event : std::uintptr_t {};
enum class module : std::uintptr_t {};
enum class kernel : std::uintptr_t {};
enum class texture : std::uint64_t {};

struct kernel_attributes {
    int registers = 0;
    std::size_t local_bytes = 0;
    std::size_t static_shared_bytes = 0;
    int blocks_per_multiprocessor = 0;  // for the launch asked about
};

struct launch {
    std::uint32_t blocks = 1;
    std::uint32_t threads = 1;
    std::uint32_t shared_bytes = 0;  // dynamic
    // Kept in the second-level cache as far as it fits.
    const void* persisting = nullptr;
    std::size_t persisting_bytes = 0;
    bool together = false;  // all blocks run at once, and may wait for each other
};

enum class texel : std::uint8_t { single, two_words };  // a float; a double as two words

class device {
  public:
    virtual ~device() = default;
    virtual const device_properties& properties() const = 0;
    virtual std::size_t free_bytes() = 0;

    // Null for 0 bytes. Any stream may use the memory at once. Release only what no work uses any more.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    virtual void* allocate_pinned(std::size_t bytes) = 0;
    virtual void release_pinned(void* memory) noexcept = 0;
    virtual void* device_address_of(void* pinned) = 0;

    virtual stream open_stream() = 0;
    virtual void close_stream(stream s) noexcept = 0;
    virtual void wait(stream s) = 0;
    // An event happens when its stream reaches the place of the last record().
    virtual event open_event() = 0;
    virtual void record(event e, stream s) = 0;
    virtual void wait_for(stream s, event e) = 0;
    virtual bool has_happened(event e) = 0;
    virtual double milliseconds_between(event first, event second) = 0;
    virtual void close_event(event e) noexcept = 0;

    // upload() has read host memory that is not pinned when it returns. Pinned memory is read, and all memory
    // written, in stream order.
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
    // Makes results of tiles from their payoffs. Requires reduces_stored.
    virtual void reduce_stored(const kernels::stored_payoffs& what, stream s) = 0;
};

struct device_finding {
    device_properties properties;
    std::string why_not;  // empty: Tilewalk can use it
};
struct device_survey {
    std::vector<device_finding> devices;
    std::string driver, runtime;  // versions; empty if there is none
    std::string why_none;         // why there are no devices; empty if there are
};

// 80 is 8.0.
inline constexpr int least_compute_capability = 80;

// Never throws because a driver or a GPU is missing.
device_survey survey_devices();
std::unique_ptr<device> open_device(int index);

}  // namespace tilewalk::cuda
