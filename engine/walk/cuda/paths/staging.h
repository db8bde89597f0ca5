// SPDX-License-Identifier: Apache-2.0
// Uploads large data through two pieces of page-locked memory: one is filled while the other is copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "engine/walk/cuda/device/memory.h"

namespace tilewalk::cuda {

class staging {
  public:
    // Page-locked memory is allocated on demand, at least `at_least` bytes. Callers with several uploads pass
    // the largest, so that no piece is replaced in between: releasing one may wait for the whole device.
    staging(device& on, stream s, std::size_t at_least = 0)
        : on_(on), stream_(s), at_least_(std::min(at_least, piece_bytes)) {}
    ~staging() {
        // Pieces must not be released while they are copied.
        const in_flight guard(on_, {stream_});
    }
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;

    void put(std::byte* to, std::span<const std::byte> from) {
        put(to, from.size(), 1, [&](std::size_t at, std::span<std::byte> part) {
            std::memcpy(part.data(), from.data() + at, part.size());
        });
    }

    // Uploads `bytes` bytes. write(at, piece) fills a piece with those from `at` on; its size is a multiple
    // of `grain`.
    template <class writer>
    void put(std::byte* to, std::size_t bytes, std::size_t grain, const writer& write) {
        const std::size_t most = piece_bytes / grain * grain;
        for (std::size_t at = 0; at < bytes;) {
            const std::size_t size = std::min(most, bytes - at);
            piece& p = pieces_[next_];
            next_ = 1 - next_;
            if (p.copied) wait_until_copied(p);
            if (!p.memory || p.memory->bytes() < size) {
                p.memory.reset();
                p.memory.emplace(on_, std::max(size, at_least_));
            }
            write(at, std::span(p.memory->as<std::byte>(), size));
            on_.upload(to + at, p.memory->as<std::byte>(), size, stream_);
            p.copied.emplace(new_event(on_, stream_));
            at += size;
        }
    }

  private:
    static constexpr std::size_t piece_bytes = std::size_t{8} << 20;
    struct piece {
        std::optional<pinned_memory> memory;
        std::optional<owned_event> copied;
    };

    void wait_until_copied(piece& p);

    device& on_;
    stream stream_;
    std::size_t at_least_;
    piece pieces_[2];
    int next_ = 0;
};

}  // namespace tilewalk::cuda
