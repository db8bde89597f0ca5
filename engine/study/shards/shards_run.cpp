// SPDX-License-Identifier: Apache-2.0
// Runs shards: makes decisions, walks pieces, and merges the shards when done.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/base/machine.h"
#include "engine/base/wording.h"
#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "engine/study/asked.h"
#include "engine/study/files/differences.h"
#include "engine/study/manifest.h"
#include "engine/study/price.h"
#include "engine/study/scenarios/scenarios.h"
#include "engine/study/session/resources.h"
#include "engine/study/shards/shards.h"
#include "engine/walk/kept/kept_file.h"
#include "engine/walk/kept/work.h"
#include "tilewalk/bounds.h"

namespace tilewalk {

using nlohmann::json;
using std::filesystem::path;

namespace studies {

namespace {

book trades_of(const book& of, const shard_piece& piece) {
    std::vector<std::size_t> places(piece.end_trade - piece.first_trade);
    std::iota(places.begin(), places.end(), piece.first_trade);
    return some_trades(of, places);
}

// Throws if a device failed, rather than keep the failure: another attempt may succeed.
void refuse_failure_of_device(const std::string& trade, error_kind kind, const std::string& message) {
    if (kind == error_kind::device)
        throw error(error_kind::device, "trade " + config::shown(trade) + ": " + message);
}

// Walks the derivatives that differences need beside gains, for trades that have such derivatives.
void walk_greeks_beside(const engine& by, const opened_request& what, const book& trades,
                        const inner_options& with, results& to) {
    if (!with.work->has_market(what.number_of_greeks())) return;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < trades.size(); ++i)
        if (what.with_greeks_beside.contains(state_of(trades).trades[i].id)) places.push_back(i);
    if (places.empty()) return;
    const book some = some_trades(trades, places);
    const results found = greeks_as_asked(resources(state_of(by)), some, what.in, what.beside,
                                          asked_of(study::shards_of_differences, some, with).options);
    for (const greek_row& row : found.greeks)
        if (row.has_failed()) refuse_failure_of_device(row.trade, row.kind, row.message);
    add_walk(to.manifest, found.manifest);
}

struct shard_part {
    const shard_plan& plan;
    const opened_request& on;
    std::vector<std::size_t> to_train{};
    std::span<const shard_piece> pieces{};
};

// Returns the name of the file that says how a part was walked, on which its results do not depend.
path file_told(const path& file_of_part) {
    return path(file_of_part).replace_extension(".json");
}

// How a part was walked, and which of its trades failed.
struct account_of_part {
    run_manifest manifest{};
    std::set<std::string> failed{};

    void add(const results& piece) {
        add_walk(manifest, piece.manifest);
        manifest.plan_seconds += piece.manifest.plan_seconds;
        if (!piece.manifest.instruction_set.empty())
            manifest.instruction_set = piece.manifest.instruction_set;
        for (const price_row& row : piece.rows)
            if (row.status == trade_status::failed) failed.insert(row.trade);
    }
};

// Calls `use` with the name and the value of each field.
template <class account, class body>
void for_each_field(account& of, const body& use) {
    auto& m = of.manifest;
    use("machine", m.machine);
    use("instruction_set", m.instruction_set);
    use("devices", m.devices);
    use("lost_devices", m.lost_devices);
    use("kernels_compiled", m.kernels_compiled);
    use("plan_seconds", m.plan_seconds);
    use("path_seconds", m.path_seconds);
    use("total_seconds", m.total_seconds);
    use("failed", of.failed);
}

void write_account(const account_of_part& of, const path& file_of_part) {
    json all, &left = all["left_to_processor"] = json::array();
    for (const left_work& one : of.manifest.left_to_processor)
        left.push_back({{"work", one.work}, {"trades", one.trades}, {"why", one.why}});
    for_each_field(of, [&](const char* name, const auto& value) { all[name] = value; });
    all["machine"] = machine_name();
    kept::write_file(file_told(file_of_part), all.dump(1) + "\n");
}

// Returns what was written beside the part; empty if it can't be read, as no figure depends on it.
std::optional<account_of_part> account_beside(const path& file_of_part) {
    std::string text;
    if (kept::read_file(file_told(file_of_part), bounds::results_bytes, text) != kept::reading::done)
        return {};
    try {
        const json from = json::parse(text);
        account_of_part out;
        for_each_field(out, [&](const char* name, auto& value) { from.at(name).get_to(value); });
        for (const json& one : from.at("left_to_processor"))
            out.manifest.left_to_processor.push_back({one.at("work").get<std::string>(),
                                                      one.at("trades").get<std::size_t>(),
                                                      one.at("why").get<std::string>()});
        return out;
    } catch (const json::exception&) {
        return {};
    }
}

// Returns results of one part: its trades in the book's order, with statuses and without figures.
results told_of(const account_of_part& of, const shard_part& what, const run_options& with) {
    const opened_request& on = what.on;
    results out;
    const settled run = settle({with}, state_of(on.trades), {&on.in, 1});
    describe_run(run, of.manifest.instruction_set, state_of(on.trades), on.in, {}, out.manifest);
    out.manifest.inputs = what.plan.inputs;
    if (!of.manifest.machine.empty()) out.manifest.machine = of.manifest.machine;
    add_walk(out.manifest, of.manifest);
    out.manifest.plan_seconds = of.manifest.plan_seconds;
    out.manifest.total_seconds = of.manifest.total_seconds;
    std::set<std::size_t> places(what.to_train.begin(), what.to_train.end());
    for (const shard_piece& p : what.pieces)
        for (std::size_t i = p.first_trade; i < p.end_trade; ++i) places.insert(i);
    for (const std::size_t i : places) {
        price_row& row = out.rows.emplace_back();
        row.trade = state_of(on.trades).trades[i].id;
        row.status = of.failed.contains(row.trade) ? trade_status::failed : trade_status::priced;
        row.price = row.standard_error = row.low = row.high = no_figure;
    }
    return out;
}

account_of_part do_part(const engine& by, const shard_part& what, const run_options& with,
                        shard_outcome& out) {
    const shard_plan& plan = what.plan;
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const path beside = path(out.file).replace_extension(".journal");
    const path journal = with.journal.empty() ? beside : path(with.journal) / beside.filename();
    const auto known = std::make_shared<kept::store>(plan.digest, journal, with.journal_block_seconds);
    out.blocks_taken = known->blocks_taken();
    out.damaged.insert(out.damaged.end(), known->damaged().begin(), known->damaged().end());
    const std::vector<kept::record> decisions = plan.decisions();
    known->add_records(decisions);
    account_of_part told;
    told.add(decider{by, plan.request, what.on, with, known}.decide(what.to_train));
    for (const shard_piece& p : what.pieces) {
        inner_options of_piece{with};
        of_piece.work = std::make_shared<kept::work>(
            known, kept::share{p.first_tile, p.end_tile, p.run_tiles, p.first_market, p.end_market});
        told.add(walk_share(by, plan.request, what.on, trades_of(what.on.trades, p), of_piece));
    }
    const timings::during writing(with.times, stage::writing);
    known->flush();
    // Writes new records only, so that a part has the same bytes whatever process found them, in any order.
    std::set<kept::key> decided;
    for (const kept::record& r : decisions) decided.insert(r.of);
    const auto is_decided = [&](const kept::record& r) { return decided.contains(r.of); };
    std::vector<kept::record> made = known->tallies(), texts = known->texts();
    std::erase_if(made, is_decided);
    std::erase_if(texts, is_decided);
    out.decisions = texts.size();
    std::ranges::move(texts, std::back_inserter(made));
    told.manifest.total_seconds = std::chrono::duration<double>(clock::now() - begin).count();
    write_account(told, out.file);
    kept::write_block(out.file, plan.digest, made);
    std::error_code unimportant;  // a journal that stays does no harm
    std::filesystem::remove_all(journal, unimportant);
    return told;
}

// Returns "1, 3-7" for numbers in order.
std::string numbers_shown(const std::vector<std::size_t>& numbers) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        out += (out.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (last > i) out += "-" + std::to_string(numbers[last]);
        i = last + 1;
    }
    return out;
}

// Takes the results of all parts of a stage. Throws shards_missing if some are not there.
void take_parts(kept::store& into, const shard_plan& plan, shards::stage of) {
    const std::size_t count = plan.pieces.size();
    std::vector<std::size_t> missing, damaged;
    for (std::size_t number = 1; number <= count; ++number) {
        const path file = plan.file_of(of, number);
        const kept::read_block found = kept::block_in(file, into.request());
        if (found.is == kept::finding::of_another_request)
            throw error(error_kind::input,
                        "found the results of another request, expected those of this plan; remove the file "
                        "and run its shard again",
                        {file.string()});
        if (found.is == kept::finding::whole) {
            into.add_records(found.records);
            continue;
        }
        missing.push_back(number);
        if (found.is == kept::finding::damaged) damaged.push_back(number);
    }
    if (missing.empty()) return;
    throw shards_missing(std::to_string(missing.size()) + " of " + std::to_string(count) +
                             (of == shards::stage::training ? " shards of the training" : " shards") +
                             " are missing: " + numbers_shown(missing) +
                             (damaged.empty() ? "" : "; damaged among them: " + numbers_shown(damaged)) +
                             "; run them, then merge again",
                         missing);
}

struct done_request {
    const shard_plan& plan;
    inner_options with;  // options that walk nothing anew
    opened_request what;

    done_request(const shard_plan& of, const run_options& options)
        : plan(of), with{options_for(of.request, options)}, what(open_as_planned(of, with)) {
        const auto known = std::make_shared<kept::store>(of.digest);
        known->add_records(of.decisions());
        take_parts(*known, of, shards::stage::pricing);
        with.work = std::make_shared<kept::work>(kept::work::that_is_known(known));
    }
};

void tell_devices(const shard_plan& of, run_manifest& to) {
    const auto add = [](std::vector<std::string>& all, const std::vector<std::string>& more) {
        for (const std::string& one : more)
            if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    };
    for (std::size_t number = 1; number <= of.pieces.size(); ++number) {
        const auto told = account_beside(of.file_of(shards::stage::pricing, number));
        if (!told) continue;
        add(to.devices, told->manifest.devices);
        add(to.lost_devices, told->manifest.lost_devices);
        for (const left_work& one : told->manifest.left_to_processor) add_left(to.left_to_processor, one);
        to.path_seconds += told->manifest.path_seconds;
    }
}

void plan_next(const engine& by, const done_request& all, const std::optional<run_settings>& fixed) {
    if (!fixed) return;
    sharded_request next = all.plan.request;
    next.fixed = fixed;
    const path there = all.plan.folder / name_of_next;
    make_folder(there);
    // Known tallies move to the next plan, so that its shards need not walk them again.
    const std::string digest = digest_in(next, open_request(next), options_for(next, {}));
    if (kept::block_in(there / name_of_decisions, digest).is != kept::finding::whole)
        kept::write_block(there / name_of_decisions, digest, records_of(all.with.work->known()));
    shards::plan(by, next, all.plan.pieces.size(), there);
}

results merged_prices(const engine& by, const done_request& all) {
    const sharded_request& of = all.plan.request;
    results out = find_values(by, of, all.what.trades, all.what.in, all.with);
    tell_devices(all.plan, out.manifest);
    if (!of.fixed) return out;
    out.manifest.settings.tolerance = of.settings.tolerance;
    plan_next(by, all, fixed_after(out, of, all.what, all.with, all.plan.folder / name_of_next));
    return out;
}

// Merges gains. Rows say what misses the tolerance, and a plan for more paths is made.
scenario_results merged_gains(const engine& by, const done_request& all) {
    const auto find = [&](const book& trades, const inner_options&) {
        return scenarios_as_asked(resources(state_of(by)), without_accuracy(trades), all.what.in,
                                  *all.what.scenarios, all.with);
    };
    const sharded_request& of = all.plan.request;
    scenario_results out = find(all.what.asked, all.with);
    if (of.fixed) {
        plan_next(by, all, fixed_after(out, of, all.what, all.with, find));
        out.base.manifest.settings.tolerance = of.settings.tolerance;
    }
    tell_devices(all.plan, out.base.manifest);
    return out;
}

}  // namespace

book some_trades(const book& of, std::span<const std::size_t> places) {
    auto some = std::make_shared<books::book_state>(state_of(of));
    some->trades.clear();
    for (const std::size_t i : places) some->trades.push_back(state_of(of).trades[i]);
    return with_state<book>(std::move(some));
}

results find_values(const engine& by, const sharded_request& of, const book& trades, const market& in,
                    const inner_options& with) {
    const resources fresh(state_of(by));
    return of.greeks ? greeks_as_asked(fresh, trades, in, *of.greeks, with)
                     : std::move(prices_as_asked(fresh, trades, {&in, 1}, with).front());
}

results walk_share(const engine& by, const sharded_request& of, const opened_request& what,
                   const book& trades, const inner_options& with) {
    results out;
    if (what.scenarios) {
        scenario_results found =
            scenarios_as_asked(resources(state_of(by)), trades, what.in, *what.scenarios, with);
        out = std::move(found.base);
        for (const failed_gain& f : found.failures)
            refuse_failure_of_device(out.rows[f.trade].trade, f.kind, f.message);
        walk_greeks_beside(by, what, trades, with, out);
    } else {
        out = find_values(by, of, trades, what.in, with);
    }
    for (const price_row& row : out.rows)
        if (row.status == trade_status::failed) refuse_failure_of_device(row.trade, row.kind, row.message);
    return out;
}

results decider::decide(std::span<const std::size_t> places, bool trains) {
    if (places.empty()) return {};
    auto work = std::make_shared<kept::work>(into, kept::share{0, 0, 1, 0, 1});
    // Without a policy there is no bound to count; it costs about as much as the trade, so count twice.
    const double times = trains ? 1 : 2;
    work->tell_cost = [=, this](const std::string& trade, double operations) {
        costs[trade] += times * operations;
    };
    inner_options how{with};
    if (!trains) {
        work->train_nothing();
        how.overrides.controls = technique::none;
    }
    how.work = std::move(work);
    return walk_share(by, of, what, some_trades(what.trades, places), how);
}

}  // namespace studies

// Two processes may run one shard, if a node was given up that was alive. The first to finish removes the
// journal; the other finds the shard done.
shard_outcome shards::run(const engine& by, std::size_t number, stage of, const run_options& options) const {
    const studies::shard_plan& plan = *state_;
    if (number == 0 || number > count()) {
        throw error(error_kind::usage,
                    "found shard " + std::to_string(number) + ", expected 1 to " + std::to_string(count()));
    }
    const bool trains = of == stage::training;
    if (!trains && !plan.untrained.empty()) {
        throw error(error_kind::usage,
                    std::to_string(plan.untrained.size()) +
                        " trades with early exercise have no policy yet: run the stage training of each "
                        "shard, then merge it",
                    {plan.folder.string()});
    }
    const run_options with = studies::options_for(plan.request, options);
    const studies::opened_request on = studies::open_as_planned(plan, with);
    studies::shard_part what{plan, on};
    if (!trains) what.pieces = plan.pieces[number - 1];
    for (std::size_t k = number - 1; trains && k < plan.untrained.size(); k += count())
        what.to_train.push_back(plan.untrained[k]);
    shard_outcome out;
    out.file = plan.file_of(of, number).string();
    const auto look = [&] { return kept::block_in(out.file, plan.digest).is; };
    const kept::finding found = look();
    out.was_done = found == kept::finding::whole;
    if (found == kept::finding::damaged) out.damaged.push_back(out.file);
    std::optional<studies::account_of_part> told;
    try {
        if (!out.was_done) told = studies::do_part(by, what, with, out);
    } catch (const error& e) {
        out.was_done = e.kind() != error_kind::cancelled && look() == kept::finding::whole;
        if (!out.was_done) throw;
    }
    if (!told) told = studies::account_beside(out.file);
    if (told) out.result = studies::told_of(*told, what, with);
    return out;
}

path shards::next_folder() const {
    const path there = state_->folder / studies::name_of_next;
    std::error_code unknown;
    return std::filesystem::exists(there / studies::name_of_plan, unknown) ? there : path();
}

results shards::merge(const engine& by, const run_options& options) const {
    if (!request().scenarios.empty())
        throw error(error_kind::usage, "the shards are of scenarios, which merge_scenarios() merges");
    if (request().differences)
        throw error(error_kind::usage, "the shards are of differences, which merge_differences() merges");
    return studies::merged_prices(by, {*state_, options});
}

difference_results shards::merge_differences(const engine& by, const run_options& options) const {
    if (!request().scenarios.empty() || request().greeks)
        throw error(
            error_kind::usage,
            "the shards are of scenarios or of sensitivities, expected those of differences or prices");
    const studies::done_request all(*state_, options);
    const studies::opened_request& what = all.what;
    if (!request().differences) return valued(what.trades, what.in, studies::merged_prices(by, all));
    const studies::resources with(state_of(by), studies::resources::lasts::many_calls);
    difference_results out =
        studies::differences_as_asked(with, what.trades, what.in, *request().differences, all.with);
    studies::tell_devices(*state_, out.values.manifest);
    if (!request().fixed) return out;
    out.values.rows = studies::merged_gains(by, all).base.rows;
    out.values.manifest.settings.tolerance = request().settings.tolerance;
    // Trades whose tolerance can't be measured have failed by now.
    const auto has_failed = [&](const auto& row) {
        return out.values.rows[row.trade].status == trade_status::failed;
    };
    std::erase_if(out.rows, has_failed);
    std::erase_if(out.crif, has_failed);
    return out;
}

scenario_results shards::merge_scenarios(const engine& by, const run_options& options) const {
    if (request().scenarios.empty())
        throw error(error_kind::usage, "the shards are of prices, which merge() merges");
    return studies::merged_gains(by, {*state_, options});
}

void shards::merge_training() {
    state& plan = *state_;
    if (plan.untrained.empty()) return;
    const studies::opened_request what =
        studies::open_as_planned(plan, studies::options_for(plan.request, {}));
    kept::store known(plan.digest);
    known.add_records(plan.decisions());
    studies::take_parts(known, plan, stage::training);
    kept::write_block(plan.folder / studies::name_of_decisions, plan.digest, studies::records_of(known));
    plan.untrained.clear();
    plan.write(what.trades);
}

}  // namespace tilewalk
