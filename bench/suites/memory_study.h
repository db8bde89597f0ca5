// SPDX-License-Identifier: Apache-2.0
// The common parts of the benchmark `memory`: numbers by formula in device memory, kernels that sum the
// numbers they read, and checks of these sums before timing. Parts of the benchmark are in memory_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "bench/suites/group.h"
#include "kernels/studies/memory_job.h"

namespace tilewalk::bench::memory {

using kernels::word32;
using kernels::word64;
using kernels::studies::memory_job;

inline constexpr word64 block_threads = 256;

std::string text_of(const std::string& kernel);
// The translation unit of a kernel with a table `numbers` in constant memory (kernels/studies/constant.h).
std::string text_with_table(const std::string& kernel, const std::string& maker, word32 words);

word32 sum_of_content(word64 first, word64 count, word64 stride = 1);

struct summed {
    std::string text;
    cuda::launch how;
    memory_job job;
    word32 truth = 0;              // the sum of its blocks' sums
    double useful_bytes = 0;       // that are read; 0: irrelevant
    bool is_warm = false;          // caches are not flushed before a sample
    std::function<void()> before;  // other work that is timed, put into the stream first
    word32 launches = 1;
    bool is_streamed = false;  // from device memory, so that its rate is compared with a copy's
};

class study {
  public:
    study(gpu_timer& on, const sink& to);

    gpu_timer& on;
    const sink& to;

    // The number of words of content, a power of two: a quarter of the free memory, 1 GiB at most.
    word64 words() const { return words_; }
    const word32* numbers() const { return numbers_.as<word32>(); }
    word32 total() const { return total_; }  // their sum

    // The job of a sum over the numbers, with one word per block.
    memory_job job() const;
    // The blocks that together read `count` pieces, each thread `reads` of them.
    static cuda::launch blocks_for(word64 count, word64 reads);

    group rows() const { return {"memory", to}; }
    // A texture of two-word texels; empty, with the reason in the row, if textures are too short.
    std::optional<cuda::owned_texture> texture_over(const void* memory, word64 bytes, row& r) const;
    // Runs the kernel, checks the sum, then times it. False if the row says what is wrong.
    bool measure(row& r, const summed& what);

  private:
    word64 words_;
    cuda::device_memory numbers_, sums_;
    word32 total_;
};

void global(study& s);
void latency(study& s);
void on_chip(study& s);  // constant, shared and local memory, and the way into shared memory
void copies_and_mapped(study& s);
void persisting(study& s);  // a part of the second-level cache stays set aside
std::vector<std::string> global_texts();
std::vector<std::string> latency_texts();
std::vector<std::string> on_chip_texts();
std::vector<std::string> copies_texts();

}  // namespace tilewalk::bench::memory
