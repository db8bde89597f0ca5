// SPDX-License-Identifier: Apache-2.0
// Products: a name, typed parameters and a checked payoff script.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "products/dates/date.h"
#include "products/dates/schedule.h"
#include "tilewalk/error.h"

namespace tilewalk::language {

enum class parameter_type {
    amount,  // money in the trade's currency
    number,
    rate,  // a number that can't be written as `20%`; write 0.2
    integer,
    boolean,
    choice,
    date,
    schedule,
    asset,
    asset_list,
    currency,
};
std::optional<parameter_type> parse_parameter_type(std::string_view name);
std::string_view to_string(parameter_type type);

// A term of a trade, range-checked. Lists belong to parameters with one value `per` date or asset.
using argument = std::variant<double,                           // amount, number, rate, integer
                              bool,                             // boolean
                              std::string,                      // choice, currency, asset
                              dates::time_point,                // date
                              dates::schedule,                  // schedule
                              std::vector<std::string>,         // asset_list
                              std::vector<double>,              // number-like per date or asset
                              std::vector<dates::time_point>>;  // date per date

struct parameter {
    std::string name;
    parameter_type type = parameter_type::number;
    std::string per;  // name of the schedule or asset_list that this is a list over, or empty
    std::optional<double> minimum, maximum;  // allowed range
    std::optional<double> above, below;      // the same, ends excluded
    std::vector<std::string> choices;
    std::optional<argument> fallback;  // its default; empty if the trade must give it
    std::string same_as;               // instead of a default: the parameter whose value it takes
    bool optional = false;             // has no value if the trade does not give it
    std::string unless;                // another parameter that excludes this one
    std::string help;
    location where;
};

// The party that has a right: `holder` receives the trade's payments, `issuer` pays them.
enum class party { holder, issuer };

// Most numbers of the path in a decision; more leave no room for the square of each.
inline constexpr std::size_t most_features = 30;

struct syntax;  // the checked tree of a script, private to the language

// Stands among features for the automatically found states of the path.
inline constexpr std::string_view word_of_states = "states";

struct placed_text {
    std::string text;
    location where;  // of its first character
};

class script {
  public:
    // Parses and checks `source`, which begins at `origin`. `features` are inputs of decisions on rights, in
    // place of the path's states, or beside them if one is the word `states`. Throws tilewalk::error (input).
    script(std::string source, location origin, const std::vector<parameter>& parameters,
           const std::vector<placed_text>& features = {});
    const std::string& source() const { return source_; }
    const std::vector<placed_text>& features() const { return features_; }  // without that word
    const syntax& tree() const { return *tree_; }
    bool has_rights() const;  // somebody may end the trade early

  private:
    std::string source_;
    std::vector<placed_text> features_;
    std::shared_ptr<const syntax> tree_;
};

struct product {
    std::string name;
    std::string group;  // of products that are listed together; may be empty
    std::string summary;
    std::string description;  // a paragraph for the product's page; may be empty
    std::string formula;      // the payment as mathematics, in lines; may be empty
    std::vector<parameter> parameters;
    std::string example;  // a trade in YAML, as text
    script payoff;
    location where;
    std::string measure{};  // the amount parameter that prices in basis points refer to; may be empty
};

// Arguments by parameter name, complete: defaults filled in.
using arguments = std::map<std::string, argument, std::less<>>;

// The known name nearest to a misspelt one, or empty if none is near. All suggestions come from here.
std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace tilewalk::language
