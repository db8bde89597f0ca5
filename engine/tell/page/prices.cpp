// SPDX-License-Identifier: Apache-2.0
// Sections about prices: totals, warnings, the largest errors, all trades, and how errors fell with paths.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/base/words.h"
#include "engine/decide/controls/written.h"
#include "engine/tell/failures.h"
#include "engine/tell/page/figures.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/page/sections.h"
#include "engine/tell/pictures/bars.h"
#include "engine/tell/pictures/chart.h"
#include "tilewalk/printable.h"

namespace tilewalk::page {

namespace {

using report::counted;

constexpr std::size_t most_trades = 2000, open_trades = 30, most_listed = 200, most_errors = 10,
                      most_open = 12;

bool is_priced(const price_row& row) {
    return row.status == trade_status::priced;
}

std::string says(std::string_view text) {
    return "<span class=\"says\">" + escaped(text) + "</span>";
}

std::string left_out(std::size_t all, std::size_t shown, const std::string& noun) {
    if (all <= shown) return {};
    return paragraph("and " + counted(all - shown, "other " + noun) + "; csv and json output have them all");
}

// The largest half-width of the totals' confidence intervals, relative to the total.
double widest(const std::vector<currency_total>& totals) {
    double out = 0;
    for (const currency_total& t : totals) {
        const double half = 0.5 * (t.high - t.low);
        if (is_figure(half) && t.value != 0) out = std::max(out, half / std::abs(t.value));
    }
    return out;
}

std::string part_text(double part) {
    if (!is_figure(part)) return {};
    if (part < 1e-7) return "< 0.001 bp";
    return part < 1e-4 ? rounded(part * 1e4, 2) + " bp" : rounded(part * 100, 3) + "%";
}

}  // namespace

std::string totals_section(const page_content& of) {
    if (of.totals.empty()) return {};
    const double reach = widest(of.totals);
    const pictures::axis by{-reach, reach, false, {}};
    std::string cards, notes;
    bool any_bound = false, any_error = false, any_by_policy = false;
    for (const currency_total& t : of.totals) {
        const bool is_bound = !is_figure(t.error) && is_figure(t.error_at_most);
        const double error = is_bound ? t.error_at_most : t.error;
        any_bound |= is_bound;
        any_error |= is_figure(t.error);
        any_by_policy |= t.by_policy > 0;
        std::string card =
            element("p", escaped(t.currency + ", " + counted(t.trades, "trade")), "class=\"quiet\"");
        card += element("p", escaped(is_figure(t.value) ? value_text(t.value, error) : "no figure"),
                        "class=\"value\"");
        if (is_figure(error))
            card += paragraph(std::string(is_bound ? "standard error at most " : "standard error ") +
                              error_text(error) +
                              (t.value != 0 ? " (" + part_text(error / std::abs(t.value)) + ")" : ""));
        if (is_figure(t.low)) card += paragraph("95% within " + interval_text(t.low, t.high, error));
        if (reach > 0 && is_figure(t.low) && t.value != 0) {
            const double size = std::abs(t.value);
            card += pictures::error_bar({0, (t.low - t.value) / size, (t.high - t.value) / size}, by, 230);
        }
        if (is_figure(t.value) && t.without_error > 0)
            card += paragraph(counted(t.without_error, "trade") + (t.without_error == 1 ? " has" : " have") +
                              " no standard error, so this total has none");
        cards += element("div", card, "class=\"card\"");
    }
    if (reach > 0)
        notes += "Bars are 95% intervals as fractions of each total; the widest reaches " + part_text(reach) +
                 " to each side. ";
    if (any_error) notes += "Errors of totals take into account that trades share random numbers. ";
    if (any_bound)
        notes += "At most: the plain sum of the errors, an upper bound; a run of " +
                 std::to_string(least_parts) + " parts or more estimates their correlation. ";
    if (any_by_policy)
        notes +=
            "Trades with early exercise count at the value of their policy, not at the middle of their "
            "bounds. ";
    if (of.r.failed() > 0) notes += "Failed trades are left out. ";
    return element("div", cards, "class=\"cards\"") +
           (notes.empty() ? "" : element("p", escaped(notes), "class=\"quiet\""));
}

bool is_wide(const price_row& row) {
    return is_priced(row) && row.early && row.early->wide;
}

std::string to_look_at_section(const page_content& of) {
    const results& r = of.r;
    table failures("Trades that failed",
                   {{"trade", table::of::text}, {"place", table::of::text}, {"reason", table::of::text}});
    table thin("Trades with a thin sample", {{"trade", table::of::text},
                                             {"price"},
                                             {"std error"},
                                             {"paths that carry it"},
                                             {"says", table::of::text}});
    table wide(
        "Trades with wide bounds",
        {{"trade", table::of::text}, {"price"}, {"lower bound"}, {"upper bound"}, {"says", table::of::text}});
    table notes("Notes on trades", {{"trade", table::of::text}, {"says", table::of::text}});
    std::size_t reasons = 0, thins = 0, wides = 0, noted = 0;
    const auto note = [&](const price_row& row, const std::string& text) {
        if (++noted <= most_listed) notes.add({name_cell(row.trade), says(text)});
    };
    for (const price_row& row : r.rows) {
        if (!is_priced(row)) continue;
        if (row.thin) {
            if (++thins <= most_listed)
                thin.add({name_cell(row.trade), value_text(row.price, row.standard_error),
                          error_text(row.standard_error), rounded(row.effective_hits, 3), says(row.message)},
                         "alarm");
        } else if (is_wide(row)) {
            if (++wides <= most_listed)
                wide.add({name_cell(row.trade), value_text(row.price, row.standard_error),
                          value_text(row.early->lower_bound, row.early->lower_error),
                          value_text(row.early->upper_bound, row.early->upper_error), says(row.message)},
                         "alarm");
        } else if (!row.message.empty()) {
            note(row, row.message);
        }
        if (row.reported && !row.reported->message.empty())
            note(row, row.reported->what + ": " + row.reported->message);
        for (const std::string& remark : row.remarks)
            if (!remark.starts_with(controls::begin_of_remark)) note(row, remark);
    }
    for (const report::alike_failures& alike : report::failures_of(r)) {
        if (++reasons <= most_listed)
            failures.add({name_cell(alike.trades()),
                          "<code class=\"id\">" + escaped(to_string(alike.first().where)) + "</code>",
                          says(alike.reason())},
                         "alarm");
    }
    std::string out;
    if (reasons > 0)
        out += element("h3", escaped(counted(r.failed(), "trade") + " failed")) + failures.text() +
               left_out(reasons, most_listed, "failure");
    if (thins > 0) {
        const std::string title = counted(thins, "trade") + " with a thin sample";
        const std::string list = thin.text() + left_out(thins, most_listed, "trade");
        out += element("h3", escaped(title)) +
               paragraph("Fewer than " + rounded(thin_below, 3) +
                         " paths carry the variance, so the standard error itself is in doubt.") +
               (thins <= most_open ? list : folded("all of them", list));
    }
    if (wides > 0) {
        const std::string title = counted(wides, "trade") + " with wide bounds";
        const std::string list = wide.text() + left_out(wides, most_listed, "trade");
        out += element("h3", escaped(title)) +
               paragraph("The bounds are more than " + rounded(100 * wide_above, 3) +
                         "% apart, so the price is the value of the policy.") +
               (wides <= most_open ? list : folded("all of them", list));
    }
    if (noted > 0) {
        out += folded(counted(noted, "note"), notes.text() + left_out(noted, most_listed, "note"),
                      noted <= most_open);
    }
    const run_manifest& m = r.manifest;
    std::string facts;
    for (const std::string& lost : m.lost_devices) facts += element("li", escaped("lost " + lost));
    if (!m.kernels_refused.empty())
        facts += element("li", escaped("kernels in the cache were not used: " + m.kernels_refused));
    for (const left_work& left : m.left_to_processor)
        facts += element("li", escaped("left to the processor: " + left.text()));
    for (const std::string& file : m.journal_damaged)
        facts +=
            element("li", escaped("the journal had an incomplete file, whose work was done again: " + file));
    if (!m.missing_correlations.empty())
        facts += element("li", escaped("correlations that the market does not state were taken as 0: " +
                                       config::pairs_text(m.missing_correlations, 20)));
    if (of.beside.scenarios != nullptr)
        for (const std::string& remark : of.beside.scenarios->remarks)
            facts += element("li", escaped(remark));
    if (!facts.empty()) out += element("ul", facts);
    return out;
}

std::string largest_errors_section(const page_content& of) {
    if (of.by_error.empty()) return {};
    table rows("Trades with the largest errors", {{"trade", table::of::text},
                                                  {"product", table::of::text},
                                                  {"currency", table::of::text},
                                                  {"value"},
                                                  {"std error"},
                                                  {"of the value"},
                                                  {"of the total's error"},
                                                  {"as a bar", table::of::pictures},
                                                  {"paths"}});
    const std::size_t shown = std::min(of.by_error.size(), most_errors);
    pictures::axis by{0, 1, false, {}};
    for (std::size_t k = 0; k < shown; ++k)
        by.high = std::max(by.high, of.share_of_error(of.r.rows[of.by_error[k]]));
    for (std::size_t k = 0; k < shown; ++k) {
        const price_row& row = of.r.rows[of.by_error[k]];
        const double value = row.value_in_totals(), error = row.error_in_totals();
        const double share = of.share_of_error(row);
        rows.add({name_cell(row.trade), escaped(row.product), escaped(row.currency), value_text(value, error),
                  error_text(error), value != 0 ? part_text(error / std::abs(value)) : "", part_text(share),
                  pictures::bar_with_error({share, no_figure, no_figure}, by), std::to_string(row.paths)},
                 row.thin ? "alarm" : "");
    }
    return paragraph(
               "Sorted by their share of the error of their currency's total. Errors add in squares, and "
               "trades on one asset have correlated errors, so shares do not add up to 100%." +
               std::string(std::ranges::all_of(of.totals, [](const auto& t) { return is_figure(t.error); })
                               ? ""
                               : " For a total without an error, the root of the sum of squares is used.")) +
           rows.text();
}

std::string trades_section(const page_content& of) {
    const results& r = of.r;
    if (r.rows.empty()) return paragraph("The book has no trades.");
    const bool with_quantity = std::ranges::any_of(
        r.rows, [](const price_row& row) { return is_figure(row.quantity) && row.quantity != 1; });
    const bool with_report =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.reported.has_value(); });
    std::vector<table::head> heads{{"trade", table::of::text},
                                   {"status", table::of::text},
                                   {"product", table::of::text},
                                   {"currency", table::of::text},
                                   {"price"},
                                   {"std error"},
                                   {"size of it", table::of::pictures}};
    if (with_quantity) heads.insert(heads.end(), {{"quantity"}, {"value"}, {"value error"}});
    if (with_report) heads.push_back({"report", table::of::text});
    heads.push_back({"paths"});
    table rows("All trades", heads);
    const pictures::axis by{1e-12, 1, true, {}};
    for (std::size_t i = 0; i < std::min(r.rows.size(), most_trades); ++i) {
        const price_row& row = r.rows[i];
        const auto status = report::status_of(row);
        const bool is_fine = status == report::told_status::priced && !row.thin && !is_wide(row);
        std::string word(report::word_of(report::status_words, status));
        if (row.thin) word += ", thin";
        if (row.is_steps_error_larger()) word += ", steps";
        if (is_wide(row)) word += ", wide";
        std::vector<std::string> cells{name_cell(row.trade), "<span class=\"mark\">" + word + "</span>",
                                       escaped(row.product), escaped(row.currency)};
        if (is_priced(row)) {
            const double part = row.price != 0 ? row.standard_error / std::abs(row.price) : no_figure;
            cells.insert(
                cells.end(),
                {value_text(row.price, row.standard_error), error_text(row.standard_error),
                 pictures::bar_with_error({part > 0 ? part : no_figure, no_figure, no_figure}, by, 72)});
            if (with_quantity)
                cells.insert(cells.end(), {exact(row.quantity), value_text(row.value(), row.value_error()),
                                           error_text(row.value_error())});
        } else {
            cells.insert(cells.end(), 3, "");
            if (with_quantity)
                cells.insert(cells.end(), {is_figure(row.quantity) ? exact(row.quantity) : "", "", ""});
        }
        if (with_report)
            cells.push_back(row.reported && is_figure(row.reported->value)
                                ? escaped(row.reported->what + " " +
                                          value_text(row.reported->value, row.reported->standard_error))
                                : "");
        cells.push_back(is_priced(row) ? std::to_string(row.paths) : "");
        rows.add(cells, is_fine ? "" : "alarm");
    }
    const std::string note = element(
        "p",
        "The bar shows the standard error relative to the price on a logarithmic scale: empty at 1e-12, full "
        "at 1." +
            std::string(std::ranges::any_of(r.rows, &price_row::is_steps_error_larger)
                            ? " Where the status says steps, the error of the model's time steps may exceed "
                              "the standard error."
                            : ""),
        "class=\"quiet\"");
    const std::string markup = note + rows.text() + left_out(r.rows.size(), most_trades, "trade");
    if (r.rows.size() <= open_trades) return markup;
    return folded(counted(r.rows.size(), "trade"), markup);
}

namespace {

// The mean of the first parts of a run, and its standard error.
struct so_far {
    double mean = 0, error = no_figure;
};

std::vector<so_far> fallen(const std::vector<double>& parts) {
    std::vector<so_far> out;
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto n = static_cast<double>(i + 1);
        const double apart = parts[i] - mean;
        mean += apart / n;
        squares += apart * (parts[i] - mean);
        out.push_back({mean, i == 0 ? no_figure : std::sqrt(squares / (n - 1) / n)});
    }
    return out;
}

// A chart of the running mean less the final mean, with the running standard error.
pictures::chart chart_of(const price_row& row, const std::vector<double>& parts) {
    const std::vector<so_far> steps = fallen(parts);
    pictures::chart out;
    out.title = report::shortened(printable(row.trade), 36);
    out.x_title = row.randomisations > 0 ? "randomisations" : "parts of the run";
    out.y_title = "running mean less final mean, " + row.currency;
    out.level = 0;
    out.width = 340;
    out.panel_height = 170;
    pictures::chart_line line{"", 2, {}};
    const std::size_t stride = std::max<std::size_t>(1, parts.size() / 16);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if ((i + 1) % stride != 0 && i + 1 != steps.size()) continue;
        const double y = steps[i].mean - steps.back().mean;
        line.marks.push_back(
            {static_cast<double>(i + 1), y, {{y - steps[i].error, y + steps[i].error}}, {}, true});
    }
    pictures::panel one{"", 0, 0, 0, {std::move(line)}};
    out.panels.push_back(std::move(one));
    return out;
}

}  // namespace

std::string convergence_section(const page_content& of) {
    constexpr std::size_t most_charts = 6, least = 4;
    std::string charts;
    std::size_t drawn = 0;
    bool any_points = false, any_paths = false;
    for (const std::size_t i : of.by_error) {
        const price_row& row = of.r.rows[i];
        const std::vector<double>& parts = row.early ? row.early->part_means : row.part_means;
        const double error = row.early ? row.early->policy_error : row.standard_error;
        // Leave out errors that parts do not show: of rounding, or for payoffs that no path has met.
        if (parts.size() < least || fallen(parts).back().error < 0.5 * error) continue;
        (row.randomisations > 0 ? any_points : any_paths) = true;
        const std::string caption = "standard error " + error_text(error) + " from " +
                                    counted(parts.size(), row.randomisations > 0 ? "randomisation" : "part");
        charts += element(
            "figure", pictures::inline_svg(chart_of(row, parts)) + element("figcaption", escaped(caption)));
        if (++drawn == most_charts) break;
    }
    if (drawn == 0) return {};
    std::string text =
        "The trades with the largest errors: the running mean less the final mean, with its standard error. ";
    if (any_paths) text += "Where paths are independent, four times as many parts halve the error. ";
    if (any_points)
        text +=
            "Each randomisation is a whole set of quasi-Monte Carlo points, and the error comes from the "
            "spread "
            "of their means. With more points in each set it falls faster than these pictures show; a run "
            "with other --paths shows that.";
    return paragraph(text) + element("div", charts, "class=\"pictures\"");
}

}  // namespace tilewalk::page
