// SPDX-License-Identifier: Apache-2.0
// Results for people: aligned columns, failures with their reasons, totals, and how the figures were made.
#include <algorithm>
#include <cmath>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/words.h"
#include "engine/decide/controls/written.h"
#include "engine/tell/failures.h"
#include "engine/tell/formats.h"
#include "engine/tell/manifest_text.h"
#include "tilewalk/printable.h"

namespace tilewalk::report {

namespace {

std::string error_text(double error) {
    return is_figure(error) ? justified(error, error) : "";
}

std::string interval_text(double low, double high, double error) {
    if (!is_figure(low) || !is_figure(high)) return {};
    const auto end = [&](double x) { return is_figure(error) ? justified(x, error) : significant(x, 3); };
    return end(low) + " .. " + end(high);
}

std::string reported_text(const price_row& row) {
    if (!row.reported) return {};
    const reported_figure& r = *row.reported;
    if (!is_figure(r.value)) return printable(r.what) + ": none";
    return printable(r.what) + ": " + justified(r.value, r.standard_error) +
           (is_figure(r.standard_error) ? " +- " + error_text(r.standard_error) : "");
}

std::string policy_text(const price_row& row) {
    if (!row.early || !priced(row)) return {};
    return justified(row.early->policy_value, row.early->policy_error);
}

std::string bounds_text(const price_row& row) {
    if (!row.early || !priced(row) || !is_figure(row.early->lower_bound)) return {};
    const early_exercise& e = *row.early;
    const double error = std::max(e.lower_error, e.upper_error);
    return justified(e.lower_bound, error) + " .. " + justified(e.upper_bound, error);
}

bool is_wide(const price_row& row) {
    return priced(row) && row.early && row.early->wide;
}

// The status of a trade with its marks, such as *, which notes below the table explain.
std::string status_text(const price_row& row) {
    if (!priced(row)) return "failed";
    std::string marks;
    if (row.thin) marks += '*';
    if (row.is_steps_error_larger()) marks += '~';
    if (is_wide(row)) marks += '^';
    return (row.misses_tolerance ? "not met" : "priced") + (marks.empty() ? "" : " " + marks);
}

// How columns shrink (to a width) or disappear, in this order, if the table is too wide for the terminal.
const std::vector<columns::measure> narrowing{
    {"trade", 40},    {"product", 16}, {"paths"},       {"product"},  {"trade", 24},   {"bounds"},
    {"95% interval"}, {"quantity"},    {"from double"}, {"policy"},   {"trade", 16},   {"value error"},
    {"value"},        {"report"},      {"std error"},   {"trade", 5}, {"currency", 4},
};

std::string rows_text(const results& r, const text_form& form) {
    const bool with_value = std::ranges::any_of(
        r.rows, [](const price_row& row) { return is_figure(row.quantity) && row.quantity != 1; });
    const bool with_shadow =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.shadow_difference.has_value(); });
    const bool with_reported =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.reported.has_value(); });
    const bool with_early =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.early.has_value(); });
    // The status is the second column, so that even a narrow terminal shows it.
    std::vector<columns::head> heads{{"trade"}, {"status"}, {"product"}, {"currency"}};
    heads.insert(heads.end(), {{"price", align::point},
                               {"std error", align::point},
                               {"95% interval", align::right},
                               {"paths", align::right}});
    if (with_value)
        heads.insert(heads.end(),
                     {{"quantity", align::point}, {"value", align::point}, {"value error", align::point}});
    if (with_early) heads.insert(heads.end(), {{"policy", align::point}, {"bounds", align::right}});
    if (with_shadow) heads.push_back({"from double", align::right});
    if (with_reported) heads.push_back({"report"});

    columns table(heads);
    for (const auto& row : r.rows) {
        std::vector<std::string> cells{printable(row.trade), status_text(row), printable(row.product),
                                       printable(row.currency)};
        if (priced(row)) {
            cells.insert(cells.end(),
                         {justified(row.price, row.standard_error), error_text(row.standard_error),
                          interval_text(row.low, row.high, row.standard_error), std::to_string(row.paths)});
            if (with_value)
                cells.insert(cells.end(), {shortest(row.quantity), justified(row.value(), row.value_error()),
                                           error_text(row.value_error())});
        } else {
            cells.insert(cells.end(), 4, "");
            if (with_value)
                cells.insert(cells.end(), {is_figure(row.quantity) ? shortest(row.quantity) : "", "", ""});
        }
        if (with_early) cells.insert(cells.end(), {policy_text(row), bounds_text(row)});
        if (with_shadow) cells.push_back(row.shadow_difference ? significant(*row.shadow_difference, 2) : "");
        if (with_reported) cells.push_back(reported_text(row));
        table.add(std::move(cells));
    }
    return fitted(table, form.columns, narrowing);
}

// Lines about trades: the first ones of a long list, and how many more there are. CSV and JSON have all.
class listing {
  public:
    explicit listing(const text_form& form) : form_(form) {}
    void add(const std::string& line) {
        if (++count_ <= most_lines) text_ += hanging("  " + line, form_.columns, 4);
    }
    bool empty() const { return count_ == 0; }
    std::string text() const {
        if (count_ <= most_lines) return text_;
        return text_ + "  and " + std::to_string(count_ - most_lines) +
               " more; csv and json output have them all\n";
    }

  private:
    static constexpr std::size_t most_lines = 20;
    text_form form_;
    std::size_t count_ = 0;
    std::string text_;
};

std::string notes_text(const results& r, const text_form& form) {
    bool any_thin = false, any_steps = false, any_wide = false;
    std::size_t with_control = 0;  // only counted: most trades may have one
    listing thin(form), wide(form), notes(form), remarks(form), failures(form);
    for (const auto& row : r.rows) {
        const std::string name = printable(row.trade) + ": ";
        for (const auto& remark : row.remarks) {
            if (remark.starts_with(controls::begin_of_remark))
                ++with_control;
            else
                remarks.add(name + printable(remark));
        }
        if (!priced(row)) continue;
        any_thin |= row.thin;
        any_steps |= row.is_steps_error_larger();
        any_wide |= is_wide(row);
        if (!row.message.empty())
            (row.thin ? thin : is_wide(row) ? wide : notes).add(name + printable(row.message));
        if (row.reported && !row.reported->message.empty())
            notes.add(name + printable(row.reported->what) + ": " + printable(row.reported->message));
    }
    for (const alike_failures& of : failures_of(r)) {
        const std::string place = to_string(of.first().where);
        failures.add(printable(of.trades()) + ": " + printable(place) + (place.empty() ? "" : ": ") +
                     printable(of.reason()));
    }
    std::string out;
    if (any_thin)
        out += "\n" +
               hanging("* thin sample: fewer than " + shortest(thin_below) +
                           " paths carry the variance, so the standard error itself is in doubt",
                       form.columns, 2) +
               thin.text();
    if (any_steps)
        out += "\n" +
               hanging(
                   "~ the error of the model's time steps may exceed the standard error; explain, csv and "
                   "json show it (error_steps)",
                   form.columns, 2);
    if (any_wide)
        out += "\n" +
               hanging("^ wide bounds: more than " + shortest(100 * wide_above) +
                           " % apart, so the price is the value of the policy",
                       form.columns, 2) +
               wide.text();
    if (!remarks.empty()) out += "\nremarks:\n" + remarks.text();
    if (!notes.empty()) out += "\nnotes:\n" + notes.text();
    if (with_control > 0)
        out += "\n" + hanging("control variate applied to " + counted(with_control, "trade") +
                                  "; `tilewalk explain` shows the remaining variance",
                              form.columns, 2);
    if (!failures.empty()) out += "\n" + counted(r.failed(), "trade") + " failed:\n" + failures.text();
    return out;
}

std::string footer_text(const results& r, const text_form& form) {
    const run_manifest& m = r.manifest;
    const bool has_rounds =
        std::ranges::any_of(r.rows, [&](const price_row& row) { return row.paths > m.paths; });
    std::string first = (has_rounds ? "from " : "") + counted(m.paths, "path") + (has_rounds ? " on" : "") +
                        ", seed " + std::to_string(m.seed) + ", " + draws_text(m);
    if (!m.as_of.empty()) first += ", as of " + printable(m.as_of);
    std::string second =
        duration(m.total_seconds) + " on " + counted(static_cast<std::uint64_t>(m.threads), "thread");
    if (!m.instruction_set.empty()) second += " (" + printable(m.instruction_set) + ")";
    second += ": planning " + duration(m.plan_seconds) + ", paths " + duration(m.path_seconds);
    if (m.path_seconds > 0 && m.path_steps > 0)
        second += "; " + rate(static_cast<double>(m.path_steps) / m.path_seconds) + " path-steps/s";
    std::string out = "\n" + hanging(first, form.columns, 2) + hanging(second, form.columns, 2);
    if (const std::string gpus = gpu_text(m); !gpus.empty())
        out += hanging(gpus.substr(0, gpus.size() - 1), form.columns, 2);
    for (const auto& lost : m.lost_devices) out += hanging("lost " + printable(lost), form.columns, 2);
    for (const left_work& left : m.left_to_processor)
        out += hanging("left to the processor: " + printable(left.text()), form.columns, 2);
    return out;
}

}  // namespace

std::string totals_table(const results& r, const text_form& form) {
    const std::vector<currency_total> totals = r.totals();
    const bool any_error = std::ranges::any_of(totals, [](const auto& t) { return is_figure(t.error); });
    std::vector<columns::head> heads{
        {"total"}, {"trades", align::right}, {"value", align::point}, {"std error", align::right}};
    if (any_error) heads.push_back({"95% interval", align::right});
    columns table(heads);
    std::string notes;
    bool any_bound = false, any_by_policy = false;
    for (const auto& t : totals) {
        const bool is_bound = !is_figure(t.error) && is_figure(t.error_at_most);
        const double error = is_bound ? t.error_at_most : t.error;
        any_bound |= is_bound;
        any_by_policy |= t.by_policy > 0;
        std::vector<std::string> cells{printable(t.currency), std::to_string(t.trades),
                                       is_figure(t.value) ? justified(t.value, error) : "",
                                       (is_bound ? "at most " : "") + error_text(error)};
        if (any_error) cells.push_back(interval_text(t.low, t.high, error));
        table.add(std::move(cells));
        if (!is_figure(t.value)) {
            notes += hanging("the values in " + printable(t.currency) + " are too large to be added",
                             form.columns, 2);
        } else if (t.without_error > 0) {
            notes += hanging(counted(t.without_error, "trade") + " in " + printable(t.currency) +
                                 (t.without_error == 1 ? " has" : " have") +
                                 " no standard error, so this total has none",
                             form.columns, 2);
        }
    }
    std::string out = fitted(table, form.columns, {{"95% interval"}, {"trades"}});
    if (any_bound)
        out += hanging("at most: the plain sum of the errors, an upper bound; a run of " +
                           std::to_string(least_parts) + " parts or more estimates their correlation",
                       form.columns, 2);
    if (any_error)
        out +=
            hanging("errors of totals take into account that trades share random numbers", form.columns, 2);
    if (any_by_policy)
        out += hanging(
            "trades with early exercise count at the value of their policy, not at the middle of their "
            "bounds",
            form.columns, 2);
    out += notes;
    if (r.failed() > 0) out += "failed trades are left out\n";
    return out;
}

std::string table(const results& r, const text_form& form) {
    const std::string rows = r.rows.empty() ? "no trades\n" : rows_text(r, form);
    const bool has_totals = r.rows.size() - r.failed() >= 2;
    return rows + notes_text(r, form) + (has_totals ? "\n" + totals_table(r, form) : "") +
           footer_text(r, form);
}

}  // namespace tilewalk::report
