// SPDX-License-Identifier: Apache-2.0
// Common parts of the suite `memory` (files memory_*.cpp): numbers by formula in device memory, kernels that
// sum the numbers they read, and checks of these sums before timing.
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
// Source text of a kernel that reads a table `numbers` in constant memory (kernels/studies/constant.h).
std::string text_with_table(const std::string& kernel, const std::string& maker, word32 words);

word32 sum_of_content(word64 first, word64 count, word64 stride = 1);

struct summed {
    std::string text;
    cuda::launch how;
    memory_job job;
    word32 truth = 0;              // expected sum over all blocks
    double useful_bytes = 0;       // bytes that the kernel needs; 0: states no rate
    bool is_warm = false;          // true: caches are not flushed before a sample
    std::function<void()> before;  // other work to time, enqueued before the kernel
    word32 launches = 1;
    bool is_streamed = false;  // true: reads device memory, so its rate is set against a copy's
};

class study {
  public:
    study(gpu_timer& on, const sink& to);

    gpu_timer& on;
    const sink& to;

    // Size of the array of numbers in words, a power of two: up to a quarter of the free memory or 1 GiB.
    word64 words() const { return words_; }
    const word32* numbers() const { return numbers_.as<word32>(); }
    word32 total() const { return total_; }  // sum of all numbers

    // Kernel arguments for a sum over the numbers, with one word of result per block.
    memory_job job() const;
    // A launch with enough blocks to read `count` pieces, of which each thread reads `reads`.
    static cuda::launch blocks_for(word64 count, word64 reads);

    group rows() const { return {"memory", to}; }
    // A texture of two-word texels over the memory; empty, with a reason in the row, if it would be too long.
    std::optional<cuda::owned_texture> texture_over(const void* memory, word64 bytes, row& r) const;
    // Runs the kernel, checks its sum, then times it. Returns false if the row says what is wrong.
    bool measure(row& r, const summed& what);

  private:
    word64 words_;
    cuda::device_memory numbers_, sums_;
    word32 total_;
};

void global(study& s);
void latency(study& s);
void on_chip(study& s);  // constant, shared and local memory, copies into shared memory
void copies_and_mapped(study& s);
void persisting(study& s);  // leaves a part of the L2 cache set aside
std::vector<std::string> global_texts();
std::vector<std::string> latency_texts();
std::vector<std::string> on_chip_texts();
std::vector<std::string> copies_texts();

}  // namespace tilewalk::bench::memory
