// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/walks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/decide/controls/control.h"
#include "engine/decide/quarters.h"
#include "engine/study/manifest.h"
#include "engine/walk/cpu/shadow.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "kernels/quarters.h"
#include "kernels/tile.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

namespace {

// Limit on sums of derivatives, which are kept until a CPU walk ends; further trades take another walk.
constexpr std::uint64_t most_bytes_of_derivatives = std::uint64_t{256} << 20;

void tell_of_devices(const cuda::backend::choice& on, const cuda::gpu_facts& facts, run_manifest& manifest) {
    for (std::size_t d = 0; d < facts.shares.size(); ++d) {
        const std::string& name = on.devices[d]->get().properties().name;
        if (facts.shares[d].has_walked) manifest.devices.push_back(name);
        if (facts.shares[d].lost)
            manifest.lost_devices.push_back(name + ": " + facts.shares[d].lost->message());
    }
}

run::walk first_of(run::walk all) {
    all.paths = cpu::shadow_paths(all.paths);
    return all;
}

}  // namespace

kept::conditions known_tallies::conditions(const settled& run) const {
    const run_settings all = over(run.said, default_settings());
    return {std::string(program::name_of(run.how.precision)), run.random, *all.reduction, arrays};
}

kept::conditions known_tallies::conditions_of_shadows(const settled& run, program::precision in) const {
    kept::conditions out = conditions(run);
    out.precision = program::name_of(in);
    if (source_of(run, false).needs_gpu) out.source = random::catalogue().front().name;
    return out;
}

book_walk::book_walk(std::vector<planned>& plans, const settled& run, run::walk all,
                     progress_reporter& reporter, const known_tallies& known)
    : plans_(plans),
      run_(run),
      all_(std::move(all)),
      reporter_(reporter),
      known_(known),
      walked_(plans.size()),
      steps_on_gpus_(plans.size()) {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        if (!plans_[i].needs_paths()) continue;
        left_.push_back(i);
        reporter_.now.path_steps += run_.paths * plans_[i].ready->when.steps();
    }
    reporter_.now.trades_done = plans_.size() - left_.size();
    // A source's own quasi-random points have an error from randomisations, on whatever device they are
    // walked.
    const random::catalogue_entry& source = source_of(run_, false);
    if (source.is_quasi && !source.is_points && !left_.empty())
        all_.unit_paths = run::quasi_unit_paths(run_.paths);
}

bool book_walk::takes_points(std::size_t trade) const {
    run::job said;
    said.points = plans_[trade].points;
    return all_.points_of(said).has_value();
}

bool book_walk::is_quasi(std::size_t trade) const {
    const bool has_points = takes_points(trade);
    const random::catalogue_entry& source = source_of(run_, has_points);
    return source.needs_gpu ? source.is_quasi : has_points;
}

std::vector<std::optional<error>> book_walk::walk(const kept::walker& on, const run::walk& asked,
                                                  std::span<const run::job> named, const kept::conditions& by,
                                                  const kept::tally_callback& take) {
    return known_.work ? known_.work->walk(on, asked, named, by, take) : on(asked, take);
}

std::vector<run::job> book_walk::named(const std::vector<std::size_t>& trades) const {
    std::vector<run::job> out;
    if (!known_.work) return out;
    out.reserve(trades.size());
    for (const std::size_t i : trades) out.push_back(plans_[i].job());
    return out;
}

run::outcome book_walk::walk(run::back_end& on, const run::walk& asked, std::span<const run::job> named,
                             const kept::conditions& by) {
    if (!known_.work) return on.walk_all(asked);
    const auto walker = [&](const run::walk& of, const kept::tally_callback& take) {
        run::outcome got = on.walk_all(of);
        for (std::size_t k = 0; k < of.jobs.size(); ++k)
            if (!got.failures[k]) take(k, got.tallies[k]);
        return std::move(got.failures);
    };
    run::outcome out;
    out.tallies.assign(asked.jobs.size(), run::tally(1));
    out.failures = walk(walker, asked, named, by,
                        [&](std::size_t k, const run::tally& found) { out.tallies[k] = found; });
    return out;
}

void book_walk::take_known() {
    if (!known_.work || left_.empty()) return;
    const std::vector<run::job> jobs = named(left_);
    run::walk asked = all_;
    asked.jobs = jobs;
    std::vector<std::size_t> taken;
    const std::vector<std::size_t> missing =
        known_.work->take_known(asked, known_.conditions(run_), [&](std::size_t k, const run::tally& found) {
            const std::size_t i = left_[k];
            walked_[i].emplace(found, is_quasi(i), plans_[i]);
            steps_known_ += run_.paths * plans_[i].ready->when.steps();
            taken.push_back(i);
        });
    if (!missing.empty() && !known_.work->may_walk()) {
        throw error(error_kind::input,
                    "the paths of " + std::to_string(missing.size()) + " of " + std::to_string(left_.size()) +
                        " trades are not among the results of the shards, which another build made, or other "
                        "inputs; run the shards again");
    }
    std::erase_if(left_, [&](std::size_t i) { return walked_[i].has_value(); });
    reporter_.now.trades_done = plans_.size() - left_.size();
    reporter_.now.path_steps_done += steps_known_;
    reporter_.report();
    if (program::is_fast(run_.how.precision)) take_known_samples(taken);
}

void book_walk::take_known_samples(const std::vector<std::size_t>& trades) {
    const std::vector<run::job> jobs = named(trades);
    run::walk asked = first_of(all_);
    asked.jobs = jobs;
    const std::vector<std::size_t> missing = known_.work->take_known(
        asked, known_.conditions_of_shadows(run_, run_.how.precision),
        [&](std::size_t k, const run::tally& found) { walked_[trades[k]]->sample = found.whole(); });
    // A trade without a known sample is walked again, together with its sample.
    for (const std::size_t k : missing) {
        walked_[trades[k]].reset();
        left_.push_back(trades[k]);
    }
    std::ranges::sort(left_);
}

void book_walk::walk(const walkers& by, run_manifest& manifest) {
    if (left_.empty()) return;
    const auto cpu = [&] { return by.on_cpu(by.operations, run_.threads, run_.how.precision); };
    const std::optional<std::uint64_t>& tiles_first = by.gpus.tiles_before_gpus();
    if (run_.device == "auto" && has_same_bits_on_gpus() && tiles_first != 0) return on_both(by, manifest);
    on_gpus(by, manifest);
    if (!left_.empty()) on_cpu(*cpu());
}

bool book_walk::has_same_bits_on_gpus() const {
    const run_settings all = over(run_.said, default_settings());
    return lack_of_cpu().empty() && cuda::reduction_named(*all.reduction).keeps_bits;
}

bool book_walk::are_kept_on_gpus(const walkers& by) const {
    if (by.keeps == nullptr || by.keeps->is_empty()) return false;
    for (const bool has_points : {false, true}) {
        const ready_on_gpus::of_source& ready = has_points ? by.keeps->with_points : by.keeps->without;
        std::vector<walked_job> wanted;
        for (const std::size_t i : left_) {
            if (plans_[i].back) return false;
            if (takes_points(i) == has_points) wanted.push_back(plans_[i].walked());
        }
        if (wanted.empty()) continue;
        if (!ready.trades || ready.walk.is_empty() || !ready.trades->find(wanted)) return false;
    }
    return true;
}

void book_walk::on_both(const walkers& by, run_manifest& manifest) {
    const auto cpu = [&] { return by.on_cpu(by.operations, run_.threads, run_.how.precision); };
    if (by.gpus.tiles_before_gpus()) by.on.begin();
    const bool are_open = by.on.are_open();
    if (are_open && by.on.get().devices.empty()) return on_cpu(*cpu());
    if (are_open && are_kept_on_gpus(by)) {
        on_gpus(by, manifest);
        return left_.empty() ? void() : on_cpu(*cpu());
    }
    std::vector<owned_job> jobs;
    for (const std::size_t i : left_) {
        const planned& p = plans_[i];
        jobs.push_back({p.back ? walked_job{p.ready, p.points} : p.walked(), p.back});
    }
    const auto ahead = std::make_shared<gpus_ahead>(by.gpus, run_, all_, jobs, by.way_back);
    if (are_open) {
        std::optional<timings::during> packing(std::in_place, all_.times, stage::packing);
        ahead->prepare(by.on.get());
        packing.reset();
        if (ahead->has_all() && !by.gpus.tiles_before_gpus()) {
            ready_on_gpus once;
            walkers with_trades = by;
            if (with_trades.keeps == nullptr) with_trades.keeps = &once;
            if (ahead->trades(false)) with_trades.keeps->without.trades = ahead->trades(false);
            if (ahead->trades(true)) with_trades.keeps->with_points.trades = ahead->trades(true);
            on_gpus(with_trades, manifest);
            return left_.empty() ? void() : on_cpu(*cpu());
        }
    }
    const std::vector<std::size_t> trades = left_;
    // Begins to open GPUs, and to prepare for them, once there is enough to do.
    const auto begin = [&, has_begun = are_open](double seconds_left) mutable {
        by.on.begin_for(seconds_left);
        if (!has_begun && by.on.have_begun()) ahead->begin(by.on.opening());
        has_begun = has_begun || by.on.have_begun();
    };
    handover shared(ahead, jobs, run_.threads, cpu(), by.gpus.tiles_before_gpus(), begin);
    const auto from = std::chrono::steady_clock::now();
    on_cpu(shared);
    by.gpus.add_seconds_on_processor(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    tell_of_both(by, shared, trades, manifest);
}

void book_walk::tell_of_both(const walkers& by, const handover& shared, std::span<const std::size_t> trades,
                             run_manifest& manifest) {
    bool have_walked = false;
    for (std::size_t k = 0; k < trades.size(); ++k) {
        planned& p = plans_[trades[k]];
        steps_on_gpus_[trades[k]] = shared.steps_on_gpus(k);
        have_walked = have_walked || shared.steps_on_gpus(k) > 0;
        if (shared.gpu_failure(k) && !p.failure) p.gpu_failure = shared.gpu_failure(k);
    }
    const cuda::gpu_facts facts = shared.facts();
    add_kernels(facts, manifest);
    if (!facts.shares.empty()) tell_of_devices(by.on.get(), facts, manifest);
    if (have_walked) tell_left_both_ways(trades, manifest.left_to_processor);
}

void book_walk::on_gpus(const walkers& by, run_manifest& manifest) {
    const cuda::backend::choice& on = by.on.get();
    if (on.devices.empty()) return;
    const timings::during walking(all_.times, stage::walking);
    std::vector<std::size_t> both_ways;
    std::erase_if(left_, [&](std::size_t i) {
        if (plans_[i].back) both_ways.push_back(i);
        return plans_[i].back != nullptr;
    });
    cuda::gpu_facts facts;
    for (const bool has_points : {false, true}) {
        std::vector<std::size_t> trades;
        for (const std::size_t i : left_)
            if (takes_points(i) == has_points) trades.push_back(i);
        walk_on_gpus(trades, has_points, by.gpus, on, facts, by.keeps);
    }
    tell_left_both_ways(both_ways, manifest.left_to_processor);
    both_ways = choose_both_ways(both_ways);
    if (!both_ways.empty()) walk_both_ways(both_ways, by.gpus, on, facts, by.way_back);
    add_kernels(facts, manifest);
    tell_of_devices(on, facts, manifest);
    reporter_.now.trades_done = plans_.size() - left_.size();
}

void seat_ahead(std::span<const planned> plans, const settled& run, ready_on_gpus& into) {
    run::walk all;
    all.points = run.points;
    std::vector<walked_job> with_points, without;
    for (const planned& p : plans) {
        if (!p.needs_paths() || p.back) continue;
        run::job said;
        said.points = p.points;
        (all.points_of(said) ? with_points : without).push_back(p.walked());
    }
    const auto seat = [&](std::vector<walked_job>& trades, ready_on_gpus::of_source& to) {
        if (!trades.empty())
            to.trades = std::make_shared<const gpu_trades>(std::move(trades), nullptr, run.threads);
    };
    seat(without, into.without);
    seat(with_points, into.with_points);
}

void add_kernels(const cuda::gpu_facts& of, run_manifest& manifest) {
    manifest.kernels_compiled += of.kernels_compiled;
    manifest.kernels_from_cache += of.kernels_from_cache;
    if (manifest.kernels_refused.empty()) manifest.kernels_refused = of.why_foreign;
    manifest.launches += of.launches;
    manifest.device_seconds += of.device_seconds;
    manifest.kernel_seconds += of.kernel_seconds;
}

std::string book_walk::lack_of_cpu() const {
    if (program::is_fast(run_.how.precision)) return "precision single_fast; use precision single";
    const random::catalogue_entry& source = source_of(run_, false);
    if (!source.needs_gpu) return {};
    return fmt::format("random numbers from {}; use random {}", source.name,
                       random::on_any_device(source).name);
}

std::vector<std::size_t> book_walk::choose_both_ways(const std::vector<std::size_t>& trades) {
    std::vector<std::size_t> out;
    for (const std::size_t i : trades) {
        if (cuda::ways_back::can_walk(plans_[i].job())) {
            out.push_back(i);
        } else if (const std::string lack = lack_of_cpu(); !lack.empty()) {
            plans_[i].failure = error(error_kind::usage,
                                      "derivatives of this trade are found on the CPU, which has no " + lack);
        } else {
            left_.push_back(i);
        }
    }
    return out;
}

void book_walk::tell_left_both_ways(std::span<const std::size_t> trades, std::vector<left_work>& to) const {
    if (!lack_of_cpu().empty()) return;
    std::map<std::string, std::size_t> left;  // trades by reason
    for (const std::size_t i : trades)
        if (plans_[i].back)
            if (const std::string why = cuda::ways_back::why_not(plans_[i].job()); !why.empty()) ++left[why];
    for (const auto& [why, count] : left) add_left(to, {"ways back", count, why});
}

void book_walk::walk_both_ways(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                               const cuda::backend::choice& on, cuda::gpu_facts& total,
                               const cuda::ways_back::decider& by) {
    const bool is_fast = program::is_fast(run_.how.precision);
    std::vector<run::job> jobs;
    for (const std::size_t i : trades) jobs.push_back(plans_[i].job());
    const auto walk_with = [&](const random::catalogue_entry& source, run::walk paths,
                               const kept::conditions& conditions, const auto& take) {
        const cuda::tuned_device measured{gpus.tuned(), on.devices.front()->get().properties()};
        const int rounds = source.rounds > 0 ? source.rounds : kernels::philox_rounds;
        const auto suits = cuda::ways_back::as_suits(run_.how.precision, rounds, measured);
        cuda::ways_back walks(on.devices, gpus.kernels(), by ? by : suits, run_.memory_bytes, run_.threads,
                              source);
        paths.jobs = jobs;
        auto failures =
            walk([&](const run::walk& of, const kept::tally_callback& to) { return walks.walk(of, to); },
                 paths, jobs, conditions, take);
        total.add(walks.facts());
        return failures;
    };
    run::walk asked = all_;
    asked.on_progress = reporter_.of_walk();
    const auto failures = walk_with(source_of(run_, false), asked, known_.conditions(run_),
                                    [&](std::size_t k, const run::tally& found) {
                                        const std::size_t i = trades[k];
                                        walked_[i].emplace(found, is_quasi(i), plans_[i]);
                                        steps_on_gpus_[i] = run_.paths * plans_[i].ready->when.steps();
                                    });
    for (std::size_t k = 0; k < trades.size(); ++k) {
        if (!failures[k]) continue;
        planned& p = plans_[trades[k]];
        const bool cpu_can = on.may_fall_back && lack_of_cpu().empty();
        (cpu_can ? p.gpu_failure : p.failure) = failures[k];
        if (cpu_can) left_.push_back(trades[k]);
    }
    if (!is_fast) return;
    // The CPU has no single_fast to compare with double, so GPUs walk the first tiles once more.
    const auto without_sample = walk_with(random::catalogue().front(), first_of(all_),
                                          known_.conditions_of_shadows(run_, run_.how.precision),
                                          [&](std::size_t k, const run::tally& found) {
                                              if (walked_[trades[k]])
                                                  walked_[trades[k]]->sample = found.whole();
                                          });
    for (std::size_t k = 0; k < trades.size(); ++k)
        if (walked_[trades[k]]) walked_[trades[k]]->sample_failure = without_sample[k];
}

void book_walk::walk_on_gpus(const std::vector<std::size_t>& trades, bool has_points, cuda::backend& gpus,
                             const cuda::backend::choice& on, cuda::gpu_facts& total, ready_on_gpus* keeps) {
    if (trades.empty()) return;
    std::optional<timings::during> packing(std::in_place, all_.times, stage::packing);
    ready_on_gpus once;
    ready_on_gpus& all_ready = keeps != nullptr ? *keeps : once;
    ready_on_gpus::of_source& ready = has_points ? all_ready.with_points : all_ready.without;
    std::vector<walked_job> wanted;
    for (const std::size_t i : trades) wanted.push_back(plans_[i].walked());
    std::optional<std::vector<run::job>> jobs;
    if (ready.trades) jobs = ready.trades->find(wanted);
    if (!jobs)
        ready.trades =
            std::make_shared<const gpu_trades>(std::move(wanted), ready.trades.get(), run_.threads);
    packing.reset();
    const random::catalogue_entry& source = source_of(run_, has_points);
    const cuda::gpu_settings with{has_points ? run_.how_of_points : run_.how,
                                  run_.correlation,
                                  &source,
                                  run_.memory_bytes,
                                  run_.threads,
                                  &gpus.tuned()};
    cuda::launcher launcher(on.devices, gpus.kernels(), with, &ready.walk);
    run::walk asked = all_;
    asked.jobs = jobs ? *jobs : ready.trades->jobs();
    asked.among = ready.trades->jobs();
    asked.owner = ready.trades;
    asked.on_progress = reporter_.of_walk();
    run::outcome got = walk(launcher, asked, named(trades), known_.conditions(run_));
    cuda::gpu_facts facts = launcher.facts();
    const bool any_walked =
        std::any_of(got.failures.begin(), got.failures.end(), [](const auto& f) { return !f; });
    const bool is_fast = program::is_fast(run_.how.precision);
    take_gpu_outcome(trades, got, source.is_quasi, on.may_fall_back && !is_fast && !source.needs_gpu);
    if (is_fast) take_gpu_sample(trades, gpus, on, with, asked, facts, ready.sample);
    for (auto& share : facts.shares) share.has_walked = share.has_walked && any_walked;
    total.add(facts);

    std::erase_if(left_, [&](std::size_t i) { return walked_[i] || plans_[i].failure; });
    reporter_.now.trades_done = plans_.size() - left_.size();
    reporter_.report();
}

void book_walk::take_gpu_outcome(const std::vector<std::size_t>& trades, run::outcome& got, bool is_quasi,
                                 bool cpu_can) {
    threads::for_each_short(trades.size(), run_.threads, [&](int, std::uint64_t k) {
        planned& p = plans_[trades[k]];
        if (got.failures[k]) {
            (cpu_can ? p.gpu_failure : p.failure) = std::move(got.failures[k]);
            return;
        }
        walked_[trades[k]].emplace(got.tallies[k], is_quasi, p);
        steps_on_gpus_[trades[k]] = run_.paths * p.ready->when.steps();
    });
}

void book_walk::take_gpu_sample(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                                const cuda::backend::choice& on, cuda::gpu_settings with, run::walk asked,
                                cuda::gpu_facts& facts, cuda::ready_run& keeps) {
    if (with.source->needs_gpu) with.source = &random::catalogue().front();  // the CPU has this source, too
    if (with.source->rounds > 0) with.how.rounds = with.source->rounds;
    cuda::launcher sampler(on.devices, gpus.kernels(), with, &keeps);
    asked.paths = cpu::shadow_paths(run_.paths);
    asked.on_progress = nullptr;
    const run::outcome sample =
        walk(sampler, asked, named(trades), known_.conditions_of_shadows(run_, run_.how.precision));
    for (std::size_t k = 0; k < trades.size(); ++k) {
        if (!walked_[trades[k]]) continue;
        walked_trade& w = *walked_[trades[k]];
        w.sample_failure = sample.failures[k];
        if (!w.sample_failure) w.sample = sample.tallies[k].whole();
    }
    facts.add_lost(sampler.facts());
}

void book_walk::on_cpu(run::back_end& on) {
    const timings::during walking(all_.times, stage::walking);
    random::find(source_of(run_, false).name, random::back_end::cpu);
    const std::size_t done_before = plans_.size() - left_.size();
    std::uint64_t steps_before = steps_known_;
    for (std::size_t first = 0; first < left_.size();) {
        std::vector<run::job> jobs;
        std::uint64_t steps = 0, bytes = 0;
        for (std::size_t k = first; k < left_.size() && (jobs.empty() || bytes < most_bytes_of_derivatives);
             ++k) {
            const planned& p = plans_[left_[k]];
            jobs.push_back(p.job());
            steps += run_.paths * p.ready->when.steps();
            if (p.back) bytes += run::most_parts * sizeof(double) * p.back->derivatives();
        }
        run::walk asked = all_;
        asked.jobs = jobs;
        asked.on_progress = [&](const run::progress& p) {
            reporter_.now.trades_done = done_before + first + p.jobs_done;
            reporter_.now.path_steps_done = steps_before + p.path_steps_done;
            reporter_.report();
        };
        run::outcome got = walk(on, asked, jobs, known_.conditions(run_));
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            const std::size_t i = left_[first + k];
            if (got.failures[k]) {
                plans_[i].failure = std::move(got.failures[k]);
            } else {
                walked_[i].emplace(got.tallies[k], takes_points(i), plans_[i]);
            }
        }
        first += jobs.size();
        steps_before += steps;
    }
}

void book_walk::take_shadows(const cpu::lane_operations& operations, const cpu_maker& make) {
    if (run_.how.precision == program::precision::double_) return;
    const timings::during taking(all_.times, stage::shadows);
    std::vector<std::size_t> trades, sampled;
    std::vector<run::job> jobs, jobs_of_sample;
    for (std::size_t i = 0; i < walked_.size(); ++i) {
        if (!walked_[i] || walked_[i]->result.not_finite > 0 || walked_[i]->sample_failure) continue;
        trades.push_back(i);
        jobs.push_back(plans_[i].price_job());
        if (walked_[i]->sample) continue;
        sampled.push_back(i);
        jobs_of_sample.push_back(jobs.back());
    }
    run::walk first = first_of(all_);
    const auto walk_in = [&](program::precision p, std::span<const run::job> of) {
        first.jobs = of;
        return walk(*make(operations, run_.threads, p), first, of, known_.conditions_of_shadows(run_, p))
            .tallies;
    };
    if (!sampled.empty()) {
        const auto samples = walk_in(run_.how.precision, jobs_of_sample);
        for (std::size_t k = 0; k < sampled.size(); ++k) walked_[sampled[k]]->sample = samples[k].whole();
    }
    const auto in_double = walk_in(cpu::shadow_precision(run_.how.precision), jobs);
    for (std::size_t k = 0; k < trades.size(); ++k) {
        walked_trade& w = *walked_[trades[k]];
        w.shadow_difference = cpu::compare(*w.sample, in_double[k].whole(), w.result).difference;
    }
}

}  // namespace tilewalk::studies
