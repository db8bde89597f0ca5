// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "engine/decide/controls/control.h"
#include "engine/numerics/black.h"
#include "kernels/math.h"
#include "products/program/row_names.h"

namespace tilewalk::controls {

namespace {

using program::value;
namespace row_names = program::row_names;

// A pilot tries the moves of each source times low powers of the time left: a dozen sums, or one per source.
constexpr std::size_t most_sums = 12, most_degree = 2;
// Limit on sources. A GPU makes moves of more sources ahead of paths, and controls can't read their normals.
constexpr std::size_t most_sources = 63;
// Limit on ratios: each costs a path one state, and a fit one column.
constexpr std::size_t most_ratios = 4;

std::vector<value> ratios_of(models::world& of) {
    std::vector<value> out = of.ratios();
    if (out.size() > most_ratios) out.resize(most_ratios);
    return out;
}

}  // namespace

law_of_moves::law_of_moves(const models::source_moves& of) {
    for (std::size_t i = 0; i < of.moves.size(); ++i) {
        sure_.push_back(of.sure(i));
        roots_.emplace_back();
        for (std::size_t j = 0; j <= i; ++j) roots_.back().push_back(of.root(i, j));
    }
}

std::vector<double> law_of_moves::sure_part(const weights& by) const {
    std::vector<double> out(steps(), 0.0);
    for (std::size_t s = 0; s < steps(); ++s)
        for (std::size_t i = 0; i < sources(); ++i) out[s] += by[i][s] * sure_[i][s];
    return out;
}

weights law_of_moves::of_normals(const weights& by) const {
    weights out(sources(), std::vector<double>(steps(), 0.0));
    for (std::size_t s = 0; s < steps(); ++s)
        for (std::size_t j = 0; j < sources(); ++j)
            for (std::size_t i = j; i < sources(); ++i) out[j][s] += by[i][s] * roots_[i][j][s];
    return out;
}

normal_law law_of_moves::of_sum(const weights& by) const {
    double mean = 0, variance = 0;
    for (const double x : sure_part(by)) mean += x;
    for (const std::vector<double>& of_normal : of_normals(by))
        for (const double x : of_normal) variance += x * x;
    return {mean, kernels::sqrt(variance)};
}

double control::mean(const normal_law& of_sum) const {
    const double forward = kernels::exp(of_sum.mean + 0.5 * of_sum.deviation * of_sum.deviation);
    double out = on_sum * of_sum.mean + on_exponential * forward;
    for (const knot& k : knots) {
        if (k.slope != 0)
            out += k.slope * analytics::black_price(analytics::right::call, forward, k.at, of_sum.deviation);
        if (k.jump != 0)
            out += k.jump * kernels::norm_cdf((of_sum.mean - kernels::log(k.at)) / of_sum.deviation);
    }
    for (const double x : on_ratios) out += x;  // each ratio has the mean 1
    return out;
}

std::vector<weights> basis_of(std::size_t sources, std::size_t steps) {
    std::vector<weights> out;
    if (sources == 0 || sources > most_sources) return out;
    const std::size_t degrees =
        steps == 1 ? 1 : std::clamp<std::size_t>(most_sums / sources, 1, most_degree + 1);
    for (std::size_t i = 0; i < sources; ++i) {
        // Weights are powers of the share of steps to come: payoffs on few dates, or averages, weigh so.
        std::vector<double> power(steps, 1.0);
        for (std::size_t d = 0; d < degrees; ++d) {
            out.emplace_back(sources, std::vector<double>(steps, 0.0))[i] = power;
            for (std::size_t s = 0; s < steps; ++s)
                power[s] *= static_cast<double>(steps - s) / static_cast<double>(steps);
        }
    }
    return out;
}

void sums_of_moves::hear(const models::source_moves& of, program::recorder& into) {
    const std::size_t sources = of.moves.size();
    law_.emplace(of);
    basis_ = basis_of(sources, law_->steps());
    for (std::size_t k = 0; k < basis_.size(); ++k) {
        const std::size_t degrees = basis_.size() / sources, i = k / degrees;
        const std::uint32_t state = into.state("control_sum_" + std::to_string(k), 0.0);
        const value weight = into.row(row_names::numbered("control", k % degrees), basis_[k][i]);
        into.write(state, fma(weight, of.moves[i], into.read(state)));
        into.output(state);
    }
}

void sums_of_moves::ends_path(std::uint32_t, models::world& in, program::recorder& into) {
    for (const value ratio : ratios_of(in)) {
        const std::uint32_t state = into.state("control_ratio_" + std::to_string(ratios_++), 0.0);
        into.write(state, ratio);
        into.output(state);
    }
}

void subtracted::begins(program::recorder&) {
    result_.reset();
    fits_ = false;
}

void subtracted::hear(const models::source_moves& of, program::recorder& into) {
    // States of the control stand behind those of the script and its world, which policies know by their
    // places.
    sum_ = into.state("control_sum", 0.0);
    result_ = into.state("controlled", 0.0);
    const law_of_moves law(of);
    fits_ = law.sources() == what_.of_moves.size() && law.steps() == what_.of_moves.front().size();
    if (!fits_) return;
    mean_ = what_.mean(law.of_sum(what_.of_moves));
    // Sum normals rather than moves. Normals are in registers already; moves of many assets would need more.
    value sum = into.read(sum_) + into.row("control_sure", law.sure_part(what_.of_moves));
    const weights by = law.of_normals(what_.of_moves);
    for (std::size_t j = 0; j < by.size(); ++j) {
        into.poll();
        sum = fma(into.row(row_names::numbered("control", j), by[j]), of.normals[j], sum);
    }
    into.write(sum_, sum);
}

void subtracted::ends_path(std::uint32_t value_state, models::world& in, program::recorder& into) {
    const value sum = into.read(sum_), power = exp(sum);
    const bool jumps = what_.jumps();
    const std::vector<value> ratios = what_.on_ratios.empty() ? std::vector<value>() : ratios_of(in);
    fits_ = fits_ && ratios.size() == what_.on_ratios.size();
    value left = into.read(value_state) + into.term("control_mean", mean_);
    left = left - into.term("control_on_sum", what_.on_sum) * sum;
    left = left - into.term("control_on_exponential", what_.on_exponential) * power;
    for (std::size_t k = 0; k < control::most_knots; ++k) {
        const auto term = [&](const char* name, double number) {
            return into.term(row_names::numbered(name, k), number);
        };
        const knot& of = what_.knots[k];
        const value beyond = power - term("control_knot", of.at);
        left = left - term("control_slope", of.slope) * max(beyond, 0.0);
        // Controls that can't jump have no comparison, so that their programs show it. The comparison is of
        // logarithms, as prices are compared, so that smoothing has the same width.
        if (jumps)
            left = left - select(term("control_place", kernels::log(of.at)) < sum,
                                 term("control_jump", of.jump), 0.0);
    }
    for (std::size_t k = 0; fits_ && k < ratios.size(); ++k)
        left = left - into.term(row_names::numbered("control_on_ratio", k), what_.on_ratios[k]) * ratios[k];
    into.write(*result_, left);
}

}  // namespace tilewalk::controls
