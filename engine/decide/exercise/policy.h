// SPDX-License-Identifier: Apache-2.0
// A policy: what the value to come is taken for on each date on which somebody may end the trade, and the
// martingale that goes with it. It is data: rows of an ordinary program that decides, and of one that bounds
// what any decision can be worth.
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

// Polynomials of Hermite of the normal numbers that an interval between dates has drawn, each with mean 0 and
// variance 1 whatever was known before: what a martingale can move by.
class interval_moves {
  public:
    // Normals that are ranked are those of assets in the order in which these were when the interval began:
    // the first few tell most of what is to come, and move it by more polynomials.
    explicit interval_moves(std::size_t normals, bool are_ranked = false);

    // A column is a normal, or one of the powers behind them, which moves take as if it were one.
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

// How values to come are fitted. Less the moves of the fitted martingale, which have mean 0 whatever is
// known, the same paths leave a fraction of the noise: for policies whose decisions count to the first order,
// as they do in sensitivities. By functions of up to half the degree besides, to see by how much functions of
// all degrees may be out. Rights with notice or of several uses, and those without a martingale, take off
// nothing.
enum class fitting : std::uint8_t { usual, less_martingale, by_half_the_degree };

// The value to come after a date, where using the right pays something or where it does not: a sum of the
// basis, kept within what it was on the paths that it was fitted to.
struct fitted_side {
    std::vector<double> coefficients;
    double low = 0, high = 0;
    std::size_t rank = 0;  // so many functions make it up
};

// The value to come in one of the cases that a decision tells apart, and the martingale's slopes in it.
struct fitted_level {
    fitted_side paid, unpaid;
    std::vector<double> slopes;
};

struct decision_date {
    std::size_t block = 0, run = 0;  // of the script, and among the block's dates to come
    language::party of = language::party::holder;
    std::vector<double> means, scales;  // by feature: (feature - mean) * scale is what the basis takes
    std::vector<double> ahead;  // numbers by which features look ahead, in the order they are asked for
    fitted_side paid, unpaid;
    double root = 0;             // one over the root of the steps since the date before
    std::vector<double> slopes;  // [move][function]: the martingale over the interval that begins here
    // Several fits in place of one: by uses left after the date, for a right that may be used several times;
    // at the notice of a right, if it is not given and if it is.
    std::vector<fitted_level> levels;
    int forced_from = 0;  // uses left before the date with which the right must be used
    // At the notice of a right: the place of its payment in the schedule, from 1, and the slot that keeps
    // what its martingale takes.
    int index = 0;
    std::size_t slot = 0;
    double root_until_paid = 0;  // one over the root of the steps from the notice to the payment
    bool is_notice() const { return index > 0; }
};

// A feature that is no state by itself: one that the product names, by its number there; one of many states,
// which are ranked from the largest on, or averaged; or one of the numbers that the script compares by asset,
// likewise, or another number of the asset that has this rank.
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
// Assets of which each has a rank; of more so only the first few. And assets that move by more than one
// polynomial each: a kernel has no room for those of more.
inline constexpr std::size_t most_ranks = 7, ranks_of_many = 5, most_with_powers = 16;

// The weight of a step's normal numbers in sums over steps.
inline double weight_of_step(std::span<const double> stops, std::size_t step) {
    return std::sqrt(stops[step + 1] - stops[step]);
}

struct policy {
    basis functions{0};
    std::vector<std::uint32_t> features;  // states of the recorded program
    std::vector<made_feature> made;       // behind them
    std::vector<std::uint32_t> normals;   // slots of the step
    // The script compares assets, and normals are one for each of them, in the order of their list. Moves
    // take them by the rank of their asset when the interval began.
    bool are_normals_ranked = false;
    // The rotation that makes them of the numbers that steps draw, where correlated assets share these:
    // [asset][normal]. Empty: they are those themselves.
    std::vector<double> rotation;
    bool weighs_steps = false;         // in sums of them, by their length; or all weigh alike
    std::vector<decision_date> dates;  // in order of time
    std::vector<double> first_slopes;  // by move: over the interval that begins today
    double last_root = 0;              // of the interval after the last date
    // A right that is there today: its payment, and whether it is used.
    std::optional<double> today;
    bool is_used_today = false;
    bool has_holder = false, has_issuer = false;
    // How often a right may be used from today on, and must be; 0: once, which ends the trade.
    int uses = 0, least_uses = 0;
    bool must_be_used_today = false;
    std::vector<std::vector<double>> first_slopes_by_uses;  // as first_slopes, by uses left after today
    std::size_t notice_slots = 0;  // notices given before the payment of others, and one; 0: there is none
    std::uint64_t paths = 0;       // that it was found on
    // The distance by which the market has moved the decision's states since training: the furthest of all
    // dates, in standard deviations of the training paths on the date.
    double moved = 0;
    // The gain of a right that is there every so many years over one that is there half as often, and its
    // standard error.
    std::optional<double> gain_of_step;
    double error_of_gain = 0;

    // Each date decides once whether the trade ends there.
    bool is_plain() const { return uses == 0 && notice_slots == 0 && !weighs_steps; }
    // With rights of both, no decision of one bounds the value.
    bool has_bound() const { return has_holder != has_issuer && !normals.empty(); }
    // Assets that the script compares are unlike.
    bool tells_volatilities() const;
    interval_moves moves() const {
        return interval_moves(has_bound() ? normals.size() : 0, are_normals_ranked);
    }
};

// Leaves decisions alone: no bound follows from the policy.
void drop_martingale(policy& of);
// Decides whether a right of today is used, if there is one; paths that do not use it are worth so much.
void decide_today(policy& by, double to_come);
// Takes what the dates of a right gain over every second of them: the sum over paths, and that of the squares
// of what each is off the mean.
void take_gain(policy& by, std::uint64_t paths, double sum, double squares);
// A path that has no finite number trains nothing.
[[noreturn]] void throw_not_finite();

}  // namespace tilewalk::exercise
