// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/lane_machine.h"

#include <cmath>

#include "kernels/tile.h"

namespace tilewalk::cpu {

static_assert(lanes == kernels::lanes_per_tile);

std::uint64_t path_job::tiles() const {
    return kernels::tiles_of(paths);
}

void lane_machine::shock_buffer::resize(int per_step) {
    const auto n = static_cast<std::size_t>(per_step);
    if (arrays.size() < n + 1) arrays.resize(n + 1);
    slot.resize(n);
}

// Shock `s` of step `i` is number i * per_step + s of the path; numbers 2b and 2b + 1 come from block b.
void lane_machine::refill(shock_buffer& into, draw fill, int per_step, std::size_t step, std::uint64_t seed,
                          std::uint64_t first_path) {
    if (per_step == 0) return;
    const auto n = static_cast<std::size_t>(per_step);
    const std::size_t first = step * n;
    const std::size_t left_over = first & 1;  // slot 0 was made with the last slot of the step before
    if (left_over != 0) into.slot[0] = into.arrays[n].of;
    std::size_t block = (first + 1) / 2;
    for (std::size_t s = left_over; s < n; s += 2, ++block) {
        lane_array& a = into.arrays[s - left_over];
        lane_array& b = into.arrays[s - left_over + 1];
        fill(a.of, b.of, seed, first_path, static_cast<std::uint32_t>(block));
        into.slot[s] = a.of;
        if (s + 1 < n) into.slot[s + 1] = b.of;
    }
}

void lane_machine::execute(const std::vector<instruction>& section, const path_job& job, const double* row) {
    const auto address = [&](const operand& o) -> const double* {
        switch (o.in) {
            case space::lane:
                return registers_[o.at].of;
            case space::normal:
                return normals_.slot[o.at];
            case space::uniform:
                return uniforms_.slot[o.at];
            case space::constant:
                return job.code->constants.data() + o.at;
            case space::term:
                return job.data->terms.data() + o.at;
            case space::row:
                return row + o.at;
        }
        return nullptr;
    };
    for (const instruction& it : section) {
        double* out = registers_[it.out].of;
        if (it.code == program::operation::constant) {
            if (it.mode != 0) {
                operations_.fill(out, *address(it.args[0]));
            } else {
                operations_.copy(out, address(it.args[0]));
            }
            continue;
        }
        operations_.loops[static_cast<std::size_t>(it.code)][it.mode](
            out, address(it.args[0]), address(it.args[1]), address(it.args[2]));
    }
}

void lane_machine::walk(const path_job& job, std::uint64_t tile, std::span<tile_result> results) {
    const lane_program& code = *job.code;
    const plan::timeline& when = *job.when;
    if (registers_.size() < code.registers) registers_.resize(code.registers);
    normals_.resize(code.normals_per_step);
    uniforms_.resize(code.uniforms_per_step);
    payoffs_.resize(code.outputs.size() * kernels::paths_per_lane);

    const auto row_of = [&](std::size_t section, std::size_t run) {
        const auto& rows = job.data->rows[section];
        return rows.data() + run * job.data->widths[section];
    };
    const std::uint64_t first = tile * kernels::paths_per_tile;
    const auto count = static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile));
    for (std::uint64_t j = 0; j * lanes < count; ++j) {
        const std::uint64_t first_path = first + j * lanes;
        for (std::uint32_t s = 0; s < code.states; ++s)
            operations_.fill(registers_[s].of, job.data->initial_states[s]);
        for (std::size_t step = 0; step < when.steps(); ++step) {
            refill(normals_, operations_.normals, code.normals_per_step, step, job.seed, first_path);
            refill(uniforms_, operations_.uniforms, code.uniforms_per_step, step, job.seed, first_path);
            execute(code.sections[0], job, row_of(0, step));
            for (const plan::event& e : when.events_after(step))
                execute(code.sections[e.section], job, row_of(e.section, e.row));
        }
        for (std::size_t o = 0; o < code.outputs.size(); ++o) {
            operations_.copy(payoffs_[o * kernels::paths_per_lane + j].of, registers_[code.outputs[o]].of);
        }
    }
    for (std::size_t o = 0; o < code.outputs.size(); ++o) {
        const double* payoffs = payoffs_[o * kernels::paths_per_lane].of;
        tile_result& r = results[o];
        r = {};
        for (std::uint64_t p = 0; p < count; ++p) {
            if (std::isfinite(payoffs[p])) continue;
            if (r.not_finite++ == 0) r.first_not_finite = first + p;
        }
        if (r.not_finite == 0) r.moments = kernels::tile_moments(payoffs, static_cast<int>(count));
    }
}

}  // namespace tilewalk::cpu
