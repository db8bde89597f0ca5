// SPDX-License-Identifier: Apache-2.0
// What the parts of the benchmark `memory` share: numbers by formula in device memory, kernels that sum what
// they read, and the check of these sums before anything is timed. A part is a file memory_*.cpp.
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

// The translation unit of a kernel of kernels/studies/memory.h.
std::string text_of(const std::string& kernel);
// With a table in constant memory, `numbers`, made by a function of kernels/studies/constant.h.
std::string text_with_table(const std::string& kernel, const std::string& maker, word32 words);

// The sum, modulo 2^32, of numbers first, first + stride, ... of the content.
word32 sum_of_content(word64 first, word64 count, word64 stride = 1);

// A kernel, and what must come of it.
struct summed {
    std::string text;
    cuda::launch how;
    memory_job job;
    word32 truth = 0;              // the sum over what its blocks hand in
    double useful_bytes = 0;       // that are read; 0: no matter
    bool is_warm = false;          // the caches are not flushed before a sample
    std::function<void()> before;  // what else is timed, put into the stream first
    word32 launches = 1;
    bool is_streamed = false;  // from device memory, whose copies it is held against
};

class study {
  public:
    study(gpu_timer& on, const sink& to);

    gpu_timer& on;
    const sink& to;

    // Words 0, 1, ... of the content, a power of two: a quarter of what is free, 1 GiB at most.
    word64 words() const { return words_; }
    const word32* numbers() const { return numbers_.as<word32>(); }
    word32 total() const { return total_; }  // their sum

    // Of a sum over the numbers, one word a block.
    memory_job job() const;
    // Blocks that together read `count` pieces, each thread `reads` of them.
    static cuda::launch blocks_for(word64 count, word64 reads);

    group rows() const { return {"memory", to}; }
    // Texels of two words. None, with the reason in the row, if the device has no textures so long.
    std::optional<cuda::owned_texture> texture_over(const void* memory, word64 bytes, row& r) const;
    // Runs, compares, and only then times. Tells in the row what is wrong; else true, and the figures are
    // there.
    bool measure(row& r, const summed& what);

  private:
    word64 words_;
    cuda::device_memory numbers_, sums_;
    word32 total_;
};

// The parts, and the kernels of each.
void global(study& s);
void latency(study& s);
void on_chip(study& s);  // constant, shared and local memory, and the way into shared memory
void copies_and_mapped(study& s);
void persisting(study& s);  // leaves a part of the second-level cache set aside
std::vector<std::string> global_texts();
std::vector<std::string> latency_texts();
std::vector<std::string> on_chip_texts();
std::vector<std::string> copies_texts();

}  // namespace tilewalk::bench::memory
