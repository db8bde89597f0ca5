// SPDX-License-Identifier: Apache-2.0
// The fields of trades, totals and sensitivities in files.
#include "engine/tell/row_fields.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/base/words.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"

namespace tilewalk::report {

namespace {

cell figure(double x) {
    return is_figure(x) ? cell(x) : cell();
}

cell figure(const price_row& row, double x) {
    return priced(row) ? figure(x) : cell();
}

cell count(std::uint64_t n) {
    return static_cast<std::int64_t>(n);
}

std::string json_figure(const price_row& row, double x) {
    return priced(row) ? json_number(x) : "null";
}

const char* error_from(const price_row& row) {
    return row.randomisations > 0 ? "randomisations" : "paths";
}

cell position(int n) {
    return n > 0 ? count(static_cast<std::uint64_t>(n)) : cell();
}

std::string json_of(const reported_figure& r) {
    return "{\"what\": " + json_string(r.what) + ", \"value\": " + json_number(r.value) +
           ", \"standard_error\": " + json_number(r.standard_error) +
           ", \"message\": " + json_string(r.message) + "}";
}

template <double early_exercise::*of>
cell early_figure(const price_row& row) {
    return row.early ? report::figure(row, (*row.early).*of) : cell();
}

std::string json_of(const early_exercise& e) {
    return "{\"policy_value\": " + json_number(e.policy_value) +
           ", \"policy_error\": " + json_number(e.policy_error) +
           ", \"lower_bound\": " + json_number(e.lower_bound) +
           ", \"lower_error\": " + json_number(e.lower_error) +
           ", \"upper_bound\": " + json_number(e.upper_bound) +
           ", \"upper_error\": " + json_number(e.upper_error) +
           ", \"wide\": " + std::string(yes_or_no(e.wide)) +
           ", \"extrapolated\": " + json_number(e.extrapolated) +
           ", \"step_error\": " + json_number(e.step_error) +
           ", \"training_paths\": " + std::to_string(e.training_paths) + "}";
}

// The fingerprint of a walk as hexadecimal digits; empty for 0, which means unknown.
std::string text_of_walk(std::uint64_t walk) {
    return walk == 0 ? "" : fmt::format("{:016x}", walk);
}
std::string json_of_walk(std::uint64_t walk) {
    return walk == 0 ? "" : json_string(text_of_walk(walk));
}

constexpr std::array rows{
    row_field{"trade", "trade", "The `id` of the trade.", column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.trade); },
              [](const price_row& row) { return json_string(row.trade); }},
    row_field{"product", "product", "The name of the product.", column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.product); },
              [](const price_row& row) { return json_string(row.product); }},
    row_field{"currency", "currency", "The currency of all amounts of the row.", column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.currency); },
              [](const price_row& row) { return json_string(row.currency); }},
    row_field{"status", "status", "`priced`, `tolerance not met` or `failed`; a failed trade has no figures.",
              column_kind::text,
              [](const price_row& row) -> cell { return word_of(status_words, status_of(row)); },
              [](const price_row& row) { return json_string(word_of(status_words, status_of(row))); }},
    row_field{"quantity", "quantity", "The number of units in the book; none if it could not be read.",
              column_kind::number, [](const price_row& row) -> cell { return figure(row.quantity); },
              [](const price_row& row) { return json_number(row.quantity); }},
    row_field{"price", "price", "One unit, discounted to `as_of`.", column_kind::number,
              [](const price_row& row) { return figure(row, row.price); },
              [](const price_row& row) { return json_figure(row, row.price); }},
    row_field{"standard_error", "standard_error",
              "The standard error of the price; 0 if nothing is random, none if the paths show none.",
              column_kind::number, [](const price_row& row) { return figure(row, row.standard_error); },
              [](const price_row& row) { return json_figure(row, row.standard_error); }},
    row_field{"low", "low", "The lower end of the 95 % interval of the price, if there is one.",
              column_kind::number, [](const price_row& row) { return figure(row, row.low); },
              [](const price_row& row) { return json_figure(row, row.low); }},
    row_field{"high", "high", "The upper end of that interval.", column_kind::number,
              [](const price_row& row) { return figure(row, row.high); },
              [](const price_row& row) { return json_figure(row, row.high); }},
    row_field{"error_steps", "error_steps",
              "A bound of the time-step error of the price, where [it is known](models.md#time-step-errors): "
              "0 if time steps are exact. The standard error does not include it.",
              column_kind::number, [](const price_row& row) { return figure(row, row.error_steps); },
              [](const price_row& row) { return json_figure(row, row.error_steps); }},
    row_field{"value", "value", "`quantity` times `price`.", column_kind::number,
              [](const price_row& row) { return figure(row, row.value()); },
              [](const price_row& row) { return json_figure(row, row.value()); }},
    row_field{"value_error", "value_error", "The standard error of the value.", column_kind::number,
              [](const price_row& row) { return figure(row, row.value_error()); },
              [](const price_row& row) { return json_figure(row, row.value_error()); }},
    row_field{"paths", "paths", "The number of paths walked; 0 where none was needed.", column_kind::count,
              [](const price_row& row) -> cell { return priced(row) ? count(row.paths) : cell(); },
              [](const price_row& row) { return std::to_string(row.paths); }},
    row_field{"", "walk",
              "A hash of the random numbers of these paths, in hexadecimal digits: figures of a trade with "
              "the same hash are from the same paths. Only if paths were walked.",
              column_kind::text, nullptr, [](const price_row& row) { return json_of_walk(row.walk); }},
    row_field{
        "error_from", "error_from",
        "What the standard error follows from: the spread of independent `paths`, or that of "
        "`randomisations` of quasi-random points. The interval of the latter is Student's, with skewness.",
        column_kind::text,
        [](const price_row& row) { return priced(row) ? cell(std::string_view(error_from(row))) : cell(); },
        [](const price_row& row) { return json_string(error_from(row)); }},
    row_field{"randomisations", "randomisations", "The number of randomisations; 0 for independent paths.",
              column_kind::count,
              [](const price_row& row) -> cell { return priced(row) ? count(row.randomisations) : cell(); },
              [](const price_row& row) { return std::to_string(row.randomisations); }},
    row_field{"construction", "construction",
              "How quasi-random points make Brownian paths, such as `bridge`; empty for independent paths.",
              column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.construction); },
              [](const price_row& row) { return json_string(row.construction); }},
    row_field{"", "decisions",
              "What pilot runs decided about the trade besides its points, such as its control variate; for "
              "`--decisions`.",
              column_kind::text, nullptr, [](const price_row& row) { return row.decisions; }},
    row_field{"effective_hits", "effective_hits",
              "The number of paths that carry the variance: paths divided by the kurtosis of the payoff.",
              column_kind::number, [](const price_row& row) { return figure(row, row.effective_hits); },
              [](const price_row& row) { return json_number(row.effective_hits); }},
    row_field{"thin", "thin",
              "`true` if `effective_hits` is below 100, so that the standard error itself is in doubt.",
              column_kind::truth, [](const price_row& row) { return priced(row) ? cell(row.thin) : cell(); },
              [](const price_row& row) { return std::string(yes_or_no(row.thin)); }},
    row_field{"shadow_difference", "shadow_difference",
              "The difference of the price from the price in double, on the first paths; only for other "
              "precisions.",
              column_kind::number,
              [](const price_row& row) -> cell { return figure(row.shadow_difference.value_or(no_figure)); },
              [](const price_row& row) { return json_number(row.shadow_difference.value_or(no_figure)); }},
    row_field{"remark", "remarks", "Remarks on odd terms or numbers of the market; in JSON a list.",
              column_kind::text,
              [](const price_row& row) -> cell { return config::joined(row.remarks, "; "); },
              [](const price_row& row) { return json_list(row.remarks); }},
    row_field{"report", "",
              "The further answer that the trade asks for with `report`, such as `implied_volatility`.",
              column_kind::text,
              [](const price_row& row) {
                  return row.reported ? cell(std::string_view(row.reported->what)) : cell();
              },
              nullptr},
    row_field{"report_value", "", "The value of that answer, if there is one.", column_kind::number,
              [](const price_row& row) { return row.reported ? figure(row.reported->value) : cell(); },
              nullptr},
    row_field{
        "report_error", "", "The standard error of that answer.", column_kind::number,
        [](const price_row& row) { return row.reported ? figure(row.reported->standard_error) : cell(); },
        nullptr},
    row_field{"", "reported",
              "That answer as an object with `what`, `value`, `standard_error` and, if there is no value, "
              "`message`; `null` if the trade asks for none.",
              column_kind::text, nullptr,
              [](const price_row& row) { return row.reported ? json_of(*row.reported) : "null"; }},
    row_field{"policy_value", "",
              "The value of a trade with early exercise under its exercise policy: the bound on one side. "
              "Totals and Greeks use it.",
              column_kind::number, early_figure<&early_exercise::policy_value>, nullptr},
    row_field{"policy_error", "", "The standard error of `policy_value`.", column_kind::number,
              early_figure<&early_exercise::policy_error>, nullptr},
    row_field{"lower_bound", "", "The lower bound of the price; none if holder and issuer both have rights.",
              column_kind::number, early_figure<&early_exercise::lower_bound>, nullptr},
    row_field{"lower_error", "", "The standard error of the lower bound.", column_kind::number,
              early_figure<&early_exercise::lower_error>, nullptr},
    row_field{"upper_bound", "", "The upper bound of the price.", column_kind::number,
              early_figure<&early_exercise::upper_bound>, nullptr},
    row_field{"upper_error", "", "The standard error of the upper bound.", column_kind::number,
              early_figure<&early_exercise::upper_error>, nullptr},
    row_field{"wide", "",
              "`true` if the bounds are further apart than 2 % of `policy_value` and than four "
              "`policy_error`. The price is then `policy_value`.",
              column_kind::truth,
              [](const price_row& row) { return row.early && priced(row) ? cell(row.early->wide) : cell(); },
              nullptr},
    row_field{"extrapolated", "",
              "For rights on dates `every` so many years: the price extrapolated to exercise at any time.",
              column_kind::number, early_figure<&early_exercise::extrapolated>, nullptr},
    row_field{"step_error", "", "How far `extrapolated` may be wrong.", column_kind::number,
              early_figure<&early_exercise::step_error>, nullptr},
    row_field{"training_paths", "",
              "The number of paths that the exercise policy was trained on; 0 if there was nothing to train.",
              column_kind::count,
              [](const price_row& row) {
                  return row.early && priced(row) ? count(row.early->training_paths) : cell();
              },
              nullptr},
    row_field{"", "early",
              "The ten fields from `policy_value` on, as an object; only for trades with early exercise.",
              column_kind::text, nullptr,
              [](const price_row& row) { return row.early ? json_of(*row.early) : ""; }},
    row_field{"message", "message", "Why the trade failed, or why its figures are to be read with care.",
              column_kind::text,
              [](const price_row& row) -> cell {
                  if (!row.reported || row.reported->message.empty()) return std::string_view(row.message);
                  return row.message + (row.message.empty() ? "" : "; ") + row.reported->what + ": " +
                         row.reported->message;
              },
              [](const price_row& row) { return json_string(row.message); }},
    row_field{
        "", "kind", "The kind of failure; only for failed trades.", column_kind::text, nullptr,
        [](const price_row& row) { return priced(row) ? "" : json_string(word_of(kind_words, row.kind)); }},
    row_field{"file", "", "The file in which the trade or its failure is.", column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.where.file); }, nullptr},
    row_field{"line", "", "The line in that file, from 1.", column_kind::count,
              [](const price_row& row) { return position(row.where.line); }, nullptr},
    row_field{"column", "", "The column in that line, from 1.", column_kind::count,
              [](const price_row& row) { return position(row.where.column); }, nullptr},
    row_field{"", "where", "`file`, `line` and `column` as an object.", column_kind::text, nullptr,
              [](const price_row& row) {
                  return "{\"file\": " + json_string(row.where.file) +
                         ", \"line\": " + std::to_string(row.where.line) +
                         ", \"column\": " + std::to_string(row.where.column) + "}";
              }},
};

constexpr std::array totals{
    total_field{"currency", "The currency of the total.", column_kind::text,
                [](const currency_total& t) -> cell { return std::string_view(t.currency); },
                [](const currency_total& t) { return json_string(t.currency); }},
    total_field{"trades", "The number of priced trades in the total; failed trades are left out.",
                column_kind::count, [](const currency_total& t) -> cell { return count(t.trades); },
                [](const currency_total& t) { return std::to_string(t.trades); }},
    total_field{"without_error", "The number of these trades that have no standard error.",
                column_kind::count, [](const currency_total& t) -> cell { return count(t.without_error); },
                [](const currency_total& t) { return std::to_string(t.without_error); }},
    total_field{"by_policy",
                "The number of these trades with early exercise: they count with `policy_value`, not with "
                "the middle of their bounds.",
                column_kind::count, [](const currency_total& t) -> cell { return count(t.by_policy); },
                [](const currency_total& t) { return std::to_string(t.by_policy); }},
    total_field{"value", "The sum of the values of these trades.", column_kind::number,
                [](const currency_total& t) -> cell { return figure(t.value); },
                [](const currency_total& t) { return json_number(t.value); }},
    total_field{"value_error",
                "The standard error of the total, from how much the total differs between parts of the run, "
                "so that it includes what the errors of the trades have in common. None below 16 parts, or "
                "if a trade has none.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.error); },
                [](const currency_total& t) { return json_number(t.error); }},
    total_field{"low", "The lower end of the 95 % interval of the total, by Student's t.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.low); },
                [](const currency_total& t) { return json_number(t.low); }},
    total_field{"high", "The upper end of that interval.", column_kind::number,
                [](const currency_total& t) -> cell { return figure(t.high); },
                [](const currency_total& t) { return json_number(t.high); }},
    total_field{"value_error_at_most",
                "The sum of the standard errors of the trades, which the standard error of the total can't "
                "exceed. None if a trade has none.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.error_at_most); },
                [](const currency_total& t) { return json_number(t.error_at_most); }},
    total_field{
        "error_steps",
        "The sum of the bounds of the time-step errors of the values. None if it is not known for a trade.",
        column_kind::number, [](const currency_total& t) -> cell { return figure(t.error_steps); },
        [](const currency_total& t) { return json_number(t.error_steps); }},
};

constexpr std::array greeks{
    greek_field{"trade", "The `id` of the trade; empty for the total of all trades in this unit.",
                column_kind::text, [](const greek_row& r) -> cell { return std::string_view(r.trade); },
                [](const greek_row& r) { return json_string(r.trade); }},
    greek_field{"measure", "The kind of sensitivity, such as `delta`.", column_kind::text,
                [](const greek_row& r) -> cell { return std::string_view(r.measure); },
                [](const greek_row& r) { return json_string(r.measure); }},
    greek_field{"key",
                "The market key of the number that moves, or two with `;` between them; empty if all numbers "
                "of the measure move together.",
                column_kind::text, [](const greek_row& r) -> cell { return std::string_view(r.key); },
                [](const greek_row& r) { return json_string(r.key); }},
    greek_field{"unit", "The unit of the value, in words.", column_kind::text,
                [](const greek_row& r) -> cell { return std::string_view(r.unit); },
                [](const greek_row& r) { return json_string(r.unit); }},
    greek_field{"value", "The sensitivity of the trade's value, its quantity included; none if it failed.",
                column_kind::number, [](const greek_row& r) -> cell { return figure(r.value); },
                [](const greek_row& r) { return json_number(r.value); }},
    greek_field{"standard_error",
                "The standard error of the sensitivity, from how much it differs between parts of the run; 0 "
                "if nothing is random, none below 16 parts.",
                column_kind::number, [](const greek_row& r) -> cell { return figure(r.standard_error); },
                [](const greek_row& r) { return json_number(r.standard_error); }},
    greek_field{
        "method",
        "`pathwise`, `smoothed`, `likelihood_ratio`, `bump`, `bumped_pathwise`, or, of a sum, `mixed`.",
        column_kind::text, [](const greek_row& r) -> cell { return std::string_view(r.method); },
        [](const greek_row& r) { return json_string(r.method); }},
    greek_field{"paths", "The number of paths walked; 0 where none was needed.", column_kind::count,
                [](const greek_row& r) -> cell { return count(r.paths); },
                [](const greek_row& r) { return std::to_string(r.paths); }},
    greek_field{"walk",
                "A hash of the random numbers of these paths, as for the price; none if parts of the run "
                "follow policies of their own.",
                column_kind::text, [](const greek_row& r) -> cell { return text_of_walk(r.walk); },
                [](const greek_row& r) { return json_of_walk(r.walk); }, false},
    greek_field{"bias",
                "The size of the error that a finite move, a smoothing or an exercise policy makes. It is "
                "estimated with half the move, twice the width or half the degree.",
                column_kind::number, [](const greek_row& r) -> cell { return figure(r.bias); },
                [](const greek_row& r) { return json_number(r.bias); }},
    greek_field{"message", "Why there is no value.", column_kind::text,
                [](const greek_row& r) -> cell { return std::string_view(r.message); },
                [](const greek_row& r) { return json_string(r.message); }, false},
    greek_field{
        "kind", "The kind of that failure.", column_kind::text,
        [](const greek_row& r) { return r.has_failed() ? cell(word_of(kind_words, r.kind)) : cell(); },
        [](const greek_row& r) {
            return r.has_failed() ? json_string(word_of(kind_words, r.kind)) : std::string();
        },
        false},
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
