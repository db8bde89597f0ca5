// SPDX-License-Identifier: Apache-2.0
// The trades of a run as GPUs walk them: in the programs that many shapes share.
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

namespace tilewalk::verbs {

struct pilot_of_controls;
struct policy_search;
class rewriter;

// Immutable.
class gpu_trades {
  public:
    // Jobs of one shape must share their program.
    explicit gpu_trades(std::span<const run::job> of);
    // Takes over equal trades from `before`, and the programs if all shapes are equal.
    explicit gpu_trades(std::vector<walked_job> of, const gpu_trades* before = nullptr, int threads = 1);
    gpu_trades(const gpu_trades&) = delete;
    gpu_trades& operator=(const gpu_trades&) = delete;

    std::span<const run::job> jobs() const { return jobs_; }
    // Returns the jobs of these trades; empty if one of them is not seated here.
    std::optional<std::vector<run::job>> find(std::span<const walked_job> trades) const;

  private:
    // A trade in its united program.
    struct seated_trade {
        program::path_data data;
        program::timeline when;
    };
    struct united_shapes {
        std::vector<const program::path_program*> shapes;
        std::map<const program::path_program*, std::size_t> places;  // in `shapes`
        plan::united_programs programs;
    };

    void unite(std::span<const run::job> of, const gpu_trades* before);
    void seat(std::span<const run::job> of, const gpu_trades* before, int threads);

    std::vector<walked_job> given_;                               // by job; empty if made of jobs alone
    std::unordered_map<const ready_trade*, std::size_t> places_;  // in `given_`
    std::shared_ptr<const united_shapes> united_;
    std::vector<std::shared_ptr<const seated_trade>> seated_;  // by job
    std::vector<run::job> jobs_;
};

// The walks of a book on GPUs, kept for the next call, which may walk some of the trades. Not thread-safe.
struct ready_on_gpus {
    struct of_source {
        std::shared_ptr<const gpu_trades> trades;
        cuda::ready_run walk, sample;
    };
    of_source without, with_points;

    bool is_empty() const { return without.walk.is_empty() && with_points.walk.is_empty(); }
};

// The trades of a book that walk paths, as GPUs would get them. Policies come from few paths; their programs
// are those of any. A policy may leave no control, one that jumps or one that does not: all have programs.
class book_on_gpu {
  public:
    book_on_gpu(const books::book_state& book, const market& in, const settled& run,
                const cpu::lane_operations& operations, const std::atomic<bool>* cancel);

    // A kernel, the jobs among which it has its own, and the products that need it.
    struct kernel {
        cuda::needed_kernel needed;
        std::span<const run::job> jobs;
        std::vector<std::string> products;
        const cuda::kernel_wish* asked = nullptr;  // of a kernel that walks paths
    };
    // Returns the kernels that walk prices and bounds, and those that fill arrays of points.
    std::vector<kernel> kernels(const std::optional<cuda::tuned_device>& tuned = {}) const;
    // Kernels that train policies; they have no jobs.
    std::vector<kernel> kernels_of_policies() const;

  private:
    struct walk {
        std::vector<std::size_t> trades{};  // by job
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
    std::vector<other_forms> other_plans_;                       // by trade; null: no other
    std::vector<std::optional<cuda::policy_kernels>> policies_;  // by trade
    // By form: prices as they are found, then trades with rights in their other forms.
    std::array<walk, 3> prices_, prices_over_points_;
    walk bounds_;
};

}  // namespace tilewalk::verbs
