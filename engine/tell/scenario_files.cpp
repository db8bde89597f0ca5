// SPDX-License-Identifier: Apache-2.0
// Files of gains in scenarios: in ORE's columns, and in our own, which have all figures.
#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>

#include "engine/base/shown_numbers.h"
#include "engine/base/words.h"
#include "engine/study/files/ore_factors.h"
#include "engine/study/risk/risks.h"
#include "engine/tell/formats.h"
#include "engine/tell/line_writer.h"
#include "engine/tell/ore_lines.h"
#include "engine/tell/scenario_forms.h"
#include "engine/walk/units.h"
#include "tilewalk/files.h"

namespace tilewalk::report {

messages_of_failures::messages_of_failures(const scenario_results& r) : r_(r) {
    for (const failed_gain& f : r.failures) at_.emplace(f.scenario * r.trades() + f.trade, &f);
}

std::string_view messages_of_failures::message_of(std::size_t scenario, std::size_t trade) const {
    const price_row& row = r_.base.rows[trade];
    if (row.status == trade_status::failed) return row.message;
    const auto found = at_.find(scenario * r_.trades() + trade);
    return found == at_.end() ? std::string_view() : found->second->message;
}

std::size_t parts_of(const price_row& row) {
    return (row.early ? row.early->part_means : row.part_means).size();
}

double base_value(const price_row& row) {
    return row.status == trade_status::priced ? row.value_in_totals() : no_figure;
}

std::optional<std::pair<double, double>> gain_interval(double gain, double error, std::size_t parts) {
    if (!is_figure(gain) || !is_figure(error) || (error > 0 && parts < 2)) return {};
    const double half = error > 0 ? error * run::width_95(static_cast<double>(parts) - 1) : 0.0;
    return std::pair(gain - half, gain + half);
}

std::vector<std::string_view> likely_sets_of(const scenario_results& r) {
    std::vector<std::string_view> sets;
    for (const portfolio_risk& risk : r.risks)
        if (std::ranges::find(sets, risk.set) == sets.end()) sets.push_back(risk.set);
    return sets;
}

namespace {

constexpr std::string_view ore_all = "All";

void add_interval(line_writer& to, double gain, double error, std::size_t parts) {
    to.field(error);
    const auto ends = gain_interval(gain, error, parts);
    if (ends) {
        to.field(ends->first).field(ends->second);
    } else {
        to.text(",,");
    }
}

std::vector<std::string> quoted(const std::vector<std::string>& texts) {
    std::vector<std::string> out;
    for (const std::string& text : texts) out.push_back(csv_field(text));
    return out;
}

std::vector<std::string> quoted_names(const scenario_results& r) {
    std::vector<std::string> out;
    for (const scenario& s : r.scenarios) out.push_back(csv_field(s.name));
    return out;
}

// ORE expects one currency and one set of scenarios in a file. With several, the name of the portfolio says
// which: "All (USD, history)".
class ore_portfolios {
  public:
    explicit ore_portfolios(const scenario_results& r) : shown(shown_of(r.risks)) {
        std::set<std::string_view> sets, currencies;
        for (const portfolio_risk* risk : shown) {
            sets.insert(risk->set);
            currencies.insert(risk->currency);
        }
        has_sets_ = sets.size() > 1;
        has_currencies_ = currencies.size() > 1;
    }
    std::string name(const portfolio_risk& risk) const {
        std::string more = has_currencies_ ? risk.currency : "";
        if (has_sets_) more += (more.empty() ? "" : ", ") + risk.set;
        std::string out = risk.portfolio.empty() ? std::string(ore_all) : risk.portfolio;
        if (!more.empty()) out += " (" + more + ")";
        return csv_field(out);
    }

    const std::vector<const portfolio_risk*> shown;

  private:
    bool has_sets_ = false, has_currencies_ = false;
};

void write_var(std::ostream& out, const scenario_results& r) {
    const ore_portfolios portfolios(r);
    line_writer lines(out, ore_absent);
    lines.field("#Portfolio").field("RiskClass").field("RiskType");
    std::vector<double> levels;
    if (!portfolios.shown.empty())
        for (const tail& t : portfolios.shown.front()->tails) levels.push_back(t.level);
    for (const double level : levels) lines.field("Quantile_" + fixed(level, ore_decimals));
    for (const double level : levels) lines.field("ExpectedShortfall_" + fixed(level, ore_decimals));
    lines.end_line();
    for (const portfolio_risk* risk : portfolios.shown) {
        lines.field(portfolios.name(*risk)).field(ore_all).field(ore_all);
        for (const tail& t : risk->tails) lines.field(t.quantile.value, ore_decimals);
        for (const tail& t : risk->tails) lines.field(t.shortfall.value, ore_decimals);
        lines.end_line();
    }
}

void write_pnl(std::ostream& out, const scenario_results& r) {
    const ore_portfolios portfolios(r);
    line_writer lines(out, ore_absent);
    lines.text("#Portfolio,RiskClass,RiskType,PLDate1,PLDate2,PLAmount\n");
    for (const portfolio_risk* risk : portfolios.shown) {
        const auto total = std::ranges::find_if(r.totals, [&](const portfolio_gains& of) {
            return of.portfolio == risk->portfolio && of.currency == risk->currency &&
                   of.is_converted == risk->is_converted;
        });
        if (total == r.totals.end()) continue;
        const risk::gains_of_set in = risk::gains_in(r, *total, risk->set);
        const std::string name = portfolios.name(*risk);
        for (std::size_t i = 0; i < in.scenarios.size(); ++i) {
            const scenario& s = r.scenarios[in.scenarios[i]];
            const auto date = [](const std::string& day) {
                return day.empty() ? ore_absent : std::string_view(day);
            };
            lines.field(name).field(ore_all).field(ore_all);
            lines.field(date(s.first_day)).field(date(s.last_day)).field(in.gains[i], ore_decimals);
            lines.end_line();
        }
    }
}

void write_stress(std::ostream& out, const scenario_results& r) {
    const std::vector<std::string_view> likely = likely_sets_of(r);
    std::vector<std::size_t> shown;
    std::map<std::string_view, int> uses;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
        if (std::ranges::find(likely, r.scenarios[s].set) != likely.end()) continue;
        shown.push_back(s);
        ++uses[r.scenarios[s].name];
    }
    std::vector<std::string> labels(r.scenarios.size());
    for (const std::size_t s : shown) {
        const scenario& named = r.scenarios[s];
        labels[s] = csv_field(uses[named.name] > 1 ? named.set + "/" + named.name : named.name);
    }
    const std::vector<std::string> trades = quoted_trades(r.base.rows);
    line_writer lines(out, ore_absent);
    lines.text("#TradeId,ScenarioLabel,Base NPV,Scenario NPV,Sensitivity\n");
    for (std::size_t t = 0; t < r.trades(); ++t) {
        const double base = base_value(r.base.rows[t]);
        for (const std::size_t s : shown) {
            const double gain = is_figure(base) ? r.gain(s, t) : no_figure;
            lines.field(trades[t]).field(labels[s]).field(base, ore_decimals);
            lines.field(base + gain, ore_decimals).field(gain, ore_decimals);
            lines.end_line();
        }
    }
}

// Writes sensitivities to numbers that are risk factors of ORE. A line has a key's delta and gamma.
void write_sensitivity(std::ostream& out, const scenario_results& r) {
    const ore_factors factors(r.numbers);
    std::map<std::string_view, std::size_t> places;
    for (std::size_t t = 0; t < r.trades(); ++t) places.emplace(r.base.rows[t].trade, t);
    std::map<std::pair<std::string_view, std::string_view>, double> squares;
    for (const greek_row& g : r.base.greeks)
        if (g.measure == "gamma" || (g.measure == "volga" && factors.is_alone(g.key)))
            squares[{g.trade, g.key}] = g.value;
    const std::vector<std::string> trades = quoted_trades(r.base.rows);
    line_writer lines(out, ore_absent);
    begin_sensitivities(lines);
    for (const greek_row& g : r.base.greeks) {
        const auto place = places.find(g.trade);
        if (place == places.end() || !is_figure(g.value) ||
            !is_figure(base_value(r.base.rows[place->second])))
            continue;
        const bool is_square = g.measure == "gamma" || g.measure == "volga";
        const std::size_t two = g.key.find(';');
        const ore_factor* first = factors.factor_of(std::string_view(g.key).substr(0, two));
        const ore_factor* second =
            two == g.key.npos ? nullptr : factors.factor_of(std::string_view(g.key).substr(two + 1));
        if (is_square || first == nullptr || (two != g.key.npos && second == nullptr)) continue;
        double delta = g.value * first->moves, gamma = no_figure;
        if (second != nullptr) {
            gamma = delta * second->moves;
            delta = 0;
        } else if (const auto found = squares.find({g.trade, g.key}); found != squares.end()) {
            gamma = found->second * first->moves * first->moves;
        }
        const price_row& row = r.base.rows[place->second];
        const std::string currency = csv_field(row.currency);
        const ore_figures figures{currency, base_value(row), delta, gamma};
        add_sensitivity(lines, {trades[place->second], first, second, first->shift,
                                second == nullptr ? 0 : second->shift, figures, figures});
    }
}

void write_totals_of_gains(std::ostream& out, const scenario_results& r) {
    const std::vector<std::string> names = quoted_names(r);
    line_writer lines(out);
    lines.text("set,scenario,portfolio,currency,gain,standard_error,low,high,failed,converted,base_value\n");
    for (const portfolio_gains& of : r.totals) {
        const std::string portfolio = csv_field(of.portfolio), currency = csv_field(of.currency);
        for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
            lines.field(csv_field(r.scenarios[s].set)).field(names[s]).field(portfolio).field(currency);
            lines.field(of.gains[s]);
            add_interval(lines, of.gains[s], of.errors[s], of.parts);
            lines.field(of.failed[s]);
            lines.field(yes_or_no(of.is_converted)).field(of.base_value);
            lines.end_line();
        }
    }
}

void write_risk(std::ostream& out, const scenario_results& r) {
    const std::vector<std::string> names = quoted_names(r);
    line_writer lines(out);
    lines.text(
        "set,portfolio,currency,level,quantile,quantile_noise,quantile_sampling,shortfall,shortfall_noise,"
        "shortfall_sampling,scenario,scenarios,left_out,converted\n");
    for (const portfolio_risk& risk : r.risks) {
        for (const tail& t : risk.tails) {
            lines.field(csv_field(risk.set)).field(csv_field(risk.portfolio)).field(csv_field(risk.currency));
            lines.field(t.level);
            for (const tail_figure& figure : {t.quantile, t.shortfall})
                lines.field(figure.value).field(figure.noise).field(figure.sampling);
            lines.field(is_figure(t.quantile.value) ? std::string_view(names[t.at]) : "");
            lines.field(risk.scenarios).field(risk.left_out.size()).field(yes_or_no(risk.is_converted));
            lines.end_line();
        }
    }
}

void write_components(std::ostream& out, const scenario_results& r) {
    const std::vector<std::string> trades = quoted_trades(r.base.rows);
    line_writer lines(out);
    lines.text(
        "set,portfolio,currency,level,trade,component_quantile,component_quantile_error,component_shortfall,"
        "component_shortfall_error,incremental_quantile,incremental_shortfall,converted\n");
    for (const portfolio_risk& risk : r.risks) {
        const std::string head =
            csv_field(risk.set) + "," + csv_field(risk.portfolio) + "," + csv_field(risk.currency);
        for (const trade_in_tail& share : risk.shares) {
            lines.field(head).field(share.level).field(trades[share.trade]);
            lines.field(share.component_quantile).field(share.component_quantile_error);
            lines.field(share.component_shortfall).field(share.component_shortfall_error);
            lines.field(share.incremental_quantile).field(share.incremental_shortfall);
            lines.field(yes_or_no(risk.is_converted));
            lines.end_line();
        }
    }
}

void write_explained(std::ostream& out, const scenario_results& r) {
    const std::vector<std::string> names = quoted_names(r);
    line_writer lines(out);
    lines.text("set,scenario,portfolio,currency,gain,standard_error");
    for (const std::string& measure : quoted(r.measures)) lines.text(",").text(measure);
    lines.text(",left\n");
    for (const explained_gain& e : r.explained) {
        lines.field(csv_field(r.scenarios[e.scenario].set)).field(names[e.scenario]);
        lines.field(csv_field(e.portfolio)).field(csv_field(e.currency)).field(e.gain).field(e.error);
        for (const double part : e.by_measure) lines.field(part);
        lines.field(e.left);
        lines.end_line();
    }
}

constexpr std::array all_scenario_reports{
    scenario_report{"var.csv",
                    "Value at risk and expected shortfall by level, in ORE's columns: a line for each "
                    "portfolio, in the currency into which all is converted or in each of its own.",
                    write_var},
    scenario_report{"pnl.csv",
                    "The gains that these are from, in ORE's columns: a line for each portfolio and scenario "
                    "of a likely set, with the days between which the market moved so.",
                    write_pnl},
    scenario_report{"stress.csv",
                    "Values before and after each scenario of the other sets, in ORE's columns: a line for "
                    "each trade and scenario, in the trade's currency.",
                    write_stress},
    scenario_report{"sensitivity.csv",
                    "The sensitivities that explain gains, in ORE's columns: a line for each trade and "
                    "factor, and one for each two factors, in the trade's currency.",
                    write_sensitivity},
    scenario_report{"gains.csv", "The gain of each trade in each scenario with its standard error.",
                    [](std::ostream& out, const scenario_results& r) { csv(out, gain_columns(r), {}); }},
    scenario_report{"totals.csv", "The gain of each portfolio in each scenario with its standard error.",
                    write_totals_of_gains},
    scenario_report{
        "risk.csv",
        "Value at risk and expected shortfall with both their errors, a line for each likely set, "
        "portfolio, currency and level.",
        write_risk},
    scenario_report{"components.csv",
                    "The share of each trade in these: what it adds up to, and what the figure would be less "
                    "without it.",
                    write_components},
    scenario_report{"explained.csv",
                    "The gain of each portfolio in each scenario as its sensitivities explain it, with what "
                    "they leave.",
                    write_explained},
};

}  // namespace

}  // namespace tilewalk::report

namespace tilewalk {

std::span<const scenario_report> scenario_reports() {
    return report::all_scenario_reports;
}

void write(std::ostream& out, const scenario_results& r, output_format format, const text_form& form) {
    switch (format) {
        case output_format::table:
            return report::scenario_table(out, r, form);
        case output_format::csv:
            return report::csv(out, gain_columns(r), form);
        case output_format::json:
            return report::scenario_json(out, r, form);
    }
}

}  // namespace tilewalk
