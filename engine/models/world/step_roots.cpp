// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/step_roots.h"

#include "kernels/math.h"

namespace tilewalk::models {

step_roots::step_roots(const members& of, std::span<const double> grid, const std::function<void()>& poll)
    : sources_(of.sources().size()), shares_noise_(sources_, false) {
    const std::size_t n = sources_;
    roots_.reserve(grid.size());
    for (std::size_t s = 0; s + 1 < grid.size(); ++s) {
        poll();
        roots_.push_back(root_of(of, grid[s], grid[s + 1]));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (roots_[s][i * n + j] != 0) shares_noise_[i] = shares_noise_[j] = true;
            }
        }
    }
}

std::vector<double> step_roots::entries(std::size_t i, std::size_t j) const {
    std::vector<double> out;
    out.reserve(roots_.size());
    for (const auto& root : roots_) out.push_back(root[i * sources_ + j]);
    return out;
}

std::vector<double> step_roots::root_of(const members& of, double from, double to) const {
    const std::size_t n = sources_;
    const std::span<const source> sources = of.sources();
    std::vector<double> c(n * n), root(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            c[i * n + j] = of.covariance(sources[i].moves_with, sources[j].moves_with, from, to);
        }
    }
    for (std::size_t j = 0; j < n; ++j) {
        double pivot = c[j * n + j];
        for (std::size_t k = 0; k < j; ++k) pivot -= root[j * n + k] * root[j * n + k];
        // Takes a pivot within rounding of 0 as 0: matrices may be singular (two assets with correlation 1).
        if (pivot <= c[j * n + j] * 1e-12) continue;
        root[j * n + j] = kernels::sqrt(pivot);
        for (std::size_t i = j + 1; i < n; ++i) {
            double sum = c[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
            root[i * n + j] = sum / root[j * n + j];
        }
    }
    return root;
}

}  // namespace tilewalk::models
