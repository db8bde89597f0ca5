// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/followed.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "engine/config/digest.h"
#include "engine/config/open_file.h"
#include "engine/config/wording.h"
#include "engine/controls/written.h"
#include "engine/importance/written.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::decide {

using nlohmann::json;

namespace {

constexpr const char *control_of_row = "control", *shifts_of_row = "shifts", *dropping = "drops_control";

}  // namespace

followed_run::followed_run(const std::string& file) {
    const config::open_file opened(file);
    if (opened.stated_bytes() > bounds::results_bytes)
        throw error(error_kind::input, "larger than 1 GiB: this is no file of results", {file});
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    of_ = read_results(text.str(), file);
    digest_ = config::sha256(text.view());
    for (std::size_t i = 0; i < of_.rows.size(); ++i) {
        const price_row& row = of_.rows[i];
        const std::string at = "rows[" + std::to_string(i) + "]";
        if (!by_trade_.emplace(row.trade, i).second)
            throw error(error_kind::input,
                        "found the trade " + config::shown(row.trade) +
                            " a second time; expected one row for each trade to follow",
                        {file}, at + ".trade");
        if (row.construction.empty()) continue;
        try {
            quasi::construction_named(row.construction);
        } catch (const error& unknown) {
            throw error(error_kind::input, unknown.message(), {file}, at + ".construction");
        }
    }
}

std::uint64_t followed_run::randomisations() const {
    const auto has_points = [](const price_row& row) { return row.randomisations > 0; };
    const auto at = std::ranges::find_if(of_.rows, has_points);
    return at == of_.rows.end() ? 0 : at->randomisations;
}

const price_row& followed_run::row(const std::string& trade) const {
    const auto at = by_trade_.find(trade);
    if (at != by_trade_.end() && of_.rows[at->second].status == trade_status::priced)
        return of_.rows[at->second];
    std::vector<std::string> known;
    for (const price_row& r : of_.rows) known.push_back(r.trade);
    throw error(error_kind::input,
                at == by_trade_.end()
                    ? "found no decisions on the trade " + config::shown(trade) +
                          " in the results to follow" + config::suggestion(trade, known)
                    : "found a trade that failed in the results to follow, expected one that was priced");
}

decided followed_run::of(const std::string& trade) const {
    return decided_in(row(trade));
}

std::string written(const controls::control* control, const chosen_shifts* shifts) {
    json all = json::object();
    if (control != nullptr) all[control_of_row] = json::parse(controls::written(*control));
    if (shifts != nullptr) all[shifts_of_row] = json::parse(importance::written(shifts->by));
    if (shifts != nullptr && shifts->drops_control) all[dropping] = true;
    return all.empty() ? std::string() : all.dump();
}

decided decided_in(const price_row& row) {
    decided out;
    out.points.emplace();
    out.control.emplace();
    out.shifts.emplace();
    if (row.randomisations > 0 && !row.construction.empty())
        out.points = quasi::points{quasi::construction_named(row.construction)};
    const json said = row.decisions.empty() ? json::object() : json::parse(row.decisions, nullptr, false);
    if (!said.is_object()) return out;
    if (said.contains(control_of_row))
        out.control = std::make_shared<const controls::control>(
            controls::control_written_as(said[control_of_row].dump()));
    if (said.contains(shifts_of_row))
        out.shifts = std::make_shared<const chosen_shifts>(chosen_shifts{
            importance::shifts_written_as(said[shifts_of_row].dump()), said.contains(dropping)});
    return out;
}

}  // namespace tilewalk::decide
