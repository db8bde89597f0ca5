// SPDX-License-Identifier: Apache-2.0
// Plays trades of library products, written as in a book, along hand-written paths.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/argument_reader.h"
#include "engine/reading/library.h"
#include "tests/played_path.h"
#include "tilewalk/error.h"

namespace tilewalk::tests {

inline const std::vector<std::string> trade_keys{"id", "product", "currency", "quantity"};

inline const std::filesystem::path& library_folder() {
    static const std::filesystem::path folder =
        std::filesystem::path(TILEWALK_SOURCE_DIR) / "products" / "library";
    return folder;
}

inline std::shared_ptr<const language::product> library_product(const std::string& name) {
    return books::read_product(config::load(library_folder() / (name + ".yaml")));
}

// The value of a trade on a path as a recorded program. Eager play has the same bits if no uniform is drawn.
inline double worth(const std::string& product, const std::string& trade, const path& along) {
    const auto of = library_product(product);
    const auto args =
        books::read_arguments(config::parse("{" + trade + "}", "trade"), of->parameters, trade_keys);
    const played p = play(of, args, along);
    if (p.code.uniforms_per_step == 0) {
        EXPECT_EQ(p.recorded.at("value"), p.eager.at("value")) << trade;
    }
    return p.recorded.at("value");
}

inline std::string refusal(const std::string& product, const std::string& trade) {
    try {
        worth(product, trade, {});
    } catch (const error& e) {
        return e.message();
    } catch (const std::logic_error&) {
        return "accepted";  // an empty path can't be played, but the terms passed
    }
    return "accepted";
}

inline double usd(double years) {
    return std::exp(-0.03 * years);
}

inline path acme(const std::map<double, double>& spots) {
    path p;
    p.spots["ACME"] = spots;
    p.rates["USD"] = 0.03;
    return p;
}

}  // namespace tilewalk::tests
