// SPDX-License-Identifier: Apache-2.0
// A folder of shards has plan.json, which says what each part does; decisions.kept, with what pilots and
// trainings found; and a file for each part that is done. A part on its way has a journal beside these.
#include "tilewalk/shards.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "engine/arrays/mapped_file.h"
#include "engine/book/book_state.h"
#include "engine/config/digest.h"
#include "engine/config/wording.h"
#include "engine/kept/block.h"
#include "engine/kept/kept_file.h"
#include "engine/kept/store.h"
#include "engine/kept/work.h"
#include "engine/plan/trade_program.h"
#include "engine/report/machine.h"
#include "engine/threads/crew.h"
#include "engine/verbs/asked.h"
#include "engine/verbs/differences.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/price.h"
#include "engine/verbs/request.h"
#include "engine/verbs/rounds.h"
#include "engine/verbs/rounds_of_gains.h"
#include "engine/verbs/settled.h"
#include "kernels/tile.h"
#include "tilewalk/bounds.h"
#include "tilewalk/decisions.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/timings.h"
#include "tilewalk/version.h"

namespace tilewalk {

using nlohmann::json;
using std::filesystem::path;

namespace {
struct done_request;
}

struct shards::state {
    path folder;
    sharded_request request;
    std::string digest;
    std::size_t count = 0;
    std::vector<input_file> inputs;
    std::vector<std::vector<shard_piece>> pieces;
    std::vector<double> costs;
    std::vector<std::size_t> untrained;

    // Throws shards_missing.
    done_request done(const run_options& options) const;
    results merged(const engine& by, const done_request& all) const;
    // Says what is wider than the tolerance, and plans more paths for it.
    void judge(const engine& by, const done_request& all, scenario_results& so_far) const;
    void tell_devices(run_manifest& to) const;
    // Writes the plan of more paths.
    void plan_next(const engine& by, const done_request& all, const run_settings& fixed) const;
};

namespace {

constexpr const char* name_of_plan = "plan.json";
constexpr const char* name_of_next = "next";
constexpr const char* name_of_decisions = "decisions.kept";
constexpr const char* format_name = "tilewalk-shards-2";

std::string name_of(shards::stage of) {
    return of == shards::stage::training ? "training" : "shard";
}
std::string name_of_part(shards::stage of, std::size_t number, std::size_t count) {
    const std::string all = std::to_string(count), one = std::to_string(number);
    return name_of(of) + "-" + std::string(all.size() - one.size(), '0') + one + "-of-" + all;
}
path file_of_part(const path& folder, shards::stage of, std::size_t number, std::size_t count) {
    return folder / (name_of_part(of, number, count) + ".kept");
}

// The request in memory.
struct opened {
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
    // As a market.
    std::size_t number_of_greeks() const { return scenarios->scenarios.size() + 1; }
};

study study_of(const sharded_request& of) {
    if (of.differences) return study::shards_of_differences;
    if (!of.scenarios.empty()) return study::shards_of_scenarios;
    if (!of.greeks) return study::shards_of_prices;
    // Differences alone take pairs of paths.
    return of.greeks->method == greek_method::bump ? study::greeks_by_bump : study::shards_of_greeks;
}

// A file may be seen under other names where a part is done: as it was named, under its whole name, or from
// the folder of the plan. The first with the bytes of the plan is taken, so that rows name it as one process
// would.
json written_place(const path& file, const path& folder) {
    if (file.empty()) return {};
    std::error_code unknown;
    const path whole = std::filesystem::absolute(file, unknown).lexically_normal();
    return {{"file", file.string()},
            {"whole", whole.string()},
            {"from_here", std::filesystem::relative(whole, folder, unknown).string()},
            {"sha256", verbs::hash_of(file)}};
}
path found_at(const json& place, const path& folder) {
    if (place.is_null()) return {};
    const auto named = [&](const char* as) { return path(place.at(as).get<std::string>()); };
    const std::string hash = place.at("sha256").get<std::string>();
    for (const path& file : {named("file"), named("whole"), folder / named("from_here")}) {
        std::error_code unknown;
        if (std::filesystem::is_regular_file(file, unknown) && verbs::hash_of(file) == hash) return file;
    }
    return named("file");
}

book without_accuracy(const book& of) {
    auto walked = std::make_shared<books::book_state>(of.state());
    walked->settings.tolerance.reset();
    for (books::trade& t : walked->trades) t.tolerance.reset();
    return book::of(std::move(walked));
}

// Settings that bits depend on are the request's, all others the caller's before its own.
run_options options_for(const sharded_request& of, const run_options& callers) {
    run_options out = callers;
    out.overrides = run_settings{};
    for (const run_setting& known : setting_table()) {
        const auto said = known.text(of.fixed ? *of.fixed : of.settings),
                   here = known.text(callers.overrides);
        const auto& taken = known.decides_bits || !here ? said : here;
        if (taken) known.read(*taken, out.overrides);
    }
    out.demand_correlations = of.demand_correlations;
    return out;
}

opened open_request(const sharded_request& of, timings* times = nullptr) {
    std::optional<timings::during> reading(std::in_place, times, stage::reading_book);
    book trades = book::load(of.book, of.how);
    if (!of.trades.empty()) trades = trades.only(of.trades);
    run_options said;
    said.overrides = of.settings;
    const book asked = verbs::with_tolerances_of(study_of(of), trades, said);
    reading.reset();
    reading.emplace(times, stage::reading_market);
    if (of.market.empty() && !trades.market()) {
        throw error(error_kind::usage, "the book names no market; write market: in the book or give one",
                    {of.book.string()});
    }
    market in = of.market.empty() ? *trades.market() : market::load(of.market, of.how);
    if (!of.changes.empty()) in = in.changed(of.changes);
    opened out{asked, of.fixed ? without_accuracy(asked) : asked, std::move(in)};
    if (of.differences) {
        verbs::valuations_of_differences all =
            verbs::valuations_of(out.trades, out.in, *of.differences, options_for(of, {}));
        out.scenarios = std::move(all.shifts);
        out.beside = std::move(all.by_numbers);
        out.with_greeks_beside = std::move(all.trades);
    }
    if (of.scenarios.empty()) return out;
    out.scenarios = scenario_list::load(of.scenarios, out.in, of.how);
    out.scenarios->explains = of.explains;
    return out;
}

std::vector<input_file> inputs_of(const opened& what, const run_options& with) {
    std::vector<input_file> out = verbs::inputs_of(what.trades, {&what.in, 1}, with);
    if (what.scenarios) out.insert(out.end(), what.scenarios->inputs.begin(), what.scenarios->inputs.end());
    return out;
}

book some_trades(const book& of, std::span<const std::size_t> places) {
    auto some = std::make_shared<books::book_state>(of.state());
    some->trades.clear();
    for (const std::size_t i : places) some->trades.push_back(of.state().trades[i]);
    return book::of(std::move(some));
}

book trades_of(const book& of, const shard_piece& piece) {
    std::vector<std::size_t> places(piece.end_trade - piece.first_trade);
    std::iota(places.begin(), places.end(), piece.first_trade);
    return some_trades(of, places);
}

// An attempt may do better on another device, or another day.
void refuse_failure_of_device(const std::string& trade, error_kind kind, const std::string& message) {
    if (kind == error_kind::device)
        throw error(error_kind::device, "trade " + config::shown(trade) + ": " + message);
}

// Derivatives beside the gains of which differences are made, for those of the trades that have any.
void walk_greeks_beside(const engine& by, const opened& what, const book& trades, const run_options& with,
                        results& to) {
    if (!with.work->has_market(what.number_of_greeks())) return;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < trades.size(); ++i)
        if (what.with_greeks_beside.contains(trades.state().trades[i].id)) places.push_back(i);
    if (places.empty()) return;
    const book some = some_trades(trades, places);
    const results found = by.greeks(some, what.in, what.beside,
                                    verbs::asked_of(study::shards_of_differences, some, with).options);
    for (const greek_row& row : found.greeks)
        if (row.has_failed()) refuse_failure_of_device(row.trade, row.kind, row.message);
    verbs::add_walk(to.manifest, found.manifest);
}

// Walks what the work says. Rows have the trades' statuses, manifests what walked them, and figures no
// meaning.
results walked(const engine& by, const sharded_request& of, const opened& what, const book& trades,
               const run_options& with) {
    results out;
    if (what.scenarios) {
        scenario_results found = by.scenarios(trades, what.in, *what.scenarios, with);
        out = std::move(found.base);
        for (const failed_gain& f : found.failures)
            refuse_failure_of_device(out.rows[f.trade].trade, f.kind, f.message);
        walk_greeks_beside(by, what, trades, with, out);
    } else {
        out = of.greeks ? by.greeks(trades, what.in, *of.greeks, with) : by.price(trades, what.in, with);
    }
    for (const price_row& row : out.rows)
        if (row.status == trade_status::failed) refuse_failure_of_device(row.trade, row.kind, row.message);
    return out;
}

std::string digest_in(const sharded_request& of, const opened& what, const run_options& with) {
    const std::string digest =
        verbs::digest_of_request(what.trades, {&what.in, 1},
                                 {.greeks = of.greeks ? &*of.greeks : nullptr,
                                  .scenarios = what.scenarios ? &*what.scenarios : nullptr},
                                 with);
    // Parts of the same gains hold more where these are explained.
    return of.explains ? config::sha256(digest + " explained") : digest;
}

json written(const run_settings& of, const path& folder) {
    json out = json::object();
    for (const run_setting& known : setting_table()) {
        const auto text = known.text(of);
        if (!text) continue;
        const bool is_file = known.takes == run_setting::kind::file;
        out[known.name] = is_file ? written_place(*text, folder) : json(*text);
    }
    return out;
}

json written(const sharded_request& of, const path& folder) {
    json changes = json::array();
    for (const market_change& c : of.changes)
        changes.push_back({c.key, c.is == market_change::way::set ? "set" : "shift", c.amount});
    json out{{"book", written_place(of.book, folder)},
             {"market", written_place(of.market, folder)},
             {"scenarios", written_place(of.scenarios, folder)},
             {"explains", of.explains},
             {"strict", of.how.strict},
             {"confine", of.how.confine},
             {"trades", of.trades},
             {"changes", changes},
             {"settings", written(of.settings, folder)},
             {"fixed", of.fixed ? written(*of.fixed, folder) : json()},
             {"demand_correlations", of.demand_correlations},
             {"greeks", json()},
             {"differences", json()}};
    if (of.greeks)
        out["greeks"] = {{"wanted", of.greeks->wanted},
                         {"method", name_of(of.greeks->method)},
                         {"view", name_of(of.greeks->view)}};
    if (of.differences)
        out["differences"] = {{"cross_gamma", of.differences->cross_gamma}, {"vanna", of.differences->vanna}};
    return out;
}

run_settings settings_in(const json& from, const path& folder) {
    run_settings out;
    for (const run_setting& known : setting_table()) {
        const auto at = from.find(known.name);
        if (at == from.end()) continue;
        const bool is_file = known.takes == run_setting::kind::file;
        known.read(is_file ? found_at(*at, folder).string() : at->get<std::string>(), out);
    }
    return out;
}

sharded_request request_in(const json& from, const path& folder) {
    sharded_request out;
    out.book = found_at(from.at("book"), folder);
    out.market = found_at(from.at("market"), folder);
    out.scenarios = found_at(from.at("scenarios"), folder);
    out.explains = from.value("explains", false);
    out.how = {from.at("strict").get<bool>(), from.at("confine").get<bool>()};
    out.trades = from.at("trades").get<std::vector<std::string>>();
    for (const json& c : from.at("changes"))
        out.changes.push_back(
            {c.at(0).get<std::string>(), c.at(2).get<double>(),
             c.at(1).get<std::string>() == "set" ? market_change::way::set : market_change::way::shift});
    out.settings = settings_in(from.at("settings"), folder);
    if (const json& fixed = from.at("fixed"); !fixed.is_null()) out.fixed = settings_in(fixed, folder);
    out.demand_correlations = from.at("demand_correlations").get<bool>();
    if (const json& greeks = from.at("greeks"); !greeks.is_null())
        out.greeks = greek_options{greeks.at("wanted").get<std::vector<std::string>>(),
                                   greek_method_named(greeks.at("method").get<std::string>()),
                                   greek_view_named(greeks.at("view").get<std::string>())};
    if (const json differences = from.value("differences", json()); !differences.is_null())
        out.differences = {.cross_gamma = differences.at("cross_gamma").get<bool>(),
                           .vanna = differences.at("vanna").get<bool>()};
    return out;
}

// The trades, markets and tiles of parts of about equal cost, in the order of the book. A trade costs the
// same in each market.
class cutter {
  public:
    cutter(const std::vector<double>& costs, std::size_t markets, std::uint64_t run_tiles)
        : costs_(costs), markets_(markets), tiles_(run_tiles) {}

    std::vector<std::vector<shard_piece>> cut(std::size_t count) {
        const double markets = static_cast<double>(markets_);
        const double all = markets * std::accumulate(costs_.begin(), costs_.end(), 0.0);
        std::vector<std::vector<shard_piece>> out;
        double before = 0;  // the cost of what stands before the cell at hand
        std::size_t trade = 0, market = 0;
        std::uint64_t tile = 0;
        const auto go_on = [&] {
            tile = 0;
            if (++market < markets_) return;
            market = 0;
            ++trade;
        };
        for (std::size_t k = 1; k <= count; ++k) {
            std::vector<shard_piece>& pieces = out.emplace_back();
            const double end =
                k == count ? INFINITY : all * static_cast<double>(k) / static_cast<double>(count);
            while (trade < costs_.size()) {
                const double cost = costs_[trade];
                // A whole trade at once, where it fits; trades that cost nothing go with the one before them.
                if (market == 0 && tile == 0 && (before + markets * cost <= end || cost == 0)) {
                    add(pieces, {trade, trade + 1, 0, markets_, 0, tiles_, tiles_});
                    before += markets * cost;
                    ++trade;
                    continue;
                }
                if (before + cost <= end) {
                    add(pieces, {trade, trade + 1, market, market + 1, tile, tiles_, tiles_});
                    before += cost;
                    go_on();
                    continue;
                }
                const std::uint64_t up_to = tile_at((end - before) / cost);
                if (up_to > tile) {
                    add(pieces, {trade, trade + 1, market, market + 1, tile, up_to, tiles_});
                    tile = up_to;
                }
                break;
            }
        }
        return out;
    }

  private:
    // The tile at which a trade is cut: a multiple of a power of two, so that its parts are few subtrees.
    std::uint64_t tile_at(double part) const {
        const std::uint64_t grain =
            std::bit_floor(std::max<std::uint64_t>(1, tiles_ / (std::uint64_t{64} * run::most_parts)));
        const double at = part * static_cast<double>(tiles_) / static_cast<double>(grain);
        return std::min(tiles_, static_cast<std::uint64_t>(std::llround(at)) * grain);
    }
    static void add(std::vector<shard_piece>& to, const shard_piece& more) {
        if (more.first_tile >= more.end_tile) return;
        if (to.empty()) return to.push_back(more);
        shard_piece& last = to.back();
        const bool has_same_tiles = last.first_tile == more.first_tile && last.end_tile == more.end_tile;
        const bool has_same_markets =
            last.first_market == more.first_market && last.end_market == more.end_market;
        if (has_same_tiles && has_same_markets && last.end_trade == more.first_trade)
            last.end_trade = more.end_trade;
        else if (has_same_tiles && last.first_trade == more.first_trade && last.end_trade == more.end_trade &&
                 last.end_market == more.first_market)
            last.end_market = more.end_market;
        else
            to.push_back(more);
    }

    const std::vector<double>& costs_;
    const std::size_t markets_;
    const std::uint64_t tiles_;
};

void write_plan(const path& folder, const sharded_request& request, const std::string& digest,
                const std::vector<input_file>& inputs, const std::vector<std::vector<shard_piece>>& pieces,
                const std::vector<double>& costs, const std::vector<std::size_t>& untrained,
                const book& trades) {
    json parts = json::array();
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        json of_part = json::array();
        for (const shard_piece& p : pieces[k])
            of_part.push_back({{"trades", {p.first_trade, p.end_trade}},
                               {"from", trades.state().trades[p.first_trade].id},
                               {"to", trades.state().trades[p.end_trade - 1].id},
                               {"markets", {p.first_market, p.end_market}},
                               {"tiles", {p.first_tile, p.end_tile, p.run_tiles}}});
        parts.push_back({{"shard", k + 1}, {"operations", costs[k]}, {"pieces", of_part}});
    }
    json files = json::array();
    for (const input_file& f : inputs) files.push_back({{"file", f.file}, {"sha256", f.hash}});
    const json all{{"format", format_name}, {"version", version()},
                   {"digest", digest},      {"request", written(request, folder)},
                   {"inputs", files},       {"untrained", untrained},
                   {"shards", parts}};
    kept::write_file(folder / name_of_plan, all.dump(1) + "\n");
}

}  // namespace

shards_missing::shards_missing(const std::string& message, std::vector<std::size_t> which)
    : machine_failure(error_kind::io, message), which_(std::move(which)) {}

shards shards::open(const path& folder) {
    std::string text;
    const kept::reading got = kept::read_file(folder / name_of_plan, bounds::results_bytes, text);
    if (got == kept::reading::absent)
        throw error(error_kind::io, "found no plan of shards, expected a folder that 'tilewalk plan' wrote",
                    {(folder / name_of_plan).string()});
    try {
        const json from = json::parse(text);
        auto out = std::make_shared<state>();
        if (from.at("format").get<std::string>() != format_name)
            throw error(error_kind::input, "found another format, expected " + std::string(format_name));
        out->folder = folder;
        out->digest = from.at("digest").get<std::string>();
        out->request = request_in(from.at("request"), folder);
        for (const json& f : from.at("inputs"))
            out->inputs.push_back({f.at("file").get<std::string>(), f.at("sha256").get<std::string>()});
        out->untrained = from.at("untrained").get<std::vector<std::size_t>>();
        for (const json& part : from.at("shards")) {
            out->costs.push_back(part.at("operations").get<double>());
            std::vector<shard_piece>& pieces = out->pieces.emplace_back();
            for (const json& p : part.at("pieces"))
                pieces.push_back(
                    {p.at("trades").at(0).get<std::size_t>(), p.at("trades").at(1).get<std::size_t>(),
                     p.at("markets").at(0).get<std::size_t>(), p.at("markets").at(1).get<std::size_t>(),
                     p.at("tiles").at(0).get<std::uint64_t>(), p.at("tiles").at(1).get<std::uint64_t>(),
                     p.at("tiles").at(2).get<std::uint64_t>()});
        }
        out->count = out->pieces.size();
        return shards(std::move(out));
    } catch (const std::exception& e) {
        throw error(error_kind::input, std::string("found a plan that can't be read: ") + e.what(),
                    {(folder / name_of_plan).string()});
    }
}

std::size_t shards::count() const {
    return state_->count;
}
const sharded_request& shards::request() const {
    return state_->request;
}
const std::string& shards::digest() const {
    return state_->digest;
}
const std::vector<std::vector<shard_piece>>& shards::pieces() const {
    return state_->pieces;
}
const std::vector<double>& shards::costs() const {
    return state_->costs;
}
const std::vector<std::size_t>& shards::untrained() const {
    return state_->untrained;
}

namespace {

// Walks nothing, so that every decision is made and nothing else: pilots and trainings, and the costs.
class decider {
  public:
    decider(const engine& by, const sharded_request& of, const opened& what, const run_options& with,
            std::shared_ptr<kept::store> into)
        : by_(by), of_(of), what_(what), with_(with), into_(std::move(into)) {}

    results decide(std::span<const std::size_t> places, bool trains = true) {
        if (places.empty()) return {};
        auto work = std::make_shared<kept::work>(into_, kept::share{0, 0, 1, 0, 1});
        work->tell_cost = [&](const std::string& trade, double operations) { costs_[trade] += operations; };
        run_options with = with_;
        if (!trains) {
            // Whatever is decided later, the cost is about that of the trade as it is written and of a bound.
            work->train_nothing();
            with.overrides.controls = technique::none;
            work->tell_cost = [&](const std::string& trade, double operations) {
                costs_[trade] += 2 * operations;
            };
        }
        with.work = std::move(work);
        return walked(by_, of_, what_, some_trades(what_.trades, places), with);
    }

    double cost_of(const std::string& trade) const {
        const auto found = costs_.find(trade);
        return found == costs_.end() ? 0 : found->second;
    }

  private:
    const engine& by_;
    const sharded_request& of_;
    const opened& what_;
    const run_options& with_;
    std::shared_ptr<kept::store> into_;
    std::map<std::string, double> costs_;
};

// Trains as long as all of it seems to take no longer than that. Returns the trades that are left.
std::vector<std::size_t> train(decider& by, const std::vector<std::size_t>& places, double within_seconds,
                               std::size_t at_once) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    constexpr double least_seconds = 2;  // before which a rate says nothing
    for (std::size_t done = 0; done < places.size();) {
        const double took = std::chrono::duration<double>(clock::now() - begin).count();
        const double all =
            done == 0 ? 0 : took * static_cast<double>(places.size()) / static_cast<double>(done);
        const bool is_known = took >= std::min(least_seconds, within_seconds);
        if (within_seconds <= 0 || (is_known && done > 0 && all > within_seconds))
            return {places.begin() + static_cast<std::ptrdiff_t>(done), places.end()};
        const std::size_t end = std::min(done + at_once, places.size());
        by.decide(std::span(places).subspan(done, end - done));
        done = end;
    }
    return {};
}

void refuse_more_than_parts(std::size_t count, std::size_t trades, std::size_t markets, std::uint64_t paths) {
    const std::size_t most = shards::most(trades, markets, paths);
    if (count <= most) return;
    const auto counted = [](std::uint64_t n, const std::string& what) {
        return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    throw error(error_kind::usage, "found " + std::to_string(count) + " shards, expected at most " +
                                       std::to_string(most) + ": the work is " + counted(trades, "trade") +
                                       " in " + counted(markets, "market") + ", each " +
                                       counted(kernels::tiles_of(paths), "tile") + " of paths");
}

void refuse_other_request(const path& folder, const std::string& digest) {
    std::error_code unknown;
    if (!std::filesystem::exists(folder / name_of_plan, unknown)) return;
    if (shards::open(folder).digest() == digest) return;
    throw error(error_kind::usage,
                "the folder holds the shards of another request; take another folder, or remove this one",
                {folder.string()});
}

}  // namespace

std::size_t shards::most(std::size_t trades, std::size_t markets, std::uint64_t paths) {
    const double parts = static_cast<double>(trades) * static_cast<double>(markets) *
                         static_cast<double>(kernels::tiles_of(paths));
    return static_cast<std::size_t>(std::clamp(parts, 1.0, 0x1p53));
}

std::string shards::digest_of(const sharded_request& what) {
    return digest_in(what, open_request(what), options_for(what, {}));
}

namespace {

void make_folder(const path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail_to_write({folder.string()}, failed.value());
}

// The rounds of a request to a tolerance.
struct rounds_of_request {
    run_options with;  // with the tolerance
    verbs::settled run;
    std::vector<std::uint64_t> steps;  // of a path, by trade, where totals weigh them

    rounds_of_request(sharded_request of, const opened& what, const run_options& options)
        : with(options_with_tolerance(std::move(of), options)),
          run(verbs::settle(with, what.asked.state(), {&what.in, 1})),
          steps(what.asked.size(), 1) {
        if (!run.accuracy->of_run || !run.accuracy->of_run->is_of_totals) return;
        verbs::shape_store shapes;
        verbs::missing_pairs missing;
        threads::for_each(steps.size(), run.threads, with.cancel,
                          [&](int, std::uint64_t i) {
                              const verbs::planned p =
                                  verbs::plan_one(what.asked.state().trades[i], what.in.state(), run, shapes,
                                                  missing, with.cancel, verbs::usual_planner());
                              steps[i] = p.needs_paths() ? p.ready->when.steps() : 0;
                          },
                          {});
    }
    static run_options options_with_tolerance(sharded_request of, const run_options& options) {
        of.fixed.reset();
        return options_for(of, options);
    }
    verbs::run_in_rounds on(const sharded_request& of, const opened& what) const {
        return {run, what.asked.state().trades, {&what.in, 1}, steps, {}, of.greeks.has_value()};
    }
};

// The settings of the next walk of prices or sensitivities, whose decisions lie in the folder: with as many
// paths as figures so far, of which some are too wide, should need. None if more paths are no help.
std::optional<run_settings> fixed_after(results& so_far, const sharded_request& of, const opened& what,
                                        const run_options& options, const path& folder) {
    const rounds_of_request rounds(of, what, options);
    const std::vector<verbs::walk_of_round> next = verbs::judge(rounds.on(of, what), so_far);
    decisions decided = decisions_of(so_far);
    for (auto& [trade, made] : decided.trades) made.policy.clear();  // which the plan finds, or shards of it
    bool has_more = false;
    for (std::size_t i = 0; i < next.size(); ++i) {
        const auto at = decided.trades.find(so_far.rows[i].trade);
        if (at == decided.trades.end() || next[i].paths <= at->second.paths) continue;
        verbs::follow_on(at->second, rounds.run, next[i]);
        has_more = true;
    }
    if (!has_more && of.fixed) return std::nullopt;
    make_folder(folder);
    const std::string text = json_of(decided);
    const path file = folder / ("decisions-" + config::sha256(text).substr(0, 16) + ".json");
    kept::write_file(file, text);
    run_settings out =
        verbs::of_round(what.asked, rounds.with, rounds.run, {rounds.run.paths, rounds.run.seed})
            .options.overrides;
    out.paths.reset();
    out.decisions = file.string();
    return out;
}

// The same of gains.
std::optional<run_settings> fixed_after(scenario_results& so_far, const sharded_request& of,
                                        const opened& what, const run_options& options) {
    const rounds_of_request rounds(of, what, options);
    verbs::walk_of_round next = verbs::judge(what.asked, what.in, rounds.run, so_far);
    if (next.paths <= so_far.base.manifest.paths) {
        if (of.fixed) return std::nullopt;
        next = {rounds.run.paths, rounds.run.seed};
    }
    return verbs::of_round(what.asked, rounds.with, rounds.run, next).options.overrides;
}

// A request to a tolerance with the paths that a first round asks for.
sharded_request with_fixed_paths(const engine& by, sharded_request of, const opened& what,
                                 const run_options& options, const path& folder) {
    const rounds_of_request rounds(of, what, options);
    verbs::round_of_study first =
        verbs::of_round(what.asked, rounds.with, rounds.run, {rounds.run.paths, rounds.run.seed});
    if (what.scenarios) {
        scenario_results found = by.scenarios(first.trades, what.in, *what.scenarios, first.options);
        of.fixed = fixed_after(found, of, what, options);
    } else {
        results found = of.greeks ? by.greeks(first.trades, what.in, *of.greeks, first.options)
                                  : by.price(first.trades, what.in, first.options);
        of.fixed = fixed_after(found, of, what, options, folder);
    }
    return of;
}

}  // namespace

shards shards::plan(const engine& by, const sharded_request& asked, std::size_t count, const path& folder,
                    double train_within_seconds, const run_options& options) {
    if (count == 0) throw error(error_kind::usage, "found 0 shards, expected 1 or more");
    sharded_request what = asked;
    opened request = open_request(what);
    run_options with = options_for(what, options);
    verbs::settled run = verbs::settle(with, request.trades.state(), {&request.in, 1});
    const std::vector<feature> features = features_asked(request.trades, with);
    refuse_combinations(study_of(what), features);
    if (what.explains) refuse_combinations(study::explained_scenarios, features);
    refuse_more_than_parts(count, request.trades.size(), request.markets(), run.paths);
    if (run.accuracy) {
        what = with_fixed_paths(by, what, request, options, folder);
        request = open_request(what);
        with = options_for(what, options);
        run = verbs::settle(with, request.trades.state(), {&request.in, 1});
    }
    const std::string digest = digest_in(what, request, with);
    refuse_other_request(folder, digest);
    make_folder(folder);

    auto known = std::make_shared<kept::store>(digest);
    const kept::read_block before = kept::block_in(folder / name_of_decisions, digest);
    known->take(before.records);
    decider decides(by, what, request, with, known);
    std::vector<std::size_t> with_rights, others;
    const std::vector<books::trade>& trades = request.trades.state().trades;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const bool has_rights = !trades[i].failure && trades[i].product && plan::has_rights(trades[i]);
        (has_rights ? with_rights : others).push_back(i);
    }
    decides.decide(others);
    const std::vector<std::size_t> untrained =
        train(decides, with_rights, train_within_seconds, static_cast<std::size_t>(run.threads));
    decides.decide(untrained, false);

    std::vector<double> costs;
    for (const books::trade& t : trades) costs.push_back(decides.cost_of(t.id));
    const std::uint64_t tiles = kernels::tiles_of(run.paths);
    auto out = std::make_shared<state>();
    out->pieces = cutter(costs, request.markets(), tiles).cut(count);
    for (const auto& pieces : out->pieces) {
        double cost = 0;
        for (const shard_piece& p : pieces) {
            const double part =
                static_cast<double>(p.end_tile - p.first_tile) / static_cast<double>(p.run_tiles);
            const double markets = static_cast<double>(p.end_market - p.first_market);
            for (std::size_t i = p.first_trade; i < p.end_trade; ++i) cost += markets * part * costs[i];
        }
        out->costs.push_back(cost);
    }
    std::vector<kept::record> decisions = known->texts();
    for (kept::record& r : known->tallies()) decisions.push_back(std::move(r));
    kept::write_block(folder / name_of_decisions, digest, decisions);
    write_plan(folder, what, digest, inputs_of(request, with), out->pieces, out->costs, untrained,
               request.trades);
    return open(folder);
}

namespace {

// Throws where the request is not the one that was planned, and says which inputs are others.
opened opened_as_planned(const sharded_request& of, const std::string& digest,
                         const std::vector<input_file>& inputs, const run_options& with) {
    opened out = open_request(of, with.times);
    if (digest_in(of, out, with) == digest) return out;
    std::string changed;
    const std::vector<input_file> now = inputs_of(out, with);
    for (const input_file& f : now)
        if (std::ranges::find(inputs, f.hash, &input_file::hash) == inputs.end())
            changed += (changed.empty() ? "" : ", ") + f.file;
    throw error(error_kind::input, changed.empty() ? "the shards were planned by another version of Tilewalk"
                                                   : "has changed since the shards were planned: " + changed +
                                                         "; plan them again, in another folder");
}

std::vector<kept::record> decisions_in(const path& folder, const std::string& digest) {
    kept::read_block found = kept::block_in(folder / name_of_decisions, digest);
    if (found.is == kept::finding::whole) return std::move(found.records);
    throw error(
        error_kind::input,
        found.is == kept::finding::of_another_request
            ? "found the decisions of another request"
            : "found no decisions, or damaged ones, expected those of the plan; plan the shards again",
        {(folder / name_of_decisions).string()});
}

// A part of a plan: trades whose policies it finds, or pieces that it walks.
struct part {
    const sharded_request& request;
    const std::string& digest;
    const path& folder;
    std::vector<std::size_t> to_train;
    std::span<const shard_piece> pieces;
};

// The file that says what walked a part. Results have the same bytes wherever they were found, this has not.
path file_told(const path& file_of_part) {
    return path(file_of_part).replace_extension(".json");
}

// How a part was walked, and its trades that failed.
struct account_of_part {
    run_manifest manifest{};
    std::set<std::string> failed{};

    void add(const results& piece) {
        verbs::add_walk(manifest, piece.manifest);
        manifest.plan_seconds += piece.manifest.plan_seconds;
        if (!piece.manifest.instruction_set.empty())
            manifest.instruction_set = piece.manifest.instruction_set;
        for (const price_row& row : piece.rows)
            if (row.status == trade_status::failed) failed.insert(row.trade);
    }
};

void write_told(const path& file_of_part, const account_of_part& of) {
    const run_manifest& m = of.manifest;
    json left = json::array();
    for (const left_work& one : m.left_to_processor)
        left.push_back({{"work", one.work}, {"trades", one.trades}, {"why", one.why}});
    const json all{{"machine", machine_name()},
                   {"instruction_set", m.instruction_set},
                   {"devices", m.devices},
                   {"lost_devices", m.lost_devices},
                   {"left_to_processor", left},
                   {"kernels_compiled", m.kernels_compiled},
                   {"plan_seconds", m.plan_seconds},
                   {"path_seconds", m.path_seconds},
                   {"total_seconds", m.total_seconds},
                   {"failed", of.failed}};
    kept::write_file(file_told(file_of_part), all.dump(1) + "\n");
}

// Nothing where a part has left none that can be read: no number depends on it.
std::optional<account_of_part> told_by(const path& file_of_part) {
    std::string text;
    if (kept::read_file(file_told(file_of_part), bounds::results_bytes, text) != kept::reading::done)
        return {};
    try {
        const json from = json::parse(text);
        account_of_part out;
        run_manifest& m = out.manifest;
        m.machine = from.at("machine").get<std::string>();
        m.instruction_set = from.at("instruction_set").get<std::string>();
        m.devices = from.at("devices").get<std::vector<std::string>>();
        m.lost_devices = from.at("lost_devices").get<std::vector<std::string>>();
        for (const json& one : from.at("left_to_processor"))
            m.left_to_processor.push_back({one.at("work").get<std::string>(),
                                           one.at("trades").get<std::size_t>(),
                                           one.at("why").get<std::string>()});
        m.kernels_compiled = from.at("kernels_compiled").get<std::uint64_t>();
        m.plan_seconds = from.at("plan_seconds").get<double>();
        m.path_seconds = from.at("path_seconds").get<double>();
        m.total_seconds = from.at("total_seconds").get<double>();
        out.failed = from.at("failed").get<std::set<std::string>>();
        return out;
    } catch (const json::exception&) {
        return {};
    }
}

// The results of a part by itself: its trades in the order of the book, each with a status and no figures.
results told_of(const account_of_part& of, const part& what, const opened& on, const run_options& with,
                const std::vector<input_file>& inputs) {
    results out;
    const verbs::settled run = verbs::settle(with, on.trades.state(), {&on.in, 1});
    verbs::describe_run(run, of.manifest.instruction_set, on.trades.state(), on.in, {}, out.manifest);
    out.manifest.inputs = inputs;
    if (!of.manifest.machine.empty()) out.manifest.machine = of.manifest.machine;
    verbs::add_walk(out.manifest, of.manifest);
    out.manifest.plan_seconds = of.manifest.plan_seconds;
    out.manifest.total_seconds = of.manifest.total_seconds;
    std::set<std::size_t> places(what.to_train.begin(), what.to_train.end());
    for (const shard_piece& p : what.pieces)
        for (std::size_t i = p.first_trade; i < p.end_trade; ++i) places.insert(i);
    for (const std::size_t i : places) {
        price_row& row = out.rows.emplace_back();
        row.trade = on.trades.state().trades[i].id;
        row.status = of.failed.contains(row.trade) ? trade_status::failed : trade_status::priced;
        row.price = row.standard_error = row.low = row.high = no_figure;
    }
    return out;
}

// Does a part whose file is not there yet, and writes that.
account_of_part do_part(const engine& by, const part& what, const opened& on, const run_options& with,
                        shard_outcome& out) {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const path beside = path(out.file).replace_extension(".journal");
    const path journal = with.journal.empty() ? beside : path(with.journal) / beside.filename();
    const auto known = std::make_shared<kept::store>(what.digest, journal, with.journal_block_seconds);
    out.blocks_taken = known->blocks_taken();
    out.damaged.insert(out.damaged.end(), known->damaged().begin(), known->damaged().end());
    const std::vector<kept::record> decisions = decisions_in(what.folder, what.digest);
    known->take(decisions);
    account_of_part told;
    told.add(decider(by, what.request, on, with, known).decide(what.to_train));
    for (const shard_piece& p : what.pieces) {
        run_options of_piece = with;
        of_piece.work = std::make_shared<kept::work>(
            known, kept::share{p.first_tile, p.end_tile, p.run_tiles, p.first_market, p.end_market});
        told.add(walked(by, what.request, on, trades_of(on.trades, p), of_piece));
    }
    const timings::during writing(with.times, stage::writing);
    known->flush();
    // All that is new; the same whoever found it, and in whatever order.
    std::set<kept::key> decided;
    for (const kept::record& r : decisions) decided.insert(r.of);
    const auto is_decided = [&](const kept::record& r) { return decided.contains(r.of); };
    std::vector<kept::record> made = known->tallies(), texts = known->texts();
    std::erase_if(made, is_decided);
    std::erase_if(texts, is_decided);
    out.decisions = texts.size();
    std::ranges::move(texts, std::back_inserter(made));
    told.manifest.total_seconds = std::chrono::duration<double>(clock::now() - begin).count();
    write_told(out.file, told);
    kept::write_block(out.file, what.digest, made);
    std::error_code unimportant;  // the part is done, whether its journal stays or not
    std::filesystem::remove_all(journal, unimportant);
    return told;
}

}  // namespace

// Two processes may do one part at once, as where a node was given up that was still alive. The first to end
// takes the journal away; the other finds the part done.
shard_outcome shards::run(const engine& by, std::size_t number, stage of, const run_options& options) const {
    const state& plan = *state_;
    if (number == 0 || number > plan.count) {
        throw error(error_kind::usage, "found shard " + std::to_string(number) + ", expected 1 to " +
                                           std::to_string(plan.count));
    }
    const bool trains = of == stage::training;
    if (!trains && !plan.untrained.empty()) {
        throw error(error_kind::usage,
                    std::to_string(plan.untrained.size()) +
                        " trades may be ended early, and their policies are still to be found: run the stage "
                        "training of each shard, then merge it",
                    {plan.folder.string()});
    }
    const run_options with = options_for(plan.request, options);
    const opened on = opened_as_planned(plan.request, plan.digest, plan.inputs, with);
    part what{plan.request, plan.digest, plan.folder, {}, {}};
    if (!trains) what.pieces = plan.pieces[number - 1];
    for (std::size_t k = number - 1; trains && k < plan.untrained.size(); k += plan.count)
        what.to_train.push_back(plan.untrained[k]);
    shard_outcome out;
    out.file = file_of_part(plan.folder, of, number, plan.count).string();
    const auto look = [&] { return kept::block_in(out.file, plan.digest).is; };
    const kept::finding found = look();
    out.was_done = found == kept::finding::whole;
    if (found == kept::finding::damaged) out.damaged.push_back(out.file);
    std::optional<account_of_part> told;
    try {
        if (!out.was_done) told = do_part(by, what, on, with, out);
    } catch (const error& e) {
        out.was_done = e.kind() != error_kind::cancelled && look() == kept::finding::whole;
        if (!out.was_done) throw;
    }
    if (!told) told = told_by(out.file);
    if (told) out.told = told_of(*told, what, on, with, plan.inputs);
    return out;
}

namespace {

// "1, 3-7", of numbers in order.
std::string shown(const std::vector<std::size_t>& numbers) {
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

// Takes the parts of a stage, all of them.
void take_parts(kept::store& into, const path& folder, shards::stage of, std::size_t count) {
    std::vector<std::size_t> missing, damaged;
    for (std::size_t number = 1; number <= count; ++number) {
        const path file = file_of_part(folder, of, number, count);
        const kept::read_block found = kept::block_in(file, into.request());
        if (found.is == kept::finding::of_another_request)
            throw error(error_kind::input, "found the results of another request", {file.string()});
        if (found.is == kept::finding::whole) {
            into.take(found.records);
            continue;
        }
        missing.push_back(number);
        if (found.is == kept::finding::damaged) damaged.push_back(number);
    }
    if (missing.empty()) return;
    throw shards_missing(std::to_string(missing.size()) + " of " + std::to_string(count) +
                             (of == shards::stage::training ? " shards of the training" : " shards") +
                             " are missing: " + shown(missing) +
                             (damaged.empty() ? "" : "; damaged among them: " + shown(damaged)) +
                             "; run them, then merge again",
                         missing);
}

}  // namespace

namespace {

// A request whose parts are all there.
struct done_request {
    opened what;
    run_options with;  // that walk nothing
};

}  // namespace

done_request shards::state::done(const run_options& options) const {
    run_options with = options_for(request, options);
    opened what = opened_as_planned(request, digest, inputs, with);
    const auto known = std::make_shared<kept::store>(digest);
    known->take(decisions_in(folder, digest));
    take_parts(*known, folder, stage::pricing, count);
    with.work = std::make_shared<kept::work>(kept::work::that_is_known(known));
    return {std::move(what), std::move(with)};
}

void shards::state::tell_devices(run_manifest& to) const {
    const auto add = [](std::vector<std::string>& all, const std::vector<std::string>& more) {
        for (const std::string& one : more)
            if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    };
    for (std::size_t number = 1; number <= count; ++number) {
        const auto told = told_by(file_of_part(folder, stage::pricing, number, count));
        if (!told) continue;
        add(to.devices, told->manifest.devices);
        add(to.lost_devices, told->manifest.lost_devices);
        for (const left_work& one : told->manifest.left_to_processor)
            verbs::add_left(to.left_to_processor, one);
        to.path_seconds += told->manifest.path_seconds;
    }
}

results shards::state::merged(const engine& by, const done_request& all) const {
    const auto& [what, with] = all;
    results out = request.greeks ? by.greeks(what.trades, what.in, *request.greeks, with)
                                 : by.price(what.trades, what.in, with);
    tell_devices(out.manifest);
    if (!request.fixed) return out;
    out.manifest.settings.tolerance = request.settings.tolerance;
    if (const auto next = fixed_after(out, request, what, with, folder / name_of_next))
        plan_next(by, all, *next);
    return out;
}

void shards::state::judge(const engine& by, const done_request& all, scenario_results& so_far) const {
    so_far.base.manifest.settings.tolerance = request.settings.tolerance;
    if (const auto next = fixed_after(so_far, request, all.what, all.with)) plan_next(by, all, *next);
}

void shards::state::plan_next(const engine& by, const done_request& all, const run_settings& fixed) const {
    sharded_request next = request;
    next.fixed = fixed;
    const path there = folder / name_of_next;
    make_folder(there);
    // Known tallies go along, so that no shard walks them again.
    const run_options with = options_for(next, {});
    const std::string digest_of_next = digest_in(next, open_request(next), with);
    std::vector<kept::record> known = all.with.work->known().texts();
    for (kept::record& r : all.with.work->known().tallies()) known.push_back(std::move(r));
    if (kept::block_in(there / name_of_decisions, digest_of_next).is != kept::finding::whole)
        kept::write_block(there / name_of_decisions, digest_of_next, known);
    shards::plan(by, next, count, there);
}

path shards::next_folder() const {
    const path there = state_->folder / name_of_next;
    std::error_code unknown;
    return std::filesystem::exists(there / name_of_plan, unknown) ? there : path();
}

results shards::merge(const engine& by, const run_options& options) const {
    if (!request().scenarios.empty())
        throw error(error_kind::usage, "the shards are of scenarios, which merge_scenarios() merges");
    if (request().differences)
        throw error(error_kind::usage, "the shards are of differences, which merge_differences() merges");
    return state_->merged(by, state_->done(options));
}

difference_results shards::merge_differences(const engine& by, const run_options& options) const {
    if (!request().scenarios.empty() || request().greeks)
        throw error(
            error_kind::usage,
            "the shards are of scenarios or of sensitivities, expected those of differences or prices");
    const done_request all = state_->done(options);
    const auto& [what, with] = all;
    if (!request().differences) return valued(what.trades, what.in, state_->merged(by, all));
    difference_results out = differences(by, what.trades, what.in, *request().differences, with);
    state_->tell_devices(out.values.manifest);
    if (request().fixed) {
        scenario_results gains = by.scenarios(what.trades, what.in, *what.scenarios, with);
        state_->judge(by, all, gains);
        out.values.rows = std::move(gains.base.rows);
        out.values.manifest.settings.tolerance = request().settings.tolerance;
    }
    return out;
}

scenario_results shards::merge_scenarios(const engine& by, const run_options& options) const {
    if (request().scenarios.empty())
        throw error(error_kind::usage, "the shards are of prices, which merge() merges");
    const done_request all = state_->done(options);
    const auto& [what, with] = all;
    scenario_results out = by.scenarios(what.trades, what.in, *what.scenarios, with);
    state_->tell_devices(out.base.manifest);
    if (request().fixed) state_->judge(by, all, out);
    return out;
}

void shards::merge_training() {
    state& plan = *state_;
    if (plan.untrained.empty()) return;
    const run_options with = options_for(plan.request, {});
    const opened what = opened_as_planned(plan.request, plan.digest, plan.inputs, with);
    kept::store known(plan.digest);
    known.take(decisions_in(plan.folder, plan.digest));
    take_parts(known, plan.folder, stage::training, plan.count);
    std::vector<kept::record> decisions = known.texts();
    for (kept::record& r : known.tallies()) decisions.push_back(std::move(r));
    kept::write_block(plan.folder / name_of_decisions, plan.digest, decisions);
    plan.untrained.clear();
    write_plan(plan.folder, plan.request, plan.digest, plan.inputs, plan.pieces, plan.costs, plan.untrained,
               what.trades);
}

}  // namespace tilewalk
