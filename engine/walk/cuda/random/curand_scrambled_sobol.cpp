// SPDX-License-Identifier: Apache-2.0
// The source curand_scrambled_sobol: a unit is one randomisation of the first points of cuRAND's 64-bit
// scrambled Sobol sequence. cuRAND's scrambling takes no seed, so each randomisation adds a digital shift of
// ours, by dimension, a pure function of the seed. Shifted points are uniform, so means are unbiased;
// randomisations are independent, so their spread is the standard error.
//
// Normal shock n is dimension n. Uniform shocks come from our own Philox: as quasi-random dimensions they
// would either take the best dimensions from the normals or make a path's numbers depend on its neighbours.
#include <algorithm>
#include <string>

#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/curand.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "engine/walk/units.h"

namespace tilewalk::random {

namespace {

// Roughly the memory that cuRAND takes for the direction vectors of all dimensions.
constexpr std::uint64_t direction_bytes = std::uint64_t{32} << 20;

// Memory for points. cuRAND makes all dimensions of a point at once, so there is room for a tile of points.
std::uint64_t points_bytes(std::uint64_t rows) {
    return std::max(std::uint64_t{32} << 20, rows * kernels::paths_per_tile * sizeof(kernels::word64));
}

class sobol_source final : public random_source {
  public:
    sobol_source(const opening& from, const curand_functions& functions)
        : from_(from),
          unit_paths_(run::quasi_unit_paths(from.run_paths)),
          points_(from.on, points_bytes(from.most_rows)),
          generator_(functions, static_cast<int>(curand_type::scrambled_sobol64)) {}

    void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) override {
        if (into.kind == shock_kind::uniform) {
            draw_cube(from_, into, first_path, paths, on);
            return;
        }
        check_chunk(from_, into, first_path, paths);
        check_normals(find("curand_scrambled_sobol", back_end::gpu), into.rows);
        if (into.rows == 0) return;
        from_.on.free_bytes();  // makes the device current in this thread, as cuRAND requires
        generator_.call("curandSetStream", &curand_functions::curandSetStream,
                        reinterpret_cast<void*>(static_cast<std::uintptr_t>(on)));
        generator_.call("curandSetQuasiRandomGeneratorDimensions",
                        &curand_functions::curandSetQuasiRandomGeneratorDimensions,
                        static_cast<unsigned int>(into.rows));
        run::for_each_piece(unit_paths_, first_path, paths,
                            [&](const run::unit_piece& piece) { fill_piece(into, piece, on); });
    }

    std::uint64_t unit_paths() const override { return unit_paths_; }

  private:
    // Fills a part of a unit. Point i depends on i alone, so the rest of the unit is not made.
    void fill_piece(const cube& into, const run::unit_piece& piece, cuda::stream on) {
        const std::uint64_t tiles_per_call =
            points_bytes(from_.most_rows) / (into.rows * kernels::paths_per_tile * sizeof(kernels::word64));
        const std::uint64_t points_per_call = tiles_per_call * kernels::paths_per_tile;
        generator_.call("curandSetGeneratorOffset", &curand_functions::curandSetGeneratorOffset,
                        static_cast<unsigned long long>(piece.from));
        for (std::uint64_t done = 0; done < piece.paths; done += points_per_call) {
            const std::uint64_t points = std::min(points_per_call, piece.paths - done);
            generator_.call("curandGenerateLongLong", &curand_functions::curandGenerateLongLong,
                            points_.as<unsigned long long>(), static_cast<std::size_t>(into.rows * points));
            convert_points(from_, into, {0, into.rows, piece.at + done, points, points_.as<void>(), points},
                           piece.unit, on);
        }
    }

    opening from_;
    std::uint64_t unit_paths_;
    cuda::device_memory points_;
    curand_generator generator_;
};

}  // namespace

std::unique_ptr<random_source> open_sobol_source(const opening& from, const curand_functions& functions) {
    return std::make_unique<sobol_source>(from, functions);
}

std::size_t sobol_scratch(std::uint64_t rows) {
    return points_bytes(rows) + direction_bytes;
}

std::unique_ptr<random_source> open_curand_scrambled_sobol(const opening& from) {
    return open_sobol_source(from, curand_of_machine());
}

}  // namespace tilewalk::random
