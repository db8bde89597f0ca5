// SPDX-License-Identifier: Apache-2.0
// Eigen's port of MINPACK's Levenberg-Marquardt. Parameters are logistic functions of the variables it moves.
#include "engine/calibration/least_squares.h"

#include <Eigen/Core>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <optional>
#include <unsupported/Eigen/NonLinearOptimization>

#include "tilewalk/error.h"

namespace tilewalk::calibrations {
namespace {

// A parameter this close to a bound, relative to the interval, counts as at the bound.
constexpr double at_the_end = 1e-5;
// The least distance of a starting point from a bound, relative to the interval.
constexpr double off_the_end = 1e-3;
// Limits for convergence: the largest cosine of the angles between the residuals and their derivatives.
constexpr double no_slope = 1e-5, no_slope_at_kinks = 1e-3;

// Parameters are undetermined if others can compensate for all but this fraction of their effect; a parameter
// is named if its component in the compensated direction is larger than named_share.
constexpr double least_determined = 1e-3, named_share = 0.2;

// Reciprocal condition number below which parameters are undetermined: derivatives would have no right digit.
constexpr double least_rcond = 1e-10;

struct change {
    const between& of;

    double parameter(double variable) const {
        const double share = 1 / (1 + std::exp(-variable));
        return of.by == between::scale::geometric ? of.low * std::pow(of.high / of.low, share)
                                                  : of.low + (of.high - of.low) * share;
    }
    double variable(double parameter, double nearest_to_end = off_the_end) const {
        const double share = of.by == between::scale::geometric
                                 ? std::log(parameter / of.low) / std::log(of.high / of.low)
                                 : (parameter - of.low) / (of.high - of.low);
        const double inside = std::clamp(share, nearest_to_end, 1 - nearest_to_end);
        return std::log(inside / (1 - inside));
    }
    bool is_at_bound(double variable) const { return 1 / (1 + std::exp(std::abs(variable))) < at_the_end; }
};

class functor {
  public:
    using Scalar = double;
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

    explicit functor(const least_squares& of) : of_(of) {}

    int values() const { return static_cast<int>(of_.residuals); }
    int inputs() const { return static_cast<int>(of_.bounds.size()); }

    int operator()(const Eigen::VectorXd& variables, Eigen::VectorXd& residuals) {
        if (of_.cancel != nullptr && of_.cancel->load()) throw error(error_kind::cancelled, "cancelled");
        const std::vector<double> at = parameters(variables);
        of_.evaluate(at, {residuals.data(), static_cast<std::size_t>(residuals.size())});
        ++evaluations;
        if (residuals.allFinite()) return 0;
        throw error(
            error_kind::numeric,
            "found no finite price of the model for some parameters that the fit tried; set narrower bounds");
    }

    int df(const Eigen::VectorXd& variables, Eigen::MatrixXd& slopes) {
        const double h = is_careful ? 1e-4 : 1e-6;
        Eigen::VectorXd moved = variables, above(values()), below(values());
        if (!is_careful) (*this)(variables, below);
        for (Eigen::Index i = 0; i < variables.size(); ++i) {
            moved(i) = variables(i) + h;
            (*this)(moved, above);
            if (is_careful) {
                moved(i) = variables(i) - h;
                (*this)(moved, below);
            }
            slopes.col(i) = (above - below) / (is_careful ? 2 * h : h);
            moved(i) = variables(i);
        }
        return 0;
    }

    std::vector<double> parameters(const Eigen::VectorXd& variables) const {
        std::vector<double> at;
        for (std::size_t i = 0; i < of_.bounds.size(); ++i) {
            at.push_back(change{of_.bounds[i]}.parameter(variables(static_cast<Eigen::Index>(i))));
        }
        return at;
    }

    bool is_careful = false;
    std::uint64_t evaluations = 0;

  private:
    const least_squares& of_;
};

struct descent {
    Eigen::VectorXd at;
    double sum_of_squares = 0;
    bool has_converged = false;
    std::uint64_t iterations = 0;
};

descent descend(functor& along, const least_squares& of, const Eigen::VectorXd& from, double tolerance,
                std::size_t most_evaluations) {
    using space = Eigen::LevenbergMarquardtSpace::Status;
    Eigen::LevenbergMarquardt<functor> search(along);
    search.parameters.ftol = search.parameters.xtol = tolerance;
    search.parameters.maxfev = static_cast<Eigen::Index>(most_evaluations);
    search.parameters.factor = 1;  // limits the first step to the norm of the variables
    descent out;
    out.at = from;
    const space status = search.minimize(out.at);
    if (status == Eigen::LevenbergMarquardtSpace::ImproperInputParameters) {
        throw error(error_kind::internal, "a fit with fewer residuals than parameters");
    }
    out.sum_of_squares = search.fnorm * search.fnorm;
    out.iterations = static_cast<std::uint64_t>(search.iter);
    const double mean_square = out.sum_of_squares / static_cast<double>(along.values());
    // Residuals of almost 0 count as converged, too: their slope is rounding alone.
    out.has_converged = status != Eigen::LevenbergMarquardtSpace::TooManyFunctionEvaluation &&
                        (search.gnorm < (of.has_kinks ? no_slope_at_kinks : no_slope) ||
                         mean_square <= of.good_enough * of.good_enough);
    return out;
}

std::vector<std::size_t> undetermined(functor& along, const Eigen::VectorXd& at,
                                      const std::vector<bool>& is_at_bound) {
    Eigen::MatrixXd slopes(along.values(), along.inputs());
    along.df(at, slopes);
    std::vector<std::size_t> inside, out;
    for (std::size_t i = 0; i < is_at_bound.size(); ++i) {
        if (!is_at_bound[i]) inside.push_back(i);
    }
    if (inside.empty()) return out;
    Eigen::MatrixXd shapes(along.values(), static_cast<Eigen::Index>(inside.size()));
    const double most = slopes.colwise().norm().maxCoeff();
    for (std::size_t k = 0; k < inside.size(); ++k) {
        const auto column = slopes.col(static_cast<Eigen::Index>(inside[k]));
        if (!(column.norm() > 1e-6 * most)) out.push_back(inside[k]);
        shapes.col(static_cast<Eigen::Index>(k)) = column / std::max(column.norm(), 1e-6 * most);
    }
    if (!out.empty()) return out;
    const Eigen::JacobiSVD<Eigen::MatrixXd> solved(shapes, Eigen::ComputeThinV);
    const Eigen::Index last = shapes.cols() - 1;
    if (solved.singularValues()(last) > least_determined) return out;
    for (std::size_t k = 0; k < inside.size(); ++k) {
        if (std::abs(solved.matrixV()(static_cast<Eigen::Index>(k), last)) > named_share) {
            out.push_back(inside[k]);
        }
    }
    return out;
}

}  // namespace

minimum minimise(const least_squares& of, const std::vector<std::vector<double>>& starts) {
    constexpr double coarse = 1e-6, fine = 1e-14;
    functor along(of);
    std::optional<descent> best;
    minimum out;
    for (const std::vector<double>& start : starts) {
        Eigen::VectorXd from(along.inputs());
        for (std::size_t i = 0; i < of.bounds.size(); ++i) {
            from(static_cast<Eigen::Index>(i)) = change{of.bounds[i]}.variable(start[i]);
        }
        const descent found = descend(along, of, from, coarse, 60);
        out.iterations += found.iterations;
        ++out.starts;
        if (!best || found.sum_of_squares < best->sum_of_squares) best = found;
        if (best->sum_of_squares <= of.good_enough * of.good_enough * static_cast<double>(of.residuals)) {
            break;
        }
    }
    along.is_careful = true;
    best = descend(along, of, best->at, fine, of.most_evaluations);
    out.iterations += best->iterations;
    out.at = along.parameters(best->at);
    out.sum_of_squares = best->sum_of_squares;
    for (std::size_t i = 0; i < of.bounds.size(); ++i) {
        out.is_at_bound.push_back(change{of.bounds[i]}.is_at_bound(best->at(static_cast<Eigen::Index>(i))));
    }
    // At a bound the slope need not vanish, so a fit that stopped there counts as converged.
    const bool stopped = std::ranges::find(out.is_at_bound, true) != out.is_at_bound.end();
    out.has_converged = best->has_converged || stopped;
    out.undetermined = undetermined(along, best->at, out.is_at_bound);
    out.evaluations = along.evaluations;
    return out;
}

moved_minimum move_minimum(const least_squares& of, std::span<const double> at) {
    using Eigen::Index;
    functor along(of);
    along.is_careful = true;
    Eigen::VectorXd variables(along.inputs()), residuals(along.values()), scratch(along.values());
    std::vector<Index> inside;
    for (Index i = 0; i < variables.size(); ++i) {
        const change by{of.bounds[static_cast<std::size_t>(i)]};
        variables(i) = by.variable(at[static_cast<std::size_t>(i)], 0.1 * at_the_end);
        if (!by.is_at_bound(variables(i))) inside.push_back(i);
    }
    moved_minimum out;
    out.slopes.assign(of.bounds.size(), std::vector<double>(of.residuals));
    if (inside.empty()) return out;
    Eigen::MatrixXd all(along.values(), along.inputs());
    along.df(variables, all);
    along(variables, residuals);
    const auto count = static_cast<Index>(inside.size());
    Eigen::MatrixXd slopes(along.values(), count);
    for (Index k = 0; k < count; ++k) slopes.col(k) = all.col(inside[static_cast<std::size_t>(k)]);

    // Inner product of residuals with their change; its second derivatives are the curvature's second term.
    constexpr double h = 1e-3;
    const auto bent = [&](Index j, double by_j, Index k, double by_k) {
        Eigen::VectorXd moved = variables;
        moved(inside[static_cast<std::size_t>(j)]) += by_j;
        moved(inside[static_cast<std::size_t>(k)]) += by_k;
        along(moved, scratch);
        return residuals.dot(scratch - residuals);
    };
    Eigen::MatrixXd curvature = slopes.transpose() * slopes;
    for (Index j = 0; j < count; ++j) {
        for (Index k = 0; k <= j; ++k) {
            const double second =
                j == k ? (bent(j, h, j, 0) + bent(j, -h, j, 0)) / (h * h)
                       : (bent(j, h, k, h) - bent(j, h, k, -h) - bent(j, -h, k, h) + bent(j, -h, k, -h)) /
                             (4 * h * h);
            curvature(j, k) += second;
            if (j != k) curvature(k, j) += second;
        }
    }
    // Scales variables so that each one's slopes have length 1.
    const Eigen::VectorXd scale = slopes.colwise().norm().transpose();
    if (!(scale.minCoeff() > 0)) {
        out.is_determined = false;
        return out;
    }
    const Eigen::MatrixXd unit = scale.cwiseInverse().asDiagonal();
    const Eigen::FullPivLU<Eigen::MatrixXd> solved(unit * curvature * unit);
    if (!(solved.rcond() > least_rcond)) {
        out.is_determined = false;
        return out;
    }
    const Eigen::MatrixXd moves = unit * solved.solve(unit * slopes.transpose());
    out.root_mean_square_left =
        (slopes * (moves * residuals)).norm() / std::sqrt(static_cast<double>(along.values()));
    for (Index k = 0; k < count; ++k) {
        const auto i = static_cast<std::size_t>(inside[static_cast<std::size_t>(k)]);
        const change by{of.bounds[i]};
        const double v = variables(static_cast<Index>(i));
        const double per_variable = (by.parameter(v + 1e-4) - by.parameter(v - 1e-4)) / 2e-4;
        for (Index r = 0; r < slopes.rows(); ++r)
            out.slopes[i][static_cast<std::size_t>(r)] = per_variable * moves(k, r);
    }
    return out;
}

std::vector<double> linear_fit(const std::vector<std::vector<double>>& columns, std::span<const double> to) {
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(to.size()), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
        matrix.col(static_cast<Eigen::Index>(c)) =
            Eigen::Map<const Eigen::VectorXd>(columns[c].data(), matrix.rows());
    }
    const Eigen::VectorXd solved =
        matrix.colPivHouseholderQr().solve(Eigen::Map<const Eigen::VectorXd>(to.data(), matrix.rows()));
    return {solved.begin(), solved.end()};
}

}  // namespace tilewalk::calibrations
