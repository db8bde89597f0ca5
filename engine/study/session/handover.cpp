// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/handover.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/walk/cost.h"
#include "engine/walk/tile_range.h"
#include "kernels/tile.h"

namespace tilewalk::studies {

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;
using kernels::word64;
using run::tile_range;

// A block of the processor's work: short enough that GPUs need not wait, long enough for all its threads.
constexpr double seconds_of_block = 0.03;
// A kernel is compiled if it saves so many times what it costs, as both are estimates.
constexpr double worth = 2;

}  // namespace

// A walk shared by the thread that called and, for the GPUs, a thread of its own. Parts are guarded by the
// lock of gpus_ahead.
class handover::shared_walk {
  public:
    shared_walk(handover& by, const run::walk& of) : by_(by), gpus_(*by.gpus_), of_(of) {
        const tile_range asked = run::asked_or_all(of.tiles, kernels::tiles_of(of.paths));
        for (const run::job& job : of.jobs) {
            part& p = parts_.emplace_back();
            p.number = by.numbers_.at(identity_of(job));
            p.rest = asked;
            p.operations = run::operations_of(job) * static_cast<double>(kernels::paths_per_tile);
            p.steps = job.when->steps();
        }
        order_.resize(parts_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        if (!by.tiles_first_) put_in_order();
    }

    run::outcome walk() {
        {
            const helper of_gpus(*this);
            while (!is_cancelled()) {
                by_.begin_(seconds_left());
                const block next = take_block();
                if (!next.parts.empty())
                    walk_block(next);
                else if (!wait_for_gpus())
                    break;
            }
        }
        gpus_.tell_times(of_.times);
        note_failed_kernels();
        if (failure_) std::rethrow_exception(failure_);
        if (is_cancelled()) throw error(error_kind::cancelled, "the run was stopped");
        run::outcome out;
        for (part& p : parts_) {
            out.tallies.push_back(p.found ? std::move(*p.found) : run::tally(1));
            out.failures.push_back(std::move(p.failure));
        }
        return out;
    }

  private:
    struct part {
        std::size_t number = 0;  // of the job
        tile_range rest{};       // tiles that nobody has begun
        double operations = 0;   // of a tile
        std::uint64_t steps = 0;
        bool is_with_gpus = false, is_for_cpu = false;
        std::optional<run::tally> found{};
        std::optional<error> failure{};

        void add(const run::tally& more) {
            if (found)
                found->add(more);
            else
                found = more;
        }
    };
    struct block {
        tile_range tiles;
        std::vector<std::size_t> parts;
    };

    // The thread that drives GPUs. Where the system gives none, the processor walks all.
    class helper {
      public:
        explicit helper(shared_walk& of) : of_(of) {
            try {
                thread_ = std::jthread([&of] { of.serve_gpus(); });
            } catch (const std::system_error&) {
                of.has_helper_ = false;
            }
        }
        ~helper() {
            {
                const std::lock_guard guard(of_.gpus_.lock);
                of_.is_over_ = true;
            }
            of_.gpus_.changed.notify_all();
        }
        helper(const helper&) = delete;
        helper& operator=(const helper&) = delete;

      private:
        shared_walk& of_;
        std::jthread thread_;
    };

    bool is_cancelled() const { return of_.cancel != nullptr && of_.cancel->load(); }
    static bool is_free(const part& p) { return p.rest.count > 0 && !p.is_with_gpus && !p.failure; }
    static double operations_left(const part& p) { return p.operations * static_cast<double>(p.rest.count); }
    std::uint64_t path_steps(const part& p, const tile_range& in) const {
        const std::uint64_t first = in.first * kernels::paths_per_tile;
        return (std::min<std::uint64_t>(in.end() * kernels::paths_per_tile, of_.paths) - first) * p.steps;
    }

    std::size_t group_of(const part& p) const { return gpus_.group_of[p.number]; }
    bool may_be_for_gpus(const part& p) const {
        if (p.is_for_cpu || !has_helper_ || gpus_.are_none) return false;
        return !gpus_.is_prepared || (group_of(p) != gpus_ahead::none && !gpus_.has_failed(group_of(p)));
    }
    bool is_turn_of_gpus() const { return !by_.tiles_first_ || by_.tiles_walked_ >= *by_.tiles_first_; }
    bool is_for_gpus_now(const part& p) const {
        return is_free(p) && gpus_.is_prepared && is_turn_of_gpus() && may_be_for_gpus(p) &&
               gpus_.is_ready(group_of(p));
    }

    // Trades whose kernel did not compile say so, like those that GPUs failed to walk.
    void note_failed_kernels() {
        const std::lock_guard guard(gpus_.lock);
        if (!gpus_.is_prepared || gpus_.are_none) return;
        for (const part& p : parts_) {
            std::optional<error>& why = by_.gpu_failures_[p.number];
            if (!why && group_of(p) != gpus_ahead::none) why = gpus_.failure(group_of(p));
        }
    }

    // The processor begins with trades whose kernels are least worth their compilation.
    void put_in_order() {
        std::map<std::pair<const void*, const void*>, double> of_program;
        const auto operations = [&](std::size_t k) -> double& {
            return of_program[{of_.jobs[k].code, of_.jobs[k].back.code}];
        };
        for (std::size_t k = 0; k < parts_.size(); ++k) operations(k) += operations_left(parts_[k]);
        std::ranges::stable_sort(order_, {}, operations);
    }

    // Seconds that the processor takes for what nobody has begun, by the speed so far.
    double seconds_left() const {
        const std::lock_guard guard(gpus_.lock);
        double all = 0;
        for (const part& p : parts_)
            if (is_free(p)) all += operations_left(p);
        const double known = by_.operations_a_second_;
        return all / by_.threads_ / (known > 0 ? known : run::typical_operations_a_second);
    }
    double operations_of_block() const {
        const double known = by_.operations_a_second_;
        return seconds_of_block * by_.threads_ * (known > 0 ? known : run::typical_operations_a_second);
    }
    // Takes tiles for the processor: the rests of several trades, or a piece of one.
    block take_block() {
        const std::lock_guard guard(gpus_.lock);
        choose_kernels();
        const auto is_next = [&](std::size_t k) {
            const part& p = parts_[k];
            return is_free(p) && !(by_.tiles_first_ && is_turn_of_gpus() && may_be_for_gpus(p));
        };
        const auto first = std::ranges::find_if(order_, is_next);
        if (first == order_.end()) return {};
        part& front = parts_[*first];
        const double most = operations_of_block();
        if (by_.tiles_first_) return take({{front.rest.first, 1}, {*first}});
        if (operations_left(front) > 2 * most) {
            const auto fit = static_cast<word64>(most / front.operations);
            const word64 least = 4 * static_cast<word64>(by_.threads_);
            const word64 size = std::bit_ceil(std::max(fit, least));
            const word64 end = std::min((front.rest.first / size + 1) * size, front.rest.end());
            return take({{front.rest.first, end - front.rest.first}, {*first}});
        }
        block out{front.rest, {}};
        double taken = 0;
        for (auto at = first; at != order_.end() && taken < most; ++at) {
            if (!is_next(*at) || parts_[*at].rest != out.tiles) continue;
            out.parts.push_back(*at);
            taken += operations_left(parts_[*at]);
        }
        return take(std::move(out));
    }
    block take(block of) {
        for (const std::size_t k : of.parts) {
            tile_range& rest = parts_[k].rest;
            rest = {of.tiles.end(), rest.end() - of.tiles.end()};
        }
        at_work_ = of.parts.size();
        return of;
    }

    void walk_block(const block& of) {
        std::vector<run::job> jobs;
        double operations = 0;
        for (const std::size_t k : of.parts) {
            jobs.push_back(of_.jobs[k]);
            operations += parts_[k].operations * static_cast<double>(of.tiles.count);
        }
        run::walk now = of_;
        now.jobs = jobs;
        now.tiles = of.tiles;
        now.most_threads = std::max(1, by_.threads_ - gpus_.compiling());
        if (of_.on_progress) now.on_progress = [&](const run::progress& p) { tell(p.path_steps_done); };
        const auto begin = clock::now();
        run::outcome got = by_.on_cpu_->walk_all(now);
        const double core_seconds = std::max(seconds(clock::now() - begin).count(), 1e-6) * now.most_threads;
        const double rate = operations / core_seconds;
        double& known = by_.operations_a_second_;
        known = known > 0 ? (known + rate) / 2 : rate;
        const std::lock_guard guard(gpus_.lock);
        at_work_ = 0;
        by_.tiles_walked_ += of.tiles.count * of.parts.size();
        for (std::size_t k = 0; k < of.parts.size(); ++k) {
            part& p = parts_[of.parts[k]];
            by_.spent_[p.number] +=
                core_seconds * p.operations * static_cast<double>(of.tiles.count) / operations;
            steps_done_ += path_steps(p, of.tiles);
            if (got.failures[k])
                p.failure = std::move(got.failures[k]);
            else
                p.add(got.tallies[k]);
        }
        gpus_.changed.notify_all();
    }

    // Returns false if nothing is left to do.
    bool wait_for_gpus() {
        std::unique_lock guard(gpus_.lock);
        const auto is_left = [&](const part& p) { return is_free(p) || p.is_with_gpus; };
        if (failure_ || std::ranges::none_of(parts_, is_left)) return false;
        gpus_.changed.wait_for(guard, std::chrono::milliseconds(100));
        guard.unlock();
        tell(0);
        return true;
    }

    void tell(std::uint64_t steps_of_block) {
        if (!of_.on_progress) return;
        run::progress now;
        {
            const std::lock_guard guard(gpus_.lock);
            now.path_steps_done = steps_done_ + steps_of_block + steps_on_gpus_;
            for (const part& p : parts_) now.jobs_done += p.rest.count == 0 && !p.is_with_gpus ? 1U : 0U;
            now.jobs_done -= std::min(now.jobs_done, at_work_);
        }
        of_.on_progress(now);
    }

    // Asks for the kernels that are worth it: those that save more of a core's time than they take, as far as
    // this walk and earlier ones show, in a walk that goes on until they are compiled.
    void choose_kernels() {
        if (!gpus_.is_prepared || gpus_.are_none) return;
        if (!by_.tiles_first_ && by_.operations_a_second_ <= 0) return;
        std::vector<double> left(gpus_.groups.size());
        for (const part& p : parts_)
            if (is_free(p) && may_be_for_gpus(p)) left[group_of(p)] += operations_left(p);
        if (by_.tiles_first_) {
            for (std::size_t g = 0; g < left.size(); ++g)
                if (left[g] > 0) gpus_.compile(g);
            return;
        }
        double all = 0;
        std::vector<std::pair<double, std::size_t>> saves;  // core-seconds, group
        for (std::size_t g = 0; g < left.size(); ++g) {
            const double saved = left[g] / by_.operations_a_second_ + gpus_.missed(g);
            all += saved;
            const double cost = gpus_.cost(g);
            if (left[g] > 0 && cost > 0 && saved > worth * cost) saves.emplace_back(saved, g);
        }
        if (all / by_.threads_ < worth * gpus_.seconds_of_kernel()) return;
        std::ranges::sort(saves, std::greater());
        for (const auto& [saved, g] : saves) gpus_.compile(g);
    }

    void serve_gpus() {
        std::unique_lock guard(gpus_.lock);
        while (true) {
            gpus_.changed.wait(guard, [&] {
                return is_over_ ||
                       std::ranges::any_of(parts_, [&](const part& p) { return is_for_gpus_now(p); });
            });
            if (is_over_) return;
            for (const block& of : take_for_gpus()) {
                guard.unlock();
                const timings::beside walking(of_.times, stage::walking);
                std::optional<run::outcome> got;
                try {
                    got = walked_on_gpus(of);
                } catch (...) {
                    guard.lock();
                    if (!failure_) failure_ = std::current_exception();
                    is_over_ = true;
                    gpus_.changed.notify_all();
                    return;
                }
                guard.lock();
                add(of, *got);
                gpus_.changed.notify_all();
            }
        }
    }
    std::vector<block> take_for_gpus() {
        std::map<std::pair<word64, word64>, std::size_t> known;
        std::vector<block> out;
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            part& p = parts_[k];
            if (!is_for_gpus_now(p)) continue;
            p.is_with_gpus = true;
            const auto [at, is_new] = known.try_emplace({p.rest.first, p.rest.count}, out.size());
            if (is_new) out.push_back({p.rest, {}});
            out[at->second].parts.push_back(k);
        }
        return out;
    }
    run::outcome walked_on_gpus(const block& of) {
        std::vector<std::size_t> numbers;
        for (const std::size_t k : of.parts) numbers.push_back(parts_[k].number);
        run::walk now = of_;
        now.jobs = {};
        now.tiles = of.tiles;
        now.times = nullptr;
        now.on_progress = nullptr;
        if (of_.on_progress)
            now.on_progress = [&](const run::progress& p) { steps_on_gpus_ = p.path_steps_done; };
        try {
            return gpus_.walk(now, numbers);
        } catch (const error& e) {
            throw_if_cancelled(e);
            run::outcome failed;
            failed.tallies.assign(numbers.size(), run::tally(1));
            failed.failures.assign(numbers.size(), e);
            return failed;
        }
    }
    void add(const block& of, run::outcome& got) {
        for (std::size_t k = 0; k < of.parts.size(); ++k) {
            part& p = parts_[of.parts[k]];
            p.is_with_gpus = false;
            if (got.failures[k]) {
                p.is_for_cpu = true;
                by_.gpu_failures_[p.number] = std::move(got.failures[k]);
                continue;
            }
            p.add(got.tallies[k]);
            p.rest = {};
            const std::uint64_t steps = path_steps(p, of.tiles);
            by_.steps_on_gpus_[p.number] += steps;
            by_.groups_used_.insert(group_of(p));
            steps_done_ += steps;
        }
        steps_on_gpus_ = 0;
    }

    handover& by_;
    gpus_ahead& gpus_;
    const run::walk& of_;
    std::vector<part> parts_;         // by job of the walk
    std::vector<std::size_t> order_;  // in which the processor takes parts
    std::size_t at_work_ = 0;         // parts that the processor walks at present
    std::uint64_t steps_done_ = 0;
    std::atomic<std::uint64_t> steps_on_gpus_{0};  // of the launches under way
    bool is_over_ = false, has_helper_ = true;
    std::exception_ptr failure_;
};

handover::identity handover::identity_of(const run::job& j) {
    return {j.data, j.when, j.back.data, j.points ? 1 + static_cast<int>(j.points->construction) : 0};
}

handover::handover(std::shared_ptr<gpus_ahead> gpus, std::span<const owned_job> jobs, int threads,
                   std::unique_ptr<run::back_end> on_cpu, std::optional<std::uint64_t> tiles_first,
                   std::function<void(double)> begin)
    : gpus_(std::move(gpus)),
      threads_(threads),
      on_cpu_(std::move(on_cpu)),
      tiles_first_(tiles_first),
      begin_(std::move(begin)),
      spent_(jobs.size()),
      steps_on_gpus_(jobs.size()),
      gpu_failures_(jobs.size()) {
    for (std::size_t j = 0; j < jobs.size(); ++j) numbers_.emplace(identity_of(jobs[j].job()), j);
}

handover::~handover() {
    gpus_->end(std::move(spent_));
}

run::outcome handover::walk_all(const run::walk& of) {
    return shared_walk(*this, of).walk();
}

cuda::gpu_facts handover::facts() const {
    const std::lock_guard guard(gpus_->lock);
    cuda::gpu_facts out = gpus_->facts;
    if (!gpus_->is_prepared) return out;
    std::set<std::size_t> used;
    for (const std::size_t g : groups_used_)
        used.insert(gpus_->groups[g].kernels.begin(), gpus_->groups[g].kernels.end());
    out.kernels_compiled = out.kernels_from_cache = 0;
    for (std::size_t k = 0; k < gpus_->kernels.size(); ++k) {
        if (gpus_->kernels[k].was_compiled)
            ++out.kernels_compiled;
        else if (used.contains(k))
            ++out.kernels_from_cache;
    }
    return out;
}

}  // namespace tilewalk::studies
