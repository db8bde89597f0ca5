// SPDX-License-Identifier: Apache-2.0
// One process's work on a request: all of it, or a share of each run's tiles. Known tallies are taken, the
// others are walked in blocks and kept. Bits do not depend on blocks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/job.h"
#include "engine/walk/kept/fingerprints_of_jobs.h"
#include "engine/walk/kept/store.h"
#include "engine/walk/tally.h"
#include "engine/walk/tile_range.h"
#include "tilewalk/error.h"

namespace tilewalk::kept {

// Tiles [first, end) of a run of `of` tiles. Runs of another length, such as those of bounds, are cut at the
// same fractions, so that shares that make up one run make up all.
struct share {
    std::uint64_t first = 0, end = 1, of = 1;
    // Markets [first_market, end_market) of trades that are priced in scenarios, too. Market 0 is the base.
    std::uint64_t first_market = 0, end_market = UINT64_MAX;

    run::tile_range in(kernels::word64 run_tiles) const;
    // The share of a part of the run, one of `parts` equal ones, that is walked as a run of its own.
    share in_part(std::uint64_t part, std::uint64_t parts) const;
    bool is_all() const { return first == 0 && end == of; }
};

using taker = std::function<void(std::size_t job, const run::tally& found)>;
// Walks jobs. Hands each tally to the taker, or returns, by job, why there is none.
using walker = std::function<std::vector<std::optional<error>>(const run::walk&, const taker&)>;

class work {
  public:
    enum class part { all, share, nothing_new };

    explicit work(std::shared_ptr<store> known) : known_(std::move(known)) {}
    // Counts tiles outside the share as if their paths paid 0, so that a run goes on to its end with
    // meaningless results. An empty share walks only pilots.
    work(std::shared_ptr<store> known, const share& of)
        : known_(std::move(known)), part_(part::share), share_(of) {}
    static work that_is_known(std::shared_ptr<store> known);
    // All of the work, with the same store: for pilots, whose outcomes decide how a run goes on.
    work of_pilots() const { return work(known_); }
    // No work, with the same store: for decisions alone.
    work of_decisions() const {
        work out(known_, {0, 0, 1});
        out.trains_ = trains_;
        return out;
    }

    // See share::in_part.
    work of_part(std::uint64_t number, std::uint64_t parts) const {
        work out = *this;
        out.share_ = share_.in_part(number, parts);
        return out;
    }

    store& known() const { return *known_; }
    // Whether a run ends with the numbers of the request.
    bool has_all() const { return part_ == part::all; }
    bool has_first_tile() const { return share_.first == 0 && share_.end > 0; }
    bool has_market(std::uint64_t number) const {
        return share_.first_market <= number && number < share_.end_market;
    }
    bool walks_any_of(kernels::word64 run_tiles) const { return wanted_of(run_tiles).count > 0; }
    bool may_walk() const { return part_ != part::nothing_new; }
    // Whether unknown policies are trained.
    bool trains() const { return trains_; }
    void train_nothing() { trains_ = false; }

    // Hands out known tallies. Returns the jobs that are left.
    std::vector<std::size_t> take_known(const run::walk& asked, const conditions& by,
                                        const taker& take) const;
    // Hands out the tallies of all jobs, walking what is not known; see walker. `named` are the jobs as known
    // everywhere, since a device may walk them by programs that unite several. Throws tilewalk::error:
    // cancelled, after the current block if that takes a moment; input, if nothing new may be walked.
    std::vector<std::optional<error>> walk(const walker& on, const run::walk& asked,
                                           std::span<const run::job> named, const conditions& by,
                                           const taker& take);
    // The tally of other work over `run_tiles` tiles, which one process does as a whole.
    run::tally whole(const key& what, kernels::word64 run_tiles, const std::function<run::tally()>& make);
    std::string remembered(const key& what, const std::function<std::string()>& make) const;

    // If set, told the cost of a trade's walks in operations.
    std::function<void(const std::string& trade, double operations)> tell_cost{};

  private:
    class blocks;
    struct job_at_hand {
        key what;
        run::tally known;
        std::vector<run::tile_range> missing;
    };
    job_at_hand at_hand(const run::job& named, const run::walk& asked, fingerprints_of_jobs& of) const;
    run::tally filled(run::tally known) const;
    run::tile_range wanted_of(kernels::word64 run_tiles) const;

    std::shared_ptr<store> known_;
    part part_ = part::all;
    share share_{};
    bool trains_ = true;
    double operations_a_second_ = 0;  // 0: nothing walked yet
};

}  // namespace tilewalk::kept
