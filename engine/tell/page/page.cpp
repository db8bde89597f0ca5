// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "engine/base/shown_numbers.h"
#include "engine/tell/manifest_text.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/page/sections.h"
#include "engine/tell/pictures/bars.h"
#include "engine/tell/pictures/chart.h"

namespace tilewalk {

namespace page {

std::span<const section> sections() {
    static constexpr std::array<section, 11> all{{
        {"totals", "Totals", totals_section},
        {"look", "To look at", to_look_at_section},
        {"tails", "Value at risk", tails_section},
        {"scenarios", "Scenarios", scenarios_section},
        {"greeks", "Sensitivities", sensitivities_section},
        {"errors", "Largest errors", largest_errors_section},
        {"convergence", "How errors fell", convergence_section},
        {"trades", "All trades", trades_section},
        {"time", "Where the time went", time_section},
        {"origin", "What it was made from", origin_section},
        {"command", "The same again", command_section},
    }};
    return all;
}

page_content::page_content(const results& of, const beside_results& with)
    : r(of), beside(with), totals(of.totals()) {
    for (const currency_total& total : totals) {
        double squares = 0;
        for (const price_row& row : r.rows)
            if (row.status == trade_status::priced && row.currency == total.currency &&
                is_figure(row.error_in_totals()))
                squares += row.error_in_totals() * row.error_in_totals();
        errors_.push_back(is_figure(total.error) ? total.error : std::sqrt(squares));
    }
    std::vector<double> shares(r.rows.size());
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
        if (r.rows[i].status != trade_status::priced) continue;
        const price_row& row = r.rows[i];
        shares[i] = share_of_error(row);
        // A control may leave nothing but rounding errors. They need no attention, even if they are the whole
        // error of a total.
        const bool is_rounding = row.error_in_totals() <= 1e-9 * std::abs(row.value_in_totals());
        if (shares[i] > 0 && !is_rounding) by_error.push_back(i);
    }
    std::ranges::stable_sort(by_error, std::ranges::greater{}, [&](std::size_t i) { return shares[i]; });
}

double page_content::share_of_error(const price_row& row) const {
    const auto total = std::ranges::find(totals, row.currency, &currency_total::currency);
    const double whole = errors_[static_cast<std::size_t>(total - totals.begin())];
    return is_figure(row.error_in_totals()) && whole > 0 ? row.error_in_totals() / whole : no_figure;
}

std::string name_cell(std::string_view name) {
    std::string out;
    while (!name.empty()) {
        const auto end = std::min(name.find(';'), name.size() - 1) + 1;
        out += (out.empty() ? "" : "<wbr/>") + escaped(name.substr(0, end));
        name.remove_prefix(end);
    }
    return "<span class=\"id\">" + out + "</span>";
}

namespace {

std::string title_of(const page_content& of) {
    const run_manifest& m = of.r.manifest;
    std::string title = of.beside.scenarios != nullptr ? "Scenarios"
                        : !of.r.greeks.empty()         ? "Sensitivities"
                                                       : "Prices";
    if (!m.inputs.empty()) title += " of " + std::filesystem::path(m.inputs.front().file).filename().string();
    return title + (m.as_of.empty() ? "" : ", " + m.as_of);
}

std::string summary_of(const results& r) {
    const run_manifest& m = r.manifest;
    const auto thin = static_cast<std::size_t>(std::ranges::count(r.rows, true, &price_row::thin));
    const auto wide = std::ranges::count_if(r.rows, [](const price_row& row) {
        return row.status == trade_status::priced && row.early && row.early->wide;
    });
    std::string out = report::counted(r.rows.size() - r.failed(), "trade") + " priced";
    if (r.failed() > 0) out += ", " + std::to_string(r.failed()) + " failed";
    if (thin > 0) out += ", " + std::to_string(thin) + " with a thin sample";
    if (wide > 0) out += ", " + std::to_string(wide) + " with wide bounds";
    return out + ". " + report::counted(m.paths, "path") + ", seed " + std::to_string(m.seed) + ", " +
           report::draws_text(m) + (m.as_of.empty() ? "" : ", as of " + m.as_of) + ".";
}

}  // namespace

}  // namespace page

std::string page_of(const results& r, const beside_results& beside) {
    using namespace page;
    const page_content of(r, beside);
    std::string links, body;
    for (const section& one : sections()) {
        const std::string markup = one.markup(of);
        if (markup.empty()) continue;
        const std::string id(one.id);
        links += "<li><a href=\"#" + id + "\">" + escaped(one.title) + "</a></li>\n";
        body += element("section", element("h2", escaped(one.title), "id=\"" + id + "-title\"") + markup,
                        "id=\"" + id + "\" aria-labelledby=\"" + id + "-title\"");
    }
    const std::string title = escaped(title_of(of));
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta name=\"generator\" content=\"tilewalk " +
           escaped(r.manifest.version) + "\"/>\n" + element("title", title) +
           element("style", pictures::chart_style() + style() + pictures::bar_style() +
                                ".chart .paper{fill:none}\n.chart .hollow{fill:var(--paper)}\n") +
           "</head>\n<body>\n" +
           element("header", element("h1", title) + paragraph(summary_of(r)) +
                                 element("nav", element("ul", links), "aria-label=\"Sections\"")) +
           element("main", body) +
           element("footer",
                   element("p",
                           escaped("tilewalk " + r.manifest.version +
                                   (r.manifest.started.empty() ? ""
                                                               : ", started " + r.manifest.started + " UTC")),
                           "class=\"quiet\"")) +
           "</body>\n</html>\n";
}

}  // namespace tilewalk
