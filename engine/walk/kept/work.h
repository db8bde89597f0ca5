// SPDX-License-Identifier: Apache-2.0
// The work of one process on a run: all of it, or a share of the tiles. Tallies in the store are used; the
// rest is walked in blocks and added to the store. Bits do not depend on blocks.
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

// Tiles [first, end) of a walk of `of` tiles. Walks of another length, such as those for bounds, are cut at
// the same fractions, so that shares that cover one walk cover all.
struct share {
    std::uint64_t first = 0, end = 1, of = 1;
    // Markets [first_market, end_market) that this share prices under scenarios, too. Market 0 is the base.
    std::uint64_t first_market = 0, end_market = UINT64_MAX;

    run::tile_range in(kernels::word64 run_tiles) const;
    // If a walk is split into `parts` equal parts, each walked separately, the share of part number `part`.
    share in_part(std::uint64_t part, std::uint64_t parts) const;
    bool is_all() const { return first == 0 && end == of; }
};

using tally_callback = std::function<void(std::size_t job, const run::tally& found)>;
// Walks jobs. Hands each tally to the tally_callback; returns, by job, the error of a job without a tally.
using walker = std::function<std::vector<std::optional<error>>(const run::walk&, const tally_callback&)>;

class work {
  public:
    enum class part { all, share, nothing_new };

    explicit work(std::shared_ptr<store> known) : known_(std::move(known)) {}
    // Does only the share `of`. Tiles outside it count as if their paths paid 0, so that the run completes
    // with meaningless results. An empty share walks only pilots.
    work(std::shared_ptr<store> known, const share& of)
        : known_(std::move(known)), part_(part::share), share_(of) {}
    static work that_is_known(std::shared_ptr<store> known);
    // All of the work, with the same store. Pilots take it, since their results decide how the run continues.
    work of_pilots() const { return work(known_); }
    // No tiles, with the same store: only decisions are made.
    work of_decisions() const {
        work out(known_, {0, 0, 1});
        out.trains_ = trains_;
        return out;
    }

    // The same work, but for the share that share::in_part(number, parts) gives.
    work of_part(std::uint64_t number, std::uint64_t parts) const {
        work out = *this;
        out.share_ = share_.in_part(number, parts);
        return out;
    }

    store& known() const { return *known_; }
    // Whether this process does all of the work, neither a share nor only what is known.
    bool has_all() const { return part_ == part::all; }
    bool has_first_tile() const { return share_.first == 0 && share_.end > 0; }
    bool has_market(std::uint64_t number) const {
        return share_.first_market <= number && number < share_.end_market;
    }
    bool walks_any_of(kernels::word64 run_tiles) const { return wanted_of(run_tiles).count > 0; }
    bool may_walk() const { return part_ != part::nothing_new; }
    // Whether exercise policies that are not in the store are trained.
    bool trains() const { return trains_; }
    void train_nothing() { trains_ = false; }

    // Hands the tallies of finished jobs to `take`. Returns the jobs that are not finished.
    std::vector<std::size_t> take_known(const run::walk& asked, const conditions& by,
                                        const tally_callback& take) const;
    // Hands the tallies of all jobs to `take`, walking the tiles that the store lacks. Fingerprints are those
    // of `named`: the same jobs before any were united into one program for a device. Throws tilewalk::error:
    // cancelled, after the current block if that ends soon; input, if work is missing and may not be walked.
    std::vector<std::optional<error>> walk(const walker& on, const run::walk& asked,
                                           std::span<const run::job> named, const conditions& by,
                                           const tally_callback& take);
    // The tally of work that is no job's, over `run_tiles` tiles. One process does it as a whole, by make().
    run::tally whole(const key& what, kernels::word64 run_tiles, const std::function<run::tally()>& make);
    std::string remembered(const key& what, const std::function<std::string()>& make) const;

    // If set, called with a trade's name and the operations that its walks cost.
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
    double operations_a_second_ = 0;  // measured speed; 0 before anything was walked
};

}  // namespace tilewalk::kept
