// SPDX-License-Identifier: Apache-2.0
// The trades of a run as GPUs walk them: in united programs, each shared by trades of several shapes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/policies/policy_kernels.h"
#include "engine/plan/unite.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/paths/launcher.h"

namespace tilewalk::studies {

struct pilot_of_controls;
struct policy_search;
class rewriter;

// Immutable once made.
class gpu_trades {
  public:
    // Jobs with equal programs must point to the same one.
    explicit gpu_trades(std::span<const run::job> of);
    // Reuses from `before` the trades that are the same, and the united programs if all shapes are the same.
    explicit gpu_trades(std::vector<walked_job> of, const gpu_trades* before = nullptr, int threads = 1);
    gpu_trades(const gpu_trades&) = delete;
    gpu_trades& operator=(const gpu_trades&) = delete;

    std::span<const run::job> jobs() const { return jobs_; }
    // Returns the jobs of these trades; empty if one of them is not among the trades of this object.
    std::optional<std::vector<run::job>> find(std::span<const walked_job> trades) const;

  private:
    // A trade's numbers and timeline, laid out for its united program.
    struct seated_trade {
        program::path_data data;
        program::timeline when;
    };
    struct united_shapes {
        std::vector<const program::path_program*> shapes;
        std::map<const program::path_program*, std::size_t> places;  // places in `shapes`
        plan::united_programs programs;
    };

    void unite(std::span<const run::job> of, const gpu_trades* before);
    void seat(std::span<const run::job> of, const gpu_trades* before, int threads);

    std::vector<walked_job> given_;                               // by job; empty if made from jobs
    std::unordered_map<const ready_trade*, std::size_t> places_;  // places in `given_`
    std::shared_ptr<const united_shapes> united_;
    std::vector<std::shared_ptr<const seated_trade>> seated_;  // by job
    std::vector<run::job> jobs_;
};

// The GPU walks of a book, kept for the next call, which may walk only some of its trades. Not thread-safe.
struct ready_on_gpus {
    struct of_source {
        std::shared_ptr<const gpu_trades> trades;
        cuda::ready_run walk, sample;
    };
    of_source without, with_points;

    bool is_empty() const { return without.walk.is_empty() && with_points.walk.is_empty(); }
};

// The trades of a book as GPUs would get them. Policies are trained on few paths, as any policy has the
// same programs. A policy may leave a trade no control, one that jumps or one that does not: each case has a
// program.
class book_on_gpu {
  public:
    book_on_gpu(const books::book_state& book, const market& in, const settled& run,
                const cpu::lane_operations& operations, const std::atomic<bool>* cancel);

    // A kernel, the jobs that its `needed.jobs` index, and the products whose trades need it.
    struct kernel {
        cuda::needed_kernel needed;
        std::span<const run::job> jobs;
        std::vector<std::string> products;
        const cuda::kernel_wish* asked = nullptr;  // null if it trains policies
    };
    // Returns the kernels that walk prices and martingale bounds, and those that fill arrays of points.
    std::vector<kernel> kernels(const std::optional<cuda::tuned_device>& tuned = {}) const;
    // Returns the kernels that train policies; they have no jobs.
    std::vector<kernel> kernels_of_policies() const;
    const planned& plan_of(std::size_t trade) const { return plans_[trade]; }

  private:
    struct walk {
        std::vector<std::size_t> trades{};  // by job: place in the book
        std::vector<run::job> jobs{};
        std::optional<gpu_trades> on_gpu{};

        void add(std::size_t trade, run::job job);
    };
    void find_form(std::size_t trade, const markets::market_state& in, const policy_search& by);
    void rewrite(std::size_t trade, const market& in, const pilot_of_controls& by, const rewriter& rewrites);
    std::vector<std::string> products_of(const std::set<std::size_t>& trades) const;

    const books::book_state& book_;
    const settled& run_;
    shape_store shapes_;
    std::vector<planned> plans_;
    using other_forms = std::array<std::shared_ptr<const ready_trade>, 2>;
    std::vector<other_forms> other_plans_;                       // by trade; null if not needed
    std::vector<std::optional<cuda::policy_kernels>> policies_;  // by trade
    // First the plans as found; then all plans twice more, trades with rights in another form each time.
    std::array<walk, 3> prices_, prices_over_points_;
    walk bounds_;
};

}  // namespace tilewalk::studies
