// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/launcher.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include "engine/cuda/compile_kernels.h"
#include "engine/cuda/correlation.h"
#include "engine/cuda/counted_kernels.h"
#include "engine/cuda/decide.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/reductions.h"
#include "engine/cuda/run_state.h"
#include "engine/cuda/spaces.h"
#include "engine/cuda/walk_on_devices.h"
#include "engine/run/units.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

// Groups of jobs with the same kernel text. `fits` says whether the devices can run a program's kernel built
// in a given way.
std::vector<job_group> group(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits) {
    std::map<const program::path_program*, std::size_t> by_code;
    std::map<std::pair<std::string, std::string>, std::size_t> by_text;  // texts of walk and correlate
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        auto known = by_code.find(code);
        if (known == by_code.end()) {
            kernel_wish wish = run.how;
            std::string moves_text;
            if (separated.is_separated(j)) {
                wish = wish_that_reads_moves(run.how, code->slots_per_step());
                moves_text = correlation_text(
                    best_correlation_variant(static_cast<std::size_t>(code->normals_per_step)),
                    run.how.precision);
            }
            std::optional<tuned_choice> measured;
            if (tuned && wish.is_open() && !separated.is_separated(j)) {
                measured = tuned->choices.find(tuned->on, *code, wish);
            }
            const kernel_decision how = decide(
                wish, *code, [&](const kernel_decision& c, int) { return fits(c, *code); },
                measured ? &measured->how : nullptr);
            std::string text = path_kernel_text(*code, how);
            const auto [at, is_new] = by_text.emplace(std::pair(text, moves_text), out.size());
            if (is_new)
                out.push_back({{std::move(text), {}}, {std::move(moves_text), {}}, code, how, {}, false});
            known = by_code.emplace(code, at->second).first;
        }
        out[known->second].jobs.push_back(j);
    }
    // Longest first, so that the last to run are short.
    for (job_group& g : out) {
        std::stable_sort(g.jobs.begin(), g.jobs.end(), [&](std::size_t a, std::size_t b) {
            return packed.records[a].steps > packed.records[b].steps;
        });
    }
    return out;
}

void check_on_all(const std::vector<std::shared_ptr<loaded_device>>& devices, const kernel_decision& how,
                  const program::path_program& code) {
    const reduction_entry& reduction = reduction_named(how.reduction);
    for (const auto& d : devices) {
        const device_properties& p = d->get().properties();
        check(reduction, p);
        check(how, code.slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block},
              static_cast<int>(code.payoff_rows()));
    }
}

// Fails jobs that a device can't run before anything is compiled.
void check_groups(run_state& state, const std::vector<std::shared_ptr<loaded_device>>& devices) {
    for (job_group& g : state.groups) {
        try {
            check_on_all(devices, g.how, *g.code);
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
}

// Plans arrays of shocks, if the feed reads any, and of scenarios. Jobs that need more than a source has
// fail.
void plan_shocks(run_state& state, counted_kernels& kernels) {
    const gpu_run& run = state.run;
    const auto reads_shocks = [](const job_group& g) {
        return feed_named(g.how.feed).makes_use_of(feed_entry::array);
    };
    const bool from_arrays = std::any_of(state.groups.begin(), state.groups.end(), reads_shocks);
    if (!from_arrays && state.packed.scenarios.empty()) return;
    state.moves.precision = run.how.precision;
    shock_plan plan;
    plan.source = run.source != nullptr ? run.source : &random::catalogue().front();
    plan.replay = run.replay;
    plan.kernels = &kernels;
    plan.poll = [&state] { throw_if_stopped(state); };
    // A feed that makes its own shocks does not use the space; scenarios then lie in plain memory.
    plan.space = &space_named(cuda::reads_shocks(run.how) ? run.how.space : kernel_basis().space);
    plan.precision = run.how.precision;
    plan.seed = run.seed;
    plan.paths = run.paths;
    for (const scenario_row& r : state.packed.scenarios) {
        plan.scenarios.push_back(run.scenarios[r.array]);
        arrays::shock_cube& row = plan.scenarios.back();
        std::visit([&](auto& first) { first += r.row * row.step_stride; }, row.first);
    }
    for (job_group& g : state.groups) {
        if (g.failed || !reads_shocks(g)) continue;
        const auto normals = static_cast<std::uint64_t>(g.code->normals_per_step);
        const auto uniforms = static_cast<std::uint64_t>(g.code->uniforms_per_step);
        std::uint64_t steps = 0;
        for (const std::size_t j : g.jobs)
            steps = std::max<std::uint64_t>(steps, state.packed.records[j].steps);
        try {
            if (run.replay != nullptr) {
                run.replay->check({steps, normals, uniforms, run.paths});
                if (normals > 0) {
                    plan.normal_rows = std::max(plan.normal_rows, steps * run.replay->normals().slots);
                }
                if (uniforms > 0) {
                    plan.uniform_rows = std::max(plan.uniform_rows, steps * run.replay->uniforms().slots);
                }
            } else {
                random::check_normals(*plan.source, steps * normals);
                plan.normal_rows = std::max(plan.normal_rows, steps * normals);
                plan.uniform_rows = std::max(plan.uniform_rows, steps * uniforms);
            }
            if (g.reads_moves()) state.moves.add(g.factors(), steps);
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
    // The standard error of a quasi-random run comes from its units.
    if (from_arrays && run.replay == nullptr && plan.source->is_quasi)
        state.part_tiles = run::quasi_unit_paths(run.paths) / kernels::paths_per_tile;
    state.shocks = plan;
}

// Constant memory changes from launch to launch, but must hold all numbers of one trade.
void refuse_too_long_rows(const space_entry& rows, packed_trades& packed) {
    if (rows.lives_in != residence::constant_variable) return;
    for (std::size_t j = 0; j < packed.records.size(); ++j) {
        try {
            check_fits(rows, packed.numbers_of(j).size() / packed.number_bytes,
                       static_cast<int>(packed.number_bytes));
        } catch (const error& e) {
            if (!packed.failures[j]) packed.failures[j] = e;
        }
    }
}

}  // namespace

std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_wish& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned) {
    const separated_jobs separated(jobs, correlation, how.precision);
    gpu_run run;
    run.jobs = separated.jobs();
    run.how = how;
    std::vector<needed_kernel> out;
    std::map<std::string, std::vector<std::size_t>> correlate;
    std::size_t correlations = 0;
    const auto anything_fits = [](const kernel_decision&, const program::path_program&) { return true; };
    for (job_group& g :
         group(run, separated, pack(run.jobs, program::real_type(how.precision)), tuned, anything_fits)) {
        if (g.reads_moves()) {
            auto& readers = correlate[g.correlate.text];
            readers.insert(readers.end(), g.jobs.begin(), g.jobs.end());
        }
        out.push_back({"walk_" + std::to_string(out.size() + 1), std::move(g.walk.text), std::move(g.jobs),
                       !g.reads_moves(), g.how});
    }
    for (auto& [text, readers] : correlate) {
        out.push_back({"correlate_" + std::to_string(++correlations), text, std::move(readers)});
    }
    needed_kernel merge{"merge_tiles", merge_kernel_text(), std::vector<std::size_t>(jobs.size())};
    std::iota(merge.jobs.begin(), merge.jobs.end(), std::size_t{0});
    out.push_back(std::move(merge));
    return out;
}

run::outcome launcher::walk_all(const run::walk& of) {
    gpu_outcome got = walk_all(gpu_run{of, with_});
    facts_.add(got);
    return got;
}

gpu_outcome launcher::walk_all(const gpu_run& asked) {
    const separated_jobs separated(asked.jobs, asked.correlation, asked.how.precision);
    gpu_run run = asked;
    run.jobs = separated.jobs();
    gpu_outcome outcome;
    outcome.tallies.assign(run.jobs.size(), run::tally(kernels::tiles_of(run.paths)));
    outcome.failures.resize(run.jobs.size());
    outcome.shares.resize(devices_.size());
    packed_trades packed = pack(run.jobs, program::real_type(run.how.precision));
    refuse_too_long_rows(space_named(run.how.row_space), packed);
    for (std::size_t j = 0; j < run.jobs.size(); ++j) outcome.failures[j] = packed.failures[j];

    const auto fits = [&](const kernel_decision& how, const program::path_program& code) {
        try {
            check_on_all(devices_, how, code);
            return true;
        } catch (const error&) {
            return false;
        }
    };
    // Choices measured on one kind of device do not hold for another.
    std::optional<tuned_device> tuned;
    const device_properties& first = devices_.front()->get().properties();
    const bool alike = std::all_of(devices_.begin(), devices_.end(),
                                   [&](const auto& d) { return d->get().properties().name == first.name; });
    if (run.tuned != nullptr && alike) tuned.emplace(tuned_device{*run.tuned, first});
    run_state state{run,
                    separated,
                    packed,
                    group(run, separated, packed, tuned, fits),
                    std::nullopt,
                    {},
                    run::part_tiles_of(kernels::tiles_of(run.paths)),
                    0,
                    {merge_kernel_text(), {}},
                    {},
                    outcome};
    counted_kernels taken(kernels_);
    std::vector<std::string> architectures;
    for (const auto& d : devices_) {
        const std::string a = d->get().properties().architecture();
        if (std::find(architectures.begin(), architectures.end(), a) == architectures.end()) {
            architectures.push_back(a);
        }
    }
    check_groups(state, devices_);
    try {
        plan_shocks(state, taken);
    } catch (const error& e) {
        state.fail_all(e);
    }
    compile_kernels(state, architectures, taken);
    const bool jobs_left =
        std::any_of(outcome.failures.begin(), outcome.failures.end(), [](const auto& f) { return !f; });
    if (jobs_left && !state.stopped()) {
        try {
            walk_on_devices(state, devices_);
        } catch (const error& e) {
            state.fail_all(e);
        }
    }
    if (run.cancel != nullptr && run.cancel->load())
        throw error(error_kind::cancelled, "the run was stopped");
    outcome.kernels_compiled = taken.compiled();
    outcome.kernels_from_cache = taken.from_cache();
    return outcome;
}

}  // namespace tilewalk::cuda
