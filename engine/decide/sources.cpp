// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/sources.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/decide/controls/written.h"
#include "engine/decide/followed.h"
#include "engine/decide/importance/written.h"
#include "engine/walk/kept/fingerprints_of_jobs.h"

namespace tilewalk::studies {

using decide::chosen_shifts;
using nlohmann::json;

namespace {

json written(const chosen_points& of) {
    json tried = json::array();
    for (const auto& [how, fewer_paths] : of.tried) tried.push_back({quasi::name_of(how), fewer_paths});
    return {{"construction", quasi::name_of(of.points.construction)},
            {"are_worth_it", of.are_worth_it},
            {"pilot_paths", of.pilot_paths},
            {"tried", tried},
            {"less_time", of.less_time}};
}

chosen_points points_in(const json& from) {
    chosen_points out{quasi::points{quasi::construction_named(from.at("construction").get<std::string>())},
                      from.at("are_worth_it").get<bool>(), from.at("pilot_paths").get<std::uint64_t>()};
    for (const json& one : from.at("tried"))
        out.tried.push_back(
            {quasi::construction_named(one.at(0).get<std::string>()), one.at(1).get<double>()});
    out.less_time = from.at("less_time").get<double>();
    return out;
}

json written(const chosen_control& of) {
    return {{"control", of.what ? json::parse(controls::written(*of.what)) : json()},
            {"is_that_of_prices", of.is_that_of_prices},
            {"points", of.points ? written(*of.points) : json()}};
}

chosen_control control_in(const json& from) {
    chosen_control out;
    if (const json& what = from.at("control"); !what.is_null())
        out.what = controls::control_written_as(what.dump());
    out.is_that_of_prices = from.at("is_that_of_prices").get<bool>();
    if (const json& points = from.at("points"); !points.is_null()) out.points = points_in(points);
    return out;
}

json written(const std::optional<chosen_shifts>& of) {
    if (!of) return {};
    return {{"shifts", json::parse(importance::written(of->by))}, {"drops_control", of->drops_control}};
}

std::optional<chosen_shifts> shifts_in(const json& from) {
    if (from.is_null()) return std::nullopt;
    return chosen_shifts{importance::shifts_written_as(from.at("shifts").dump()),
                         from.at("drops_control").get<bool>()};
}

void add(kept::fingerprint& to, const run::job& of) {
    to.add(program::shape_of(*of.code));
    kept::add(to, *of.data);
    kept::add(to, *of.when);
}

}  // namespace

const decide::decided* sources::held(const std::string& trade) const {
    if (held_ == nullptr) return nullptr;
    const auto at = held_->find(trade);
    return at == held_->end() ? nullptr : &at->second;
}

decide::decided sources::known(const std::string& trade) const {
    const decide::decided* const held_here = held(trade);
    decide::decided out = held_here != nullptr ? *held_here : decide::decided();
    const bool has_control = out.control || out.control_of_another_day;
    const bool has_all = out.points && out.integrates && out.shifts && has_control && out.jumps && out.policy;
    if (!run_.followed || has_all) return out;
    const decide::decided& followed = run_.followed->about(trade);
    if (!out.points) out.points = followed.points;
    if (!out.integrates) out.integrates = followed.integrates;
    if (!out.shifts) out.shifts = followed.shifts;
    if (!has_control) {
        out.control = followed.control;
        out.control_of_derivatives = followed.control_of_derivatives;
    }
    if (!out.jumps) out.jumps = followed.jumps;
    if (!out.policy) out.policy = followed.policy;
    return out;
}

kept::fingerprint sources::fingerprint_of(std::string_view kind, const run::job& of) const {
    kept::fingerprint out;
    out.add(kind);
    add(out, of);
    for (const std::uint64_t n : {run_.seed, run_.paths, run_.paths_of_pilot(), run_.unit_paths}) out.add(n);
    std::uint64_t choices = 0;
    for (const bool b : {run_.chooses_source, run_.chooses_construction, run_.chooses_controls,
                         run_.chooses_importance, run_.walks_pairs})
        choices = choices << 1 | (b ? 1U : 0U);
    out.add(choices);
    if (run_.chooses_preintegration) out.add("preintegration");
    out.add(quasi::name_of(run_.asked_points.construction));
    out.add(program::name_of(run_.how.precision));
    return out;
}

chosen_points sources::points(const run::job& of, const std::function<chosen_points()>& pilot) const {
    if (work_ == nullptr) return pilot();
    const kept::key what = fingerprint_of("points", of).found();
    return points_in(json::parse(work_->remembered(what, [&] { return written(pilot()).dump(); })));
}

chosen_control sources::control(std::string_view kind, const run::job& of,
                                const std::function<chosen_control()>& pilot) const {
    if (work_ == nullptr) return pilot();
    const kept::key what = fingerprint_of(kind, of).found();
    return control_in(json::parse(work_->remembered(what, [&] { return written(pilot()).dump(); })));
}

bool sources::says(std::string_view kind, const run::job& of, const std::function<bool()>& pilot) const {
    if (work_ == nullptr) return pilot();
    const kept::key what = fingerprint_of(kind, of).found();
    return json::parse(work_->remembered(what, [&] { return json(pilot()).dump(); })).get<bool>();
}

std::optional<chosen_shifts> sources::shifts(
    const run::job& of, const run::job* without_control,
    const std::function<std::optional<chosen_shifts>()>& pilot) const {
    if (work_ == nullptr) return pilot();
    kept::fingerprint what = fingerprint_of("shifts", of);
    if (without_control != nullptr) add(what, *without_control);
    return shifts_in(json::parse(work_->remembered(what.found(), [&] { return written(pilot()).dump(); })));
}

}  // namespace tilewalk::studies
