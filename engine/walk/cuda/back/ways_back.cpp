// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/back/ways_back.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/base/crew.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/chunk.h"
#include "engine/walk/cuda/paths/launch_queue.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/paths/rows_of_jobs.h"
#include "engine/walk/cuda/paths/shock_cubes.h"
#include "kernels/way_back/arguments.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using kernels::word64;

// Most bytes of kept states, shocks and sums of all launches under way.
constexpr std::uint64_t most_bytes_of_launches = std::uint64_t{4} << 30;
// Threads per device for programs of many kinds: while one waits for its launch, others pack or take results.
constexpr std::size_t threads_of_device = 4;
constexpr std::uint32_t threads_of_merge = 256;

word32 warps_of(const way_back_decision& how) {
    return kernels::paths_per_tile / (kernels::threads_of_warp * static_cast<word32>(how.width()));
}

struct way_group {
    std::vector<std::size_t> jobs;
    way_back_decision how;
    way_back_kernel kernel;
    std::map<std::string, std::shared_ptr<const std::string>> cubins;  // by architecture
    std::size_t steps = 0, places = 0;                                 // largest of a job
    std::size_t array_rows = 0, scratch_bytes = 0;                     // likewise, if they read arrays
    std::set<std::pair<std::uint32_t, std::uint32_t>> scenarios;       // rows that any job reads

    std::size_t pieces() const { return (steps + kernel.piece_steps - 1) / kernel.piece_steps; }
    std::size_t kept_bytes() const {
        return (pieces() * kernel.carried + kernel.states_in_memory) * paths() *
               program::bytes_of(program::real_type(how.precision));
    }
    std::size_t shock_bytes(int slots) const {
        const std::size_t shocks =
            how.keeps_shocks ? steps * static_cast<std::size_t>(slots) : kernel.shocks_in_memory;
        return shocks * paths() * bytes_of_shock();
    }
    // Most bytes of the rows of a job's tile in arrays, if it shares none.
    std::size_t array_bytes() const { return array_rows * kernels::paths_per_tile * bytes_of_shock(); }
    std::size_t bytes_of_shock() const { return program::bytes_of(program::traits_of(how.precision).shock); }
    std::size_t sum_bytes() const { return warps_of(how) * places * sizeof(double); }

  private:
    std::size_t paths() const { return static_cast<std::size_t>(how.paths_per_pass()); }
};

std::size_t tile_bytes(const way_group& g, const run::job& any) {
    const std::size_t scenarios = g.scenarios.size() * kernels::paths_per_tile * g.bytes_of_shock();
    const int slots = any.code->slots_per_step();
    return g.kept_bytes() + g.shock_bytes(slots) + g.array_bytes() + g.sum_bytes() + scenarios;
}

// Work for one device: some jobs of a group over all tiles of the walk, or one job over some of them.
struct way_piece {
    const way_group* of;
    std::span<const std::size_t> jobs;
    run::tile_range tiles;
};

class both_ways_walk {
  public:
    both_ways_walk(const run::walk& of, std::span<const std::shared_ptr<loaded_device>> on,
                   counted_kernels& kernels, const ways_back::decider& how, std::uint64_t memory_bytes,
                   const random::catalogue_entry& source, const ways_back::taker& take, gpu_facts& facts)
        : of_(of),
          on_(on),
          kernels_(kernels),
          memory_bytes_(memory_bytes),
          source_(source),
          take_(take),
          facts_(facts),
          run_tiles_(kernels::tiles_of(of.paths)),
          part_tiles_(of.part_tiles()),
          asked_(run::asked_or_all(of.tiles, run_tiles_)),
          failures_(of.jobs.size()) {
        std::map<std::tuple<const void*, const void*, bool>, std::size_t> known;
        for (std::size_t j = 0; j < of.jobs.size(); ++j) {
            const run::job& job = of.jobs[j];
            const bool has_points = of.points_of(job).has_value();
            const auto [at, is_new] = known.try_emplace({job.code, job.back.code, has_points},
                                                        static_cast<std::size_t>(groups_.size()));
            const bool reads_arrays = has_points || of.replay != nullptr || source.rounds == 0;
            if (is_new) groups_.emplace_back().how = reads_arrays ? for_arrays(how(job)) : how(job);
            way_group& g = groups_[at->second];
            g.jobs.push_back(j);
            if (reads_arrays) add_rows_of(j, g);
            g.steps = std::max(g.steps, job.when->steps());
            g.places = std::max(g.places, program::places_of(*job.back.code, *job.data).size);
            for (const program::scenario_rows& slot : job.data->scenarios)
                for (const std::uint32_t row : slot.rows) g.scenarios.emplace(slot.array, row);
        }
    }

    std::vector<std::optional<error>> walk(int threads) {
        for (std::size_t d = 0; d < on_.size(); ++d) {
            served& by = served_.emplace_back();
            try {
                device& on = on_[d]->get();
                const word64 free = on.free_bytes() / 4 * 3;
                room_ = std::min({room_, free, memory_bytes_ == 0 ? free : word64{memory_bytes_}});
                by.architecture = on.properties().architecture();
                const owned_stream s = new_stream(on);
                by.begun.emplace(new_event(on, s.get()));
            } catch (const device_error& e) {
                facts_.shares[d].lost = e;
                by.architecture.clear();
            }
        }
        const std::size_t workers = on_.size() * std::min(threads_of_device, groups_.size());
        room_ /= workers / on_.size();
        for (way_group& g : groups_) decide(g);
        compile(threads);
        cut();
        shared_pieces pieces(pieces_.size(), [this] { return is_stopped(); });
        const auto work = [&](std::size_t worker) { work_on(worker % on_.size(), pieces); };
        if (workers == 1 && !of_.on_progress) {
            work(0);
        } else {
            at_work crew(workers, work);
            do {
                tell();
            } while (!crew.end_within(std::chrono::milliseconds(50)));
        }
        if (of_.cancel != nullptr && of_.cancel->load())
            throw error(error_kind::cancelled, "the run was stopped");
        if (failed_) throw error(*failed_);
        tell();
        for (served& by : served_)
            facts_.kernel_seconds = std::max(facts_.kernel_seconds, seconds_of_any(std::move(by.spans)));
        facts_.device_seconds = facts_.kernel_seconds;
        for (const std::size_t open : pieces.open()) {
            for (const auto& share : facts_.shares)
                if (share.lost) fail(pieces_[open].jobs, *share.lost);
        }
        return std::move(failures_);
    }

  private:
    // Keeps shocks if there is room for those of a part.
    void decide(way_group& g) const {
        const run::job& any = of_.jobs[g.jobs.front()];
        const auto make = [&] { g.kernel = way_back_kernel_of(*any.code, *any.back.code, g.how); };
        make();
        if (!g.how.keeps_shocks) return;
        if (any.code->slots_per_step() > 0 && tile_bytes(g, any) * part_tiles_ <= room_) return;
        g.how.keeps_shocks = false;
        make();
    }

    void compile(int threads) {
        std::vector<std::string> targets;
        for (const served& by : served_) targets.push_back(by.architecture);
        std::ranges::sort(targets);
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        std::erase(targets, "");
        std::mutex lock;
        threads::for_each(groups_.size() * targets.size(), threads, of_.cancel,
                          [&](int, std::uint64_t i) {
                              way_group& g = groups_[i / targets.size()];
                              const std::string& target = targets[i % targets.size()];
                              try {
                                  auto cubin = kernels_.cubin({g.kernel.text, target, {}});
                                  const std::lock_guard guard(lock);
                                  g.cubins.emplace(target, std::move(cubin));
                              } catch (const error& e) {
                                  if (e.kind() == error_kind::cancelled) throw;
                                  const std::lock_guard guard(lock);
                                  fail(g.jobs, e);
                              }
                          },
                          {});
    }

    void fail(std::span<const std::size_t> jobs, const error& why) {
        for (const std::size_t j : jobs)
            if (!failures_[j]) failures_[j] = why;
    }

    // Cuts pieces that fit into the room of a launch, at least one for each device if possible.
    void cut() {
        for (way_group& g : groups_) {
            std::erase_if(g.jobs, [&](std::size_t j) { return failures_[j].has_value(); });
            if (g.jobs.empty()) continue;
            const word64 all = g.jobs.size() * asked_.count;
            const word64 share = (all + on_.size() - 1) / on_.size();
            const word64 room = room_ - std::min(room_, word64{g.scratch_bytes});
            const word64 most =
                std::min(room / (tile_bytes(g, of_.jobs[g.jobs.front()]) + 1), std::max(share, word64{1}));
            for (const run::tile_range& r : run::parts_and_rests(asked_, run_tiles_, part_tiles_))
                cut(g, r, most);
        }
    }
    void cut(way_group& g, const run::tile_range& range, word64 most) {
        const std::span<const std::size_t> jobs(g.jobs);
        if (const word64 together = most / range.count; together > 0) {
            for (std::size_t first = 0; first < jobs.size(); first += together)
                pieces_.push_back(
                    {&g, jobs.subspan(first, std::min<std::size_t>(together, jobs.size() - first)), range});
            return;
        }
        const word64 tiles = std::max(most / part_tiles_, word64{1}) * part_tiles_;
        for (std::size_t j = 0; j < jobs.size(); ++j)
            for (word64 first = range.first; first < range.end(); first += tiles)
                pieces_.push_back({&g, jobs.subspan(j, 1), {first, std::min(tiles, range.end() - first)}});
    }

    bool is_stopped() const { return has_failed_ || (of_.cancel != nullptr && of_.cancel->load()); }
    void tell() {
        if (!of_.on_progress) return;
        std::unique_lock guard(lock_);
        const run::progress now = done_;
        guard.unlock();
        of_.on_progress(now);
    }

    // Walks pieces until there are none. Jobs fail that the device can't do, for lack of memory or of
    // numbers. A lost device leaves its piece to the others. Any other failure ends the walk.
    void work_on(std::size_t d, shared_pieces& pieces) {
        gpu_facts::share& share = facts_.shares[d];
        const auto is_lost = [&] {
            const std::lock_guard guard(lock_);
            return share.lost.has_value();
        };
        std::optional<std::size_t> taken;
        try {
            while (!is_lost() && (taken = pieces.take())) {
                try {
                    const std::optional<span_of_time> ran = walk_piece(*on_[d], served_[d], pieces_[*taken]);
                    const std::lock_guard guard(lock_);
                    if (ran) served_[d].spans.push_back(*ran);
                    share.has_walked = true;
                } catch (const error& e) {
                    const auto* const of_device = dynamic_cast<const device_error*>(&e);
                    const bool stays = e.kind() == error_kind::device || e.kind() == error_kind::usage;
                    if (!stays || (of_device != nullptr && of_device->is_final())) throw;
                    const std::lock_guard guard(lock_);
                    fail(pieces_[*taken].jobs, e);
                }
                pieces.finish();
                taken.reset();
            }
        } catch (const device_error& e) {
            const std::lock_guard guard(lock_);
            share.lost = e;
        } catch (const error& e) {
            end(e);
        } catch (const std::exception& e) {
            end(error(error_kind::internal, e.what()));
        }
        if (taken) pieces.give_back(*taken);
    }
    void end(const error& why) {
        const std::lock_guard guard(lock_);
        if (!failed_) failed_ = why;
        has_failed_ = true;
    }

    struct served {
        std::string architecture;  // empty if lost
        std::optional<owned_event> begun;
        std::vector<span_of_time> spans;  // launches since `begun`
    };

    shock_plan plan_for(const run::job& any, precision in) {
        shock_plan plan;
        plan.source = of_.points_of(any) ? &random::points() : &source_;
        plan.replay = of_.replay;
        plan.kernels = &kernels_;
        plan.space = &space_named("global");
        plan.precision = in;
        plan.seed = of_.seed;
        plan.paths = of_.paths;
        plan.unit_paths = of_.unit_paths;
        return plan;
    }
    // Adds room for the rows of a job. A job that needs more than there is fails.
    void add_rows_of(std::size_t j, way_group& g) {
        const run::job& job = of_.jobs[j];
        shock_plan plan = plan_for(job, g.how.precision);
        std::size_t rows = job.when->steps() * static_cast<std::size_t>(job.code->slots_per_step());
        try {
            if (plan.are_rows_alike()) {
                add_rows_alike(*job.code, job.when->steps(), plan);
                rows = plan.normal_rows + plan.uniform_rows;
            }
        } catch (const error& e) {
            failures_[j] = e;
        }
        g.array_rows = std::max(g.array_rows, rows);
        g.scratch_bytes = std::max(g.scratch_bytes, plan.scratch_bytes());
    }
    // Plans the rows that jobs read. Records name the rows if each job has its own.
    void plan_rows(std::span<const run::job> jobs, shock_plan& plan, packed_trades& packed) const {
        if (plan.are_rows_alike()) {
            for (const run::job& j : jobs) add_rows_alike(*j.code, j.when->steps(), plan);
            return;
        }
        rows_of_jobs rows(plan);
        for (const run::job& j : jobs) rows.add(j, of_.points_of(j));
        rows.end();
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            const rows_of_jobs::first_rows of = rows.of(k);
            packed.records[k].normal_row = of.normals;
            packed.records[k].uniform_row = of.uniforms;
        }
    }
    // Returns when the device walked the piece; empty if no job could be packed.
    std::optional<span_of_time> walk_piece(loaded_device& on, const served& by, const way_piece& p);
    void take_found(const way_piece& p, std::span<const std::size_t> jobs,
                    std::span<const std::size_t> places, std::span<const kernels::tile_result> results,
                    std::span<const double> derivatives);

    const run::walk& of_;
    std::span<const std::shared_ptr<loaded_device>> on_;
    counted_kernels& kernels_;
    const std::uint64_t memory_bytes_;
    const random::catalogue_entry& source_;
    const ways_back::taker& take_;
    gpu_facts& facts_;
    const word64 run_tiles_, part_tiles_;
    const run::tile_range asked_;
    word64 room_ = most_bytes_of_launches;
    std::vector<served> served_;  // by device
    std::vector<way_group> groups_;
    std::vector<way_piece> pieces_;
    std::mutex lock_;  // guards what follows, facts, and spans of devices
    std::vector<std::optional<error>> failures_;
    std::map<std::size_t, run::tally> in_part_;  // by job, if walked in several pieces
    run::progress done_;
    std::optional<error> failed_;
    std::atomic<bool> has_failed_{false};
};

struct trades_in_memory {
    packed_trades packed;
    device_memory numbers, words, records;

    trades_in_memory(device& on, packed_trades made)
        : packed(std::move(made)),
          numbers(on, packed.numbers.size()),
          words(on, packed.words.size() * sizeof(word32)),
          records(on, packed.records.size() * sizeof(kernels::trade_record)) {}
    void upload(device& on, stream s) const {
        on.upload(numbers.as<void>(), packed.numbers.data(), packed.numbers.size(), s);
        on.upload(words.as<void>(), packed.words.data(), packed.words.size() * sizeof(word32), s);
        on.upload(records.as<void>(), packed.records.data(), records.bytes(), s);
    }
};

std::vector<run::job> jobs_back(std::span<const run::job> of) {
    std::vector<run::job> out;
    for (const run::job& j : of) out.push_back({&j.back.code->back, j.back.data, j.when, {}});
    return out;
}

std::optional<span_of_time> both_ways_walk::walk_piece(loaded_device& on, const served& by,
                                                       const way_piece& p) {
    device& d = on.get();
    const way_back_decision& how = p.of->how;
    const number_type type = program::real_type(how.precision);
    std::vector<std::size_t> numbers_of_jobs;
    std::vector<run::job> jobs;
    const auto gather = [&](std::span<const std::size_t> from) {
        numbers_of_jobs.assign(from.begin(), from.end());
        jobs.clear();
        for (const std::size_t j : numbers_of_jobs) jobs.push_back(of_.jobs[j]);
        return std::pair(pack(jobs, type), pack(jobs_back(jobs), type));
    };
    auto [packed, packed_back] = gather(p.jobs);
    std::vector<std::size_t> good;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
        if (!packed.failures[k]) {
            good.push_back(numbers_of_jobs[k]);
            continue;
        }
        const std::lock_guard guard(lock_);
        fail({&numbers_of_jobs[k], 1}, *packed.failures[k]);
    }
    if (good.empty()) return std::nullopt;
    if (good.size() < jobs.size()) std::tie(packed, packed_back) = gather(good);

    const auto merge_cubin = kernels_.cubin({merge_kernel_text(), by.architecture, {}});
    const auto& cubin = p.of->cubins.at(by.architecture);
    const kernel both_ways = on.find(cubin, "walk_both_ways");
    const kernel merge = on.find(cubin, "merge_derivatives");
    const kernel merge_tiles = on.find(merge_cubin, "merge_tiles");

    std::vector<std::size_t> sizes;
    std::vector<kernels::derivatives_of_trade> derivatives_of;
    std::vector<word32> first_places;
    std::size_t all_places = 0, most_steps = 0;
    for (const run::job& j : jobs) {
        const program::derivative_places places = program::places_of(*j.back.code, *j.data);
        derivatives_of.push_back({all_places, places.size, first_places.size()});
        for (const std::size_t first : places.first) first_places.push_back(static_cast<word32>(first));
        sizes.push_back(places.size);
        all_places += places.size;
        most_steps = std::max(most_steps, j.when->steps());
    }
    const std::size_t blocks = jobs.size() * p.tiles.count;
    const std::size_t sum_bytes = all_places * p.tiles.count * warps_of(how) * sizeof(double);

    shock_plan of_arrays = plan_for(jobs.front(), how.precision);
    of_arrays.scenarios = rows_of(of_.scenarios, packed.scenarios);
    if (how.reads_arrays) plan_rows(jobs, of_arrays, packed);

    const owned_stream s = new_stream(d);
    const trades_in_memory forth(d, std::move(packed)), back(d, std::move(packed_back));
    const chunk tiles{of_.seed, of_.paths, p.tiles, part_tiles_};
    const std::size_t rows = jobs.size() * jobs.front().code->outputs.size();  // all have one program
    chunk_memory results(d, reduction_named("tree"), tiles, rows);
    const std::size_t parts = tiles.parts();
    shock_cubes arrays(on, of_arrays, p.tiles.count, 1, s.get());
    const device_memory kept(d, blocks * p.of->kept_bytes()),
        shocks(d, blocks * p.of->shock_bytes(jobs.front().code->slots_per_step())), sums(d, sum_bytes),
        merged(d, parts * all_places * sizeof(double)),
        records(d, derivatives_of.size() * sizeof(kernels::derivatives_of_trade)),
        places(d, first_places.size() * sizeof(word32));
    std::vector<kernels::tile_result> found(parts * rows);
    std::vector<double> derivatives(parts * all_places);
    in_flight work(d, {s.get()});
    forth.upload(d, s.get());
    back.upload(d, s.get());
    d.upload(records.as<void>(), derivatives_of.data(), records.bytes(), s.get());
    d.upload(places.as<void>(), first_places.data(), places.bytes(), s.get());
    const owned_event begun = new_event(d, s.get());
    results.clear(s.get());
    d.fill(sums.as<void>(), 0, sum_bytes, s.get());
    arrays.fill(0, p.tiles.first, p.tiles.count, s.get());

    kernels::way_back_arguments a{};
    a.forth = results.arguments();
    a.forth.trades = forth.records.as<kernels::trade_record>();
    a.forth.numbers = forth.numbers.as<void>();
    a.forth.words = forth.words.as<word32>();
    a.forth.trade_count = static_cast<word32>(jobs.size());
    a.forth.normal = arrays.normals(0, jobs.front().code->normals_per_step);
    a.forth.uniform = arrays.uniforms(0, jobs.front().code->uniforms_per_step);
    a.forth.scenario = arrays.scenarios(0);
    a.forth.first_path = p.tiles.first * kernels::paths_per_tile;
    a.back = back.records.as<kernels::trade_record>();
    a.back_numbers = back.numbers.as<void>();
    a.back_words = back.words.as<word32>();
    a.derivatives = records.as<kernels::derivatives_of_trade>();
    a.first_places = places.as<word32>();
    a.kept = kept.as<void>();
    a.shocks = shocks.as<void>();
    a.sums = sums.as<double>();
    a.most_pieces = static_cast<word32>(p.of->pieces());
    a.most_steps = static_cast<word32>(p.of->steps);
    launch with;
    with.blocks = static_cast<std::uint32_t>(blocks);
    with.threads = static_cast<std::uint32_t>(how.block());
    with.shared_bytes = p.of->kernel.shared_bytes;
    void* arguments[] = {&a};
    d.run(both_ways, with, arguments, s.get());
    results.merge(merge_tiles, s.get());
    const std::size_t most_places = std::ranges::max(sizes);
    kernels::derivative_merge_arguments m{sums.as<double>(),
                                          merged.as<double>(),
                                          records.as<kernels::derivatives_of_trade>(),
                                          most_places,
                                          static_cast<word32>(p.tiles.count),
                                          tiles.part_tiles(),
                                          warps_of(how)};
    launch merging;
    merging.threads = threads_of_merge;
    merging.blocks = static_cast<std::uint32_t>(jobs.size() * parts *
                                                ((most_places + threads_of_merge - 1) / threads_of_merge));
    void* merge_arguments[] = {&m};
    d.run(merge, merging, merge_arguments, s.get());
    const owned_event ended = new_event(d, s.get());
    d.download(found.data(), results.parts(), found.size() * sizeof(kernels::tile_result), s.get());
    d.download(derivatives.data(), merged.as<void>(), derivatives.size() * sizeof(double), s.get());
    d.wait(s.get());
    work.end();
    const auto since = [&](const owned_event& e) { return d.milliseconds_between(by.begun->get(), e.get()); };
    const span_of_time ran{since(begun), since(ended)};
    take_found(p, numbers_of_jobs, sizes, found, derivatives);
    return ran;
}

void both_ways_walk::take_found(const way_piece& p, std::span<const std::size_t> jobs,
                                std::span<const std::size_t> places,
                                std::span<const kernels::tile_result> results,
                                std::span<const double> derivatives) {
    const std::size_t outputs = of_.jobs[jobs.front()].code->outputs.size();
    const std::size_t parts = results.size() / (jobs.size() * outputs);
    std::vector<kernels::tile_result> of_part(outputs);
    const auto add = [&](run::tally& to, std::size_t k, std::size_t first_place) {
        for (std::size_t q = 0; q < parts; ++q) {
            const word64 first = p.tiles.first + q * part_tiles_;
            for (std::size_t o = 0; o < outputs; ++o) of_part[o] = results[(k * outputs + o) * parts + q];
            to.add({first, std::min(part_tiles_, p.tiles.end() - first)}, of_part,
                   derivatives.subspan((first_place * parts + q * places[k]), places[k]));
        }
    };
    const word64 first_path = p.tiles.first * kernels::paths_per_tile;
    const word64 paths = std::min(p.tiles.end() * kernels::paths_per_tile, word64{of_.paths}) - first_path;
    std::size_t first_place = 0;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
        const std::size_t j = jobs[k];
        run::tally whole(run_tiles_, part_tiles_, outputs, {}, places[k]);
        bool is_whole = p.tiles.count == asked_.count;
        if (is_whole) {
            whole.expect_all();
            add(whole, k, first_place);
        } else {
            const std::lock_guard guard(lock_);
            run::tally& so_far = in_part_.try_emplace(j, whole).first->second;
            add(so_far, k, first_place);
            word64 known = 0;
            for (const run::tile_range& r : so_far.known()) known += r.count;
            is_whole = known == asked_.count;
            if (is_whole) whole = std::move(in_part_.extract(j).mapped());
        }
        first_place += places[k];
        if (is_whole) take_(j, whole);
        const std::lock_guard guard(lock_);
        done_.path_steps_done += paths * of_.jobs[j].when->steps();
        if (is_whole) ++done_.jobs_done;
    }
    const std::lock_guard guard(lock_);
    facts_.launches += 3;
}

}  // namespace

ways_back::decider ways_back::as_suits(program::precision precision, int rounds,
                                       const std::optional<tuned_device>& measured) {
    return [=](const run::job& j) {
        way_back_decision by_rules = best_way_back(precision, rounds, *j.code, *j.back.code);
        if (!measured) return by_rules;
        const auto found = measured->choices.find(measured->on, j.back.code->back, open_wish_of(by_rules));
        if (!found) return by_rules;
        const way_back_decision as_found = read_by(by_rules, found->how);
        return have_same_bits(as_found, by_rules) ? as_found : by_rules;
    };
}

std::string ways_back::why_not(const run::job& j) {
    return why_no_kernel(*j.code, *j.back.code);
}

std::vector<std::optional<error>> ways_back::walk(const run::walk& of, const taker& take) {
    facts_.shares.resize(on_.size());
    return both_ways_walk(of, on_, kernels_, how_, memory_bytes_, source_, take, facts_).walk(threads_);
}

gpu_facts ways_back::facts() const {
    gpu_facts out = facts_;
    out.kernels_compiled = kernels_.compiled();
    out.kernels_from_cache = kernels_.from_cache();
    return out;
}

}  // namespace tilewalk::cuda
