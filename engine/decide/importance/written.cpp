// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/importance/written.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::importance {

using nlohmann::json;

std::string written(const found_shifts& what) {
    json ways = json::array();
    for (const program::normal_shift& way : what.normals.ways)
        ways.push_back({{"by_slot", way.by_slot}, {"share", way.share}});
    return json{{"ways", std::move(ways)},
                {"unshifted", what.normals.unshifted},
                {"centre", what.normals.centre},
                {"fewer_paths", what.fewer_paths},
                {"pilot_paths", what.pilot_paths}}
        .dump();
}

found_shifts shifts_written_as(const std::string& text) {
    try {
        const json read = json::parse(text);
        found_shifts out;
        double shares = 0;
        for (const json& way : read.at("ways")) {
            program::normal_shift& to = out.normals.ways.emplace_back();
            to.by_slot = way.at("by_slot").get<std::vector<std::vector<double>>>();
            to.share = way.at("share").get<double>();
            shares += to.share;
            if (to.by_slot.empty() || to.by_slot.front().empty())
                throw error(
                    error_kind::input,
                    "found decisions to follow with a shift of no random numbers, expected one at least");
        }
        out.normals.unshifted = read.at("unshifted").get<double>();
        out.normals.centre = read.at("centre").get<double>();
        out.fewer_paths = read.at("fewer_paths").get<double>();
        out.pilot_paths = read.at("pilot_paths").get<std::uint64_t>();
        // Shifts need not be those that a pilot would find: the price is right if shares add up to 1.
        if (!(std::abs(shares - 1) < 1e-9))
            throw error(error_kind::input, "found decisions to follow with shifts whose shares add up to " +
                                               config::shown(shares) + ", expected 1");
        if (!(out.normals.unshifted > 0 && out.normals.unshifted <= 1))
            throw error(error_kind::input, "found decisions to follow with a share of unshifted paths of " +
                                               config::shown(out.normals.unshifted) +
                                               ", expected above 0 and at most 1");
        return out;
    } catch (const json::exception& e) {
        throw error(
            error_kind::input,
            std::string(
                "found decisions to follow whose shifts are damaged, expected them as a run wrote them: ") +
                e.what());
    }
}

}  // namespace tilewalk::importance
