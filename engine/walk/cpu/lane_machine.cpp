// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cpu/lane_machine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "kernels/operations.h"
#include "kernels/tile.h"
#include "products/program/quarters.h"
#include "tilewalk/error.h"

namespace tilewalk::cpu {

static_assert(lanes == kernels::lanes_per_tile);

namespace {

void check_cube(const arrays::shock_cube& c, const std::string& kind, std::uint64_t slots, std::size_t steps,
                std::uint64_t paths) {
    if (!c.is_there()) return;
    if (c.steps >= steps && c.slots >= slots && c.paths >= paths) return;
    const auto of = [](std::uint64_t s, std::uint64_t n, std::uint64_t p) {
        return std::to_string(s) + " steps of " + std::to_string(n) + " on " + std::to_string(p) + " paths";
    };
    throw error(error_kind::input, "the trade takes " + of(steps, slots, paths) + " from the array of " +
                                       kind + ", which has " + of(c.steps, c.slots, c.paths));
}

void check_scenarios(const path_job& job) {
    for (const program::scenario_rows& s : job.data->scenarios) {
        if (s.array >= job.scenarios.size()) {
            throw error(error_kind::internal, "the trade takes scenarios that the run does not have");
        }
        const arrays::shock_cube& from = job.scenarios[s.array];
        const std::uint64_t rows = s.rows.empty() ? 0 : *std::max_element(s.rows.begin(), s.rows.end()) + 1;
        if (from.steps >= rows && from.paths >= job.paths) continue;
        throw error(error_kind::input, "the trade takes " + std::to_string(rows) + " rows on " +
                                           std::to_string(job.paths) +
                                           " paths from an array of scenarios, which has " +
                                           std::to_string(from.steps) + " on " + std::to_string(from.paths));
    }
}

// Lanes beyond the run's last path keep their old numbers, which count in no sum.
template <class shock, class real>
void read_row(const arrays::shock_cube& from, std::uint64_t step, std::uint64_t slot,
              std::uint64_t first_path, std::uint64_t paths, real* to) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(lanes, paths - first_path));
    std::visit(
        [&](const auto* first) {
            const auto* row = first + step * from.step_stride + slot * from.slot_stride + first_path;
            for (std::size_t lane = 0; lane < count; ++lane)
                to[lane] = static_cast<real>(static_cast<shock>(row[lane]));
        },
        from.first);
}

}  // namespace

kernels::word64 path_job::tiles_of_part() const {
    return part_tiles > 0 ? part_tiles : run::part_tiles_of(tiles());
}

std::uint64_t path_job::tiles() const {
    return kernels::tiles_of(paths);
}

run::tile_range path_job::walked_tiles() const {
    return run::asked_or_all(range, tiles());
}

void path_job::check() const {
    if (walked_tiles().end() > tiles()) throw error(error_kind::internal, "the run has no such tiles");
    if (program::is_fast(precision)) {
        throw error(error_kind::usage,
                    "precision single_fast takes the approximate functions of a GPU and needs one; precision "
                    "single takes exact functions on the CPU");
    }
    check_cube(normals, "normals", code->normals.size(), when->steps(), paths);
    check_cube(uniforms, "uniforms", code->uniforms.size(), when->steps(), paths);
    check_scenarios(*this);
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::begin(const path_job& job, const arrays::shock_cube& from,
                                                 std::span<const program::place_in_stream> slots,
                                                 std::span<const program::stream_name> names,
                                                 std::uint64_t first_path) {
    from_ = from.is_there() ? &from : nullptr;
    seed_ = job.seed;
    first_path_ = first_path;
    paths_ = job.paths;
    places_ = slots;
    slot_.resize(slots.size());
    takes_points_ = takes_any_ = false;
    if (from_ == nullptr) {
        add_streams(names);
        if (job.points.order != nullptr && !slots.empty()) begin_points(job);
    } else if (arrays_.size() < slots.size()) {
        arrays_.resize(slots.size());
    }
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::begin_points(const path_job& job) {
    if (kind_ == kernels::shock_kind::uniform) {
        if (!job.points.order->has_quasi_uniforms()) return;
        points_.begin_uniforms(job.points, seed_, first_path_);
    } else {
        takes_any_ = true;
        points_.begin_normals(job.points, seed_, first_path_, other_normals());
    }
    takes_points_ = true;
    if (of_points_.size() < slot_.size()) of_points_.resize(slot_.size());
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::add_streams(std::span<const program::stream_name> names) {
    streams_.clear();
    std::size_t arrays = 0;
    for (const program::place_in_stream& p : places_) {
        if (p.stream != streams_.size()) continue;
        const std::size_t n = p.dimensions;
        stream s{kernels::stream_key_of(program::key_of(names, p.stream)), arrays, 0, 0};
        s.blocks = n % per_block == 0 ? n / per_block : (n + per_block - 2) / per_block + 1;
        arrays += s.blocks * per_block;
        streams_.push_back(s);
    }
    if (arrays_.size() < arrays) arrays_.resize(arrays);
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::refill(std::size_t step) {
    if (slot_.empty()) return;
    if (takes_points_) {
        take_points(step);
    } else if (from_ == nullptr) {
        draw(step);
    } else {
        read(step);
    }
}

// Number n of a stream is element n % per_block of its block n / per_block. Slots take numbers in order; with
// points they may take any, and only the block drawn last is valid.
template <class real, class shock>
const real* lane_walk<real, shock>::shock_buffer::drawn(std::size_t step, std::size_t slot) {
    const program::place_in_stream& p = places_[slot];
    stream& from = streams_[p.stream];
    const std::size_t number = step * p.dimensions + p.dimension;
    const std::size_t block = number / per_block, in_block = number % per_block;
    const std::size_t place = from.blocks > 1 ? block % from.blocks : 0;
    lane_array* at = &arrays_[from.first + place * per_block];
    if (takes_any_ ? block + 1 != from.next : block >= from.next) {
        draw_(&at->of, seed_, first_path_, static_cast<std::uint32_t>(block), from.key);
        from.next = block + 1;
    }
    return at[in_block].of;
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::draw(std::size_t step) {
    for (std::size_t s = 0; s < slot_.size(); ++s) slot_[s] = drawn(step, s);
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::take_points(std::size_t step) {
    for (std::size_t s = 0; s < slot_.size(); ++s) {
        const shock* const from = kind_ == kernels::shock_kind::normal
                                      ? points_.normals(step, s, other_normals())
                                      : points_.uniforms(step, s);
        if constexpr (std::is_same_v<real, shock>) {
            slot_[s] = from;
        } else {
            real* const to = of_points_[s].of;
            for (int lane = 0; lane < lanes; ++lane) to[lane] = static_cast<real>(from[lane]);
            slot_[s] = to;
        }
    }
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::read(std::size_t step) {
    for (std::size_t s = 0; s < slot_.size(); ++s) {
        real* to = arrays_[s].of;
        read_row<shock>(*from_, step, s, first_path_, paths_, to);
        slot_[s] = to;
    }
}

template <class real, class shock>
void lane_walk<real, shock>::scenario_buffer::begin(const path_job& job, std::uint64_t first_path) {
    job_ = &job;
    first_path_ = first_path;
    const std::size_t slots = job.data->scenarios.size();
    row_.assign(slots, nowhere);
    if (arrays_.size() < slots) arrays_.resize(slots);
    slot_.clear();
    for (std::size_t s = 0; s < slots; ++s) slot_.push_back(arrays_[s].of);
}

// Skips rows that are already loaded, since one row often serves many steps.
template <class real, class shock>
void lane_walk<real, shock>::scenario_buffer::refill(std::size_t step) {
    for (std::size_t s = 0; s < row_.size(); ++s) {
        const program::scenario_rows& from = job_->data->scenarios[s];
        if (row_[s] == from.rows[step]) continue;
        row_[s] = from.rows[step];
        ++rows_read_;
        read_row<shock>(job_->scenarios[from.array], row_[s], 0, first_path_, job_->paths, arrays_[s].of);
    }
}

template <class real, class shock>
void lane_walk<real, shock>::begin(const path_job& job, std::uint64_t first_path, const lane_program& code) {
    first_path_ = first_path;
    if (registers_.size() < code.registers) registers_.resize(code.registers);
    normals_.begin(job, job.normals, code.normals, job.data->normal_names, first_path);
    uniforms_.begin(job, job.uniforms, code.uniforms, job.data->uniform_names, first_path);
    scenarios_.begin(job, first_path);
}

template <class real, class shock>
void lane_walk<real, shock>::refill(std::size_t step) {
    normals_.refill(step);
    uniforms_.refill(step);
    scenarios_.refill(step);
}

template <class real, class shock>
typename lane_walk<real, shock>::frame lane_walk<real, shock>::forth(const lane_program& code,
                                                                     const program::path_data& data) {
    return {&code, &data, &registers_, normals_.by_slot(), uniforms_.by_slot(), scenarios_.by_slot()};
}

template <class real, class shock>
void lane_walk<real, shock>::execute(const frame& in, std::size_t number, std::size_t run) {
    const std::vector<instruction>& section = in.code->sections[number];
    const double* const row = in.row_of(number, run);
    std::vector<lane_array>& registers = *in.registers;
    const auto address = [&](const operand& o, real& number_at) -> const real* {
        switch (o.in) {
            case space::lane:
                return registers[o.at].of;
            case space::normal:
                return in.normals[o.at];
            case space::uniform:
                return in.uniforms[o.at];
            case space::scenario:
                return in.scenarios[o.at];
            case space::constant:
                number_at = static_cast<real>(in.code->constants[o.at]);
                break;
            case space::term:
                number_at = static_cast<real>(in.data->terms[o.at]);
                break;
            case space::row:
                number_at = static_cast<real>(row[o.at]);
                break;
        }
        return &number_at;
    };
    for (std::size_t i = 0; i < section.size(); ++i) {
        const instruction& it = section[i];
        if (it.skipped > 0) {
            real one;
            const real* truths = address(it.guard, one);
            const bool is_wanted =
                it.guard.is_number() ? (*truths != 0) == it.wanted : functions_.any(truths, it.wanted);
            if (!is_wanted) {
                i += it.skipped - 1;
                continue;
            }
        }
        real* out = registers[it.out].of;
        real numbers[3];
        if (it.code == program::operation::constant) {
            const real* from = address(it.args[0], numbers[0]);
            if (it.mode != 0) {
                functions_.fill(out, *from);
            } else {
                functions_.copy(out, from);
            }
            continue;
        }
        const real* a = address(it.args[0], numbers[0]);
        if (program::reads_table(it.code)) {
            functions_.interpolate[it.mode](out, a, row + it.table, static_cast<int>(it.size));
            continue;
        }
        const real* b = address(it.args[1], numbers[1]);
        const real* c = address(it.args[2], numbers[2]);
        functions_.loops[static_cast<std::size_t>(it.code)][it.mode](out, a, b, c);
    }
}

// Returns the first step to walk. If the walk begins within a step, that step's remaining events draw its
// shocks again, which is safe because no section reads another's shocks.
template <class real, class shock>
std::size_t lane_walk<real, shock>::begin_states(const path_job& job, const frame& in) {
    const way_begun* const from = job.begun;
    for (std::uint32_t s = 0; s < in.code->states; ++s) {
        const double state = from == nullptr
                                 ? job.data->initial_states[s]
                                 : from->states[s * from->pitch + first_path_ / kernels::paths_per_tile];
        functions_.fill(registers_[s].of, static_cast<real>(state));
    }
    if (from == nullptr) return 0;
    const auto left = job.when->events_after(from->step).subspan(from->events);
    if (!left.empty()) refill(from->step);
    for (const program::event& e : left) execute(in, e.section, e.row);
    return from->step + 1;
}

template <class real, class shock>
void lane_walk<real, shock>::walk(const path_job& job, std::uint64_t first_path, double* out,
                                  const std::atomic<bool>* cancel) {
    const lane_program& code = *job.code;
    begin(job, first_path, code);
    const frame in = forth(code, *job.data);
    walk_piece(job, in, begin_states(job, in), job.when->steps(), false, cancel);
    for (const std::uint32_t output : code.outputs) {
        std::copy_n(registers_[output].of, lanes, out);
        out += kernels::paths_per_tile;
    }
}

template <class real, class shock>
void lane_walk<real, shock>::leave_numbers(const path_job& job, std::size_t section, std::size_t run) {
    if (section >= job.leaves->sections.size()) return;
    const left_numbers::of_section& of = job.leaves->sections[section];
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(lanes, job.paths - first_path_));
    double* row =
        job.leaves->array + (of.first_row + run * of.states.size()) * job.leaves->pitch + first_path_;
    for (const std::uint32_t s : of.states) {
        std::copy_n(registers_[s].of, count, row);
        row += job.leaves->pitch;
    }
}

// With `keeps`, stores each step's shocks and, before each run of a section, the states its way back reads.
template <class real, class shock>
void lane_walk<real, shock>::walk_piece(const path_job& job, const frame& in, std::size_t from,
                                        std::size_t to, bool keeps, const std::atomic<bool>* cancel) {
    const auto run = [&](std::size_t section, std::size_t row) {
        if (keeps) {
            for (const program::derivative_in& g : job.back->code->sections[section].given)
                kept_.keep(functions_, registers_[g.number].of);
        }
        execute(in, section, row);
        if (job.leaves != nullptr) leave_numbers(job, section, row);
    };
    for (std::size_t step = from; step < to; ++step) {
        if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
            throw error(error_kind::cancelled, "the run was stopped");
        if (job.goes_on && !functions_.any(registers_[*job.goes_on].of, true)) return;
        refill(step);
        if (keeps) {
            for (const auto& shocks : {in.normals, in.uniforms, in.scenarios})
                for (const real* const one : shocks) kept_.keep(functions_, one);
        }
        run(0, step);
        for (const program::event& e : job.when->events_after(step)) run(e.section, e.row);
    }
}

template <class real, class shock>
void lane_walk<real, shock>::walk_piece_back(const path_job& job, std::size_t from, std::size_t to, int count,
                                             std::span<double> sums,
                                             std::span<kernels::fixed_sum> in_tables) {
    const lane_way_back& back = *job.back;
    const frame in{back.back, back.data, &registers_of_back_, kept_normals_, kept_uniforms_, kept_scenarios_};
    std::size_t at = kept_.used;
    const auto run = [&](std::size_t section, std::size_t row) {
        const auto& given = back.code->sections[section].given;
        at -= given.size();
        for (std::size_t i = 0; i < given.size(); ++i)
            functions_.copy(registers_of_back_[given[i].state].of, kept_.arrays[at + i].of);
        execute(in, section, row);
        take_derivatives(job, section, row, count, sums, in_tables);
    };
    for (std::size_t step = to; step-- > from;) {
        const std::span<const program::event> events = job.when->events_after(step);
        // kept_ has a step's shocks first, then the states of the step's sections.
        std::size_t shocks = at - back.code->sections[0].given.size();
        for (const program::event& e : events) shocks -= back.code->sections[e.section].given.size();
        for (auto* const slots : {&kept_scenarios_, &kept_uniforms_, &kept_normals_}) {
            shocks -= slots->size();
            for (std::size_t s = 0; s < slots->size(); ++s) (*slots)[s] = kept_.arrays[shocks + s].of;
        }
        for (std::size_t e = events.size(); e-- > 0;) run(events[e].section, events[e].row);
        run(0, step);
        at = shocks;
    }
}

template <class real, class shock>
void lane_walk<real, shock>::take_derivatives(const path_job& job, std::size_t section, std::size_t run,
                                              int count, std::span<double> sums,
                                              std::span<kernels::fixed_sum> in_tables) {
    const lane_way_back& back = *job.back;
    const program::section_derivatives& of = back.code->sections[section];
    std::size_t place = back.places.of_run(section, run);
    const auto state = [&](std::uint32_t at) { return registers_of_back_[at].of; };
    for (const auto* const all : {&of.rows, &of.scenarios}) {
        for (const program::derivative_in& d : *all) sums[place++] = functions_.sum(state(d.state), count);
    }
    for (const program::derivative_in_table& t : of.tables) {
        const int size = static_cast<int>(back.code->again.sections[section].tables[t.table].size);
        kernels::fixed_sum* const into = in_tables.data() + place;
        for (const auto& read : t.reads) {
            const real *const d = state(read.state), *const position = state(read.position);
            for (int lane = 0; lane < count; ++lane) {
                if (d[lane] == 0) continue;
                const auto found = kernels::find_place(size, position[lane]);
                const real second = d[lane] * found.on;
                into[found.i].add(static_cast<double>(d[lane] - second));
                into[found.i + 1].add(static_cast<double>(second));
            }
        }
        place += static_cast<std::size_t>(size);
    }
}

template <class real, class shock>
void lane_walk<real, shock>::walk_both_ways(const path_job& job, std::uint64_t first_path, double* out,
                                            std::span<double> sums, std::span<kernels::fixed_sum> in_tables,
                                            const std::atomic<bool>* cancel) {
    const lane_program& code = *job.code;
    const lane_way_back& back = *job.back;
    const std::size_t steps = job.when->steps(), pieces = back.pieces.size();
    begin(job, first_path, code);
    for (std::uint32_t s = 0; s < code.states; ++s)
        functions_.fill(registers_[s].of, static_cast<real>(job.data->initial_states[s]));
    const auto end_of = [&](std::size_t piece) {
        return piece + 1 < pieces ? back.pieces[piece + 1] : steps;
    };
    if (states_at_pieces_.size() < pieces * code.states) states_at_pieces_.resize(pieces * code.states);
    kept_.used = 0;
    for (std::size_t p = 0; p < pieces; ++p) {
        for (std::size_t s = 0; s < code.states; ++s)
            functions_.copy(states_at_pieces_[p * code.states + s].of, registers_[s].of);
        walk_piece(job, forth(code, *job.data), back.pieces[p], end_of(p), p + 1 == pieces, cancel);
    }
    for (const std::uint32_t output : code.outputs) {
        std::copy_n(registers_[output].of, lanes, out);
        out += kernels::paths_per_tile;
    }

    if (registers_of_back_.size() < back.back->registers) registers_of_back_.resize(back.back->registers);
    for (std::uint32_t s = 0; s < back.back->states; ++s)
        functions_.fill(registers_of_back_[s].of, static_cast<real>(back.data->initial_states[s]));
    kept_normals_.resize(normals_.by_slot().size());
    kept_uniforms_.resize(uniforms_.by_slot().size());
    kept_scenarios_.resize(scenarios_.by_slot().size());
    const int count = static_cast<int>(std::min<std::uint64_t>(lanes, job.paths - first_path));
    for (std::size_t p = pieces; p-- > 0;) {
        if (p + 1 < pieces) {
            if (registers_.size() < back.again->registers) registers_.resize(back.again->registers);
            for (std::size_t s = 0; s < code.states; ++s)
                functions_.copy(registers_[s].of, states_at_pieces_[p * code.states + s].of);
            begin(job, first_path, code);
            kept_.used = 0;
            walk_piece(job, forth(*back.again, *job.data), back.pieces[p], end_of(p), true, cancel);
        }
        walk_piece_back(job, back.pieces[p], end_of(p), count, sums, in_tables);
    }
    std::size_t place = 0;
    for (const auto* const all : {&back.code->initial_states, &back.code->terms}) {
        for (const program::derivative_in& d : *all)
            sums[place++] = functions_.sum(registers_of_back_[d.state].of, count);
    }
}

lane_way_back::lane_way_back(const program::adjoint_program& of, const lane_program& again_,
                             const lane_program& back_, const program::path_data& data_of_back,
                             const program::timeline& when)
    : code(&of),
      again(&again_),
      back(&back_),
      data(&data_of_back),
      places(program::places_of(of, data_of_back)) {
    const std::size_t shocks =
        back->normals.size() + back->uniforms.size() + static_cast<std::size_t>(back->scenarios_per_step);
    std::size_t bytes = 0;
    for (std::size_t step = 0; step < when.steps(); ++step) {
        std::size_t arrays = shocks + of.sections[0].given.size();
        for (const program::event& e : when.events_after(step)) arrays += of.sections[e.section].given.size();
        const std::size_t bytes_of_step = arrays * lanes * sizeof(double);
        if (step == 0 || bytes + bytes_of_step > most_bytes_of_piece) {
            pieces.push_back(step);
            bytes = 0;
        }
        bytes += bytes_of_step;
    }
}

template <class one_pass>
void lane_machine::walk_passes(const path_job& job, std::uint64_t tile, const one_pass& walk) {
    // The last row is for the sum of two outputs.
    payoffs_.resize((job.code->outputs.size() + 1) * kernels::paths_per_tile);
    const auto count = static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile));
    const auto walk_with = [&](auto& with) {
        for (std::uint64_t in_tile = 0; in_tile < count; in_tile += lanes)
            walk(with, tile * kernels::paths_per_tile + in_tile, in_tile);
    };
    using program::number_type;
    const number_type real = program::real_type(job.precision), shock = program::shock_type(job.precision);
    if (real == number_type::single_) {
        walk_with(single_);
    } else if (shock == number_type::single_) {
        walk_with(mixed_);
    } else {
        walk_with(double_);
    }
}

void lane_machine::walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
                        const std::atomic<bool>* cancel) {
    walk_passes(job, tile, [&](auto& with, std::uint64_t first_path, std::uint64_t in_tile) {
        with.walk(job, first_path, payoffs_.data() + in_tile, cancel);
    });
    summarise(job, tile, results);
}

void lane_machine::walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
                        std::span<double> derivatives, const std::atomic<bool>* cancel) {
    const std::size_t size = job.back->places.size;
    sums_.assign(kernels::paths_per_lane * size, 0.0);
    fixed_.assign(size, {});
    walk_passes(job, tile, [&](auto& with, std::uint64_t first_path, std::uint64_t in_tile) {
        const std::span<double> sums = std::span(sums_).subspan(in_tile / lanes * size, size);
        with.walk_both_ways(job, first_path, payoffs_.data() + in_tile, sums, fixed_, cancel);
    });
    for (std::size_t i = 0; i < size; ++i) {
        double passes[kernels::paths_per_lane];
        for (std::size_t p = 0; p < kernels::paths_per_lane; ++p) passes[p] = sums_[p * size + i];
        kernels::sum_neighbours(passes, kernels::paths_per_lane);
        derivatives[i] = passes[0] + fixed_[i].value();
    }
    summarise(job, tile, results);
}

void lane_machine::walk_paths(const path_job& job, std::uint64_t first_path, double* payoffs,
                              const std::atomic<bool>* cancel) {
    double_.walk(job, first_path, payoffs, cancel);
}

tile_result result_of_tile(std::span<const double> payoffs, std::uint64_t first_path) {
    tile_result r{};
    for (std::size_t p = 0; p < payoffs.size(); ++p) {
        if (std::isfinite(payoffs[p])) continue;
        if (r.not_finite++ == 0) r.first_not_finite = first_path + p;
    }
    if (r.not_finite == 0)
        r.moments = kernels::tile_moments(payoffs.data(), static_cast<int>(payoffs.size()));
    return r;
}

void lane_machine::summarise(const path_job& job, std::uint64_t tile, std::span<tile_result> results) {
    const std::size_t outputs = job.code->outputs.size();
    const std::uint64_t first = tile * kernels::paths_per_tile;
    const auto count = static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile));
    const auto row = [&](std::size_t k) { return payoffs_.data() + k * kernels::paths_per_tile; };
    const auto result_of = [&](const double* payoffs) { return result_of_tile({payoffs, count}, first); };
    for (std::size_t o = 0; o < outputs; ++o) results[o] = result_of(row(o));
    for (std::size_t k = 0; k < job.code->crossed.size(); ++k) {
        const program::output_pair& pair = job.code->crossed[k];
        if (program::is_quarter(pair)) {
            const std::uint64_t from = (pair.second - kernels::first_quarter) * kernels::paths_of_quarter;
            const std::uint64_t left = count - std::min(count, from);
            results[outputs + k] = result_of_tile(
                {row(pair.first) + from, std::min<std::uint64_t>(left, kernels::paths_of_quarter)},
                first + from);
            continue;
        }
        std::transform(row(pair.first), row(pair.first) + count, row(pair.second), row(outputs),
                       [](double a, double b) { return a + b; });
        results[outputs + k] = result_of(row(outputs));
    }
}

}  // namespace tilewalk::cpu
