// SPDX-License-Identifier: Apache-2.0
#include "engine/numerics/quasi/components.h"

#include <algorithm>
#include <utility>

#include "engine/numerics/jacobi.h"
#include "engine/numerics/tridiagonal.h"
#include "kernels/arithmetic.h"
#include "products/program/evaluate.h"

namespace tilewalk::quasi {

namespace {

using program::node;
using program::operation;

// The most slots that are rotated: a rotation costs the square of their number.
constexpr std::size_t most_rotated = 128;
// The most steps whose sums decide on a rotation. Leaving steps out costs variance, never correctness.
constexpr std::size_t most_steps_looked_at = 16;

// The sums of normals that a step's program forms, with factors that are the same on all paths.
class sums_of_normals {
  public:
    sums_of_normals(const program::path_program& code, const program::path_data& data)
        : nodes_(code.sections[0].nodes),
          writes_(code.sections[0].writes),
          data_(data),
          slots_(static_cast<std::size_t>(code.normals_per_step)),
          is_lone_(slots_),
          made_(nodes_.size()) {
        for (const std::uint32_t s : code.lone_normals) is_lone_[s] = true;
    }

    // Adds the n x n products of the factors of each sum in this step that is not part of another sum.
    void add_products(std::size_t step, std::vector<double>& to) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) made_[i] = value_of(nodes_[i], step);
        std::vector<bool> is_end(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (made_[i].is == traced_as::sum) continue;
            for (const std::uint32_t arg : program::operands(nodes_[i])) is_end[arg] = true;
        }
        for (const program::state_write& w : writes_) is_end[w.node] = true;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!is_end[i] || made_[i].is != traced_as::sum) continue;
            const std::vector<double>& factors = made_[i].factors;
            for (std::size_t a = 0; a < factors.size(); ++a)
                for (std::size_t b = 0; factors[a] != 0 && b < factors.size(); ++b)
                    to[a * slots_ + b] += factors[a] * factors[b];
        }
    }

  private:
    // number: the same on all paths. sum: of normals times factors, and of states before the step.
    enum class traced_as { number, sum, other };
    struct value {
        traced_as is = traced_as::other;
        double number = 0;
        std::vector<double> factors{};  // by slot; missing slots at the end are 0
    };

    static value times(const value& x, double by) {
        value out = x;
        for (double& f : out.factors) f *= by;
        return out;
    }
    static value plus(const value& x, const value& y, double sign) {
        if (x.is == traced_as::other || y.is == traced_as::other) return {};
        if (x.is == traced_as::number && y.is == traced_as::number)
            return {traced_as::number, x.number + sign * y.number};
        value out{traced_as::sum, 0, x.factors};
        out.factors.resize(std::max(x.factors.size(), y.factors.size()));
        for (std::size_t s = 0; s < y.factors.size(); ++s) out.factors[s] += sign * y.factors[s];
        return out;
    }
    static value product(const value& x, const value& y) {
        if (x.is == traced_as::number && y.is == traced_as::number)
            return {traced_as::number, x.number * y.number};
        if (x.is == traced_as::sum && y.is == traced_as::number) return times(x, y.number);
        if (x.is == traced_as::number && y.is == traced_as::sum) return times(y, x.number);
        return {};
    }
    value value_of(const node& n, std::size_t step) const {
        const auto arg = [&](std::size_t k) -> const value& { return made_[n.args[k]]; };
        switch (n.code) {
            case operation::constant:
                return {traced_as::number, n.number};
            case operation::term:
                return {traced_as::number, data_.terms[n.args[0]]};
            case operation::row:
                return {traced_as::number, data_.rows[0][step * data_.widths[0] + n.args[0]]};
            case operation::state:
                return {traced_as::sum};
            case operation::normal: {
                if (is_lone_[n.args[0]]) return {};
                value out{traced_as::sum};
                out.factors.resize(n.args[0] + 1);
                out.factors[n.args[0]] = 1;
                return out;
            }
            case operation::neg:
                return product({traced_as::number, -1}, arg(0));
            case operation::add:
                return plus(arg(0), arg(1), 1);
            case operation::sub:
                return plus(arg(0), arg(1), -1);
            case operation::mul:
                return product(arg(0), arg(1));
            case operation::fma:
                return plus(product(arg(0), arg(1)), arg(2), 1);
            default:
                return {};
        }
    }

    const std::vector<node>& nodes_;
    const std::vector<program::state_write>& writes_;
    const program::path_data& data_;
    std::size_t slots_;
    std::vector<bool> is_lone_;
    std::vector<value> made_;
};

principal_axes axes_of(const std::vector<analytics::eigen_pair>& pairs) {
    const std::size_t n = pairs.size();
    principal_axes out;
    out.directions.resize(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        out.variances.push_back(std::max(pairs[i].value, 0.0));
        double sum = 0;
        for (const double x : pairs[i].vector) sum += x;
        for (std::size_t row = 0; row < n; ++row)
            out.directions[row * n + i] = sum < 0 ? -pairs[i].vector[row] : pairs[i].vector[row];
    }
    return out;
}

}  // namespace

// The inverse of a Brownian path's covariance is tridiagonal: places depend on their neighbours alone.
principal_axes axes_of_brownian_path(std::span<const double> times) {
    const std::size_t n = times.size();
    const auto length = [&](std::size_t k) { return times[k] - (k == 0 ? 0.0 : times[k - 1]); };
    std::vector<double> diagonal, beside;
    for (std::size_t k = 0; k < n; ++k) {
        diagonal.push_back(1 / length(k) + (k + 1 < n ? 1 / length(k + 1) : 0.0));
        if (k + 1 < n) beside.push_back(-1 / length(k + 1));
    }
    std::vector<analytics::eigen_pair> pairs =
        analytics::tridiagonal_eigen_pairs(std::move(diagonal), std::move(beside));
    std::ranges::reverse(pairs);
    // Variances are computed from the vectors, since small eigenvalues of the inverse have lost digits.
    for (analytics::eigen_pair& e : pairs) {
        e.value = 0;
        double behind = 0;
        for (std::size_t k = n; k-- > 0;) {
            behind += e.vector[k];
            e.value += length(k) * behind * behind;
        }
    }
    return axes_of(pairs);
}

rotated_slots rotated_by_covariance(const program::path_program& code, const program::path_data& data) {
    const auto all = static_cast<std::size_t>(code.normals_per_step);
    const std::size_t steps = data.runs.empty() ? 0 : data.runs[0];
    if (all < 2 || all > most_rotated || steps == 0) return {};
    std::vector<double> products(all * all);
    sums_of_normals sums(code, data);
    const std::size_t looked_at = std::min(steps, most_steps_looked_at);
    for (std::size_t k = 0; k < looked_at; ++k) sums.add_products(k * steps / looked_at, products);

    rotated_slots out;
    bool are_apart = true;
    for (std::uint32_t a = 0; a < all; ++a) {
        if (products[a * all + a] > 0) out.slots.push_back(a);
        for (std::size_t b = 0; b < a; ++b) are_apart = are_apart && products[a * all + b] == 0;
    }
    if (are_apart) return {};
    const std::size_t n = out.slots.size();
    std::vector<double> among;
    double trace = 0;
    for (const std::uint32_t a : out.slots) {
        trace += products[a * all + a];
        for (const std::uint32_t b : out.slots) among.push_back(products[a * all + b]);
    }
    principal_axes axes = axes_of(analytics::eigen_pairs(std::move(among), n));
    out.rotation = std::move(axes.directions);
    for (const double v : axes.variances) out.variances.push_back(v / trace * static_cast<double>(n));
    return out;
}

}  // namespace tilewalk::quasi
