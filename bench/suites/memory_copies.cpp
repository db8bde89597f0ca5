// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, and data kept in the L2 cache. Expected:
// - A copy has a fixed cost of some microseconds, too much for kilobytes or for many pieces. The copy engine
//   reads pinned memory by itself; pageable memory first goes through a pinned buffer of the driver's.
// - A kernel that reads pinned memory in place reads at the speed of the bus: as good as a copy for numbers
//   read once, and bad for numbers read again.
// - A window of persisting accesses keeps up to the set-aside in the L2 cache while other numbers pass by.
//   Data smaller than the cache stays there anyhow if read often; of data a few times the set-aside a part is
//   kept, and the window gives way.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "bench/suites/memory_study.h"

namespace tilewalk::bench::memory {

namespace {

using namespace kernels::studies;

constexpr word64 most_copied = word64{256} << 20;

const std::string mapped_text = text_of("sum_strided<global<4>>");
const std::string kept_text = text_of("sum_kept");

class host_words {
  public:
    host_words(cuda::device& on, word64 words, bool is_pinned) {
        if (is_pinned) {
            pinned_.emplace(on, words * sizeof(word32));
        } else {
            pageable_.resize(words);
        }
    }
    word32* get() { return pinned_ ? pinned_->as<word32>() : pageable_.data(); }

  private:
    std::optional<cuda::pinned_memory> pinned_;
    std::vector<word32> pageable_;
};

void fill_with_content(word32* to, word64 words) {
    for (word64 i = 0; i < words; ++i) to[i] = content(i);
}

word64 first_fault(const word32* of, word64 words) {
    word64 i = 0;
    while (i < words && of[i] == content(i)) ++i;
    return i;
}

struct transfer {
    study& s;
    bool is_upload, is_pinned;
    word64 bytes;
    word64 pieces = 1;

    void measure(row& r) const {
        gpu_timer& on = s.on;
        cuda::device& device = on.device();
        const word64 words = bytes / sizeof(word32);
        host_words host(device, words, is_pinned), seen(device, words, true);
        const cuda::device_memory target(device, bytes);
        const cuda::in_flight waits(device, {on.stream()});
        // Fills the source with its content, the target with a pattern that must be overwritten.
        fill_with_content(is_upload ? host.get() : seen.get(), words);
        std::memset(is_upload ? seen.get() : host.get(), 0xa5, bytes);
        if (is_upload) {
            device.fill(target.as<void>(), 0xa5, bytes, on.stream());
        } else {
            device.upload(target.as<void>(), seen.get(), bytes, on.stream());
        }
        device.wait(on.stream());
        const auto copy = [&] {
            const word64 words_of_piece = words / pieces;
            for (word64 p = 0; p < pieces; ++p) {
                const word64 at = p * words_of_piece, size = words_of_piece * sizeof(word32);
                if (is_upload) {
                    device.upload(target.as<word32>() + at, host.get() + at, size, on.stream());
                } else {
                    device.download(host.get() + at, target.as<word32>() + at, size, on.stream());
                }
            }
        };
        copy();
        if (is_upload) device.download(seen.get(), target.as<void>(), bytes, on.stream());
        device.wait(on.stream());
        if (const word64 at = first_fault(is_upload ? seen.get() : host.get(), words); at < words) {
            r.wrong = "word " + std::to_string(at) + " of the copy is not that of its source";
            return;
        }
        const auto t = on.time(copy);
        r.figures = figures_of(t);
        r.figures["bytes_per_second"] = static_cast<double>(bytes) / (t.milliseconds.median * 1e-3);
    }
};

void copies(study& s) {
    for (const bool is_upload : {true, false}) {
        for (word64 bytes = 4096; bytes <= std::min(most_copied, s.words() * 4); bytes *= 16) {
            group rows = s.rows();
            for (const bool is_pinned : {true, false}) {
                rows.add({{"kind", "copy"},
                          {"direction", is_upload ? "to device" : "from device"},
                          {"bytes", bytes},
                          {"host", is_pinned ? "pinned" : "pageable"}},
                         [&](row& r) {
                             transfer{s, is_upload, is_pinned, bytes}.measure(r);
                         });
            }
        }
    }
}

void copies_in_pieces(study& s) {
    constexpr word64 bytes = word64{16} << 20;
    for (const bool is_upload : {true, false}) {
        group rows = s.rows();
        for (const word64 pieces : {word64{1}, word64{16}, word64{256}, word64{4096}}) {
            rows.add({{"kind", "copy_in_pieces"},
                      {"direction", is_upload ? "to device" : "from device"},
                      {"bytes", bytes},
                      {"pieces", pieces}},
                     [&](row& r) {
                         transfer{s, is_upload, true, bytes, pieces}.measure(r);
                     });
        }
    }
}

// Times a kernel that reads numbers in place in pinned host memory and sums them.
void mapped(study& s) {
    const word64 bytes = std::min(word64{64} << 20, s.words() * 4), words = bytes / sizeof(word32);
    for (const word32 times : {1U, 4U}) {
        group rows = s.rows();
        for (const bool is_copied : {true, false}) {
            const auto measure = [&](row& r) {
                cuda::device& device = s.on.device();
                if (!device.properties().maps_host_memory) {
                    r.skipped = "the device does not map memory of the host";
                    return;
                }
                const cuda::pinned_memory host(device, bytes);
                const cuda::device_memory target(device, bytes);
                const cuda::in_flight waits(device, {s.on.stream()});
                fill_with_content(host.as<word32>(), words);
                summed what;
                what.text = mapped_text;
                what.how = study::blocks_for(bytes / 16, 8);
                what.job = s.job();
                what.job.from = is_copied ? target.as<word32>() : host.on_device<word32>();
                what.job.stride = 1;
                what.job.reads = 8;
                what.truth = sum_of_content(0, words);
                what.useful_bytes = static_cast<double>(bytes) * times;
                what.launches = times;
                if (is_copied) {
                    what.before = [&] {
                        device.upload(target.as<void>(), host.as<void>(), bytes, s.on.stream());
                    };
                }
                s.measure(r, what);
            };
            rows.add({{"kind", "mapped"},
                      {"bytes", bytes},
                      {"times", times},
                      {"how", is_copied ? "copied, then read" : "read in place"}},
                     measure);
        }
    }
}

}  // namespace

void copies_and_mapped(study& s) {
    copies(s);
    copies_in_pieces(s);
    mapped(s);
}

void persisting(study& s) {
    constexpr word32 reads = 8;
    const cuda::device_properties& p = s.on.device().properties();
    // Three quarters of the numbers are streamed; the numbers to keep in the cache are in the last quarter.
    const word64 pieces = s.words() / 4, kept_reads = pieces / 4, first_kept = pieces / 4 * 3;
    const auto kept_pieces = [&](word64 quarters) { return p.persisting_l2_bytes * quarters / 4 / 16; };
    const auto measure = [&](row& r, word64 quarters, bool has_window) {
        const word64 count = kept_pieces(quarters);
        if (p.persisting_l2_bytes == 0) {
            r.skipped = "no part of the second-level cache can be set aside";
        } else if (count > kept_reads || count < block_threads) {
            r.skipped = "there is memory to keep " + std::to_string(kept_reads * 16) + " bytes, not " +
                        std::to_string(count * 16);
        }
        if (!r.skipped.empty()) return;
        summed what;
        what.text = kept_text;
        what.how = study::blocks_for(kept_reads, reads);
        what.job = s.job();
        what.job.kept = s.numbers() + first_kept * 4;
        what.job.count = count;
        what.job.reads = reads;
        what.truth = sum_of_content(0, first_kept * 4) +
                     static_cast<word32>(kept_reads / count) * sum_of_content(first_kept * 4, count * 4) +
                     sum_of_content(first_kept * 4, kept_reads % count * 4);
        what.useful_bytes = static_cast<double>(kept_reads * (1 + streamed_of_kept) * 16);
        what.is_warm = true;
        what.is_streamed = true;
        if (has_window) {
            what.how.persisting = what.job.kept;
            what.how.persisting_bytes = count * 16;
        }
        s.measure(r, what);
    };
    // Rows without a window are measured first: the first window sets its part of the cache aside for good.
    std::array<group, 5> groups = {s.rows(), s.rows(), s.rows(), s.rows(), s.rows()};
    for (const bool has_window : {false, true}) {
        word64 quarters = 1;
        for (group& rows : groups) {
            rows.add({{"kind", "persisting"},
                      {"footprint_of_set_aside", static_cast<double>(quarters) / 4},
                      {"window", has_window ? "persisting" : "none"}},
                     [&](row& r) { measure(r, quarters, has_window); });
            quarters *= 2;
        }
    }
}

std::vector<std::string> copies_texts() {
    return {mapped_text, kept_text};
}

}  // namespace tilewalk::bench::memory
