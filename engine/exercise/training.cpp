// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/training.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine/cpu/tile_pool.h"
#include "engine/exercise/backward.h"
#include "engine/exercise/deciders.h"
#include "kernels/tile.h"

namespace tilewalk::exercise {

namespace {

// The numbers that paths leave take no more; a trade of very many dates is trained on fewer paths.
constexpr std::size_t most_bytes_left = std::size_t{1} << 29;

std::size_t paths_that_fit(std::size_t rows, std::uint64_t asked) {
    const std::size_t fit = most_bytes_left / sizeof(double) / std::max<std::size_t>(rows, 1);
    if (fit < kernels::paths_per_tile && fit < asked) {
        throw error(error_kind::input,
                    "the decision to end the trade takes " + std::to_string(rows) +
                        " numbers of each path, expected at most " +
                        std::to_string(most_bytes_left / sizeof(double) / kernels::paths_per_tile) +
                        "; take fewer dates");
    }
    return std::min<std::size_t>(asked, fit);
}

// Lays out the rows that paths leave.
void lay_out(untrained& to, const leaving& by) {
    const program::path_program& code = to.made.code;
    to.leaves.resize(code.sections.size());
    const auto state = [&](std::uint32_t source) {
        const auto at = std::ranges::find(code.state_sources, source);
        if (at == code.state_sources.end())
            throw error(error_kind::internal, "a state that a right depends on is not there");
        return static_cast<std::uint32_t>(at - code.state_sources.begin());
    };
    for (const leaving::left_by_right& r : by.rights()) {
        auto& states = to.leaves[to.made.section_of_block[r.block]].states;
        for (const std::uint32_t s : {r.gives, r.offered, r.unit, r.alive, by.value_state()})
            states.push_back(state(s));
        for (const std::uint32_t s : to.by.features) states.push_back(state(s));
        for (const std::uint32_t s : r.moved) states.push_back(state(s));
    }
    auto& last = to.leaves.back().states;
    last.push_back(state(by.end_value()));
    for (const std::uint32_t s : by.moved_at_end()) last.push_back(state(s));
    for (std::size_t k = 0; k < to.leaves.size(); ++k) {
        to.leaves[k].first_row = to.rows;
        if (!to.leaves[k].states.empty()) to.rows += to.leaves[k].states.size() * to.made.data.runs[k];
    }
    to.end_row = to.leaves.back().first_row;
}

void add_dates(untrained& to, const leaving& by) {
    const plan::trade_program& made = to.made;
    std::size_t before = 0;
    for (std::size_t step = 0; step < made.when.steps(); ++step) {
        for (const program::event& e : made.when.events_after(step)) {
            for (const leaving::left_by_right& r : by.rights()) {
                if (made.section_of_block[r.block] != e.section) continue;
                const auto& of = to.leaves[e.section];
                untrained::date& d =
                    to.dates.emplace_back(untrained::date{step, of.first_row + e.row * of.states.size(), {}});
                d.found.block = r.block;
                d.found.run = e.row;
                d.found.of = r.of;
                d.found.root = step + 1 > before ? 1 / std::sqrt(static_cast<double>(step + 1 - before)) : 0;
                before = step + 1;
            }
        }
    }
    const std::size_t after = made.when.steps() - before;
    to.by.last_root = after > 0 ? 1 / std::sqrt(static_cast<double>(after)) : 0;
}

// The numbers that paths have left.
class left_arrays {
  public:
    left_arrays(const untrained& of, const training& how) : of_(of), numbers_(of.rows * of.paths) {
        const cpu::left_numbers leaves{of.leaves, numbers_.data(), of.paths};
        const cpu::lane_program compiled = cpu::compile(of.made.code);
        cpu::path_job job{&compiled, &of.made.data, &of.made.when, how.seed, of.paths};
        job.scenarios = how.scenarios;
        job.leaves = &leaves;
        cpu::walk_all({&job, 1}, *how.operations, how.threads, how.cancel, {});
    }

    std::span<const double> row(std::size_t number) const {
        return std::span(numbers_).subspan(number * of_.paths, of_.paths);
    }
    date_left on(const untrained::date& d) const {
        const auto at = [&](std::size_t number) { return row(d.first_row + number).data(); };
        date_left out{
            at(0), at(1), at(2), at(3), at(4), {}, {sums(d.first_row + of_.row_of_sums()), d.found.root}};
        for (std::size_t f = 0; f < of_.by.features.size(); ++f)
            out.features.push_back(at(of_.row_of_features() + f));
        return out;
    }
    interval_left last() const { return {sums(of_.end_row + 1), of_.by.last_root}; }

  private:
    std::vector<const double*> sums(std::size_t first) const {
        std::vector<const double*> out;
        for (std::size_t n = 0; of_.by.has_bound() && n < of_.by.normals.size(); ++n)
            out.push_back(row(first + n).data());
        return out;
    }

    const untrained& of_;
    std::vector<double> numbers_;
};

// A policy before its paths: what it will decide by. None where no right is left; without features where
// nothing moves.
struct begun {
    policy by;
    std::vector<std::string> known;  // names of the features
    bool is_certain = false;
};

std::optional<begun> begin(const books::trade& t, const markets::market_view& in, const plan::poll& often) {
    leaving plainly;
    const plan::trade_program plain =
        plan::plan_trade(t, in, program::precision::double_, {}, often, &plainly);
    begun out;
    policy& by = out.by;
    if (plainly.today()) {
        by.today = plainly.today()->second;
        (plainly.today()->first == language::party::holder ? by.has_holder : by.has_issuer) = true;
    }
    if (plain.is_certain()) {
        if (!by.today) return std::nullopt;
        decide_today(by, plain.data.initial_states[plain.code.outputs[0]]);
        out.is_certain = true;
        return out;
    }
    if (plainly.rights().empty() && !by.today) return std::nullopt;
    for (const leaving::left_by_right& r : plainly.rights())
        (r.of == language::party::holder ? by.has_holder : by.has_issuer) = true;
    for (std::size_t s = 0; s < plain.code.states.size(); ++s) {
        const std::uint32_t source = plain.code.state_sources[s];
        if (source == plainly.value_state() || source >= plainly.first_state()) continue;
        if (plain.code.states[s] == "alive") continue;  // as is every path on which something is decided
        by.features.push_back(source);
        out.known.push_back(plain.code.states[s]);
    }
    if (by.features.size() > most_features) {
        throw error(error_kind::input,
                    "the decision to end the trade depends on " + std::to_string(by.features.size()) +
                        " numbers of the path, expected at most " + std::to_string(most_features));
    }
    std::set<std::uint32_t> normals;
    for (const program::node& n : plain.code.sections[0].nodes)
        if (n.code == program::operation::normal) normals.insert(n.args[0]);
    by.normals.assign(normals.begin(), normals.end());
    by.functions = basis(by.features.size());
    return out;
}

}  // namespace

std::optional<outline> outline_of(const books::trade& t, const markets::market_view& in,
                                  const plan::poll& often) {
    std::optional<begun> of = begin(t, in, often);
    if (!of || of->is_certain) return std::nullopt;
    outline out{std::move(of->known), of->by.functions.functions(), of->by.functions.degree(), 0};
    if (of->by.has_bound()) out.moves = interval_moves(of->by.normals.size()).size();
    return out;
}

std::optional<untrained> untrained_of(const books::trade& t, const markets::market_view& in,
                                      std::uint64_t paths, const plan::poll& often) {
    std::optional<begun> of = begin(t, in, often);
    if (!of) return std::nullopt;
    untrained out;
    out.by = std::move(of->by);
    out.is_certain = of->is_certain;
    if (out.is_certain) return out;
    leaving recorded(out.by.has_bound() ? out.by.normals : std::vector<std::uint32_t>());
    out.made = plan::plan_trade(t, in, program::precision::double_, {}, often, &recorded);
    lay_out(out, recorded);
    add_dates(out, recorded);
    out.paths = paths_that_fit(out.rows, paths);
    return out;
}

policy trained(untrained of, const training& by) {
    if (of.is_certain) return std::move(of.by);
    policy& out = of.by;
    const left_arrays left(of, by);
    out.paths = of.paths;
    backward sweep(out, left.row(of.end_row), left.last(), by.threads, by.cancel);
    for (std::size_t k = of.dates.size(); k-- > 0;) {
        if (by.often) by.often();
        sweep.decide(of.dates[k].found, left.on(of.dates[k]));
    }
    sweep.end();
    for (untrained::date& d : of.dates) out.dates.push_back(std::move(d.found));
    return std::move(of.by);
}

plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often) {
    following decides(by);
    return plan::plan_trade(t, in, to, {}, often, &decides);
}

plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often) {
    bounding decides(by);
    const plan::amendment takes_bound = [&](program::recorder::recorded& r, const std::vector<double>&) {
        r.code.outputs = {decides.bound()};
    };
    return plan::plan_trade(t, in, to, takes_bound, often, &decides);
}

}  // namespace tilewalk::exercise
