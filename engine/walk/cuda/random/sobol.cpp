// SPDX-License-Identifier: Apache-2.0
// The source sobol: scrambled Sobol points in the order in which each trade takes dimensions or, in a cube of
// no trade, with dimension r in row r. The CPU makes the same bits (engine/walk/cpu/point_shocks.h). Uniforms
// come from Philox if they are many, or of no trade.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/numerics/quasi/directions.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "engine/walk/cuda/random/point_tables.h"
#include "engine/walk/units.h"

namespace tilewalk::random {

namespace {

class sobol_points final : public random_source {
  public:
    explicit sobol_points(const opening& from)
        : from_(from),
          unit_paths_(from.unit_paths > 0 ? from.unit_paths : run::quasi_unit_paths(from.run_paths)),
          tables_(from.on, from.of) {}

    void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) override {
        check_chunk(from_, into, first_path, paths);
        const bool is_nameless = into.keyed.empty() && into.points.empty();
        if (!into.keyed.empty() || (is_nameless && into.kind == shock_kind::uniform)) {
            draw_cube(from_, into, first_path, paths, on);
        } else if (is_nameless) {
            fill(into, nameless(static_cast<kernels::word32>(into.rows), on), first_path, paths, on);
        }
        for (const placed_points& of : into.points) fill(into, of, first_path, paths, on);
    }
    std::uint64_t unit_paths() const override { return unit_paths_; }

  private:
    void fill(const cube& into, const placed_points& of, std::uint64_t first_path, std::uint64_t paths,
              cuda::stream on) {
        if (of.steps == 0 || paths == 0) return;
        const bool is_double = from_.of == arrays::element::double_,
                   is_normal = into.kind == shock_kind::normal;
        const std::uint64_t table_bytes = !is_normal  ? 0
                                          : is_double ? kernels::kept_normals<double>::bytes
                                                      : kernels::kept_normals<float>::bytes;
        kernels::points_arguments a{};
        a.into = part_of(into, of, paths);
        a.seed = from_.seed;
        a.first_path = first_path;
        a.paths_of_randomisation = unit_paths_;
        a.directions = tables_.directions(of.directions, on);
        a.normals = tables_.normals(on);
        a.slots = of.slots;
        a.dimensions = of.dimensions;
        a.visits = of.visits;
        a.inverse_roots = of.inverse_roots;
        a.loadings = of.loadings;
        a.steps_of_components = of.steps_of_components;
        a.segments = of.segments;
        a.components = of.components;
        a.walkers = of.walkers;
        a.stack = of.stack;
        a.steps = of.steps;
        a.slot_count = of.slot_count;
        const std::uint64_t paths_of_group =
            kernels::paths_of_warp * static_cast<std::uint64_t>(is_double ? kernels::paths_of_points<double>
                                                                          : kernels::paths_of_points<float>);
        a.groups = static_cast<kernels::word32>(paths / paths_of_group * of.slot_count);
        const bool has_components = of.components > 0;
        const auto warps = static_cast<kernels::word32>(has_components ? kernels::warps_of_points(true)
                                                                       : static_cast<int>(of.walkers));
        cuda::launch how;
        how.threads = warps * kernels::paths_of_warp;
        how.shared_bytes = static_cast<std::uint32_t>(
            table_bytes + (2 * of.components + of.walkers * of.stack) * kernels::bytes_of_place);
        run(from_.kernel_of(points_text(from_.of, into.kind, has_components, from_.approximate), "fill"), how,
            a, has_components ? 1 : of.walkers, on);
        if (of.rotated > 0 && is_normal) rotate(into, of, paths, on);
    }

    void rotate(const cube& into, const placed_points& of, std::uint64_t paths, cuda::stream on) {
        kernels::rotation_arguments a{};
        a.into = part_of(into, of, paths);
        a.slots = of.rotated_slots;
        a.rotation = of.rotation;
        a.rotated = of.rotated;
        a.steps = of.steps;
        a.slot_count = of.slot_count;
        a.groups = static_cast<kernels::word32>(paths / kernels::paths_of_warp * of.steps);
        const std::uint64_t of_warp = from_.of == arrays::element::double_
                                          ? kernels::rotation_bytes<double>(1, of.rotated)
                                          : kernels::rotation_bytes<float>(1, of.rotated);
        const std::uint64_t warps = std::clamp<std::uint64_t>(
            from_.on.properties().shared_bytes_per_block / of_warp, 1, kernels::most_warps_of_rotation);
        cuda::launch how;
        how.threads = static_cast<std::uint32_t>(warps * kernels::paths_of_warp);
        how.shared_bytes = static_cast<std::uint32_t>(warps * of_warp);
        run(from_.kernel_of(rotation_text(from_.of), "rotate"), how, a, warps, on);
    }

    // Launches as many blocks as run at once; each works on many groups of paths.
    template <class arguments>
    void run(cuda::kernel what, cuda::launch how, arguments& a, std::uint64_t teams_of_block,
             cuda::stream on) {
        a.blocks = static_cast<kernels::word32>(
            std::min(resident(what, how), (a.groups + teams_of_block - 1) / teams_of_block));
        how.blocks = a.blocks;
        std::array<void*, 1> pointers{&a};
        from_.on.run(what, how, pointers, on);
    }
    // Remembers blocks by size of launch, since there are few sizes, and asking takes as long as a launch.
    std::uint64_t resident(cuda::kernel what, const cuda::launch& how) {
        const std::tuple size{what, how.threads, how.shared_bytes};
        const auto known = resident_.find(size);
        if (known != resident_.end()) return known->second;
        return resident_.emplace(size, resident_blocks(from_.on, what, how)).first->second;
    }
    kernels::cube_argument part_of(const cube& into, const placed_points& of, std::uint64_t paths) const {
        return {static_cast<std::byte*>(into.first) + of.first_row * into.pitch * arrays::bytes_of(from_.of),
                into.pitch, into.rows - of.first_row, paths};
    }

    // Points for a cube of no trade: row r has dimension r.
    placed_points nameless(kernels::word32 rows, cuda::stream on) {
        if (nameless_rows_ < rows) {
            const kernels::slot_of_points slot{{}, 0, 1, 0};
            std::vector<kernels::word32> dimensions;
            for (kernels::word32 d = 0; d < rows; ++d)
                dimensions.push_back(d < quasi::most_dimensions ? d : kernels::no_dimension);
            // Waits for work that reads the old memory.
            from_.on.wait(on);
            slot_.emplace(from_.on, sizeof slot);
            from_.on.upload(slot_->as<void>(), &slot, sizeof slot, on);
            dimensions_.emplace(from_.on, dimensions.size() * sizeof(kernels::word32));
            from_.on.upload(dimensions_->as<void>(), dimensions.data(), dimensions_->bytes(), on);
            from_.on.wait(on);
            nameless_rows_ = rows;
        }
        placed_points out;
        if (rows == 0) return out;
        out.steps = rows;
        out.slots = slot_->as<kernels::slot_of_points>();
        out.dimensions = dimensions_->as<kernels::word32>();
        out.directions = std::min(rows, quasi::most_dimensions);
        return out;
    }

    opening from_;
    std::uint64_t unit_paths_;
    point_tables tables_;
    std::optional<cuda::device_memory> slot_, dimensions_;
    kernels::word32 nameless_rows_ = 0;
    std::map<std::tuple<cuda::kernel, std::uint32_t, std::uint32_t>, std::uint64_t> resident_;
};

}  // namespace

std::size_t points_scratch(std::uint64_t) {
    return quasi::most_dimensions * kernels::bits_of_index * sizeof(kernels::word32);
}

std::unique_ptr<random_source> open_sobol(const opening& from) {
    return std::make_unique<sobol_points>(from);
}

}  // namespace tilewalk::random
