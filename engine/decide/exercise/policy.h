// SPDX-License-Identifier: Apache-2.0
// A policy: continuation values on dates of rights, and a martingale, as rows of programs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/decide/exercise/basis.h"
#include "kernels/exercise/least_squares.h"
#include "products/language/payoff.h"

namespace tilewalk::exercise {

// Hermite polynomials of the normals of an interval between dates, each with mean 0 and variance 1 whatever
// was known before: what a martingale can move by.
class interval_moves {
  public:
    // Ranked normals are those of assets by rank at the interval's start; the first few get more polynomials.
    explicit interval_moves(std::size_t normals, bool are_ranked = false);

    // A column is a normal, or one of the powers behind them, which moves take as normals.
    struct move {
        std::size_t first, second;
        int order;
    };
    struct power {
        std::size_t normal;
        int order;
    };
    std::size_t size() const { return moves_.size(); }
    const std::vector<move>& moves() const { return moves_; }
    std::size_t columns() const { return normals_ + powers_.size(); }

    template <class number>
    std::vector<number> powers_of(const std::vector<number>& normals, const number& one) const {
        std::vector<number> out;
        for (const power& p : powers_) out.push_back(kernels::hermite(p.order, normals[p.normal], one));
        return out;
    }
    template <class number>
    static number of(const move& m, const std::vector<number>& columns, const number& one) {
        const number& u = columns[m.first];
        return m.second != m.first ? u * columns[m.second] : kernels::hermite(m.order, u, one);
    }
    template <class number>
    std::vector<number> of(const std::vector<number>& normals, const number& one) const {
        std::vector<number> columns = normals, out;
        for (const number& p : powers_of(normals, one)) columns.push_back(p);
        for (const move& m : moves_) out.push_back(of(m, columns, one));
        return out;
    }

  private:
    void add_ranked();

    std::size_t normals_;
    std::vector<power> powers_;
    std::vector<move> moves_;
};

// How continuation values are fitted. Without the moves of the fitted martingale, which have mean 0 whatever
// is known, the same paths leave a fraction of the noise: for policies whose decisions count to the first
// order, as in sensitivities. With functions of half the degree besides, fits show by how much all functions
// may be out. Rights with notice or of several uses, and those without a martingale, take off nothing.
enum class fitting : std::uint8_t { usual, less_martingale, by_half_the_degree };

// The continuation value after a date, if using the right pays something or if it does not: a sum of the
// basis, within its range on the training paths.
struct fitted_side {
    std::vector<double> coefficients;
    double low = 0, high = 0;
    std::size_t rank = 0;  // functions that make it up
};

// The continuation value and the martingale's slopes in one of the cases of a decision.
struct fitted_level {
    fitted_side paid, unpaid;
    std::vector<double> slopes;
};

struct decision_date {
    std::size_t block = 0, run = 0;  // of the script, and among the block's future dates
    language::party of = language::party::holder;
    std::vector<double> means, scales;  // by feature: the basis takes (feature - mean) * scale
    std::vector<double> ahead;          // numbers by which features look ahead, in the order of requests
    fitted_side paid, unpaid;
    double root = 0;             // one over the deviation of the sum of normals since the date before
    std::vector<double> slopes;  // [move][function]: of the interval that begins here
    // Several fits: by uses left after the date, or, at a notice, without and with it.
    std::vector<fitted_level> levels;
    int forced_from = 0;  // with as many uses left before the date, the right must be used
    // At a notice: the place of its payment in the schedule, from 1, and the slot of its martingale.
    int index = 0;
    std::size_t slot = 0;
    double root_until_paid = 0;  // likewise, from the notice to the payment
    bool is_notice() const { return index > 0; }
};

// A feature that is no state by itself: one that the product names; one of many states, by rank from the
// largest on, or their mean; one of the numbers that the script compares by asset, likewise; or another
// number of the asset of this rank.
struct made_feature {
    enum class kind : std::uint8_t {
        named,
        ranked,
        mean,
        compared,
        mean_compared,
        of_compared
    } is = kind::named;
    std::size_t number = 0;  // among those named, or the rank; from 0
    std::vector<std::uint32_t> states;
    std::vector<double> by_asset;  // of_compared alone
};
// Most assets that all have a rank; ranks if there are more; and most assets that move by more than one
// polynomial each, as many as a kernel has room for.
inline constexpr std::size_t most_ranks = 7, ranks_of_many = 5, most_with_powers = 16;

inline double weight_of_step(std::span<const double> stops, std::size_t step) {
    return std::sqrt(stops[step + 1] - stops[step]);
}

struct policy {
    basis functions{0};
    std::vector<std::uint32_t> features;  // states of the recorded program
    std::vector<made_feature> made;       // behind them
    std::vector<std::uint32_t> normals;   // slots of the step
    // Normals are one for each compared asset; moves take them by its rank at the interval's start.
    bool are_normals_ranked = false;
    // [asset][normal]: from the normals that steps draw to the assets' own; empty: they are the same.
    std::vector<double> rotation;
    bool weighs_steps = false;         // sums of normals weigh steps by length; else all alike
    std::vector<decision_date> dates;  // in order of time
    std::vector<double> first_slopes;  // by move: over the interval that begins today
    double last_root = 0;              // of the interval after the last date
    // The payment of a right today; empty if there is none.
    std::optional<double> today;
    bool is_used_today = false;
    bool has_holder = false, has_issuer = false;
    // How often a right may and must be used from today on; 0: once, which ends the trade.
    int uses = 0, least_uses = 0;
    bool must_be_used_today = false;
    std::vector<std::vector<double>> first_slopes_by_uses;  // as first_slopes, by uses left after today
    std::size_t notice_slots = 0;  // most notices that wait for payment at once; 0: no notices
    std::uint64_t paths = 0;       // of training
    // The furthest move of a decision's states since training, in their standard deviations on the date.
    double moved = 0;
    // The gain of a right at every step over one at every second step, and its standard error.
    std::optional<double> gain_of_step;
    double error_of_gain = 0;

    // True if each date decides once whether the trade ends there.
    bool is_plain() const { return uses == 0 && notice_slots == 0 && !weighs_steps; }
    // Rights of both sides leave no bound: no decision of one bounds the value.
    bool has_bound() const { return has_holder != has_issuer && !normals.empty(); }
    bool tells_volatilities() const;
    interval_moves moves() const {
        return interval_moves(has_bound() ? normals.size() : 0, are_normals_ranked);
    }
};

// Keeps decisions; the policy has no bound then.
void drop_martingale(policy& of);
// Decides whether a right of today is used; paths that do not use it are worth `to_come`.
void decide_today(policy& by, double to_come);
// Takes the gain of all dates over every second of them: its sum over paths, and the squares about its mean.
void take_gain(policy& by, std::uint64_t paths, double sum, double squares);
[[noreturn]] void throw_not_finite();

}  // namespace tilewalk::exercise
