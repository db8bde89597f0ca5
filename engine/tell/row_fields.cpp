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
    row_field{"quantity", "quantity", "The number of units in the book; none where it could not be read.",
              column_kind::number, [](const price_row& row) -> cell { return figure(row.quantity); },
              [](const price_row& row) { return json_number(row.quantity); }},
    row_field{"price", "price", "One unit, discounted to `as_of`.", column_kind::number,
              [](const price_row& row) { return figure(row, row.price); },
              [](const price_row& row) { return json_figure(row, row.price); }},
    row_field{"standard_error", "standard_error",
              "The standard error of the price; 0 where nothing is random, none where the paths show none.",
              column_kind::number, [](const price_row& row) { return figure(row, row.standard_error); },
              [](const price_row& row) { return json_figure(row, row.standard_error); }},
    row_field{"low", "low", "The lower end of the 95 % interval of the price, if there is one.",
              column_kind::number, [](const price_row& row) { return figure(row, row.low); },
              [](const price_row& row) { return json_figure(row, row.low); }},
    row_field{"high", "high", "The upper end.", column_kind::number,
              [](const price_row& row) { return figure(row, row.high); },
              [](const price_row& row) { return json_figure(row, row.high); }},
    row_field{"error_steps", "error_steps",
              "What the time steps of models leave in the price, at most, where [it is known](models.md): 0 "
              "where paths are exact between dates. The standard error has nothing of it.",
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
    row_field{
        "", "walk",
        "The fingerprint of the random numbers of these paths, in hexadecimal digits: figures of a trade "
        "with one fingerprint are of the same paths. Only where paths were walked.",
        column_kind::text, nullptr, [](const price_row& row) { return json_of_walk(row.walk); }},
    row_field{
        "error_from", "error_from",
        "What the standard error is from: the spread of `paths`, or that of `randomisations` of quasi-random "
        "points, whose interval is by Student's t and leans as their means do.",
        column_kind::text,
        [](const price_row& row) { return priced(row) ? cell(std::string_view(error_from(row))) : cell(); },
        [](const price_row& row) { return json_string(error_from(row)); }},
    row_field{"randomisations", "randomisations", "The number of these; 0 where there are none.",
              column_kind::count,
              [](const price_row& row) -> cell { return priced(row) ? count(row.randomisations) : cell(); },
              [](const price_row& row) { return std::to_string(row.randomisations); }},
    row_field{"construction", "construction",
              "The way in which these points make Brownian paths, such as `bridge`; empty without them.",
              column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.construction); },
              [](const price_row& row) { return json_string(row.construction); }},
    row_field{
        "", "decisions",
        "Decisions of pilots about the trade beside its points, such as its control, for `--decisions`.",
        column_kind::text, nullptr, [](const price_row& row) { return row.decisions; }},
    row_field{"effective_hits", "effective_hits",
              "The number of paths that carry the variance: paths divided by the kurtosis of the payoff.",
              column_kind::number, [](const price_row& row) { return figure(row, row.effective_hits); },
              [](const price_row& row) { return json_number(row.effective_hits); }},
    row_field{"thin", "thin", "`true` where these are fewer than 100, so that the error is in doubt.",
              column_kind::truth, [](const price_row& row) { return priced(row) ? cell(row.thin) : cell(); },
              [](const price_row& row) { return std::string(yes_or_no(row.thin)); }},
    row_field{"shadow_difference", "shadow_difference",
              "The distance of a price that is not in double from double, on the first paths.",
              column_kind::number,
              [](const price_row& row) -> cell { return figure(row.shadow_difference.value_or(no_figure)); },
              [](const price_row& row) { return json_number(row.shadow_difference.value_or(no_figure)); }},
    row_field{"remark", "remarks", "Remarks on odd terms or numbers of the market; in JSON a list.",
              column_kind::text,
              [](const price_row& row) -> cell { return config::joined(row.remarks, "; "); },
              [](const price_row& row) { return json_list(row.remarks); }},
    row_field{"report", "",
              "The answer that the trade asks for beside its price, such as `implied_volatility`.",
              column_kind::text,
              [](const price_row& row) {
                  return row.reported ? cell(std::string_view(row.reported->what)) : cell();
              },
              nullptr},
    row_field{"report_value", "", "The value of that answer, if there is one.", column_kind::number,
              [](const price_row& row) { return row.reported ? figure(row.reported->value) : cell(); },
              nullptr},
    row_field{
        "report_error", "", "Its standard error.", column_kind::number,
        [](const price_row& row) { return row.reported ? figure(row.reported->standard_error) : cell(); },
        nullptr},
    row_field{
        "", "reported",
        "`null`, or these three as `what`, `value` and `standard_error`, with a `message` where it is none.",
        column_kind::text, nullptr,
        [](const price_row& row) { return row.reported ? json_of(*row.reported) : "null"; }},
    row_field{"policy_value", "",
              "What a trade that can be ended early is worth if rights are used as its policy says: the "
              "bound on one side. Totals and Greeks take it.",
              column_kind::number, early_figure<&early_exercise::policy_value>, nullptr},
    row_field{"policy_error", "", "Its standard error.", column_kind::number,
              early_figure<&early_exercise::policy_error>, nullptr},
    row_field{"lower_bound", "",
              "The lower bound of its price; none where holder and issuer both have rights.",
              column_kind::number, early_figure<&early_exercise::lower_bound>, nullptr},
    row_field{"lower_error", "", "Its standard error.", column_kind::number,
              early_figure<&early_exercise::lower_error>, nullptr},
    row_field{"upper_bound", "", "The upper bound.", column_kind::number,
              early_figure<&early_exercise::upper_bound>, nullptr},
    row_field{"upper_error", "", "Its standard error.", column_kind::number,
              early_figure<&early_exercise::upper_error>, nullptr},
    row_field{"wide", "",
              "`true` where the bounds are more than 2 % apart, so that the price is `policy_value`.",
              column_kind::truth,
              [](const price_row& row) { return row.early && priced(row) ? cell(row.early->wide) : cell(); },
              nullptr},
    row_field{"extrapolated", "",
              "The price if a right that is there every so many years were there all the time.",
              column_kind::number, early_figure<&early_exercise::extrapolated>, nullptr},
    row_field{"step_error", "", "How far that may be wrong.", column_kind::number,
              early_figure<&early_exercise::step_error>, nullptr},
    row_field{"training_paths", "",
              "The number of paths that its policy was found on; 0 where nothing was left to find.",
              column_kind::count,
              [](const price_row& row) {
                  return row.early && priced(row) ? count(row.early->training_paths) : cell();
              },
              nullptr},
    row_field{"", "early", "These ten of a trade that can be ended early; other trades have none.",
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
        "", "kind", "The kind of failure; failed trades alone have it.", column_kind::text, nullptr,
        [](const price_row& row) { return priced(row) ? "" : json_string(word_of(kind_words, row.kind)); }},
    row_field{"file", "", "Place of the trade, or of its failure.", column_kind::text,
              [](const price_row& row) -> cell { return std::string_view(row.where.file); }, nullptr},
    row_field{"line", "", "The line there, from 1.", column_kind::count,
              [](const price_row& row) { return position(row.where.line); }, nullptr},
    row_field{"column", "", "The column there, from 1.", column_kind::count,
              [](const price_row& row) { return position(row.where.column); }, nullptr},
    row_field{"", "where", "These three as `file`, `line` and `column`.", column_kind::text, nullptr,
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
    total_field{"trades", "The number of priced trades in it; failed ones are left out.", column_kind::count,
                [](const currency_total& t) -> cell { return count(t.trades); },
                [](const currency_total& t) { return std::to_string(t.trades); }},
    total_field{"without_error", "The number of these that have no standard error.", column_kind::count,
                [](const currency_total& t) -> cell { return count(t.without_error); },
                [](const currency_total& t) { return std::to_string(t.without_error); }},
    total_field{"by_policy",
                "The number of these that can be ended early: they count with `policy_value`, what their "
                "policies are worth, and not with the middle of their bounds.",
                column_kind::count, [](const currency_total& t) -> cell { return count(t.by_policy); },
                [](const currency_total& t) { return std::to_string(t.by_policy); }},
    total_field{"value", "The sum of their values.", column_kind::number,
                [](const currency_total& t) -> cell { return figure(t.value); },
                [](const currency_total& t) { return json_number(t.value); }},
    total_field{"value_error",
                "The standard error of the total, from how much it differs between parts of the run, and so "
                "with all that trades have in common. None below 16 parts, or where a trade has none.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.error); },
                [](const currency_total& t) { return json_number(t.error); }},
    total_field{"low", "The lower end of the 95 % interval of the total, by Student's t.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.low); },
                [](const currency_total& t) { return json_number(t.low); }},
    total_field{"high", "The upper end.", column_kind::number,
                [](const currency_total& t) -> cell { return figure(t.high); },
                [](const currency_total& t) { return json_number(t.high); }},
    total_field{"value_error_at_most",
                "The plain sum of their errors: the standard error of the total is at most that, whatever "
                "they have in common. None where a trade has none.",
                column_kind::number, [](const currency_total& t) -> cell { return figure(t.error_at_most); },
                [](const currency_total& t) { return json_number(t.error_at_most); }},
    total_field{
        "error_steps",
        "The plain sum of what time steps leave in the values. None where it is not known of a trade.",
        column_kind::number, [](const currency_total& t) -> cell { return figure(t.error_steps); },
        [](const currency_total& t) { return json_number(t.error_steps); }},
};

constexpr std::array greeks{
    greek_field{"trade", "The `id` of the trade; empty: the total of all trades in this unit.",
                column_kind::text, [](const greek_row& r) -> cell { return std::string_view(r.trade); },
                [](const greek_row& r) { return json_string(r.trade); }},
    greek_field{"measure", "The kind of sensitivity, such as `delta`.", column_kind::text,
                [](const greek_row& r) -> cell { return std::string_view(r.measure); },
                [](const greek_row& r) { return json_string(r.measure); }},
    greek_field{"key",
                "The market key of the number that moves, or two with `;` between them; empty: all of the "
                "measure move together.",
                column_kind::text, [](const greek_row& r) -> cell { return std::string_view(r.key); },
                [](const greek_row& r) { return json_string(r.key); }},
    greek_field{"unit", "The unit of the value, in words.", column_kind::text,
                [](const greek_row& r) -> cell { return std::string_view(r.unit); },
                [](const greek_row& r) { return json_string(r.unit); }},
    greek_field{"value", "The sensitivity of the trade's value, its quantity counted; none where it failed.",
                column_kind::number, [](const greek_row& r) -> cell { return figure(r.value); },
                [](const greek_row& r) { return json_number(r.value); }},
    greek_field{"standard_error",
                "Its standard error, from how much it differs between parts of the run; 0 where nothing is "
                "random, none below 16 parts.",
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
                "The fingerprint of their random numbers, as that of the price; none where parts of the run "
                "follow policies of their own.",
                column_kind::text, [](const greek_row& r) -> cell { return text_of_walk(r.walk); },
                [](const greek_row& r) { return json_of_walk(r.walk); }, false},
    greek_field{
        "bias",
        "The size of the error that a finite move, a smoothing or a policy makes, from half the move, "
        "twice the width and half the degree.",
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
