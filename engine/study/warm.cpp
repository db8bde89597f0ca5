// SPDX-License-Identifier: Apache-2.0
// Compiles a book's kernels, or those of the library, ahead of the runs that need them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/crew.h"
#include "engine/decide/settled.h"
#include "engine/study/asked.h"
#include "engine/study/library_trades.h"
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

namespace {

struct warm_targets {
    std::vector<std::string> architectures;
    std::optional<cuda::tuned_device> tuned;  // empty if the caller named the architectures
};

warm_targets targets_of(const engine_state& of, const settled& run, const std::vector<std::string>& named) {
    if (!named.empty()) return {named, {}};
    warm_targets out;
    const auto gpus = of.gpus->choose(run.device == "cpu" ? "cuda" : run.device);
    for (const auto& d : gpus.devices) {
        const std::string own = d->get().properties().architecture();
        if (std::find(out.architectures.begin(), out.architectures.end(), own) == out.architectures.end())
            out.architectures.push_back(own);
    }
    if (out.architectures.empty())
        throw error(error_kind::device, gpus.why_cpu + "; say for which architecture, such as sm_90");
    out.tuned.emplace(cuda::tuned_device{of.gpus->tuned(), gpus.devices.front()->get().properties()});
    return out;
}

struct wanted_text {
    std::string name, text;
    std::vector<std::string> products;
};

std::vector<wanted_text> texts_of(const book_on_gpu& of, const std::optional<cuda::tuned_device>& tuned) {
    std::vector<wanted_text> out;
    for (book_on_gpu::kernel& k : of.kernels(tuned))
        out.push_back({std::move(k.needed.name), std::move(k.needed.text), std::move(k.products)});
    for (book_on_gpu::kernel& k : of.kernels_of_policies())
        out.push_back({std::move(k.needed.name), std::move(k.needed.text), std::move(k.products)});
    return out;
}

std::vector<warmed_kernel> compiled(const std::vector<wanted_text>& wanted,
                                    const std::vector<std::string>& architectures,
                                    cuda::kernel_store& kernels, int threads, const run_options& options) {
    std::vector<warmed_kernel> out;
    for (const std::string& architecture : architectures) {
        for (const wanted_text& text : wanted) {
            warmed_kernel& w = out.emplace_back();
            w.name = text.name;
            w.architecture = architecture;
            w.products = text.products;
        }
    }
    std::atomic<std::size_t> done = 0;
    // Kernels are reported as if they were trades.
    const auto tell = [&] {
        if (options.on_progress) options.on_progress({.trades_done = done, .trades = out.size()});
    };
    tell();
    const std::vector<std::size_t> order =
        cuda::longest_first(out.size(), [&](std::size_t i) { return wanted[i % wanted.size()].text.size(); });
    threads::for_each(
        out.size(), threads, options.cancel,
        [&](int, std::uint64_t k) {
            const std::size_t i = order[k];
            warmed_kernel& w = out[i];
            const auto begin = std::chrono::steady_clock::now();
            try {
                bool compiled_here = false;
                w.bytes =
                    kernels.cubin({wanted[i % wanted.size()].text, w.architecture}, &compiled_here)->size();
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

// Kernels that one trade of the library needs, or why it needs none.
struct wanted_by_trade {
    std::vector<wanted_text> texts;
    std::string why_none;
};

wanted_by_trade wanted_alone(const books::trade& t, const market& in, const run_options& options,
                             const settled& run, const cpu::lane_operations& operations,
                             const std::optional<cuda::tuned_device>& tuned) {
    auto alone = std::make_shared<books::book_state>();
    alone->name = "library";
    alone->trades.push_back(t);
    try {
        refuse_combinations(study::warm, features_asked(with_state<book>(alone), options));
        const book_on_gpu on_gpu(*alone, in, run, operations, options.cancel);
        const planned& plan = on_gpu.plan_of(0);
        if (plan.failure) return {{}, plan.failure->message()};
        wanted_by_trade out{texts_of(on_gpu, tuned), ""};
        if (out.texts.empty()) out.why_none = "its price is certain in this market";
        return out;
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        return {{}, at_trade(t, e).message()};
    }
}

// Lists each text once. A name that means different texts of different trades gets the trade's id in front.
std::vector<wanted_text> united(const std::vector<books::trade>& trades,
                                std::vector<wanted_by_trade> by_trade) {
    std::map<std::string, std::set<std::string>> meanings;
    for (const wanted_by_trade& of : by_trade)
        for (const wanted_text& w : of.texts) meanings[w.name].insert(w.text);
    std::vector<wanted_text> out;
    std::map<std::string, std::size_t> places;  // in `out`, by text
    for (std::size_t i = 0; i < trades.size(); ++i) {
        for (wanted_text& w : by_trade[i].texts) {
            const auto [at, is_new] = places.emplace(w.text, out.size());
            if (is_new) {
                if (meanings[w.name].size() > 1) w.name.insert(0, trades[i].id + '/');
                out.push_back(std::move(w));
                continue;
            }
            std::vector<std::string>& products = out[at->second].products;
            if (products.back() != trades[i].product_name) products.push_back(trades[i].product_name);
        }
    }
    return out;
}

}  // namespace

std::vector<warmed_kernel> engine::warm(const book& trades, const market& in, const run_options& options,
                                        const std::vector<std::string>& architectures) const {
    check_architectures(architectures, "architectures");
    const auto& state = state_of(trades);
    refuse_combinations(study::warm, features_asked(trades, options));
    const settled run = settle({options}, state, {&in, 1});
    const warm_targets targets = targets_of(*state_, run, architectures);
    const book_on_gpu on_gpu(state, in, run, operations_named(state_->settings.instruction_set),
                             options.cancel);
    return compiled(texts_of(on_gpu, targets.tuned), targets.architectures, state_->gpus->kernels(),
                    run.threads, options);
}

warmed_library engine::warm_library(const market& in, const run_options& options,
                                    const std::vector<std::string>& architectures,
                                    const std::vector<std::string>& products) const {
    check_architectures(architectures, "architectures");
    const auto none = std::make_shared<books::book_state>();
    refuse_combinations(study::warm, features_asked(with_state<book>(none), options));
    const settled run = settle({options}, *none, {&in, 1});
    const warm_targets targets = targets_of(*state_, run, architectures);
    cuda::kernel_store& kernels = state_->gpus->kernels();  // throws before the work begins
    library_trades library = library_trades_in(in, run, products, options.cancel);
    const cpu::lane_operations& operations = operations_named(state_->settings.instruction_set);
    settled alone = run;
    alone.threads = 1;
    std::vector<wanted_by_trade> by_trade(library.trades.size());
    threads::for_each(
        by_trade.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            by_trade[i] = wanted_alone(library.trades[i], in, options, alone, operations, targets.tuned);
        },
        [] {});
    warmed_library out;
    out.left_out = std::move(library.left_out);
    for (std::size_t i = 0; i < by_trade.size(); ++i)
        if (const std::string& why = by_trade[i].why_none; !why.empty())
            out.left_out.push_back({library.trades[i].id, why});
    out.kernels = compiled(united(library.trades, std::move(by_trade)), targets.architectures, kernels,
                           run.threads, options);
    return out;
}

}  // namespace tilewalk
