// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios for people: tail risk, the worst scenarios, how many others there are, and failures.
#include <algorithm>
#include <numeric>
#include <ostream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/tell/formats.h"
#include "engine/tell/manifest_text.h"
#include "engine/tell/scenario_forms.h"
#include "tilewalk/printable.h"

namespace tilewalk::report {

namespace {

constexpr std::size_t most_scenarios = 10, most_failures = 10, most_tails = 60;

std::string tail_error_text(double error) {
    return is_figure(error) ? significant(error, 3) : "";
}

std::string figure_text(const tail_figure& f) {
    return is_figure(f.value) ? justified(f.value, f.noise > 0 ? f.noise : f.sampling) : "";
}

std::string portfolio_text(const std::string& portfolio) {
    return portfolio.empty() ? "all trades" : printable(portfolio);
}

std::string tails_text(const scenario_results& r, const text_form& form) {
    std::vector<const portfolio_risk*> risks;
    for (const std::string_view set : likely_sets_of(r)) {
        for (const portfolio_risk* risk : shown_of(r.risks))
            if (risk->set == set) risks.push_back(risk);
    }
    if (risks.empty()) return {};
    const auto point = align::point;
    columns table({{"set"},
                   {"portfolio"},
                   {"currency"},
                   {"level", align::right},
                   {"value at risk", point},
                   {"its noise", align::right},
                   {"its sampling", align::right},
                   {"shortfall", point},
                   {"noise", align::right},
                   {"sampling", align::right},
                   {"scenario"}});
    const auto few = [&](const std::vector<std::size_t>& trades) {
        std::string out;
        for (std::size_t i = 0; i < std::min<std::size_t>(trades.size(), 3); ++i)
            out += (i == 0 ? "" : ", ") + printable(r.base.rows[trades[i]].trade);
        return out + (trades.size() > 3 ? " and " + std::to_string(trades.size() - 3) + " more" : "");
    };
    std::string notes;
    std::size_t lines = 0, left = 0;
    for (const portfolio_risk* risk : risks) {
        bool is_first = true;
        for (const tail& t : risk->tails) {
            if (++lines > most_tails) {
                ++left;
                continue;
            }
            table.add({is_first ? printable(risk->set) : "", is_first ? portfolio_text(risk->portfolio) : "",
                       is_first ? printable(risk->currency) : "", significant(100 * t.level, 6) + "%",
                       figure_text(t.quantile), tail_error_text(t.quantile.noise),
                       tail_error_text(t.quantile.sampling), figure_text(t.shortfall),
                       tail_error_text(t.shortfall.noise), tail_error_text(t.shortfall.sampling),
                       is_figure(t.quantile.value) ? printable(r.scenarios[t.at].name) : ""});
            is_first = false;
        }
        if (!risk->left_out.empty())
            notes += hanging("left out of " + portfolio_text(risk->portfolio) + " (" +
                                 printable(risk->currency) + ") in " + printable(risk->set) +
                                 ", not priced in all its scenarios: " + few(risk->left_out),
                             form.columns, 2);
    }
    std::string out = fitted(table, form.columns,
                             {{"scenario", 16},
                              {"portfolio", 16},
                              {"scenario"},
                              {"its sampling"},
                              {"sampling"},
                              {"set"},
                              {"its noise"},
                              {"noise"},
                              {"currency"}});
    if (left > 0)
        out += hanging("and " + counted(left, "more tail") + "; risk.csv and json output have them all",
                       form.columns, 2);
    out += hanging(
        "value at risk: the gain at this quantile of equally likely scenarios; shortfall: the mean of the "
        "gains up to it; losses are negative; noise: the standard error from the paths; sampling: from the "
        "scenarios",
        form.columns, 2);
    return out + notes + "\n";
}

// If every trade failed in the scenario, their sum is not shown as a gain.
bool has_gain(const portfolio_gains& of, std::size_t scenario) {
    return is_figure(of.gains[scenario]) && of.failed[scenario] < of.trades.size();
}

std::string worst_text(const scenario_results& r, const portfolio_gains& of, const text_form& form) {
    std::vector<std::size_t> order(r.scenarios.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (!has_gain(of, a) || !has_gain(of, b)) return has_gain(of, a) && !has_gain(of, b);
        return of.gains[a] < of.gains[b];
    });
    std::string out =
        hanging(portfolio_text(of.portfolio) + ", " + counted(of.trades.size(), "trade") + " in " +
                    printable(of.currency) + (of.is_converted ? ", converted" : "") + ": worth " +
                    (is_figure(of.base_value) ? significant(of.base_value, 10) : "no figure") + " before",
                form.columns, 2);
    columns table({{"set"},
                   {"scenario"},
                   {"gain", align::point},
                   {"std error", align::right},
                   {"failed", align::right}});
    const std::size_t shown = std::min(order.size(), most_scenarios);
    for (std::size_t i = 0; i < shown; ++i) {
        const std::size_t s = order[i];
        table.add({printable(r.scenarios[s].set), printable(r.scenarios[s].name),
                   has_gain(of, s) ? justified(of.gains[s], of.errors[s]) : "",
                   has_gain(of, s) ? tail_error_text(of.errors[s]) : "",
                   of.failed[s] > 0 ? std::to_string(of.failed[s]) : ""});
    }
    out += fitted(table, form.columns, {{"scenario", 24}, {"set"}, {"std error"}, {"scenario", 8}});
    if (order.size() > shown) {
        std::size_t end = order.size();
        while (end > shown && !has_gain(of, order[end - 1])) --end;
        const auto about = [&](std::size_t s) {
            return significant(of.gains[s], is_figure(of.errors[s]) ? 6 : digits_without_error);
        };
        out += hanging(
            "and " + counted(order.size() - shown, "other scenario") +
                (end > shown ? ", from " + about(order[shown]) + " to " + about(order[end - 1]) : "") +
                "; csv and json output have them all",
            form.columns, 2);
    }
    return out + "\n";
}

// Counts the failures from `first` on with the same scenario and message: a scenario that makes no valid
// market fails every trade.
std::size_t failures_alike(const std::vector<failed_gain>& in, std::size_t first) {
    std::size_t end = first + 1;
    while (end < in.size() && in[end].scenario == in[first].scenario && in[end].message == in[first].message)
        ++end;
    return end - first;
}

std::string failures_text(const scenario_results& r, const text_form& form) {
    if (r.failed() == 0) return {};
    std::string lines;
    std::size_t told = 0;
    const auto add = [&](const std::string& line) {
        if (++told <= most_failures) lines += hanging("  " + line, form.columns, 4);
    };
    for (const price_row& row : r.base.rows) {
        if (row.status != trade_status::failed) continue;
        const std::string place = to_string(row.where);
        add(printable(row.trade) + " in the base market: " + printable(place) + (place.empty() ? "" : ": ") +
            printable(row.message));
    }
    for (std::size_t k = 0, alike = 1; k < r.failures.size(); k += alike) {
        const failed_gain& f = r.failures[k];
        const scenario& s = r.scenarios[f.scenario];
        alike = failures_alike(r.failures, k);
        add((alike == 1 ? printable(r.base.rows[f.trade].trade) : counted(alike, "trade")) + " in " +
            printable(s.set) + "/" + printable(s.name) + ": " + printable(f.message));
    }
    std::string out = counted(r.base.failed(), "trade") + " failed in the base market, " +
                      counted(r.failures.size(), "gain") + " in scenarios:\n" + lines;
    if (told > most_failures)
        out += "  and " + std::to_string(told - most_failures) +
               " more lines; csv and json output have them all\n";
    return out + "\n";
}

std::string footer_text(const scenario_results& r, const text_form& form) {
    const run_manifest& m = r.base.manifest;
    std::string line = counted(r.scenarios.size(), "scenario") + " of " + counted(r.trades(), "trade") +
                       " on the same random numbers: " + counted(m.paths, "path") + ", seed " +
                       std::to_string(m.seed) + ", " + draws_text(m);
    if (!m.as_of.empty()) line += ", as of " + printable(m.as_of);
    std::string out =
        hanging(line, form.columns, 2) +
        hanging(duration(m.total_seconds) + " on " + counted(static_cast<std::uint64_t>(m.threads), "thread"),
                form.columns, 2);
    if (const std::string gpus = gpu_text(m); !gpus.empty())
        out += hanging(gpus.substr(0, gpus.size() - 1), form.columns, 2);
    for (const auto& lost : m.lost_devices) out += hanging("lost " + printable(lost), form.columns, 2);
    for (const left_work& left : m.left_to_processor)
        out += hanging("left to the processor: " + printable(left.text()), form.columns, 2);
    for (const std::string& remark : r.remarks) out += hanging(printable(remark), form.columns, 2);
    return out;
}

}  // namespace

void scenario_table(std::ostream& out, const scenario_results& r, const text_form& form) {
    out << tails_text(r, form);
    if (r.scenarios.empty()) out << "no scenarios\n\n";
    for (const portfolio_gains* of : shown_of(r.totals))
        if (of->portfolio.empty() && !r.scenarios.empty()) out << worst_text(r, *of, form);
    out << failures_text(r, form) << footer_text(r, form);
}

}  // namespace tilewalk::report
