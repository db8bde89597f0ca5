// SPDX-License-Identifier: Apache-2.0
// A market as of a day. Immutable, cheap to copy, safe to share; a change returns a new market.
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

// A kind of market number: its form in a market file, an example of its key, and its unit.
struct market_key_form {
    std::string_view form, key, unit;
};
std::span<const market_key_form> market_key_forms();

class market {
  public:
    static market load(const std::filesystem::path& file, const load_options& options = {});
    // `name` stands for the file in error messages; relative file names in the text start from its folder.
    static market parse(std::string_view yaml, const std::string& name = "market",
                        const load_options& options = {});
    static market from_value(const value& written, const std::string& name = "market",
                             const load_options& options = {});

    std::string as_of() const;  // YYYY-MM-DD
    // Remarks on input that was accepted all the same, such as a surface bent to remove arbitrage.
    std::vector<std::string> remarks() const;
    // Files that were read: the market and its scenario arrays. A market parsed from text appears as `name`.
    std::vector<std::filesystem::path> files() const;

    // All numbers with a key, in the order of the file, with their current values.
    std::vector<market_number> numbers() const;
    // All functions with keys throw tilewalk::error (usage) for an unknown key, with the nearest key.
    market_number number(std::string_view key) const;
    // Returns a new market with one number shifted or set; all other numbers keep their bits. Throws
    // tilewalk::error (input), naming the change, if the new market is not valid: correlations that are not
    // positive semi-definite, arbitrage, decreasing total variance. Nothing is repaired.
    market shifted(std::string_view key, double by) const;
    market with(std::string_view key, double amount) const;
    // Applies all changes at once; keys must be distinct, and only the final market has to be valid.
    market changed(std::span<const market_change> changes) const;
    std::vector<market_number> changes() const;

    // The whole market as a value; scenario arrays in files stay file names.
    value written() const;

  private:
    friend struct inside;
    explicit market(std::shared_ptr<const markets::market_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const markets::market_state> state_;
};

// The section `simm:` of a market: labels that CRIF rows for ISDA SIMM need.
struct simm_data {
    struct name {
        std::string qualifier, bucket;  // for an equity
        std::string fx{};               // for an exchange rate as an asset: the currency whose price it is
    };
    std::string currency;                            // calculation currency of SIMM
    std::map<std::string, name, std::less<>> names;  // by name of the asset
    location where;
};

}  // namespace tilewalk
