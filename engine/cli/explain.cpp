// SPDX-License-Identifier: Apache-2.0
// tilewalk explain: what pricing a trade will do, before anything runs.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

struct request {
    std::string book;
    std::string trade;
    spoken options;
    bool all_dates = false;
};

// A long schedule is told by its ends.
constexpr std::size_t most_dates = 16, first_dates = 8, last_dates = 4;

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

std::string bytes_text(std::uint64_t bytes) {
    const auto count = static_cast<double>(bytes);
    if (bytes < 10'000) return fmt::format("{} bytes", bytes);
    if (bytes < 10'000'000) return fmt::format("{:.0f} kB", count / 1e3);
    return fmt::format("{:.0f} MB", count / 1e6);
}

// A time in years is its own label ("0.25y"); only a date has more to say than the column of years.
std::string date_label(const trade_plan::watched_date& date) {
    return date.label.ends_with('y') ? "" : printable(date.label);
}

// What was to be seen by now is seen already; but a continuous watch may begin at this very moment.
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
    const bool shorten = !all && plan.dates.size() > most_dates;
    for (std::size_t i = 0; i < plan.dates.size(); ++i) {
        if (shorten && i == first_dates) {
            out += fmt::format("        ...  {} more dates (--all-dates shows them)\n",
                               plan.dates.size() - first_dates - last_dates);
            i = plan.dates.size() - last_dates;
        }
        const auto& date = plan.dates[i];
        out += line(fmt::format("{:.6f}", date.years), date_label(date),
                    printable(joined(date.blocks)) + (is_past(date) ? "  (past: played with fixings)" : ""));
    }
    return out;
}

// A path starts now, whether or not the grid says so: a step ends at each later time.
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
    if (steps.empty()) return "no steps: nothing is to come, so no path is walked";
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

std::string plan_text(const trade_plan& plan, bool all_dates) {
    const std::string title = "trade " + printable(plan.trade);
    std::string out = title + "\n" + std::string(title.size(), '=') + "\n";
    if (!plan.failure.empty())
        return out + "can't be planned: " + problem_line({plan.trade, plan.failure, plan.where});
    out += fmt::format("product   {}\ncurrency  {}\n", printable(plan.product), printable(plan.currency));
    if (!plan.assets.empty()) out += fmt::format("assets    {}\n", printable(joined(plan.assets)));
    out += fmt::format("defined   {}\n", printable(to_string(plan.where)));
    for (const std::string& model : plan.models) out += fmt::format("model     {}\n", printable(model));
    out += "\ndates\n";
    out += dates_text(plan, all_dates);
    const std::vector<double> steps = steps_of(plan.grid);
    out += fmt::format("\ngrid      {}\n", grid_text(plan.grid, steps));
    out +=
        fmt::format("shocks    {} normal and {} uniform a step; a path takes {}\n", plan.normals_per_step,
                    plan.uniforms_per_step,
                    static_cast<std::size_t>(plan.normals_per_step + plan.uniforms_per_step) * steps.size());
    for (const auto& s : plan.scenarios) {
        out += fmt::format("scenarios {}, {} of {} rows, {}\n", printable(s.name), s.rows_used, s.rows,
                           bytes_text(s.bytes));
    }
    out += fmt::format("program   {} operations a lane in {} registers, {} uniform\n", plan.lane_operations,
                       plan.lane_registers, plan.uniform_operations);
    if (!plan.kernel.empty()) out += fmt::format("kernel    {}\n", printable(plan.kernel));
    out += fmt::format("memory    {} for each thread, {} shared\n\n", bytes_text(plan.bytes_per_thread),
                       bytes_text(plan.bytes_shared));
    return out + indented(plan.program);
}

int explain(const request& asked) {
    const job wanted = load_job(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const auto plans = plan(wanted);
    std::string text;
    std::vector<std::string> known;
    bool failed = false;
    for (const auto& plan : plans) {
        known.push_back(plan.trade);
        if (!asked.trade.empty() && plan.trade != asked.trade) continue;
        text += (text.empty() ? "" : "\n") + plan_text(plan, asked.all_dates);
        failed |= !plan.failure.empty();
    }
    if (text.empty() && !asked.trade.empty()) {
        const std::string near = nearest_name(asked.trade, known);
        throw error(error_kind::usage,
                    fmt::format("the book has no trade '{}'{}", asked.trade,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                    {asked.book});
    }
    output("-").write(text.empty() ? "no trades\n" : text);
    return failed ? some_failed : all_well;
}

}  // namespace

command add_explain(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("explain", "Show what pricing will do: dates, grid, shocks, program, memory")
            ->group("Commands");
    const auto asked = std::make_shared<request>();
    app->add_option("BOOK", asked->book, "The book, a YAML file")->required();
    app->add_option("TRADE", asked->trade, "The id of one trade; all trades if left out");
    app->add_flag("--all-dates", asked->all_dates, "Show every date of a long schedule");
    add_book_options(*app, asked->options);
    app->footer(ranking_text() +
                "\n"
                "Examples:\n"
                "  tilewalk explain book.yaml\n"
                "  tilewalk explain book.yaml asian_1 --all-dates\n\n"
                "Exit codes: 0 all trades can be planned, 3 some can't, 2 bad usage or input.");
    return {app, [asked] { return explain(*asked); }};
}

}  // namespace tilewalk::cli
