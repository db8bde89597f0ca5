// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/settled.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "engine/base/crew.h"
#include "engine/base/wording.h"
#include "engine/decide/decision_file.h"
#include "engine/decide/followed.h"
#include "engine/decide/policy_file.h"
#include "engine/market/market_state.h"
#include "engine/reading/settings/wished_kernel.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/kept/fingerprint.h"
#include "engine/walk/units.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::studies {

namespace {

// Limit on training paths. A policy takes fewer than a price, since it errs by its functions, too.
constexpr std::uint64_t most_training = 65536;
std::uint64_t training_paths_for(std::uint64_t paths) {
    return std::clamp(paths / 4, least_training, most_training);
}

std::uint64_t paths_of_scenarios(std::span<const market> in) {
    std::uint64_t out = std::numeric_limits<std::uint64_t>::max();
    for (const market& m : in)
        for (const markets::scenario_array& a : state_of(m).scenarios) out = std::min(out, a.cube.paths);
    return out;
}

// Paths of the first round of a run to a tolerance. Pilots choose for as many.
constexpr std::uint64_t paths_of_first_round = std::uint64_t{1} << 16;
constexpr std::uint64_t most_paths_of_rounds = std::uint64_t{1} << 30;

// Takes the tolerance or time that is asked for. Stated paths are then a limit; but if the caller asks, paths
// that the book states do not count.
void take_accuracy(const run_settings& all, const run_settings& caller, bool trades_say,
                   std::span<const market> in, settled& s) {
    if (!trades_say && !all.tolerance && !all.budget) return;
    wanted_accuracy& to = s.accuracy.emplace();
    to.of_run = all.tolerance;
    if (all.budget) to.seconds = all.budget->count();
    to.confidence = *all.confidence;
    const bool caller_asks = caller.tolerance || caller.budget;
    const std::optional<std::uint64_t>& said = caller_asks ? caller.paths : s.said.paths;
    to.most_paths = std::min(said.value_or(most_paths_of_rounds), paths_of_scenarios(in));
    to.is_limited = said || to.seconds;
    s.paths = std::min(paths_of_first_round, to.most_paths);
}

// Collects the decisions `what`, and policies `beside` for trades to which `what` gives none.
std::shared_ptr<const decide::followed_run> followed_in(std::optional<decisions> what, std::string digest,
                                                        std::vector<exercise::saved_policy> beside) {
    exercise::saved_policies policies;
    const auto add = [&](std::vector<exercise::saved_policy> some) {
        for (exercise::saved_policy& of : some) {
            auto kept = std::make_shared<const exercise::saved_policy>(std::move(of));
            policies.try_emplace(kept->trade, kept);
        }
    };
    if (what) add(report::read_policies(report::policies_json(*what), "decisions"));
    add(std::move(beside));
    return std::make_shared<const decide::followed_run>(std::move(what), policies, std::move(digest));
}

std::shared_ptr<const decide::followed_run> followed_by(const run_settings& all) {
    if (!all.decisions && !all.policy) return nullptr;
    report::loaded_decisions loaded;
    if (all.decisions) loaded = report::load_decisions(*all.decisions);
    return followed_in(
        all.decisions ? std::optional(std::move(loaded.what)) : std::nullopt, loaded.digest,
        all.policy ? report::load_policies(*all.policy) : std::vector<exercise::saved_policy>{});
}

// Follows decisions, and takes their number of paths unless paths or an accuracy are asked for.
void take_decisions(const inner_options& options, const run_settings& all, settled& s) {
    const run_settings& caller = options.overrides;
    s.followed = options.followed ? options.followed : followed_by(all);
    const decisions* const of = s.decisions_to_follow();
    if (of == nullptr || s.accuracy || (caller.decisions ? caller.paths : s.said.paths)) return;
    s.takes_decided_paths = true;
    s.paths = of->paths;
}

// Returns the number of randomisations. A run to a tolerance ends when its error seems small, and so more
// often when the error is underestimated. The error from 16 randomisations is uncertain by 18 %, and an
// interval of 95 % would hold the truth 93.3 times of 100; with 32 it does at least 93.9 times.
std::uint64_t randomisations_of(const run_settings& all, const settled& s) {
    constexpr std::uint64_t of_rounds = 32;
    if (s.said.randomisations) return static_cast<std::uint64_t>(*s.said.randomisations);
    if (const decisions* const what = s.decisions_to_follow()) {
        for (const auto& [trade, of] : what->trades)
            if (of.randomisations > 0) return of.randomisations;
    }
    return s.accuracy ? of_rounds : static_cast<std::uint64_t>(*all.randomisations);
}

void take_points(const run_settings& all, std::span<const market> in, settled& s) {
    const bool is_open = s.random == random::chosen_by_pilot;
    if (!s.replay.empty()) return;
    if (is_open ? s.paths < run::least_paths_of_points
                : !random::find(s.random, random::back_end::gpu).is_points)
        return;
    const std::uint64_t randomisations = randomisations_of(all, s);
    const std::uint64_t unit = run::paths_of_randomisation(s.paths, randomisations);
    if (is_open && unit * randomisations > paths_of_scenarios(in)) return;
    s.unit_paths = unit;
    s.paths = unit * randomisations;
    s.chooses_source = is_open;
    s.chooses_construction = all.construction == construction::automatic;
    if (!s.chooses_construction) s.asked_points.construction = *all.construction;
    if (!is_open) s.points = s.asked_points;
}

// Returns the kernel for trades that take points. Points are read from memory, so that they need a prefetch
// strategy which numbers drawn in the kernel do not. No bit of a result depends on it.
cuda::kernel_wish wished_for_points(run_settings all, cuda::kernel_wish as_asked,
                                    const random::catalogue_entry& source) {
    as_asked.reads_shocks = true;
    if (!cuda::reads_shocks(as_asked)) all.prefetch = "auto";
    all.random = std::string(source.name);
    return wished_kernel(all);
}

}  // namespace

std::uint64_t settled::paths_of_pilot() const {
    constexpr std::uint64_t most_share = 20;  // pilots take 1 / most_share of a run
    const bool finds_points = chooses_source || chooses_construction;
    const std::uint64_t pilots = (chooses_controls ? 1U : 0U) + (chooses_importance ? 1U : 0U) +
                                 (chooses_preintegration ? 1U : 0U) +
                                 (finds_points && !finds_points_with_controls() ? 1U : 0U);
    return paths / most_share / std::max<std::uint64_t>(pilots, 1);
}

const random::catalogue_entry& source_of(const settled& run, bool has_points) {
    return random::source_of(run.random, has_points, random::back_end::gpu);
}

std::string remark_on_points_left_out(const settled& run, const std::string& trade) {
    const decisions* const of = run.decisions_to_follow();
    if (of == nullptr || run.unit_paths > 0) return {};
    const auto decided = of->trades.find(trade);
    if (decided == of->trades.end() || decided->second.randomisations == 0) return {};
    return fmt::format("the decided points are left out: its paths take random numbers from {}",
                       source_of(run, false).name);
}

std::uint64_t fingerprint_of_paths(const settled& run, const std::optional<quasi::points>& points,
                                   std::string_view replay) {
    kept::fingerprint out;
    out.add(run.seed);
    out.add(run.paths);
    out.add(points ? run.unit_paths : 0);
    out.add(source_of(run, points.has_value()).name);
    out.add(points ? quasi::name_of(points->construction) : std::string_view());
    out.add(std::uint64_t{run.walks_pairs});
    out.add(replay);
    return out.found().first;
}

const cpu::lane_operations& operations_named(const std::string& name) {
    const auto list = cpu::runnable_instruction_sets();
    if (list.count == 0) {
        throw error(error_kind::usage,
                    "this processor has no fused multiply-add; Tilewalk needs x86-64-v3 (AVX2 and FMA, 2013) "
                    "or newer");
    }
    std::vector<std::string> known{"auto"};
    for (int i = 0; i < list.count; ++i) {
        const auto& set = *list.sets[static_cast<std::size_t>(i)];
        if (name == "auto" || name == set.name) return set;
        known.emplace_back(set.name);
    }
    throw error(error_kind::usage, "unknown instruction set " + config::shown(name) +
                                       config::alternatives(name, "this machine can run:", known));
}

namespace {

settled settled_for(const inner_options& options, const run_settings& file, std::span<const market> in,
                    bool trades_say_tolerances) {
    const run_settings& caller = options.overrides;
    check(caller);
    settled s;
    s.demands_correlations = options.demand_correlations;
    s.said = over(caller, file);
    const run_settings all = over(s.said, default_settings());
    s.paths = *all.paths;
    s.seed = *all.seed;
    s.threads = *all.threads;
    s.device = *all.device;
    s.random = *all.random;
    s.replay = all.replay.value_or("");
    take_accuracy(all, caller, trades_say_tolerances, in, s);
    take_decisions(options, all, s);
    take_points(all, in, s);
    s.training_paths = all.training_paths.value_or(training_paths_for(s.paths));
    s.policy = all.policy.value_or("");
    s.nests_bounds = all.upper == upper_bound::nested;
    s.how = wished_kernel(all);
    s.how_of_points = s.how;
    if (s.chooses_source) s.how_of_points = wished_for_points(all, s.how, source_of(s, true));
    s.chooses_controls = all.controls == technique::automatic;
    s.chooses_preintegration = all.preintegration == technique::automatic;
    s.chooses_importance = all.importance == technique::automatic;
    s.walks_pairs = all.antithetic == antithetic::pairs;
    s.correlation = *all.correlation;
    s.memory_bytes = *all.memory_bytes;
    s.threads = threads::asked_or_cores(s.threads);
    return s;
}

}  // namespace

const decisions* settled::decisions_to_follow() const {
    return followed ? followed->all() : nullptr;
}

settled part_of(settled run, const part_of_run& part) {
    run.seed = part.seed;
    run.paths = part.paths;
    run.training_paths = part.training_paths;
    run.fits = part.fits;
    return run;
}

settled round_of(settled run, const walk_of_round& round) {
    run.unit_paths *= round.paths / run.paths;
    run.paths = round.paths;
    run.seed = round.seed;
    run.accuracy.reset();
    run.takes_decided_paths = false;
    return run;
}

round_of_study of_round(const book& trades, const inner_options& options, const settled& run,
                        const walk_of_round& round) {
    auto walked = std::make_shared<books::book_state>(state_of(trades));
    inner_options how = options;
    for (run_settings* const of : {&walked->settings, &how.overrides}) {
        of->tolerance.reset();
        of->budget.reset();
    }
    for (books::trade& t : walked->trades) t.tolerance.reset();
    how.overrides.paths = round.paths;
    how.overrides.seed = round.seed;
    how.overrides.training_paths = run.training_paths;
    if (run.unit_paths > 0) how.overrides.randomisations = static_cast<int>(run.paths / run.unit_paths);
    return {with_state<book>(std::move(walked)), std::move(how)};
}

std::shared_ptr<const decide::followed_run> followed_after(const run_manifest& manifest,
                                                           const std::vector<price_row>& rows,
                                                           const settled& run) {
    if (run.decisions_to_follow() != nullptr) return run.followed;
    return followed_in(
        report::decisions_of(manifest, rows, {}, "results"), "",
        run.policy.empty() ? std::vector<exercise::saved_policy>{} : report::load_policies(run.policy));
}

settled settle(const inner_options& options, const run_settings& file, std::span<const market> in) {
    return settled_for(options, file, in, false);
}

settled settle(const inner_options& options, const books::book_state& of, std::span<const market> in) {
    const bool trades_say =
        std::ranges::any_of(of.trades, [](const books::trade& t) { return t.tolerance.has_value(); });
    return settled_for(options, of.settings, in, trades_say);
}

std::string kernel_text_of(const program::path_program& code, const cuda::kernel_wish& asked,
                           const cuda::device_properties& on, cuda::tuned_choices& choices) {
    const auto fits = [&](const cuda::kernel_decision& how, int slots) {
        try {
            cuda::check(how, slots, {on.major, on.minor, on.shared_bytes_per_block});
            return true;
        } catch (const error&) {
            return false;
        }
    };
    if (!asked.is_open()) return cuda::described(cuda::decide(asked, code, fits)) + " (as set)";
    if (const auto found = choices.find(on, code, asked); found && fits(found->how, code.slots_per_step())) {
        return fmt::format("{} (measured on this {} on {}: {:.2f} times as fast as by the rules)",
                           cuda::described(found->how), on.name, found->date,
                           found->untuned_milliseconds / found->milliseconds);
    }
    return cuda::described(cuda::decide(asked, code, fits)) +
           " (by the rules, which an H100's figures made; tilewalk tune measures)";
}

std::optional<arrays::shock_file> replayed_in(const settled& run) {
    std::optional<arrays::shock_file> file;
    if (!run.replay.empty()) file.emplace(run.replay, program::shock_type(run.how.precision));
    return file;
}

}  // namespace tilewalk::studies
