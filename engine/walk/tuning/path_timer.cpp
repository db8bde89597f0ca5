// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/path_timer.h"

#include <algorithm>
#include <utility>

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "engine/walk/units.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::tuning {

namespace {

using cuda::kernel_decision;
using cuda::point_way;
using program::shock_type;

constexpr std::uint64_t randomisations = 16;

}  // namespace

path_timer::path_timer(gpu_timer& on, const workload& of, std::uint64_t paths)
    : on_(on), of_(of), paths_(paths > 0 ? paths : of.paths), tables_(on.device(), shock_type(of.precision)) {
    std::vector<run::job> jobs;
    for (const auto& t : of.trades) jobs.push_back({&of.code, &t.data, &t.when});
    auto packed = cuda::pack(jobs, program::real_type(of.precision));
    for (const auto& failure : packed.failures) {
        if (failure) throw *failure;
    }
    share_rows(packed.records, point_way::read);
    const auto all_are = [&](const auto& has) {
        return of.points && std::ranges::all_of(of.trades, [&](const workload::trade& t) {
                   return has(*of.points, of.code, t.when);
               });
    };
    if (all_are(quasi::meets_targets)) share_rows(packed.records, point_way::targets);
    if (all_are(quasi::are_few)) share_rows(packed.records, point_way::made);
    // As many whole tiles as fit into three quarters of free memory with their arrays.
    const std::uint64_t rows = normal_rows(of_way(point_way::read)) +
                               of_way(point_way::targets).points.rows(random::shock_kind::normal) +
                               uniforms_.rows();
    const std::uint64_t most = on.device().free_bytes() / 4 * 3 /
                               std::max<std::uint64_t>(1, rows * bytes_of(shock_type(of.precision)));
    const std::uint64_t tile = kernels::paths_per_tile;
    paths_ = std::max(tile, std::min(paths_, most / tile * tile));
    numbers_ = on.uploaded(packed.numbers);
    words_ = on.uploaded(packed.words);
    results_.emplace(on.device(), cuda::reduction_named(kernel_decision().reduction),
                     cuda::chunk::whole(seed, paths_), results_rows());
}

std::string path_timer::text(const kernel_decision& how) const {
    return cuda::path_kernel_text(of_.code, how);
}

std::string path_timer::why_not(const kernel_decision& how) const {
    const auto& p = on_.device().properties();
    try {
        cuda::check(how, of_.code.slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block});
    } catch (const error& e) {
        return e.message();
    }
    return {};
}

path_timer::prepared path_timer::prepare(const kernel_decision& how, int warps) {
    prepared out;
    out.k = on_.find(text(how), "walk");
    out.how = cuda::launch_of(of_.code, how, of_.trades.size(), kernels::tiles_of(paths_));
    out.shared_bytes = out.how.shared_bytes;
    auto attributes = on_.device().attributes(out.k, out.how);
    out.registers = attributes.registers;
    out.local_bytes = attributes.local_bytes;
    // Asks for unused dynamic shared memory, so that no more than `warps` warps fit.
    const auto& p = on_.device().properties();
    const auto most = static_cast<std::uint32_t>(p.shared_bytes_per_block);
    constexpr std::uint32_t piece = 512;
    while (warps > 0 && attributes.blocks_per_multiprocessor * how[cuda::knobs::block] / 32 > warps &&
           out.how.shared_bytes + piece <= most) {
        out.how.shared_bytes += piece;
        attributes = on_.device().attributes(out.k, out.how);
    }
    out.warps = attributes.blocks_per_multiprocessor * how[cuda::knobs::block] / 32;
    return out;
}

path_timer::arrays_of_kernel& path_timer::arrays_for(const kernel_decision& how) {
    arrays_of_kernel& all = of_way(way_of_points(how));
    if (all.pitch > 0) return all;
    const auto of = shock_type(how.precision);
    all.pitch = random::padded_paths(kernels::tiles_of(paths_) * kernels::paths_per_tile, of);
    random::opening from{on_.device(),
                         [&](const std::string& text, const char* name) { return on_.find(text, name); },
                         seed,
                         paths_,
                         std::max(normal_rows(all), uniforms_.rows()),
                         of};
    from.approximate = program::is_fast(how.precision);
    if (way_of_points(how) == point_way::made) {
        all.made_points = all.points.table_of_made_points(on_.device(), all.memory, on_.stream());
        return all;
    }
    std::vector<cuda::device_memory> slots;
    const std::uint64_t filled = kernels::tiles_of(paths_) * kernels::paths_per_tile;
    const auto fill = [&](std::optional<cuda::device_memory>& memory, const cuda::noise_rows& rows,
                          random::shock_kind kind) {
        if (rows.rows() == 0) return;
        memory.emplace(on_.device(), all.pitch * rows.rows() * bytes_of(of));
        const auto keyed = rows.keyed(on_.device(), slots, on_.stream());
        random::draw_cube(from, {memory->as<void>(), all.pitch, rows.rows(), kind, keyed}, 0, filled,
                          on_.stream());
    };
    if (of_.points) {
        all.normals.emplace(on_.device(), all.pitch * normal_rows(all) * bytes_of(of));
        all.placed = all.points.placed(random::shock_kind::normal, 0, on_.device(), all.memory, on_.stream());
        all.tables = all.points.tables_of_targets(of, on_.device(), all.memory, on_.stream());
        from.unit_paths = run::paths_of_randomisation(paths_, randomisations);
        all.source = random::points().open(from);
        fill_points(all);
    } else {
        fill(all.normals, normals_, random::shock_kind::normal);
    }
    if (way_of_points(how) == point_way::read) fill(all.uniforms, uniforms_, random::shock_kind::uniform);
    on_.device().wait(on_.stream());
    return all;
}

void path_timer::fill_points(arrays_of_kernel& of) {
    if (of.source == nullptr) return;  // paths compute their points
    of.source->fill(
        {of.normals->as<void>(), of.pitch, normal_rows(of), random::shock_kind::normal, {}, of.placed}, 0,
        kernels::tiles_of(paths_) * kernels::paths_per_tile, on_.stream());
}

void path_timer::fill(const kernel_decision& how) {
    if (of_.points) fill_points(arrays_for(how));
}

std::uint64_t path_timer::normal_rows(const arrays_of_kernel& of) const {
    return of_.points ? of.points.rows(random::shock_kind::normal) : normals_.rows();
}

void path_timer::share_rows(std::vector<kernels::trade_record> records, point_way way) {
    arrays_of_kernel& of = of_way(way);
    quasi::order_maker maker;
    std::vector<std::pair<std::size_t, std::size_t>> shares;
    for (const auto& t : of_.trades) {
        const program::path_program& code = of_.code;
        shares.emplace_back(of_.points ? of.points.add(maker.made_for(code, t.data, t.when, *of_.points), way)
                                       : normals_.add(code.normal_streams, code.normals_per_step,
                                                      t.data.normal_names, t.when.steps()),
                            uniforms_.add(code.uniform_streams, code.uniforms_per_step, t.data.uniform_names,
                                          t.when.steps()));
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].normal_row = static_cast<kernels::word32>(
            way == point_way::made ? of.points.first_made_point(shares[i].first)
            : of_.points           ? of.points.first_row(random::shock_kind::normal, shares[i].first)
                                   : normals_.first_row(shares[i].first));
        records[i].uniform_row = static_cast<kernels::word32>(uniforms_.first_row(shares[i].second));
        if (way == point_way::targets)
            records[i].target_step =
                static_cast<kernels::word32>(of.points.first_target_step(shares[i].first));
    }
    of.records = on_.uploaded(records);
}

kernels::path_arguments path_timer::arguments(const kernel_decision& how) {
    kernels::path_arguments a = results_->arguments();
    a.numbers = numbers_->as<void>();
    a.words = words_->as<kernels::word32>();
    a.trade_count = static_cast<kernels::word32>(of_.trades.size());
    const point_way way = way_of_points(how);
    a.trades = of_way(way).records->as<kernels::trade_record>();
    if (way != point_way::read || cuda::reads_shocks(how)) {
        const arrays_of_kernel& c = arrays_for(how);
        const auto argument = [&](const std::optional<cuda::device_memory>& memory, int per_step) {
            kernels::array_argument out{};
            if (memory) {
                out = {memory->as<void>(), c.pitch * static_cast<std::uint64_t>(per_step), c.pitch, 0};
            }
            return out;
        };
        a.normal = argument(c.normals, of_.code.normals_per_step);
        a.uniform = argument(c.uniforms, of_.code.uniforms_per_step);
        a.steps_to_targets = c.tables.steps;
        a.targets_ahead = c.tables.ahead;
        if (way == point_way::made) {
            a.made_points = c.made_points;
            a.directions = tables_.directions(c.points.dimensions_made(), on_.stream());
            a.normals_of_points = tables_.normals(on_.stream());
            a.paths_of_randomisation = run::paths_of_randomisation(paths_, randomisations);
        }
    }
    return a;
}

void path_timer::launch(const kernel_decision& how, const prepared& what) {
    kernels::path_arguments a = arguments(how);
    void* pointers[] = {&a};
    on_.run(what.k, what.how, pointers);
}

std::size_t path_timer::results_rows() const {
    return of_.trades.size() * of_.code.results();
}

std::vector<kernels::tile_result> path_timer::results() {
    return on_.downloaded<kernels::tile_result>(results_->tiles(),
                                                kernels::tiles_of(paths_) * results_rows());
}

std::uint64_t path_timer::bytes_read(const kernel_decision& how) const {
    if (!cuda::reads_shocks(how)) return 0;
    return paths_ * of_.path_steps() *
           static_cast<std::uint64_t>(of_.code.normals_per_step + of_.code.uniforms_per_step) *
           bytes_of(shock_type(how.precision));
}

}  // namespace tilewalk::tuning
