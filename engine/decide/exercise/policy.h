// SPDX-License-Identifier: Apache-2.0
// A policy for using rights: continuation values and a martingale on each date, recorded as rows of programs.
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

// Moves of a martingale between two dates: Hermite polynomials of the interval's normals, each of mean 0 and
// variance 1 given what was known at its start.
class interval_moves {
  public:
    // `are_ranked`: normals are of assets by rank at the interval's start; the first have more polynomials.
    explicit interval_moves(std::size_t normals, bool are_ranked = false);

    // A Hermite polynomial of column `first`, or if `second` differs, the product of both columns. Columns
    // are the normals, then the powers.
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
    static number value_of(const move& m, const std::vector<number>& columns, const number& one) {
        const number& u = columns[m.first];
        return m.second != m.first ? u * columns[m.second] : kernels::hermite(m.order, u, one);
    }
    template <class number>
    std::vector<number> values(const std::vector<number>& normals, const number& one) const {
        std::vector<number> columns = normals, out;
        for (const number& p : powers_of(normals, one)) columns.push_back(p);
        for (const move& m : moves_) out.push_back(value_of(m, columns, one));
        return out;
    }

  private:
    void add_ranked();

    std::size_t normals_;
    std::vector<power> powers_;
    std::vector<move> moves_;
};

// Ways to fit continuation values. less_martingale subtracts the fitted martingale's moves from what is
// fitted: their mean is 0 whatever is known, and the fit has a fraction of the noise. It is for uses to which
// decisions count in first order, such as sensitivities. by_half_the_degree moreover keeps functions of half
// the degree, which shows how far all functions may be out. Nothing is subtracted for rights with notice or
// several uses, or if the policy has no martingale.
enum class fitting : std::uint8_t { usual, less_martingale, by_half_the_degree };

// The continuation value after a date, on paths where the right pays something, or on paths where it does
// not: a sum of basis functions, cut to its range [low, high] on training paths.
struct fitted_side {
    std::vector<double> coefficients;
    double low = 0, high = 0;
    std::size_t rank = 0;  // number of functions that the fit uses
};

// A case of a decision, by uses left or notice: the continuation values, and the martingale's slopes.
struct fitted_level {
    fitted_side paid, unpaid;
    std::vector<double> slopes;
};

struct decision_date {
    std::size_t block = 0, run = 0;  // block of the script, place among its future dates
    language::party of = language::party::holder;
    std::vector<double> means, scales;  // by feature: functions take (feature - mean) * scale
    std::vector<double> ahead;          // market numbers by which features look ahead
    fitted_side paid, unpaid;
    double root = 0;             // 1 / standard deviation of the sum of normals since the date before
    std::vector<double> slopes;  // [move][function], over the interval that begins here
    // Fits of several cases: by uses left after the date, or at a notice without it and with it. Else empty.
    std::vector<fitted_level> levels;
    int forced_from = 0;  // the right must be used if so many uses or more are left before the date
    // On a notice date: number of its payment in the block's schedule, from 1, and slot of its martingale.
    int index = 0;
    std::size_t slot = 0;
    double root_until_paid = 0;  // as root, from the notice to its payment
    bool is_notice() const { return index > 0; }
};

// A feature that is not one state: a number that the product names; the state of some rank, the largest
// first, among many, or their mean; likewise among the numbers that the script compares by asset; or another
// number of the asset that has some rank in this comparison.
struct made_feature {
    enum class feature_type : std::uint8_t {
        named,
        ranked,
        mean,
        compared,
        mean_compared,
        of_compared
    } is = feature_type::named;
    std::size_t number = 0;  // index of the named feature, or rank; from 0
    std::vector<std::uint32_t> states;
    std::vector<double> by_asset;  // number of each asset, for of_compared
};
// Up to most_ranks assets have a rank each; of more, ranks_of_many. Up to most_with_powers assets move by
// polynomials of higher order, for which a kernel has room.
inline constexpr std::size_t most_ranks = 7, ranks_of_many = 5, most_with_powers = 16;

inline double weight_of_step(std::span<const double> stops, std::size_t step) {
    return std::sqrt(stops[step + 1] - stops[step]);
}

struct policy {
    basis functions{0};
    std::vector<std::uint32_t> features;  // states of the recorded program
    std::vector<made_feature> made;       // features after these states
    std::vector<std::uint32_t> normals;   // slots of a step's normals
    // True if each compared asset has one normal; moves then take normals by rank at the interval's start.
    bool are_normals_ranked = false;
    // [asset][normal]: turns the normals that steps draw into the assets' own; empty if they are the same.
    std::vector<double> rotation;
    bool weighs_steps = false;         // sums of normals weigh steps by root of length
    std::vector<decision_date> dates;  // in order of time
    std::vector<double> first_slopes;  // of the interval that begins today, by move
    double last_root = 0;              // `root` of the interval after the last date
    // Payment of the right that can be used today; empty if there is none.
    std::optional<double> today;
    bool is_used_today = false;
    bool has_holder = false, has_issuer = false;
    // How often a right may and must be used, today included; 0 uses: once, and the trade then ends.
    int uses = 0, least_uses = 0;
    bool must_be_used_today = false;
    std::vector<std::vector<double>> first_slopes_by_uses;  // [uses left after today][move], as first_slopes
    std::size_t notice_slots = 0;  // greatest number of notices that wait for payment at once
    std::uint64_t paths = 0;       // training paths
    // Move of a feature by the market since training: the largest over dates, in its standard deviations.
    double moved = 0;
    // Worth of a right at every step less a right at every second step, and its standard error.
    std::optional<double> gain_of_step;
    double error_of_gain = 0;

    // True if each date decides once, without notice, whether the trade ends.
    bool is_plain() const { return uses == 0 && notice_slots == 0 && !weighs_steps; }
    // False if both sides have rights: bounds over one side's decisions do not bound the price.
    bool has_bound() const { return has_holder != has_issuer && !normals.empty(); }
    bool tells_volatilities() const;
    interval_moves moves() const {
        return interval_moves(has_bound() ? normals.size() : 0, are_normals_ranked);
    }
};

// Drops the martingale and so the bound; decisions stay.
void drop_martingale(policy& of);
// Sets is_used_today. `to_come` is the trade's worth if today's right is not used.
void decide_today(policy& by, double to_come);
// Sets gain_of_step from the gain of all dates over every second of them: its sum over `paths` paths, and the
// sum of its squared deviations.
void take_gain(policy& by, std::uint64_t paths, double sum, double squares);
[[noreturn]] void throw_not_finite();

}  // namespace tilewalk::exercise
