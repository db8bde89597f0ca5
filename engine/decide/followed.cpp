// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/followed.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/base/wording.h"
#include "engine/decide/controls/written.h"
#include "engine/decide/importance/written.h"
#include "tilewalk/error.h"

namespace tilewalk::decide {

namespace {

treated_jumps jumps_written_as(const std::string& text) {
    const auto bad = [](const std::string& why) {
        return error(
            error_kind::input,
            "found decisions to follow whose jumps are damaged, expected them as a run wrote them: " + why);
    };
    treated_jumps out;
    try {
        const nlohmann::json read = nlohmann::json::parse(text);
        out.control = read.at("control").get<double>();
        for (const auto& [key, width] : read.at("widths").items()) out.by[key] = {width.get<double>()};
    } catch (const nlohmann::json::exception& e) {
        throw bad(e.what());
    }
    for (const auto& [key, by] : out.by)
        if (!(by.width >= 0) || !std::isfinite(by.width)) throw bad("the width of " + config::shown(key));
    return out;
}

decided decided_in(const trade_decisions& of) {
    decided out{.integrates = of.integrates_jumps,
                .points = std::optional<quasi::points>(),
                .control = std::shared_ptr<const controls::control>(),
                .shifts = std::shared_ptr<const chosen_shifts>()};
    if (of.randomisations > 0 && !of.construction.empty())
        out.points = quasi::points{quasi::construction_named(of.construction)};
    const auto control_in = [](const std::string& text) {
        return std::make_shared<const controls::control>(controls::control_written_as(text));
    };
    if (!of.control.empty()) out.control = control_in(of.control);
    if (of.control_of_derivatives == "{}")
        out.control_of_derivatives = nullptr;
    else if (!of.control_of_derivatives.empty())
        out.control_of_derivatives = control_in(of.control_of_derivatives);
    if (!of.shifts.empty())
        out.shifts = std::make_shared<const chosen_shifts>(
            chosen_shifts{importance::shifts_written_as(of.shifts), of.drops_control});
    if (!of.jumps.empty()) out.jumps = std::make_shared<const treated_jumps>(jumps_written_as(of.jumps));
    return out;
}

}  // namespace

followed_run::followed_run(std::optional<decisions> what, const exercise::saved_policies& policies,
                           std::string digest)
    : what_(std::move(what)), digest_(std::move(digest)), has_policies_(!policies.empty()) {
    if (what_)
        for (const auto& [trade, of] : what_->trades) read_.try_emplace(trade);
    for (const auto& [trade, policy] : policies) read_[trade].what.policy = policy;
}

const trade_decisions& followed_run::row(const std::string& trade) const {
    if (const auto at = what_->trades.find(trade); at != what_->trades.end()) return at->second;
    if (std::ranges::find(what_->failed, trade) != what_->failed.end())
        throw error(error_kind::input,
                    "the trade failed in the results that this run follows, expected one that was priced");
    std::vector<std::string> known;
    for (const auto& [id, of] : what_->trades) known.push_back(id);
    throw error(error_kind::input, "found no decisions on the trade " + config::shown(trade) +
                                       " in the results that this run follows" +
                                       config::suggestion(trade, known));
}

const decided& followed_run::about(const std::string& trade) const {
    static const decided nothing;
    if (what_) {
        const trade_decisions& said = row(trade);
        read_once& to = read_.at(trade);
        std::call_once(to.once, [&] {
            decided read = decided_in(said);
            read.policy = to.what.policy;
            to.what = std::move(read);
        });
        return to.what;
    }
    const auto at = read_.find(trade);
    return at == read_.end() ? nothing : at->second.what;
}

std::string written(const controls::control* control, const chosen_shifts* shifts, bool integrates) {
    nlohmann::json all = nlohmann::json::object();
    if (control != nullptr) all[of_control] = nlohmann::json::parse(controls::written(*control));
    if (shifts != nullptr) all[of_shifts] = nlohmann::json::parse(importance::written(shifts->by));
    if (shifts != nullptr && shifts->drops_control) all[of_dropping] = true;
    if (integrates) all[of_integrating] = true;
    return all.empty() ? std::string() : all.dump();
}

std::string with_derivatives(const std::string& written, const decided& of) {
    nlohmann::json all = written.empty() ? nlohmann::json::object() : nlohmann::json::parse(written);
    if (of.jumps) {
        nlohmann::json widths = nlohmann::json::object();
        for (const auto& [key, by] : of.jumps->by) widths[key] = by.width;
        all[of_jumps] = {{"control", of.jumps->control}, {"widths", std::move(widths)}};
    }
    if (of.control_of_derivatives) {
        const controls::control* const what = of.control_of_derivatives->get();
        all[of_control_of_derivatives] =
            what == nullptr ? nlohmann::json::object() : nlohmann::json::parse(controls::written(*what));
    }
    return all.empty() ? std::string() : all.dump();
}

std::string without_derivatives(const std::string& written) {
    nlohmann::json all = nlohmann::json::parse(written, nullptr, false);
    if (!all.is_object() || all.erase(of_jumps) + all.erase(of_control_of_derivatives) == 0) return written;
    return all.empty() ? std::string() : all.dump();
}

}  // namespace tilewalk::decide
