// SPDX-License-Identifier: Apache-2.0
// Numbers of the market come from a world made like the plan's, which knows what they depend on.
#include "engine/plan/explanation.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "engine/base/wording.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/models/world.h"

namespace tilewalk::plan {

namespace {

using dates::same_time_years;

void add_value(trade_term& to, double number, dates::date) {
    to.values.push_back(config::shown(number));
    to.numbers.push_back(number);
}
void add_value(trade_term& to, const dates::time_point& when, dates::date as_of) {
    to.values.push_back(dates::to_string(when));
    to.numbers.push_back(when.years(as_of));
}
void add_value(trade_term& to, const std::string& name, dates::date) {
    to.values.push_back(name);
}
void add_value(trade_term& to, bool yes, dates::date) {
    to.values.emplace_back(yes ? "true" : "false");
}
template <class member>
void add_value(trade_term& to, const std::vector<member>& list, dates::date as_of) {
    to.is_list = true;
    for (const member& one : list) add_value(to, one, as_of);
}
void add_value(trade_term& to, const dates::schedule& days, dates::date as_of) {
    add_value(to, days.times, as_of);
}

bool is_date(const std::string& type) {
    return type == "date" || type == "schedule";
}

}  // namespace

std::vector<trade_term> terms_of(const books::trade& t, dates::date as_of) {
    std::vector<trade_term> out;
    for (std::size_t i = 0; i < t.product->parameters.size(); ++i) {
        const language::parameter& p = t.product->parameters[i];
        const auto value = t.args.find(p.name);
        if (value == t.args.end()) continue;
        trade_term& term = out.emplace_back();
        term.name = p.name;
        term.type = to_string(p.type);
        term.per = p.per;
        term.is_default = i < t.is_said.size() && !t.is_said[i];
        if (const auto rule = t.rules.find(p.name); rule != t.rules.end()) term.written = rule->second;
        std::visit([&](const auto& v) { add_value(term, v, as_of); }, value->second);
    }
    return out;
}

void add_market(const trade_program& made, const markets::market_state& market, trade_plan& into) {
    std::vector<std::pair<double, std::string>> times;
    const auto add_time = [&](double years, const std::string& label) {
        if (years > same_time_years) times.emplace_back(years, label);
    };
    for (const language::block& b : made.blocks) {
        for (std::size_t i = 0; i < b.times.size(); ++i) add_time(b.times[i], to_string(b.labels[i]));
    }
    for (const trade_term& term : into.terms) {
        if (!is_date(term.type)) continue;
        for (std::size_t i = 0; i < term.numbers.size(); ++i) add_time(term.numbers[i], term.values[i]);
    }
    std::stable_sort(times.begin(), times.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [years, label] : times) {
        if (!into.years.empty() && years - into.years.back() <= same_time_years) continue;
        into.years.push_back(years);
        into.year_labels.push_back(label);
    }
    if (into.years.empty()) return;
    const auto world =
        models::make_world({market, made.assets, made.currencies, made.rate_currencies, made.currency});
    models::world::market_numbers all = world->numbers_at(into.years);
    into.currencies = std::move(all.currencies);
    into.asset_list = std::move(all.assets);
    into.exchange_rates = std::move(all.exchange_rates);
    into.correlations = world->correlations();
    for (const std::string& name : made.assets) {
        for (const std::string& remark : models::model_of(market.find_asset(name)).remarks())
            into.remarks.push_back(name + ": " + remark);
    }
    for (const currency_numbers& c : into.currencies) {
        const auto model = market.rate_models.find(c.name);
        if (model == market.rate_models.end()) continue;
        for (const std::string& remark : model->second->remarks())
            into.remarks.push_back(c.name + ": " + remark);
    }
}

}  // namespace tilewalk::plan
