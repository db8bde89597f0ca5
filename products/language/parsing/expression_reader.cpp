// SPDX-License-Identifier: Apache-2.0
#include "products/language/parsing/expression_reader.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tilewalk::language::parsing {

// Chains such as a + b + c + ... make tall trees without nesting.
constexpr int tallest_expression = 256;

expression expression_reader::read() {
    const token_stream::level inside(tokens_);
    return read_or();
}

expression expression_reader::read_or() {
    expression left = read_and();
    while (tokens_.now().is("or")) {
        const place where = tokens_.advance().where;
        left = binary(binary_operator::logical_or, where, std::move(left), read_and());
    }
    return left;
}

expression expression_reader::read_and() {
    expression left = read_not();
    while (tokens_.now().is("and")) {
        const place where = tokens_.advance().where;
        left = binary(binary_operator::logical_and, where, std::move(left), read_not());
    }
    return left;
}

expression expression_reader::read_not() {
    if (!tokens_.now().is("not")) return read_comparison();
    const token_stream::level inside(tokens_);
    const place where = tokens_.advance().where;
    return unary(form::logical_not, where, read_not());
}

std::optional<binary_operator> expression_reader::comparison() const {
    if (tokens_.now().is("<")) return binary_operator::less;
    if (tokens_.now().is("<=")) return binary_operator::less_equal;
    if (tokens_.now().is(">")) return binary_operator::greater;
    if (tokens_.now().is(">=")) return binary_operator::greater_equal;
    if (tokens_.now().is("==")) return binary_operator::equal;
    if (tokens_.now().is("!=")) return binary_operator::not_equal;
    return std::nullopt;
}

expression expression_reader::read_comparison() {
    expression left = read_sum();
    const auto sign = comparison();
    if (!sign) return left;
    const place where = tokens_.advance().where;
    expression both = binary(*sign, where, std::move(left), read_sum());
    if (comparison()) tokens_.fail("comparisons can't be chained; write a < b and b < c");
    return both;
}

expression expression_reader::read_sum() {
    expression left = read_product();
    while (tokens_.now().is("+") || tokens_.now().is("-")) {
        const token sign = tokens_.advance();
        left = binary(sign.text == "+" ? binary_operator::add : binary_operator::subtract, sign.where,
                      std::move(left), read_product());
    }
    return left;
}

expression expression_reader::read_product() {
    expression left = read_unary();
    while (tokens_.now().is("*") || tokens_.now().is("/")) {
        const token sign = tokens_.advance();
        left = binary(sign.text == "*" ? binary_operator::multiply : binary_operator::divide, sign.where,
                      std::move(left), read_unary());
    }
    return left;
}

expression expression_reader::read_unary() {
    if (!tokens_.now().is("-")) return read_primary();
    const token_stream::level inside(tokens_);
    const place where = tokens_.advance().where;
    return unary(form::negate, where, read_unary());
}

expression expression_reader::read_primary() {
    expression e;
    e.where = tokens_.now().where;
    if (tokens_.now().kind == token_kind::number) {
        e.is = form::number;
        e.number = tokens_.advance().number;
    } else if (tokens_.now().is("true") || tokens_.now().is("false")) {
        e.is = form::truth;
        e.number = tokens_.advance().text == "true" ? 1.0 : 0.0;
    } else if (tokens_.now().kind == token_kind::text) {
        e.is = form::text;
        e.text = std::string(tokens_.advance().text);
    } else if (tokens_.now().is("(")) {
        tokens_.advance();
        e = read();
        tokens_.expect(")", "to close the bracket");
    } else if (tokens_.now().kind == token_kind::name) {
        e.is = form::name;
        e.text = std::string(tokens_.advance().text);
        if (tokens_.now().is("(")) {
            read_arguments(e);
        } else if (tokens_.now().is("[")) {
            tokens_.advance();
            e.is = form::element;
            e.operands.push_back(read_primary());
            tokens_.expect("]", "after the asset");
            grow(e);
        }
    } else {
        tokens_.fail("expected a value, found " + found(tokens_.now()));
    }
    return e;
}

void expression_reader::read_arguments(expression& call) {
    call.is = form::call;
    tokens_.advance();
    if (tokens_.take_if(")")) return;
    for (;;) {
        call.operands.push_back(read());
        if (tokens_.now().is("for")) {
            read_aggregate(call);
            break;
        }
        if (tokens_.take_if(",")) continue;
        if (tokens_.now().is("="))
            tokens_.fail("found '=' inside an expression; two values are compared with '=='");
        tokens_.expect(")", "or ',' in the arguments of '" + call.text + "'");
        break;
    }
    grow(call);
}

void expression_reader::read_aggregate(expression& call) {
    call.is = form::aggregate;
    tokens_.advance();
    const token name = tokens_.expect_name("a name for the asset after 'for'");
    tokens_.expect("in", "after the name");
    const token list = tokens_.expect_name("a list of assets after 'in'");
    tokens_.expect(")", "after the list of '" + call.text + "'");
    call.loop_name = std::string(name.text);
    call.loop_where = name.where;
    call.list_name = std::string(list.text);
    call.list_where = list.where;
}

void expression_reader::grow(expression& e) const {
    for (const expression& part : e.operands) e.height = std::max(e.height, part.height + 1);
    if (e.height > tallest_expression) {
        tokens_.fail(e.where, "this expression chains more than " + std::to_string(tallest_expression) +
                                  " operations; give a part of it a name");
    }
}

expression expression_reader::unary(form is, place where, expression of) const {
    expression e;
    e.is = is;
    e.where = where;
    e.operands.push_back(std::move(of));
    grow(e);
    return e;
}

expression expression_reader::binary(binary_operator sign, place where, expression left,
                                     expression right) const {
    expression e;
    e.is = form::binary;
    e.where = where;
    e.sign = sign;
    e.operands.push_back(std::move(left));
    e.operands.push_back(std::move(right));
    grow(e);
    return e;
}

}  // namespace tilewalk::language::parsing
