// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/kept/work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "engine/walk/cost.h"
#include "kernels/tile.h"

namespace tilewalk::kept {

using kernels::word64;
using run::tile_range;

namespace {

using clock = std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

// Operations a second assumed before any are measured, and the largest factor by which a block then grows.
constexpr double first_operations = 1 << 30, most_growth = 8;
// Limits a block, because the derivatives of all its jobs are in memory together.
constexpr double most_bytes_of_block = 256 << 20;
// Longest wait for the current block once a stop is asked for: processes are often killed 30 s after that,
// some after 10 s.
constexpr std::chrono::seconds longest_end{3};

struct unit {
    std::size_t job;
    tile_range tiles;
};

void add_missing(const tile_range& wanted, const run::tally& known, std::vector<tile_range>& to) {
    if (wanted.count == 0) return;
    word64 at = wanted.first;
    for (const tile_range& r : known.known()) {
        if (r.end() <= at) continue;
        if (r.first >= wanted.end()) break;
        if (r.first > at) to.push_back({at, r.first - at});
        at = r.end();
    }
    if (at < wanted.end()) to.push_back({at, wanted.end() - at});
}

// Stops a run when asked: at the end of the current block, or within it once longest_end has passed.
class ending {
  public:
    explicit ending(const std::atomic<bool>* asked) : asked_(asked) {}

    bool is_asked() const { return asked_ != nullptr && *asked_; }
    const std::atomic<bool>* flag() const { return &now_; }
    void look() {
        if (!is_asked()) return;
        if (!since_) since_ = clock::now();
        if (clock::now() - *since_ >= longest_end) now_ = true;
    }

  private:
    const std::atomic<bool>* asked_;
    std::atomic<bool> now_ = false;
    std::optional<clock::time_point> since_;
};

}  // namespace

tile_range share::in(word64 run_tiles) const {
    const auto at = [&](word64 tile) -> word64 {
        if (run_tiles == of) return tile;
        const double part = static_cast<double>(tile) / static_cast<double>(of);
        return static_cast<word64>(std::floor(static_cast<double>(run_tiles) * part));
    };
    return {at(first), at(end) - at(first)};
}

share share::in_part(std::uint64_t part, std::uint64_t parts) const {
    const auto at = [&](std::uint64_t tile) {
        return std::clamp(tile * parts, part * of, (part + 1) * of) - part * of;
    };
    share out = *this;
    out.first = at(first);
    out.end = at(end);
    return out;
}

work work::that_is_known(std::shared_ptr<store> known) {
    work out(std::move(known));
    out.part_ = part::nothing_new;
    return out;
}

tile_range work::wanted_of(word64 run_tiles) const {
    return part_ == part::share ? share_.in(run_tiles) : tile_range{0, run_tiles};
}

work::job_at_hand work::at_hand(const run::job& j, const run::walk& asked, fingerprints_of_jobs& of) const {
    const key what = of.key_of(j);
    std::optional<run::tally> known = known_->tally_of(what);
    if (!known) {
        const std::size_t derivatives =
            j.back.code == nullptr ? 0 : program::places_of(*j.back.code, *j.data).size;
        known.emplace(kernels::tiles_of(asked.paths), asked.part_tiles(), j.code->outputs.size(),
                      j.code->crossed, derivatives);
    }
    job_at_hand out{what, *std::move(known), {}};
    add_missing(wanted_of(out.known.run_tiles()), out.known, out.missing);
    return out;
}

run::tally work::filled(run::tally known) const {
    if (part_ != part::share) return known;
    std::vector<tile_range> missing, subtrees;
    const tile_range all{0, known.run_tiles()};
    add_missing(all, known, missing);
    for (const tile_range& r : missing) run::cut(all, r, known.part_tiles(), subtrees);
    const std::vector<double> derivatives(known.derivatives());
    for (const tile_range& s : subtrees) {
        kernels::tile_result nothing_paid;
        nothing_paid.moments.count = static_cast<double>(s.count * kernels::paths_per_tile);
        known.add(s, std::vector<kernels::tile_result>(known.rows(), nothing_paid), derivatives);
    }
    return known;
}

std::vector<std::size_t> work::take_known(const run::walk& asked, const conditions& by,
                                          const tally_callback& take) const {
    fingerprints_of_jobs of(asked, by);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < asked.jobs.size(); ++i) {
        job_at_hand job = at_hand(asked.jobs[i], asked, of);
        if (job.missing.empty())
            take(i, filled(std::move(job.known)));
        else
            left.push_back(i);
    }
    return left;
}

class work::blocks {
  public:
    blocks(work& of, const walker& on, const run::walk& asked, std::span<const run::job> named,
           const conditions& by, const tally_callback& take)
        : work_(of),
          on_(on),
          asked_(asked),
          take_(take),
          ends_(asked.cancel),
          jobs_(asked.jobs.size()),
          units_left_(asked.jobs.size()),
          failures_(asked.jobs.size()) {
        fingerprints_of_jobs fingerprints(asked, by);
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            jobs_[i] = work_.at_hand(named[i], asked, fingerprints);
            operations_.push_back(run::operations_of(named[i]) + 1);
            units_left_[i] = jobs_[i]->missing.size();
            for (const tile_range& r : jobs_[i]->missing) units_.push_back({i, r});
            if (units_left_[i] > 0) continue;
            done_.path_steps_done += asked.paths * asked.jobs[i].when->steps();
            hand_out(i);
        }
    }

    bool are_none() const { return units_.empty(); }

    std::vector<std::optional<error>> walk() {
        for (std::size_t first = 0; first < units_.size();) {
            if (ends_.is_asked()) throw error(error_kind::cancelled, "interrupted");
            if (failures_[units_[first].job])
                ++first;
            else if (const auto piece = cut_from(units_[first]))
                walk_block({&*piece, 1});
            else
                first = walk_from(first);
        }
        return std::move(failures_);
    }

  private:
    std::uint64_t steps_of(const unit& u) const {
        return u.tiles.count * kernels::paths_per_tile * asked_.jobs[u.job].when->steps();
    }
    double operations_of(const unit& u) const {
        return operations_[u.job] * static_cast<double>(u.tiles.count * kernels::paths_per_tile);
    }
    double most_operations() const {
        const double known = work_.operations_a_second_;
        return work_.known_->block_seconds() * (known > 0 ? known : first_operations);
    }

    void hand_out(std::size_t job) {
        take_(job, work_.filled(std::move(jobs_[job]->known)));
        jobs_[job].reset();
        ++done_.jobs_done;
    }

    // Cuts a piece for one block off the front of unit `u`. Empty if the unit is small enough for one block.
    std::optional<unit> cut_from(unit& u) {
        const double of_tile = operations_of({u.job, {u.tiles.first, 1}});
        const word64 fit =
            std::bit_floor(std::max<word64>(1, static_cast<word64>(most_operations() / of_tile)));
        if (u.tiles.count <= 2 * fit) return std::nullopt;
        const word64 end = (u.tiles.first / fit + 1) * fit;  // end of the subtree of `fit` tiles
        const unit out{u.job, {u.tiles.first, end - u.tiles.first}};
        u.tiles = {end, u.tiles.end() - end};
        ++units_left_[u.job];
        return out;
    }

    // Walks one block: consecutive units that have the same tiles. Returns the index of the next unit.
    std::size_t walk_from(std::size_t first) {
        const double most = most_operations();
        double operations = 0, bytes = 0;
        std::size_t end = first;
        while (end < units_.size() && units_[end].tiles == units_[first].tiles &&
               !failures_[units_[end].job] &&
               (end == first ||
                (operations + operations_of(units_[end]) <= most && bytes < most_bytes_of_block))) {
            operations += operations_of(units_[end]);
            const std::size_t derivatives = jobs_[units_[end].job]->known.derivatives();
            bytes += static_cast<double>(derivatives * run::most_parts * sizeof(double));
            ++end;
        }
        walk_block(std::span(units_).subspan(first, end - first));
        return end;
    }

    void walk_block(std::span<const unit> block) {
        std::vector<run::job> jobs;
        for (const unit& u : block) jobs.push_back(asked_.jobs[u.job]);
        run::walk now = asked_;
        now.jobs = jobs;
        now.tiles = block.front().tiles;
        now.cancel = ends_.flag();
        if (now.among.empty()) now.among = asked_.jobs;
        now.on_progress = [&](const run::progress& p) {
            ends_.look();
            tell(p.path_steps_done);
        };
        const auto begin = clock::now();
        std::vector<std::optional<run::tally>> found(block.size());
        const auto failed = on_(now, [&](std::size_t k, const run::tally& t) { found[k] = t; });
        std::uint64_t steps = 0;
        double operations = 0;
        for (std::size_t k = 0; k < block.size(); ++k) {
            const std::size_t i = block[k].job;
            steps += steps_of(block[k]);
            operations += operations_of(block[k]);
            --units_left_[i];
            if (failed[k]) {
                failures_[i] = failed[k];
                continue;
            }
            work_.known_->keep(jobs_[i]->what, *found[k]);
            jobs_[i]->known.add_unknown(*found[k]);
            if (units_left_[i] == 0 && !failures_[i]) hand_out(i);
        }
        work_.known_->write_if_due();
        done_.path_steps_done += steps;
        tell(0);
        const double took = std::max(seconds(clock::now() - begin).count(), 1e-6);
        const double most = most_growth * most_operations() / work_.known_->block_seconds();
        work_.operations_a_second_ = std::min(operations / took, most);
    }

    void tell(std::uint64_t steps_of_block) const {
        if (asked_.on_progress) asked_.on_progress({done_.jobs_done, done_.path_steps_done + steps_of_block});
    }

    work& work_;
    const walker& on_;
    const run::walk& asked_;
    const tally_callback& take_;
    ending ends_;
    std::vector<std::optional<job_at_hand>> jobs_;  // empty once the result was handed out
    std::vector<double> operations_{};              // operations of one path, by job
    std::vector<unit> units_{};                     // in the order in which they are walked
    std::vector<std::size_t> units_left_;           // units that are still to be walked, by job
    std::vector<std::optional<error>> failures_;
    run::progress done_{};
};

std::vector<std::optional<error>> work::walk(const walker& on, const run::walk& asked,
                                             std::span<const run::job> named, const conditions& by,
                                             const tally_callback& take) {
    blocks of(*this, on, asked, named, by, take);
    if (!of.are_none() && !may_walk()) {
        throw error(error_kind::input,
                    "some paths are not among the results of the shards, which another build made, or other "
                    "inputs; run the shards again");
    }
    try {
        return of.walk();
    } catch (...) {
        known_->flush();
        throw;
    }
}

run::tally work::whole(const key& what, word64 run_tiles, const std::function<run::tally()>& make) {
    if (std::optional<run::tally> known = known_->tally_of(what)) return *std::move(known);
    if (part_ == part::share && !has_first_tile()) return filled(run::tally(run_tiles));
    if (!may_walk())
        throw error(error_kind::input,
                    "a bound is not among the results of the shards, which another build made, or other "
                    "inputs; run the shards again");
    run::tally made = make();
    known_->keep(what, made);
    known_->write_if_due();
    return made;
}

std::string work::remembered(const key& what, const std::function<std::string()>& make) const {
    if (std::optional<std::string> known = known_->text_of(what)) return *std::move(known);
    const std::string made = make();
    known_->keep(what, made);
    return made;
}

}  // namespace tilewalk::kept
