// SPDX-License-Identifier: Apache-2.0
// Explains a book: plans each trade once, and tells what pricing will do and which kernel a GPU takes.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/decide/controls/controls.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/followed.h"
#include "engine/decide/pilot.h"
#include "engine/decide/planned.h"
#include "engine/decide/rewrites.h"
#include "engine/decide/rights.h"
#include "engine/decide/settled.h"
#include "engine/decide/sources.h"
#include "engine/plan/controller.h"
#include "engine/plan/explanation.h"
#include "engine/plan/ways_back.h"
#include "engine/study/asked.h"
#include "engine/study/session/engine_state.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/arrays/mapped_file.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/group_jobs.h"
#include "engine/walk/cuda/device/backend.h"
#include "kernels/tile.h"
#include "products/program/passes.h"
#include "tilewalk/combinations.h"
#include "tilewalk/engine.h"

namespace tilewalk {

namespace {

using namespace studies;

// A trade as it will be walked, and its plan before controls and other rewrites.
struct explained {
    std::optional<plan::trade_program> recorded;
    planned as{};
    std::optional<chosen_points> points{};  // points chosen with the control; empty if still to choose
    decide::decided known{};                // decided by settings or files, without a pilot
    std::uint64_t paths = 0;
};

constexpr const char* control_to_come =
    "a control variate, if it pays, is fitted to the policy that a run trains; `tilewalk price` shows it";

std::vector<explained> plan_all(const std::vector<books::trade>& trades, const market& in,
                                const pilot_of_controls& by) {
    const settled& run = by.run;
    decide::decided_by_trade held;
    for (const books::trade& t : trades)
        if (plan::has_rights(t)) held[t.id].control = nullptr;
    const sources from(run, nullptr, &held);
    std::vector<explained> out(trades.size());
    shape_store shapes;
    missing_pairs missing;
    const rewriter rewrites(by, from, shapes, {&in, 1});
    threads::for_each(
        trades.size(), run.threads, by.cancel,
        [&](int, std::uint64_t i) {
            explained& to = out[i];
            const books::trade& t = trades[i];
            const planner keeping = [&](const books::trade& of, const markets::market_state& m,
                                        program::precision p, const plan::poll& often) {
                return to.recorded.emplace(plan::plan_trade(of, m, p, {}, often));
            };
            to.as = plan_one(t, state_of(in), run, shapes, missing, by.cancel, keeping);
            to.paths = run.paths;
            if (!to.as.needs_paths()) return;
            try {
                to.known = from.known(t.id);
                if (run.takes_decided_paths) to.paths = run.followed->row(t.id).paths;
            } catch (const std::exception& e) {
                to.as.failure = at_trade(t, e);
                return;
            }
            to.points = rewrites.rewrite(t, to.as).points;
        },
        [] {});
    return out;
}

class gpu_kernels {
  public:
    gpu_kernels(const std::vector<explained>& plans, const settled& run, const cuda::device_properties& on,
                cuda::tuned_choices& choices)
        : run_(run), on_(on), choices_(choices), job_(plans.size()) {
        std::vector<run::job> jobs;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (!plans[i].as.needs_paths()) continue;
            job_[i] = jobs.size();
            jobs.push_back(plans[i].as.ready->job());
        }
        trades_.emplace(jobs);
    }

    // Takes the points of each trade, empty for independent numbers. All trades together decide whether
    // kernels compute points or read them.
    void set_points(std::span<const std::optional<quasi::points>> by_trade) {
        std::vector<run::job> jobs(trades_->jobs().begin(), trades_->jobs().end());
        for (std::size_t i = 0; i < by_trade.size(); ++i)
            if (job_[i]) jobs[*job_[i]].points = by_trade[i];
        const cuda::ways_of_points ways(run_.how_of_points, jobs,
                                        [](const run::job& job) { return job.points; });
        ways_.clear();
        for (const run::job& job : jobs) ways_.push_back(ways.way_of(job));
    }
    // Returns how the trade's kernel is built, and why; empty if the trade walks no paths.
    std::string text_of(std::size_t trade, bool has_points) const {
        if (!job_[trade]) return {};
        cuda::kernel_wish wish = has_points ? run_.how_of_points : run_.how;
        wish.points = ways_[*job_[trade]];
        return kernel_text_of(*trades_->jobs()[*job_[trade]].code, wish, on_, choices_);
    }

  private:
    const settled& run_;
    cuda::device_properties on_;
    cuda::tuned_choices& choices_;
    std::vector<std::optional<std::size_t>> job_;  // by trade; empty without paths
    std::optional<gpu_trades> trades_;
    std::vector<cuda::point_way> ways_;  // by job
};

std::vector<trade_plan::scenario_file> scenarios_of(const program::path_data& data,
                                                    const markets::market_state& in, std::uint64_t paths) {
    std::map<std::uint32_t, std::set<std::uint32_t>> rows;  // rows used, by array
    for (const program::scenario_rows& s : data.scenarios) rows[s.array].insert(s.rows.begin(), s.rows.end());
    std::vector<trade_plan::scenario_file> out;
    for (const auto& [array, used] : rows) {
        const markets::scenario_array& a = in.scenarios[array];
        const std::uint64_t number = std::visit([](const auto* x) { return sizeof *x; }, a.cube.first);
        out.push_back({a.name, a.cube.steps, used.size(), used.size() * paths * number});
    }
    return out;
}

std::vector<trade_plan::jump> jumps_of(const explained& of, greeks::adjoint_store& known) {
    std::vector<trade_plan::jump> out;
    if (!of.as.needs_paths()) return out;
    const ready_trade& made = *of.as.ready;
    const auto& code = made.code;
    const auto& smoothable = known.smoothable_of(code, made.data, made.when);
    const auto& scored = known.scored_of(code, made.data, made.when);
    const auto is_scored = [&](const program::jump& j) {
        return scored &&
               std::ranges::find(scored->jumps, j, &program::scored_jump::at) != scored->jumps.end();
    };
    for (const program::jump& j : known.jumps_of(code, made.data, made.when)) {
        const program::lane_section& section = code->sections[j.section];
        if (section.name == plan::controller::section) continue;  // a jump of the control, not of the payoff
        const std::string_view operation = program::entry_of(section.nodes[j.node].code).name;
        out.push_back({j.section == 0 ? "in each step" : section.name,
                       std::string(operation) + " v" + std::to_string(j.node),
                       std::ranges::find(smoothable, j) != smoothable.end(), is_scored(j)});
    }
    return out;
}

void add_dates(const std::vector<language::block>& blocks, trade_plan& to) {
    std::map<double, trade_plan::watched_date> dates;
    for (const auto& b : blocks) {
        for (std::size_t i = 0; i < b.times.size(); ++i) {
            auto& d = dates[b.times[i]];
            d.years = b.times[i];
            if (d.label.empty()) d.label = to_string(b.labels[i]);
            d.blocks.push_back(!b.continuous ? b.name : (i == 0 ? "from here: " : "until here: ") + b.name);
        }
    }
    for (auto& [years, d] : dates) to.dates.push_back(std::move(d));
}

// Adds the program, and the memory that the CPU takes to walk it.
void add_program(const explained& of, const cpu::lane_program& code, const markets::market_state& in,
                 const settled& run, trade_plan& to) {
    const ready_trade& made = *of.as.ready;
    to.program = program::print(*made.code);
    to.lane_operations = code.operations();
    to.lane_registers = code.registers;
    to.uniform_operations = made.code->per_trade.nodes.size();
    for (const auto& s : made.code->sections) to.uniform_operations += s.per_run.nodes.size();
    // Streams buffer one number more than a step takes, as Philox blocks and steps may not end together.
    const auto streams = [](const std::vector<program::place_in_stream>& slots) {
        return static_cast<std::size_t>(std::ranges::count(slots, 0u, &program::place_in_stream::dimension));
    };
    const std::size_t shocks = static_cast<std::size_t>(made.code->slots_per_step()) + streams(code.normals) +
                               streams(code.uniforms);
    to.bytes_per_thread = code.bytes() + (shocks + kernels::paths_per_lane) * cpu::lanes * sizeof(double);
    to.bytes_shared =
        made.when.bytes() + (made.data.terms.size() + made.data.initial_states.size()) * sizeof(double);
    for (const auto& rows : made.data.rows) to.bytes_shared += rows.size() * sizeof(double);
    to.bytes_shared += cpu::bytes_of_results(run.paths, run.threads);
    to.scenarios = scenarios_of(made.data, in, run.paths);
    for (const auto& s : to.scenarios) to.bytes_shared += s.bytes;
    for (const auto& s : made.data.scenarios) to.bytes_shared += s.rows.size() * sizeof(s.rows[0]);
}

struct told_source {
    std::string text{};
    std::optional<quasi::points> points{};
};
// Trades with rights are tried as if they had none, since their policy comes later.
told_source random_of(const explained& of, pilot_of_points& by, const markets::market_state& in,
                      const settled& run, const std::atomic<bool>* cancel) {
    if (!of.as.needs_paths()) return {};
    if (!run.replay.empty()) return {"shocks of " + arrays::name_of(run.replay)};
    const auto independent = [&](const std::string& why) {
        return told_source{std::string(source_of(run, false).name) + why};
    };
    const auto points = [&](const quasi::points& p, const std::string& why) {
        return told_source{
            fmt::format("{}, {}, {} paths in {} randomisations{}", source_of(run, true).name,
                        quasi::name_of(p.construction), of.paths, run.paths / run.unit_paths, why),
            p};
    };
    if (!run.chooses_source && !run.chooses_construction)
        return run.points ? points(*run.points, "") : independent("");
    const std::vector<arrays::shock_cube> scenarios = in.scenario_cubes();
    const run::job job = of.as.ready->job();
    if (of.known.points) {
        const std::string why = "; as the run that is followed decided";
        return *of.known.points ? points(**of.known.points, why) : independent(why);
    }
    const chosen_points chosen = of.points ? *of.points : by.choose(job, scenarios, cancel);
    const std::string why = "; " + evidence(chosen);
    const std::optional<quasi::points> taken = chosen.taken_in(run);
    return taken ? points(*taken, why) : independent(why);
}

// Empty if the trade has no rights or nothing is random. Ranks are those of the policy followed, or of one
// trained on few paths.
std::optional<trade_plan::decision> decision_of(const books::trade& t, const markets::market_state& in,
                                                const policy_search& by, std::vector<std::string>& remarks) {
    constexpr std::uint64_t few = 4096;
    const plan::poll often = poll_of(by.cancel);
    std::optional<exercise::policy_to_find> of = exercise::policy_to_find_of(t, in, often);
    if (!of || of->is_certain) return std::nullopt;
    policy_of_trade finds(t, in, by);
    finds.prepare(few);
    finds.find(by.run.threads);
    const exercise::policy& found = *finds.policy();
    of = exercise::policy_to_find_of(t, in, often, found.tells_volatilities());
    for (const std::string& feature : of->left_out) remarks.push_back("decided without " + feature);
    trade_plan::decision out;
    out.knows = std::move(of->known);
    out.functions = found.functions.functions();
    out.degree = found.functions.degree();
    out.moves = found.moves().size();
    out.are_moves_ranked = out.moves > 0 && found.are_normals_ranked;
    for (std::size_t k = 0; k < found.dates.size(); ++k) {
        out.dates.push_back({of->dates[k].years, std::move(of->dates[k].label), found.dates[k].paid.rank,
                             found.dates[k].unpaid.rank});
    }
    out.training_paths = found.paths;
    return out;
}

void tell(const books::trade& t, const error& failure, trade_plan& to) {
    trade_problem told = problem_of(t, failure);
    to.failure = std::move(told.failure);
    to.where = std::move(told.where);
}

// Explains a trade, and sets `points` if the trade takes quasi-random points.
trade_plan explain_one(const books::trade& t, const explained& of, const markets::market_state& in,
                       const settled& run, greeks::adjoint_store& shapes, const policy_search& policies,
                       pilot_of_points& tries, std::optional<quasi::points>& points) {
    trade_plan p;
    p.trade = t.id;
    p.product = t.product_name;
    p.quantity = t.quantity;
    p.where = t.where;
    std::optional<error> failure = of.as.failure;
    if (!t.failure) {
        try {
            p.terms = plan::terms_of(t, in.as_of);
            if (!failure) {
                const plan::trade_program& recorded = *of.recorded;
                const ready_trade& walked = *of.as.ready;
                p.ends_early = plan::has_rights(t);
                p.remarks = walked.remarks;
                if (p.ends_early && !walked.certain && policies.run.chooses_controls && run.replay.empty())
                    p.remarks.emplace_back(control_to_come);
                plan::add_market(recorded, in, p);
                const cpu::lane_program code = cpu::compile(*walked.code);
                p.currency = recorded.currency;
                p.assets = recorded.assets;
                p.models = recorded.models;
                p.error_steps = recorded.error_steps;
                add_dates(recorded.blocks, p);
                p.grid = walked.when.times;
                p.normals_per_step = walked.code->normals_per_step;
                p.uniforms_per_step = walked.code->uniforms_per_step;
                const told_source random = random_of(of, tries, in, run, policies.cancel);
                p.random = random.text;
                p.jumps = jumps_of(of, shapes);
                if (p.ends_early) p.decides_by = decision_of(t, in, policies, p.remarks);
                points = random.points;
                add_program(of, code, in, run, p);
            }
        } catch (const std::exception& e) {
            failure = at_trade(t, e);
        }
    }
    if (failure) tell(t, *failure, p);
    return p;
}

}  // namespace

std::vector<trade_plan> engine::explain(const book& trades, const market& in,
                                        const run_options& options) const {
    refuse_combinations(study::explain, features_asked(trades, options));
    const settled run = settle({options}, state_of(trades), {&in, 1});
    replayed_in(run);  // throws if the file is missing
    const std::vector<books::trade>& all = state_of(trades).trades;
    const std::vector<explained> plans =
        plan_all(all, in, {run, operations_named(state_->settings.instruction_set), options.cancel});
    std::optional<gpu_kernels> kernels;
    if (const auto gpu = state_->gpus->first_of(run.device))
        kernels.emplace(plans, run, *gpu, state_->gpus->tuned());
    greeks::adjoint_store shapes;
    shape_store untold;
    const sources from(run);
    const policy_search policies{
        run, operations_named(state_->settings.instruction_set), untold, options.cancel, true, from};
    pilot_of_points tries(policies.operations, run);
    std::vector<trade_plan> out;
    std::vector<std::optional<quasi::points>> points(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        out.push_back(explain_one(all[i], plans[i], state_of(in), run, shapes, policies, tries, points[i]));
    if (!kernels) return out;
    kernels->set_points(points);
    for (std::size_t i = 0; i < all.size(); ++i) {
        try {
            if (out[i].failure.empty()) out[i].kernel = kernels->text_of(i, points[i].has_value());
        } catch (const std::exception& e) {
            tell(all[i], at_trade(all[i], e), out[i]);
        }
    }
    return out;
}

}  // namespace tilewalk
