// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/launcher.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "engine/cuda/kernel_text.h"
#include "engine/cuda/memory.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;

// Neighbouring tiles of a run.
struct tile_range {
    word64 first = 0;
    word64 count = 0;

    // Where merge_tiles of the range merges last: a complete subtree and the rest.
    word64 first_half() const {
        word64 half = 1;
        while (2 * half < count) half *= 2;
        return half;
    }
};

// Cuts a range into pieces of at most `most` tiles, each a subtree of the range's.
void cut(const tile_range& range, word64 most, std::vector<tile_range>& into) {
    if (range.count <= most) {
        into.push_back(range);
        return;
    }
    const word64 half = range.first_half();
    cut({range.first, half}, most, into);
    cut({range.first + half, range.count - half}, most, into);
}

using results_of_jobs = std::vector<tile_result>;

results_of_jobs merged(results_of_jobs a, const results_of_jobs& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = kernels::merge(a[i], b[i]);
    return a;
}

// The way back: pieces in the order of `cut` become the results of the range.
results_of_jobs put_together(const tile_range& range, word64 most, std::deque<results_of_jobs>& pieces) {
    if (range.count <= most) {
        results_of_jobs front = std::move(pieces.front());
        pieces.pop_front();
        return front;
    }
    const word64 half = range.first_half();
    results_of_jobs first = put_together({range.first, half}, most, pieces);
    return merged(std::move(first), put_together({range.first + half, range.count - half}, most, pieces));
}

// A text compiled for each architecture there is among the devices.
struct built_kernel {
    std::string text;
    std::map<std::string, std::shared_ptr<const std::string>> cubins;
};

// All jobs that one kernel walks.
struct job_group {
    built_kernel walk;
    const program::path_program* code = nullptr;
    std::vector<std::size_t> jobs;  // longest first
    bool failed = false;            // to compile
};

// What the threads of a run share.
struct run_state {
    const gpu_run& run;
    const packed_trades& packed;
    std::vector<job_group> groups;
    built_kernel merge;
    std::mutex lock;  // of outcome
    gpu_outcome& outcome;
    std::atomic<word64> path_steps_done{0};
    std::atomic<bool> given_up{false};  // another device failed: nobody needs the rest

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
          main_(new_stream(device_)),
          side_{new_stream(device_), new_stream(device_), new_stream(device_)},
          numbers_(device_, state.packed.numbers.size()),
          words_(device_, state.packed.words.size() * sizeof(word32)),
          records_(device_, state.packed.records.size() * sizeof(kernels::trade_record)) {
        upload();
    }

    // Bytes for each tile of a chunk.
    static std::size_t bytes_per_tile(const run_state& state) {
        return state.packed.records.size() * sizeof(tile_result);
    }

    results_of_jobs walk(const tile_range& range) {
        try {
            return walk_at_once(range);
        } catch (const device_error& e) {
            if (e.failure() != device_failure::out_of_memory || range.count == 1) throw;
        }
        const word64 half = range.first_half();
        results_of_jobs first = walk({range.first, half});
        return merged(std::move(first), walk({range.first + half, range.count - half}));
    }

    double seconds() const { return seconds_; }
    double kernel_seconds() const { return kernel_seconds_; }
    std::size_t launches() const { return launches_; }

  private:
    // Records in the order of the launches: group by group.
    void upload() {
        std::vector<kernels::trade_record> records;
        records.reserve(state_.packed.records.size());
        for (const job_group& g : state_.groups) {
            for (const std::size_t j : g.jobs) records.push_back(state_.packed.records[j]);
        }
        const stream s = main_.get();
        const in_flight guard(device_, {s});
        device_.upload(numbers_.as<void>(), state_.packed.numbers.data(), state_.packed.numbers.size(), s);
        device_.upload(words_.as<void>(), state_.packed.words.data(),
                       state_.packed.words.size() * sizeof(word32), s);
        device_.upload(records_.as<void>(), records.data(), records.size() * sizeof(kernels::trade_record),
                       s);
        device_.wait(s);
    }

    struct timed_launch {
        owned_event begin, end;
        word64 path_steps;
    };

    results_of_jobs walk_at_once(const tile_range& range) {
        const std::size_t jobs = state_.packed.records.size();
        const device_memory tiles(device_, jobs * range.count * sizeof(tile_result));
        const device_memory merged_tiles(device_, jobs * sizeof(tile_result));
        results_of_jobs out(jobs);
        std::vector<timed_launch> launched;
        const in_flight guard(device_, {main_.get(), side_[0].get(), side_[1].get(), side_[2].get()});
        ended_ = 0;
        const owned_event begin = new_event(device_, main_.get());
        for (const owned_stream& s : side_) device_.wait_for(s.get(), begin.get());
        // A job that no kernel walks, because its group failed, merges to nothing.
        device_.fill(tiles.as<void>(), 0, jobs * range.count * sizeof(tile_result), main_.get());
        const owned_event filled = new_event(device_, main_.get());
        for (const owned_stream& s : side_) device_.wait_for(s.get(), filled.get());
        launch_groups(range, tiles, launched);
        for (const owned_stream& s : side_) {
            const owned_event done = new_event(device_, s.get());
            device_.wait_for(main_.get(), done.get());
        }
        kernels::merge_arguments merge{tiles.as<tile_result>(), merged_tiles.as<tile_result>(),
                                       static_cast<word32>(range.count), 0};
        void* arguments[] = {&merge};
        device_.run(on_.find(state_.merge.cubins.at(architecture_), "merge_tiles"),
                    {static_cast<std::uint32_t>(jobs), 256, 0, nullptr, 0}, arguments, main_.get());
        device_.download(out.data(), merged_tiles.as<void>(), jobs * sizeof(tile_result), main_.get());
        const owned_event end = new_event(device_, main_.get());
        drain(launched, 0);
        device_.wait(main_.get());
        seconds_ += device_.milliseconds_between(begin.get(), end.get()) / 1000;
        return out;
    }

    void launch_groups(const tile_range& range, const device_memory& tiles,
                       std::vector<timed_launch>& launched) {
        const gpu_run& run = state_.run;
        std::size_t first_record = 0;
        std::size_t next_stream = 0;
        for (const job_group& g : state_.groups) {
            const std::size_t records_at = first_record;
            first_record += g.jobs.size();
            if (g.failed) continue;
            try {
                const kernel k = on_.find(g.walk.cubins.at(architecture_), "walk");
                for (std::size_t at = 0; at < g.jobs.size();) {
                    const std::size_t count = jobs_of_launch(g, at, range);
                    kernels::path_arguments a{};
                    a.trades = records_.as<kernels::trade_record>() + records_at + at;
                    a.numbers = numbers_.as<void>();
                    a.words = words_.as<word32>();
                    a.results = tiles.as<tile_result>();
                    a.seed = run.seed;
                    a.paths = run.paths;
                    a.first_tile = range.first;
                    a.trade_count = static_cast<word32>(count);
                    a.tiles = static_cast<word32>(range.count);
                    a.trades_first = run.how.feed == "inline" ? 0 : 1;
                    a.first_path = range.first * kernels::paths_per_tile;
                    void* arguments[] = {&a};
                    const stream s = side_[next_stream++ % std::size(side_)].get();
                    owned_event begin = new_event(device_, s);
                    device_.run(
                        k,
                        {static_cast<std::uint32_t>(count * range.count),
                         static_cast<std::uint32_t>(run.how.threads),
                         static_cast<std::uint32_t>(path_kernel_shared_bytes(*g.code, run.how)), nullptr, 0},
                        arguments, s);
                    launched.push_back(
                        {std::move(begin), new_event(device_, s), path_steps(g, at, count, range)});
                    ++launches_;
                    at += count;
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

    static word64 paths_of(const tile_range& range, word64 paths) {
        const word64 first = range.first * kernels::paths_per_tile;
        return std::min(paths - first, range.count * kernels::paths_per_tile);
    }

    word64 path_steps(const job_group& g, std::size_t at, std::size_t count, const tile_range& range) const {
        word64 steps = 0;
        for (std::size_t i = at; i < at + count; ++i) steps += state_.packed.records[g.jobs[i]].steps;
        return steps * paths_of(range, state_.run.paths);
    }

    // As many jobs as make a launch of moderate length: a run that is stopped waits for what is in flight.
    std::size_t jobs_of_launch(const job_group& g, std::size_t at, const tile_range& range) const {
        constexpr word64 most_path_steps = word64{1} << 35;
        constexpr word64 most_blocks = word64{1} << 30;
        const word64 paths = paths_of(range, state_.run.paths);
        word64 steps = 0;
        std::size_t count = 0;
        while (at + count < g.jobs.size()) {
            steps += state_.packed.records[g.jobs[at + count]].steps;
            const word64 blocks = (count + 1) * range.count;
            if (count > 0 && (steps * paths > most_path_steps || blocks > most_blocks)) break;
            ++count;
        }
        return count;
    }

    // Waits until at most `most` launches are in flight. What has ended is counted.
    void drain(std::vector<timed_launch>& launched, std::size_t most) {
        while (launched.size() - ended_ > most) {
            while (!device_.has_happened(launched[ended_].end.get())) {
                if (state_.stopped()) throw stopped_early{};
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            state_.path_steps_done += launched[ended_].path_steps;
            ++ended_;
        }
        if (state_.stopped()) throw stopped_early{};
        if (most == 0) {
            for (const timed_launch& l : launched) {
                kernel_seconds_ += device_.milliseconds_between(l.begin.get(), l.end.get()) / 1000;
            }
            launched.clear();
            ended_ = 0;
        }
    }

    static constexpr std::size_t most_in_flight = 16;

    loaded_device& on_;
    device& device_;
    std::string architecture_;
    run_state& state_;
    owned_stream main_;
    owned_stream side_[3];
    device_memory numbers_, words_, records_;
    std::size_t ended_ = 0;
    double seconds_ = 0, kernel_seconds_ = 0;
    std::size_t launches_ = 0;
};

// Jobs by the text of their kernel.
std::vector<job_group> group(const gpu_run& run, const packed_trades& packed) {
    std::map<const program::path_program*, std::size_t> by_code;
    std::map<std::string, std::size_t> by_text;
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        auto known = by_code.find(code);
        if (known == by_code.end()) {
            std::string text = path_kernel_text(*code, run.how);
            const auto [at, is_new] = by_text.emplace(text, out.size());
            if (is_new) out.push_back({{std::move(text), {}}, code, {}, false});
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

// Compiles all texts of the run at once. A text that does not compile fails its own jobs.
void compile_all(run_state& state, const std::vector<std::string>& architectures, kernel_store& kernels) {
    struct task {
        built_kernel* of;
        std::string architecture;
        std::shared_ptr<const std::string> cubin;
        std::optional<error> failure;
    };
    std::vector<task> tasks;
    for (const std::string& a : architectures) {
        tasks.push_back({&state.merge, a, nullptr, std::nullopt});
        for (job_group& g : state.groups) tasks.push_back({&g.walk, a, nullptr, std::nullopt});
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
            if (&g.walk != t.of) continue;
            g.failed = true;
            state.fail(g.jobs, *t.failure);
        }
    }
}

// How many tiles a device can hold at once.
word64 most_tiles_of(device& on, const run_state& state) {
    std::size_t budget = on.free_bytes() / 10 * 9;
    if (state.run.memory_bytes != 0)
        budget = std::min(budget, static_cast<std::size_t>(state.run.memory_bytes));
    const std::size_t always = state.packed.bytes() + state.packed.records.size() * sizeof(tile_result);
    const std::size_t left = budget > always ? budget - always : 0;
    return std::max<word64>(1, left / device_walk::bytes_per_tile(state));
}

void walk_on_all(run_state& state, const std::vector<std::shared_ptr<loaded_device>>& devices) {
    const gpu_run& run = state.run;
    const tile_range all{0, kernels::tiles_of(run.paths)};
    word64 most = (all.count + devices.size() - 1) / devices.size();
    for (const auto& d : devices) most = std::min(most, most_tiles_of(d->get(), state));
    std::vector<tile_range> pieces;
    cut(all, most, pieces);

    std::vector<results_of_jobs> results(pieces.size());
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> working{devices.size()};
    const auto work = [&](loaded_device& on) {
        try {
            device_walk walk(on, state);
            for (std::size_t i = next++; i < pieces.size(); i = next++) results[i] = walk.walk(pieces[i]);
            const std::lock_guard guard(state.lock);
            state.outcome.launches += walk.launches();
            state.outcome.device_seconds = std::max(state.outcome.device_seconds, walk.seconds());
            state.outcome.kernel_seconds = std::max(state.outcome.kernel_seconds, walk.kernel_seconds());
        } catch (const stopped_early&) {
        } catch (const error& e) {
            state.fail_all(e);
            state.given_up = true;
        } catch (const std::exception& e) {
            state.fail_all(error(error_kind::internal, e.what()));
            state.given_up = true;
        }
        --working;
    };
    {
        std::vector<std::jthread> threads;
        for (const auto& d : devices) threads.emplace_back([&work, &d] { work(*d); });
        while (working > 0) {
            if (run.on_progress) run.on_progress({state.path_steps_done});
            for (int i = 0; i < 50 && working > 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    if (state.stopped()) return;
    if (run.on_progress) run.on_progress({state.path_steps_done});
    std::deque<results_of_jobs> in_order(std::make_move_iterator(results.begin()),
                                         std::make_move_iterator(results.end()));
    state.outcome.results = put_together(all, most, in_order);
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

gpu_outcome launcher::walk_all(const gpu_run& run) {
    gpu_outcome outcome;
    outcome.results.resize(run.jobs.size());
    outcome.failures.resize(run.jobs.size());
    const packed_trades packed =
        pack(run.jobs, run.how.precision == precision::double_ || run.how.precision == precision::mixed
                           ? number_type::double_
                           : number_type::single);
    for (std::size_t j = 0; j < run.jobs.size(); ++j) outcome.failures[j] = packed.failures[j];

    run_state state{run, packed, group(run, packed), {merge_kernel_text(), {}}, {}, outcome};
    outcome.kernels = state.groups.size();
    std::vector<std::string> architectures;
    for (const auto& d : devices_) {
        const std::string a = d->get().properties().architecture();
        if (std::find(architectures.begin(), architectures.end(), a) == architectures.end()) {
            architectures.push_back(a);
        }
    }
    compile_all(state, architectures, kernels_);
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
    return outcome;
}

}  // namespace tilewalk::cuda
