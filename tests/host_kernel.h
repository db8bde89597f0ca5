// SPDX-License-Identifier: Apache-2.0
// Runs the text of CUDA kernels on the host: the host's compiler builds it, and the threads of a block take
// turns. CUDA's words are defined for it. Asynchronous copies of single numbers work, each when its thread
// waits for it; feeds with other asynchronous copies can't run. Include once per program.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/own_folder.h"
#include "tests/texts.h"

namespace tilewalk::tests {

// CUDA's keywords and built-in functions for the host, included before the kernel.
inline constexpr const char* prelude_of_host = R"(#pragma once
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __shared__
#define __constant__ static
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct place_in_grid { unsigned x; };
extern "C" { extern thread_local place_in_grid threadIdx, blockIdx, blockDim; }
extern "C" {
void host_barrier();
int host_any(int);
double host_exchange(unsigned lanes, double x, unsigned from);
unsigned host_ballot(unsigned lanes, int x);
void host_multiply(double* c, double* c_next, double a, double b);
void host_copy(double* to, const double* from);
void host_commit();
void host_wait(int pending);
}
inline void __syncthreads() { host_barrier(); }
inline void __syncwarp() { host_ballot(~0u, 0); }
inline int __syncthreads_or(int x) { return host_any(x); }
inline int __syncthreads_and(int x) { return !host_any(!x); }
// All numbers that threads exchange are exact in double.
template <class value> value __shfl_sync(unsigned lanes, value x, int from) {
    return value(host_exchange(lanes, double(x), unsigned(from)));
}
template <class value> value __shfl_xor_sync(unsigned lanes, value x, int apart) {
    return value(host_exchange(lanes, double(x), threadIdx.x % 32 ^ unsigned(apart)));
}
template <class value> value __shfl_down_sync(unsigned lanes, value x, unsigned apart, int width = 32) {
    const unsigned lane = threadIdx.x % 32, from = lane + apart;
    return value(host_exchange(lanes, double(x), from / unsigned(width) == lane / unsigned(width) ? from : lane));
}
inline unsigned __reduce_xor_sync(unsigned lanes, unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x ^= __shfl_xor_sync(lanes, x, apart);
    return x;
}
inline unsigned __ballot_sync(unsigned lanes, int x) { return host_ballot(lanes, x); }
inline unsigned __brev(unsigned x) {
    unsigned out = 0;
    for (int bit = 0; bit < 32; ++bit) out |= (x >> bit & 1) << (31 - bit);
    return out;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
template <class value> value __ldcg(const value* from) { return *from; }
inline void __threadfence() {}
template <class value> value __ldg(const value* from) { return *from; }
template <class value> value tex1Dfetch(unsigned long long, int) { return value(); }
inline unsigned long long __cvta_generic_to_global(const void* p) { return reinterpret_cast<unsigned long long>(p); }
inline unsigned long long __cvta_generic_to_shared(const void* p) { return reinterpret_cast<unsigned long long>(p); }
inline int atomicAdd(int* to, int x) { return __atomic_fetch_add(to, x, __ATOMIC_SEQ_CST); }
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long x) {
    return __atomic_fetch_add(to, x, __ATOMIC_SEQ_CST);
}
inline unsigned atomicAdd(unsigned* to, unsigned x) { return __atomic_fetch_add(to, x, __ATOMIC_SEQ_CST); }
double atomicAdd(double* to, double x);  // of reductions that keep no bits
inline int atomicMin(int* to, int x) {
    int was = *to;
    while (x < was && !__atomic_compare_exchange_n(to, &was, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
    return was;
}
)";

inline std::string replaced_once(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    if (at == std::string::npos || text.find(what, at + 1) != std::string::npos) {
        throw std::logic_error("not there once: " + what);
    }
    return text.replace(at, what.size(), by);
}

struct meeting {
    unsigned size = 0, there = 0, number = 0;
};
// Lanes that exchange numbers among themselves: a warp or half of one.
struct lanes_of_block {
    meeting meets;
    double exchanged[32], also[32];
};

// The threads of a block, which take turns: each runs until it has to wait for others. Their order is random
// in every round, so that a kernel with a missing barrier soon gives wrong numbers.
class block_of_threads {
  public:
    explicit block_of_threads(unsigned threads)
        : all_{threads}, threads_(threads), warps_((threads + 31) / 32), halves_((threads + 15) / 16) {
        const auto open = [&](std::vector<lanes_of_block>& all, unsigned size) {
            for (unsigned i = 0; i < all.size(); ++i) all[i].meets.size = std::min(size, threads - i * size);
        };
        open(warps_, 32);
        open(halves_, 16);
        for (unsigned t = 0; t < threads; ++t) order_.push_back(t);
        for (thread& one : threads_) one.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    }

    // Runs `work` once as each thread of the block with this number. Throws std::runtime_error on a deadlock.
    void run(unsigned block, const std::function<void()>& work);

    void wait() { wait(all_); }
    void wait(meeting& at) {
        has_moved_ = true;
        const unsigned number = at.number;
        if (++at.there == at.size) {
            at.there = 0;
            ++at.number;
            return;
        }
        while (at.number == number) ::swapcontext(&threads_[now_].at, &round_);
        has_moved_ = true;
    }
    lanes_of_block& lanes(unsigned mask);
    int any = 0;
    // Asynchronous copies that the current thread has started, by group; the last group is still open.
    std::deque<std::vector<std::pair<double*, const double*>>>& copies() { return threads_[now_].copies; }

  private:
    static constexpr std::size_t stack_bytes = 256 << 10;
    struct thread {
        ucontext_t at;
        std::unique_ptr<char[]> stack;
        std::deque<std::vector<std::pair<double*, const double*>>> copies;
        bool has_ended = false;
    };
    static void begin_thread();

    meeting all_;
    std::vector<thread> threads_;
    std::vector<lanes_of_block> warps_, halves_;
    std::vector<unsigned> order_;
    std::minstd_rand draws_;
    ucontext_t round_{};
    const std::function<void()>* work_ = nullptr;
    unsigned now_ = 0;
    bool has_moved_ = false;
};
inline thread_local block_of_threads* the_block = nullptr;

}  // namespace tilewalk::tests

struct place_in_grid {
    unsigned x;
};
// Libraries of kernels import these functions from the program; `used` keeps them even if it calls none.
#define TILEWALK_FOR_KERNELS inline __attribute__((used))
extern "C" {
inline thread_local place_in_grid threadIdx, blockIdx, blockDim;

TILEWALK_FOR_KERNELS void host_barrier() {
    tilewalk::tests::the_block->wait();
}
TILEWALK_FOR_KERNELS int host_any(int x) {
    auto& block = *tilewalk::tests::the_block;
    block.any |= x;
    block.wait();
    const int any = block.any;
    block.wait();
    block.any = 0;
    block.wait();
    return any;
}
TILEWALK_FOR_KERNELS double host_exchange(unsigned lanes, double x, unsigned from) {
    auto& block = *tilewalk::tests::the_block;
    auto& of = block.lanes(lanes);
    of.exchanged[threadIdx.x % 32] = x;
    block.wait(of.meets);
    const double got = of.exchanged[from];
    block.wait(of.meets);
    return got;
}
TILEWALK_FOR_KERNELS unsigned host_ballot(unsigned lanes, int x) {
    auto& block = *tilewalk::tests::the_block;
    auto& of = block.lanes(lanes);
    of.exchanged[threadIdx.x % 32] = x != 0;
    block.wait(of.meets);
    unsigned out = 0;
    for (unsigned l = 0; l < 32; ++l)
        if ((lanes >> l & 1) != 0 && of.exchanged[l] != 0) out |= 1u << l;
    block.wait(of.meets);
    return out;
}
TILEWALK_FOR_KERNELS void host_multiply(double* c, double* c_next, double a, double b) {
    const unsigned lane = threadIdx.x % 32;
    auto& block = *tilewalk::tests::the_block;
    auto& of = block.lanes(~0u);
    of.exchanged[lane] = a;
    of.also[lane] = b;
    block.wait(of.meets);
    for (unsigned k = 0; k < 4; ++k) {
        const double x = of.exchanged[lane / 4 * 4 + k];
        *c = std::fma(x, of.also[lane % 4 * 8 + k], *c);
        *c_next = std::fma(x, of.also[lane % 4 * 8 + 4 + k], *c_next);
    }
    block.wait(of.meets);
}
TILEWALK_FOR_KERNELS void host_copy(double* to, const double* from) {
    tilewalk::tests::the_block->copies().back().emplace_back(to, from);
}
TILEWALK_FOR_KERNELS void host_commit() {
    tilewalk::tests::the_block->copies().emplace_back();
}
TILEWALK_FOR_KERNELS void host_wait(int pending) {
    auto& copies = tilewalk::tests::the_block->copies();
    for (; copies.size() > static_cast<std::size_t>(pending) + 1; copies.pop_front())
        for (const auto& [to, from] : copies.front()) *to = *from;
}
}

namespace tilewalk::tests {

inline lanes_of_block& block_of_threads::lanes(unsigned mask) {
    if (mask == ~0u) return warps_[threadIdx.x / 32];
    if (mask != 0xffffu << (threadIdx.x % 32 / 16 * 16)) std::abort();
    return halves_[threadIdx.x / 16];
}

inline void block_of_threads::begin_thread() {
    (*the_block->work_)();
    the_block->threads_[the_block->now_].has_ended = true;
    the_block->has_moved_ = true;
}

inline void block_of_threads::run(unsigned block, const std::function<void()>& work) {
    the_block = this;
    work_ = &work;
    blockIdx.x = block;
    blockDim.x = static_cast<unsigned>(threads_.size());
    for (thread& one : threads_) {
        one.copies.assign(1, {});
        one.has_ended = false;
        ::getcontext(&one.at);
        one.at.uc_stack.ss_sp = one.stack.get();
        one.at.uc_stack.ss_size = stack_bytes;
        one.at.uc_link = &round_;
        ::makecontext(&one.at, begin_thread, 0);
    }
    for (std::size_t running = threads_.size(); running > 0;) {
        std::shuffle(order_.begin(), order_.end(), draws_);
        has_moved_ = false;
        for (const unsigned t : order_) {
            if (threads_[t].has_ended) continue;
            now_ = threadIdx.x = t;
            ::swapcontext(&round_, &threads_[t].at);
            if (threads_[t].has_ended) --running;
        }
        if (!has_moved_) throw std::runtime_error("threads of a block wait for each other forever");
    }
}

class host_kernel {
  public:
    explicit host_kernel(const std::string& text) {
        std::filesystem::create_directories(folder_ / "kernels");
        std::ofstream(folder_ / "prelude.h") << prelude_of_host;
        // Replaces inline PTX by host code; other asynchronous copies keep their PTX, which is unused.
        std::string words = text_of(std::string(TILEWALK_SOURCE_DIR) + "/kernels/ptx.h");
        words = replaced_once(words, R"(asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));)",
                              "number = blockIdx.x;");
        words = replaced_once(
            words,
            R"(asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c), "+d"(c_next)
                 : "d"(a), "d"(b));)",
            "host_multiply(&c, &c_next, a, b);");
        words = replaced_once(
            words, R"(asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));)", "");
        words = replaced_once(words, R"(asm volatile("fence.proxy.async.global;" ::: "memory");)", "");
        words = replaced_once(
            words,
            R"(asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(word32(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");)",
            "host_copy(to, from);");
        words =
            replaced_once(words, R"(asm volatile("cp.async.commit_group;" ::: "memory");)", "host_commit();");
        words = replaced_once(words, R"(asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");)",
                              "host_wait(pending);");
        std::ofstream(folder_ / "kernels/ptx.h") << words;
        std::ofstream(folder_ / "kernel.cpp")
            << replaced_once(text, "extern __shared__ __align__(128) char shared[];",
                             "alignas(128) static char shared[1 << 18];");
        const std::string log = folder_ / "log", library = folder_ / "kernel.so";
        const std::string command = fmt::format(
            "'{}' -std=c++20 -O1 -w -ffp-contract=off -fno-ipa-icf -march=x86-64-v3 -fPIC -shared -include "
            "'{}' -I '{}' "
            "-I '{}' '{}' -o '{}' > '{}' 2>&1",
            TILEWALK_CXX, (folder_ / "prelude.h").string(), folder_.string(), TILEWALK_SOURCE_DIR,
            (folder_ / "kernel.cpp").string(), library, log);
        if (std::system(command.c_str()) != 0) throw std::runtime_error(command + "\n" + text_of(log));
        library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) throw std::runtime_error(::dlerror());
    }
    ~host_kernel() {
        if (library_ != nullptr) ::dlclose(library_);
    }
    host_kernel(const host_kernel&) = delete;
    host_kernel& operator=(const host_kernel&) = delete;

    template <class arguments>
    void run(const char* name, unsigned blocks, unsigned threads, const arguments& a) const {
        const auto kernel = reinterpret_cast<void (*)(arguments)>(::dlsym(library_, name));
        if (kernel == nullptr) throw std::runtime_error(::dlerror());
        block_of_threads block(threads);
        for (unsigned b = 0; b < blocks; ++b) block.run(b, [&] { kernel(a); });
    }

  private:
    own_folder own_;
    std::filesystem::path folder_ = own_.path();
    void* library_ = nullptr;
};

// Kernels built for the host, by text. Each is built when it is first launched.
class host_kernels {
  public:
    // The work of launching the kernel `name` of `text`, whose only argument is of type `arguments`.
    template <class arguments>
    std::function<void()> launched(const std::string& text, const std::string& name, unsigned blocks,
                                   unsigned threads, std::span<void*> with) const {
        const host_kernel* of = &built_->try_emplace(text, text).first->second;
        const auto a = *static_cast<const arguments*>(with[0]);
        return [=, kept = built_] { of->run(name.c_str(), blocks, threads, a); };
    }

  private:
    std::shared_ptr<std::map<std::string, host_kernel>> built_ =
        std::make_shared<std::map<std::string, host_kernel>>();
};

}  // namespace tilewalk::tests
