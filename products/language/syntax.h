// SPDX-License-Identifier: Apache-2.0
// The tree of a script. The parser builds it from the text alone; the checker adds the meaning of names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "products/language/functions.h"
#include "products/language/lexer.h"
#include "products/language/product.h"

namespace tilewalk::language {

enum class type : std::uint8_t { number, truth, asset, asset_list, date, schedule, choice, currency };

enum class form : std::uint8_t {
    number,
    truth,
    text,
    name,
    element,  // name[a]
    negate,
    logical_not,
    binary,
    call,       // f(x, y)
    aggregate,  // f(x for a in basket)
};

enum class binary_operator : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
};

enum class meaning : std::uint8_t {
    unknown,
    parameter,
    variable,
    loop_asset,  // current asset of a loop or an aggregate
    time,
    step,  // length of the interval, in years
    index,
    count,
    today,
    previous,
    next,
    start,     // date from which `time` counts
    word,      // one of the choices of a parameter
    currency,  // the trade's currency
};

struct expression {
    form is = form::number;
    place where;
    std::string text;  // a name, a function's name, or a quoted text without its quotes
    double number = 0;
    binary_operator sign = binary_operator::add;
    std::vector<expression>
        operands;  // an element has its index; an aggregate has the aggregated expression last
    std::string loop_name, list_name;  // for an aggregate
    place loop_where, list_where;
    int height = 1;  // levels of the tree below

    // From here on set by the checker.
    type of = type::number;
    meaning means = meaning::unknown;
    std::size_t slot = 0;  // number of the parameter or variable; depth of the loop
    std::size_t list = 0;  // parameter that an aggregate runs over, or that a loop asset belongs to
    function calls = function::min;
};

struct statement;
using statements = std::vector<statement>;

struct assignment {
    std::string name;
    std::optional<expression> element;  // name[element] = ...
    expression to;
    std::size_t variable = 0;  // set by the checker
};

struct branch {
    struct arm {
        expression condition;
        statements body;
    };
    std::vector<arm> arms;
    statements otherwise;
};

struct loop {
    std::string name, list_name;
    place name_where, list_where;
    statements body;
    std::size_t list = 0;  // set by the checker
};

struct payment {
    expression amount;
    std::optional<expression> on;  // a date
    std::optional<expression> in;  // a currency
    std::optional<expression> at;  // a time in the interval
};

struct settlement {
    payment gives;
};

struct stop {};

struct refusal {
    std::string reason;
};

struct statement {
    place where;
    std::variant<assignment, branch, loop, payment, settlement, stop, refusal> does;
};

struct block_syntax {
    place where;
    std::optional<party> right_of;  // party that may end the trade in this block
    bool continuous = false;
    expression from;                  // the dates of `on`, or A of `between A and B`
    expression to;                    // B of `between A and B`
    std::optional<expression> every;  // longest step between A and B
    bool in_equal_steps = false;      // true if written with `every`, false with `within`
    // How often a right may and must be used; without them, its use ends the trade.
    std::optional<expression> at_most, at_least;
    std::optional<expression> notice;  // time from the decision to the date
    bool is_notice_in_days = false;
    statements body;

    // The schedule that index, count and lists per date refer to; set by the checker.
    std::optional<std::size_t> schedule;
};

struct variable {
    std::string name;
    place where;  // its first assignment
    type of = type::number;
    std::optional<std::size_t> list;  // has one value for each asset of this parameter
    bool is_state = false;            // keeps its value from block to block
};

struct syntax {
    std::string file;
    std::vector<parameter> parameters;
    statements top;
    std::vector<block_syntax> blocks;
    std::vector<expression> features;  // inputs of decisions on rights; empty: states of the path
    std::optional<place> states_word;  // place of the word `states` among the features

    // Set by the checker.
    std::vector<variable> variables;
    std::vector<bool> parameter_used;
    std::vector<bool> parameter_exchanged;  // by parameter: a currency whose exchange rate the script reads
    bool stops = false;
    bool has_rights = false;
};

}  // namespace tilewalk::language
