// SPDX-License-Identifier: Apache-2.0
// Compiles kernels beside a walk, on threads of lower priority. Also counts what walks on the processor cost
// for want of a kernel: a kernel that would have saved more than it takes to compile is worth compiling.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/walk/cuda/compile/kernel_store.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

class kernels_ahead {
  public:
    // Called by a compiling thread with the error of a kernel that does not compile.
    using when_done = std::function<void(const std::optional<error>&)>;

    // `store` must outlive this.
    explicit kernels_ahead(kernel_store& store) : store_(store) {}
    // Drops what is not begun, and waits for kernels being compiled, which can't be interrupted.
    ~kernels_ahead();
    kernels_ahead(const kernels_ahead&) = delete;
    kernels_ahead& operator=(const kernels_ahead&) = delete;

    // Compiles a kernel on one of at most `threads` threads. Returns false if the system gives none.
    bool want(const compile_request& what, int threads, when_done done);
    // Compiles a kernel when nobody else wants the core, one after another. Each is tried once.
    void want_later(const compile_request& what);
    // Threads that compile kernels which a walk waits for.
    int at_work() const;

    // Seconds that one core takes to compile a kernel: those measured in this process, or else a typical
    // figure.
    double seconds_of_kernel() const;
    // Core-seconds that walks on the processor have taken for want of this kernel.
    double missed(const std::string& text) const;
    void add_missed(const std::string& text, double core_seconds);

  private:
    struct wish {
        compile_request what;
        when_done done;
    };
    struct lane {
        std::deque<wish> waiting;
        std::vector<std::jthread> threads;
        int running = 0;
        int nice;  // priority of its threads, as setpriority() counts
    };
    bool add(lane& to, wish one, int threads);
    void serve(lane& of);

    kernel_store& store_;
    mutable std::mutex lock_;
    bool is_closing_ = false;
    std::size_t compiled_ = 0;
    double seconds_ = 0;
    std::unordered_map<std::string, double> missed_;
    std::unordered_set<std::string> asked_later_;
    lane urgent_{{}, {}, 0, 5}, later_{{}, {}, 0, 19};
};

}  // namespace tilewalk::cuda
