// SPDX-License-Identifier: Apache-2.0
#include "products/language/parser.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "products/language/parsing/expression_reader.h"

namespace tilewalk::language {

namespace {

constexpr std::size_t most_arms = 64;

using parsing::found;
using parsing::token_stream;

class parser {
  public:
    parser(std::string_view source, const location& origin) : tokens_(source, origin) {}

    syntax run() {
        syntax tree;
        tree.file = tokens_.file();
        while (tokens_.now().kind != token_kind::end) {
            if (tokens_.now().kind == token_kind::indent)
                tokens_.fail("this line is indented, and no block is open");
            if (begins_block() || begins_right()) {
                tree.blocks.push_back(read_block());
            } else if (tree.blocks.empty()) {
                tree.top.push_back(read_statement(true));
            } else {
                tokens_.fail(found(tokens_.now()) +
                             " comes after a block; statements go above all blocks or inside one");
            }
        }
        if (tree.blocks.empty()) {
            tokens_.fail("the script has no block; expected at least one 'on DATES:' or 'between A and B:'");
        }
        return tree;
    }

  private:
    bool begins_block() const { return tokens_.now().is("on") || tokens_.now().is("between"); }
    // `exercise` and `call` are keywords only before `on` or `between`; elsewhere they may be names.
    bool begins_right() const {
        const token& first = tokens_.now();
        return first.kind == token_kind::name && (first.text == "exercise" || first.text == "call") &&
               (tokens_.next().is("on") || tokens_.next().is("between"));
    }

    std::string others(bool at_top) const {
        if (at_top) return "on, between, exercise, call, if, for or refuse";
        if (right_of_ == party::holder) return "if, for or receive";
        return right_of_ ? "if, for or pay" : "if, for, pay or stop";
    }

    statements read_body(const std::string& of, bool at_top) {
        const token_stream::level inside(tokens_);
        tokens_.expect(":", "after " + of);
        if (tokens_.now().kind != token_kind::line_end) {
            tokens_.fail("expected the end of the line after ':', found " + found(tokens_.now()) +
                         "; the body of " + of + " starts on the next line, indented");
        }
        tokens_.advance();
        if (tokens_.now().kind != token_kind::indent) {
            tokens_.fail("expected an indented line that belongs to " + of + ", found " +
                         found(tokens_.now()));
        }
        tokens_.advance();
        statements body;
        while (tokens_.now().kind != token_kind::dedent) {
            if (tokens_.now().kind == token_kind::indent)
                tokens_.fail("this line is indented deeper than the one above it");
            if (begins_block() || begins_right()) {
                tokens_.fail("'" + std::string(tokens_.now().text) +
                             "' begins a block of its own, not inside another block");
            }
            body.push_back(read_statement(at_top));
        }
        tokens_.advance();
        return body;
    }

    block_syntax read_block() {
        block_syntax b;
        b.where = tokens_.now().where;
        if (begins_right()) b.right_of = tokens_.advance().text == "call" ? party::issuer : party::holder;
        right_of_ = b.right_of;
        b.continuous = tokens_.advance().text == "between";
        b.from = expressions_.read_primary();
        if (b.from.is == form::number && tokens_.now().is("-")) {
            tokens_.fail(
                b.from.where,
                "expected a date or a schedule, found a number; a day such as 2027-01-15 belongs in the "
                "trade, and the script names the parameter that has it");
        }
        if (b.continuous) {
            tokens_.expect("and", "between the two ends");
            b.to = expressions_.read_primary();
            // `every` and `within` are keywords only after `between A and B`; elsewhere they may be names.
            const bool in_equal_steps = tokens_.now().text == "every";
            if (tokens_.now().kind == token_kind::name &&
                (in_equal_steps || tokens_.now().text == "within")) {
                tokens_.advance();
                b.in_equal_steps = in_equal_steps;
                b.every = expressions_.read_primary();
            }
        }
        if (b.right_of && b.continuous && !b.in_equal_steps) {
            tokens_.fail(
                "expected 'every' and the step between the dates of a right 'between' two dates, found " +
                found(tokens_.now()));
        }
        if (b.right_of) read_terms(b);
        const std::string word = b.continuous ? "'between'" : "'on'";
        b.body = b.right_of && tokens_.now().is(":") && tokens_.next().kind != token_kind::line_end
                     ? read_line()
                     : read_body(word, false);
        right_of_.reset();
        return b;
    }

    void read_terms(block_syntax& b) {
        for (;;) {
            const token word = tokens_.now();
            if (word.is("at")) {
                tokens_.advance();
                const std::string bound(tokens_.now().text);
                if (bound != "most" && bound != "least") {
                    tokens_.fail("expected 'at most N times' or 'at least N times', found " +
                                 found(tokens_.now()) + " after 'at'");
                }
                tokens_.advance();
                std::optional<expression>& number = bound == "most" ? b.at_most : b.at_least;
                if (number) tokens_.fail(word.where, "'at " + bound + "' is given twice for one right");
                number = expressions_.read_primary();
                take_word("times", "after the number of 'at " + bound + "'");
            } else if (word.kind == token_kind::name && word.text == "with") {
                tokens_.advance();
                take_word("notice", "after 'with'");
                if (b.notice) tokens_.fail(word.where, "'with notice' is given twice for one right");
                b.notice = expressions_.read_primary();
                b.is_notice_in_days = tokens_.now().kind == token_kind::name && tokens_.now().text == "days";
                if (b.is_notice_in_days) tokens_.advance();
            } else {
                break;
            }
        }
    }

    void take_word(std::string_view word, const std::string& after_what) {
        if (tokens_.now().kind != token_kind::name || tokens_.now().text != word) {
            tokens_.fail("expected '" + std::string(word) + "' " + after_what + ", found " +
                         found(tokens_.now()));
        }
        tokens_.advance();
    }

    statements read_line() {
        tokens_.advance();
        statements body;
        body.push_back(read_statement(false));
        return body;
    }

    statement read_statement(bool at_top) {
        statement s;
        s.where = tokens_.now().where;
        const token& first = tokens_.now();
        if (right_of_ == party::holder && first.text == "receive" && first.kind == token_kind::name &&
            !tokens_.next().is("=") && !tokens_.next().is("[")) {
            s.does = settlement{read_payment()};
        } else if (first.kind == token_kind::name) {
            s.does = read_assignment(at_top);
        } else if (first.is("if")) {
            s.does = read_branch(at_top);
        } else if (first.is("for")) {
            s.does = read_loop(at_top);
        } else if (first.is("pay") || first.is("stop")) {
            if (at_top)
                tokens_.fail("'" + std::string(first.text) + "' stands inside an 'on' or 'between' block");
            if (first.is("stop")) {
                tokens_.advance();
                if (right_of_)
                    tokens_.fail(s.where, "a right that is used ends the trade; expected no 'stop'");
                s.does = stop{};
                tokens_.expect_line_end("'stop'");
            } else if (right_of_ == party::issuer) {
                s.does = settlement{read_payment()};
            } else {
                if (right_of_)
                    tokens_.fail("expected 'receive' for what the holder gets who exercises, found 'pay'");
                s.does = read_payment();
            }
        } else if (first.is("refuse")) {
            if (!at_top) tokens_.fail("'refuse' checks the terms of a trade; it goes above all blocks");
            tokens_.advance();
            if (tokens_.now().kind != token_kind::text) {
                tokens_.fail("expected the reason in double quotes after 'refuse', found " +
                             found(tokens_.now()));
            }
            // The reason is quoted unchanged in the message that refuses a trade.
            constexpr std::size_t longest_reason = 300;
            if (tokens_.now().text.size() > longest_reason) {
                tokens_.fail("the reason has " + std::to_string(tokens_.now().text.size()) +
                             " bytes, expected at most " + std::to_string(longest_reason));
            }
            s.does = refusal{std::string(tokens_.advance().text)};
            tokens_.expect_line_end("the reason");
        } else if (first.is("else") || first.is("elif")) {
            tokens_.fail("'" + std::string(first.text) +
                         "' without an 'if' of the same indentation before it");
        } else {
            tokens_.fail("expected a statement (name = value, if, for, pay, stop), found " + found(first));
        }
        return s;
    }

    assignment read_assignment(bool at_top) {
        const token name = tokens_.advance();
        assignment a;
        a.name = std::string(name.text);
        if (tokens_.now().is("[")) {
            tokens_.advance();
            a.element = expressions_.read_primary();
            tokens_.expect("]", "after the asset");
        }
        if (!tokens_.now().is("=")) {
            std::vector<std::string> words{"on",  "between", "if",     "elif",     "else", "for",
                                           "pay", "stop",    "refuse", "exercise", "call"};
            if (right_of_ == party::holder) words.emplace_back("receive");
            const std::string near = nearest(a.name, words);
            const std::string hint = near.empty() ? "" : "; did you mean '" + near + "'?";
            if (tokens_.now().is("("))
                tokens_.fail("'" + a.name + "(...)' by itself does nothing; expected name = value" + hint);
            if (!hint.empty()) tokens_.fail(name.where, "'" + a.name + "' does not begin a statement" + hint);
            tokens_.fail("expected '=' after '" + a.name + "', found " + found(tokens_.now()) +
                         "; other statements begin with " + others(at_top));
        }
        tokens_.advance();
        a.to = expressions_.read();
        tokens_.expect_line_end("the value of '" + a.name + "'");
        return a;
    }

    branch read_branch(bool at_top) {
        branch b;
        do {
            const std::string word(tokens_.advance().text);
            if (b.arms.size() == most_arms) {
                tokens_.fail("more than " + std::to_string(most_arms) + " cases in one 'if'");
            }
            expression condition = expressions_.read();
            if (tokens_.now().is("="))
                tokens_.fail("found '=' in a condition; two values are compared with '=='");
            b.arms.push_back({std::move(condition), read_body("'" + word + "'", at_top)});
        } while (tokens_.now().is("elif"));
        if (tokens_.take_if("else")) b.otherwise = read_body("'else'", at_top);
        return b;
    }

    loop read_loop(bool at_top) {
        loop l;
        tokens_.advance();
        const token name = tokens_.expect_name("a name for the asset after 'for'");
        tokens_.expect("in", "after the name");
        const token list = tokens_.expect_name("a list of assets after 'in'");
        l.name = std::string(name.text);
        l.list_name = std::string(list.text);
        l.name_where = name.where;
        l.list_where = list.where;
        l.body = read_body("'for'", at_top);
        return l;
    }

    payment read_payment() {
        tokens_.advance();
        payment p;
        p.amount = expressions_.read();
        for (;;) {
            const token word = tokens_.now();
            if (!word.is("on") && !word.is("in") && !word.is("at")) break;
            std::optional<expression>& part = word.is("on") ? p.on : word.is("in") ? p.in : p.at;
            if (part) tokens_.fail("'" + std::string(word.text) + "' is given twice for one payment");
            tokens_.advance();
            part = word.is("at") ? expressions_.read() : expressions_.read_primary();
            if (p.on && p.at) tokens_.fail(word.where, "a payment is 'on' a date or 'at' a time, not both");
        }
        tokens_.expect_line_end("the payment");
        return p;
    }

    std::optional<party> right_of_;  // the right of the block being read; empty if it has none
    token_stream tokens_;
    parsing::expression_reader expressions_{tokens_};
};

}  // namespace

syntax parse(std::string_view source, const location& origin) {
    return parser(source, origin).run();
}

expression parse_expression(std::string_view source, const location& origin) {
    token_stream tokens(source, origin);
    parsing::expression_reader expressions(tokens);
    expression out = expressions.read();
    if (tokens.now().kind == token_kind::line_end) tokens.advance();
    if (tokens.now().kind != token_kind::end)
        tokens.fail("expected the end of the expression, found " + found(tokens.now()));
    return out;
}

}  // namespace tilewalk::language
