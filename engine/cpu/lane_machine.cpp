// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lane_machine.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/tile.h"
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

// The lanes from first_path on of one row, as numbers of the states. Lanes beyond the last path keep their
// old numbers, which do not count.
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

std::uint64_t path_job::tiles() const {
    return kernels::tiles_of(paths);
}

run::tile_range path_job::walked_tiles() const {
    return run::asked_or_all(range, tiles());
}

void path_job::check() const {
    if (walked_tiles().end() > tiles()) throw error(error_kind::internal, "the run has no such tiles");
    if (program::is_fast(precision)) {
        throw error(
            error_kind::usage,
            "precision single_fast stands for the approximations of a GPU's hardware and needs a GPU; "
            "precision single walks the same paths with exact functions on the CPU");
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
    if (from_ == nullptr) {
        add_streams(names);
    } else if (arrays_.size() < slots.size()) {
        arrays_.resize(slots.size());
    }
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::add_streams(std::span<const program::stream_name> names) {
    streams_.clear();
    std::size_t arrays = 0;
    for (const program::place_in_stream& p : places_) {
        if (p.stream != streams_.size()) continue;
        const std::size_t n = p.dimensions;
        stream s{kernels::stream_key_of(program::key_of(names, p.stream)), arrays, 0};
        s.blocks = n % per_block == 0 ? n / per_block : (n + per_block - 2) / per_block + 1;
        arrays += s.blocks * per_block;
        streams_.push_back(s);
    }
    if (arrays_.size() < arrays) arrays_.resize(arrays);
}

template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::refill(std::size_t step) {
    if (slot_.empty()) return;
    if (from_ == nullptr) {
        draw(step);
    } else {
        read(step);
    }
}

// Number n of a stream is the (n % per_block)th of block n / per_block. Slots of a stream take its numbers in
// order.
template <class real, class shock>
void lane_walk<real, shock>::shock_buffer::draw(std::size_t step) {
    for (std::size_t s = 0; s < slot_.size(); ++s) {
        const program::place_in_stream& p = places_[s];
        const stream& from = streams_[p.stream];
        const std::size_t number = step * p.dimensions + p.dimension;
        const std::size_t block = number / per_block, in_block = number % per_block;
        const std::size_t place = from.blocks > 1 ? block % from.blocks : 0;
        lane_array* at = &arrays_[from.first + place * per_block];
        if (in_block == 0) draw_(&at->of, seed_, first_path_, static_cast<std::uint32_t>(block), from.key);
        slot_[s] = at[in_block].of;
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
}

// A row often holds for many steps, and is then read once.
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
void lane_walk<real, shock>::execute(const std::vector<instruction>& section, const path_job& job,
                                     const double* row) {
    const auto address = [&](const operand& o, real& number) -> const real* {
        switch (o.in) {
            case space::lane:
                return registers_[o.at].of;
            case space::normal:
                return normals_[o.at];
            case space::uniform:
                return uniforms_[o.at];
            case space::scenario:
                return scenarios_[o.at];
            case space::constant:
                number = static_cast<real>(job.code->constants[o.at]);
                break;
            case space::term:
                number = static_cast<real>(job.data->terms[o.at]);
                break;
            case space::row:
                number = static_cast<real>(row[o.at]);
                break;
        }
        return &number;
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
        real* out = registers_[it.out].of;
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

template <class real, class shock>
void lane_walk<real, shock>::walk(const path_job& job, std::uint64_t first_path, double* out,
                                  const std::atomic<bool>* cancel) {
    const lane_program& code = *job.code;
    const program::timeline& when = *job.when;
    if (registers_.size() < code.registers) registers_.resize(code.registers);
    normals_.begin(job, job.normals, code.normals, job.data->normal_names, first_path);
    uniforms_.begin(job, job.uniforms, code.uniforms, job.data->uniform_names, first_path);
    scenarios_.begin(job, first_path);

    const auto row_of = [&](std::size_t section, std::size_t run) {
        const auto& rows = job.data->rows[section];
        return rows.data() + run * job.data->widths[section];
    };
    for (std::uint32_t s = 0; s < code.states; ++s)
        functions_.fill(registers_[s].of, static_cast<real>(job.data->initial_states[s]));
    for (std::size_t step = 0; step < when.steps(); ++step) {
        if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
            throw error(error_kind::cancelled, "the run was stopped");
        normals_.refill(step);
        uniforms_.refill(step);
        scenarios_.refill(step);
        execute(code.sections[0], job, row_of(0, step));
        for (const program::event& e : when.events_after(step))
            execute(code.sections[e.section], job, row_of(e.section, e.row));
    }
    for (const std::uint32_t output : code.outputs) {
        std::copy_n(registers_[output].of, lanes, out);
        out += kernels::paths_per_tile;
    }
}

void lane_machine::walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results,
                        const std::atomic<bool>* cancel) {
    const std::size_t outputs = job.code->outputs.size();
    // One row more, for the sum of two outputs.
    payoffs_.resize((outputs + 1) * kernels::paths_per_tile);
    const std::uint64_t first = tile * kernels::paths_per_tile;
    const auto count = static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile));
    const auto walk_with = [&](auto& walk) {
        for (std::uint64_t in_tile = 0; in_tile < count; in_tile += lanes)
            walk.walk(job, first + in_tile, payoffs_.data() + in_tile, cancel);
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
    const auto row = [&](std::size_t k) { return payoffs_.data() + k * kernels::paths_per_tile; };
    const auto result_of = [&](const double* payoffs) {
        tile_result r{};
        for (std::uint64_t p = 0; p < count; ++p) {
            if (std::isfinite(payoffs[p])) continue;
            if (r.not_finite++ == 0) r.first_not_finite = first + p;
        }
        if (r.not_finite == 0) r.moments = kernels::tile_moments(payoffs, static_cast<int>(count));
        return r;
    };
    for (std::size_t o = 0; o < outputs; ++o) results[o] = result_of(row(o));
    for (std::size_t k = 0; k < job.code->crossed.size(); ++k) {
        const program::output_pair& pair = job.code->crossed[k];
        std::transform(row(pair.first), row(pair.first) + count, row(pair.second), row(outputs),
                       [](double a, double b) { return a + b; });
        results[outputs + k] = result_of(row(outputs));
    }
}

}  // namespace tilewalk::cpu
