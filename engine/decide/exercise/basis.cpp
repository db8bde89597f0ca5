// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/basis.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tilewalk::exercise {

namespace {

int degree_for(std::size_t states) {
    if (states <= 1) return 5;
    if (states == 2) return 4;
    if (states <= 4) return 3;
    return states <= 9 ? 2 : 1;
}

}  // namespace

std::vector<int> basis::degrees() const {
    std::vector<int> out{0};
    for (const product& p : made_) out.push_back(out[p.before] + 1);
    return out;
}

std::uint32_t basis::add(std::uint32_t before, std::size_t feature) {
    made_.push_back({before, static_cast<std::uint32_t>(feature)});
    return static_cast<std::uint32_t>(made_.size());
}

basis::basis(std::size_t states, std::size_t named_beside) : states_(states + named_beside) {
    // This basis has powers of the named feature, and the log of the price alone. With it, the dual bound of
    // Longstaff and Schwartz's put (4.478), whose named feature is the European put, is too high by 0.073,
    // 0.023, 0.015 and 0.012 after training on 4,096, 16,384, 32,768 and 65,536 paths. The twelve monomials
    // of both features up to degree 3 give 0.098, 0.026, 0.014 and 0.010; monomials without the European
    // 0.068, 0.033, 0.029 and 0.028.
    if (states == 1 && named_beside == 1) {
        degree_ = degree_for(1);
        std::uint32_t power = 0;
        for (int d = 1; d <= degree_; ++d) power = add(power, 1);
        add(0, 0);
        add(add(0, states_), states_);
        return;
    }
    degree_ = named_beside > 0 ? std::max(degree_for(states_) - 1, 1) : degree_for(states_);
    // Each degree multiplies each monomial of the degree below by its last feature and each later one.
    std::vector<std::uint32_t> last_degree{0};
    std::vector<std::size_t> last_feature{0};
    for (int d = 1; d <= degree_; ++d) {
        std::vector<std::uint32_t> next;
        std::vector<std::size_t> features;
        for (std::size_t m = 0; m < last_degree.size(); ++m) {
            for (std::size_t f = last_feature[m]; f < states_; ++f) {
                next.push_back(add(last_degree[m], f));
                features.push_back(f);
            }
        }
        last_degree = std::move(next);
        last_feature = std::move(features);
    }
    if (degree_ == 1)
        for (std::uint32_t f = 0; f < states_; ++f) add(f + 1, f);
    const std::uint32_t paid = add(0, states_);
    add(paid, states_);
    for (std::size_t f = 0; named_beside == 0 && f < states_ && functions() < most_functions; ++f)
        add(paid, f);
}

basis basis::of_ranked(std::size_t ranked, std::size_t others) {
    // A monomial's factors cost 12 at most. The first two features cost 4 each, or 3 if only two are
    // ranked, so that their degree is 3 or 4; the third costs 6, `others` 8, and later ranked features 12.
    // More functions would fit better, but the few steps that find slopes do not converge for so many.
    constexpr int most = 12, of_others = 8;
    constexpr std::size_t of_payment = 2;
    const int of_first = ranked == 2 ? 3 : 4;
    const std::array<int, 3> counts{of_first, of_first, 6};
    const auto count_of = [&](std::size_t f) {
        return f >= ranked ? of_others : f < counts.size() ? counts[f] : most;
    };
    basis out(ranked + others, of_degree{most / of_first});
    struct monomial {
        std::uint32_t number;
        std::size_t last;
        int count;
    };
    std::vector<monomial> last_degree{{0, 0, 0}};
    while (!last_degree.empty()) {
        std::vector<monomial> next;
        for (const monomial& m : last_degree)
            for (std::size_t f = m.last; f < out.states_; ++f)
                if (const int count = m.count + count_of(f);
                    count <= most && out.functions() + of_payment < most_functions)
                    next.push_back({out.add(m.number, f), f, count});
        last_degree = std::move(next);
    }
    const std::uint32_t paid = out.add(0, out.states_);
    out.add(paid, out.states_);
    return out;
}

}  // namespace tilewalk::exercise
