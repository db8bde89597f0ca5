// SPDX-License-Identifier: Apache-2.0
// Compiles a book's kernels ahead of the runs that need them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "engine/base/crew.h"
#include "engine/decide/settled.h"
#include "engine/study/asked.h"
#include "engine/study/session/engine_state.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"

namespace tilewalk {

namespace {

// True for "sm_90", "sm_90a" or "sm_100f", say.
bool is_architecture(std::string_view text) {
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return text.starts_with("sm_") && text.size() >= 5 && text.size() <= 6 &&
           std::ranges::all_of(text.substr(3), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void check_architectures(const std::vector<std::string>& names, const std::string& said_as) {
    for (const std::string& name : names)
        if (!is_architecture(name))
            throw error(error_kind::usage,
                        said_as + ": found '" + name + "', expected an architecture such as sm_90");
}

using namespace studies;

std::vector<warmed_kernel> engine::warm(const book& trades, const market& in, const run_options& options,
                                        const std::vector<std::string>& architectures) const {
    check_architectures(architectures, "architectures");
    const auto& state = state_of(trades);
    refuse_combinations(study::warm, features_asked(trades, options));
    const settled run = settle({options}, state, {&in, 1});
    std::vector<std::string> targets = architectures;
    std::optional<cuda::tuned_device> tuned;
    if (targets.empty()) {
        const auto gpus = state_->gpus->choose(run.device == "cpu" ? "cuda" : run.device);
        for (const auto& d : gpus.devices) {
            const std::string own = d->get().properties().architecture();
            if (std::find(targets.begin(), targets.end(), own) == targets.end()) targets.push_back(own);
        }
        if (targets.empty()) {
            throw error(error_kind::device, gpus.why_cpu + "; say for which architecture, such as sm_90");
        }
        tuned.emplace(cuda::tuned_device{state_->gpus->tuned(), gpus.devices.front()->get().properties()});
    }
    const book_on_gpu on_gpu(state, in, run, operations_named(state_->settings.instruction_set),
                             options.cancel);
    std::vector<book_on_gpu::kernel> needed = on_gpu.kernels(tuned);
    for (book_on_gpu::kernel& k : on_gpu.kernels_of_policies()) needed.push_back(std::move(k));

    std::vector<warmed_kernel> out;
    for (const std::string& target : targets) {
        for (std::size_t k = 0; k < needed.size(); ++k) {
            warmed_kernel& w = out.emplace_back();
            w.name = needed[k].needed.name;
            w.architecture = target;
            w.products = needed[k].products;
        }
    }
    cuda::kernel_store& kernels = state_->gpus->kernels();
    std::atomic<std::size_t> done = 0;
    // Kernels are reported as if they were trades.
    const auto tell = [&] {
        if (options.on_progress) options.on_progress({.trades_done = done, .trades = out.size()});
    };
    tell();
    threads::for_each(
        out.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            warmed_kernel& w = out[i];
            const auto begin = std::chrono::steady_clock::now();
            try {
                bool compiled_here = false;
                kernels.cubin({needed[i % needed.size()].needed.text, w.architecture}, &compiled_here);
                w.from_cache = !compiled_here;
            } catch (const error& e) {
                w.failure = e.message();
            }
            w.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            ++done;
        },
        tell);
    tell();
    return out;
}

}  // namespace tilewalk
