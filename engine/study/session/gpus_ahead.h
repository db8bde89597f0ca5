// SPDX-License-Identifier: Apache-2.0
// Prepares GPUs, beside a walk on the processor, to take it over: opens them, lays trades out for them, and
// has their kernels compiled.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/job.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

// The GPUs of a run. They open on a thread of their own while the run goes on, and go on opening if it ends.
// For device `auto` they begin to open once the processor has, or had, enough work for them: a driver that is
// being opened holds up the end of a process.
class gpus_of_run {
  public:
    gpus_of_run(cuda::backend& gpus, const std::string& device, bool may_walk, timings* times);
    ~gpus_of_run();
    gpus_of_run(const gpus_of_run&) = delete;
    gpus_of_run& operator=(const gpus_of_run&) = delete;

    bool have_begun() const { return opening_.valid(); }
    bool are_open() const;
    // Begins to open them, unless that has been done.
    void begin();
    // Begins if the processor is expected to work so many seconds, in addition to what walks of this process
    // have taken so far.
    void begin_for(double seconds_on_processor);
    // Waits until they are open. Throws what backend::choose does.
    const cuda::backend::choice& get();
    // To be called after begin().
    std::shared_future<cuda::backend::choice> opening() const { return opening_; }

  private:
    struct clocked {
        std::mutex lock;
        timings::clock::duration taken{};
    };
    cuda::backend& gpus_;
    const std::string device_;
    timings* const times_;
    const std::shared_ptr<clocked> clock_ = std::make_shared<clocked>();
    std::shared_future<cuda::backend::choice> opening_;
    std::optional<cuda::backend::choice> known_;
};

// A job of a run, with the owners of all that it points to.
struct owned_job {
    walked_job walked;
    std::shared_ptr<const greeks::ready_way_back> back;

    run::job job() const { return back ? back->both_ways(walked.job()) : walked.job(); }
};

// A walk that ends first leaves it to the back end's threads, so it refers to nothing of the run.
class gpus_ahead : public std::enable_shared_from_this<gpus_ahead> {
  public:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    struct kernel {
        std::string text;
        enum class state { missing, wanted, there, failed } is = state::missing;
        bool was_compiled = false;
        std::optional<error> failure{};
    };
    // Jobs that share a path kernel, and the kernels without which they can't be walked.
    struct group {
        std::vector<std::size_t> kernels;  // the path kernel first
    };

    // `jobs` are those of `run`. `all` gives the points of jobs, and files that replace random numbers.
    gpus_ahead(cuda::backend& gpus, const settled& run, const run::walk& all, std::vector<owned_job> jobs,
               const cuda::ways_back::decider& way_back);

    // Prepares on a thread of the back end, once the GPUs are open.
    void begin(const std::shared_future<cuda::backend::choice>& opening);
    // Prepares on the calling thread. Throws what opening the GPUs did.
    void prepare(const cuda::backend::choice& on);

    // Guards the members below; groups and kernels are there once they are prepared.
    std::mutex lock;
    std::condition_variable changed;
    bool is_prepared = false;
    bool are_none = false;  // no GPU can be used
    std::vector<kernel> kernels;
    std::vector<group> groups;
    std::vector<std::size_t> group_of;  // by job; `none` if no GPU can walk it

    bool is_ready(std::size_t of) const;
    bool has_failed(std::size_t of) const { return failure(of).has_value(); }
    // Why a kernel of the group did not compile; empty if all did so far.
    std::optional<error> failure(std::size_t of) const;
    // Whether all groups are ready.
    bool has_all() const;
    // Seconds of a core that the group's missing kernels take to compile; 0 if they are all wanted or there.
    double cost(std::size_t of) const;
    double seconds_of_kernel() const { return ahead_->seconds_of_kernel(); }
    // Threads that compile kernels which a walk waits for.
    int compiling();
    // Core-seconds that earlier walks took for want of the group's path kernel.
    double missed(std::size_t of) const;
    void compile(std::size_t of);

    // Adds the time of what was prepared since the last call.
    void tell_times(timings* to);
    // The walk has ended. `spent` has by job the core-seconds that it took on the processor. Kernels that are
    // still missing are compiled later, for walks to come.
    void end(std::vector<double> spent);

    // Walks jobs, all over the tiles of `of`, on the GPUs. Call without `lock`.
    run::outcome walk(const run::walk& of, std::span<const std::size_t> jobs);
    cuda::gpu_facts facts;  // of all walks; guarded by `lock`

    const cuda::backend::choice& on() const { return on_; }
    // The trades as GPUs take them, with points or without; null if there are none.
    const std::shared_ptr<const gpu_trades>& trades(bool has_points) const { return trades_[has_points]; }

  private:
    enum way : std::size_t { without_points, with_points, both_ways };

    void make_groups_of_paths(way of, std::span<const std::size_t> jobs,
                              const std::optional<cuda::tuned_device>& tuned);
    void make_groups_of_ways_back(std::span<const std::size_t> jobs,
                                  const std::optional<cuda::tuned_device>& tuned);
    void take_compiled(std::size_t number, bool is_last, const std::optional<error>& failure);
    std::size_t kernel_of(const std::string& text);
    void look_for_kernels();
    void settle();
    cuda::gpu_settings settings(way of) const;
    const random::catalogue_entry& source(way of) const;

    cuda::backend& gpus_;
    cuda::kernels_ahead* ahead_ = nullptr;  // set once prepared, if there are GPUs
    const cuda::kernel_wish how_, how_of_points_;
    const std::string correlation_;
    const std::array<const random::catalogue_entry*, 2> sources_;  // without and with points
    const std::uint64_t memory_bytes_;
    const int threads_;
    const std::optional<quasi::points> points_;
    const std::uint64_t unit_paths_;
    const bool replays_;
    const std::vector<owned_job> jobs_;
    const cuda::ways_back::decider way_back_;
    cuda::backend::choice on_;
    std::vector<std::string> architectures_;
    std::vector<way> way_of_;            // by job
    std::vector<std::size_t> place_of_;  // by job: its place among those of its way
    std::array<std::shared_ptr<const gpu_trades>, 2> trades_;
    timings::clock::duration preparing_{}, compiling_{};  // not yet told
    timings::clock::time_point compiling_since_{};        // of the kernels that are wanted at present
    std::vector<double> spent_;                           // by job; empty while the walk goes on
    bool has_ended_ = false, is_settled_ = false;
};

}  // namespace tilewalk::studies
