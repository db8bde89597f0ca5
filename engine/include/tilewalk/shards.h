// SPDX-License-Identifier: Apache-2.0
// Shards: parts of a request that many processes do, on one machine or on many, as they like and in any
// order. A folder that all of them see holds the request, every decision about it, and what they find.
// Merged, the parts have the bits of one process.
//
//     tilewalk::shards::plan(engine, request, 16, "night");                  // once
//     tilewalk::shards::open("night").run(engine, 3);                        // shard 3, anywhere
//     tilewalk::results all = tilewalk::shards::open("night").merge(engine); // once all are there
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/differences.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/load_options.h"
#include "tilewalk/market.h"
#include "tilewalk/results.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/scenarios.h"

namespace tilewalk {

// The request. Files are named, not held, and have to be there, with the same bytes, wherever a part is done.
struct sharded_request {
    std::filesystem::path book;
    std::filesystem::path market{};  // empty: the book's own
    load_options how{};
    std::vector<std::string> trades{};                // ids; none: all
    std::vector<market_change> changes{};             // of the market
    run_settings settings{};                          // that beat the book's
    bool demand_correlations = false;                 // see run_options
    std::optional<greek_options> greeks{};            // none: prices
    std::filesystem::path scenarios{};                // a file of them, for gains; empty: prices or greeks
    bool explains = false;                            // gains by sensitivities
    std::optional<difference_options> differences{};  // none: prices, greeks or scenarios
    // Settings in the place of those above, where these ask for a tolerance: with the paths that the plan has
    // fixed. Plans fill it in.
    std::optional<run_settings> fixed{};
};

// Trades of the book, counted from 0, over some tiles of their run: those from `first_tile` up to `end_tile`.
// Scenarios and differences have more markets than one: the base market is number 0, and a piece has those
// from `first_market` up to `end_market`. Sensitivities beside gains count as a last market.
struct shard_piece {
    std::size_t first_trade = 0, end_trade = 0;
    std::size_t first_market = 0, end_market = 1;
    std::uint64_t first_tile = 0, end_tile = 0, run_tiles = 0;
};

// Parts that are not there yet, or are damaged: they are to be run, and then to be merged again.
class shards_missing : public machine_failure {
  public:
    shards_missing(const std::string& message, std::vector<std::size_t> which);
    const std::vector<std::size_t>& which() const noexcept { return which_; }

  private:
    std::vector<std::size_t> which_;
};

// How a part was done.
struct shard_outcome {
    bool was_done = false;             // before, and nothing was done now
    std::size_t blocks_taken = 0;      // of an earlier attempt
    std::vector<std::string> damaged;  // files that were no whole ones; what they held was done again
    std::size_t decisions = 0;         // that were made because the plan has none of them
    std::string file;                  // that holds it
    // Its trades, each with its status and no figures, and how it was walked, now or before. Nothing where a
    // part that was done before has left no word of that.
    std::optional<results> told{};
};

class shards {
  public:
    enum class stage { pricing, training };

    // Decides all there is to decide, and cuts the work into so many parts of about equal cost. Policies of
    // trades that may be ended early are found here if that seems to take no longer than so many seconds;
    // else they are a stage of their own, done likewise in shards. A request to a tolerance is walked here on
    // the paths of a first round, which says how many paths each trade is to have. A folder that holds the
    // same request keeps what is done in it. Throws tilewalk::error (usage) for a request that can't be cut,
    // and for a folder that holds another one.
    static shards plan(const engine& by, const sharded_request& what, std::size_t count,
                       const std::filesystem::path& folder, double train_within_seconds = 60,
                       const run_options& options = {});
    // The most shards of so many trades in so many markets: a shard has at least a tile of the paths of one
    // trade in one market. 1 where there is no work.
    static std::size_t most(std::size_t trades, std::size_t markets, std::uint64_t paths);
    // The digest of a request, by which a folder for it may be named.
    static std::string digest_of(const sharded_request& what);
    // Throws tilewalk::error (io, input).
    static shards open(const std::filesystem::path& folder);

    std::size_t count() const;
    const sharded_request& request() const;
    const std::string& digest() const;
    // By part, counted from 0.
    const std::vector<std::vector<shard_piece>>& pieces() const;
    const std::vector<double>& costs() const;  // of parts, in operations
    // The trades whose policies are still to be found; pricing waits until there are none.
    const std::vector<std::size_t>& untrained() const;

    // Does part `number`, counted from 1, with the caller's devices and threads: settings that no bit depends
    // on are the caller's, all others the request's. Started again after it was ended, it goes on where it
    // was, by a journal in the folder of the plan or in the caller's. Throws tilewalk::error: (input) where
    // an input is not that of the plan; (device), or machine_failure, where another try may do better.
    shard_outcome run(const engine& by, std::size_t number, stage of = stage::pricing,
                      const run_options& options = {}) const;
    // The results of all parts. Where figures are wider than the tolerance that was asked for, their rows say
    // so, and a plan with more paths lies in next_folder(): it keeps what was walked. Throws shards_missing.
    results merge(const engine& by, const run_options& options = {}) const;
    // The same of a request for differences; of one for prices, with what files of values tell.
    difference_results merge_differences(const engine& by, const run_options& options = {}) const;
    // The same of a request for scenarios.
    scenario_results merge_scenarios(const engine& by, const run_options& options = {}) const;
    // The folder of the plan that merging has written; empty if there is none.
    std::filesystem::path next_folder() const;
    // Adds the policies of all parts of the training to the plan. Throws likewise.
    void merge_training();

  private:
    struct state;
    explicit shards(std::shared_ptr<state> of) : state_(std::move(of)) {}
    std::shared_ptr<state> state_;
};

}  // namespace tilewalk
