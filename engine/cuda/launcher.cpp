// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/launcher.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "engine/cuda/best_choice.h"
#include "engine/cuda/chunk.h"
#include "engine/cuda/counted_kernels.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/moves_walk.h"
#include "engine/cuda/reductions.h"
#include "engine/cuda/shock_cubes.h"
#include "engine/cuda/spaces.h"
#include "engine/cuda/staging.h"
#include "engine/run/tile_range.h"
#include "engine/run/units.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;

using run::tile_range;

// The results of a chunk of the run: its parts, one after the other, for each row of results.
struct chunk_results {
    tile_range tiles;
    std::vector<tile_result> results;  // [row][part of the chunk]
};

// A text compiled for each architecture there is among the devices.
struct built_kernel {
    std::string text;
    std::map<std::string, std::shared_ptr<const std::string>> cubins;
};

// All jobs that one kernel walks.
struct job_group {
    built_kernel walk;
    built_kernel correlate;  // makes the moves that walk reads, job by job; no text: walk reads shocks
    const program::path_program* code = nullptr;
    kernel_choice how;
    std::vector<std::size_t> jobs;  // longest first
    bool failed = false;            // to compile, or no device can run it

    bool reads_moves() const { return !correlate.text.empty(); }
    std::size_t factors() const { return static_cast<std::size_t>(code->normals_per_step); }
};

// What the threads of a run share.
struct run_state {
    const gpu_run& run;
    const separated_jobs& separated;
    const packed_trades& packed;
    std::vector<job_group> groups;
    std::optional<shock_plan> shocks;  // if they, or scenarios, come from arrays
    moves_cubes::needs moves;          // no rows: no job reads any
    word64 part_tiles = 1;             // that are merged on a device; the host merges parts
    word64 most_tiles = 0;             // of a piece
    built_kernel merge;
    std::mutex lock;  // of outcome
    gpu_outcome& outcome;
    std::atomic<word64> path_steps_done{0};
    std::atomic<bool> given_up{false};  // the run has failed: nobody needs the rest

    bool stopped() const { return given_up || (run.cancel != nullptr && run.cancel->load()); }
    void fail(const std::vector<std::size_t>& jobs, const error& why) {
        const std::lock_guard guard(lock);
        for (const std::size_t j : jobs) {
            if (!outcome.failures[j]) outcome.failures[j] = why;
        }
    }
    void fail_all(const error& why) {
        for (const job_group& g : groups) fail(g.jobs, why);
    }
};

struct stopped_early {};

// One device at work on a run.
class device_walk {
  public:
    device_walk(loaded_device& on, run_state& state)
        : on_(on),
          device_(on.get()),
          architecture_(device_.properties().architecture()),
          state_(state),
          row_space_(space_named(state.run.how.row_space)),
          reduction_(reduction_named(state.run.how.reduction)),
          main_(new_stream(device_)),
          side_{new_stream(device_), new_stream(device_), new_stream(device_)},
          fills_(new_stream(device_)),
          words_(device_, state.packed.words.size() * sizeof(word32)),
          records_(device_, state.packed.records.size() * sizeof(kernels::trade_record)) {
        upload();
        choose_chunks();
    }

    // The range, cut into chunks that fit. Where memory runs out on the way, smaller ones do. `following` is
    // walked after it, if there is any.
    void walk(const tile_range& range, std::vector<chunk_results>& into, const tile_range& following = {}) {
        if (range.count <= most_tiles_) {
            const word64 counted_before = counted_;
            try {
                into.push_back(walk_at_once(range, first_chunk(following)));
                return;
            } catch (const device_error& e) {
                uncount(counted_before);
                if (e.failure() != device_failure::out_of_memory) throw;
                const bool had_room_to_spare = state_.shocks && (sets_ > 1 || cube_tiles() > 1);
                if (range.count == 1 && !had_room_to_spare) throw;
                drop_cubes();
                sets_ = 1;
                set_ = 0;
                most_tiles_ = range.first_half();
                if (range.count == 1) return walk(range, into, following);
            }
        }
        const word64 half = range.first_half();
        const tile_range rest{range.first + half, range.count - half};
        walk({range.first, half}, into, rest);
        walk(rest, into, following);
    }

    // What was walked last came to nothing: its steps are not done.
    void uncount(word64 down_to) {
        state_.path_steps_done -= counted_ - down_to;
        counted_ = down_to;
    }
    word64 counted() const { return counted_; }
    double seconds() const { return seconds_; }
    double kernel_seconds() const { return kernel_seconds_; }
    std::size_t launches() const { return launches_; }

  private:
    // Some jobs of a group, side by side in its order.
    struct job_list {
        std::size_t first = 0, count = 0;
    };
    struct timed_launch {
        owned_event begin, end;
        word64 path_steps;
    };

    // Numbers in constant memory change from launch to launch; everywhere else all stay for the run.
    bool numbers_are_constant() const { return row_space_.lives_in == residence::constant_variable; }

    // Records go up in the order of the launches: group by group, each in lists of one launch.
    void upload() {
        const packed_trades& p = state_.packed;
        std::vector<kernels::trade_record> records;
        records.reserve(p.records.size());
        for (const job_group& g : state_.groups) {
            const std::size_t first = records.size();
            lists_.push_back(lists_of(g));
            for (const std::size_t j : g.jobs) records.push_back(p.records[j]);
            if (!numbers_are_constant()) continue;
            for (const job_list& list : lists_.back()) {
                word64 at = 0;
                for (std::size_t i = list.first; i < list.first + list.count; ++i) {
                    records[first + i].numbers_at = at;
                    at += p.numbers_of(g.jobs[i]).size() / p.number_bytes;
                }
            }
        }
        staging through(device_, main_.get());
        if (row_space_.lives_in == residence::mapped_memory) {
            mapped_numbers_.emplace(device_, p.numbers.size());
            std::copy(p.numbers.begin(), p.numbers.end(), mapped_numbers_->as<std::byte>());
            numbers_at_ = mapped_numbers_->on_device<void>();
        } else if (!numbers_are_constant()) {
            numbers_.emplace(device_, p.numbers.size());
            through.put(numbers_->as<std::byte>(), p.numbers);
            numbers_at_ = numbers_->as<void>();
        }
        through.put(words_.as<std::byte>(), std::as_bytes(std::span(p.words)));
        through.put(records_.as<std::byte>(), std::as_bytes(std::span(records)));
        device_.wait(main_.get());
        if (row_space_.lives_in == residence::texture_object) {
            check_fits(row_space_, p.numbers.size() / p.number_bytes, static_cast<int>(p.number_bytes));
            numbers_texture_.emplace(
                device_,
                device_.open_texture(numbers_at_, p.numbers.size(),
                                     p.number_bytes == sizeof(float) ? texel::single : texel::two_words));
        }
    }

    // What one launch walks: of moderate length, since a run that is stopped waits for what is in flight, and
    // no more than constant memory holds, if the numbers go there.
    std::vector<job_list> lists_of(const job_group& g) const {
        constexpr word64 most_path_steps = word64{1} << 35;
        const word64 most_jobs = g.reads_moves() ? 1 : 65536;
        std::vector<job_list> out;
        word64 steps = 0, bytes = 0;
        for (std::size_t i = 0; i < g.jobs.size(); ++i) {
            const word64 own_steps = state_.packed.records[g.jobs[i]].steps;
            const word64 own_bytes = state_.packed.numbers_of(g.jobs[i]).size();
            if (out.empty() || (steps + own_steps) * state_.run.paths > most_path_steps ||
                out.back().count >= most_jobs ||
                (numbers_are_constant() && bytes + own_bytes > row_space_.most_bytes)) {
                out.push_back({i, 0});
                steps = bytes = 0;
            }
            ++out.back().count;
            steps += own_steps;
            bytes += own_bytes;
        }
        return out;
    }

    // What `walk` walks at once when it comes to this range.
    tile_range first_chunk(tile_range of) const {
        while (of.count > most_tiles_) of.count = of.first_half();
        return of;
    }

    // As large as memory has room for, with what the shocks take if they come from arrays. Where that makes
    // several chunks, half as much room for each of two sets of cubes: one is filled while the other is read.
    void choose_chunks() {
        std::size_t budget = device_.free_bytes() / 10 * 9;
        if (state_.run.memory_bytes != 0) {
            // The trades are there already, which the free memory knows and the allowance does not.
            const auto allowed = static_cast<std::size_t>(state_.run.memory_bytes);
            budget = std::min(budget, allowed - std::min(allowed, state_.packed.bytes()));
        }
        const std::size_t rows = state_.packed.results;
        const std::size_t per_part = rows * chunk_memory::bytes_per_part(reduction_);
        std::size_t always = per_part;
        std::size_t per_tile = rows * chunk_memory::bytes_per_tile(reduction_) +
                               (state_.part_tiles > 1 ? per_part / state_.part_tiles + 1 : per_part);
        word64 most = ~word64{0} >> 1;
        std::size_t per_tile_of_set = 0;
        if (state_.shocks) {
            always += state_.shocks->scratch_bytes();
            per_tile_of_set = state_.shocks->bytes_per_tile();
            most = state_.shocks->most_tiles();
        }
        always += state_.moves.bytes_always();
        per_tile += state_.moves.bytes_per_tile();
        const auto fit = [&](std::size_t sets) {
            const word64 tiles =
                budget > always ? (budget - always) / (per_tile + sets * per_tile_of_set) : 0;
            return std::min(tiles, most);
        };
        most_tiles_ = std::max<word64>(1, fit(1));
        if (!state_.shocks || most_tiles_ >= state_.most_tiles || fit(2) == 0) return;
        sets_ = 2;
        most_tiles_ = fit(2);
    }

    // Room for any chunk.
    word64 cube_tiles() const { return std::min(most_tiles_, state_.most_tiles); }

    void drop_cubes() {
        cubes_.reset();
        moves_.reset();
        ahead_ = {};
    }

    // Asks for the shocks of a chunk, in a set that nobody reads.
    void fill(std::size_t set, const tile_range& chunk) {
        cubes_->fill(set, chunk.first, chunk.count, fills_.get());
        filled_.emplace(new_event(device_, fills_.get()));
    }

    // The work of `main_` from here on finds the shocks of the chunk in the set `set_`.
    void take_shocks_of(const tile_range& chunk) {
        if (ahead_ == chunk) {
            set_ = 1 - set_;
        } else {
            fill(set_, chunk);
        }
        ahead_ = {};
        device_.wait_for(main_.get(), filled_->get());
    }

    // Who read the other set has ended: walk_at_once waits for its chunk.
    void make_shocks_ahead(const tile_range& next) {
        if (sets_ < 2 || next.count == 0) return;
        fill(1 - set_, next);
        ahead_ = next;
    }

    // While it walks, the shocks of the next chunk are made.
    chunk_results walk_at_once(const tile_range& range, const tile_range& next) {
        chunk_memory into(device_, reduction_, {state_.run.seed, state_.run.paths, range, state_.part_tiles},
                          state_.packed.results);
        chunk_results out{range, std::vector<tile_result>(into.number_of_parts())};
        std::vector<timed_launch> launched;
        if (state_.shocks && !cubes_) {
            cubes_.emplace(on_, *state_.shocks, cube_tiles(), sets_);
            if (state_.moves.rows > 0) moves_.emplace(device_, state_.moves, cube_tiles());
        }
        const in_flight guard(device_,
                              {main_.get(), side_[0].get(), side_[1].get(), side_[2].get(), fills_.get()});
        ended_ = 0;
        if (cubes_) take_shocks_of(range);
        into.clear(main_.get());
        const owned_event begin = new_event(device_, main_.get());
        for (const owned_stream& s : side_) device_.wait_for(s.get(), begin.get());
        launch_groups(into, launched);
        if (cubes_) make_shocks_ahead(next);
        std::vector<owned_event> done;
        for (const owned_stream& s : side_) {
            done.push_back(new_event(device_, s.get()));
            device_.wait_for(main_.get(), done.back().get());
        }
        owned_event merging = new_event(device_, main_.get());
        into.merge(on_.find(state_.merge.cubins.at(architecture_), "merge_tiles"), main_.get());
        launched.push_back({std::move(merging), new_event(device_, main_.get()), 0});
        device_.download(out.results.data(), into.parts(), out.results.size() * sizeof(tile_result),
                         main_.get());
        const owned_event end = new_event(device_, main_.get());
        drain(launched, 0);
        device_.wait(main_.get());
        seconds_ += device_.milliseconds_between(begin.get(), end.get()) / 1000;
        kernel_seconds_ += busy_seconds(begin, launched);
        return out;
    }

    void launch_groups(const chunk_memory& into, std::vector<timed_launch>& launched) {
        const tile_range& range = into.of().tiles;
        std::size_t first_record = 0;
        for (std::size_t i = 0; i < state_.groups.size(); ++i) {
            const job_group& g = state_.groups[i];
            const kernels::trade_record* records = records_.as<kernels::trade_record>() + first_record;
            first_record += g.jobs.size();
            if (g.failed) continue;
            try {
                const auto& cubin = g.walk.cubins.at(architecture_);
                const kernel k = on_.find(cubin, "walk");
                for (const job_list& list : lists_[i]) {
                    // A module has one variable for numbers: its launches follow each other.
                    const std::size_t turn = numbers_are_constant() ? i : next_stream_++;
                    const std::size_t lane = turn % (g.reads_moves() ? moves_cubes::count : std::size(side_));
                    const stream s = side_[lane].get();
                    if (numbers_are_constant()) upload_constants(g, list, cubin, s);
                    owned_event begin = new_event(device_, s);
                    kernels::path_arguments a = arguments_of(g, into);
                    if (g.reads_moves()) {
                        a.normal =
                            moves_->make(lane, on_.find(g.correlate.cubins.at(architecture_), "correlate"),
                                         state_.separated.numbers(g.jobs[list.first]), a.normal,
                                         range.count * kernels::paths_per_tile, s);
                    }
                    a.trades = records + list.first;
                    a.trade_count = static_cast<word32>(list.count);
                    launch how = launch_of(*g.code, g.how, list.count, range.count);
                    keep_in_l2(how);
                    void* arguments[] = {&a};
                    device_.run(k, how, arguments, s);
                    launched.push_back({std::move(begin), new_event(device_, s), path_steps(g, list, range)});
                    ++launches_;
                    drain(launched, most_in_flight);
                }
            } catch (const device_error& e) {
                // What the device refuses it refuses for this kernel; anything else is not this group's
                // alone.
                if (e.failure() != device_failure::refused) throw;
                state_.fail(g.jobs, e);
            }
        }
    }

    kernels::path_arguments arguments_of(const job_group& g, const chunk_memory& into) const {
        kernels::path_arguments a = into.arguments();
        a.numbers = numbers_at_;
        if (numbers_texture_) a.numbers_texture = static_cast<word64>(numbers_texture_->get());
        a.words = words_.as<word32>();
        // Trades that read the same shocks walk side by side.
        const bool from_arrays = feed_named(g.how.feed).makes_use_of(feed_entry::array);
        const bool has_scenarios = g.code->scenarios_per_step > 0;
        a.trades_first = from_arrays || has_scenarios ? 1 : 0;
        if (a.trades_first != 0) a.first_path = a.first_tile * kernels::paths_per_tile;
        if (from_arrays) {
            a.normal = cubes_->normals(set_, g.code->normals_per_step);
            a.uniform = cubes_->uniforms(set_, g.code->uniforms_per_step);
        }
        if (has_scenarios) a.scenario = cubes_->scenarios(set_);
        return a;
    }

    void upload_constants(const job_group& g, const job_list& list,
                          const std::shared_ptr<const std::string>& cubin, stream s) {
        std::vector<std::byte> numbers;
        for (std::size_t i = list.first; i < list.first + list.count; ++i) {
            const auto own = state_.packed.numbers_of(g.jobs[i]);
            numbers.insert(numbers.end(), own.begin(), own.end());
        }
        device_.upload(on_.variable(cubin, "tilewalk_rows").data(), numbers.data(), numbers.size(), s);
    }

    void keep_in_l2(launch& how) const {
        if (cubes_ && cubes_->persists()) {
            how.persisting = cubes_->normals(set_, 1).first;
            how.persisting_bytes = cubes_->bytes_of_normals();
        } else if (row_space_.lives_in == residence::persisting_memory) {
            how.persisting = numbers_at_;
            how.persisting_bytes = state_.packed.numbers.size();
        }
    }

    word64 path_steps(const job_group& g, const job_list& list, const tile_range& range) const {
        word64 steps = 0;
        for (std::size_t i = list.first; i < list.first + list.count; ++i) {
            steps += state_.packed.records[g.jobs[i]].steps;
        }
        const word64 first = range.first * kernels::paths_per_tile;
        return steps * std::min(state_.run.paths - first, range.count * kernels::paths_per_tile);
    }

    // Waits until at most `most` launches are in flight. What has ended is counted.
    void drain(std::vector<timed_launch>& launched, std::size_t most) {
        while (launched.size() - ended_ > most) {
            while (!device_.has_happened(launched[ended_].end.get())) {
                if (state_.stopped()) throw stopped_early{};
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            state_.path_steps_done += launched[ended_].path_steps;
            counted_ += launched[ended_].path_steps;
            ++ended_;
        }
        if (state_.stopped()) throw stopped_early{};
    }

    // Of the time since an event that with any of the launches under way.
    double busy_seconds(const owned_event& since, const std::vector<timed_launch>& launched) {
        std::vector<std::pair<double, double>> spans;
        for (const timed_launch& l : launched) {
            spans.emplace_back(device_.milliseconds_between(since.get(), l.begin.get()),
                               device_.milliseconds_between(since.get(), l.end.get()));
        }
        std::sort(spans.begin(), spans.end());
        double milliseconds = 0, until = 0;
        for (const auto& [begin, end] : spans) {
            milliseconds += std::max(0.0, end - std::max(begin, until));
            until = std::max(until, end);
        }
        return milliseconds / 1000;
    }

    static constexpr std::size_t most_in_flight = 64;

    loaded_device& on_;
    device& device_;
    std::string architecture_;
    run_state& state_;
    const space_entry& row_space_;
    const reduction_entry& reduction_;
    owned_stream main_;
    owned_stream side_[3];
    owned_stream fills_;
    device_memory words_, records_;
    std::optional<device_memory> numbers_;
    std::optional<pinned_memory> mapped_numbers_;
    std::optional<owned_texture> numbers_texture_;
    void* numbers_at_ = nullptr;
    std::vector<std::vector<job_list>> lists_;  // by group
    std::optional<shock_cubes> cubes_;
    std::size_t sets_ = 1, set_ = 0;     // of cubes; the one that is read
    tile_range ahead_;                   // the chunk whose shocks are in the other set, or none
    std::optional<owned_event> filled_;  // the last fill
    std::optional<moves_cubes> moves_;
    word64 most_tiles_ = 1;
    std::size_t next_stream_ = 0;
    std::size_t ended_ = 0;
    word64 counted_ = 0;  // path steps, in path_steps_done
    double seconds_ = 0, kernel_seconds_ = 0;
    std::size_t launches_ = 0;
};

// Jobs by the text of their kernel.
// `fits` says whether devices can run a kernel of a program that is built so.
std::vector<job_group> group(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_choice&, const program::path_program&)>& fits) {
    std::map<const program::path_program*, std::size_t> by_code;
    std::map<std::pair<std::string, std::string>, std::size_t> by_text;  // of walk and correlate
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        auto known = by_code.find(code);
        if (known == by_code.end()) {
            kernel_choice how = run.how;
            std::string moves_text;
            if (separated.is_separated(j)) {
                how = choice_that_reads_moves(run.how, code->slots_per_step());
                moves_text = correlation_text(
                    best_correlation_variant(static_cast<std::size_t>(code->normals_per_step)),
                    run.how.precision);
            }
            std::optional<tuned_choice> measured;
            if (tuned && how.is_open && !separated.is_separated(j)) {
                measured = tuned->choices.find(tuned->on, *code, how);
            }
            const bool takes_measured = measured && fits(measured->how, *code);
            how = takes_measured
                      ? measured->how
                      : best_choice(how, *code, [&](const kernel_choice& c, int) { return fits(c, *code); });
            std::string text = path_kernel_text(*code, how);
            const auto [at, is_new] = by_text.emplace(std::pair(text, moves_text), out.size());
            if (is_new)
                out.push_back({{std::move(text), {}}, {std::move(moves_text), {}}, code, how, {}, false});
            known = by_code.emplace(code, at->second).first;
        }
        out[known->second].jobs.push_back(j);
    }
    // The longest first, so that what runs last is short.
    for (job_group& g : out) {
        std::stable_sort(g.jobs.begin(), g.jobs.end(), [&](std::size_t a, std::size_t b) {
            return packed.records[a].steps > packed.records[b].steps;
        });
    }
    return out;
}

void check_on_all(const std::vector<std::shared_ptr<loaded_device>>& devices, const kernel_choice& how,
                  const program::path_program& code) {
    const reduction_entry& reduction = reduction_named(how.reduction);
    for (const auto& d : devices) {
        const device_properties& p = d->get().properties();
        check(reduction, p);
        check(how, code.slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block},
              static_cast<int>(code.payoff_rows()));
    }
}

// What a device can't do fails before anything is compiled.
void check_groups(run_state& state, const std::vector<std::shared_ptr<loaded_device>>& devices) {
    for (job_group& g : state.groups) {
        try {
            check_on_all(devices, g.how, *g.code);
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
}

// Shocks from arrays, if the feed reads any, and scenarios; jobs that need more than there is fail.
void plan_shocks(run_state& state, counted_kernels& kernels) {
    const gpu_run& run = state.run;
    const auto reads_shocks = [](const job_group& g) {
        return feed_named(g.how.feed).makes_use_of(feed_entry::array);
    };
    const bool from_arrays = std::any_of(state.groups.begin(), state.groups.end(), reads_shocks);
    if (!from_arrays && state.packed.scenarios.empty()) return;
    state.moves.precision = run.how.precision;
    shock_plan plan;
    plan.source = run.source != nullptr ? run.source : &random::catalogue().front();
    plan.replay = run.replay;
    plan.kernels = &kernels;
    // A feed that makes its shocks takes nothing from the space; what is there besides lies in plain memory.
    const bool is_array_feed = feed_named(run.how.feed).makes_use_of(feed_entry::array);
    plan.space = &space_named(is_array_feed ? run.how.space : kernel_choice().space);
    plan.precision = run.how.precision;
    plan.seed = run.seed;
    plan.paths = run.paths;
    for (const scenario_row& r : state.packed.scenarios) {
        plan.scenarios.push_back(run.scenarios[r.array]);
        arrays::shock_cube& row = plan.scenarios.back();
        std::visit([&](auto& first) { first += r.row * row.step_stride; }, row.first);
    }
    for (job_group& g : state.groups) {
        if (g.failed || !reads_shocks(g)) continue;
        const auto normals = static_cast<std::uint64_t>(g.code->normals_per_step);
        const auto uniforms = static_cast<std::uint64_t>(g.code->uniforms_per_step);
        std::uint64_t steps = 0;
        for (const std::size_t j : g.jobs)
            steps = std::max<std::uint64_t>(steps, state.packed.records[j].steps);
        try {
            if (run.replay != nullptr) {
                run.replay->check({steps, normals, uniforms, run.paths});
                if (normals > 0) {
                    plan.normal_rows = std::max(plan.normal_rows, steps * run.replay->normals().slots);
                }
                if (uniforms > 0) {
                    plan.uniform_rows = std::max(plan.uniform_rows, steps * run.replay->uniforms().slots);
                }
            } else {
                random::check_normals(*plan.source, steps * normals);
                plan.normal_rows = std::max(plan.normal_rows, steps * normals);
                plan.uniform_rows = std::max(plan.uniform_rows, steps * uniforms);
            }
            if (g.reads_moves()) state.moves.add(g.factors(), steps);
        } catch (const error& e) {
            g.failed = true;
            state.fail(g.jobs, e);
        }
    }
    // The units of a quasi-random run tell how sure it is.
    if (from_arrays && run.replay == nullptr && plan.source->is_quasi)
        state.part_tiles = run::quasi_unit_paths(run.paths) / kernels::paths_per_tile;
    state.shocks = plan;
}

// Constant memory changes from launch to launch, but holds at least all of one trade.
void refuse_too_long_rows(const space_entry& rows, packed_trades& packed) {
    if (rows.lives_in != residence::constant_variable) return;
    for (std::size_t j = 0; j < packed.records.size(); ++j) {
        try {
            check_fits(rows, packed.numbers_of(j).size() / packed.number_bytes,
                       static_cast<int>(packed.number_bytes));
        } catch (const error& e) {
            if (!packed.failures[j]) packed.failures[j] = e;
        }
    }
}

number_type numbers_in(precision p) {
    return p == precision::double_ || p == precision::mixed ? number_type::double_ : number_type::single;
}

// Compiles all texts of the run at once. A text that does not compile fails its own jobs.
void compile_all(run_state& state, const std::vector<std::string>& architectures, counted_kernels& kernels) {
    struct task {
        built_kernel* of;
        std::string architecture;
        std::shared_ptr<const std::string> cubin;
        std::optional<error> failure;
    };
    std::vector<task> tasks;
    for (const std::string& a : architectures) {
        tasks.push_back({&state.merge, a, nullptr, std::nullopt});
        for (job_group& g : state.groups) {
            if (g.failed) continue;
            tasks.push_back({&g.walk, a, nullptr, std::nullopt});
            if (g.reads_moves()) tasks.push_back({&g.correlate, a, nullptr, std::nullopt});
        }
    }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < tasks.size() && !state.stopped(); i = next++) {
            task& t = tasks[i];
            try {
                t.cubin = kernels.cubin({t.of->text, t.architecture});
            } catch (const error& e) {
                t.failure = e;
            } catch (const std::exception& e) {
                t.failure = error(error_kind::internal, e.what());
            }
        }
    };
    const auto count =
        std::min(tasks.size(), static_cast<std::size_t>(std::max(1, state.run.compile_threads)));
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
        work();
    }
    if (state.stopped()) return;
    for (task& t : tasks) {
        if (!t.failure) {
            t.of->cubins[t.architecture] = t.cubin;
            continue;
        }
        if (t.of == &state.merge) state.fail_all(*t.failure);
        for (job_group& g : state.groups) {
            if (&g.walk != t.of && &g.correlate != t.of) continue;
            g.failed = true;
            state.fail(g.jobs, *t.failure);
        }
    }
}

// The pieces of a run, which devices take one after the other. What a device could not finish it gives back
// for another.
class shared_pieces {
  public:
    shared_pieces(std::size_t count, const run_state& state) : state_(state) {
        for (std::size_t i = 0; i < count; ++i) open_.insert(i);
    }

    // None when all are done, or nobody needs the rest. Waits while one that is held may yet come back.
    std::optional<std::size_t> take() {
        std::unique_lock guard(lock_);
        // Who holds a piece watches for a stop itself, and then gives it back.
        changed_.wait(guard, [this] { return !open_.empty() || held_ == 0; });
        if (open_.empty() || state_.stopped()) return std::nullopt;
        ++held_;
        return open_.extract(open_.begin()).value();
    }
    void finish() {
        const std::lock_guard guard(lock_);
        --held_;
        changed_.notify_all();
    }
    void give_back(std::size_t piece) {
        const std::lock_guard guard(lock_);
        --held_;
        open_.insert(piece);
        changed_.notify_all();
    }
    bool all_done() const {
        const std::lock_guard guard(lock_);
        return open_.empty() && held_ == 0;
    }

  private:
    const run_state& state_;
    mutable std::mutex lock_;
    std::condition_variable changed_;
    std::set<std::size_t> open_;
    std::size_t held_ = 0;
};

// Walks pieces on a device until there are none. A failure of the device ends its share; any other ends the
// run.
void walk_share(run_state& state, loaded_device& on, const std::vector<tile_range>& ranges,
                shared_pieces& pieces, std::vector<std::vector<chunk_results>>& results,
                gpu_outcome::share& share) {
    std::optional<device_walk> walk;
    std::optional<std::size_t> piece;
    const auto end_run = [&](const error& why) {
        state.fail_all(why);
        state.given_up = true;
    };
    try {
        walk.emplace(on, state);
        while ((piece = pieces.take())) {
            const word64 counted_before = walk->counted();
            try {
                std::vector<chunk_results> chunks;
                walk->walk(ranges[*piece], chunks);
                results[*piece] = std::move(chunks);
            } catch (...) {
                walk->uncount(counted_before);
                throw;
            }
            share.has_walked = walk->launches() > 0;
            pieces.finish();
        }
    } catch (const stopped_early&) {
    } catch (const device_error& e) {
        share.lost = e;
    } catch (const error& e) {
        end_run(e);
    } catch (const std::exception& e) {
        end_run(error(error_kind::internal, e.what()));
    }
    if (piece) pieces.give_back(*piece);
    if (!walk) return;
    const std::lock_guard guard(state.lock);
    state.outcome.launches += walk->launches();
    state.outcome.device_seconds = std::max(state.outcome.device_seconds, walk->seconds());
    state.outcome.kernel_seconds = std::max(state.outcome.kernel_seconds, walk->kernel_seconds());
}

void add(const chunk_results& chunk, const packed_trades& packed, std::vector<run::tally>& to) {
    const std::size_t parts = chunk.results.size() / packed.results;
    std::vector<tile_result> rows;
    for (std::size_t j = 0; j < to.size(); ++j) {
        const tile_result* of_job = chunk.results.data() + packed.records[j].result * parts;
        rows.resize(to[j].rows());
        for (std::size_t p = 0; p < parts; ++p) {
            const word64 first = p * to[j].part_tiles();
            for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = of_job[r * parts + p];
            to[j].add({chunk.tiles.first + first, std::min(to[j].part_tiles(), chunk.tiles.count - first)},
                      rows);
        }
    }
}

void walk_on_all(run_state& state, const std::vector<std::shared_ptr<loaded_device>>& devices) {
    const gpu_run& run = state.run;
    const tile_range all{0, kernels::tiles_of(run.paths)};
    const tile_range asked = run::asked_or_all(run.tiles, all.count);
    std::vector<tile_range> ranges;  // work for each device
    run::cut(all, asked, (asked.count + devices.size() - 1) / devices.size(), ranges);
    for (const tile_range& range : ranges) state.most_tiles = std::max(state.most_tiles, range.count);

    shared_pieces pieces(ranges.size(), state);
    std::vector<std::vector<chunk_results>> results(ranges.size());
    std::atomic<std::size_t> working{devices.size()};
    std::atomic<std::size_t> alive{devices.size()};
    const auto work = [&](std::size_t d) {
        gpu_outcome::share& share = state.outcome.shares[d];
        walk_share(state, *devices[d], ranges, pieces, results, share);
        if (share.lost && --alive == 0 && !pieces.all_done()) state.fail_all(*share.lost);
        --working;
    };
    // What a lost device had done is done once more; progress does not go back for it.
    word64 told = 0;
    const auto report = [&] {
        told = std::max(told, state.path_steps_done.load());
        if (run.on_progress) run.on_progress({.path_steps_done = told});
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t d = 0; d < devices.size(); ++d) threads.emplace_back([&work, d] { work(d); });
        while (working > 0) {
            report();
            for (int i = 0; i < 50 && working > 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    if (state.stopped() || !pieces.all_done()) return;
    report();
    state.outcome.tallies.clear();
    for (const run::job& job : run.jobs)
        state.outcome.tallies
            .emplace_back(all.count, state.part_tiles, job.code->outputs.size(), job.code->crossed)
            .expect_all();
    for (const std::vector<chunk_results>& piece : results) {
        for (const chunk_results& chunk : piece) add(chunk, state.packed, state.outcome.tallies);
    }
}

}  // namespace

loaded_device::~loaded_device() {
    for (const auto& [key, m] : modules_) device_->unload(m.in);
}

kernel loaded_device::find(const std::shared_ptr<const std::string>& cubin, const char* name) {
    const std::lock_guard guard(lock_);
    auto found = modules_.find(cubin.get());
    if (found == modules_.end()) {
        found =
            modules_.emplace(cubin.get(), loaded{cubin, device_->load({cubin->data(), cubin->size()})}).first;
    }
    return device_->find(found->second.in, name);
}

std::span<std::byte> loaded_device::variable(const std::shared_ptr<const std::string>& cubin,
                                             const char* name) {
    const std::lock_guard guard(lock_);
    return device_->variable(modules_.at(cubin.get()).in, name);
}

std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_choice& how,
                                      std::string_view correlation,
                                      const std::optional<tuned_device>& tuned) {
    const separated_jobs separated(jobs, correlation, how.precision);
    gpu_run run;
    run.jobs = separated.jobs();
    run.how = how;
    std::vector<needed_kernel> out;
    std::map<std::string, std::vector<std::size_t>> correlate;
    std::size_t correlations = 0;
    const auto anything_fits = [](const kernel_choice&, const program::path_program&) { return true; };
    for (job_group& g :
         group(run, separated, pack(run.jobs, numbers_in(how.precision)), tuned, anything_fits)) {
        if (g.reads_moves()) {
            auto& readers = correlate[g.correlate.text];
            readers.insert(readers.end(), g.jobs.begin(), g.jobs.end());
        }
        out.push_back({"walk_" + std::to_string(out.size() + 1), std::move(g.walk.text), std::move(g.jobs),
                       !g.reads_moves(), g.how});
    }
    for (auto& [text, readers] : correlate) {
        out.push_back({"correlate_" + std::to_string(++correlations), text, std::move(readers)});
    }
    needed_kernel merge{"merge_tiles", merge_kernel_text(), std::vector<std::size_t>(jobs.size())};
    std::iota(merge.jobs.begin(), merge.jobs.end(), std::size_t{0});
    out.push_back(std::move(merge));
    return out;
}

run::outcome launcher::walk_all(const run::walk& of) {
    gpu_outcome got = walk_all(gpu_run{of, with_});
    facts_.add(got);
    return got;
}

void gpu_facts::add(const gpu_facts& more) {
    kernels_compiled += more.kernels_compiled;
    kernels_from_cache += more.kernels_from_cache;
    launches += more.launches;
    device_seconds += more.device_seconds;
    kernel_seconds += more.kernel_seconds;
    shares.resize(std::max(shares.size(), more.shares.size()));
    for (std::size_t d = 0; d < more.shares.size(); ++d) {
        shares[d].has_walked = shares[d].has_walked || more.shares[d].has_walked;
        if (!shares[d].lost) shares[d].lost = more.shares[d].lost;
    }
}

gpu_outcome launcher::walk_all(const gpu_run& asked) {
    const separated_jobs separated(asked.jobs, asked.correlation, asked.how.precision);
    gpu_run run = asked;
    run.jobs = separated.jobs();
    gpu_outcome outcome;
    outcome.tallies.assign(run.jobs.size(), run::tally(kernels::tiles_of(run.paths)));
    outcome.failures.resize(run.jobs.size());
    outcome.shares.resize(devices_.size());
    packed_trades packed = pack(run.jobs, numbers_in(run.how.precision));
    refuse_too_long_rows(space_named(run.how.row_space), packed);
    for (std::size_t j = 0; j < run.jobs.size(); ++j) outcome.failures[j] = packed.failures[j];

    const auto fits = [&](const kernel_choice& how, const program::path_program& code) {
        try {
            check_on_all(devices_, how, code);
            return true;
        } catch (const error&) {
            return false;
        }
    };
    // What was measured on one kind of device says nothing of another.
    std::optional<tuned_device> tuned;
    const device_properties& first = devices_.front()->get().properties();
    const bool alike = std::all_of(devices_.begin(), devices_.end(),
                                   [&](const auto& d) { return d->get().properties().name == first.name; });
    if (run.tuned != nullptr && alike) tuned.emplace(tuned_device{*run.tuned, first});
    run_state state{run,
                    separated,
                    packed,
                    group(run, separated, packed, tuned, fits),
                    std::nullopt,
                    {},
                    run::part_tiles_of(kernels::tiles_of(run.paths)),
                    0,
                    {merge_kernel_text(), {}},
                    {},
                    outcome};
    counted_kernels taken(kernels_);
    std::vector<std::string> architectures;
    for (const auto& d : devices_) {
        const std::string a = d->get().properties().architecture();
        if (std::find(architectures.begin(), architectures.end(), a) == architectures.end()) {
            architectures.push_back(a);
        }
    }
    check_groups(state, devices_);
    try {
        plan_shocks(state, taken);
    } catch (const error& e) {
        state.fail_all(e);
    }
    compile_all(state, architectures, taken);
    const bool jobs_left =
        std::any_of(outcome.failures.begin(), outcome.failures.end(), [](const auto& f) { return !f; });
    if (jobs_left && !state.stopped()) {
        try {
            walk_on_all(state, devices_);
        } catch (const error& e) {
            state.fail_all(e);
        }
    }
    if (run.cancel != nullptr && run.cancel->load())
        throw error(error_kind::cancelled, "the run was stopped");
    outcome.kernels_compiled = taken.compiled();
    outcome.kernels_from_cache = taken.from_cache();
    return outcome;
}

}  // namespace tilewalk::cuda
