// SPDX-License-Identifier: Apache-2.0
#include "engine/study/rounds/widths.h"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <string_view>

#include <fmt/format.h>

#include "engine/plan/measure.h"
#include "engine/walk/units.h"

namespace tilewalk::studies {

namespace {

// Returns the paths that divide the error by `by`. Errors fall with the root of the number of paths, those of
// points faster.
std::uint64_t paths_to_narrow(const figure_of_unit& of, double by) {
    constexpr double rate_of_points = 0.75, rate_of_paths = 0.5, of_what_shows_no_error = 4;
    const double rate = of.is_of_points ? rate_of_points : rate_of_paths;
    const double times = std::isfinite(by) ? std::pow(by, 1 / rate) : of_what_shows_no_error;
    const double doublings = std::ceil(std::log2(std::max(times, 1.0)));
    const double paths = static_cast<double>(of.paths) * std::exp2(std::max(doublings, 1.0));
    constexpr double most = 0x1p62;
    return static_cast<std::uint64_t>(std::min(paths, most));
}

// Returns the least error to hope for: that of scrambled points falls at most with the power 3/2 of paths.
double least_error(const figure_of_unit& of, double error, std::uint64_t most_paths) {
    const double power = of.is_of_points ? 1.5 : 0.5;
    const std::uint64_t paths = std::max(most_paths, of.paths);
    return error * std::pow(static_cast<double>(of.paths) / static_cast<double>(paths), power);
}

// Factor on paths if more than the limit seem needed: the next round shows whether they are.
constexpr std::uint64_t step_into_the_unknown = 16;

// Most paths for a figure that shows no error, such as one that no path moves.
constexpr std::uint64_t most_unseen = std::uint64_t{1} << 20;

double rounding_of(double number) {
    return std::numeric_limits<double>::epsilon() * std::abs(number);
}

// Least paths that carry the variance; with fewer, an error may be off by any factor.
constexpr double least_hits_of_error = 10;

// Returns how many times larger the true error may be than so many effective hits show: its square has a
// chi-squared law of twice as many degrees of freedom, as if a Poisson number of paths met the payoff. The
// quantile is Wilson and Hilferty's, off by less than 1 % from 20 degrees on, up to 99 %.
double hidden_by_few(double hits, double confidence) {
    const double freedom = 2 * std::max(hits, least_hits_of_error), part = 2 / (9 * freedom);
    const double root = 1 - part - run::width_of(confidence, 1e300) * std::sqrt(part);
    return 1 / std::sqrt(root * root * root);
}

// True if even the most paths of a run are not expected to meet the tolerance.
bool is_out_of_reach(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to) {
    if (to.is_limited || !(is.half_width > is.tolerance)) return false;
    return least_error(figure, is.half_width, to.most_paths) > is.tolerance ||
           is.tolerance < rounding_of(figure.value);
}

std::string cure_of(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                    std::string_view name) {
    const double rounding = rounding_of(figure.value);
    if (is.tolerance < rounding)
        return fmt::format("no number of paths is enough, since the {} is rounded to {:.1g}", name, rounding);
    if (is_out_of_reach(figure, is, to))
        return fmt::format("even {} paths, the most of a run, are too few", to.most_paths);
    return fmt::format("about {} paths should do", is.paths_needed);
}

struct doubled_trade {
    std::size_t trade = 0;
    std::uint64_t now = 0, paths = 0;
    double variance = 0, steps = 0;

    // Returns the variance removed by the next doubling of paths, per path-step.
    double worth() const { return 0.5 * variance / (steps * static_cast<double>(paths)); }
    void double_paths() {
        paths *= 2;
        variance *= 0.5;
    }
    friend bool operator<(const doubled_trade& a, const doubled_trade& b) { return a.worth() < b.worth(); }
};

void double_for_total(const currency_total& total, const results& so_far,
                      std::span<const std::uint64_t> steps, double tolerance, double confidence,
                      std::uint64_t most_paths, bool gives_up, std::vector<more_paths>& to) {
    std::vector<doubled_trade> of;
    double variance = 0, least_variance = 0;
    for (std::size_t i = 0; i < so_far.rows.size(); ++i) {
        const price_row& row = so_far.rows[i];
        const double error = row.error_in_totals();
        if (row.status == trade_status::failed || !(error > 0) || row.currency != total.currency) continue;
        of.push_back({i, row.paths, row.paths, error * error, static_cast<double>(steps[i])});
        variance += error * error;
        const double least = least_error(row, error, most_paths);
        least_variance += least * least;
    }
    const double half = is_figure(total.high)
                            ? std::max(total.high - total.value, total.value - total.low) *
                                  run::width_of(confidence, 1e300) / run::width_of(0.95, 1e300)
                            : run::width_of(confidence, 1e300) * total.error_at_most;
    if (half <= tolerance || of.empty()) return;
    const double least_half = half * std::sqrt(least_variance / variance);
    if (gives_up && (least_half > tolerance || tolerance < rounding_of(total.value))) return;
    // Variances of trades are scaled to the total's: common errors are taken to fall as others do.
    constexpr double aim = 0.9;
    double wanted = variance * (1 - std::pow(aim * tolerance / half, 2));
    std::priority_queue<doubled_trade> queue(of.begin(), of.end());
    std::map<std::size_t, doubled_trade> planned;
    while (wanted > 0 && !queue.empty()) {
        doubled_trade most = queue.top();
        queue.pop();
        if (most.paths > most_paths / 2) continue;
        most.double_paths();
        wanted -= most.variance;
        planned[most.trade] = most;
        queue.push(most);
    }
    const bool is_unsure = gives_up && wanted > 0;
    for (const auto& [trade, t] : planned)
        to.push_back({trade, is_unsure ? std::min(t.paths, step_into_the_unknown * t.now) : t.paths});
}

}  // namespace

double tolerance_of(const books::trade& t, const market& in, const wanted_accuracy& to) {
    const std::optional<accuracy>& asked = t.tolerance ? t.tolerance : to.of_run;
    if (!asked || asked->is_of_totals) return 0;
    return asked->amount_for(asked->is_in_basis_points ? plan::measure_of(t, state_of(in)) : 0);
}

figure_of_unit::figure_of_unit(const price_row& row)
    : value(row.price),
      error(row.early ? row.early->policy_error : row.standard_error),
      paths(row.paths),
      is_of_points(row.randomisations > 0),
      degrees_of_freedom(row.degrees_of_freedom()),
      lean(row.early ? 0 : row.lean),
      least_hits(row.thin ? least_hits_of_error : 0),
      hits(row.effective_hits) {}

figure_of_unit::figure_of_unit(const greek_row& row, const price_row& of_trade)
    : value(row.value / of_trade.quantity),
      error(row.standard_error / std::abs(of_trade.quantity)),
      paths(row.paths),
      is_of_points(of_trade.randomisations > 0),
      degrees_of_freedom(of_trade.degrees_of_freedom()),
      lean(is_of_points ? run::lean_of(row.part_means) : 0) {}

width_of_figure width_of(const figure_of_unit& figure, double tolerance, double confidence) {
    width_of_figure out;
    out.tolerance = tolerance;
    if (figure.paths == 0 || tolerance == 0) return out;
    const run::ends_of_interval ends = run::ends_of(confidence, figure.degrees_of_freedom, figure.lean);
    out.half_width = std::max(ends.below, ends.above) * figure.error;
    // With few hits, the error is taken as the largest that the hits do not rule out.
    if (figure.least_hits > 0) out.half_width *= hidden_by_few(figure.hits, confidence);
    out.is_met = figure.hits >= figure.least_hits && out.half_width <= tolerance;
    if (out.is_met) return out;
    out.shows_error = is_figure(figure.error);
    const bool is_too_wide = out.shows_error && out.half_width > tolerance;
    out.paths_needed = paths_to_narrow(figure, is_too_wide ? out.half_width / tolerance : no_figure);
    return out;
}

std::string text_of_miss(const figure_of_unit& figure, const width_of_figure& is, const wanted_accuracy& to,
                         const std::string& name) {
    const std::string of = name.empty() ? "" : " of " + name;
    if (!(is.half_width > 0))
        return fmt::format("the paths give no standard error{} to compare with the tolerance", of);
    return fmt::format("the half-width of the interval{} at {:.4g} % is {:.3g}{}, the tolerance {:.3g}; {}",
                       of, 100 * to.confidence, is.half_width,
                       figure.least_hits > 0 ? ", including the uncertainty of so few paths" : "",
                       is.tolerance, cure_of(figure, is, to, name.empty() ? "price" : "figure"));
}

void add_miss(price_row& row, const std::string& text) {
    row.misses_tolerance = true;
    row.message += (row.message.empty() ? "" : "; ") + text;
}

void paths_of_next_round::add(const figure_of_unit& figure, double tolerance, bool may_stay_unseen) {
    has_error_ = has_error_ || figure.error != 0;
    const width_of_figure is = width_of(figure, tolerance, to_.confidence);
    if (is.is_met) return;
    is_met_ = false;
    if (is.half_width > 0) widest_ = std::max(widest_, is.half_width / is.tolerance);
    if (is_out_of_reach(figure, is, to_)) return;
    if (may_stay_unseen && !is.shows_error && 2 * figure.paths > most_unseen) return;
    const bool is_unsure = !to_.is_limited && is.paths_needed > to_.most_paths;
    paths_ = std::max(paths_, is_unsure ? step_into_the_unknown * figure.paths : is.paths_needed);
}

std::vector<more_paths> paths_for_totals(const results& so_far, std::span<const std::uint64_t> steps,
                                         double tolerance, double confidence, std::uint64_t most_paths,
                                         bool gives_up) {
    std::vector<more_paths> out;
    results seen;
    seen.manifest = so_far.manifest;
    for (std::size_t i = 0; i < so_far.rows.size(); ++i) {
        const price_row& row = so_far.rows[i];
        if (row.status == trade_status::failed) continue;
        if (is_figure(row.error_in_totals()))
            seen.rows.push_back(row);
        else if (2 * row.paths <= std::min(most_paths, most_unseen))
            out.push_back({i, 2 * row.paths});
    }
    for (const currency_total& total : seen.totals())
        double_for_total(total, so_far, steps, tolerance, confidence, most_paths, gives_up, out);
    return out;
}

}  // namespace tilewalk::studies
