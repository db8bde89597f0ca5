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
    rate,  // a number that a trade can't write as `20%`: it writes 0.2
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

// A trade's argument for a parameter, already checked against the parameter's range. A list is the argument
// of a parameter with one value `per` date or asset.
using argument = std::variant<double,                           // amount, number, rate, integer
                              bool,                             // boolean
                              std::string,                      // choice, currency, asset
                              dates::time_point,                // date
                              dates::schedule,                  // schedule
                              std::vector<std::string>,         // asset_list
                              std::vector<double>,              // a number for each date or asset
                              std::vector<dates::time_point>>;  // a date for each date

struct parameter {
    std::string name;
    parameter_type type = parameter_type::number;
    std::string per;  // name of the schedule or asset_list that this is a list over, or empty
    std::optional<double> minimum, maximum;  // allowed range
    std::optional<double> above, below;      // allowed range, ends excluded
    std::vector<std::string> choices;
    std::optional<argument> fallback;  // default; empty if the trade must give a value
    std::string same_as;               // in place of `fallback`: the parameter whose value is the default
    bool optional = false;             // if true: no value unless the trade gives one
    std::string unless;                // a parameter that may not be given together with this one
    std::string help;
    location where;
};

// The party that has a right: `holder` receives the trade's payments, `issuer` pays them.
enum class party { holder, issuer };

// Most features of a decision; with more, the regression would have no room for the square of each.
inline constexpr std::size_t most_features = 30;

struct syntax;  // the checked tree of a script, private to the language

// The word that stands among features for those states of the path that are found automatically.
inline constexpr std::string_view word_of_states = "states";

struct placed_text {
    std::string text;
    location where;  // location of the first character
};

class script {
  public:
    // Parses and checks `source`, which begins at `origin`. `features` are inputs of decisions on rights, in
    // place of the path's states, or beside them if one is the word `states`. Throws tilewalk::error (input).
    script(std::string source, location origin, const std::vector<parameter>& parameters,
           const std::vector<placed_text>& features = {});
    const std::string& source() const { return source_; }
    const std::vector<placed_text>& features() const { return features_; }  // without the word `states`
    const syntax& tree() const { return *tree_; }
    bool has_rights() const;  // true if the holder or the issuer has a right

  private:
    std::string source_;
    std::vector<placed_text> features_;
    std::shared_ptr<const syntax> tree_;
};

struct product {
    std::string name;
    std::string group;  // heading under which products are listed together; may be empty
    std::string summary;
    std::string description;  // a paragraph for the product's page; may be empty
    std::string formula;      // the payment as mathematics, in lines; may be empty
    std::vector<parameter> parameters;
    std::string example;  // a trade in YAML, as text
    script payoff;
    location where;
    std::string measure{};  // name of the amount that prices in basis points are relative to; may be empty
};

// Arguments by parameter name, complete: defaults filled in.
using arguments = std::map<std::string, argument, std::less<>>;

// The known name nearest to a misspelt one, or empty if none is near. All suggestions come from here.
std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace tilewalk::language
