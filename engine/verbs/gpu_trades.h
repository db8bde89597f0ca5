// SPDX-License-Identifier: Apache-2.0
// The trades of a run as GPUs walk them: in the programs that many shapes share.
#pragma once

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

class gpu_trades {
  public:
    // Trades of one shape have one program.
    explicit gpu_trades(std::span<const run::job> of);
    gpu_trades(const gpu_trades&) = delete;
    gpu_trades& operator=(const gpu_trades&) = delete;

    std::span<const run::job> jobs() const { return jobs_; }

  private:
    std::vector<program::path_data> data_;
    std::vector<program::timeline> when_;
    plan::united_programs programs_;
    std::vector<run::job> jobs_;
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
