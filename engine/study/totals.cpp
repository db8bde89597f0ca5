// SPDX-License-Identifier: Apache-2.0
// Totals and decisions, which follow from results. Errors of totals allow for what trades share.
#include "tilewalk/results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/decide/decision_file.h"
#include "engine/study/estimate.h"
#include "engine/study/greek_sums.h"
#include "engine/study/rounds/sum_of_rounds.h"
#include "engine/walk/units.h"
#include "tilewalk/measures.h"

namespace tilewalk {

std::size_t results::failed() const {
    return static_cast<std::size_t>(std::ranges::count(rows, trade_status::failed, &price_row::status));
}

namespace {

class values_by_part {
  public:
    explicit values_by_part(const run_manifest& m) : run_(m), sum_(run_) {}

    void add(const price_row& row) {
        if (row.error_in_totals() == 0) return;
        add_widest(row);
        const std::vector<double>& means = row.early ? row.early->part_means : row.part_means;
        ++with_error_;
        if (parts_ == 0) parts_ = means.size();
        are_known_ = are_known_ && !means.empty() && means.size() == parts_;
        if (are_known_)
            sum_.add(studies::estimate(row, run_), row.quantity, row.paths, row.randomisations > 0);
    }
    std::size_t rows() const { return with_error_; }
    std::size_t parts() const { return are_known_ ? parts_ : 0; }
    // Sums of the lower and upper half-widths of the trades' intervals.
    const run::ends_of_interval& widest() const { return widest_; }
    // Returns the skew of the total's interval.
    double lean() const {
        return sum_.is_of_one_round() && sum_.has_points() ? run::lean_of(sum_.all().means) : 0;
    }
    double error() const { return sum_.error(); }

  private:
    void add_widest(const price_row& row) {
        const double width = run::width_95(row.degrees_of_freedom()) * row.error_in_totals();
        run::ends_of_interval ends{width, width};
        // Intervals from randomised points may be skewed.
        if (row.randomisations > 0 && !row.early && row.has_interval()) {
            const double size = std::abs(row.quantity);
            ends = {size * (row.price - row.low), size * (row.high - row.price)};
            if (row.quantity < 0) std::swap(ends.below, ends.above);
        }
        widest_.below += ends.below;
        widest_.above += ends.above;
    }

    const studies::run_parts run_;
    std::size_t with_error_ = 0, parts_ = 0;
    bool are_known_ = true;
    studies::sum_of_rounds sum_;
    run::ends_of_interval widest_{0, 0};
};

void judge(currency_total& total, const values_by_part& of) {
    const auto set = [&total](double error, const run::ends_of_interval& ends) {
        total.error = error;
        total.low = total.value - ends.below;
        total.high = total.value + ends.above;
        if (std::isfinite(total.low) && std::isfinite(total.high)) return;
        total.error = total.low = total.high = no_figure;
    };
    const double at_most = total.error_at_most;
    if (!is_figure(at_most)) return;
    const run::ends_of_interval& widest = of.widest();
    if (of.rows() < 2) return set(at_most, widest);
    if (of.parts() < least_parts) return;
    const double error = of.error();
    const run::ends_of_interval ends = run::ends_of(0.95, static_cast<double>(of.parts() - 1), of.lean());
    set(std::min(error, at_most),
        {std::min(ends.below * error, widest.below), std::min(ends.above * error, widest.above)});
}

}  // namespace

std::vector<currency_total> results::totals() const {
    std::vector<currency_total> out;
    std::vector<values_by_part> parts;
    for (const auto& row : rows) {
        if (row.status != trade_status::priced) continue;
        auto at = std::ranges::find(out, row.currency, &currency_total::currency);
        if (at == out.end()) {
            at = out.insert(at, {row.currency});
            parts.emplace_back(manifest);
        }
        parts[static_cast<std::size_t>(at - out.begin())].add(row);
        at->trades += 1;
        if (!is_figure(row.error_in_totals())) at->without_error += 1;
        if (row.early) at->by_policy += 1;
        at->value += row.value_in_totals();
        at->error_at_most += row.error_in_totals();
        at->error_steps += std::abs(row.quantity) * row.error_steps;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        currency_total& total = out[i];
        if (!std::isfinite(total.value)) total.value = no_figure;
        if (!std::isfinite(total.error_steps)) total.error_steps = no_figure;
        if (!std::isfinite(total.error_at_most) || !is_figure(total.value)) total.error_at_most = no_figure;
        judge(total, parts[i]);
    }
    return out;
}

std::vector<greek_row> results::greek_totals() const {
    using rows_of = std::vector<const greek_row*>;
    // Rows grouped by unit and key, ordered by each group's first row.
    struct groups {
        std::vector<rows_of> all;
        std::map<std::pair<std::string_view, std::string_view>, std::size_t> place{};
        void add(const greek_row& row, std::string_view key) {
            const auto [at, is_new] = place.try_emplace({row.unit, key}, all.size());
            if (is_new) all.emplace_back();
            all[at->second].push_back(&row);
        }
    };
    std::map<std::string_view, std::pair<groups, groups>> by_measure;  // grouped by unit; by unit and key
    for (const greek_row& row : greeks) {
        if (row.has_failed() || row.key.empty()) continue;
        auto& [by_unit, by_key] = by_measure[row.measure];
        by_unit.add(row, {});
        by_key.add(row, row.key);
    }
    std::map<std::string_view, bool> has_points;  // by trade
    for (const price_row& row : rows) has_points[row.trade] = row.randomisations > 0;
    std::vector<greek_row> out;
    const auto add_sum = [&](const rows_of& of, const std::string& key) {
        greek_row& sum = out.emplace_back(*report::sum_of(of, manifest));
        sum.trade.clear();
        sum.key = key;
        if (sum.part_means.empty()) return;
        studies::sum_of_rounds of_rounds{studies::run_parts(manifest)};
        for (const greek_row* row : of)
            if (row->standard_error != 0)
                of_rounds.add(studies::estimate(*row, studies::run_parts(manifest)), 1, row->paths,
                              has_points[row->trade]);
        if (!of_rounds.is_of_one_round()) sum.standard_error = of_rounds.error();
    };
    for (const greek_measure& measure : greek_measures()) {
        const auto& [by_unit, by_key] = by_measure[measure.name];
        for (const rows_of& of_unit : by_unit.all) {
            std::size_t keys = 0;
            for (const rows_of& of_key : by_key.all) {
                if (of_key.front()->unit != of_unit.front()->unit) continue;
                add_sum(of_key, of_key.front()->key);
                ++keys;
            }
            if (keys > 1 && measure.has_total) add_sum(of_unit, "");
        }
    }
    return out;
}

decisions decisions_of(const results& of) {
    return report::decisions_of(of.manifest, of.rows, of.policies, "results");
}

}  // namespace tilewalk
