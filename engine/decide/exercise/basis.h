// SPDX-License-Identifier: Apache-2.0
// Basis of continuation values: monomials of features, each an earlier one times a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewalk::exercise {

inline constexpr std::size_t most_functions = 64;

class basis {
  public:
    // Features are states of the path, and behind them the payment for using the right. Functions are
    // monomials of the states, up to a degree that falls with their number, the payment, its square, and its
    // products with states while there is room. Features that the product names beside the states count as
    // states, a degree less, without products of the payment. A feature beside one state is taken with its
    // powers, and the state by itself.
    explicit basis(std::size_t states, std::size_t named_beside = 0);
    // The first `ranked` features tell most, and get higher degrees; `others` stand behind them. The payment
    // comes by itself and squared. All this while there is room.
    static basis of_ranked(std::size_t ranked, std::size_t others);

    std::size_t features() const { return states_ + 1; }
    std::size_t functions() const { return made_.size() + 1; }  // the first is 1
    int degree() const { return degree_; }
    std::vector<int> degrees() const;  // by function

    template <class number>
    std::vector<number> of(const std::vector<number>& features, const number& one) const {
        std::vector<number> out{one};
        for (const product& p : made_)
            out.push_back(p.before == 0 ? features[p.feature] : out[p.before] * features[p.feature]);
        return out;
    }
    struct product {
        std::uint32_t before = 0, feature = 0;
    };
    // By function from the second on.
    const std::vector<product>& products() const { return made_; }

  private:
    struct of_degree {
        int degree;
    };
    basis(std::size_t features, of_degree to) : states_(features), degree_(to.degree) {}
    std::uint32_t add(std::uint32_t before, std::size_t feature);

    std::size_t states_;
    int degree_ = 0;
    std::vector<product> made_;
};

}  // namespace tilewalk::exercise
