// SPDX-License-Identifier: Apache-2.0
// The catalogue of the fields of a trade and of a total.
#include "engine/report/row_fields.h"

#include <array>

#include "engine/config/wording.h"
#include "engine/report/formats.h"
#include "engine/report/numbers.h"
#include "engine/report/words.h"

namespace tilewalk::report {

namespace {

bool priced(const price_row& row) {
    return row.status == trade_status::priced;
}

// A figure, which is empty for a failed trade.
std::string csv_figure(const price_row& row, double x) {
    return priced(row) ? csv_number(x) : "";
}

std::string json_figure(const price_row& row, double x) {
    return priced(row) ? json_number(x) : "null";
}

const char* error_from(const price_row& row) {
    return row.randomisations > 0 ? "randomisations" : "paths";
}

std::string yes_or_no(bool is) {
    return is ? "true" : "false";
}

std::string position(int n) {
    return n > 0 ? std::to_string(n) : "";
}

std::string json_of(const reported_figure& r) {
    return "{\"what\": " + json_string(r.what) + ", \"value\": " + json_number(r.value) +
           ", \"standard_error\": " + json_number(r.standard_error) +
           ", \"message\": " + json_string(r.message) + "}";
}

// A figure of a trade that can be ended early; other trades have none.
template <double early_exercise::*figure>
std::string csv_early(const price_row& row, const text_form&) {
    return row.early ? csv_figure(row, (*row.early).*figure) : "";
}

std::string json_of(const early_exercise& e) {
    return "{\"policy_value\": " + json_number(e.policy_value) +
           ", \"policy_error\": " + json_number(e.policy_error) +
           ", \"lower_bound\": " + json_number(e.lower_bound) +
           ", \"lower_error\": " + json_number(e.lower_error) +
           ", \"upper_bound\": " + json_number(e.upper_bound) +
           ", \"upper_error\": " + json_number(e.upper_error) +
           ", \"extrapolated\": " + json_number(e.extrapolated) +
           ", \"step_error\": " + json_number(e.step_error) +
           ", \"training_paths\": " + std::to_string(e.training_paths) + "}";
}

constexpr std::array rows{
    row_field{"trade", "trade", "The `id` of the trade.",
              [](const price_row& row, const text_form& form) { return csv_field(row.trade, form); },
              [](const price_row& row) { return json_string(row.trade); }},
    row_field{"product", "product", "The name of the product.",
              [](const price_row& row, const text_form& form) { return csv_field(row.product, form); },
              [](const price_row& row) { return json_string(row.product); }},
    row_field{"currency", "currency", "The currency of all amounts of the row.",
              [](const price_row& row, const text_form& form) { return csv_field(row.currency, form); },
              [](const price_row& row) { return json_string(row.currency); }},
    row_field{"status", "status", "`priced`, `tolerance not met` or `failed`; a failed trade has no figures.",
              [](const price_row& row, const text_form&) {
                  return std::string(word_of(status_words, status_of(row)));
              },
              [](const price_row& row) { return json_string(word_of(status_words, status_of(row))); }},
    row_field{"quantity", "quantity", "The number of units in the book.",
              [](const price_row& row, const text_form&) { return csv_number(row.quantity); },
              [](const price_row& row) { return json_number(row.quantity); }},
    row_field{"price", "price", "One unit, discounted to `as_of`.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.price); },
              [](const price_row& row) { return json_figure(row, row.price); }},
    row_field{"standard_error", "standard_error",
              "The standard error of the price; 0 where nothing is random, none where the paths show none.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.standard_error); },
              [](const price_row& row) { return json_figure(row, row.standard_error); }},
    row_field{"low", "low", "The lower end of the 95 % interval of the price, if there is one.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.low); },
              [](const price_row& row) { return json_figure(row, row.low); }},
    row_field{"high", "high", "The upper end.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.high); },
              [](const price_row& row) { return json_figure(row, row.high); }},
    row_field{"value", "value", "`quantity` times `price`.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.value()); },
              [](const price_row& row) { return json_figure(row, row.value()); }},
    row_field{"value_error", "value_error", "The standard error of the value.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.value_error()); },
              [](const price_row& row) { return json_figure(row, row.value_error()); }},
    row_field{
        "paths", "paths", "The number of paths walked; 0 where none was needed.",
        [](const price_row& row, const text_form&) { return priced(row) ? std::to_string(row.paths) : ""; },
        [](const price_row& row) { return std::to_string(row.paths); }},
    row_field{
        "error_from", "error_from",
        "What the standard error is from: the spread of `paths`, or that of `randomisations` of quasi-random "
        "points, whose interval is by Student's t.",
        [](const price_row& row, const text_form&) {
            return priced(row) ? std::string(error_from(row)) : "";
        },
        [](const price_row& row) { return json_string(error_from(row)); }},
    row_field{"randomisations", "randomisations", "The number of these; 0 where there are none.",
              [](const price_row& row, const text_form&) {
                  return priced(row) ? std::to_string(row.randomisations) : "";
              },
              [](const price_row& row) { return std::to_string(row.randomisations); }},
    row_field{"construction", "construction",
              "The way in which these points make Brownian paths, such as `bridge`; empty without them.",
              [](const price_row& row, const text_form& form) { return csv_field(row.construction, form); },
              [](const price_row& row) { return json_string(row.construction); }},
    row_field{
        "", "decisions",
        "Decisions of pilots about the trade beside its points, such as its control, for `--decisions`.",
        nullptr, [](const price_row& row) { return row.decisions; }},
    row_field{"effective_hits", "effective_hits",
              "The number of paths that carry the variance: paths divided by the kurtosis of the payoff.",
              [](const price_row& row, const text_form&) { return csv_figure(row, row.effective_hits); },
              [](const price_row& row) { return json_number(row.effective_hits); }},
    row_field{"thin", "thin", "`true` where these are fewer than 100, so that the error is in doubt.",
              [](const price_row& row, const text_form&) { return priced(row) ? yes_or_no(row.thin) : ""; },
              [](const price_row& row) { return yes_or_no(row.thin); }},
    row_field{"shadow_difference", "shadow_difference",
              "The distance of a price that is not in double from double, on the first paths.",
              [](const price_row& row, const text_form&) {
                  return csv_number(row.shadow_difference.value_or(no_figure));
              },
              [](const price_row& row) { return json_number(row.shadow_difference.value_or(no_figure)); }},
    row_field{"remark", "remarks", "Remarks on odd terms or numbers of the market; in JSON a list.",
              [](const price_row& row, const text_form& form) {
                  return csv_field(config::joined(row.remarks, "; "), form);
              },
              [](const price_row& row) { return json_list(row.remarks); }},
    row_field{"report", "",
              "The answer that the trade asks for beside its price, such as `implied_volatility`.",
              [](const price_row& row, const text_form& form) {
                  return row.reported ? csv_field(row.reported->what, form) : "";
              },
              nullptr},
    row_field{"report_value", "", "The value of that answer, if there is one.",
              [](const price_row& row, const text_form&) {
                  return row.reported ? csv_number(row.reported->value) : "";
              },
              nullptr},
    row_field{"report_error", "", "Its standard error.",
              [](const price_row& row, const text_form&) {
                  return row.reported ? csv_number(row.reported->standard_error) : "";
              },
              nullptr},
    row_field{
        "", "reported",
        "`null`, or these three as `what`, `value` and `standard_error`, with a `message` where it is none.",
        nullptr, [](const price_row& row) { return row.reported ? json_of(*row.reported) : "null"; }},
    row_field{"policy_value", "",
              "What a trade that can be ended early is worth if rights are used as its policy says: the "
              "bound on one side. Totals and Greeks take it.",
              csv_early<&early_exercise::policy_value>, nullptr},
    row_field{"policy_error", "", "Its standard error.", csv_early<&early_exercise::policy_error>, nullptr},
    row_field{"lower_bound", "",
              "The lower bound of its price; none where holder and issuer both have rights.",
              csv_early<&early_exercise::lower_bound>, nullptr},
    row_field{"lower_error", "", "Its standard error.", csv_early<&early_exercise::lower_error>, nullptr},
    row_field{"upper_bound", "", "The upper bound.", csv_early<&early_exercise::upper_bound>, nullptr},
    row_field{"upper_error", "", "Its standard error.", csv_early<&early_exercise::upper_error>, nullptr},
    row_field{"extrapolated", "",
              "The price if a right that is there every so many years were there all the time.",
              csv_early<&early_exercise::extrapolated>, nullptr},
    row_field{"step_error", "", "How far that may be wrong.", csv_early<&early_exercise::step_error>,
              nullptr},
    row_field{"training_paths", "",
              "The number of paths that its policy was found on; 0 where nothing was left to find.",
              [](const price_row& row, const text_form&) {
                  return row.early && priced(row) ? std::to_string(row.early->training_paths) : "";
              },
              nullptr},
    row_field{"", "early", "These nine of a trade that can be ended early; other trades have none.", nullptr,
              [](const price_row& row) { return row.early ? json_of(*row.early) : ""; }},
    row_field{"message", "message", "Why the trade failed, or why its figures are to be read with care.",
              [](const price_row& row, const text_form& form) {
                  std::string all = row.message;
                  if (row.reported && !row.reported->message.empty())
                      all += (all.empty() ? "" : "; ") + row.reported->what + ": " + row.reported->message;
                  return csv_field(all, form);
              },
              [](const price_row& row) { return json_string(row.message); }},
    row_field{
        "", "kind", "The kind of failure; failed trades alone have it.", nullptr,
        [](const price_row& row) { return priced(row) ? "" : json_string(word_of(kind_words, row.kind)); }},
    row_field{"file", "", "Place of the trade, or of its failure.",
              [](const price_row& row, const text_form& form) { return csv_field(row.where.file, form); },
              nullptr},
    row_field{"line", "", "The line there, from 1.",
              [](const price_row& row, const text_form&) { return position(row.where.line); }, nullptr},
    row_field{"column", "", "The column there, from 1.",
              [](const price_row& row, const text_form&) { return position(row.where.column); }, nullptr},
    row_field{"", "where", "These three as `file`, `line` and `column`.", nullptr,
              [](const price_row& row) {
                  return "{\"file\": " + json_string(row.where.file) +
                         ", \"line\": " + std::to_string(row.where.line) +
                         ", \"column\": " + std::to_string(row.where.column) + "}";
              }},
};

constexpr std::array totals{
    total_field{"currency", "The currency of the total.",
                [](const currency_total& t, const text_form& form) { return csv_field(t.currency, form); },
                [](const currency_total& t) { return json_string(t.currency); }},
    total_field{"trades", "The number of priced trades in it; failed ones are left out.",
                [](const currency_total& t, const text_form&) { return std::to_string(t.trades); },
                [](const currency_total& t) { return std::to_string(t.trades); }},
    total_field{"without_error", "The number of these that have no standard error.",
                [](const currency_total& t, const text_form&) { return std::to_string(t.without_error); },
                [](const currency_total& t) { return std::to_string(t.without_error); }},
    total_field{"by_policy",
                "The number of these that can be ended early: they count with `policy_value`, what their "
                "policies are worth, and not with the middle of their bounds.",
                [](const currency_total& t, const text_form&) { return std::to_string(t.by_policy); },
                [](const currency_total& t) { return std::to_string(t.by_policy); }},
    total_field{"value", "The sum of their values.",
                [](const currency_total& t, const text_form&) { return csv_number(t.value); },
                [](const currency_total& t) { return json_number(t.value); }},
    total_field{"value_error",
                "The standard error of the total, from how much it differs between parts of the run, and so "
                "with all that trades have in common. None below 16 parts, or where a trade has none.",
                [](const currency_total& t, const text_form&) { return csv_number(t.error); },
                [](const currency_total& t) { return json_number(t.error); }},
    total_field{"low", "The lower end of the 95 % interval of the total, by Student's t.",
                [](const currency_total& t, const text_form&) { return csv_number(t.low); },
                [](const currency_total& t) { return json_number(t.low); }},
    total_field{"high", "The upper end.",
                [](const currency_total& t, const text_form&) { return csv_number(t.high); },
                [](const currency_total& t) { return json_number(t.high); }},
    total_field{"value_error_at_most",
                "The plain sum of their errors: the standard error of the total is at most that, whatever "
                "they have in common. None where a trade has none.",
                [](const currency_total& t, const text_form&) { return csv_number(t.error_at_most); },
                [](const currency_total& t) { return json_number(t.error_at_most); }},
};

constexpr std::array greeks{
    greek_field{"trade", "The `id` of the trade; empty: the total of all trades in this unit.",
                [](const greek_row& r, const text_form& form) { return csv_field(r.trade, form); },
                [](const greek_row& r) { return json_string(r.trade); }},
    greek_field{"measure", "The kind of sensitivity, such as `delta`.",
                [](const greek_row& r, const text_form& form) { return csv_field(r.measure, form); },
                [](const greek_row& r) { return json_string(r.measure); }},
    greek_field{"key",
                "The market key of the number that moves, or two with `;` between them; empty: all of the "
                "measure move together.",
                [](const greek_row& r, const text_form& form) { return csv_field(r.key, form); },
                [](const greek_row& r) { return json_string(r.key); }},
    greek_field{"unit", "The unit of the value, in words.",
                [](const greek_row& r, const text_form& form) { return csv_field(r.unit, form); },
                [](const greek_row& r) { return json_string(r.unit); }},
    greek_field{"value", "The sensitivity of the trade's value, its quantity counted; none where it failed.",
                [](const greek_row& r, const text_form&) { return csv_number(r.value); },
                [](const greek_row& r) { return json_number(r.value); }},
    greek_field{"standard_error",
                "Its standard error, from how much it differs between parts of the run; 0 where nothing is "
                "random, none below 16 parts.",
                [](const greek_row& r, const text_form&) { return csv_number(r.standard_error); },
                [](const greek_row& r) { return json_number(r.standard_error); }},
    greek_field{
        "method",
        "`pathwise`, `smoothed`, `likelihood_ratio`, `bump`, `bumped_pathwise`, or, of a sum, `mixed`.",
        [](const greek_row& r, const text_form& form) { return csv_field(r.method, form); },
        [](const greek_row& r) { return json_string(r.method); }},
    greek_field{"paths", "The number of paths walked; 0 where none was needed.",
                [](const greek_row& r, const text_form&) { return std::to_string(r.paths); },
                [](const greek_row& r) { return std::to_string(r.paths); }},
    greek_field{"bias",
                "The size of the error that a finite move or a smoothing makes, from half the move and twice "
                "the width.",
                [](const greek_row& r, const text_form&) { return csv_number(r.bias); },
                [](const greek_row& r) { return json_number(r.bias); }},
    greek_field{"message", "Why there is no value.", nullptr,
                [](const greek_row& r) { return json_string(r.message); }},
    greek_field{"kind", "The kind of that failure.", nullptr,
                [](const greek_row& r) {
                    return r.has_failed() ? json_string(word_of(kind_words, r.kind)) : std::string();
                }},
};

}  // namespace

std::span<const greek_field> greek_fields() {
    return greeks;
}

std::span<const row_field> row_fields() {
    return rows;
}

std::span<const total_field> total_fields() {
    return totals;
}

}  // namespace tilewalk::report
