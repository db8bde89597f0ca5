// SPDX-License-Identifier: Apache-2.0
// Times the ways to build a book's kernels on a GPU, and remembers the fastest way for each kernel.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/machine.h"
#include "engine/base/shown_numbers.h"
#include "engine/decide/settled.h"
#include "engine/study/asked.h"
#include "engine/study/price.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/tuning/clocks.h"
#include "engine/walk/tuning/gpu_timer.h"
#include "engine/walk/tuning/path_timer.h"
#include "engine/walk/tuning/tuner.h"
#include "engine/walk/tuning/way_back_timer.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"

namespace tilewalk {

using namespace studies;

namespace {

// Remembers the fastest way under `wish`, which ordinary runs look up. Throws if results differ between ways.
template <class timer, class start>
tuning::outcome tune_kernel(tuning::gpu_timer& with, timer& kernel, const start& from, double seconds,
                            const program::path_program& subject, const cuda::kernel_wish& wish,
                            cuda::tuned_choices& choices, tuned_kernel& t) {
    const tuning::outcome found = tuning::tune(with, kernel, from, seconds);
    t.untuned = cuda::described(found.untuned);
    t.best = cuda::described(found.best);
    t.untuned_milliseconds = found.untuned_milliseconds;
    t.best_milliseconds = found.best_milliseconds;
    t.paths = kernel.paths();
    t.candidates = found.tried;
    t.seconds = found.seconds;
    if (found.wrong > 0)
        throw error(error_kind::internal,
                    std::to_string(found.wrong) + " ways give other results than the first, bit for bit");
    const cuda::device_properties& on = with.device().properties();
    choices.remember(on, subject, wish,
                     {found.best, found.best_milliseconds, found.untuned_milliseconds, today()});
    t.kept_in = choices.file_of(on, subject, wish).string();
    return found;
}

void tune_one(tuning::gpu_timer& with, const book_on_gpu::kernel& of_book, const settled& run, double seconds,
              cuda::tuned_choices& choices, tuned_kernel& t) {
    const cuda::needed_kernel& needed = of_book.needed;
    const std::span<const run::job> jobs = of_book.jobs;
    cuda::kernel_wish asked = *of_book.asked;
    asked.points = needed.how.points;
    // Limit on trades to time, enough to show how the kernel behaves.
    constexpr std::size_t most_trades = 256;
    tuning::workload of;
    of.name = needed.name;
    of.precision = asked.precision;
    of.code = *jobs[needed.jobs.front()].code;
    if (of.code.scenarios_per_step > 0) {
        throw error(error_kind::usage,
                    "found trades that read arrays of scenarios, which can't be timed without their paths");
    }
    // Trades of one kernel may have their points made in different ways; the kernel does not depend on that.
    const std::optional<quasi::points>& first = jobs[needed.jobs.front()].points;
    of.points = first ? first : run.points;
    for (const std::size_t j : needed.jobs) {
        if (of.trades.size() == most_trades) break;
        of.trades.push_back({*jobs[j].data, *jobs[j].when});
    }
    tuning::path_timer kernel(with, of, tuning::paths_to_time(of.path_steps()));
    with.says(t.name + ": " + cuda::described(needed.how));
    tune_kernel(with, kernel, asked, seconds, of.code, asked, choices, t);
}

// Returns the first GPU of the setting. Throws tilewalk::error (device) if there is none.
std::shared_ptr<cuda::loaded_device> first_of(cuda::backend& gpus, const std::string& device) {
    const auto chosen = gpus.choose(device);
    if (!chosen.devices.empty()) return chosen.devices.front();
    throw error(error_kind::device, "only kernels of a GPU can be tuned; " +
                                        (chosen.why_cpu.empty() ? "the device is cpu" : chosen.why_cpu));
}

void check_time(double seconds) {
    if (!is_tuning_time(seconds))
        throw error(error_kind::usage,
                    "seconds: found " + report::shortest(seconds) + ", expected " + expected_tuning_time());
}

void check_open(const settled& run) {
    if (run.how.is_open()) return;
    throw error(error_kind::usage, "prefetch, " + config::joined(cuda::knob_names(), ", ", " and ") +
                                       " must be left out or auto: tuning chooses them");
}

cuda::way_back_decision tune_way_back(tuning::gpu_timer& with, const run::job& of,
                                      const cuda::way_back_decision& by_rules, double seconds,
                                      cuda::tuned_choices& choices, tuned_kernel& t) {
    tuning::way_back_timer kernel(with, of, tuning::paths_to_time(of.when->steps()));
    return cuda::read_by(by_rules, tune_kernel(with, kernel, by_rules, seconds, of.back.code->back,
                                               cuda::open_wish_of(by_rules), choices, t)
                                       .best);
}

}  // namespace

std::string expected_tuning_time() {
    return "a number above 0, up to " + report::shortest(most_tuning_seconds);
}

std::vector<tuned_kernel> engine::tune_greeks(const book& trades, const market& in,
                                              const greek_options& wanted, const run_options& options,
                                              double seconds,
                                              const std::function<void(const std::string&)>& says) const {
    check_time(seconds);
    const asked_of_study asked = asked_of(study::tune_greeks, trades, {options});
    const settled run = settle(asked.options, state_of(asked.trades), {&in, 1});
    check_open(run);
    const auto on = first_of(*state_->gpus, run.device);
    tuning::gpu_timer with(on, state_->gpus->kernels(), tuning::open_clocks(on->get().properties().uuid), {});
    with.cancel = options.cancel;
    with.says = says;
    std::vector<tuned_kernel> out;
    stages by;
    by.way_back_on_gpu = [&](const run::job& of) {
        const cuda::way_back_decision by_rules =
            cuda::best_way_back(run.how.precision, run.how.rounds, *of.code, *of.back.code);
        tuned_kernel& t = out.emplace_back();
        t.name = "walk_both_ways_" + std::to_string(out.size());
        try {
            return tune_way_back(with, of, by_rules, seconds, state_->gpus->tuned(), t);
        } catch (const error& e) {
            if (e.kind() == error_kind::cancelled) throw;
            t.failure = e.message();
            return by_rules;
        }
    };
    inner_options quietly = asked.options;
    quietly.on_progress = {};
    quietly.overrides.device = run.device == "auto" ? "cuda" : run.device;
    round_of_study round{asked.trades, quietly};
    if (run.accuracy) round = of_round(asked.trades, quietly, run, {run.paths, run.seed});
    greeks_of_book(resources(*state_), round.trades, in, wanted, round.options, by);
    return out;
}

std::vector<tuned_kernel> engine::tune(const book& trades, const market& in, const run_options& options,
                                       double seconds,
                                       const std::function<void(const std::string&)>& says) const {
    check_time(seconds);
    const auto& state = state_of(trades);
    refuse_combinations(study::tune, features_asked(trades, options));
    const settled run = settle({options}, state, {&in, 1});
    check_open(run);
    const auto on = first_of(*state_->gpus, run.device);
    const cuda::device_properties& properties = on->get().properties();
    const book_on_gpu book(state, in, run, operations_named(state_->settings.instruction_set),
                           options.cancel);
    tuning::gpu_timer with(on, state_->gpus->kernels(), tuning::open_clocks(properties.uuid), {});
    with.cancel = options.cancel;
    with.says = says;
    std::vector<tuned_kernel> out;
    for (const book_on_gpu::kernel& k : book.kernels()) {
        if (!k.needed.is_walk) continue;
        tuned_kernel& t = out.emplace_back();
        t.name = k.needed.name;
        t.products = k.products;
        try {
            tune_one(with, k, run, seconds, state_->gpus->tuned(), t);
        } catch (const error& e) {
            if (e.kind() == error_kind::cancelled) throw;
            t.failure = e.message();
        }
    }
    return out;
}

}  // namespace tilewalk
