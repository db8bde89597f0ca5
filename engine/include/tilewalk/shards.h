// SPDX-License-Identifier: Apache-2.0
// Shards: parts of a request that many processes work on, on any machines and in any order. A shared folder
// holds the request, all decisions and the results. Merged results have the bits of a single process.
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
#include "tilewalk/market.h"
#include "tilewalk/options.h"
#include "tilewalk/results.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/scenarios.h"

namespace tilewalk {

// A request to cut into shards. Files are kept by name, so every process needs them, with the same bytes.
struct sharded_request {
    std::filesystem::path book;
    std::filesystem::path market{};  // empty: the market of the book
    load_options how{};
    std::vector<std::string> trades{};  // ids; empty: all
    std::vector<market_change> changes{};
    run_settings settings{};                          // override the settings of the book
    bool demand_correlations = false;                 // see run_options
    std::optional<greek_options> greeks{};            // empty: prices alone
    std::filesystem::path scenarios{};                // file of scenarios; empty: no gains
    bool explains = false;                            // explain gains by sensitivities
    std::optional<difference_options> differences{};  // empty: no differences
    // Filled by plan() for a request with a tolerance: replaces `settings`, with fixed numbers of paths.
    std::optional<run_settings> fixed{};
};

// Some trades of the book, counted from 0, on some tiles (of 1,024 paths) of their run. Scenarios and
// differences also have a range of markets: 0 is the base market, and the last stands for sensitivities that
// explain gains.
struct shard_piece {
    std::size_t first_trade = 0, end_trade = 0;
    std::size_t first_market = 0, end_market = 1;
    std::uint64_t first_tile = 0, end_tile = 0, run_tiles = 0;
};

// Thrown if shards are missing or damaged: run them and merge again.
class shards_missing : public machine_failure {
  public:
    shards_missing(const std::string& message, std::vector<std::size_t> which);
    const std::vector<std::size_t>& which() const noexcept { return which_; }

  private:
    std::vector<std::size_t> which_;
};

struct shard_outcome {
    bool was_done = false;             // true: an earlier run had finished it
    std::size_t blocks_taken = 0;      // blocks of work taken from an interrupted run
    std::vector<std::string> damaged;  // damaged files whose work was repeated
    std::size_t decisions = 0;         // number made here, because the plan lacks them
    std::string file;                  // file of the result
    // Status of trades, without figures, and the manifest; may be empty if `was_done`.
    std::optional<results> result{};
};

class shards {
  public:
    enum class stage { pricing, training };

    // Makes all decisions and cuts the work into `count` shards of about equal cost. Finds exercise policies
    // here if that seems to take at most `train_within_seconds`; otherwise training is a stage with shards of
    // its own. For a tolerance, walks a first round to fix the paths of each trade. If `folder` holds the
    // same request, its results are kept. Throws tilewalk::error (usage) for a request that can't be cut, and
    // if `folder` holds another request.
    static shards plan(const engine& by, const sharded_request& what, std::size_t count,
                       const std::filesystem::path& folder, double train_within_seconds = 60,
                       const run_options& options = {});
    // Largest number of shards: each has at least one tile of one trade in one market. 1 if there is no work.
    static std::size_t most(std::size_t trades, std::size_t markets, std::uint64_t paths);
    // Digest of a request, usable as the name of its folder.
    static std::string digest_of(const sharded_request& what);
    static shards open(const std::filesystem::path& folder);

    std::size_t count() const;
    const sharded_request& request() const;
    const std::string& digest() const;
    const std::vector<std::vector<shard_piece>>& pieces() const;
    const std::vector<double>& costs() const;  // operations of each shard, estimated
    // Trades that still lack a policy; pricing waits until there are none.
    const std::vector<std::size_t>& untrained() const;

    // Runs shard `number`, counted from 1. Devices, threads and other settings that affect no bit come from
    // the caller, others from the request. An interrupted run resumes from the journal in the plan's folder,
    // or from the caller's. Throws tilewalk::error (input) if an input differs from the plan's; (device) or
    // machine_failure if a retry may succeed.
    shard_outcome run(const engine& by, std::size_t number, stage of = stage::pricing,
                      const run_options& options = {}) const;
    // Merges the results of all shards. If prices miss the tolerance, their rows say so, and next_folder()
    // has a plan with more paths that reuses the finished work. Throws shards_missing.
    results merge(const engine& by, const run_options& options = {}) const;
    // Merges a request for differences. For a request for prices, returns prices as valued() does.
    difference_results merge_differences(const engine& by, const run_options& options = {}) const;
    scenario_results merge_scenarios(const engine& by, const run_options& options = {}) const;
    // Folder of the plan with more paths that merge() wrote; empty if it wrote none.
    std::filesystem::path next_folder() const;
    // Adds the policies of all training shards to the plan. Throws shards_missing.
    void merge_training();

  private:
    struct state;
    explicit shards(std::shared_ptr<state> of) : state_(std::move(of)) {}
    std::shared_ptr<state> state_;
};

}  // namespace tilewalk
