// SPDX-License-Identifier: Apache-2.0
#include "products/program/shift.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "products/program/passes/enlarging.h"
#include "products/program/row_names.h"

namespace tilewalk::program {

namespace {

// No asset's name has a space, so none can equal this name.
constexpr const char* stream_of_choice = "importance sampling";

class shifting {
  public:
    shifting(const path_program& p, const path_data& data, const timeline& when, const normal_shifts& by)
        : by_(by), out_{p, data, when}, slots_(static_cast<std::size_t>(p.normals_per_step)) {}

    whole_program make() {
        path_program& code = out_.code;
        for (std::size_t w = 0; w < by_.ways.size(); ++w) {
            takes_.push_back(add_state(out_, row_names::numbered("shifted", w), 0));
            log_ratio_.push_back(add_state(out_, row_names::numbered("log_ratio", w), 0));
        }
        for (std::size_t s = 1; s < code.sections.size(); ++s) shift_observed(s);
        draw_choice();
        shift_step();
        add_end();
        return std::move(out_);
    }

  private:
    static std::string name_of_shift(std::size_t way, std::size_t slot) {
        return row_names::numbered(row_names::numbered("shift", way), slot);
    }

    // The normals that a section reads, in order of first use.
    static std::vector<index> normals_of(const lane_section& s) {
        std::vector<index> out;
        for (const node& n : s.nodes)
            if (n.code == operation::normal && std::ranges::find(out, n.args[0]) == out.end())
                out.push_back(n.args[0]);
        return out;
    }

    // Shifts the normals that an observation reads: those of the step that ends there.
    void shift_observed(std::size_t number) {
        const std::vector<index> slots = normals_of(out_.code.sections[number]);
        if (slots.empty()) return;
        std::vector<further_column> shifts;
        for (const index slot : slots) {
            for (std::size_t w = 0; w < by_.ways.size(); ++w) {
                further_column& to = shifts.emplace_back(name_of_shift(w, slot),
                                                         std::vector<double>(out_.data.runs[number], 0.0));
                for (std::size_t step = 0; step < out_.when.steps(); ++step)
                    for (const event& e : out_.when.events_after(step))
                        if (e.section == number) to.by_run[e.row] = by_.ways[w].by_slot[slot][step];
            }
        }
        const std::size_t first = add_columns(out_, number, shifts);
        lane_section& s = out_.code.sections[number];
        const std::vector<node> before = std::exchange(s.nodes, {});
        std::vector<index> takes;
        for (const index state : takes_) takes.push_back(append(s.nodes, {operation::state, {state}, 0}));
        std::vector<index> shifted_normal(slots_, nowhere);
        for (std::size_t k = 0; k < slots.size(); ++k)
            shifted_normal[slots[k]] =
                add_shifted(s.nodes, takes, slots[k], columns_from(first + k * takes.size(), takes.size()))
                    .normal;
        put_back(s, before, shifted_normal);
    }

    static std::vector<index> columns_from(std::size_t first, std::size_t count) {
        std::vector<index> out(count);
        std::iota(out.begin(), out.end(), static_cast<index>(first));
        return out;
    }

    struct moved_normal {
        index normal;
        std::vector<index> shifts;  // by way, that is by shift
    };
    static moved_normal add_shifted(std::vector<node>& to, const std::vector<index>& takes, index slot,
                                    const std::vector<index>& columns) {
        moved_normal out{append(to, {operation::normal, {slot}, 0}), {}};
        for (std::size_t w = 0; w < takes.size(); ++w) {
            out.shifts.push_back(append(to, {operation::row, {columns[w]}, 0}));
            out.normal = append(to, {operation::fma, {takes[w], out.shifts.back(), out.normal}, 0});
        }
        return out;
    }

    static void put_back(lane_section& s, const std::vector<node>& before,
                         const std::vector<index>& shifted_normal) {
        std::vector<index> renamed(before.size());
        for (std::size_t i = 0; i < before.size(); ++i) {
            node n = before[i];
            for (index& arg : operands(n)) arg = renamed[arg];
            renamed[i] = n.code == operation::normal ? shifted_normal[n.args[0]] : append(s.nodes, n);
        }
        for (state_write& w : s.writes) w.node = renamed[w.node];
    }

    void draw_choice() {
        path_program& code = out_.code;
        path_data& data = out_.data;
        const auto slots = static_cast<std::size_t>(code.uniforms_per_step);
        choice_ = static_cast<index>(slots);
        code.uniform_streams.resize(slots, 0);  // without streams, all slots belong to the first stream
        const index streams = slots == 0 ? 0 : *std::ranges::max_element(code.uniform_streams) + 1;
        code.uniform_streams.push_back(streams);
        data.uniform_names.resize(streams);
        data.uniform_names.emplace_back(stream_of_choice);
        ++code.uniforms_per_step;
    }

    void shift_step() {
        const std::size_t steps = out_.when.steps(), ways = by_.ways.size();
        std::vector<further_column> columns;
        columns.emplace_back("is_first", std::vector<double>(steps, 0.0)).by_run.front() = 1;
        for (std::size_t w = 0; w < ways; ++w) {
            further_column& squares = columns.emplace_back(row_names::numbered("shift_squares", w),
                                                           std::vector<double>(steps, 0.0));
            for (const std::vector<double>& by_step : by_.ways[w].by_slot)
                for (std::size_t s = 0; s < steps; ++s) squares.by_run[s] -= 0.5 * by_step[s] * by_step[s];
        }
        for (std::size_t slot = 0; slot < slots_; ++slot)
            for (std::size_t w = 0; w < ways; ++w)
                columns.emplace_back(name_of_shift(w, slot), by_.ways[w].by_slot[slot]);
        const std::size_t first = add_columns(out_, 0, columns);
        // A uniform number chooses the shift: the interval of cumulative shares that it falls into.
        std::vector<index> ends;
        double end = by_.unshifted;
        for (std::size_t w = 0; w < ways; ++w) {
            ends.push_back(add_term(out_, row_names::numbered("shares_before", w), end));
            end += (1 - by_.unshifted) * by_.ways[w].share;
        }

        lane_section& s = out_.code.sections[0];
        const std::vector<node> before = std::exchange(s.nodes, {});
        const auto add = [&](operation code, std::array<index, 3> args = {}, double number = 0) {
            return append(s.nodes, {code, args, number});
        };
        const index one = add(operation::constant, {}, 1), zero = add(operation::constant, {}, 0);
        const index is_first = add(operation::row, {static_cast<index>(first)});
        const index number = add(operation::uniform, {choice_});
        std::vector<index> takes, ratios;
        for (std::size_t w = 0; w < ways; ++w) {
            const auto is_beyond = [&](std::size_t place) {
                const index share = add(operation::term, {ends[place]});
                return add(operation::select, {add(operation::less, {share, number}), one, zero});
            };
            index drawn = is_beyond(w);
            if (w + 1 < ways) drawn = add(operation::sub, {drawn, is_beyond(w + 1)});
            // The state starts at 0 and keeps the choice that the first step drew.
            takes.push_back(add(operation::fma, {is_first, drawn, add(operation::state, {takes_[w]})}));
            ratios.push_back(add(operation::add, {add(operation::state, {log_ratio_[w]}),
                                                  add(operation::row, {static_cast<index>(first + 1 + w)})}));
        }
        std::vector<index> shifted_normal;
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            const auto made = add_shifted(s.nodes, takes, static_cast<index>(slot),
                                          columns_from(first + 1 + ways * (slot + 1), ways));
            shifted_normal.push_back(made.normal);
            for (std::size_t w = 0; w < ways; ++w)
                ratios[w] = add(operation::fma, {made.shifts[w], made.normal, ratios[w]});
        }
        put_back(s, before, shifted_normal);
        for (std::size_t w = 0; w < ways; ++w) {
            s.writes.push_back({takes_[w], takes[w]});
            s.writes.push_back({log_ratio_[w], ratios[w]});
        }
    }

    void add_end() {
        path_program& code = out_.code;
        lane_section& end = code.sections.emplace_back();
        end.name = "importance";
        const auto add = [&](operation what, std::array<index, 3> args, double number = 0) {
            return append(end.nodes, {what, args, number});
        };
        index density = add(operation::term, {add_term(out_, "unshifted", by_.unshifted)});
        for (std::size_t w = 0; w < by_.ways.size(); ++w) {
            const index share = add(operation::term, {add_term(out_, row_names::numbered("share", w),
                                                               (1 - by_.unshifted) * by_.ways[w].share)});
            const index ratio = add(operation::exp, {add(operation::state, {log_ratio_[w]})});
            density = add(operation::fma, {share, ratio, density});
        }
        const index centre = add(operation::term, {add_term(out_, "centre", by_.centre)});
        for (const index output : code.outputs) {
            if (std::ranges::find(end.writes, output, &state_write::state) != end.writes.end()) continue;
            const index beyond = add(operation::sub, {add(operation::state, {output}), centre});
            const index weighted = add(operation::div, {beyond, density});
            end.writes.push_back({output, add(operation::add, {centre, weighted})});
        }
        out_.data.rows.emplace_back();
        out_.data.runs.push_back(1);
        out_.data.widths.push_back(0);
        timeline when;
        for (std::size_t step = 0; step < out_.when.steps(); ++step) {
            for (const event& e : out_.when.events_after(step)) when.add(e);
            if (step + 1 == out_.when.steps()) when.add({static_cast<index>(code.sections.size() - 1), 0});
            when.times.push_back(out_.when.times[step + 1]);
            when.close_step();
        }
        out_.when = std::move(when);
    }

    const normal_shifts& by_;
    whole_program out_;
    const std::size_t slots_;               // number of normals per step
    std::vector<index> takes_, log_ratio_;  // states, by way
    index choice_ = 0;                      // slot of the uniform number that chooses the shift
};

}  // namespace

whole_program shifted(const path_program& p, const path_data& data, const timeline& when,
                      const normal_shifts& by) {
    return shifting(p, data, when, by).make();
}

}  // namespace tilewalk::program
