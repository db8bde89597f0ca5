// SPDX-License-Identifier: Apache-2.0
// tilewalk explain: what a price is made from and what pricing a trade will do, before anything runs.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/page.h"
#include "tilewalk/printable.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

struct explain_arguments {
    std::string book;
    std::string trade;
    spoken options;
    std::string format, output, picture;
    bool all_dates = false, program = false;
};

struct cut {
    std::size_t most, first, last;
};
constexpr cut dates_cut{16, 8, 4}, numbers_cut{9, 5, 3}, values_cut{6, 3, 1}, factors_cut{12, 8, 3};

// Calls show(i) for each place to show of a list, and skip(count) where places of a long list are left out.
template <class Show, class Skip>
void each_of(std::size_t count, const cut& at, bool all, Show&& show, Skip&& skip) {
    const bool shorten = !all && count > at.most;
    for (std::size_t i = 0; i < count; ++i) {
        if (shorten && i == at.first) {
            i = count - at.last;
            skip(i - at.first);
        }
        show(i);
    }
}

std::string bytes_text(std::uint64_t bytes) {
    const auto count = static_cast<double>(bytes);
    if (bytes < 10'000) return fmt::format("{} bytes", bytes);
    if (bytes < 10'000'000) return fmt::format("{:.0f} kB", count / 1e3);
    return fmt::format("{:.0f} MB", count / 1e6);
}

// Returns the date as text; empty for a time in years ("0.25y"), which the column of years shows.
std::string date_label(const trade_plan::watched_date& date) {
    return date.label.ends_with('y') ? "" : printable(date.label);
}

// True for dates up to now, unless a continuous watch begins at this very moment.
bool is_past(const trade_plan::watched_date& date) {
    const bool begins = std::ranges::any_of(
        date.blocks, [](const std::string& block) { return block.starts_with("from here: "); });
    return date.years < 0 || (date.years == 0 && !begins);
}

std::string dates_text(const trade_plan& plan, bool all) {
    std::size_t label_width = 0;
    for (const auto& date : plan.dates) label_width = std::max(label_width, date_label(date).size());
    const auto line = [&](const std::string& years, const std::string& label, const std::string& what) {
        const std::string padded = label_width > 0 ? fmt::format("{:<{}}  ", label, label_width) : "";
        return fmt::format("  {:>9}  {}{}\n", years, padded, what);
    };
    std::string out = line("years", label_width > 0 ? "date" : "", "what happens");
    each_of(
        plan.dates.size(), dates_cut, all,
        [&](std::size_t i) {
            const auto& date = plan.dates[i];
            out +=
                line(fmt::format("{:.6f}", date.years), date_label(date),
                     printable(joined(date.blocks)) + (is_past(date) ? "  (past: played with fixings)" : ""));
        },
        [&](std::size_t skipped) {
            out += fmt::format("        ...  {} more dates (--all-dates shows them)\n", skipped);
        });
    return out;
}

std::string number_text(double x) {
    return fmt::format("{:.6g}", x);
}

std::string years_text(double years) {
    return fmt::format("{:.6f}", years);
}

std::string value_text(const trade_term& term, bool all) {
    std::string out;
    each_of(
        term.values.size(), values_cut, all,
        [&](std::size_t i) { out += (out.empty() ? "" : ", ") + printable(term.values[i]); },
        [&](std::size_t) { out += ", ..."; });
    if (term.values.size() > values_cut.most) out += fmt::format(" ({} in all)", term.values.size());
    return out.empty() ? "none" : out;
}

std::string terms_text(const trade_plan& plan, bool all) {
    std::size_t width = 0;
    for (const auto& term : plan.terms) width = std::max(width, term.name.size());
    std::string out = "\nterms\n";
    for (const auto& term : plan.terms) {
        std::string says = value_text(term, all);
        const bool is_day = term.type == "date" && !term.is_list && !term.values.front().ends_with('y');
        if (is_day) says += fmt::format(" ({} years)", years_text(term.numbers.front()));
        if (!term.per.empty() && term.is_list) says += " by " + printable(term.per);
        if (!term.written.empty()) says += "  by " + printable(term.written);
        out += fmt::format("  {:<{}}  {}{}\n", printable(term.name), width, says,
                           term.is_default ? "  (default)" : "");
    }
    return out;
}

std::string parameter_text(const model_parameter& p) {
    std::string out = p.name;
    if (p.values.empty()) return out + " " + p.text;
    each_of(
        p.values.size(), values_cut, false,
        [&](std::size_t i) {
            out += (i == 0 ? " " : ", ") + number_text(p.values[i]);
            if (i < p.years.size()) out += " until " + number_text(p.years[i]) + "y";
        },
        [&](std::size_t) { out += ", ..."; });
    return out;
}

std::string parameters_text(const std::vector<model_parameter>& parameters) {
    std::string out;
    for (const auto& p : parameters) out += (out.empty() ? "" : "; ") + printable(parameter_text(p));
    return out;
}

std::string dividends_text(const asset_numbers& a) {
    if (a.dividends.empty()) return "";
    std::size_t cash = 0;
    double money = 0;
    for (const auto& d : a.dividends) {
        if (d.is_proportion) continue;
        ++cash;
        money += d.amount;
    }
    const std::size_t shares = a.dividends.size() - cash;
    std::string out;
    if (cash > 0) {
        out = fmt::format(
            "; {} cash dividend{} of {} in all ({})", cash, cash == 1 ? "" : "s", number_text(money),
            a.falls_by_dividends ? "by which the spot falls" : "escrowed: the volatility is of the rest");
    }
    if (shares > 0) out += fmt::format("; {} proportional dividend{}", shares, shares == 1 ? "" : "s");
    return out;
}

struct column {
    std::string name;
    std::vector<std::string> numbers;
};

std::string optional_text(const std::optional<double>& x) {
    return x ? number_text(*x) : "-";
}

std::vector<column> columns_of(const trade_plan& plan) {
    std::vector<column> out;
    const auto add = [&](const std::string& name, const auto& numbers, auto&& text) {
        if (numbers.empty()) return;
        column& c = out.emplace_back(column{name, {}});
        for (const auto& x : numbers) c.numbers.push_back(text(x));
    };
    const auto any = [](const std::vector<std::optional<double>>& numbers) {
        return std::ranges::any_of(numbers, [](const auto& x) { return x.has_value(); });
    };
    for (const auto& c : plan.currencies) add("discount " + c.name, c.discounts, number_text);
    for (const auto& a : plan.asset_list) {
        add("forward " + a.name, a.forwards, number_text);
        if (any(a.quanto_forwards)) add("in " + plan.currency, a.quanto_forwards, optional_text);
        if (any(a.volatilities)) add("volatility", a.volatilities, optional_text);
    }
    for (const auto& x : plan.exchange_rates) {
        add("forward " + x.pair, x.forwards, number_text);
        add("volatility", x.volatilities, number_text);
    }
    return out;
}

// Shows a line per date if the columns fit, else the last date alone with a line per figure.
std::string numbers_text(const trade_plan& plan, bool all, std::size_t room) {
    constexpr std::size_t most_columns = 8;
    const std::vector<column> columns = columns_of(plan);
    const bool has_labels =
        std::ranges::any_of(plan.year_labels, [](const auto& label) { return !label.ends_with('y'); });
    std::string out = fmt::format("  {:>9}", "years");
    if (has_labels) out += fmt::format("  {:<10}", "date");
    std::vector<std::size_t> widths;
    for (const auto& c : columns) {
        std::size_t width = c.name.size();
        for (const auto& number : c.numbers) width = std::max(width, number.size());
        widths.push_back(width);
        out += fmt::format("  {:>{}}", printable(c.name), width);
    }
    if (columns.size() <= most_columns && out.size() <= room) {
        out += '\n';
        each_of(
            plan.years.size(), numbers_cut, all,
            [&](std::size_t i) {
                out += fmt::format("  {:>9}", years_text(plan.years[i]));
                const std::string& label = plan.year_labels[i];
                if (has_labels) out += fmt::format("  {:<10}", label.ends_with('y') ? "" : printable(label));
                for (std::size_t k = 0; k < columns.size(); ++k)
                    out += fmt::format("  {:>{}}", columns[k].numbers[i], widths[k]);
                out += '\n';
            },
            [&](std::size_t skipped) { out += fmt::format("        ...  {} more dates\n", skipped); });
        return out;
    }
    out = fmt::format("  at {} years, the last of {} dates (--format json has them all)\n",
                      years_text(plan.years.back()), plan.years.size());
    std::vector<std::string> lines;
    for (const auto& c : plan.currencies)
        lines.push_back(fmt::format("discount {}  {}", c.name, number_text(c.discounts.back())));
    for (const auto& a : plan.asset_list) {
        std::string line = fmt::format("{}  forward {}", a.name, number_text(a.forwards.back()));
        if (!a.quanto_forwards.empty() && a.quanto_forwards.back())
            line += fmt::format(", in {} {}", plan.currency, number_text(*a.quanto_forwards.back()));
        if (a.volatilities.back())
            line += fmt::format(", volatility {}", number_text(*a.volatilities.back()));
        lines.push_back(line);
    }
    for (const auto& x : plan.exchange_rates)
        lines.push_back(fmt::format("{}  forward {}, volatility {}", x.pair, number_text(x.forwards.back()),
                                    number_text(x.volatilities.back())));
    each_of(
        lines.size(), factors_cut, all, [&](std::size_t i) { out += "  " + printable(lines[i]) + '\n'; },
        [&](std::size_t skipped) { out += fmt::format("  ... {} more (--all-dates)\n", skipped); });
    return out;
}

std::string market_text(const trade_plan& plan, const std::string& as_of, bool all, std::size_t room) {
    if (plan.years.empty()) return "";
    std::string out = "\nmarket as of " + as_of + "\n";
    std::vector<std::string> lines;
    for (const auto& a : plan.asset_list) {
        const std::string parameters = parameters_text(a.parameters);
        lines.push_back(fmt::format("{}  spot {} {}{}{}", printable(a.name), number_text(a.spot), a.currency,
                                    parameters.empty() ? "" : "; " + parameters, dividends_text(a)));
    }
    for (const auto& x : plan.exchange_rates)
        lines.push_back(fmt::format("{}  {}", x.pair, number_text(x.rate)));
    for (const auto& c : plan.currencies) {
        if (!c.model.empty()) lines.push_back(fmt::format("{}  {}", c.name, parameters_text(c.parameters)));
    }
    each_of(
        lines.size(), factors_cut, all, [&](std::size_t i) { out += "  " + lines[i] + '\n'; },
        [&](std::size_t skipped) { out += fmt::format("  ... {} more (--all-dates)\n", skipped); });
    std::string stated, missing;
    std::size_t stated_count = 0, missing_count = 0;
    for (const auto& c : plan.correlations) {
        const bool is_shown = (c.is_stated ? stated_count : missing_count)++ < values_cut.most || all;
        std::string& to = c.is_stated ? stated : missing;
        if (!is_shown) continue;
        to += (to.empty() ? "" : ", ") + printable(c.first) + " and " + printable(c.second);
        if (c.is_stated) to += " " + number_text(c.value);
    }
    const auto rest = [&](std::size_t count) {
        return count > values_cut.most && !all ? fmt::format(" and {} more", count - values_cut.most) : "";
    };
    if (stated_count > 0) out += fmt::format("  correlations  {}{}\n", stated, rest(stated_count));
    if (missing_count > 0)
        out += fmt::format("  not stated, so taken as 0  {}{}\n", missing, rest(missing_count));
    return out + '\n' + numbers_text(plan, all, room);
}

// Returns the lengths of the steps. A path starts at 0, in `grid` or not; each later time ends a step.
std::vector<double> steps_of(const std::vector<double>& grid) {
    std::vector<double> steps;
    double last = 0;
    for (const double time : grid) {
        if (!(time > last)) continue;
        steps.push_back(time - last);
        last = time;
    }
    return steps;
}

std::string grid_text(const std::vector<double>& grid, const std::vector<double>& steps) {
    if (steps.empty()) return "no steps: nothing random is left, so no path is simulated";
    const auto [shortest, longest] = std::ranges::minmax(steps);
    return fmt::format("{} step{} to {:.6f} years, ", steps.size(), steps.size() == 1 ? "" : "s",
                       grid.back()) +
           (longest - shortest < 5e-7 ? fmt::format("each {:.6f} long", shortest)
                                      : fmt::format("each {:.6f} to {:.6f} long", shortest, longest));
}

std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const std::string line = printable(text.substr(at, end - at));
        out += (line.empty() ? "" : "  " + line) + '\n';
        at = end + 1;
    }
    return out;
}

const char* treatments_of(const trade_plan::jump& j) {
    if (!j.can_be_smoothed) return "bumped";
    return j.can_be_held_still ? "smoothed or by a likelihood ratio" : "smoothed";
}

// Shows the functions by which a policy decides whether the trade ends early (docs/language.md).
std::string rights_text(const trade_plan::decision& by, bool all) {
    std::string known;
    each_of(
        by.knows.size(), values_cut, all, [&](std::size_t i) { known += printable(by.knows[i]) + ", "; },
        [&](std::size_t skipped) { known += fmt::format("{} others, ", skipped); });
    return fmt::format(
        "decided by {}the payment: {} functions up to degree {}; {}", known, by.functions, by.degree,
        by.moves > 0 ? fmt::format("a bound by {} moves an interval{}", by.moves,
                                   by.are_moves_ranked ? ", of assets by their ranks at its beginning" : "")
                     : std::string("no bound"));
}

std::string day_text(const trade_plan::decision::date& d) {
    return d.label.ends_with('y') ? fmt::format("{:.6g}y", d.years) : printable(d.label);
}

// Shows the rank of the regression on each date, on one line for consecutive dates of the same rank.
std::string ranks_text(const trade_plan::decision& by, bool all) {
    struct run {
        std::size_t first, last;
    };
    std::vector<run> runs;
    const auto is_alike = [&](std::size_t a, std::size_t b) {
        return by.dates[a].rank_paid == by.dates[b].rank_paid &&
               by.dates[a].rank_unpaid == by.dates[b].rank_unpaid;
    };
    for (std::size_t k = 0; k < by.dates.size(); ++k) {
        if (runs.empty() || all || !is_alike(runs.back().first, k))
            runs.push_back({k, k});
        else
            runs.back().last = k;
    }
    std::string out = fmt::format(
        "of {} functions where using the right pays something, and where not, on {} "
        "paths: ",
        by.functions, by.training_paths);
    each_of(
        runs.size(), values_cut, all,
        [&](std::size_t i) {
            const auto& [first, last] = runs[i];
            out += (i == 0 ? "" : ", ") + day_text(by.dates[first]) +
                   (last > first ? " to " + day_text(by.dates[last]) : "") +
                   fmt::format(" {} and {}", by.dates[first].rank_paid, by.dates[first].rank_unpaid);
        },
        [&](std::size_t skipped) { out += fmt::format(", and {} more", skipped); });
    return out;
}

std::string greeks_text(const trade_plan& plan, bool all) {
    const std::string pathwise = plan.ends_early ? "pathwise, with decisions held still" : "pathwise";
    if (plan.jumps.empty()) return pathwise + ": the payoff jumps nowhere" + (plan.ends_early ? " else" : "");
    std::string out = pathwise + ", but for numbers that move a jump; it jumps ";
    each_of(
        plan.jumps.size(), values_cut, all,
        [&](std::size_t i) {
            const trade_plan::jump& j = plan.jumps[i];
            const bool is_same = i > 0 && plan.jumps[i - 1].at == j.at;
            out += (i == 0 ? "" : ", ") + (is_same ? "" : printable(j.at) + ": ") + j.operation + " (" +
                   treatments_of(j) + ")";
        },
        [&](std::size_t skipped) { out += fmt::format(", and {} more times", skipped); });
    return out;
}

std::string left_by_steps(const trade_plan& plan) {
    if (!plan.error_steps) return "their error in the price is unknown";
    if (*plan.error_steps == 0) return "exact, without error in the price";
    return fmt::format("an error of at most {:.2g} {} in the price", *plan.error_steps,
                       printable(plan.currency));
}

std::string plan_text(const trade_plan& plan, const std::string& as_of, const explain_arguments& asked,
                      std::size_t room) {
    const bool all = asked.all_dates;
    const std::string title = "trade " + printable(plan.trade);
    std::string out = title + "\n" + std::string(title.size(), '=') + "\n";
    if (!plan.failure.empty())
        return out + "can't be planned: " + problem_line({plan.trade, plan.failure, plan.where});
    out += fmt::format("product   {}\ncurrency  {}\n", printable(plan.product), printable(plan.currency));
    if (plan.quantity != 1) out += fmt::format("quantity  {}\n", number_text(plan.quantity));
    out += fmt::format("defined   {}\n", printable(to_string(plan.where)));
    out += terms_text(plan, all) + market_text(plan, as_of, all, room);
    out += "\ndates\n";
    out += dates_text(plan, all);
    out += '\n';
    for (const std::string& line : plan.models) {
        const bool is_remark = std::ranges::find(plan.remarks, line) != plan.remarks.end();
        out += fmt::format("{:<9} {}\n", is_remark ? "remark" : "model", printable(line));
    }
    for (const std::string& remark : plan.remarks) {
        if (std::ranges::find(plan.models, remark) == plan.models.end())
            out += fmt::format("remark    {}\n", printable(remark));
    }
    const std::vector<double> steps = steps_of(plan.grid);
    out += fmt::format("grid      {}\n", grid_text(plan.grid, steps));
    if (!steps.empty()) out += fmt::format("steps     {}\n", left_by_steps(plan));
    out +=
        fmt::format("shocks    {} normal and {} uniform a step; a path takes {}\n", plan.normals_per_step,
                    plan.uniforms_per_step,
                    static_cast<std::size_t>(plan.normals_per_step + plan.uniforms_per_step) * steps.size());
    if (!plan.random.empty()) out += fmt::format("random    {}\n", printable(plan.random));
    for (const auto& s : plan.scenarios) {
        out += fmt::format("scenarios {}, {} of {} rows, {}\n", printable(s.name), s.rows_used, s.rows,
                           bytes_text(s.bytes));
    }
    out += fmt::format("program   {} operations a lane in {} registers, {} uniform{}\n", plan.lane_operations,
                       plan.lane_registers, plan.uniform_operations,
                       asked.program ? "" : " (--program lists it)");
    if (plan.decides_by) out += fmt::format("rights    {}\n", rights_text(*plan.decides_by, all));
    if (plan.decides_by && !plan.decides_by->dates.empty())
        out += fmt::format("ranks     {}\n", ranks_text(*plan.decides_by, all));
    if (!steps.empty()) out += fmt::format("greeks    {}\n", greeks_text(plan, all));
    if (!plan.kernel.empty()) out += fmt::format("kernel    {}\n", printable(plan.kernel));
    out += fmt::format("memory    {} for each thread, {} shared\n", bytes_text(plan.bytes_per_thread),
                       bytes_text(plan.bytes_shared));
    return asked.program ? out + '\n' + indented(plan.program) : out;
}

enum class explanation_format { text, json };

explanation_format format_of(const explain_arguments& asked) {
    const auto known = [](const std::string& word) { return word == "text" || word == "json"; };
    if (!asked.format.empty() && !known(asked.format))
        throw error(error_kind::usage, "--format: found '" + asked.format + "'" +
                                           suggestion(asked.format, {"text", "json"}, ",") +
                                           " expected text or json");
    if (!asked.format.empty())
        return asked.format == "json" ? explanation_format::json : explanation_format::text;
    const std::string ending = ending_of(asked.output);
    if (ending == ".json") return explanation_format::json;
    if (ending != ".txt") refuse_ending(asked.output, {".txt", ".json"}, ", or --format with any ending");
    return explanation_format::text;
}

int explain(const explain_arguments& asked) {
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const explanation_format format = format_of(asked);
    const output to(asked.output);
    std::optional<output> picture_to;
    std::vector<const output*> all{&to};
    if (!asked.picture.empty()) {
        if (asked.trade.empty())
            throw error(error_kind::usage, "--picture shows one trade; name it after the book");
        all.push_back(&picture_to.emplace(asked.picture, "--picture"));
    }
    const market in = market_of(wanted);
    check_trades(wanted);
    keep_apart(all, inputs_of(wanted, in));
    std::vector<std::string> known;
    std::vector<trade_plan> plans;
    std::vector<factor_pair> missing;
    bool failed = false;
    for (auto& plan : plan(wanted, in)) {
        known.push_back(plan.trade);
        if (!asked.trade.empty() && plan.trade != asked.trade) continue;
        failed |= !plan.failure.empty();
        for (const auto& c : plan.correlations)
            if (!c.is_stated) missing.push_back({c.first, c.second});
        plans.push_back(std::move(plan));
    }
    if (plans.empty() && !asked.trade.empty()) {
        const std::string near = nearest_name(asked.trade, known);
        throw error(error_kind::usage,
                    fmt::format("the book has no trade '{}'{}", asked.trade,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                    {asked.book});
    }
    if (format == explanation_format::json) {
        to.write(explanation_json(plans, in.as_of(), asked.program));
    } else {
        const std::size_t room = (to.is_stdout() ? form_of_stdout() : text_form{}).columns;
        std::string text;
        for (const auto& plan : plans)
            text += (text.empty() ? "" : "\n") + folded(plan_text(plan, in.as_of(), asked, room), room);
        to.write(text.empty() ? "no trades\n" : text);
    }
    if (picture_to && !failed) {
        const engine by = engine_for(asked.options);
        picture_to->write(
            picture_of(plans.front(), paths_of(by, wanted.trades, in, asked.trade, wanted.with.options())));
    }
    std::ranges::sort(missing);
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    complain_of_correlations(missing);
    return failed ? some_failed : all_well;
}

}  // namespace

command add_explain(CLI::App& to) {
    CLI::App* app = to.add_subcommand("explain", "Show what a price is made from: terms, market, dates, grid")
                        ->group("Commands");
    const auto asked = std::make_shared<explain_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input")->required();
    app->add_option("TRADE", asked->trade, "The id of a trade; all trades if left out");
    app->add_flag("--all-dates", asked->all_dates,
                  "Show all dates of long schedules and all values of lists");
    app->add_flag("--program", asked->program, "Also list the program of each trade");
    offers(app->add_option("--format", asked->format,
                           "text or json; by default what the ending of --output says, else text"),
           {"text", "json"})
        ->type_name("NAME");
    app->add_option("--picture", asked->picture,
                    "Draw the trade as SVG: its dates on a time line and ten of its paths")
        ->type_name("FILE");
    asked->output = "-";
    app->add_option("-o,--output", asked->output,
                    "File for the explanation (- for standard output), written whole or not at all")
        ->type_name("FILE");
    add_book_options(*app, asked->options);
    app->footer(ranking_text() +
                "\n"
                "Examples:\n"
                "  tilewalk explain book.yaml\n"
                "  tilewalk explain book.yaml asian_1 --all-dates\n"
                "  tilewalk explain book.yaml asian_1 --picture asian_1.svg\n"
                "  tilewalk explain book.yaml -o book.json\n\n"
                "Exit codes: 0 all trades can be planned, 3 some can't;\n" +
                exit_code_hint());
    return {app, [asked] { return explain(*asked); }};
}

}  // namespace tilewalk::cli
