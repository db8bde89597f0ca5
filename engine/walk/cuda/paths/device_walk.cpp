// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/device_walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/tile.h"

namespace tilewalk::cuda {

using kernels::word32;
using kernels::word64;
using run::tile_range;

namespace {

// Larger results are downloaded to ordinary memory, since pinning memory for them takes longer.
constexpr std::size_t most_landing_bytes = std::size_t{1} << 20;

// Arguments for the tiles `part` of a chunk; rows of results keep the chunk's length. Blocks are ordered by
// tile first, so that the first blocks walk the first tile of `part` for all trades.
kernels::path_arguments part_of(kernels::path_arguments chunk, const tile_range& part) {
    const word64 skipped = part.first - chunk.first_tile;
    chunk.trades_first = 1;
    chunk.first_tile = part.first;
    chunk.results += skipped;
    if (chunk.payoffs != nullptr) chunk.payoffs += skipped * kernels::paths_per_tile;
    return chunk;
}

}  // namespace

device_walk::device_walk(loaded_device& on, run_state& run)
    : on_(on),
      device_(on.get()),
      run_(run),
      reduction_(reduction_named(run.run.how.reduction)),
      main_(new_stream(device_)),
      sides_{new_stream(device_), new_stream(device_), new_stream(device_)},
      fills_(new_stream(device_)),
      trades_(on, run, main_.get()),
      room_(chunk_room::on(device_, run, reduction_)) {}

void device_walk::begin_again() {
    counted_ = 0;
    seconds_ = kernel_seconds_ = 0;
    launches_ = 0;
    trades_.bring_changes(main_.get());
}

// Nothing is left of a walk for which memory was short, as another run may find more.
std::optional<std::size_t> device_walk::bytes_left() const {
    if (shocks_ || is_cut_) return std::nullopt;
    return run_.packed.bytes() + (results_ ? results_->bytes() : 0);
}

void device_walk::walk(const tile_range& range, std::vector<chunk_results>& into,
                       const tile_range& following) {
    if (range.count <= room_.most_tiles) {
        const word64 counted_before = counted_;
        try {
            into.push_back(walk_at_once(range, first_chunk(following)));
            return;
        } catch (const device_error& e) {
            uncount(counted_before);
            if (e.failure() != device_failure::out_of_memory) throw;
            const bool had_room_to_spare = run_.shocks && (room_.sets > 1 || chunk_tiles() > 1);
            if (range.count == 1 && !had_room_to_spare) throw;
            shrink_to(range.first_half());
            if (range.count == 1) return walk(range, into, following);
        }
    }
    is_cut_ = true;
    const word64 half = range.first_half();
    const tile_range rest{range.first + half, range.count - half};
    walk({range.first, half}, into, rest);
    walk(rest, into, following);
}

tile_range device_walk::first_chunk(tile_range of) const {
    while (of.count > room_.most_tiles) of.count = of.first_half();
    return of;
}

word64 device_walk::chunk_tiles() const {
    return std::min(room_.most_tiles, run_.most_tiles);
}

void device_walk::shrink_to(word64 tiles) {
    shocks_.reset();
    moves_.reset();
    results_.reset();
    room_ = {tiles, 1};
    is_cut_ = true;
}

void device_walk::uncount(word64 down_to) {
    run_.path_steps_done -= counted_ - down_to;
    counted_ = down_to;
}

void device_walk::open_memory(const chunk& of) {
    if (results_ && results_->fits(of)) return results_->turn_to(of);
    results_.reset();
    results_.emplace(device_, reduction_, of, run_.packed.results);
}

void device_walk::open_shocks() {
    if (!run_.shocks || shocks_) return;
    shocks_.emplace(on_, *run_.shocks, chunk_tiles(), room_.sets, fills_.get());
    if (run_.moves.rows > 0) moves_.emplace(device_, run_.moves, chunk_tiles());
}

std::vector<stream> device_walk::streams() const {
    return {main_.get(), sides_[0].get(), sides_[1].get(), sides_[2].get(), fills_.get()};
}

// The side stream, made to wait until the chunk's results are cleared.
stream device_walk::begun(std::size_t side) {
    const stream s = sides_[side].get();
    if (!has_begun_[side]) device_.wait_for(s, cleared_->get());
    has_begun_[side] = true;
    return s;
}

std::vector<owned_event> device_walk::join_sides() {
    std::vector<owned_event> walked;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        if (!std::exchange(has_begun_[i], false)) continue;
        walked.push_back(new_event(device_, sides_[i].get()));
        device_.wait_for(main_.get(), walked.back().get());
    }
    return walked;
}

kernels::tile_result* device_walk::landing_for(std::vector<kernels::tile_result>& results) {
    const std::size_t bytes = results.size() * sizeof(kernels::tile_result);
    if (bytes > most_landing_bytes) return results.data();
    if (!landing_ || landing_->bytes() < bytes) {
        landing_.reset();
        landing_.emplace(device_, bytes);
    }
    return landing_->as<kernels::tile_result>();
}

// Walks one chunk, while the shocks of the next are made.
chunk_results device_walk::walk_at_once(const tile_range& range, const tile_range& next) {
    open_memory({run_.run.seed, run_.run.paths, range, run_.part_tiles});
    chunk_results out{range, std::vector<kernels::tile_result>(results_->number_of_parts())};
    kernels::tile_result* const landing = landing_for(out.results);
    launch_queue queue(device_, run_, counted_);
    open_shocks();
    in_flight guard(device_, streams());
    if (shocks_) shocks_->make_current(range, main_.get());
    has_begun_ = {};
    results_->clear(main_.get());
    cleared_.emplace(new_event(device_, main_.get()));
    launch_groups(queue);
    if (shocks_) shocks_->make_ahead(next);
    const std::vector<owned_event> walked = join_sides();
    owned_event merging = new_event(device_, main_.get());
    results_->merge(run_.merge.on(on_, "merge_tiles"), main_.get());
    queue.add(std::move(merging), main_.get(), 0, 0);
    device_.download(landing, results_->parts(), out.results.size() * sizeof(kernels::tile_result),
                     main_.get());
    const owned_event end = new_event(device_, main_.get());
    queue.wait();
    queue.wait_until(end);
    device_.wait(main_.get());
    if (!shocks_) guard.end();
    if (landing != out.results.data()) std::copy_n(landing, out.results.size(), out.results.data());
    seconds_ += device_.milliseconds_between(cleared_->get(), end.get()) / 1000;
    kernel_seconds_ += queue.busy_seconds(*cleared_);
    return out;
}

void device_walk::launch_groups(launch_queue& queue) {
    for (std::size_t i = 0; i < run_.groups.size(); ++i) {
        const job_group& g = run_.groups[i];
        if (g.failed) continue;
        try {
            launch_group(i, queue);
        } catch (const device_error& e) {
            // If the device refuses a launch, only this group fails; any other device error ends the walk.
            if (e.failure() != device_failure::refused) throw;
            run_.fail(g.jobs, e);
        }
    }
}

void device_walk::launch_group(std::size_t group, launch_queue& queue) {
    const job_group& g = run_.groups[group];
    const launch_sizes& sizes = trades_.sizes(group);
    const tile_range& chunk = results_->walked().tiles;
    const kernel walk = g.walk.on(on_, "walk");
    // A module has one constant variable for numbers, so launches that use it must share a stream.
    const bool one_side = trades_.numbers_are_constant();
    for (const job_list& list : trades_.lists(group)) {
        kernels::path_arguments all = arguments_of(group, list);
        const word64 at_once = sizes.tiles_at_once(list, chunk.count);
        std::size_t side = (one_side ? group : next_side_++) % sides_of(g);
        for (tile_range part{chunk.first, at_once}; part.first < chunk.end(); part.first += at_once) {
            part.count = std::min(at_once, chunk.end() - part.first);
            const bool is_first = part.first == chunk.first;
            // Moves must be read in the stream that makes them.
            if (!is_first && !one_side && !g.reads_moves()) side = next_side_++ % sides_of(g);
            const stream s = begun(side);
            const double work = sizes.work(list, part.count);
            queue.make_room(work);
            if (is_first && one_side) trades_.upload_constants(g, list, s);
            owned_event begin = new_event(device_, s);
            if (is_first && g.reads_moves()) all.normal = make_moves(g, list, chunk, side, all.normal);
            kernels::path_arguments a = part == chunk ? all : part_of(all, part);
            launch how = launch_of(*g.code, g.how, list.count, part.count);
            if (!shocks_ || !shocks_->keep_in_l2(how)) trades_.keep_in_l2(how);
            void* arguments[] = {&a};
            device_.run(walk, how, arguments, s);
            queue.add(std::move(begin), s, path_steps(g, list, part), work);
            ++launches_;
        }
    }
}

std::size_t device_walk::sides_of(const job_group& g) const {
    return g.reads_moves() ? moves_cubes::count : std::size(sides_);
}

kernels::array_argument device_walk::make_moves(const job_group& g, const job_list& list,
                                                const tile_range& chunk, std::size_t side,
                                                const kernels::array_argument& shocks) {
    return moves_->make(side, g.correlate.on(on_, "correlate"), run_.separated.numbers(g.jobs[list.first]),
                        shocks, run_.shocks_of_moves[g.jobs[list.first]],
                        chunk.count * kernels::paths_per_tile, sides_[side].get());
}

kernels::path_arguments device_walk::arguments_of(std::size_t group, const job_list& list) const {
    const job_group& g = run_.groups[group];
    kernels::path_arguments a = results_->arguments();
    trades_.point(a);
    a.trades = trades_.records(group, list);
    a.trade_count = static_cast<word32>(list.count);
    a.trades_first = g.walks_trades_side_by_side() ? 1 : 0;
    if (a.trades_first != 0) a.first_path = a.first_tile * kernels::paths_per_tile;
    if (g.reads_shocks()) {
        a.normal = shocks_->normals(g.code->normals_per_step);
        a.uniform = shocks_->uniforms(g.code->uniforms_per_step);
    }
    if (g.meets_targets()) {
        a.normal = shocks_->normals(g.code->normals_per_step);
        a.steps_to_targets = shocks_->targets().steps;
        a.targets_ahead = shocks_->targets().ahead;
    }
    if (g.makes_points()) shocks_->point_to_tables(a);
    if (g.reads_scenarios()) a.scenario = shocks_->scenarios();
    return a;
}

word64 device_walk::path_steps(const job_group& g, const job_list& list, const tile_range& range) const {
    word64 steps = 0;
    for (std::size_t i = list.first; i < list.first + list.count; ++i) {
        steps += run_.packed.records[g.jobs[i]].steps;
    }
    const word64 first = range.first * kernels::paths_per_tile;
    return steps * std::min(run_.run.paths - first, range.count * kernels::paths_per_tile);
}

}  // namespace tilewalk::cuda
