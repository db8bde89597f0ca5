// SPDX-License-Identifier: Apache-2.0
// A policy: what the value to come is taken for on each date on which somebody may end the trade, and the
// martingale that goes with it. It is data: rows of an ordinary program that decides, and of one that bounds
// what any decision can be worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/exercise/basis.h"
#include "products/language/payoff.h"

namespace tilewalk::exercise {

// Polynomials of Hermite of the normal numbers that an interval between dates has drawn, each with mean 0 and
// variance 1 whatever was known before: what a martingale can move by.
class interval_moves {
  public:
    explicit interval_moves(std::size_t normals);

    struct move {
        std::size_t first, second;
        int order;
    };
    std::size_t size() const { return moves_.size(); }
    const std::vector<move>& moves() const { return moves_; }

    template <class number>
    static number of(const move& m, const std::vector<number>& normals, const number& one) {
        const number& u = normals[m.first];
        if (m.second != m.first) return u * normals[m.second];
        if (m.order == 1) return u;
        if (m.order == 2) return (u * u - one) * 0.7071067811865476;
        if (m.order == 3) return (u * u - one * 3.0) * u * 0.4082482904638631;
        return ((u * u - one * 6.0) * (u * u) + one * 3.0) * 0.2041241452319315;
    }
    template <class number>
    std::vector<number> of(const std::vector<number>& normals, const number& one) const {
        std::vector<number> out;
        for (const move& m : moves_) out.push_back(of(m, normals, one));
        return out;
    }

  private:
    std::vector<move> moves_;
};

// The value to come after a date, where using the right pays something or where it does not: a sum of the
// basis, kept within what it was on the paths that it was fitted to.
struct fitted_side {
    std::vector<double> coefficients;
    double low = 0, high = 0;
    std::size_t rank = 0;  // of the functions on those paths
};

struct decision_date {
    std::size_t block = 0, run = 0;  // of the script, and among the block's dates to come
    language::party of = language::party::holder;
    std::vector<double> means, scales;  // by feature: (feature - mean) * scale is what the basis takes
    fitted_side paid, unpaid;
    double root = 0;             // one over the root of the steps since the date before
    std::vector<double> slopes;  // [move][function]: the martingale over the interval that begins here
};

struct policy {
    basis functions{0};
    std::vector<std::uint32_t> features;  // states of the recorded program
    std::vector<std::uint32_t> normals;   // slots of the step
    std::vector<decision_date> dates;     // in order of time
    std::vector<double> first_slopes;     // by move: over the interval that begins today
    double last_root = 0;                 // of the interval after the last date
    // A right that is there today: its payment, and whether it is used.
    std::optional<double> today;
    bool is_used_today = false;
    bool has_holder = false, has_issuer = false;
    std::uint64_t paths = 0;  // that it was found on

    // With rights of both, no decision of one bounds the value.
    bool has_bound() const { return has_holder != has_issuer && !normals.empty(); }
};

}  // namespace tilewalk::exercise
