// SPDX-License-Identifier: Apache-2.0
// A market as of a day. Immutable, cheap to copy, safe to share; a change makes a new market.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/market_numbers.h"
#include "tilewalk/options.h"
#include "tilewalk/value.h"

namespace tilewalk {

namespace markets {
struct market_state;
}

// A row of the table of market keys: how a market writes a kind of number, and an example of its key.
struct market_key_form {
    std::string_view form, key, unit;
};
std::span<const market_key_form> market_key_forms();

class market {
  public:
    static market load(const std::filesystem::path& file, const load_options& options = {});
    // Errors call the text `name`; relative file names in it start from the folder of `name`.
    static market parse(std::string_view yaml, const std::string& name = "market",
                        const load_options& options = {});
    static market of(const value& written, const std::string& name = "market",
                     const load_options& options = {});

    std::string as_of() const;  // YYYY-MM-DD
    // Remarks on input that was accepted all the same, such as a surface bent to remove arbitrage.
    std::vector<std::string> remarks() const;
    // The files that were read: the market and its scenario arrays. A parsed text appears by its name.
    std::vector<std::filesystem::path> files() const;

    // All numbers with a key, in the order of the file, with their current values.
    std::vector<market_number> numbers() const;
    // All calls with keys throw tilewalk::error (usage) for an unknown one, naming the nearest.
    market_number number(std::string_view key) const;
    // Returns a new market with one number shifted or set; all other numbers keep their bits. Throws
    // tilewalk::error (input), naming the change, if the result is not a valid market: correlations that are
    // not positive semi-definite, arbitrage, decreasing total variance. Nothing is repaired.
    market shifted(std::string_view key, double by) const;
    market with(std::string_view key, double amount) const;
    // Applies all changes at once; keys must be distinct, and only the final market has to be valid.
    market changed(std::span<const market_change> changes) const;
    std::vector<market_number> changes() const;

    // The complete market as a value; files of scenarios keep their names.
    value written() const;

  private:
    friend struct inside;
    explicit market(std::shared_ptr<const markets::market_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const markets::market_state> state_;
};

// The `simm:` of a market: what rows of ISDA SIMM take beside figures.
struct simm_data {
    struct name {
        std::string qualifier, bucket;  // of an equity
        std::string fx{};               // of an exchange rate: the currency that the asset is the price of
    };
    std::string currency;                            // of calculation
    std::map<std::string, name, std::less<>> names;  // by asset
    location where;
};

}  // namespace tilewalk
