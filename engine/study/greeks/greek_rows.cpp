// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::studies {

double bias_of_smoothing(double value, double wide) {
    return std::abs(wide - value);
}

void set_value(greek_row& row, studies::estimate of, const run_manifest& manifest) {
    row.value = of.mean_of_parts();
    if (!of.means.empty()) row.paths = manifest.paths;
    if (!std::isfinite(row.value)) {
        row.value = no_figure;
        row = failed(std::move(row), "a path has a derivative that is not a finite number",
                     error_kind::numeric);
        return;
    }
    row.standard_error = of.error();
    row.part_means = std::move(of.means);
}

greek_row failed(greek_row row, const std::string& why, error_kind kind) {
    row.message = why;
    row.kind = kind;
    return row;
}

std::string no_other_market(const std::string& key) {
    return "moving " + key + " alone gives no valid market";
}

std::vector<std::size_t> priced_in(const results& of) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < of.rows.size(); ++i)
        if (of.rows[i].status != trade_status::failed) out.push_back(i);
    return out;
}

greek_row greek_rows::named(std::size_t trade, std::size_t number, const char* method) const {
    const asked_number& asked = run.asked.numbers[number];
    greek_row row;
    row.trade = of.rows[trade].trade;
    row.measure = asked.risk.measure;
    row.key = asked.number->key;
    row.unit = of.rows[trade].currency + " per " + asked.risk.per_words;
    row.method = method;
    return row;
}

double greek_rows::scale(std::size_t trade, std::size_t number) const {
    return of.rows[trade].quantity * run.asked.numbers[number].risk.per;
}

void greek_rows::fill(greek_row& row, std::size_t trade, std::size_t number,
                      studies::estimate of_unit) const {
    of_unit *= scale(trade, number);
    set_value(row, std::move(of_unit), of.manifest);
    const price_row& priced = of.rows[trade];
    const auto known = decided.find(priced.trade);
    const bool is_integrated = known != decided.end() && known->second.integrates.value_or(false);
    const bool may_be_rounding = is_integrated || run.controls.here(priced.trade) != nullptr;
    if (!may_be_rounding || !(row.standard_error >= 0)) return;
    constexpr double of_a_number = 0x1p-51;  // rounding of a difference of two doubles
    const double size = std::abs(priced.price) + std::abs(run.controls.mean_here(priced.trade));
    const double rounding =
        of_a_number * size / run.asked.numbers[number].risk.small * std::abs(scale(trade, number));
    row.standard_error = std::max({row.standard_error, rounding, least_share_of_error * std::abs(row.value)});
}

greek_row greek_rows::pathwise(std::size_t trade, const way_of_trade& way, std::size_t k,
                               const std::vector<std::vector<double>>& derivatives) const {
    const price_row& priced = of.rows[trade];
    greek_row row = named(trade, way.numbers[k], "pathwise");
    if (!way.certain.empty()) {
        row.value = scale(trade, way.numbers[k]) * way.certain[k];
        row.standard_error = 0;
        return row;
    }
    fill(row, trade, way.numbers[k], {derivatives[k], studies::run_parts(of.manifest)});
    row.walk = priced.walk;
    // A kink of the payoff is a jump of its derivative, whose mean moves by whole paths: the error is at
    // least the value over the number of paths that carry it. With a control, its pilot counted these paths.
    // A control that leaves only rounding leaves no kink.
    const auto control = run.controls.here(priced.trade);
    const double hits = control == nullptr ? priced.effective_hits
                                           : control->share_of_hits * static_cast<double>(of.manifest.paths);
    const bool has_kinks_left = way.has_kinks && !(control != nullptr && control->leaves_rounding());
    if (priced.randomisations > 0 && row.standard_error >= 0 && has_kinks_left && hits > 0)
        row.standard_error = std::hypot(row.standard_error, row.value / hits);
    return row;
}

greek_row greek_rows::treated(std::size_t trade, const way_of_trade& way, std::size_t k, treatment by,
                              const found_by_treatment& found) const {
    const std::size_t number = way.numbers[k];
    greek_row row = named(trade, number, by.is_smoothing() ? "smoothed" : "likelihood_ratio");
    const bool has_bias = run.states_bias() && by.is_smoothing();
    const auto as_chosen = found.find(by), wider = found.find({2 * by.width});
    if (as_chosen == found.end() || (has_bias && wider == found.end()))
        return failed(row,
                      std::string("its paths could not be simulated again, ") +
                          (by.is_smoothing() ? "with its jumps smoothed" : "for likelihood ratios") +
                          "; try the method bump",
                      error_kind::numeric);
    const std::vector<double>& means = as_chosen->second.means[k];
    const studies::run_parts parts(of.manifest);
    fill(row, trade, number, {means, parts});
    row.walk = as_chosen->second.walk;
    if (row.has_failed()) return row;
    // All parts are equal: no path has come near the jump, so no error is known.
    if (std::ranges::all_of(means, [&](double m) { return m == means.front(); }))
        row.standard_error = no_figure;
    if (!has_bias) return row;
    greek_row wide = row;
    fill(wide, trade, number, {wider->second.means[k], parts});
    row.bias = bias_of_smoothing(row.value, wide.value);
    return row;
}

}  // namespace tilewalk::studies
