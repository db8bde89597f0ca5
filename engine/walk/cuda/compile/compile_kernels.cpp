// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/compile_kernels.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace tilewalk::cuda {

namespace {

struct task {
    built_kernel* of;
    std::string architecture;
    std::shared_ptr<const std::string> cubin{};
    std::optional<error> failure{};
};

std::vector<task> tasks_of(run_state& run, std::span<const std::string> architectures) {
    std::vector<task> tasks;
    for (const std::string& a : architectures) {
        tasks.push_back({&run.merge, a});
        for (job_group& g : run.groups) {
            if (g.failed) continue;
            tasks.push_back({&g.walk, a});
            if (g.reads_moves()) tasks.push_back({&g.correlate, a});
        }
    }
    return tasks;
}

void compile(task& t, counted_kernels& kernels) {
    try {
        t.cubin = kernels.cubin({t.of->text, t.architecture});
    } catch (const error& e) {
        t.failure = e;
    } catch (const std::exception& e) {
        t.failure = error(error_kind::internal, e.what());
    }
}

void leave(const task& t, run_state& run) {
    if (!t.failure) {
        t.of->cubins[t.architecture] = t.cubin;
        return;
    }
    if (t.of == &run.merge) run.fail_all(*t.failure);
    for (job_group& g : run.groups) {
        if (&g.walk != t.of && &g.correlate != t.of) continue;
        g.failed = true;
        run.fail(g.jobs, *t.failure);
    }
}

}  // namespace

void compile_kernels(run_state& run, std::span<const std::string> architectures, counted_kernels& kernels) {
    std::vector<task> tasks = tasks_of(run, architectures);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < tasks.size() && !run.stopped(); i = next++)
            compile(tasks[i], kernels);
    };
    const auto count = std::min(tasks.size(), static_cast<std::size_t>(std::max(1, run.run.threads)));
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
        work();
    }
    if (run.stopped()) return;
    for (const task& t : tasks) leave(t, run);
}

}  // namespace tilewalk::cuda
