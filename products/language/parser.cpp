// SPDX-License-Identifier: Apache-2.0
#include "products/language/parser.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tilewalk::language {

namespace {

// Left-hand chains such as a + b + c + ... make tall trees without nesting.
constexpr int tallest_expression = 256;
constexpr std::size_t most_arms = 64;

std::string found(const token& t) {
    switch (t.kind) {
        case token_kind::line_end:
            return "the end of the line";
        case token_kind::indent:
            return "a deeper indentation";
        case token_kind::dedent:
            return "the end of the block";
        case token_kind::end:
            return "the end of the script";
        case token_kind::text:
            return "the text \"" + std::string(t.text) + "\"";
        default:
            return "'" + std::string(t.text) + "'";
    }
}

class parser {
  public:
    parser(std::string_view source, const location& origin)
        : file_(origin.file), tokens_(tokenize(source, origin)) {}

    syntax run() {
        syntax tree;
        tree.file = file_;
        while (now().kind != token_kind::end) {
            if (now().kind == token_kind::indent) fail("this line is indented, and no block is open");
            if (now().is("on") || now().is("between")) {
                tree.blocks.push_back(read_block());
            } else if (tree.blocks.empty()) {
                tree.top.push_back(read_statement(true));
            } else {
                fail(found(now()) +
                     " comes after a block; what holds from the start stands above all blocks, all else " +
                     "inside one");
            }
        }
        if (tree.blocks.empty()) {
            fail("the script has no block; expected at least one 'on DATES:' or 'between A and B:'");
        }
        return tree;
    }

  private:
    // One level of nesting, for as long as it lives.
    class level {
      public:
        explicit level(parser& of) : of_(of) {
            if (++of_.depth_ > deepest_nesting) {
                of_.fail("the script is nested deeper than " + std::to_string(deepest_nesting) + " levels");
            }
        }
        ~level() { --of_.depth_; }
        level(const level&) = delete;
        level& operator=(const level&) = delete;

      private:
        parser& of_;
    };

    const token& now() const { return tokens_[at_]; }
    const token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
    token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    bool take_if(std::string_view word) {
        if (!now().is(word)) return false;
        take();
        return true;
    }

    [[noreturn]] void fail(const std::string& message) const { fail(now().where, message); }
    [[noreturn]] void fail(place where, const std::string& message) const {
        throw error(error_kind::input, message, {file_, where.line, where.column});
    }

    void expect(std::string_view sign, const std::string& after_what) {
        if (!take_if(sign)) {
            fail("expected '" + std::string(sign) + "' " + after_what + ", found " + found(now()));
        }
    }
    void expect_line_end(const std::string& after_what) {
        if (now().kind != token_kind::line_end) {
            if (now().is("=")) fail("found '=' inside an expression; two values are compared with '=='");
            std::string hint;
            if (now().is("if")) hint = "; 'if CONDITION:' takes a line of its own";
            if (now().is(",")) hint = "; a number has no commas, as in 1000.5";
            fail("expected the end of the line after " + after_what + ", found " + found(now()) + hint);
        }
        take();
    }
    token expect_name(const std::string& what) {
        if (now().kind != token_kind::name) {
            if (now().kind == token_kind::keyword) {
                fail("expected " + what + ", found '" + std::string(now().text) +
                     "', which is a word of the language");
            }
            fail("expected " + what + ", found " + found(now()));
        }
        return take();
    }

    // The indented lines after a colon.
    statements read_body(const std::string& of, bool at_top) {
        const level inside(*this);
        expect(":", "after " + of);
        if (now().kind != token_kind::line_end) {
            fail("expected the end of the line after ':', found " + found(now()) + "; what belongs to " + of +
                 " goes on the next line, indented");
        }
        take();
        if (now().kind != token_kind::indent) {
            fail("expected an indented line that belongs to " + of + ", found " + found(now()));
        }
        take();
        statements body;
        while (now().kind != token_kind::dedent) {
            if (now().kind == token_kind::indent) fail("this line is indented deeper than the one above it");
            if (now().is("on") || now().is("between")) {
                fail("'" + std::string(now().text) + "' begins a block of its own, not inside another block");
            }
            body.push_back(read_statement(at_top));
        }
        take();
        return body;
    }

    block_syntax read_block() {
        block_syntax b;
        b.where = now().where;
        b.continuous = take().text == "between";
        b.from = read_primary();
        if (b.from.is == form::number && now().is("-")) {
            fail(b.from.where,
                 "expected a date or a schedule, found a number; a day such as 2027-01-15 stands in the "
                 "trade, and the script calls its parameter by name");
        }
        if (b.continuous) {
            expect("and", "between the two ends");
            b.to = read_primary();
            // Words of their own here alone: elsewhere they may be names.
            const bool in_equal_steps = now().text == "every";
            if (now().kind == token_kind::name && (in_equal_steps || now().text == "within")) {
                take();
                b.in_equal_steps = in_equal_steps;
                b.every = read_primary();
            }
        }
        b.body = read_body(b.continuous ? "'between'" : "'on'", false);
        return b;
    }

    statement read_statement(bool at_top) {
        statement s;
        s.where = now().where;
        const token& first = now();
        if (first.kind == token_kind::name) {
            s.does = read_assignment(at_top);
        } else if (first.is("if")) {
            s.does = read_branch(at_top);
        } else if (first.is("for")) {
            s.does = read_loop(at_top);
        } else if (first.is("pay") || first.is("stop")) {
            if (at_top) fail("'" + std::string(first.text) + "' stands inside an 'on' or 'between' block");
            if (first.is("stop")) {
                take();
                s.does = stop{};
                expect_line_end("'stop'");
            } else {
                s.does = read_payment();
            }
        } else if (first.is("refuse")) {
            if (!at_top) fail("'refuse' checks the terms of a trade; it stands above all blocks");
            take();
            if (now().kind != token_kind::text) {
                fail("expected the reason in double quotes after 'refuse', found " + found(now()));
            }
            // It is read out as it stands, wherever a trade is refused.
            constexpr std::size_t longest_reason = 300;
            if (now().text.size() > longest_reason) {
                fail("the reason has " + std::to_string(now().text.size()) + " bytes; at most " +
                     std::to_string(longest_reason) + " are possible");
            }
            s.does = refusal{std::string(take().text)};
            expect_line_end("the reason");
        } else if (first.is("else") || first.is("elif")) {
            fail("'" + std::string(first.text) + "' without an 'if' of the same indentation before it");
        } else {
            fail("expected a statement (name = value, if, for, pay, stop), found " + found(first));
        }
        return s;
    }

    assignment read_assignment(bool at_top) {
        const token name = take();
        assignment a;
        a.name = std::string(name.text);
        if (now().is("[")) {
            take();
            a.element = read_primary();
            expect("]", "after the asset");
        }
        if (!now().is("=")) {
            const std::string near =
                nearest(a.name, {"on", "between", "if", "elif", "else", "for", "pay", "stop", "refuse"});
            const std::string hint = near.empty() ? "" : "; did you mean '" + near + "'?";
            if (now().is("("))
                fail("'" + a.name + "(...)' by itself does nothing; expected name = value" + hint);
            if (!hint.empty()) fail(name.where, "'" + a.name + "' begins no statement" + hint);
            fail("expected '=' after '" + a.name + "', found " + found(now()) +
                 "; what is no 'name = value' begins with " +
                 (at_top ? "on, between, if, for or refuse" : "if, for, pay or stop"));
        }
        take();
        a.to = read_expression();
        expect_line_end("the value of '" + a.name + "'");
        return a;
    }

    branch read_branch(bool at_top) {
        branch b;
        do {
            const std::string word(take().text);
            if (b.arms.size() == most_arms) {
                fail("more than " + std::to_string(most_arms) + " cases in one 'if'");
            }
            expression condition = read_expression();
            if (now().is("=")) fail("found '=' in a condition; two values are compared with '=='");
            b.arms.push_back({std::move(condition), read_body("'" + word + "'", at_top)});
        } while (now().is("elif"));
        if (take_if("else")) b.otherwise = read_body("'else'", at_top);
        return b;
    }

    loop read_loop(bool at_top) {
        loop l;
        take();
        const token name = expect_name("a name for the asset at hand after 'for'");
        expect("in", "after the name");
        const token list = expect_name("a list of assets after 'in'");
        l.name = std::string(name.text);
        l.list_name = std::string(list.text);
        l.name_where = name.where;
        l.list_where = list.where;
        l.body = read_body("'for'", at_top);
        return l;
    }

    payment read_payment() {
        take();
        payment p;
        p.amount = read_expression();
        for (;;) {
            const token word = now();
            if (!word.is("on") && !word.is("in") && !word.is("at")) break;
            std::optional<expression>& part = word.is("on") ? p.on : word.is("in") ? p.in : p.at;
            if (part) fail("'" + std::string(word.text) + "' is said twice for one payment");
            take();
            part = word.is("at") ? read_expression() : read_primary();
            if (p.on && p.at) fail(word.where, "a payment is 'on' a date or 'at' a time, not both");
        }
        expect_line_end("the payment");
        return p;
    }

    // Expressions, weakest binding first.
    expression read_expression() {
        const level inside(*this);
        return read_or();
    }

    expression read_or() {
        expression left = read_and();
        while (now().is("or")) {
            const place where = take().where;
            left = binary(binary_operator::logical_or, where, std::move(left), read_and());
        }
        return left;
    }

    expression read_and() {
        expression left = read_not();
        while (now().is("and")) {
            const place where = take().where;
            left = binary(binary_operator::logical_and, where, std::move(left), read_not());
        }
        return left;
    }

    expression read_not() {
        if (!now().is("not")) return read_comparison();
        const level inside(*this);
        const place where = take().where;
        return unary(form::logical_not, where, read_not());
    }

    std::optional<binary_operator> comparison() const {
        if (now().is("<")) return binary_operator::less;
        if (now().is("<=")) return binary_operator::less_equal;
        if (now().is(">")) return binary_operator::greater;
        if (now().is(">=")) return binary_operator::greater_equal;
        if (now().is("==")) return binary_operator::equal;
        if (now().is("!=")) return binary_operator::not_equal;
        return std::nullopt;
    }

    expression read_comparison() {
        expression left = read_sum();
        const auto sign = comparison();
        if (!sign) return left;
        const place where = take().where;
        expression both = binary(*sign, where, std::move(left), read_sum());
        if (comparison()) fail("comparisons can't be chained; write a < b and b < c");
        return both;
    }

    expression read_sum() {
        expression left = read_product();
        while (now().is("+") || now().is("-")) {
            const token sign = take();
            left = binary(sign.text == "+" ? binary_operator::add : binary_operator::subtract, sign.where,
                          std::move(left), read_product());
        }
        return left;
    }

    expression read_product() {
        expression left = read_unary();
        while (now().is("*") || now().is("/")) {
            const token sign = take();
            left = binary(sign.text == "*" ? binary_operator::multiply : binary_operator::divide, sign.where,
                          std::move(left), read_unary());
        }
        return left;
    }

    expression read_unary() {
        if (!now().is("-")) return read_primary();
        const level inside(*this);
        const place where = take().where;
        return unary(form::negate, where, read_unary());
    }

    expression read_primary() {
        expression e;
        e.where = now().where;
        if (now().kind == token_kind::number) {
            e.is = form::number;
            e.number = take().number;
        } else if (now().is("true") || now().is("false")) {
            e.is = form::truth;
            e.number = take().text == "true" ? 1.0 : 0.0;
        } else if (now().kind == token_kind::text) {
            e.is = form::text;
            e.text = std::string(take().text);
        } else if (now().is("(")) {
            take();
            e = read_expression();
            expect(")", "to close the bracket");
        } else if (now().kind == token_kind::name) {
            e.is = form::name;
            e.text = std::string(take().text);
            if (now().is("(")) {
                read_arguments(e);
            } else if (now().is("[")) {
                take();
                e.is = form::element;
                e.operands.push_back(read_primary());
                expect("]", "after the asset");
                grow(e);
            }
        } else {
            fail("expected a value, found " + found(now()));
        }
        return e;
    }

    void read_arguments(expression& call) {
        call.is = form::call;
        take();
        if (take_if(")")) return;
        for (;;) {
            call.operands.push_back(read_expression());
            if (now().is("for")) {
                read_aggregate(call);
                break;
            }
            if (take_if(",")) continue;
            if (now().is("=")) fail("found '=' inside an expression; two values are compared with '=='");
            expect(")", "or ',' in the arguments of '" + call.text + "'");
            break;
        }
        grow(call);
    }

    void read_aggregate(expression& call) {
        call.is = form::aggregate;
        take();
        const token name = expect_name("a name for the asset at hand after 'for'");
        expect("in", "after the name");
        const token list = expect_name("a list of assets after 'in'");
        expect(")", "after the list of '" + call.text + "'");
        call.loop_name = std::string(name.text);
        call.loop_where = name.where;
        call.list_name = std::string(list.text);
        call.list_where = list.where;
    }

    void grow(expression& e) const {
        for (const expression& part : e.operands) e.height = std::max(e.height, part.height + 1);
        if (e.height > tallest_expression) {
            fail(e.where, "this expression chains more than " + std::to_string(tallest_expression) +
                              " operations; give a part of it a name");
        }
    }

    expression unary(form is, place where, expression of) const {
        expression e;
        e.is = is;
        e.where = where;
        e.operands.push_back(std::move(of));
        grow(e);
        return e;
    }

    expression binary(binary_operator sign, place where, expression left, expression right) const {
        expression e;
        e.is = form::binary;
        e.where = where;
        e.sign = sign;
        e.operands.push_back(std::move(left));
        e.operands.push_back(std::move(right));
        grow(e);
        return e;
    }

    std::string file_;
    std::vector<token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

syntax parse(std::string_view source, const location& origin) {
    return parser(source, origin).run();
}

}  // namespace tilewalk::language
