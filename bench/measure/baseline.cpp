// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/baseline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>

#include "bench/measure/conditions.h"
#include "bench/measure/table.h"
#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"
#include "tilewalk/printable.h"
#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk::bench {

namespace {

// The noise to which the device's copy rate is timed, once a run. `share_of_copy` of all rows refers to it.
constexpr double copy_noise = 0.01;

using rows_by_key = std::map<std::string, const row*>;

rows_by_key by_key(const run& what) {
    rows_by_key out;
    for (const row& r : what.rows) out.emplace(key_of(r), &r);
    return out;
}

std::optional<double> positive(const row& of, const char* figure) {
    const auto at = of.figures.find(figure);
    if (at == of.figures.end() || !at->is_number()) return std::nullopt;
    const double x = at->get<double>();
    if (!std::isfinite(x) || x < 0 || (x == 0 && std::string_view(figure) != "noise")) return std::nullopt;
    return x;
}

// A row's comparable figure and the square of its noise; `why_not` if there is none.
struct held {
    std::string figure;
    double value = 0, squared_noise = 0;
    std::string why_not;
};

held held_of(const row& of, const rows_by_key& run_of) {
    held out;
    const auto own = positive(of, "noise");
    if (!own) {
        out.why_not = "it says no noise";
        return out;
    }
    if (const auto ratio = positive(of, "ratio")) {
        const auto reference = run_of.find(key_of({of.suite, of.over, {}, nullptr, {}, {}}));
        const auto its = reference == run_of.end() ? std::nullopt : positive(*reference->second, "noise");
        if (!its) {
            out.why_not = "the row that its ratio is over is missing";
            return out;
        }
        out.figure = "ratio";
        out.value = *ratio;
        out.squared_noise = *own * *own + *its * *its;
    } else if (const auto share = positive(of, "share_of_copy")) {
        out.figure = "share_of_copy";
        out.value = *share;
        out.squared_noise = *own * *own + copy_noise * copy_noise;
    } else {
        out.why_not = "it has neither a ratio nor a share of the copy rate";
    }
    return out;
}

compared_row named(const row& of, finding found, const std::string& why = {}) {
    compared_row out;
    out.found = found;
    out.suite = of.suite;
    out.axes = of.axes;
    out.why = why;
    return out;
}

compared_row compared(const row& now, const rows_by_key& now_rows, const row& before,
                      const rows_by_key& before_rows) {
    const held is = held_of(now, now_rows), was = held_of(before, before_rows);
    if (is.figure.empty()) return named(now, finding::not_comparable, is.why_not);
    if (was.figure.empty()) return named(now, finding::not_comparable, "in the baseline " + was.why_not);
    if (is.figure != was.figure || now.over != before.over) {
        return named(now, finding::not_comparable, "the baseline holds it against something else");
    }
    compared_row out = named(now, finding::same);
    out.figure = is.figure;
    out.is = is.value;
    out.was = was.value;
    out.noise = chance_factor * std::sqrt(is.squared_noise + was.squared_noise);
    const double enough = std::max(smallest_change, out.noise);
    if (out.change() < -enough) out.found = finding::regression;
    if (out.change() > enough) out.found = finding::improvement;
    return out;
}

std::string word(const json& about, const char* key) {
    const auto at = about.find(key);
    return at == about.end() ? std::string() : cell_of(*at);
}

void refuse_another_device(const run& now, const run& before) {
    const std::string is = word(now.about, "device"), was = word(before.about, "device");
    if (!is.empty() && is == was) return;
    const auto shown = [](const std::string& device) {
        return device.empty() ? "a device without a name" : config::shown(device);
    };
    throw error(error_kind::usage, "the baseline was measured on " + shown(was) + ", this run on " +
                                       shown(is) +
                                       "; they can't be compared: keep a baseline for each device");
}

std::string percent(double part) {
    const std::string text = report::fixed(100 * part, 1) + " %";
    return part > 0 ? '+' + text : text;
}

std::string value_text(const compared_row& r, double value) {
    return r.figure == "ratio" ? report::fixed(value, 2) + " x" : report::fixed(100 * value, 1) + " %";
}

constexpr std::size_t most_lines_listed = 40;

std::string listed(const std::vector<const compared_row*>& rows) {
    using report::align;
    report::columns lines({{"row"},
                           {"compared"},
                           {"was", align::right},
                           {"is", align::right},
                           {"change", align::right},
                           {"noise", align::right}});
    for (std::size_t i = 0; i < std::min(rows.size(), most_lines_listed); ++i) {
        const compared_row& r = *rows[i];
        lines.add({printable(r.suite) + ": " + described(r.axes),
                   r.figure == "ratio" ? "ratio" : "share of copy", value_text(r, r.was), value_text(r, r.is),
                   percent(r.change()), report::fixed(100 * r.noise, 1) + " %"});
    }
    std::string out = lines.text();
    if (rows.size() > most_lines_listed)
        out += "and " + std::to_string(rows.size() - most_lines_listed) + " more\n";
    return out;
}

std::string listed_with_reasons(const std::vector<const compared_row*>& rows) {
    std::string out;
    for (std::size_t i = 0; i < std::min(rows.size(), most_lines_listed); ++i) {
        const compared_row& r = *rows[i];
        out += "  " + printable(r.suite) + ": " + described(r.axes) +
               (r.why.empty() ? "" : ": " + printable(r.why)) + '\n';
    }
    if (rows.size() > most_lines_listed)
        out += "  and " + std::to_string(rows.size() - most_lines_listed) + " more\n";
    return out;
}

std::string said(const json& about) {
    std::string out;
    for (const char* key : {"date", "commit", "version"}) {
        if (const std::string text = word(about, key); !text.empty()) {
            out += (out.empty() ? "" : ", ") + std::string(key) + ' ' + text;
        }
    }
    return out.empty() ? "nothing said" : out;
}

}  // namespace

std::size_t comparison::count(finding of) const {
    return static_cast<std::size_t>(std::ranges::count(rows, of, &compared_row::found));
}

bool comparison::is_bad() const {
    return count(finding::wrong) + count(finding::gone) + count(finding::regression) > 0;
}

comparison compare(const run& now, const run& before) {
    refuse_another_device(now, before);
    comparison out;
    out.now = now.about;
    out.before = before.about;
    for (const char* key : {"driver", "runtime", "version"}) {
        const std::string is = word(now.about, key), was = word(before.about, key);
        if (is != was) {
            out.notes.push_back(std::string(key) + " is " + (is.empty() ? "not known" : is) + ", was " +
                                (was.empty() ? "not known" : was));
        }
    }
    const rows_by_key now_rows = by_key(now), before_rows = by_key(before);
    for (const row& r : now.rows) {
        if (r.suite == conditions_suite) continue;
        const auto at = before_rows.find(key_of(r));
        const bool was_result = at != before_rows.end() && at->second->is_result();
        if (!r.wrong.empty()) {
            out.rows.push_back(named(r, finding::wrong, r.wrong));
        } else if (!r.skipped.empty()) {
            if (was_result) out.rows.push_back(named(r, finding::skipped, r.skipped));
        } else if (!was_result) {
            out.rows.push_back(named(r, finding::added));
        } else {
            out.rows.push_back(compared(r, now_rows, *at->second, before_rows));
        }
    }
    for (const row& r : before.rows) {
        if (r.suite == conditions_suite || !r.is_result()) continue;
        if (!now_rows.contains(key_of(r))) out.rows.push_back(named(r, finding::gone));
    }
    return out;
}

void write(std::ostream& out, const comparison& c) {
    const auto of = [&](finding which) {
        std::vector<const compared_row*> found;
        for (const compared_row& r : c.rows) {
            if (r.found == which) found.push_back(&r);
        }
        return found;
    };
    const auto wrong = of(finding::wrong), gone = of(finding::gone), skipped = of(finding::skipped);
    const auto not_comparable = of(finding::not_comparable);
    auto slower = of(finding::regression), faster = of(finding::improvement);
    std::ranges::stable_sort(slower, {}, [](const compared_row* r) { return r->change(); });
    std::ranges::stable_sort(faster, std::ranges::greater{},
                             [](const compared_row* r) { return r->change(); });

    std::string text = std::string(c.is_bad() ? "WORSE" : "no worse") + " than the baseline, on " +
                       word(c.now, "device") + ": " + report::counted(wrong.size(), "row") + " wrong, " +
                       std::to_string(gone.size()) + " gone, " + std::to_string(slower.size()) + " slower; " +
                       std::to_string(faster.size()) + " faster, " + std::to_string(c.count(finding::same)) +
                       " the same, " + std::to_string(c.count(finding::added)) + " new, " +
                       std::to_string(skipped.size()) + " skipped, " + std::to_string(not_comparable.size()) +
                       " not comparable\n";
    text += "baseline: " + said(c.before) + "\nnow:      " + said(c.now) + '\n';
    for (const std::string& note : c.notes) text += "note: " + note + '\n';
    if (!wrong.empty()) text += "\nwrong now:\n" + listed_with_reasons(wrong);
    if (!gone.empty())
        text += "\nin the baseline, and neither measured nor skipped now:\n" + listed_with_reasons(gone);
    if (!slower.empty()) text += "\nslower:\n" + listed(slower);
    if (!faster.empty()) text += "\nfaster:\n" + listed(faster);
    if (!skipped.empty()) text += "\nmeasured before, skipped now:\n" + listed_with_reasons(skipped);
    if (!not_comparable.empty()) text += "\nnot comparable:\n" + listed_with_reasons(not_comparable);
    if (!slower.empty() || !faster.empty()) {
        text += "\na change counts beyond " + report::fixed(100 * smallest_change, 0) +
                " % and beyond the noise shown, which is " + report::significant(chance_factor, 2) +
                " times that of all the timings behind it\n";
    }
    out << text;
}

}  // namespace tilewalk::bench
