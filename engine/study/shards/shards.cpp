// SPDX-License-Identifier: Apache-2.0
// Requests that are cut into shards, and their plans as files.
#include "engine/study/shards/shards.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/wording.h"
#include "engine/reading/book_state.h"
#include "engine/study/asked.h"
#include "engine/study/files/differences.h"
#include "engine/study/request.h"
#include "engine/walk/kept/block.h"
#include "engine/walk/kept/kept_file.h"
#include "tilewalk/bounds.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/version.h"

namespace tilewalk {

using nlohmann::json;
using std::filesystem::path;

namespace studies {

namespace {

constexpr const char* format_name = "tilewalk-shards-2";

// Names a file as given, as an absolute path, and from the plan's folder. Readers take the first with the
// bytes of the plan, so that rows name it as one process would.
json written_place(const path& file, const path& folder) {
    if (file.empty()) return {};
    std::error_code unknown;
    const path whole = std::filesystem::absolute(file, unknown).lexically_normal();
    return {{"file", file.string()},
            {"whole", whole.string()},
            {"from_here", std::filesystem::relative(whole, folder, unknown).string()},
            {"sha256", hash_of(file)}};
}
path found_at(const json& place, const path& folder) {
    if (place.is_null()) return {};
    const auto named = [&](const char* as) { return path(place.at(as).get<std::string>()); };
    const std::string hash = place.at("sha256").get<std::string>();
    for (const path& file : {named("file"), named("whole"), folder / named("from_here")}) {
        std::error_code unknown;
        if (std::filesystem::is_regular_file(file, unknown) && hash_of(file) == hash) return file;
    }
    return named("file");
}

json written(const run_settings& of, const path& folder) {
    json out = json::object();
    for (const run_setting& known : setting_table()) {
        const auto text = known.text(of);
        if (!text) continue;
        const bool is_file = known.takes == run_setting::value_type::file;
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
        const bool is_file = known.takes == run_setting::value_type::file;
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

json written(const shard_piece& of, const book& trades) {
    return {{"trades", {of.first_trade, of.end_trade}},
            {"from", state_of(trades).trades[of.first_trade].id},
            {"to", state_of(trades).trades[of.end_trade - 1].id},
            {"markets", {of.first_market, of.end_market}},
            {"tiles", {of.first_tile, of.end_tile, of.run_tiles}}};
}

shard_piece piece_in(const json& from) {
    const auto number = [&](const char* of, std::size_t k) { return from.at(of).at(k).get<std::size_t>(); };
    return {number("trades", 0), number("trades", 1), number("markets", 0), number("markets", 1),
            number("tiles", 0),  number("tiles", 1),  number("tiles", 2)};
}

void read_plan(const json& from, shard_plan& out) {
    if (const auto format = from.at("format").get<std::string>(); format != format_name)
        throw error(error_kind::input,
                    "found the format " + config::shown(format) + ", expected " + std::string(format_name));
    from.at("digest").get_to(out.digest);
    out.request = request_in(from.at("request"), out.folder);
    for (const json& f : from.at("inputs"))
        out.inputs.push_back({f.at("file").get<std::string>(), f.at("sha256").get<std::string>()});
    from.at("untrained").get_to(out.untrained);
    for (const json& part : from.at("shards")) {
        out.costs.push_back(part.at("operations").get<double>());
        std::vector<shard_piece>& pieces = out.pieces.emplace_back();
        for (const json& p : part.at("pieces")) pieces.push_back(piece_in(p));
    }
}

}  // namespace

study study_of(const sharded_request& of) {
    if (of.differences) return study::shards_of_differences;
    if (!of.scenarios.empty()) return study::shards_of_scenarios;
    return of.greeks ? study::shards_of_greeks : study::shards_of_prices;
}

book without_accuracy(const book& of) {
    auto walked = std::make_shared<books::book_state>(state_of(of));
    walked->settings.tolerance.reset();
    for (books::trade& t : walked->trades) t.tolerance.reset();
    return with_state<book>(std::move(walked));
}

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

opened_request open_request(const sharded_request& of, timings* times) {
    std::optional<timings::during> reading(std::in_place, times, stage::reading_book);
    book trades = book::load(of.book, of.how);
    if (!of.trades.empty()) trades = trades.only(of.trades);
    run_options said;
    said.overrides = of.settings;
    const book asked = with_tolerances_of(study_of(of), trades, said);
    reading.reset();
    reading.emplace(times, stage::reading_market);
    if (of.market.empty() && !trades.market()) {
        throw error(error_kind::usage, "the book names no market; write market: in the book or give one",
                    {of.book.string()});
    }
    market in = of.market.empty() ? *trades.market() : market::load(of.market, of.how);
    if (!of.changes.empty()) in = in.changed(of.changes);
    opened_request out{asked, of.fixed ? without_accuracy(asked) : asked, std::move(in)};
    if (of.differences) {
        valuations_of_differences all =
            valuations_of(out.trades, out.in, *of.differences, {options_for(of, {})});
        out.scenarios = std::move(all.shifts);
        out.beside = std::move(all.by_numbers);
        out.with_greeks_beside = std::move(all.trades);
    }
    if (of.scenarios.empty()) return out;
    out.scenarios = scenario_list::load(of.scenarios, out.in, of.how);
    out.scenarios->explains = of.explains;
    return out;
}

opened_request open_as_planned(const shard_plan& of, const run_options& with) {
    opened_request out = open_request(of.request, with.times);
    if (digest_in(of.request, out, with) == of.digest) return out;
    std::string changed;
    for (const input_file& f : inputs_of(out, with))
        if (std::ranges::find(of.inputs, f.hash, &input_file::hash) == of.inputs.end())
            changed += (changed.empty() ? "" : ", ") + f.file;
    throw error(error_kind::input,
                (changed.empty() ? "the shards were planned by another version of Tilewalk"
                                 : "files have changed since the shards were planned: " + changed) +
                    "; plan them again, in another folder");
}

std::vector<input_file> inputs_of(const opened_request& what, const run_options& with) {
    std::vector<input_file> out = inputs_of(what.trades, {&what.in, 1}, with);
    if (what.scenarios) out.insert(out.end(), what.scenarios->inputs.begin(), what.scenarios->inputs.end());
    return out;
}

std::string digest_in(const sharded_request& of, const opened_request& what, const run_options& with) {
    const std::string digest = digest_of_request(what.trades, {&what.in, 1},
                                                 {.greeks = of.greeks ? &*of.greeks : nullptr,
                                                  .scenarios = what.scenarios ? &*what.scenarios : nullptr},
                                                 with);
    // Parts with explained gains hold sensitivities, too, so they are those of another request.
    return of.explains ? config::sha256(digest + " explained") : digest;
}

void make_folder(const path& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail_to_write({folder.string()}, failed.value());
}

std::vector<kept::record> records_of(const kept::store& known) {
    std::vector<kept::record> out = known.texts();
    for (kept::record& r : known.tallies()) out.push_back(std::move(r));
    return out;
}

path shard_plan::file_of(shards::stage of, std::size_t number) const {
    const std::string all = std::to_string(pieces.size()), one = std::to_string(number);
    const std::string name = of == shards::stage::training ? "training-" : "shard-";
    return folder / (name + std::string(all.size() - one.size(), '0') + one + "-of-" + all + ".kept");
}

std::vector<kept::record> shard_plan::decisions() const {
    kept::read_block found = kept::block_in(folder / name_of_decisions, digest);
    if (found.is == kept::finding::whole) return std::move(found.records);
    throw error(
        error_kind::input,
        std::string(found.is == kept::finding::of_another_request ? "found the decisions of another request"
                    : found.is == kept::finding::damaged          ? "found damaged decisions"
                                                                  : "found no decisions") +
            ", expected those of the plan; plan the shards again",
        {(folder / name_of_decisions).string()});
}

void shard_plan::write(const book& trades) const {
    json parts = json::array(), files = json::array();
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        json of_part = json::array();
        for (const shard_piece& p : pieces[k]) of_part.push_back(written(p, trades));
        parts.push_back({{"shard", k + 1}, {"operations", costs[k]}, {"pieces", of_part}});
    }
    for (const input_file& f : inputs) files.push_back({{"file", f.file}, {"sha256", f.hash}});
    const json all{{"format", format_name}, {"version", version()},
                   {"digest", digest},      {"request", written(request, folder)},
                   {"inputs", files},       {"untrained", untrained},
                   {"shards", parts}};
    kept::write_file(folder / name_of_plan, all.dump(1) + "\n");
}

}  // namespace studies

shards_missing::shards_missing(const std::string& message, std::vector<std::size_t> which)
    : machine_failure(error_kind::io, message), which_(std::move(which)) {}

shards shards::open(const path& folder) {
    const path file = folder / studies::name_of_plan;
    std::string text;
    if (kept::read_file(file, bounds::results_bytes, text) == kept::reading::absent)
        throw error(error_kind::io, "found no plan of shards, expected a folder that 'tilewalk plan' wrote",
                    {file.string()});
    try {
        auto out = std::make_shared<state>();
        out->folder = folder;
        studies::read_plan(json::parse(text), *out);
        return shards(std::move(out));
    } catch (const std::exception& e) {
        throw error(error_kind::input, std::string("found a plan that can't be read: ") + e.what(),
                    {file.string()});
    }
}

std::string shards::digest_of(const sharded_request& what) {
    return studies::digest_in(what, studies::open_request(what), studies::options_for(what, {}));
}

std::size_t shards::count() const {
    return state_->pieces.size();
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

}  // namespace tilewalk
