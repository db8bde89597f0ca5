// SPDX-License-Identifier: Apache-2.0
#include "engine/market/correlation_check.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/market/wording.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {
namespace {

// Correlations are written with few digits; a negative eigenvalue this close to 0 is due to their rounding.
constexpr double eigenvalue_tolerance = 1e-9;

// Finds the nearest correlation matrix in the Frobenius norm (Higham 2002: alternating projections onto the
// positive semi-definite matrices and the unit diagonal, with Dykstra's correction), rounds it to four
// decimals and moves it towards `anchor` until it is valid. Nonzero entries of the correlation matrix
// `anchor` stay fixed.
Eigen::MatrixXd nearest_correlation(const Eigen::MatrixXd& given, const Eigen::MatrixXd& anchor) {
    const auto anchored = [&](const Eigen::MatrixXd& m) {
        return Eigen::MatrixXd((anchor.array() != 0).select(anchor, m));
    };
    Eigen::MatrixXd near = given, correction = Eigen::MatrixXd::Zero(given.rows(), given.cols());
    // Two factors with correlation 1 or -1 get equal or opposite rows first: else convergence is slow.
    for (Eigen::Index i = 0; i < near.rows(); ++i) {
        for (Eigen::Index j = i + 1; j < near.rows(); ++j) {
            const double sign = anchor(i, j);
            if (std::abs(sign) != 1) continue;
            near.row(i) = (0.5 * (near.row(i) + sign * near.row(j))).eval();
            near.row(j) = sign * near.row(i);
            near.col(i) = (0.5 * (near.col(i) + sign * near.col(j))).eval();
            near.col(j) = sign * near.col(i);
        }
    }
    for (int turn = 0; turn < 300; ++turn) {
        const Eigen::MatrixXd corrected = near - correction;
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(corrected);
        const Eigen::MatrixXd positive = solved.eigenvectors() *
                                         solved.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                         solved.eigenvectors().transpose();
        correction = positive - corrected;
        const Eigen::MatrixXd next = anchored(positive);
        const double moved = (next - near).norm();
        near = next;
        if (moved < 1e-9) break;
    }
    for (double towards_anchor = 0;; towards_anchor += 1e-4) {
        const Eigen::MatrixXd shown =
            anchored((near * ((1 - towards_anchor) * 1e4)).array().round().matrix() / 1e4);
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(shown, Eigen::EigenvaluesOnly);
        if (solved.eigenvalues()(0) >= -0.5 * eigenvalue_tolerance || towards_anchor >= 1) return shown;
    }
}

class correlation_check {
  public:
    explicit correlation_check(const market_state& market) : market_(market) {}

    std::optional<std::string> fault() const {
        std::map<std::string_view, std::size_t> number;
        std::vector<std::string> names;
        std::vector<std::size_t> parent;
        const auto number_of = [&](const std::string& name) {
            const auto [place, is_new] = number.emplace(name, names.size());
            if (is_new) {
                parent.push_back(names.size());
                names.push_back(name);
            }
            return place->second;
        };
        const auto root_of = [&](std::size_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        for (const auto& [pair, rho] : market_.correlations) {
            if (rho == 0) continue;
            const std::size_t first = number_of(pair.first), second = number_of(pair.second);
            parent[root_of(first)] = root_of(second);
            // An own factor (a model's second noise) goes with its asset; unmentioned ones are consistent.
            for (const std::string* const name : {&pair.first, &pair.second}) {
                const auto own = market_.own_factors.find(*name);
                if (own == market_.own_factors.end()) continue;
                const std::size_t factor = number_of(*name), asset = number_of(own->second.of);
                parent[root_of(factor)] = root_of(asset);
            }
        }
        std::map<std::size_t, std::vector<std::size_t>> groups;
        for (std::size_t i = 0; i < names.size(); ++i) groups[root_of(i)].push_back(i);
        for (const auto& [root, members] : groups) {
            if (auto fault = fault_of_group(names, members)) return fault;
        }
        return std::nullopt;
    }

  private:
    std::optional<std::string> fault_of_group(const std::vector<std::string>& names,
                                              const std::vector<std::size_t>& members) const {
        if (members.size() > bounds::correlated) {
            return "found " + std::to_string(members.size()) +
                   " factors linked by correlations, expected at most " + std::to_string(bounds::correlated);
        }
        const Eigen::MatrixXd matrix = matrix_of(names, members);
        if (Eigen::LLT<Eigen::MatrixXd>(matrix).info() == Eigen::Success) return std::nullopt;
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(matrix);
        const double smallest = solved.eigenvalues()(0);
        if (smallest >= -eigenvalue_tolerance) return std::nullopt;

        std::vector<Eigen::Index> heaviest(members.size());
        std::iota(heaviest.begin(), heaviest.end(), Eigen::Index{0});
        const Eigen::VectorXd direction = solved.eigenvectors().col(0).cwiseAbs();
        std::stable_sort(heaviest.begin(), heaviest.end(),
                         [&](Eigen::Index a, Eigen::Index b) { return direction(a) > direction(b); });
        std::string involved;
        for (std::size_t i = 0; i < std::min<std::size_t>(heaviest.size(), 4); ++i) {
            involved += (i ? ", " : "") + names[members[static_cast<std::size_t>(heaviest[i])]];
        }
        return "the correlation matrix has the negative eigenvalue " + rounded(smallest) +
               ", expected none below 0; most involved: " + involved +
               " (pairs that are not given count as 0)" + nearest_valid(matrix, names, members);
    }

    // Fills the matrix in one pass over the stated correlations: looking up each pair by name would be slow.
    Eigen::MatrixXd matrix_of(const std::vector<std::string>& names,
                              const std::vector<std::size_t>& members) const {
        const auto size = static_cast<Eigen::Index>(members.size());
        Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(size, size);
        std::map<std::string_view, Eigen::Index> place;
        std::vector<Eigen::Index> own;
        for (Eigen::Index i = 0; i < size; ++i) {
            const std::string& name = names[members[static_cast<std::size_t>(i)]];
            place.emplace(name, i);
            if (market_.own_factors.contains(name)) own.push_back(i);
        }
        for (const auto& [pair, rho] : market_.correlations) {
            const auto first = place.find(pair.first), second = place.find(pair.second);
            if (first == place.end() || second == place.end()) continue;
            matrix(first->second, second->second) = matrix(second->second, first->second) = rho;
        }
        for (const Eigen::Index i : own) {
            for (Eigen::Index j = 0; j < size; ++j) {
                const std::string &one = names[members[static_cast<std::size_t>(std::max(i, j))]],
                                  &other = names[members[static_cast<std::size_t>(std::min(i, j))]];
                matrix(i, j) = matrix(j, i) = market_.correlation(one, other);
            }
        }
        return matrix;
    }

    // Returns such as "; the nearest valid matrix has [A, B, 0.81], ...".
    std::string nearest_valid(const Eigen::MatrixXd& given, const std::vector<std::string>& names,
                              const std::vector<std::size_t>& members) const {
        constexpr Eigen::Index most_factors = 200;
        constexpr std::size_t most_told = 10;
        if (given.rows() > most_factors) return "";
        // The model sets an own factor's correlation with its asset; the market can't, so keep it fixed.
        Eigen::MatrixXd anchor = Eigen::MatrixXd::Identity(given.rows(), given.cols());
        for (Eigen::Index i = 0; i < given.rows(); ++i) {
            const auto own = market_.own_factors.find(names[members[static_cast<std::size_t>(i)]]);
            if (own == market_.own_factors.end()) continue;
            for (Eigen::Index j = 0; j < given.cols(); ++j) {
                if (names[members[static_cast<std::size_t>(j)]] == own->second.of)
                    anchor(i, j) = anchor(j, i) = given(i, j);
            }
        }
        const Eigen::MatrixXd near = nearest_correlation(given, anchor);
        std::string told;
        std::size_t changed = 0;
        for (Eigen::Index i = 0; i < near.rows(); ++i) {
            for (Eigen::Index j = i + 1; j < near.rows(); ++j) {
                const std::string &one = names[members[static_cast<std::size_t>(i)]],
                                  &other = names[members[static_cast<std::size_t>(j)]];
                // An own factor's unstated correlation follows its asset's, which may change, so list it too.
                const bool follows =
                    anchor(i, j) == 0 && !market_.correlations.contains(std::minmax(one, other)) &&
                    (market_.own_factors.contains(one) || market_.own_factors.contains(other));
                const bool is_left = std::abs(near(i, j) - given(i, j)) < 5e-5 && !follows;
                if (is_left || ++changed > most_told) continue;
                told += (told.empty() ? "" : ", ") + std::string("[") + one + ", " + other + ", " +
                        rounded(near(i, j)) + "]";
            }
        }
        if (changed > most_told) told += " and " + std::to_string(changed - most_told) + " more";
        return "; the nearest valid matrix has " + told;
    }

    const market_state& market_;
};

}  // namespace

std::optional<std::string> fault_of_correlations(const market_state& market) {
    return correlation_check(market).fault();
}

}  // namespace tilewalk::markets
