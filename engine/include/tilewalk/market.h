// SPDX-License-Identifier: Apache-2.0
// A market as of a day: curves, spots, volatilities, correlations, fixings. Immutable, cheap to copy, safe to
// share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/load_options.h"

namespace tilewalk {

namespace markets {
struct market_state;
}

class market {
  public:
    static market load(const std::filesystem::path& file, const load_options& options = {});
    // `name` is what errors call the text; files that it names are looked for in the folder of that name.
    static market parse(std::string_view yaml, const std::string& name = "market",
                        const load_options& options = {});
    explicit market(std::shared_ptr<const markets::market_state> state) : state_(std::move(state)) {}

    std::string as_of() const;  // YYYY-MM-DD
    // What a person should know of what was read and taken all the same, such as a surface that is bent to
    // have no arbitrage: a line each, by asset or currency.
    std::vector<std::string> remarks() const;
    // The files it was read from: its own and its scenario arrays. A text has the name that it was given.
    std::vector<std::filesystem::path> files() const;
    const markets::market_state& state() const { return *state_; }

  private:
    std::shared_ptr<const markets::market_state> state_;
};

}  // namespace tilewalk
