// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/broken_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "products/program/evaluate.h"

namespace tilewalk::plan {

double broken_line::options() const {
    double sum = 0;
    for (const kink& k : kinks) sum += std::abs(k.change);
    return sum;
}

broken_line operator+(const broken_line& a, const broken_line& b) {
    broken_line out{a.at_zero + b.at_zero, a.slope + b.slope};
    std::vector<broken_line::kink> all = a.kinks;
    all.insert(all.end(), b.kinks.begin(), b.kinks.end());
    std::ranges::stable_sort(all, {}, &broken_line::kink::at);
    for (const broken_line::kink& k : all) {
        if (out.kinks.empty() || out.kinks.back().at != k.at)
            out.kinks.push_back(k);
        else
            out.kinks.back().change += k.change;
    }
    std::erase_if(out.kinks, [](const auto& k) { return k.change == 0; });
    return out;
}

broken_line operator*(const broken_line& a, double by) {
    if (by == 0) return {};
    broken_line out{a.at_zero * by, a.slope * by, a.kinks};
    for (broken_line::kink& k : out.kinks) k.change *= by;
    return out;
}

broken_line positive_part(const broken_line& a) {
    constexpr double rounding = 1e-12;
    broken_line out{std::max(a.at_zero, 0.0)};
    double slope_of_out = 0;
    const auto goes_on = [&](double at, double slope) {
        if (at == 0)
            out.slope = slope;
        else if (slope != slope_of_out)
            out.kinks.push_back({at, slope - slope_of_out});
        slope_of_out = slope;
    };
    double x = 0, y = a.at_zero, slope = a.slope, size = std::abs(y);
    for (std::size_t i = 0;; ++i) {
        const double end = i < a.kinks.size() ? a.kinks[i].at : std::numeric_limits<double>::infinity();
        const bool is_above = y > 0 || (y == 0 && slope > 0);
        goes_on(x, is_above ? slope : 0.0);
        if (const double root = x - y / slope; slope != 0 && root > x && root < end)
            goes_on(root, is_above ? 0.0 : slope);
        if (i == a.kinks.size()) return out;
        y += slope * (end - x);
        size = std::max(size, std::abs(slope * (end - x)));
        if (std::abs(y) <= rounding * size) y = 0;  // rounding aside, the kink is on the axis
        x = end;
        slope += a.kinks[i].change;
    }
}

namespace {

using program::operation;

std::optional<broken_line> applied(operation code, std::span<const broken_line> of) {
    const auto at = [&](std::size_t i) { return i < of.size() ? of[i].at_zero : 0.0; };
    if (std::ranges::all_of(of, &broken_line::is_constant))
        return program::is_function(code)
                   ? std::optional(broken_line{program::evaluate(code, at(0), at(1), at(2))})
                   : std::nullopt;
    const auto product = [](const broken_line& a, const broken_line& b) -> std::optional<broken_line> {
        if (a.is_constant()) return b * a.at_zero;
        if (b.is_constant()) return a * b.at_zero;
        return {};
    };
    switch (code) {
        case operation::neg:
            return of[0] * -1;
        case operation::abs:
            return of[0] + positive_part(of[0] * -1) * 2;
        case operation::add:
            return of[0] + of[1];
        case operation::sub:
            return of[0] + of[1] * -1;
        case operation::mul:
            return product(of[0], of[1]);
        case operation::div:
            if (!of[1].is_constant() || of[1].at_zero == 0) return {};
            return of[0] * (1 / of[1].at_zero);
        case operation::fma:
            if (const auto first = product(of[0], of[1])) return *first + of[2];
            return {};
        case operation::max:
            return of[1] + positive_part(of[0] + of[1] * -1);
        case operation::min:
            return of[0] + positive_part(of[0] + of[1] * -1) * -1;
        case operation::select:
            if (!of[0].is_constant()) return {};
            return of[0].at_zero != 0 ? of[1] : of[2];
        default:
            return {};
    }
}

}  // namespace

bool run_on_lines(const program::section& code, std::span<const double> terms, std::span<const double> row,
                  std::vector<broken_line>& states) {
    std::vector<std::optional<broken_line>> lines;
    for (const program::node& n : code.nodes) {
        switch (n.code) {
            case operation::constant:
                lines.push_back(broken_line{n.number});
                continue;
            case operation::term:
                lines.push_back(broken_line{terms[n.args[0]]});
                continue;
            case operation::row:
                lines.push_back(broken_line{row[n.args[0]]});
                continue;
            case operation::state:
                lines.push_back(states[n.args[0]]);
                continue;
            case operation::flaw:  // a check returns its last argument if it passes
                lines.push_back(lines[n.args[2]]);
                continue;
            default:
                break;
        }
        std::vector<broken_line> operands;
        for (const std::uint32_t arg : program::operands(n))
            if (lines[arg]) operands.push_back(*lines[arg]);
        const bool is_known = operands.size() == program::operands(n).size() && !program::is_leaf(n.code);
        lines.push_back(is_known ? applied(n.code, operands) : std::nullopt);
    }
    std::vector<broken_line> after = states;
    for (const program::state_write& w : code.writes) {
        if (!lines[w.node]) return false;
        after[w.state] = *lines[w.node];
    }
    states = std::move(after);
    return true;
}

}  // namespace tilewalk::plan
