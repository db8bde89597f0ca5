// SPDX-License-Identifier: Apache-2.0
// Stages of shards. A folder has plan.json, which says what each part does; decisions.kept, from pilots and
// trainings; a file for each finished part; and a journal for each part on its way.
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

namespace tilewalk::verbs {

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
    // Throws tilewalk::error (input) if there are none of this plan.
    std::vector<kept::record> decisions() const;
    void write(const book& trades) const;
};

struct opened_request {
    book asked;   // with its tolerances
    book trades;  // as they are walked
    market in;
    std::optional<scenario_list> scenarios{};  // those of differences, too
    greek_options beside{};                    // of some trades of a request for differences
    std::set<std::string> with_greeks_beside{};

    std::size_t markets() const {
        return scenarios ? number_of_greeks() + (scenarios->explains || !with_greeks_beside.empty() ? 1 : 0)
                         : 1;
    }
    // Sensitivities count as the last market.
    std::size_t number_of_greeks() const { return scenarios->scenarios.size() + 1; }
};
opened_request open_request(const sharded_request& of, timings* times = nullptr);
// Throws tilewalk::error (input), naming changed inputs, if the request is not the one that was planned.
opened_request open_as_planned(const shard_plan& of, const run_options& with);

study study_of(const sharded_request& of);
// Takes settings that bits depend on from the request, all others from the caller first.
run_options options_for(const sharded_request& of, const run_options& callers);
std::string digest_in(const sharded_request& of, const opened_request& what, const run_options& with);
std::vector<input_file> inputs_of(const opened_request& what, const run_options& with);
book without_accuracy(const book& of);
book some_trades(const book& of, std::span<const std::size_t> places);
void make_folder(const std::filesystem::path& folder);
std::vector<kept::record> records_of(const kept::store& known);

results find_values(const engine& by, const sharded_request& of, const book& trades, const market& in,
                    const inner_options& with);
// Walks what the work of `with` says. Rows have statuses, manifests what walked them; figures mean nothing.
results walk_share(const engine& by, const sharded_request& of, const opened_request& what,
                   const book& trades, const inner_options& with);

// Walks no prices, so that only decisions are made, by pilots and trainings, and costs.
struct decider {
    const engine& by;
    const sharded_request& of;
    const opened_request& what;
    const run_options& with;
    std::shared_ptr<kept::store> into;
    std::map<std::string, double> costs{};  // by trade, in operations

    results decide(std::span<const std::size_t> places, bool trains = true);
};

// Returns settings of the next walk, with decisions in the folder; empty if more paths are no help.
std::optional<run_settings> fixed_after(results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const std::filesystem::path& folder);
// The same for gains; `again` finds them anew if a trade fails that can't be measured.
std::optional<run_settings> fixed_after(scenario_results& so_far, const sharded_request& of,
                                        const opened_request& what, const run_options& options,
                                        const study_of_scenarios& again);

}  // namespace tilewalk::verbs

namespace tilewalk {

struct shards::state : verbs::shard_plan {};

}  // namespace tilewalk
