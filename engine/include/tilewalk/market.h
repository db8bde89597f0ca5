// SPDX-License-Identifier: Apache-2.0
// A market as of a day: curves, spots, volatilities, correlations, fixings. Immutable, cheap to copy, safe to
// share; a change makes a new market.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/load_options.h"
#include "tilewalk/market_numbers.h"
#include "tilewalk/value.h"

namespace tilewalk {

namespace markets {
struct market_state;
}

// A row of the table of market keys: a form in which a market writes numbers, with a key of it.
struct market_key_form {
    std::string_view form, key, unit;
};
std::span<const market_key_form> market_key_forms();

class market {
  public:
    static market load(const std::filesystem::path& file, const load_options& options = {});
    // `name` is what errors call the text; files that it names are looked for in the folder of that name.
    static market parse(std::string_view yaml, const std::string& name = "market",
                        const load_options& options = {});
    // A market that a program has built, or read and changed.
    static market of(const value& written, const std::string& name = "market",
                     const load_options& options = {});
    explicit market(std::shared_ptr<const markets::market_state> state) : state_(std::move(state)) {}

    std::string as_of() const;  // YYYY-MM-DD
    // Facts that a person should know of what was read and taken all the same, such as a surface that is bent
    // to have no arbitrage, or one that a shift has bent elsewhere: a line each, by asset or currency.
    std::vector<std::string> remarks() const;
    // The files it was read from: its own and its scenario arrays. A text has the name that it was given.
    std::vector<std::filesystem::path> files() const;

    // All its numbers that have a key, in the order of the file, with the values they have now.
    std::vector<market_number> numbers() const;
    // Each throws tilewalk::error (usage) for a key that it does not have, naming the nearest.
    market_number number(std::string_view key) const;
    // A new market in which a number is larger by so much, or has this value. All other numbers keep their
    // bits. Throws tilewalk::error (input), naming the change, for a market that can't be: correlations that
    // are not positive semi-definite, arbitrage, total variance that falls. Nothing is repaired.
    market shifted(std::string_view key, double by) const;
    market with(std::string_view key, double amount) const;
    // All at once; the order does not matter, and no key comes twice. Only the outcome has to be a market.
    market changed(std::span<const market_change> changes) const;
    // The numbers that are others than its file says.
    std::vector<market_number> changes() const;

    // The whole of it, as it would be written; files of scenarios keep their names.
    value written() const;

    const markets::market_state& state() const { return *state_; }

  private:
    std::shared_ptr<const markets::market_state> state_;
};

}  // namespace tilewalk
