// SPDX-License-Identifier: Apache-2.0
// Constant, shared and local memory, and the way into shared memory. Expected:
// - A constant reaches all lanes that read one address in one pass; a warp with n addresses takes n passes,
//   where the read-only path serves them at once. So constants are for numbers that all lanes share.
// - Shared memory has 32 banks of a word. Lanes a stride apart take gcd(stride, 32) turns: 1 at every odd
//   stride, including 33, which is why padding works, and 32 at 32.
// - An array with a run-time index can't be in registers. Local memory is device memory by name and the L1
//   cache in fact, as long as the arrays of all threads fit there; shared memory of a block does not limit
//   it.
// - An asynchronous copy of 16 bytes bypasses registers and the L1 cache; one of 4 bytes takes an instruction
//   for as little as a load brings.
#include <array>
#include <numeric>

#include "bench/suites/memory.h"
#include "bench/suites/memory_study.h"

namespace tilewalk::bench::memory {

namespace {

using namespace kernels::studies;

const std::string constant_text =
    text_with_table("sum_table<constant<numbers>>", "table_of_content", table_words);
const std::string read_only_text = text_of("sum_table<read_only<1>>");
const std::string shared_text = text_of("sum_shared");
const std::string local_text = text_of("sum_local");
const std::string array_in_shared_text = text_of("sum_array_in_shared");

std::string through_shared_text(int bytes, bool is_async) {
    return text_of("sum_through_shared<" + std::to_string(bytes / 4) + ", " + (is_async ? "true" : "false") +
                   ">");
}

// A launch of `blocks` blocks per multiprocessor, which must all be resident at once.
cuda::launch on_all(study& s, int blocks) {
    cuda::launch how;
    how.blocks = static_cast<std::uint32_t>(s.on.device().properties().multiprocessors * blocks);
    how.threads = block_threads;
    return how;
}

word32 warps_of(const cuda::launch& how) {
    return how.blocks * how.threads / 32;
}
double bytes_of(const cuda::launch& how, word32 reads) {
    return static_cast<double>(how.blocks) * how.threads * reads * sizeof(word32);
}

void constants(study& s) {
    constexpr word32 reads = 4096;
    group rows = s.rows();
    for (const char* space : {"constant", "read_only"}) {
        for (word32 addresses = 1; addresses <= 32; addresses *= 2) {
            rows.add({{"kind", "table"}, {"space", space}, {"addresses", addresses}}, [&](row& r) {
                summed what;
                what.text = std::string(space) == "constant" ? constant_text : read_only_text;
                what.how = on_all(s, 4);
                what.job = s.job();
                what.job.reads = reads;
                what.job.addresses = addresses;
                for (word32 lane = 0; lane < 32; ++lane) {
                    for (word32 n = 0; n < reads; ++n) what.truth += content(table_place(lane, n, addresses));
                }
                what.truth *= warps_of(what.how);
                what.useful_bytes = bytes_of(what.how, reads);
                what.is_warm = true;
                s.measure(r, what);
            });
        }
    }
}

void shared_strides(study& s) {
    constexpr word32 reads = 4096;
    group rows = s.rows();
    for (word32 stride = 1; stride <= 33; ++stride) {
        rows.add({{"kind", "shared"}, {"stride_words", stride}}, [&](row& r) {
            summed what;
            what.text = shared_text;
            what.how = on_all(s, 4);
            what.job = s.job();
            what.job.reads = reads;
            what.job.stride = stride;
            for (word32 lane = 0; lane < 32; ++lane) {
                for (word32 n = 0; n < reads; ++n) what.truth += content(shared_place(lane, n, stride));
            }
            what.truth *= warps_of(what.how);
            what.useful_bytes = bytes_of(what.how, reads);
            what.is_warm = true;
            if (s.measure(r, what))
                r.figures["passes_predicted"] = predicted_passes(static_cast<int>(stride));
        });
    }
}

void arrays(study& s) {
    constexpr word32 reads = 1024;
    group rows = s.rows();
    for (const char* space : {"shared", "local"}) {
        rows.add({{"kind", "array"}, {"space", space}}, [&](row& r) {
            const bool is_local = std::string(space) == "local";
            summed what;
            what.text = is_local ? local_text : array_in_shared_text;
            what.how = on_all(s, 4);
            what.job = s.job();
            what.job.reads = reads;
            what.job.stride = 5;  // odd, so that a thread reads all elements of its array, repeatedly
            const word64 threads = word64{what.how.blocks} * block_threads;
            what.truth = sum_of_content(0, threads * array_words) * (reads / array_words);
            what.useful_bytes = bytes_of(what.how, reads);
            what.is_warm = true;
            const auto local_bytes =
                s.on.device().attributes(s.on.find(what.text, "sum"), what.how).local_bytes;
            if ((local_bytes != 0) != is_local) {
                r.wrong = "the kernel has " + std::to_string(local_bytes) + " bytes of local memory";
                return;
            }
            if (s.measure(r, what)) r.figures["local_bytes"] = local_bytes;
        });
    }
}

void into_shared(study& s) {
    for (const int bytes : {4, 8, 16}) {
        group rows = s.rows();
        for (const bool is_async : {false, true}) {
            rows.add({{"kind", "into_shared"},
                      {"bytes", bytes},
                      {"how", is_async ? "asynchronous copy" : "load and store"}},
                     [&](row& r) {
                         summed what;
                         what.text = through_shared_text(bytes, is_async);
                         what.how = study::blocks_for(s.words() * sizeof(word32) / static_cast<word64>(bytes),
                                                      pieces_to_shared * rounds_to_shared);
                         what.job = s.job();
                         what.truth = s.total();
                         what.useful_bytes = static_cast<double>(s.words() * sizeof(word32));
                         what.is_streamed = true;
                         s.measure(r, what);
                     });
        }
    }
}

}  // namespace

int predicted_passes(int stride_words) {
    return std::gcd(stride_words, 32);
}

void on_chip(study& s) {
    constants(s);
    shared_strides(s);
    arrays(s);
    into_shared(s);
}

std::vector<std::string> on_chip_texts() {
    std::vector<std::string> all = {constant_text, read_only_text, shared_text, local_text,
                                    array_in_shared_text};
    for (const int bytes : {4, 8, 16}) {
        for (const bool is_async : {false, true}) all.push_back(through_shared_text(bytes, is_async));
    }
    return all;
}

}  // namespace tilewalk::bench::memory
