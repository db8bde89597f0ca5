// SPDX-License-Identifier: Apache-2.0
// Results for people: aligned columns, then what failed and why, totals, and how the figures were made.
#include <algorithm>
#include <cmath>

#include "engine/report/columns.h"
#include "engine/report/formats.h"
#include "engine/report/manifest_text.h"
#include "engine/report/numbers.h"

namespace tilewalk::report {

namespace {

bool priced(const price_row& row) {
    return row.status == trade_status::priced;
}

std::string rows_text(const results& r) {
    const bool with_value =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.quantity != 1; });
    const bool with_shadow =
        std::ranges::any_of(r.rows, [](const price_row& row) { return row.shadow_difference.has_value(); });
    std::vector<columns::head> heads{{"trade"}, {"product"}, {"currency"}};
    heads.insert(heads.end(), {{"price", align::point},
                               {"std error", align::point},
                               {"95% interval", align::right},
                               {"paths", align::right}});
    if (with_value) heads.insert(heads.end(), {{"quantity", align::point}, {"value", align::point}});
    if (with_shadow) heads.push_back({"from double", align::right});
    heads.push_back({"status"});

    columns table(heads);
    for (const auto& row : r.rows) {
        std::vector<std::string> cells{printable(row.trade), printable(row.product), printable(row.currency)};
        if (priced(row)) {
            const double e = row.standard_error;
            cells.insert(cells.end(), {justified(row.price, e), justified(e, e),
                                       justified(row.low, e) + " .. " + justified(row.high, e),
                                       std::to_string(row.paths)});
            if (with_value)
                cells.insert(cells.end(),
                             {shortest(row.quantity), justified(row.value(), std::abs(row.quantity) * e)});
        } else {
            cells.insert(cells.end(), with_value ? 6 : 4, "");
        }
        if (with_shadow) cells.push_back(row.shadow_difference ? significant(*row.shadow_difference, 2) : "");
        cells.push_back(!priced(row) ? "failed" : row.thin ? "priced *" : "priced");
        table.add(std::move(cells));
    }
    return table.text();
}

// Lines about trades; of a long list the first few and how many more there are. csv and json have them all.
class listing {
  public:
    void add(const std::string& line) {
        if (++count_ <= most_lines) text_ += "  " + line + '\n';
    }
    bool empty() const { return count_ == 0; }
    std::string text() const {
        if (count_ <= most_lines) return text_;
        return text_ + "  and " + std::to_string(count_ - most_lines) +
               " more; csv and json output have them all\n";
    }

  private:
    static constexpr std::size_t most_lines = 20;
    std::size_t count_ = 0;
    std::string text_;
};

std::string notes_text(const results& r) {
    bool any_thin = false;
    listing thin, notes, failures;
    for (const auto& row : r.rows) {
        const std::string name = printable(row.trade) + ": ";
        if (!priced(row)) {
            const std::string place = to_string(row.where);
            failures.add(name + printable(place) + (place.empty() ? "" : ": ") + printable(row.message));
            continue;
        }
        any_thin |= row.thin;
        if (!row.message.empty()) (row.thin ? thin : notes).add(name + printable(row.message));
    }
    std::string out;
    if (any_thin)
        out += "\n* thin sample: fewer than " + shortest(thin_below) +
               " paths carry the variance, so the standard error itself is in doubt\n" + thin.text();
    if (!notes.empty()) out += "\nnotes:\n" + notes.text();
    if (!failures.empty()) out += "\n" + counted(r.failed(), "trade") + " failed:\n" + failures.text();
    return out;
}

struct total {
    std::string currency;
    std::uint64_t trades = 0;
    double value = 0, error = 0;
};

// Trades share random numbers, so their errors may go together and the root of the sum of squares would be
// too small. The plain sum of the errors is never too small, whatever the dependence.
std::string totals_text(const results& r) {
    std::vector<total> totals;
    std::uint64_t trades = 0;
    for (const auto& row : r.rows) {
        if (!priced(row)) continue;
        auto at = std::ranges::find(totals, row.currency, &total::currency);
        if (at == totals.end()) at = totals.insert(at, {row.currency});
        at->trades += 1;
        at->value += row.value();
        at->error += std::abs(row.quantity) * row.standard_error;
        trades += 1;
    }
    if (trades < 2) return {};
    columns table(
        {{"total"}, {"trades", align::right}, {"value", align::point}, {"std error at most", align::point}});
    for (const auto& t : totals)
        table.add({printable(t.currency), std::to_string(t.trades), justified(t.value, t.error),
                   justified(t.error, t.error)});
    std::string out =
        "\n" + table.text() +
        "trades share random numbers: a total's error is the plain sum of theirs, never too small\n";
    if (r.failed() > 0) out += "failed trades are left out\n";
    return out;
}

std::string footer_text(const run_manifest& m) {
    std::string out =
        "\n" + counted(m.paths, "path") + ", seed " + std::to_string(m.seed) + ", " + draws_text(m);
    if (!m.as_of.empty()) out += ", as of " + printable(m.as_of);
    out +=
        "\n" + duration(m.total_seconds) + " on " + counted(static_cast<std::uint64_t>(m.threads), "thread");
    if (!m.instruction_set.empty()) out += " (" + printable(m.instruction_set) + ")";
    out += ": planning " + duration(m.plan_seconds) + ", paths " + duration(m.path_seconds);
    if (m.path_seconds > 0 && m.path_steps > 0)
        out += "; " + rate(static_cast<double>(m.path_steps) / m.path_seconds) + " path-steps/s";
    out += '\n' + gpu_text(m);
    for (const auto& lost : m.lost_devices) out += "lost " + printable(lost) + '\n';
    return out;
}

}  // namespace

std::string table(const results& r) {
    const std::string rows = r.rows.empty() ? "no trades\n" : rows_text(r);
    return rows + notes_text(r) + totals_text(r) + footer_text(r.manifest);
}

}  // namespace tilewalk::report
