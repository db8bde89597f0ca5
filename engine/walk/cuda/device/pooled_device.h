// SPDX-License-Identifier: Apache-2.0
// A device that reuses streams, events and page-locked memory: creating them takes longer than a small run.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

// The most that is kept while unused. Device memory is not kept, because others may need it.
struct idle_limits {
    std::size_t streams = 64;
    std::size_t events = 1024;
    std::size_t pinned_blocks = 64;
    std::size_t pinned_bytes = std::size_t{32} << 20;
};

// Thread-safe, like every device.
class pooled_device final : public device {
  public:
    explicit pooled_device(std::unique_ptr<device> of, const idle_limits& most = {});
    ~pooled_device() override;
    pooled_device(const pooled_device&) = delete;
    pooled_device& operator=(const pooled_device&) = delete;

    void* allocate_pinned(std::size_t bytes) override;
    void release_pinned(void* memory) noexcept override;
    stream open_stream() override;
    void close_stream(stream s) noexcept override;
    event open_event() override;
    void close_event(event e) noexcept override;
    void wait(stream s) override;

    const device_properties& properties() const override { return device_->properties(); }
    std::size_t free_bytes() override { return device_->free_bytes(); }
    void* allocate(std::size_t bytes) override { return device_->allocate(bytes); }
    void release(void* memory) noexcept override { device_->release(memory); }
    void* device_address_of(void* pinned) override { return device_->device_address_of(pinned); }
    void record(event e, stream s) override { device_->record(e, s); }
    void wait_for(stream s, event e) override { device_->wait_for(s, e); }
    bool has_happened(event e) override { return device_->has_happened(e); }
    double milliseconds_between(event first, event second) override {
        return device_->milliseconds_between(first, second);
    }
    void upload(void* to, const void* from, std::size_t bytes, stream s) override {
        device_->upload(to, from, bytes, s);
    }
    void download(void* to, const void* from, std::size_t bytes, stream s) override {
        device_->download(to, from, bytes, s);
    }
    void fill(void* memory, int byte, std::size_t bytes, stream s) override {
        device_->fill(memory, byte, bytes, s);
    }
    module load(std::span<const char> cubin) override { return device_->load(cubin); }
    void unload(module m) noexcept override { device_->unload(m); }
    kernel find(module m, const char* name) override { return device_->find(m, name); }
    std::span<std::byte> variable(module m, const char* name) override { return device_->variable(m, name); }
    kernel_attributes attributes(kernel k, const launch& at) override { return device_->attributes(k, at); }
    texture open_texture(const void* memory, std::size_t bytes, texel kind) override {
        return device_->open_texture(memory, bytes, kind);
    }
    void close_texture(texture t) noexcept override { device_->close_texture(t); }
    void run(kernel k, const launch& how, std::span<void*> arguments, stream s) override {
        device_->run(k, how, arguments, s);
    }
    void reduce_stored(const kernels::stored_payoffs& what, stream s) override {
        device_->reduce_stored(what, s);
    }

  private:
    struct pinned_block {
        void* first;
        std::size_t bytes;
    };

    const std::unique_ptr<device> device_;
    const idle_limits most_;
    std::mutex lock_;                          // guards the members below
    std::vector<stream> streams_;              // unused
    std::vector<event> events_;                // unused
    std::vector<pinned_block> pinned_;         // unused
    std::size_t pinned_bytes_ = 0;             // sum of the sizes in pinned_
    std::map<void*, std::size_t> pinned_out_;  // sizes of blocks in use that will be kept
    std::set<stream> doubtful_;                // streams on which a wait has failed
};

}  // namespace tilewalk::cuda
