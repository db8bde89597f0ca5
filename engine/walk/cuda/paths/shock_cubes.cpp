// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/shock_cubes.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/device/loaded_device.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

constexpr std::uint64_t tile_paths = kernels::paths_per_tile;

}  // namespace

std::vector<arrays::shock_cube> rows_of(std::span<const arrays::shock_cube> arrays,
                                        std::span<const scenario_row> rows) {
    std::vector<arrays::shock_cube> out;
    for (const scenario_row& r : rows) {
        arrays::shock_cube& row = out.emplace_back(arrays[r.array]);
        std::visit([&](auto& first) { first += r.row * row.step_stride; }, row.first);
    }
    return out;
}

std::size_t shock_plan::bytes_per_tile() const {
    return (normal_rows + uniform_rows + scenarios.size()) * tile_paths * arrays::bytes_of(element());
}

std::size_t shock_plan::scratch_bytes() const {
    if (replay != nullptr) return 0;
    const bool makes_points = points.dimensions_made() > 0;
    if (shock_rows() == 0 && !makes_points) return 0;
    return source->scratch_bytes(shock_rows()) + normals.bytes() + uniforms.bytes() + points.bytes();
}

std::uint64_t shock_plan::most_tiles() const {
    const std::uint64_t any = ~std::uint64_t{0} >> 1;
    const std::uint64_t rows = std::max<std::uint64_t>({1, shock_rows(), scenarios.size()});
    const std::uint64_t by_elements =
        space->most_elements != 0 ? space->most_elements / (rows * tile_paths) : any;
    const std::uint64_t row_bytes = rows * tile_paths * arrays::bytes_of(element());
    const std::uint64_t by_bytes = space->most_bytes != 0 ? space->most_bytes / row_bytes : any;
    return std::max<std::uint64_t>(1, std::min(by_elements, by_bytes));
}

shock_cubes::shock_cubes(loaded_device& on, const shock_plan& plan, std::uint64_t tiles, std::size_t sets,
                         stream fills)
    : on_(on),
      plan_(plan),
      pitch_(random::padded_paths(tiles * tile_paths, plan.element())),
      sets_(sets),
      tables_(on.get(), plan.element()) {
    for (cubes& set : sets_) {
        open(set.normals, plan.normal_rows);
        open(set.uniforms, plan.uniform_rows);
        open(set.scenarios, plan.scenarios.size());
    }
    if (plan.replay != nullptr) return;
    made_points_ = plan.points.table_of_made_points(on.get(), slots_, fills);
    if (made_points_ != nullptr) {
        directions_ = tables_.directions(plan.points.dimensions_made(), fills);
        normals_of_points_ = tables_.normals(fills);
    }
    if (plan.shock_rows() == 0) return;
    keyed_normals_ = plan.normals.keyed(on.get(), slots_, fills);
    keyed_uniforms_ = plan.uniforms.keyed(on.get(), slots_, fills);
    normal_points_ =
        plan.points.placed(random::shock_kind::normal, plan.normals.rows(), on.get(), slots_, fills);
    uniform_points_ =
        plan.points.placed(random::shock_kind::uniform, plan.uniforms.rows(), on.get(), slots_, fills);
    targets_ = plan.points.tables_of_targets(plan.element(), on.get(), slots_, fills);
    // Kernels are cached here, because the store digests the text, which takes longer than a launch.
    const auto kernel_of = [this, known = std::map<std::string, kernel>()](const std::string& text,
                                                                           const char* name) mutable {
        const auto found = known.find(text);
        if (found != known.end()) return found->second;
        const kernel made =
            on_.find(plan_.kernels->cubin({text, on_.get().properties().architecture()}), name);
        return known.emplace(text, made).first->second;
    };
    source_ = plan.source->open({on.get(), kernel_of, plan.seed, plan.paths, plan.shock_rows(),
                                 plan.element(), program::is_fast(plan.precision), plan.unit_paths});
}

void shock_cubes::open(one& cube, std::uint64_t rows) {
    cube.rows = rows;
    if (rows == 0) return;
    device& d = on_.get();
    cube.bytes = rows * pitch_ * arrays::bytes_of(plan_.element());
    check_fits(*plan_.space, rows * pitch_, static_cast<int>(arrays::bytes_of(plan_.element())));
    if (plan_.space->lives_in == residence::mapped_memory) {
        cube.mapped.emplace(d, cube.bytes);
        cube.first = cube.mapped->on_device<std::byte>();
        return;
    }
    cube.memory.emplace(d, cube.bytes);
    cube.first = cube.memory->as<std::byte>();
    if (plan_.space->lives_in == residence::texture_object) {
        const texel kind = plan_.element() == arrays::element::single_ ? texel::single : texel::two_words;
        cube.texture.emplace(d, d.open_texture(cube.first, cube.bytes, kind));
    }
}

void shock_cubes::fill(std::size_t set, std::uint64_t first_tile, std::uint64_t tiles, stream s) {
    const auto& [normals, uniforms, scenarios] = sets_[set];
    const std::uint64_t first_path = first_tile * tile_paths, paths = tiles * tile_paths;
    bring(scenarios, first_path, paths, s,
          [&](std::uint64_t row, std::uint64_t first, std::uint64_t count, auto* to) {
              arrays::copy_row(plan_.scenarios[row], 0, 0, first, count, to);
          });
    if (plan_.replay != nullptr) {
        bring_replay(normals, plan_.replay->normals(), first_path, paths, s);
        bring_replay(uniforms, plan_.replay->uniforms(), first_path, paths, s);
        return;
    }
    if (normals.rows > 0) {
        source_->fill(
            {normals.first, pitch_, normals.rows, random::shock_kind::normal, keyed_normals_, normal_points_},
            first_path, paths, s);
    }
    if (uniforms.rows > 0) {
        source_->fill({uniforms.first, pitch_, uniforms.rows, random::shock_kind::uniform, keyed_uniforms_,
                       uniform_points_},
                      first_path, paths, s);
    }
}

template <class row_writer>
void shock_cubes::bring(const one& cube, std::uint64_t first_path, std::uint64_t paths, stream s,
                        const row_writer& row_of) {
    if (cube.rows == 0) return;
    const auto bring_as = [&]<class shock>(shock) {
        const std::size_t pitch_bytes = pitch_ * sizeof(shock);
        if (cube.mapped) {
            on_.get().wait(s);
            for (std::uint64_t r = 0; r < cube.rows; ++r) {
                if (plan_.poll) plan_.poll();
                row_of(r, first_path, paths, cube.mapped->as<shock>() + r * pitch_);
            }
            return;
        }
        if (!through_) through_.emplace(on_.get(), s, pitch_bytes);
        for (std::uint64_t r = 0; r < cube.rows; ++r) {
            if (plan_.poll) plan_.poll();
            // Writes the part of a row that fits into a staging piece, as a rule all of it.
            through_->put(cube.first + r * pitch_bytes, paths * sizeof(shock), sizeof(shock),
                          [&](std::size_t at, std::span<std::byte> piece) {
                              row_of(r, first_path + at / sizeof(shock), piece.size() / sizeof(shock),
                                     reinterpret_cast<shock*>(piece.data()));
                          });
        }
        // Waits here to report a failed copy, as the destructor of `staging` could not.
        on_.get().wait(s);
    };
    if (plan_.element() == arrays::element::double_) {
        bring_as(double{});
    } else {
        bring_as(float{});
    }
}

void shock_cubes::bring_replay(const one& cube, const arrays::shock_cube& from, std::uint64_t first_path,
                               std::uint64_t paths, stream s) {
    bring(cube, first_path, paths, s,
          [&](std::uint64_t row, std::uint64_t first, std::uint64_t count, auto* to) {
              arrays::copy_row(from, row / from.slots, row % from.slots, first, count, to);
          });
}

kernels::array_argument shock_cubes::argument(const one& cube, const arrays::shock_cube* from,
                                              int per_step) const {
    kernels::array_argument a{};
    a.first = cube.first;
    a.slot_stride = pitch_;
    a.step_stride = pitch_ * (from != nullptr ? from->slots : static_cast<std::uint64_t>(per_step));
    if (cube.texture) a.texture = static_cast<kernels::word64>(cube.texture->get());
    return a;
}

kernels::array_argument shock_cubes::normals(std::size_t set, int per_step) const {
    return argument(sets_[set].normals, plan_.replay != nullptr ? &plan_.replay->normals() : nullptr,
                    per_step);
}

kernels::array_argument shock_cubes::uniforms(std::size_t set, int per_step) const {
    return argument(sets_[set].uniforms, plan_.replay != nullptr ? &plan_.replay->uniforms() : nullptr,
                    per_step);
}

void shock_cubes::point_to_tables(kernels::path_arguments& a) const {
    a.made_points = made_points_;
    a.directions = directions_;
    a.normals_of_points = normals_of_points_;
    a.paths_of_randomisation = plan_.unit_paths;
}

// Rows follow each other; a trade's own words say which of them a slot reads on a step.
kernels::array_argument shock_cubes::scenarios(std::size_t set) const {
    return argument(sets_[set].scenarios, nullptr, 1);
}

}  // namespace tilewalk::cuda
