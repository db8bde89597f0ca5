// SPDX-License-Identifier: Apache-2.0
// Basis functions of continuation values: monomials of features, each an earlier monomial times a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewalk::exercise {

inline constexpr std::size_t most_functions = 64;

class basis {
  public:
    // Features are `states` states of a path, `named_beside` features that the product names, and last the
    // payment for using the right. Functions are monomials of the states up to a degree that is lower for
    // more states, then the payment, its square, and its products with states as far as most_functions
    // allows. Named features count as states; the degree is then one lower, and the payment has no products.
    // A state with one named feature has powers of the feature, and the state by itself.
    explicit basis(std::size_t states, std::size_t named_beside = 0);
    // Makes a basis of features in the order of importance: the first `ranked` get higher degrees than the
    // `others` after them. The payment enters alone and squared. There are at most most_functions functions.
    static basis of_ranked(std::size_t ranked, std::size_t others);

    std::size_t features() const { return states_ + 1; }
    std::size_t functions() const { return made_.size() + 1; }  // function 0 is the constant 1
    int degree() const { return degree_; }
    std::vector<int> degrees() const;  // degree of each function

    template <class number>
    std::vector<number> values(const std::vector<number>& features, const number& one) const {
        std::vector<number> out{one};
        for (const product& p : made_)
            out.push_back(p.before == 0 ? features[p.feature] : out[p.before] * features[p.feature]);
        return out;
    }
    struct product {
        std::uint32_t before = 0, feature = 0;
    };
    // Products that make up functions 1, 2, ...; function 0 is the constant.
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
