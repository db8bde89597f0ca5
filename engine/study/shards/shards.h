// SPDX-License-Identifier: Apache-2.0
// The stages of a sharded request. A folder has plan.json, which says what each shard does; decisions.kept,
// from pilots and training; a file for each finished shard; a journal for each that runs.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/inner_options.h"
#include "engine/study/scenarios/rounds_of_gains.h"
#include "engine/walk/kept/store.h"
#include "tilewalk/combinations.h"
#include "tilewalk/shards.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

inline constexpr const char* name_of_plan = "plan.json";
inline constexpr const char* name_of_next = "next";
inline constexpr const char* name_of_decisions = "decisions.kept";

struct shard_plan {
    std::filesystem::path folder{};
    sharded_request request{};
    std::string digest{};
    std::vector<input_file> inputs{};
    std::vector<std::vector<shard_piece>> pieces{};
    std::vector<double> costs{};
    std::vector<std::size_t> untrained{};

    std::filesystem::path file_of(shards::stage of, std::size_t number) const;
    // Reads decisions.kept. Throws tilewalk::error (input) if it is missing or of another plan.
    std::vector<kept::record> decisions() const;
    void write(const book& trades) const;
};

struct opened_request {
    book asked;   // with tolerances of its trades
    book trades;  // without, as shards walk it
    market in;
    std::optional<scenario_list> scenarios{};  // shifts, if differences are asked for
    greek_options beside{};                    // beside differences, for some trades
    std::set<std::string> with_greeks_beside{};

    std::size_t markets() const {
        return scenarios ? number_of_greeks() + (scenarios->explains || !with_greeks_beside.empty() ? 1 : 0)
                         : 1;
    }
    // Returns the place of sensitivities, which count as one more market.
    std::size_t number_of_greeks() const { return scenarios->scenarios.size() + 1; }
};
opened_request open_request(const sharded_request& of, timings* times = nullptr);
// Opens the request. Throws tilewalk::error (input), naming changed inputs, if it is not as planned.
opened_request open_as_planned(const shard_plan& of, const run_options& with);

study study_of(const sharded_request& of);
// Takes settings that results depend on from the request; the caller's come first for the others.
run_options options_for(const sharded_request& of, const run_options& callers);
std::string digest_in(const sharded_request& of, const opened_request& what, const run_options& with);
std::vector<input_file> inputs_of(const opened_request& what, const run_options& with);
book without_accuracy(const book& of);
book some_trades(const book& of, std::span<const std::size_t> places);
void make_folder(const std::filesystem::path& folder);
std::vector<kept::record> records_of(const kept::store& known);

results find_values(const engine& by, const sharded_request& of, const book& trades, const market& in,
                    const inner_options& with);
// Walks the share that `with.work` says, into its store. Only statuses and manifests of the results count.
results walk_share(const engine& by, const sharded_request& of, const opened_request& what,
                   const book& trades, const inner_options& with);

// Makes decisions by pilots and training, and counts costs, without walking prices.
struct decider {
    const engine& by;
    const sharded_request& of;
    const opened_request& what;
    const run_options& with;
    std::shared_ptr<kept::store> into;
    std::map<std::string, double> costs{};  // operations by trade

    results decide(std::span<const std::size_t> places, bool trains = true);
};

// Returns settings for the next walk, with decisions in the folder; empty if more paths do not help.
std::optional<run_settings> fixed_after(results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const std::filesystem::path& folder);
// Does the same for gains. Calls `again` to find them anew if a trade fails whose tolerance has no amount.
std::optional<run_settings> fixed_after(scenario_results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const study_of_scenarios& again);

}  // namespace tilewalk::studies

namespace tilewalk {

struct shards::state : studies::shard_plan {};

}  // namespace tilewalk
