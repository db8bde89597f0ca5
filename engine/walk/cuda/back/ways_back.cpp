// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/back/ways_back.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/compile/reductions.h"
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

// Most bytes of states, shocks and sums of all launches under way on a device.
constexpr std::uint64_t most_bytes_of_launches = std::uint64_t{4} << 30;
// Threads per device for several kinds of programs: while one waits for its launch, others pack or take
// results.
constexpr std::size_t threads_of_device = 4;
constexpr std::uint32_t threads_of_merge = 256;

word32 warps_of(const way_back_decision& how) {
    return kernels::paths_per_tile / (kernels::threads_of_warp * static_cast<word32>(how.width()));
}

struct way_group {
    std::vector<std::size_t> jobs;
    way_back_decision how;
    way_back_kernel kernel;
    std::size_t steps = 0, places = 0;                            // largest of any job
    std::size_t array_rows = 0, scratch_bytes = 0;                // largest of any job that reads arrays
    std::set<std::pair<std::uint32_t, std::uint32_t>> scenarios;  // rows of scenarios that any job reads

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
    // Most bytes of shocks in arrays that a tile of a job needs, if it shares rows with no other job.
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

// Work for one device: either some jobs of a group over a range of tiles, or one job over part of a range.
struct way_piece {
    const way_group* of;
    std::span<const std::size_t> jobs;
    run::tile_range tiles;
};

// Jobs packed for the way forward and for the way back.
struct packed_ways {
    std::vector<std::size_t> numbers;  // of the jobs, in the walk
    std::vector<run::job> jobs;
    packed_trades forth, back;

    packed_ways(std::span<const run::job> all, std::vector<std::size_t> of, number_type type)
        : numbers(std::move(of)) {
        std::vector<run::job> jobs_back;
        for (const std::size_t j : numbers) {
            jobs.push_back(all[j]);
            jobs_back.push_back({&all[j].back.code->back, all[j].back.data, all[j].when, {}});
        }
        forth = pack(jobs, type);
        back = pack(jobs_back, type);
    }
};

// Places of the derivatives of some jobs in one array.
struct places_of_jobs {
    std::vector<std::size_t> sizes;
    std::vector<kernels::derivatives_of_trade> of;
    std::vector<word32> first;  // of each kind of derivative, job after job
    std::size_t all = 0;

    explicit places_of_jobs(std::span<const run::job> jobs) {
        for (const run::job& j : jobs) {
            const program::derivative_places places = program::places_of(*j.back.code, *j.data);
            of.push_back({all, places.size, first.size()});
            for (const std::size_t f : places.first) first.push_back(static_cast<word32>(f));
            sizes.push_back(places.size);
            all += places.size;
        }
    }
};

// Packed trades in a device's memory.
struct trades_in_memory {
    const packed_trades& packed;
    device_memory numbers, words, records;

    trades_in_memory(device& on, const packed_trades& of)
        : packed(of),
          numbers(on, packed.numbers.size()),
          words(on, packed.words.size() * sizeof(word32)),
          records(on, packed.records.size() * sizeof(kernels::trade_record)) {}
    void upload(device& on, stream s) const {
        on.upload(numbers.as<void>(), packed.numbers.data(), packed.numbers.size(), s);
        on.upload(words.as<void>(), packed.words.data(), packed.words.size() * sizeof(word32), s);
        on.upload(records.as<void>(), packed.records.data(), records.bytes(), s);
    }
};

// A piece on a device: its memory and its launches, all in one stream.
class piece_on_device {
  public:
    piece_on_device(loaded_device& on, const way_piece& p, const packed_ways& trades, const chunk& tiles,
                    const shock_plan& plan, stream s)
        : device_(on.get()),
          s_(s),
          p_(p),
          code_(*trades.jobs.front().code),  // the same for all jobs
          blocks_(trades.jobs.size() * tiles.tiles.count),
          places_(trades.jobs),
          forth_(device_, trades.forth),
          back_(device_, trades.back),
          results_(device_, reduction_named("tree"), tiles, trades.jobs.size() * code_.outputs.size()),
          arrays_(on, plan, tiles.tiles.count, 1, s),
          kept_(device_, blocks_ * p.of->kept_bytes()),
          shocks_(device_, blocks_ * p.of->shock_bytes(code_.slots_per_step())),
          sums_(device_, places_.all * tiles.tiles.count * warps_of(p.of->how) * sizeof(double)),
          merged_(device_, tiles.parts() * places_.all * sizeof(double)),
          records_(device_, places_.of.size() * sizeof(kernels::derivatives_of_trade)),
          first_places_(device_, places_.first.size() * sizeof(word32)),
          found(results_.number_of_parts()),
          derivatives(tiles.parts() * places_.all) {}

    void upload() const {
        forth_.upload(device_, s_);
        back_.upload(device_, s_);
        device_.upload(records_.as<void>(), places_.of.data(), records_.bytes(), s_);
        device_.upload(first_places_.as<void>(), places_.first.data(), first_places_.bytes(), s_);
    }
    void walk(kernel both_ways) {
        results_.clear(s_);
        device_.fill(sums_.as<void>(), 0, sums_.bytes(), s_);
        arrays_.fill(0, p_.tiles.first, p_.tiles.count, s_);
        kernels::way_back_arguments a = arguments();
        const launch with{static_cast<std::uint32_t>(blocks_), static_cast<std::uint32_t>(p_.of->how.block()),
                          p_.of->kernel.shared_bytes};
        void* all[] = {&a};
        device_.run(both_ways, with, all, s_);
    }
    void merge(kernel merge_tiles, kernel merge_derivatives) {
        results_.merge(merge_tiles, s_);
        const std::size_t most_places = std::ranges::max(places_.sizes);
        kernels::derivative_merge_arguments a{sums_.as<double>(),
                                              merged_.as<double>(),
                                              records_.as<kernels::derivatives_of_trade>(),
                                              most_places,
                                              static_cast<word32>(p_.tiles.count),
                                              results_.walked().part_tiles(),
                                              warps_of(p_.of->how)};
        const std::size_t blocks_of_part = (most_places + threads_of_merge - 1) / threads_of_merge;
        const launch with{
            static_cast<std::uint32_t>(places_.of.size() * results_.walked().parts() * blocks_of_part),
            threads_of_merge};
        void* all[] = {&a};
        device_.run(merge_derivatives, with, all, s_);
    }
    void download() {
        device_.download(found.data(), results_.parts(), found.size() * sizeof(kernels::tile_result), s_);
        device_.download(derivatives.data(), merged_.as<void>(), merged_.bytes(), s_);
        device_.wait(s_);
    }
    std::span<const std::size_t> places() const { return places_.sizes; }

  private:
    kernels::way_back_arguments arguments() const {
        kernels::way_back_arguments a{};
        a.forth = results_.arguments();
        a.forth.trades = forth_.records.as<kernels::trade_record>();
        a.forth.numbers = forth_.numbers.as<void>();
        a.forth.words = forth_.words.as<word32>();
        a.forth.trade_count = static_cast<word32>(places_.of.size());
        a.forth.normal = arrays_.normals(0, code_.normals_per_step);
        a.forth.uniform = arrays_.uniforms(0, code_.uniforms_per_step);
        a.forth.scenario = arrays_.scenarios(0);
        a.forth.first_path = p_.tiles.first * kernels::paths_per_tile;
        a.back = back_.records.as<kernels::trade_record>();
        a.back_numbers = back_.numbers.as<void>();
        a.back_words = back_.words.as<word32>();
        a.derivatives = records_.as<kernels::derivatives_of_trade>();
        a.first_places = first_places_.as<word32>();
        a.kept = kept_.as<void>();
        a.shocks = shocks_.as<void>();
        a.sums = sums_.as<double>();
        a.most_pieces = static_cast<word32>(p_.of->pieces());
        a.most_steps = static_cast<word32>(p_.of->steps);
        return a;
    }

    device& device_;
    const stream s_;
    const way_piece& p_;
    const program::path_program& code_;
    const std::size_t blocks_;
    const places_of_jobs places_;
    const trades_in_memory forth_, back_;
    chunk_memory results_;
    shock_cubes arrays_;
    const device_memory kept_, shocks_, sums_, merged_, records_, first_places_;

  public:
    std::vector<kernels::tile_result> found;  // indexed [job and output][part]
    std::vector<double> derivatives;          // indexed [job][part][place]
};

class both_ways_walk final : public piecework {
  public:
    both_ways_walk(const run::walk& of, device_crew& crew, const ways_back::decider& how,
                   const random::catalogue_entry& source, const ways_back::tally_callback& take)
        : of_(of),
          crew_(crew),
          source_(source),
          take_(take),
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

    std::vector<std::optional<error>> walk_all(std::uint64_t memory_bytes, int threads) {
        served_.resize(crew_.size());
        room_ = std::min<word64>(room_, crew_.open(memory_bytes, [&](std::size_t d, device& on) {
            const owned_stream s = new_stream(on);
            served_[d].begun.emplace(new_event(on, s.get()));
        }));
        const std::size_t workers_of_device = std::min(threads_of_device, groups_.size());
        room_ /= workers_of_device;
        for (way_group& g : groups_) decide(g);
        compile(threads);
        cut();
        const auto tell = [&] {
            std::unique_lock guard(lock_);
            const run::progress now = done_;
            guard.unlock();
            of_.on_progress(now);
        };
        const bool tells = of_.on_progress != nullptr;
        crew_.walk(*this, pieces_.size(), workers_of_device * crew_.size(), of_.cancel,
                   tells ? tell : std::function<void()>());
        if (tells) tell();
        for (served& by : served_) {
            const double seconds = seconds_of_any(std::move(by.spans));
            crew_.count(0, seconds, seconds);
        }
        return std::move(failures_);
    }

  private:
    // Settles whether shocks are kept for the way back: only if there is room for those of one part.
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
        std::vector<wanted_kernel> wanted{{&merge_tiles_, [&](const error& why) {
                                               for (const way_group& g : groups_) fail(g.jobs, why);
                                           }}};
        for (way_group& g : groups_) {
            wanted.push_back({&g.kernel, [&](const error& why) { fail(g.jobs, why); }});
        }
        crew_.compile(wanted, threads, of_.cancel);
    }

    void fail(std::span<const std::size_t> jobs, const error& why) {
        for (const std::size_t j : jobs)
            if (!failures_[j]) failures_[j] = why;
    }

    // Cuts the work into pieces for whose launches there is room; if possible, at least one for each device.
    void cut() {
        for (way_group& g : groups_) {
            std::erase_if(g.jobs, [&](std::size_t j) { return failures_[j].has_value(); });
            if (g.jobs.empty()) continue;
            const word64 all = g.jobs.size() * asked_.count;
            const word64 share = (all + crew_.size() - 1) / crew_.size();
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

    // A device's error (such as lack of memory) or one of usage (a source short of numbers) ends only a
    // piece.
    ends ended_by(const error& why) const override {
        const bool stays = why.kind() == error_kind::device || why.kind() == error_kind::usage;
        return stays ? ends::piece : ends::work;
    }
    void fail(std::size_t piece, const error& why) override {
        const std::lock_guard guard(lock_);
        fail(pieces_[piece].jobs, why);
    }

    // A device, and the times of the launches on it.
    struct served {
        std::optional<owned_event> begun;
        std::vector<span_of_time> spans;  // in milliseconds since `begun`
    };

    shock_plan plan_for(const run::job& any, precision in) {
        shock_plan plan;
        plan.source = of_.points_of(any) ? &random::points() : &source_;
        plan.replay = of_.replay;
        plan.kernels = &crew_.kernels();
        plan.space = &space_named("global");
        plan.precision = in;
        plan.seed = of_.seed;
        plan.paths = of_.paths;
        plan.unit_paths = of_.unit_paths;
        return plan;
    }
    // Counts the rows of shocks that a job reads from arrays. The job fails if there are not enough.
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
    // Plans the rows that jobs read. Unless they are the same for all, records say where a trade's begin.
    void plan_rows(std::span<const run::job> jobs, shock_plan& plan, packed_trades& packed) const {
        if (plan.are_rows_alike()) {
            for (const run::job& j : jobs) add_rows_alike(*j.code, j.when->steps(), plan);
            return;
        }
        rows_of_jobs rows(plan);
        for (const run::job& j : jobs) rows.add(j, of_.points_of(j));
        rows.end();
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            const rows_of_jobs::first_rows of = rows.first_rows_of(k);
            packed.records[k].normal_row = of.normals;
            packed.records[k].uniform_row = of.uniforms;
        }
    }
    // Packs the jobs of a piece. Jobs that can't be packed fail and are left out.
    packed_ways packed(const way_piece& p) {
        const number_type type = program::real_type(p.of->how.precision);
        packed_ways out(of_.jobs, {p.jobs.begin(), p.jobs.end()}, type);
        std::vector<std::size_t> good;
        for (std::size_t k = 0; k < out.numbers.size(); ++k) {
            if (!out.forth.failures[k]) {
                good.push_back(out.numbers[k]);
                continue;
            }
            const std::lock_guard guard(lock_);
            fail({&out.numbers[k], 1}, *out.forth.failures[k]);
        }
        if (good.size() < out.numbers.size()) out = packed_ways(of_.jobs, std::move(good), type);
        return out;
    }
    bool walk(std::size_t worker, std::size_t piece) override {
        const std::size_t number = worker % crew_.size();
        const way_piece& p = pieces_[piece];
        packed_ways trades = packed(p);
        if (trades.jobs.empty()) return true;
        shock_plan plan = plan_for(trades.jobs.front(), p.of->how.precision);
        plan.scenarios = rows_of(of_.scenarios, trades.forth.scenarios);
        if (p.of->how.reads_arrays) plan_rows(trades.jobs, plan, trades.forth);

        loaded_device& on = crew_[number];
        device& d = on.get();
        const kernel both_ways = p.of->kernel.on(on, "walk_both_ways");
        const kernel merge_derivatives = p.of->kernel.on(on, "merge_derivatives");
        const kernel merge_tiles = merge_tiles_.on(on, "merge_tiles");
        const owned_stream s = new_stream(d);
        piece_on_device there(on, p, trades, {of_.seed, of_.paths, p.tiles, part_tiles_}, plan, s.get());
        in_flight work(d, {s.get()});
        there.upload();
        const owned_event begun = new_event(d, s.get());
        there.walk(both_ways);
        there.merge(merge_tiles, merge_derivatives);
        const owned_event ended = new_event(d, s.get());
        there.download();
        work.end();
        const auto since_begun = [&](const owned_event& e) {
            return d.milliseconds_between(served_[number].begun->get(), e.get());
        };
        const span_of_time ran{since_begun(begun), since_begun(ended)};
        take_found(p, trades.numbers, there);
        const std::lock_guard guard(lock_);
        served_[number].spans.push_back(ran);
        return true;
    }
    void take_found(const way_piece& p, std::span<const std::size_t> jobs, const piece_on_device& there) {
        const std::span<const std::size_t> places = there.places();
        const std::span<const kernels::tile_result> results = there.found;
        const std::span<const double> derivatives = there.derivatives;
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
        const word64 paths =
            std::min(p.tiles.end() * kernels::paths_per_tile, word64{of_.paths}) - first_path;
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
        crew_.count(3);
    }
    const run::walk& of_;
    device_crew& crew_;
    const random::catalogue_entry& source_;
    const ways_back::tally_callback& take_;
    const word64 run_tiles_, part_tiles_;
    const run::tile_range asked_;
    word64 room_ = most_bytes_of_launches;  // bytes for each worker
    std::vector<served> served_;            // by device
    std::vector<way_group> groups_;
    built_kernel merge_tiles_{merge_kernel_text()};
    std::vector<way_piece> pieces_;
    std::mutex lock_;  // guards the members below, and served::spans
    std::vector<std::optional<error>> failures_;
    std::map<std::size_t, run::tally> in_part_;  // by job, of jobs walked in several pieces
    run::progress done_;
};

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

std::string ways_back::text_of(const run::job& j, const way_back_decision& how, bool reads_arrays) {
    return way_back_kernel_of(*j.code, *j.back.code, reads_arrays ? for_arrays(how) : how).text;
}

std::string ways_back::why_not(const run::job& j) {
    return why_no_kernel(*j.code, *j.back.code);
}

std::vector<std::optional<error>> ways_back::walk(const run::walk& of, const tally_callback& take) {
    return both_ways_walk(of, crew_, how_, source_, take).walk_all(memory_bytes_, threads_);
}

}  // namespace tilewalk::cuda
