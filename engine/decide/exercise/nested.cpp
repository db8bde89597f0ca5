// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/nested.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "engine/base/crew.h"
#include "engine/decide/exercise/deciders.h"
#include "engine/decide/exercise/policy_at_hand.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/kept/fingerprints_of_jobs.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::exercise {

namespace {

using language::right_at_hand;
using program::recorder;
using program::value;

// Follows a policy on inner paths. Outer paths use no right, and leave what its use would pay.
class nesting : public language::decider {
  public:
    using states = nested_program::places;  // of the program as recorded, before passes

    explicit nesting(const policy& by) : has_holder_(by.has_holder), follows_(by) {}

    void begins() override {
        states_.reset();
        blocks_.clear();
        follows_.begins();
    }

    value uses(const right_at_hand& right, recorder& into) override {
        const states& to = open(into);
        blocks_.push_back(right.block);
        const auto truth = [&](value v) { return select(v, into.constant(1), into.constant(0)); };
        const value would = right.offered && follows_.uses(right, into);
        const value does = would && 0.5 < into.read(to.is_inner);
        into.write(to.worth, select(right.offered, into.read(right.value_state) + right.gives,
                                    into.constant(has_holder_ ? -never : never)));
        into.write(to.uses, truth(would));
        into.write(to.goes_on, truth(right.alive && !does));
        return does;
    }

    std::vector<double> looks_ahead(const right_at_hand& right, std::size_t before,
                                    std::vector<double> in_the_market) override {
        return follows_.looks_ahead(right, before, std::move(in_the_market));
    }
    bool uses_today(const language::right_today&) override { return false; }
    bool has_end() const override { return true; }
    void ends_path(std::uint32_t value_state, recorder& into) override {
        into.write(open(into).value_at_end, into.read(value_state));
    }

    const states& at() const { return *states_; }
    const std::vector<std::size_t>& blocks() const { return blocks_; }  // blocks with a right

  private:
    // Makes the states. They are outputs, so that passes keep them.
    const states& open(recorder& into) {
        if (states_) return *states_;
        states_ = {into.state("is inner", 0), into.state("goes on", 1), into.state("worth if used", 0),
                   into.state("policy uses", 0), into.state("value at the end", 0)};
        for (const std::uint32_t s :
             {states_->is_inner, states_->goes_on, states_->worth, states_->uses, states_->value_at_end})
            into.output(s);
        return *states_;
    }

    bool has_holder_;
    following follows_;
    std::optional<states> states_;
    std::vector<std::size_t> blocks_;
};

// Memory limit for the states of outer paths. A trade of very many dates has fewer outer paths.
constexpr std::size_t most_bytes_of_states = std::size_t{1} << 29;
constexpr std::uint64_t least_outer_paths = 64, most_outer_paths = 2048;

// Layout of what outer paths leave: a row for every state after each decision, and for the value at the end.
struct left_rows {
    std::vector<cpu::left_numbers::of_section> sections;
    std::size_t count = 0;

    explicit left_rows(const nested_program& of) : sections(of.made.code.sections.size()) {
        std::vector<std::uint32_t> all;
        for (std::uint32_t s = 0; s < of.made.code.states.size(); ++s) all.push_back(s);
        for (const nested_program::decision& d : of.decisions) sections[d.section].states = all;
        sections.back().states = {of.at.value_at_end};
        for (std::size_t s = 0; s < sections.size(); ++s) {
            sections[s].first_row = count;
            count += sections[s].states.size() * of.made.data.runs[s];
        }
    }
    std::size_t first_of(const nested_program::decision& d) const {
        return sections[d.section].first_row + d.run * sections[d.section].states.size();
    }
    std::size_t at_the_end() const { return sections.back().first_row; }
};

std::uint64_t paths_that_fit(const left_rows& rows) {
    return most_bytes_of_states / sizeof(double) / rows.count;
}

// The states that outer paths left, and the means of the inner paths that started from them.
class nested_paths {
  public:
    nested_paths(const nested_program& of, const nested_walk& by)
        : of_(of),
          by_(by),
          code_(cpu::compile(of.made.code)),
          rows_(of),
          outer_(std::min(by.outer_paths, paths_that_fit(rows_))),
          left_(rows_.count * outer_),
          means_((of.decisions.size() + 1) * outer_) {
        walk_outer();
        walk_inner();
    }

    std::vector<double> bounds() const {
        std::vector<double> out(outer_);
        for (std::uint64_t path = 0; path < outer_; ++path) out[path] = bound_on(path);
        return out;
    }

  private:
    std::span<double> row(std::size_t number) { return std::span(left_).subspan(number * outer_, outer_); }
    double left(std::size_t row, std::uint64_t path) const { return left_[row * outer_ + path]; }
    // Returns the policy's value on an outer path if decision `set` - 1 uses no right; set 0 is today.
    double mean(std::size_t set, std::uint64_t path) const { return means_[set * outer_ + path]; }

    void walk_outer() {
        const cpu::left_numbers leaves{rows_.sections, left_.data(), outer_};
        cpu::path_job job{&code_, &of_.made.data, &of_.made.when, by_.seed, outer_};
        job.leaves = &leaves;
        cpu::walk_all({&job, 1}, *by_.operations, by_.threads, by_.cancel, {});
    }

    void walk_inner() {
        program::path_data today = of_.made.data;
        today.initial_states[of_.at.is_inner] = 1;
        std::vector<cpu::way_begun> begun;
        for (const nested_program::decision& d : of_.decisions) {
            const std::size_t first = rows_.first_of(d);
            std::ranges::fill(row(first + of_.at.is_inner), 1.0);
            begun.push_back({d.step, d.events, row(first).data(), outer_});
        }
        std::vector<cpu::path_job> sets;
        std::vector<std::uint64_t> steps;  // steps of an inner path, by set
        for (std::size_t set = 0; set <= of_.decisions.size(); ++set) {
            cpu::path_job& job = sets.emplace_back(cpu::path_job{
                &code_, &today, &of_.made.when, by_.seed + 1 + set, outer_ * kernels::paths_per_tile});
            if (set > 0) job.begun = &begun[set - 1];
            job.goes_on = of_.at.goes_on;
            job.check();
            steps.push_back(of_.made.when.steps() - (set > 0 ? of_.decisions[set - 1].step + 1 : 0));
        }
        std::vector<cpu::lane_machine> machines;
        for (int t = 0; t < by_.threads; ++t) machines.emplace_back(*by_.operations);
        std::atomic<std::uint64_t> done{outer_ * of_.made.when.steps()};
        const auto walk = [&](int thread, std::uint64_t i) {
            const std::size_t set = i / outer_;
            std::vector<cpu::tile_result> found(code_.results());
            machines[static_cast<std::size_t>(thread)].walk(sets[set], i % outer_, found, by_.cancel);
            means_[i] =
                found[0].not_finite > 0 ? std::numeric_limits<double>::quiet_NaN() : found[0].moments.mean;
            done += kernels::paths_per_tile * steps[set];
        };
        const auto tell = [&] { by_.on_progress(done); };
        threads::for_each(means_.size(), by_.threads, by_.cancel, walk,
                          by_.on_progress ? tell : std::function<void()>());
    }

    double bound_on(std::uint64_t path) const {
        const auto better = [&](double a, double b) {
            return of_.has_holder ? std::max(a, b) : std::min(a, b);
        };
        double martingale = 0, best = of_.today.value_or(of_.has_holder ? -never : never);
        double before = mean(0, path);
        bool is_finite = std::isfinite(before);
        for (std::size_t k = 0; k < of_.decisions.size(); ++k) {
            const std::size_t first = rows_.first_of(of_.decisions[k]);
            const double worth = left(first + of_.at.worth, path);
            const double to_come = mean(k + 1, path);
            // The inner mean serves as continuation value and as expectation of the next move.
            martingale += (left(first + of_.at.uses, path) != 0 ? worth : to_come) - before;
            best = better(best, worth - martingale);
            before = to_come;
            is_finite = is_finite && std::isfinite(to_come) && std::isfinite(worth);
        }
        const double end = left(rows_.at_the_end(), path);
        martingale += end - before;
        best = better(best, end - martingale);
        return is_finite && std::isfinite(end) ? best : std::numeric_limits<double>::quiet_NaN();
    }

    const nested_program& of_;
    const nested_walk& by_;
    const cpu::lane_program code_;
    const left_rows rows_;
    const std::uint64_t outer_;
    std::vector<double> left_;   // [row of left_rows][outer path]
    std::vector<double> means_;  // [decision + 1, or 0 for today][outer path]
};

}  // namespace

// Returns fewer outer paths for shorter runs, in proportion to their work. The standard deviation of a path's
// bound is a few hundredths of the price, so 2,048 paths leave an error of a thousandth. The noise of inner
// means raises the bound by about one over their number. With 2,048 outer paths of 1,024 inner ones, calls of
// Andersen and Broadie are bounded by 13.93 +- 0.012 on the larger of two assets (paper: 13.902), and by
// 26.21 +- 0.015 on the largest of five (26.115 .. 26.211).
std::uint64_t outer_paths_for(std::uint64_t paths) {
    return std::min(paths, std::clamp(paths / 64, least_outer_paths, most_outer_paths));
}

std::uint64_t nested_program::path_steps(std::uint64_t outer_paths) const {
    const std::uint64_t steps = made.when.steps();
    std::uint64_t inner = steps;
    for (const decision& d : decisions) inner += steps - (d.step + 1);
    return outer_paths * (steps + kernels::paths_per_tile * inner);
}

std::string why_not_nested(const policy& by) {
    if (by.uses > 0) return "the right may be used several times";
    if (!by.is_plain()) return "rights have notice";
    if (by.has_holder == by.has_issuer) return "both sides have rights";
    return {};
}

std::string why_not_nested(const nested_program& of) {
    if (!of.made.data.scenarios.empty())
        return "it takes scenarios of the market, which have no paths inside of paths";
    const left_rows rows(of);
    if (paths_that_fit(rows) >= least_outer_paths) return {};
    return "it would keep " + std::to_string(rows.count) + " numbers of each outer path, at most " +
           std::to_string(most_bytes_of_states / sizeof(double) / least_outer_paths) + " have room";
}

nested_program nested_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                           const plan::poll& often) {
    nesting decides(by);
    nested_program out;
    out.made = plan::plan_trade(t, in, program::precision::double_, {}, often, &decides);
    program::path_program& code = out.made.code;
    const auto place = [&](std::uint32_t source) {
        const auto at = std::ranges::find(code.state_sources, source);
        if (at == code.state_sources.end())
            throw error(error_kind::internal, "a state that a nested bound takes is not there");
        return static_cast<std::uint32_t>(at - code.state_sources.begin());
    };
    const nesting::states& at = decides.at();
    out.at = {place(at.is_inner), place(at.goes_on), place(at.worth), place(at.uses), place(at.value_at_end)};
    code.outputs.resize(1);  // only the value is an output now; the states stay
    out.has_holder = by.has_holder;
    out.today = by.today;
    for (std::size_t step = 0; step < out.made.when.steps(); ++step) {
        std::size_t events = 0;
        for (const program::event& e : out.made.when.events_after(step)) {
            ++events;
            const bool is_right = std::ranges::any_of(
                decides.blocks(), [&](std::size_t b) { return out.made.section_of_block[b] == e.section; });
            if (is_right) out.decisions.push_back({e.section, e.row, step, events});
        }
    }
    return out;
}

kept::key fingerprint_of(const nested_program& of, const nested_walk& by) {
    const auto& [made, places, decisions, has_holder, today] = of;
    kept::fingerprint out;
    out.add("nested bound");
    out.add(program::shape_of(made.code));
    kept::add(out, made.data);
    kept::add(out, made.when);
    const auto& [is_inner, goes_on, worth, uses, value_at_end] = places;
    for (const std::uint64_t n : {is_inner, goes_on, worth, uses, value_at_end}) out.add(n);
    for (const auto& [section, run, step, events] : decisions)
        for (const std::uint64_t n : {section, run, step, events}) out.add(n);
    out.add(std::uint64_t{has_holder});
    out.add(std::uint64_t{today.has_value()});
    if (today) out.add(std::span(&*today, 1));
    out.add(by.seed);
    out.add(by.outer_paths);
    return out.found();
}

run::tally nested_bound(const nested_program& of, const nested_walk& by) {
    const std::vector<double> bounds = nested_paths(of, by).bounds();
    const std::uint64_t tiles = kernels::tiles_of(bounds.size());
    run::tally out(tiles);
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        const std::uint64_t first = tile * kernels::paths_per_tile;
        const auto count = static_cast<std::size_t>(kernels::paths_in_tile(bounds.size(), tile));
        out.add({tile, 1}, cpu::result_of_tile(std::span(bounds).subspan(first, count), first));
    }
    return out;
}

}  // namespace tilewalk::exercise
