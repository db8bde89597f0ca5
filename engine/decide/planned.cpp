// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/planned.h"

#include <tuple>
#include <utility>

#include "engine/base/wording.h"
#include "products/program/integrate.h"
#include "products/program/mirror.h"
#include "products/program/shift.h"

namespace tilewalk::studies {

program::path_data planned::as_walked(const program::path_data& numbers, double control_mean) const {
    program::whole_program made{*as_recorded().code, numbers, as_recorded().when};
    if (is_integrated) {
        auto integrated = program::integrated(made.code, made.data, made.when);
        if (!integrated)
            throw error(error_kind::input,
                        "found a moved market in which the jumps of the trade can't be integrated, as they "
                        "are in the base market");
        made = *std::move(integrated);
    }
    if (shifts) {
        program::normal_shifts by = shifts->by.normals;
        by.centre += control_mean;
        made = program::shifted(made.code, made.data, made.when, by);
    }
    if (is_in_pairs) made = program::mirror(made.code, made.data, made.when);
    const auto sizes = [](const program::path_data& of) {
        return std::tuple(of.terms.size(), of.widths, of.initial_states.size());
    };
    if (sizes(made.data) != sizes(ready->data))
        throw error(
            error_kind::input,
            "found a moved market in which other jumps of the trade are integrated than in the base market");
    return std::move(made.data);
}

std::shared_ptr<const program::path_program> shape_store::one_of(program::path_program code) {
    std::string key = program::shape_of(code);
    {
        const std::shared_lock guard(lock_);
        if (const auto known = by_shape_.find(key); known != by_shape_.end()) return known->second;
    }
    const std::unique_lock guard(lock_);
    auto& entry = by_shape_[std::move(key)];
    if (!entry) {
        entry = std::make_shared<const program::path_program>(std::move(code));
        all_.insert(entry.get());
    }
    return entry;
}

bool shape_store::has(const program::path_program& code) const {
    const std::shared_lock guard(lock_);
    return all_.contains(&code);
}

std::size_t shape_store::size() const {
    const std::shared_lock guard(lock_);
    return by_shape_.size();
}

void shape_store::drop_unused(const std::function<void(const program::path_program&)>& tell) {
    const std::unique_lock guard(lock_);
    std::erase_if(by_shape_, [&](const auto& entry) {
        if (entry.second.use_count() > 1) return false;
        tell(*entry.second);
        all_.erase(entry.second.get());
        return true;
    });
}

void missing_pairs::add(const std::vector<correlation_taken>& taken) {
    if (taken.empty()) return;
    const std::lock_guard guard(lock_);
    for (const correlation_taken& c : taken) pairs_.insert({c.first, c.second});
}

ready_trade::ready_trade(plan::trade_program made, shape_store& shapes)
    : currency(std::move(made.currency)),
      remarks(std::move(made.remarks)),
      data(std::move(made.data)),
      when(std::move(made.when)),
      idle(std::move(made.idle)),
      checked(std::move(made.checked)),
      missing_correlations(std::move(made.missing_correlations)),
      error_steps(made.error_steps),
      certain(when.steps() == 0) {
    if (certain) certain_value = data.initial_states[made.code.outputs[0]];
    code = shapes.one_of(std::move(made.code));
}

ready_trade::ready_trade(const ready_trade& of,
                         const std::shared_ptr<const program::tangent_program>& tangents,
                         const std::vector<program::path_data>& moves, const program::smoothing& widths)
    : ready_trade(of) {
    data = program::data_of_tangents(*tangents, *of.code, of.data, moves, widths);
    code = {tangents, &tangents->code};
}

namespace {

void check_scenario_paths(const program::path_data& data, const markets::market_state& in,
                          const settled& run) {
    const std::uint64_t paths = run.paths;
    for (const program::scenario_rows& s : data.scenarios) {
        const markets::scenario_array& a = in.scenarios[s.array];
        if (a.cube.paths >= paths) continue;
        throw error(error_kind::input,
                    "found " + std::to_string(a.cube.paths) + " paths in the scenarios of '" + a.name +
                        "', expected at least the " + std::to_string(paths) + " of the run; take " +
                        (run.unit_paths > 0 ? "fewer paths, which are rounded up for randomisations, or "
                                              "--random philox"
                                            : "--paths " + std::to_string(a.cube.paths) + " or fewer"),
                    a.where);
    }
}

void demand_correlations(const std::vector<correlation_taken>& missing) {
    if (missing.empty()) return;
    std::vector<factor_pair> pairs;
    for (const correlation_taken& c : missing) pairs.push_back({c.first, c.second});
    throw error(error_kind::input,
                "the market states no correlation of " + config::pairs_text(pairs) +
                    ", which the trade depends on; expected it under correlations, where [" +
                    pairs.front().first + ", " + pairs.front().second + ", 0] means none");
}

}  // namespace

error at_trade(const books::trade& t, const std::exception& any) {
    const auto* known = dynamic_cast<const error*>(&any);
    if (known == nullptr) return error(error_kind::internal, any.what(), t.where);
    const error& e = *known;
    if (!e.where().file.empty() && e.where().line > 0) return e;
    // A file other than the trade's is named in front of the message.
    const bool is_told = e.where().file.empty() || e.where().file == t.where.file;
    const std::string message = is_told ? e.message() : e.where().file + ": " + e.message();
    location where = t.where;
    if (const auto* unknown = dynamic_cast<const markets::unknown_in_market*>(&any)) {
        const auto said = std::ranges::find(t.names, unknown->name, &books::placed_name::name);
        if (said != t.names.end()) where = {t.where.file, said->line, said->column};
    }
    return error(e.kind(), message, where, e.key_path());
}

trade_problem problem_of(const books::trade& t, const error& e) {
    return {t.id, e.key_path().empty() ? e.message() : e.key_path() + ": " + e.message(),
            e.where().file.empty() ? t.where : e.where()};
}

void throw_if_cancelled(const std::exception& any) {
    const auto* known = dynamic_cast<const error*>(&any);
    if (known != nullptr && known->kind() == error_kind::cancelled) throw *known;
}

plan::poll poll_of(const std::atomic<bool>* cancel) {
    if (cancel == nullptr) return {};
    return [cancel] {
        if (cancel->load(std::memory_order_relaxed))
            throw error(error_kind::cancelled, "the run was stopped");
    };
}

void check_for_run(const program::path_data& data, const std::vector<correlation_taken>& missing,
                   const markets::market_state& in, const settled& run) {
    check_scenario_paths(data, in, run);
    if (run.demands_correlations || in.has_all_correlations) demand_correlations(missing);
}

bool has_shocks_for(planned& p, const arrays::shock_file& file, std::uint64_t paths) {
    try {
        const program::path_program& code = *p.ready->code;
        file.check({p.ready->when.steps(), static_cast<std::uint64_t>(code.normals_per_step),
                    static_cast<std::uint64_t>(code.uniforms_per_step), paths});
        return true;
    } catch (const error& e) {
        p.failure = e;
        return false;
    }
}

planned plan_one(const books::trade& t, const markets::market_state& in, const settled& run,
                 shape_store& shapes, missing_pairs& missing, const std::atomic<bool>* cancel,
                 const planner& by, std::uint32_t first_scenario) {
    planned p;
    if (t.failure) {
        p.failure = t.failure;
        return p;
    }
    try {
        plan::trade_program made = by(t, in, run.how.precision, poll_of(cancel));
        check_for_run(made.data, made.missing_correlations, in, run);
        for (program::scenario_rows& s : made.data.scenarios) s.array += first_scenario;
        p.ready = std::make_shared<const ready_trade>(std::move(made), shapes);
        missing.add(p.ready->missing_correlations);
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        p.failure = at_trade(t, e);
        p.remarks = plan::remarks_on_terms(t, in);
    }
    return p;
}

planned planned_again(const books::trade& t, const std::shared_ptr<const ready_trade>& ready,
                      const markets::market_state& in, const settled& run, missing_pairs& missing) {
    planned p;
    try {
        check_for_run(ready->data, ready->missing_correlations, in, run);
        p.ready = ready;
        missing.add(ready->missing_correlations);
    } catch (const error& e) {
        p.failure = at_trade(t, e);
        p.remarks = plan::remarks_on_terms(t, in);
    }
    return p;
}

planner usual_planner() {
    return [known = std::make_shared<plan::passed_programs>()](
               const books::trade& t, const markets::market_state& in, program::precision p,
               const plan::poll& often) {
        return plan::plan_trade(t, in, p, {}, often, nullptr, nullptr, known.get());
    };
}

}  // namespace tilewalk::studies
