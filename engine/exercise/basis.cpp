// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/basis.h"

namespace tilewalk::exercise {

namespace {

int degree_for(std::size_t states) {
    if (states <= 1) return 5;
    if (states == 2) return 4;
    if (states <= 4) return 3;
    return states <= 9 ? 2 : 1;
}

}  // namespace

basis::basis(std::size_t states) : states_(states), degree_(degree_for(states)) {
    const auto add = [&](std::uint32_t before, std::size_t feature) {
        made_.push_back({before, static_cast<std::uint32_t>(feature)});
        return static_cast<std::uint32_t>(made_.size());
    };
    // By degree: each monomial times its last feature and those behind it.
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
    for (std::size_t f = 0; f < states_ && functions() < most_functions; ++f) add(paid, f);
}

}  // namespace tilewalk::exercise
