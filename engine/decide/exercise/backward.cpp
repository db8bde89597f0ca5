// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/backward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/crew.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::exercise {

namespace {

double product(std::span<const double> coefficients, const std::vector<block_column>& functions,
               std::size_t i) {
    double out = 0;
    for (std::size_t f = 0; f < coefficients.size(); ++f)
        out = std::fma(coefficients[f], functions[f][i], out);
    return out;
}

std::size_t rank_for(std::size_t paths, kernels::word64 of_function) {
    return static_cast<std::size_t>(kernels::most_rank(paths, of_function));
}

}  // namespace

backward::backward(policy& into, std::span<const double> at_the_end, interval_left last, int threads,
                   const std::atomic<bool>* cancel)
    : into_(into),
      paths_(at_the_end.size()),
      tiles_((paths_ + kernels::paths_per_tile - 1) / kernels::paths_per_tile),
      threads_(threads),
      cancel_(cancel),
      moves_(into.moves()),
      after_(std::move(last)),
      total_(at_the_end.begin(), at_the_end.end()),
      worth_(total_),
      estimate_(paths_),
      rest_(paths_),
      counted_(tiles_),
      blocks_(static_cast<std::size_t>(std::max(threads, 1))) {
    for (const double x : total_)
        if (!std::isfinite(x)) throw_not_finite();
    for (block& b : blocks_) {
        b.features.resize(into_.functions.features());
        b.functions.resize(into_.functions.functions());
        b.moves.resize(moves_.size());
        b.columns.resize(moves_.columns());
    }
}

void backward::fit_as(fitting how) {
    if (how == fitting::usual) return;
    if (into_.has_bound() && into_.notice_slots == 0 && into_.uses == 0) moved_.assign(paths_, 0);
    if (how != fitting::by_half_the_degree) return;
    const std::vector<int> degrees = into_.functions.degrees();
    const int half = std::ranges::max(degrees) / 2;
    for (const int degree : degrees) left_out_.push_back(degree > half);
}

void backward::decide(decision_date& d, const date_left& left) {
    take_sides(left);
    scale_features(d, left);
    fitted_level of = fitted(d, left);
    if (!moved_.empty()) {
        add_moves(of, d, left);
        fit_sides(of, d, left);
        estimate_rest(of, d, left);
    }
    d.paid = std::move(of.paid);
    d.unpaid = std::move(of.unpaid);
    d.slopes = std::move(of.slopes);
    use_rights(d, left);
    after_ = left.before;
}

fitted_level backward::fitted(const decision_date& d, const date_left& left) {
    fitted_level out;
    fit_sides(out, d, left);
    estimate_rest(out, d, left);
    if (into_.has_bound()) fit_slopes(out.slopes, d, left, into_.functions.functions());
    return out;
}

void backward::take_all() {
    for (std::size_t tile = 0; tile < tiles_; ++tile) {
        const std::size_t first = tile * kernels::paths_per_tile;
        auto& [all, none] = counted_[tile];
        all.clear();
        none.clear();
        for (std::size_t p = first; p < std::min(first + kernels::paths_per_tile, paths_); ++p)
            all.push_back(static_cast<std::uint32_t>(p));
    }
}

std::array<double, 2> backward::gain_of(std::span<const double> others) {
    take_all();
    double mean = 0;
    const auto fill = [&](block& b, paths_of paths) {
        b.one.fill(0);
        for (std::size_t i = 0; i < paths.size(); ++i) b.one[i] = others[paths[i]] - total_[paths[i]] - mean;
    };
    const double sum = summed(1, [&](std::size_t tile, block& b, std::span<double> into) {
        b.other.fill(1);
        for_blocks(tile, [&](int, paths_of paths) {
            fill(b, paths);
            into[0] += sum_of_products(b.other, b.one);
        });
    })[0];
    mean = sum / static_cast<double>(paths_);
    const double squares = summed(1, [&](std::size_t tile, block& b, std::span<double> into) {
        for_blocks(tile, [&](int, paths_of paths) {
            fill(b, paths);
            into[0] += sum_of_products(b.one, b.one);
        });
    })[0];
    return {sum, squares};
}

double backward::end() {
    take_all();
    const std::vector<double> sums = summed(2, [&](std::size_t tile, block& b, std::span<double> into) {
        for_blocks(tile, [&](int, paths_of paths) {
            fill_functions(b, paths, {}, {});
            b.one.fill(0);
            b.other.fill(0);
            for (std::size_t i = 0; i < paths.size(); ++i) {
                b.one[i] = worth_[paths[i]];
                b.other[i] = total_[paths[i]];
            }
            into[0] += sum_of_products(b.functions[0], b.one);
            into[1] += sum_of_products(b.functions[0], b.other);
        });
    });
    const double paths = static_cast<double>(paths_), plain = sums[1] / paths;
    if (into_.has_bound()) {
        for (std::size_t p = 0; p < paths_; ++p) rest_[p] = worth_[p] - sums[0] / paths;
        gram_ = {paths};
        fit_slopes(into_.first_slopes, {}, {}, 1);
    }
    decide_today(into_, plain);
    return plain;
}

std::vector<double> backward::summed(std::size_t numbers, const of_tile& find, std::size_t tiles) {
    std::vector<double> by_tile(tiles * numbers), out(numbers);
    threads::for_each(tiles, threads_, cancel_,
                      [&](int thread, std::uint64_t tile) {
                          find(tile, blocks_[static_cast<std::size_t>(thread)],
                               std::span(by_tile).subspan(tile * numbers, numbers));
                      },
                      {});
    for (std::size_t tile = 0; tile < tiles; ++tile)
        for (std::size_t i = 0; i < numbers; ++i) out[i] += by_tile[tile * numbers + i];
    return out;
}

void backward::for_blocks(std::size_t tile, const std::function<void(int side, paths_of)>& use) const {
    for (int side = 0; side < 2; ++side) {
        const paths_of all = counted_[tile][static_cast<std::size_t>(side)];
        for (std::size_t first = 0; first < all.size(); first += paths_of_block)
            use(side, all.subspan(first, std::min(paths_of_block, all.size() - first)));
    }
}

void backward::fill_functions(block& b, paths_of paths, const decision_date& d, const date_left& left) const {
    b.functions[0].fill(0);
    std::fill_n(b.functions[0].begin(), paths.size(), 1.0);
    if (left.value == nullptr) return;
    for (std::size_t f = 0; f < b.features.size(); ++f) {
        block_column& to = b.features[f];
        to.fill(0);
        const double mean = d.means[f], scale = d.scales[f];
        const double* const from = f < left.features.size() ? left.features[f] : nullptr;
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const std::uint32_t p = paths[i];
            to[i] = ((from != nullptr ? from[p] : left.gives[p] / left.unit[p]) - mean) * scale;
        }
    }
    const std::vector<basis::product>& products = into_.functions.products();
    for (std::size_t k = 0; k < products.size(); ++k) {
        const block_column &before = b.functions[products[k].before], &by = b.features[products[k].feature];
        for (std::size_t i = 0; i < paths_of_block; ++i) b.functions[k + 1][i] = before[i] * by[i];
    }
}

void backward::fill_moves(block& b, paths_of paths) const {
    for (block_column& m : b.moves) m.fill(0);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        for (std::size_t c = 0; c < b.columns.size(); ++c)
            b.columns[c] = after_.sums[c][paths[i]] * after_.root;
        for (std::size_t m = 0; m < moves_.size(); ++m)
            b.moves[m][i] = interval_moves::value_of(moves_.moves()[m], b.columns, 1.0);
    }
}

void backward::take_sides(const date_left& left) {
    for (std::size_t p = 0; p < paths_; ++p) {
        sides& of = counted_[p / kernels::paths_per_tile];
        if (p % kernels::paths_per_tile == 0) of[0].clear(), of[1].clear();
        if (left.alive[p] == 0) continue;
        const bool pays = left.offered[p] != 0 && left.gives[p] / left.unit[p] > 0;
        of[pays ? 0 : 1].push_back(static_cast<std::uint32_t>(p));
    }
}

std::size_t backward::living(std::size_t tiles) const {
    std::size_t out = 0;
    for (const sides& of : std::span(counted_).first(tiles)) out += of[0].size() + of[1].size();
    return out;
}

// Finds each feature's mean and scale (1 / deviation) on living paths; scale 0 if all values agree.
void backward::scale_features(decision_date& d, const date_left& left) {
    const std::size_t count = into_.functions.features();
    std::size_t tiles = std::min<std::size_t>(tiles_, kernels::tiles_of_scales);
    if (living(tiles) < kernels::least_paths_of_scales) tiles = tiles_;
    const double paths = static_cast<double>(std::max<std::size_t>(living(tiles), 1));
    const auto fill = [&](block_column& to, std::size_t f, paths_of of, double less) {
        to.fill(0);
        for (std::size_t i = 0; i < of.size(); ++i) {
            const std::uint32_t p = of[i];
            to[i] = (f < left.features.size() ? left.features[f][p] : left.gives[p] / left.unit[p]) - less;
        }
    };
    d.means.assign(count, 0);
    d.scales.assign(count, 0);
    const auto sum_numbers = [&](std::size_t tile, block& b, std::span<double> into) {
        b.one.fill(1);
        for_blocks(tile, [&](int, paths_of of) {
            for (std::size_t f = 0; f < count; ++f) {
                fill(b.other, f, of, 0);
                into[f] += sum_of_products(b.one, b.other);
            }
        });
    };
    const auto sum_squares = [&](std::size_t tile, block& b, std::span<double> into) {
        for_blocks(tile, [&](int, paths_of of) {
            for (std::size_t f = 0; f < count; ++f) {
                fill(b.other, f, of, d.means[f]);
                into[f] += sum_of_products(b.other, b.other);
            }
        });
    };
    const std::vector<double> sums = summed(count, sum_numbers, tiles);
    for (std::size_t f = 0; f < count; ++f) d.means[f] = std::isfinite(sums[f]) ? sums[f] / paths : 0;
    const std::vector<double> squares = summed(count, sum_squares, tiles);
    for (std::size_t f = 0; f < count; ++f) {
        const double deviation = std::sqrt(squares[f] / paths);
        if (deviation > 1e-10 * std::abs(d.means[f]) && std::isfinite(1 / deviation))
            d.scales[f] = 1 / deviation;
    }
}

void backward::fit_sides(fitted_level& to, const decision_date& d, const date_left& left) {
    const std::size_t count = into_.functions.functions(), of_side = count * count + count;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    using range = std::array<std::pair<double, double>, 2>;
    std::vector<range> ranges(tiles_, {{{infinity, -infinity}, {infinity, -infinity}}});
    const std::vector<double> sums =
        summed(2 * of_side, [&](std::size_t tile, block& b, std::span<double> into) {
            for_blocks(tile, [&](int side, paths_of paths) {
                const auto s = static_cast<std::size_t>(side);
                fill_functions(b, paths, d, left);
                b.one.fill(0);
                auto& [low, high] = ranges[tile][s];
                for (std::size_t i = 0; i < paths.size(); ++i) {
                    const std::uint32_t p = paths[i];
                    const double to_come = (total_[p] - left.value[p]) / left.unit[p];
                    b.one[i] = moved_.empty() ? to_come : to_come - moved_[p] / left.unit[p];
                    low = std::min(low, to_come);
                    high = std::max(high, to_come);
                }
                const std::span<double> gram = into.subspan(s * of_side, count * count);
                for (std::size_t i = 0; i < count; ++i) {
                    for (std::size_t j = 0; j <= i; ++j)
                        gram[i * count + j] += sum_of_products(b.functions[i], b.functions[j]);
                    into[s * of_side + count * count + i] += sum_of_products(b.functions[i], b.one);
                }
            });
        });
    gram_.assign(count * count, 0);
    for (std::size_t s = 0; s < 2; ++s) {
        std::vector<double> gram(sums.begin() + static_cast<std::ptrdiff_t>(s * of_side),
                                 sums.begin() + static_cast<std::ptrdiff_t>(s * of_side + count * count));
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < i; ++j) gram[j * count + i] = gram[i * count + j];
        for (std::size_t k = 0; k < gram.size(); ++k) gram_[k] += gram[k];
        fitted_side& side = s == 0 ? to.paid : to.unpaid;
        side.coefficients.assign(count, 0);
        std::size_t paths = 0;
        for (const sides& of : counted_) paths += of[s].size();
        if (paths == 0) continue;
        side.low = infinity;
        side.high = -infinity;
        for (const range& of : ranges) {
            side.low = std::min(side.low, of[s].first);
            side.high = std::max(side.high, of[s].second);
        }
        for (std::size_t f = 0; f < left_out_.size(); ++f)
            if (left_out_[f]) gram[f * count + f] = 0;
        const pivoted_factor factor(gram, count, rank_for(paths, kernels::paths_of_function));
        side.rank = factor.rank();
        side.coefficients = factor.solve(std::span(sums).subspan(s * of_side + count * count, count));
    }
}

void backward::estimate_rest(const fitted_level& of, const decision_date& d, const date_left& left) {
    summed(0, [&](std::size_t tile, block& b, std::span<double>) {
        for_blocks(tile, [&](int side, paths_of paths) {
            fill_functions(b, paths, d, left);
            const fitted_side& by = side == 0 ? of.paid : of.unpaid;
            for (std::size_t i = 0; i < paths.size(); ++i) {
                const std::uint32_t p = paths[i];
                estimate_[p] = std::min(std::max(product(by.coefficients, b.functions, i), by.low), by.high);
                rest_[p] = (worth_[p] - left.value[p]) / left.unit[p] - estimate_[p];
            }
        });
    });
}

// Slopes are a least-squares fit of what the interval adds to the expected worth. The regressors are products
// of moves and functions of the state at its start. Moves are orthonormal given that state, so in expectation
// each move has the functions' own Gram matrix. Its factor preconditions a few steps of conjugate gradients,
// which correct for the sample.
void backward::fit_slopes(std::vector<double>& slopes, const decision_date& d, const date_left& left,
                          std::size_t functions) {
    const std::size_t numbers = moves_.size() * functions;
    const pivoted_factor factor(gram_, functions, rank_for(living(tiles_), kernels::paths_of_slope));
    const auto nearly_solved = [&](const std::vector<double>& right) {
        std::vector<double> out;
        for (std::size_t m = 0; m < moves_.size(); ++m)
            for (const double x : factor.solve(std::span(right).subspan(m * functions, functions)))
                out.push_back(x);
        return out;
    };
    // Returns the products of the regressors (move times function) with numbers that `number` writes.
    const auto products_with = [&](const std::function<void(block&, paths_of)>& number) {
        return summed(numbers, [&](std::size_t tile, block& b, std::span<double> into) {
            for_blocks(tile, [&](int, paths_of paths) {
                fill_functions(b, paths, d, left);
                fill_moves(b, paths);
                b.one.fill(0);
                number(b, paths);
                for (std::size_t m = 0; m < moves_.size(); ++m) {
                    for (std::size_t i = 0; i < paths_of_block; ++i) b.other[i] = b.one[i] * b.moves[m][i];
                    for (std::size_t f = 0; f < functions; ++f)
                        into[m * functions + f] += sum_of_products(b.functions[f], b.other);
                }
            });
        });
    };
    slopes.assign(numbers, 0);
    std::vector<double> right = products_with([&](block& b, paths_of paths) {
        for (std::size_t i = 0; i < paths.size(); ++i) b.one[i] = rest_[paths[i]];
    });
    std::vector<double> nearly = nearly_solved(right), along = nearly;
    double size = inner(right, nearly);
    // With moves subtracted from the fitted worth, slopes need less precision: any slopes leave the mean
    // alone, and half the steps leave little more noise.
    const int steps = moved_.empty() ? kernels::steps_to_slopes : kernels::steps_to_slopes / 2;
    for (int k = 0; k < steps && size > 0; ++k) {
        const std::vector<double> image = products_with([&](block& b, paths_of) {
            for (std::size_t m = 0; m < moves_.size(); ++m) {
                b.other.fill(0);
                for (std::size_t f = 0; f < functions; ++f) {
                    const double by = along[m * functions + f];
                    for (std::size_t i = 0; i < paths_of_block; ++i)
                        b.other[i] = std::fma(by, b.functions[f][i], b.other[i]);
                }
                for (std::size_t i = 0; i < paths_of_block; ++i)
                    b.one[i] = std::fma(b.other[i], b.moves[m][i], b.one[i]);
            }
        });
        const double length = size / inner(along, image);
        if (!std::isfinite(length)) break;
        for (std::size_t i = 0; i < numbers; ++i) {
            slopes[i] = std::fma(length, along[i], slopes[i]);
            right[i] = std::fma(-length, image[i], right[i]);
        }
        nearly = nearly_solved(right);
        const double before = std::exchange(size, inner(right, nearly));
        for (std::size_t i = 0; i < numbers; ++i) along[i] = std::fma(size / before, along[i], nearly[i]);
    }
}

void backward::add_moves(const fitted_level& of, const decision_date& d, const date_left& left) {
    if (after_.root == 0) return;  // the interval is empty: another right has the same date
    const std::size_t functions = into_.functions.functions();
    summed(0, [&](std::size_t tile, block& b, std::span<double>) {
        for_blocks(tile, [&](int, paths_of paths) {
            fill_functions(b, paths, d, left);
            fill_moves(b, paths);
            for (std::size_t m = 0; m < moves_.size(); ++m) {
                const auto slopes = std::span(of.slopes).subspan(m * functions, functions);
                for (std::size_t i = 0; i < paths.size(); ++i)
                    moved_[paths[i]] += left.unit[paths[i]] * product(slopes, b.functions, i) * b.moves[m][i];
            }
        });
    });
}

void backward::use_rights(const decision_date& d, const date_left& left) {
    const bool is_holder = d.of == language::party::holder;
    for (std::size_t p = 0; p < paths_; ++p) {
        if (left.alive[p] == 0) {
            worth_[p] = total_[p];
            continue;
        }
        const double paid = left.gives[p] / left.unit[p];
        const bool uses = left.offered[p] != 0 && (is_holder ? estimate_[p] < paid : paid < estimate_[p]);
        if (uses) total_[p] = left.value[p] + left.gives[p];
        if (uses && !moved_.empty()) moved_[p] = 0;
        worth_[p] = left.value[p] + (uses ? left.gives[p] : left.unit[p] * estimate_[p]);
    }
}

}  // namespace tilewalk::exercise
