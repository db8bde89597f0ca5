// SPDX-License-Identifier: Apache-2.0
// The trades of a run as GPUs walk them: in the programs that many shapes share.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cuda/launcher.h"
#include "engine/plan/unite.h"
#include "engine/verbs/planned.h"

namespace tilewalk::verbs {

// Never changes once it is made.
class gpu_trades {
  public:
    // Trades of one shape have one program.
    explicit gpu_trades(std::span<const run::job> of);
    // Takes over from those `before` the trades that are the same, and their programs if all shapes are.
    explicit gpu_trades(std::vector<std::shared_ptr<const ready_trade>> of,
                        const gpu_trades* before = nullptr);
    gpu_trades(const gpu_trades&) = delete;
    gpu_trades& operator=(const gpu_trades&) = delete;

    std::span<const run::job> jobs() const { return jobs_; }
    bool are(std::span<const std::shared_ptr<const ready_trade>> trades) const {
        return std::ranges::equal(given_, trades);
    }

  private:
    // A trade in the program that its own was united into.
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
    void seat(std::span<const run::job> of, const gpu_trades* before);

    std::vector<std::shared_ptr<const ready_trade>> given_;  // by job; none: of jobs alone
    std::shared_ptr<const united_shapes> united_;
    std::vector<std::shared_ptr<const seated_trade>> seated_;  // by job
    std::vector<run::job> jobs_;
};

// The walks of a book on GPUs that leave something for the next call. One call at a time uses it.
struct ready_on_gpus {
    std::shared_ptr<const gpu_trades> trades;
    cuda::ready_run walk, sample;
};

// The trades of a book that walk paths, as GPUs would be given them.
class book_on_gpu {
  public:
    book_on_gpu(const books::book_state& book, const markets::market_state& in, const settled& run,
                const std::atomic<bool>* cancel);

    std::span<const run::job> jobs() const { return trades_->jobs(); }
    std::vector<std::string> products_of(const cuda::needed_kernel& k) const;

  private:
    const books::book_state& book_;
    shape_store shapes_;
    std::vector<planned> plans_;
    std::vector<std::size_t> walks_;  // by job: the trade
    std::optional<gpu_trades> trades_;
};

}  // namespace tilewalk::verbs
