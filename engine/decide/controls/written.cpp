// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/controls/written.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk::controls {

using nlohmann::json;

namespace {

using knots_of_control = std::array<knot, control::most_knots>;

json written(const knots_of_control& all) {
    json out = json::array();
    for (const knot& k : all) out.push_back({k.at, k.slope, k.jump, k.share_between});
    return out;
}

knots_of_control knots_in(const json& from) {
    knots_of_control out{};
    if (from.size() != out.size())
        throw error(error_kind::input, "found decisions to follow whose control variate has " +
                                           std::to_string(from.size()) + " knots, expected " +
                                           std::to_string(out.size()));
    for (std::size_t k = 0; k < out.size(); ++k)
        out[k] = {from.at(k).at(0).get<double>(), from.at(k).at(1).get<double>(),
                  from.at(k).at(2).get<double>(), from.at(k).at(3).get<double>()};
    return out;
}

}  // namespace

std::string written(const control& what) {
    json out{{"of_moves", what.of_moves},       {"parts", what.parts},
             {"on_sum", what.on_sum},           {"on_exponential", what.on_exponential},
             {"knots", written(what.knots)},    {"on_ratios", what.on_ratios},
             {"has_share", what.has_share},     {"fewer_paths", what.fewer_paths},
             {"pilot_paths", what.pilot_paths}, {"share_of_hits", what.share_of_hits}};
    if (what.left_far_out != 0) out["left_far_out"] = what.left_far_out;
    return out.dump();
}

control control_written_as(const std::string& text) {
    try {
        const json read = json::parse(text);
        control out;
        out.of_moves = read.at("of_moves").get<weights>();
        out.parts = read.at("parts").get<std::vector<double>>();
        out.on_sum = read.at("on_sum").get<double>();
        out.on_exponential = read.at("on_exponential").get<double>();
        out.knots = knots_in(read.at("knots"));
        out.on_ratios = read.at("on_ratios").get<std::vector<double>>();
        out.has_share = read.at("has_share").get<bool>();
        out.fewer_paths = read.at("fewer_paths").get<double>();
        out.left_far_out = read.value("left_far_out", 0.0);
        out.pilot_paths = read.at("pilot_paths").get<std::uint64_t>();
        out.share_of_hits = read.at("share_of_hits").get<double>();
        if (out.of_moves.empty() || out.of_moves.front().empty())
            throw error(
                error_kind::input,
                "found decisions to follow whose control variate has no moves, expected one at least");
        return out;
    } catch (const json::exception& e) {
        throw error(error_kind::input, std::string("found decisions to follow whose control variate is "
                                                   "damaged, expected it as a run wrote it: ") +
                                           e.what());
    }
}

std::string written(const drift& what) {
    return json{{"parts", what.parts},
                {"on_sum", what.on_sum},
                {"on_exponential", what.on_exponential},
                {"knots", written(what.knots)},
                {"on_ratios", what.on_ratios}}
        .dump();
}

drift drift_written_as(const std::string& text) {
    try {
        const json read = json::parse(text);
        drift out;
        out.parts = read.at("parts").get<std::vector<double>>();
        out.on_sum = read.at("on_sum").get<double>();
        out.on_exponential = read.at("on_exponential").get<double>();
        out.knots = knots_in(read.at("knots"));
        out.on_ratios = read.at("on_ratios").get<std::vector<double>>();
        return out;
    } catch (const json::exception& e) {
        throw error(
            error_kind::input,
            std::string("found the drift of a control variate damaged, expected it as a run wrote it: ") +
                e.what());
    }
}

}  // namespace tilewalk::controls
