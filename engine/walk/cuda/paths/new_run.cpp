// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/new_run.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/crew.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/rows_of_jobs.h"
#include "engine/walk/units.h"
#include "kernels/tile.h"
#include "tilewalk/timings.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using devices_of_run = device_crew::devices;

void check_on_all(devices_of_run devices, const kernel_decision& how, const program::path_program& code) {
    const reduction_entry& reduction = reduction_named(how.reduction);
    for (const auto& d : devices) {
        const device_properties& p = d->get().properties();
        check(reduction, p);
        check(how, code.slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block},
              static_cast<int>(code.payoff_rows()));
    }
}

// Fails jobs that a device can't run, before anything is compiled.
void check_groups(run_state& state, devices_of_run devices) {
    for (job_group& g : state.groups) {
        try {
            check_on_all(devices, g.how, *g.code);
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
}

// Steps of the group's longest job, which is its first.
std::uint64_t longest(const job_group& g, const run_state& state) {
    return state.packed.records[g.jobs.front()].steps;
}

class shares_of_groups {
  public:
    shares_of_groups(run_state& of, shock_plan& plan) : of_(of), rows_(plan), crew_(of.run.threads) {}

    // Plans the shocks of a group's jobs. For a job with moves made ahead these are the matrix kernel's.
    void add(const job_group& g) {
        const auto job = [&](std::size_t k) -> const run::job& { return of_.separated.given()[g.jobs[k]]; };
        std::vector<std::optional<quasi::order>> orders(g.jobs.size());
        const auto make_order = [&](int, std::uint64_t k) {
            orders[k] = rows_.order_of(job(k), of_.run.points_of(job(k)));
        };
        if (orders.size() < worth_threads) {
            for (std::size_t k = 0; k < orders.size(); ++k) make_order(0, k);
        } else {
            crew_.for_each(orders.size(), nullptr, make_order, {});
        }
        for (std::size_t k = 0; k < orders.size(); ++k)
            shares_.push_back(
                {g.jobs[k], g.reads_moves(), rows_.add(job(k), std::move(orders[k]), way_of_points(g.how))});
    }
    void leave() {
        rows_.end();
        for (const share& s : shares_) {
            const rows_of_jobs::first_rows rows = rows_.first_rows_of(s.number);
            kernels::trade_record& record = of_.packed.records[s.job];
            (s.makes_moves ? of_.shocks_of_moves[s.job] : record.normal_row) = rows.normals;
            record.uniform_row = rows.uniforms;
            record.target_step = rows.target_step;
        }
    }

  private:
    struct share {
        std::size_t job;
        bool makes_moves;
        std::size_t number;
    };
    static constexpr std::size_t worth_threads = 64;
    run_state& of_;
    rows_of_jobs rows_;
    threads::crew crew_;
    std::vector<share> shares_;
};

// Plans the arrays of shocks and scenarios, if any are read. Fails jobs that need more than the source has.
void plan_shocks(run_state& state, counted_kernels& kernels) {
    const gpu_run& run = state.run;
    const auto needs_any = [](const job_group& g) {
        return g.reads_shocks() || g.meets_targets() || g.makes_points();
    };
    const bool from_arrays = std::any_of(state.groups.begin(), state.groups.end(), needs_any);
    if (!from_arrays && state.packed.scenarios.empty()) return;
    state.moves.precision = run.how.precision;
    shock_plan plan;
    plan.source = run.source != nullptr ? run.source : &random::catalogue().front();
    plan.replay = run.replay;
    plan.kernels = &kernels;
    plan.poll = [&state] { throw_if_stopped(state); };
    // A kernel that draws its shocks ignores the space setting; its scenarios are in plain device memory.
    plan.space = &space_named(cuda::reads_shocks(run.how) ? run.how.space : kernel_basis().space);
    plan.precision = run.how.precision;
    plan.seed = run.seed;
    plan.paths = run.paths;
    plan.unit_paths = run.unit_paths;
    plan.scenarios = rows_of(run.scenarios, state.packed.scenarios);
    const bool is_keyed = !plan.are_rows_alike();
    shares_of_groups keyed(state, plan);
    for (job_group& g : state.groups) {
        if (g.failed || !needs_any(g)) continue;
        try {
            if (is_keyed) {
                keyed.add(g);
            } else {
                add_rows_alike(*g.code, longest(g, state), plan);
            }
            if (g.reads_moves()) state.moves.add(g.factors(), longest(g, state));
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
    if (is_keyed) keyed.leave();
    // Parts of a quasi-random run are its units, from which its standard error is computed.
    if (from_arrays && run.replay == nullptr && plan.source->is_quasi && !plan.source->is_points)
        state.part_tiles = run::quasi_unit_paths(run.paths) / kernels::paths_per_tile;
    state.shocks = std::move(plan);
}

// Constant memory is refilled for each launch, but must hold all numbers of any one trade.
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

void group_for(run_state& state, devices_of_run devices) {
    const auto fits = [&](const kernel_decision& how, const program::path_program& code) {
        try {
            check_on_all(devices, how, code);
            return true;
        } catch (const error&) {
            return false;
        }
    };
    // Measured choices are used only if all devices are of one kind.
    std::optional<tuned_device> tuned;
    const device_properties& first = devices.front()->get().properties();
    const bool alike = std::all_of(devices.begin(), devices.end(),
                                   [&](const auto& d) { return d->get().properties().name == first.name; });
    if (state.run.tuned != nullptr && alike) tuned.emplace(tuned_device{*state.run.tuned, first});
    state.groups = group_jobs(state.run, state.separated, state.packed, tuned, fits);
}

// If a text does not compile, only the jobs that need it fail.
void compile(run_state& state, device_crew& crew) {
    std::vector<wanted_kernel> wanted{{&state.merge, [&](const error& why) { state.fail_all(why); }}};
    for (job_group& g : state.groups) {
        if (g.failed) continue;
        const auto fail = [&](const error& why) {
            g.failed = true;
            state.fail(g.jobs, why);
        };
        wanted.push_back({&g.walk, fail});
        if (g.reads_moves()) wanted.push_back({&g.correlate, fail});
    }
    crew.compile(wanted, state.run.threads, state.run.cancel);
}

}  // namespace

std::unique_ptr<run_state> new_run(const gpu_run& asked, device_crew& crew) {
    const timings::during packing(asked.times, stage::packing);
    auto made = std::make_unique<run_state>(asked);
    run_state& state = *made;
    refuse_too_long_rows(space_named(state.run.how.row_space), state.packed);
    state.begin(asked);
    group_for(state, crew.all());
    state.merge.text = merge_kernel_text();
    check_groups(state, crew.all());
    try {
        plan_shocks(state, crew.kernels());
    } catch (const error& e) {
        state.fail_all(e);
    }
    const timings::during building(asked.times, stage::building_kernels);
    compile(state, crew);
    return made;
}

}  // namespace tilewalk::cuda
