// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/followed.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/config/wording.h"
#include "engine/controls/written.h"
#include "engine/importance/written.h"
#include "tilewalk/error.h"

namespace tilewalk::decide {

const trade_decisions& followed_run::row(const std::string& trade) const {
    if (const auto at = what_.trades.find(trade); at != what_.trades.end()) return at->second;
    if (std::ranges::find(what_.failed, trade) != what_.failed.end())
        throw error(error_kind::input,
                    "found a trade that failed in the results to follow, expected one that was priced");
    std::vector<std::string> known;
    for (const auto& [id, of] : what_.trades) known.push_back(id);
    throw error(error_kind::input, "found no decisions on the trade " + config::shown(trade) +
                                       " in the results to follow" + config::suggestion(trade, known));
}

decided decided_in(const trade_decisions& of) {
    decided out{.points = std::optional<quasi::points>(),
                .control = std::shared_ptr<const controls::control>(),
                .shifts = std::shared_ptr<const chosen_shifts>()};
    if (of.randomisations > 0 && !of.construction.empty())
        out.points = quasi::points{quasi::construction_named(of.construction)};
    if (!of.control.empty())
        out.control = std::make_shared<const controls::control>(controls::control_written_as(of.control));
    if (!of.shifts.empty())
        out.shifts = std::make_shared<const chosen_shifts>(
            chosen_shifts{importance::shifts_written_as(of.shifts), of.drops_control});
    return out;
}

std::string written(const controls::control* control, const chosen_shifts* shifts) {
    nlohmann::json all = nlohmann::json::object();
    if (control != nullptr) all[of_control] = nlohmann::json::parse(controls::written(*control));
    if (shifts != nullptr) all[of_shifts] = nlohmann::json::parse(importance::written(shifts->by));
    if (shifts != nullptr && shifts->drops_control) all[of_dropping] = true;
    return all.empty() ? std::string() : all.dump();
}

}  // namespace tilewalk::decide
