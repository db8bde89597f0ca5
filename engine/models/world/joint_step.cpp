// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/joint_step.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/models/world/step_roots.h"
#include "kernels/math.h"
#include "products/program/row_names.h"

namespace tilewalk::models {

namespace {

using program::value;
namespace row_names = program::row_names;

value correlated_move(value drift, std::span<const value> shocks, std::span<const value> root) {
    value move = drift;
    for (std::size_t j = 0; j < root.size(); ++j) move = fma(shocks[j], root[j], move);
    return move;
}

class joint_moves {
  public:
    joint_moves(const members& of, const open_section& in)
        : of_(of), in_(in), roots_(of, in.grid(), [&] { in.into().poll(); }) {
        const std::size_t all = of_.sources().size();
        for (const source& s : of_.sources()) shocks_.push_back(in_.into().normal(s.stream));
        for (std::size_t i = 0; i < all; ++i) {
            std::vector<value> root;
            for (std::size_t j = 0; j <= i; ++j) root.push_back(root_row(i, j));
            moves_.push_back(correlated_move(drift_of(i), shocks_, root));
        }
    }

    value of_source(std::size_t number) const { return moves_[number]; }
    void tell(hears_moves& by) const {
        const std::span<const double> grid = in_.grid();
        by.hear({moves_, shocks_,
                 [&](std::size_t i) {
                     std::vector<double> out;
                     for (std::size_t s = 0; s + 1 < grid.size(); ++s)
                         out.push_back(sure_move(i, grid[s], grid[s + 1]));
                     return out;
                 },
                 [&](std::size_t i, std::size_t k) { return roots_.entries(i, k); }},
                in_.into());
    }
    value shock(std::size_t source) const { return shocks_[source]; }

    // True if `f` and own factor k of its model share noise only with each other, without a quanto drift.
    bool is_by_itself(const factor& f, std::size_t k) const {
        return !roots_.shares_noise(f.number) && f.quanto.empty() && !f.sources_of_others[k];
    }

    // The move of own factor k. If no correlation names it, it shares noise with `f` alone, and the rest of
    // its noise is independent, which is consistent with any correlations of other sources.
    value other(const factor& f, std::size_t k) const {
        if (const auto named = f.sources_of_others[k]) return moves_[*named];
        const own_factor& other = f.others[k];
        const value fresh = in_.row_between(other.name + "_noise", f.number, [&](double from, double to) {
            const double shared = other.correlation.from(from);
            return kernels::sqrt(std::max(0.0, 1 - shared * shared)) * kernels::sqrt(to - from);
        });
        const value shared = in_.row_between(other.name + "_correlation", f.number, [&](double from, double) {
            return other.correlation.from(from);
        });
        return fma(shared, moves_[f.number], fresh * in_.into().normal(f.stream));
    }

  private:
    double sure_move(std::size_t i, double from, double to) const {
        const source& s = of_.sources()[i];
        const double own = !s.is_own    ? 0
                           : s.of->walk ? s.of->walk->drift(from, to)
                                        : -0.5 * of_.variance(*s.of, from, to);
        return own - of_.covariance(s.moves_with, *s.quanto, from, to);
    }
    value drift_of(std::size_t i) const {
        return in_.row_between(row_names::drift, i,
                               [&](double from, double to) { return sure_move(i, from, to); });
    }

    value root_row(std::size_t i, std::size_t j) const {
        in_.into().poll();
        return in_.into().row(row_names::element_of_covariance_root(i, j), roots_.entries(i, j));
    }

    const members& of_;
    const open_section& in_;
    step_roots roots_;
    std::vector<value> shocks_, moves_;  // indexed by source
};

class factor_step final : public own_section<step> {
  public:
    factor_step(const open_section& in, const factor& f, const joint_moves& moves)
        : own_section(in, f), of_(f), moves_(moves) {}

    value own() const override { return moves_.of_source(of_.number); }
    value other(std::size_t k) override {
        const auto [at, is_new] = others_.try_emplace(k);
        if (is_new) at->second = moves_.other(of_, k);
        return at->second;
    }
    apart noise_apart(std::size_t k) override {
        // Two independent normals are enough if no other source shares them.
        if (moves_.is_by_itself(of_, k)) return {normal(), moves_.shock(of_.number)};
        const by_term& rho = of_.others[k].correlation;
        const std::string name = "_apart_" + std::to_string(k);
        const value per_root =
            row("per_root", [](double from, double to) { return 1 / kernels::sqrt(to - from); });
        const value shared = row("shared" + name, [&](double from, double) { return -rho.from(from); });
        const value unshared = row("unshared" + name, [&](double from, double to) {
            constexpr double least = 1e-12;
            const double of_own = rho.from(from);
            return 1 / kernels::sqrt(std::max(1 - of_own * of_own, least) * (to - from));
        });
        return {per_root * other(k), unshared * fma(shared, other(k), own())};
    }

  private:
    const factor& of_;
    const joint_moves& moves_;
    std::map<std::size_t, value> others_;  // cached, since each call would draw again
};

class rates_step final : public own_section<rate_step> {
  public:
    rates_step(const open_section& in, const moving_rates& r, const joint_moves& moves)
        : own_section(in, r), of_(r), moves_(moves) {}

    value noise(std::size_t number) const override { return moves_.of_source(of_.first_source + number); }

  private:
    const moving_rates& of_;
    const joint_moves& moves_;
};

// Logarithm of the level after the cash dividends at the end of the step.
value fallen(const open_section& in, const factor& f, value x) {
    constexpr double nothing_left = 1e-30;  // representable in single precision
    const value fall = in.row_between("fall", f.number, [&](double from, double to) {
        return markets::cash_fall(*f.asset, *f.carry, from, to);
    });
    return select(fall > in.into().constant(0.0), log(max(exp(x) - fall, nothing_left)), x);
}

value moved_factor(const factor& f, const open_section& in, const joint_moves& moves, path_states& states) {
    const value x = states.at(f);
    value start = x, end;
    if (f.walk) {
        factor_step seen(in, f, moves);
        const arrival to = f.walk->record(seen, x);
        end = to.x;
        if (to.start.valid()) start = to.start;
    } else {
        end = x + moves.of_source(f.number);
    }
    states.keep_start(f, start, x);
    if (!f.falls) return end;
    states.keep_before_fall(f, end);
    return fallen(in, f, end);
}

}  // namespace

void record_joint_step(const members& of, const open_section& in, path_states& states, hears_moves* by) {
    const joint_moves moves(of, in);
    if (by != nullptr) moves.tell(*by);
    std::vector<value> next;
    for (const factor& f : of.factors()) next.push_back(moved_factor(f, in, moves, states));
    for (const moving_rates& r : of.rates()) {
        states.keep_growth(r);
        rates_step seen(in, r, moves);
        r.walk->record(seen);
    }
    for (const factor& f : of.factors()) states.move(f, next[f.number]);
}

}  // namespace tilewalk::models
