// SPDX-License-Identifier: Apache-2.0
// The documented grammar of scripts, docs/reference/grammar.ebnf, against the parser: random sentences of it
// parse, every library script follows from it, and both agree on scripts with a changed token.
#include <algorithm>
#include <cctype>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "products/language/lexer.h"
#include "products/language/parser.h"
#include "tests/texts.h"
#include "tilewalk/products.h"

namespace grammar_test {
namespace {

using tilewalk::language::token;
using tilewalk::language::token_kind;

struct form {
    enum class kind { word, symbol, sequence, choice, maybe, repeated };
    kind is = kind::sequence;
    std::string text;         // a word, or the name of a symbol
    std::vector<form> parts;  // parts of all other kinds
};

class grammar {
  public:
    explicit grammar(const std::string& text) : text_(text) {
        for (skip(); at_ < text_.size(); skip()) {
            const std::string name = read_name();
            expect('=');
            rules_[name] = read_choice();
            expect(';');
        }
    }

    const std::map<std::string, form>& rules() const { return rules_; }

  private:
    void skip() {
        for (;;) {
            while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
            if (text_.compare(at_, 2, "(*") != 0) return;
            at_ = text_.find("*)", at_) + 2;
        }
    }
    char now() {
        skip();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    void expect(char c) {
        if (now() != c)
            throw std::runtime_error("expected " + std::string(1, c) + " before " + text_.substr(at_, 40));
        ++at_;
    }
    std::string read_name() {
        skip();
        std::string name;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
            name += text_[at_++];
        if (name.empty()) throw std::runtime_error("expected a name before " + text_.substr(at_, 40));
        return name;
    }
    form read_choice() {
        form out{form::kind::choice, "", {read_sequence()}};
        while (now() == '|') {
            ++at_;
            out.parts.push_back(read_sequence());
        }
        return out.parts.size() == 1 ? out.parts.front() : out;
    }
    form read_sequence() {
        form out;
        for (char c = now(); c != '|' && c != ';' && c != ']' && c != '}' && c != ')'; c = now())
            out.parts.push_back(read_item());
        return out;
    }
    form read_item() {
        const char c = now();
        if (c == '"') {
            const std::size_t from = at_ + 1;
            at_ = text_.find('"', from) + 1;
            return {form::kind::word, text_.substr(from, at_ - from - 1), {}};
        }
        if (c != '[' && c != '{' && c != '(') return {form::kind::symbol, read_name(), {}};
        ++at_;
        form inner = read_choice();
        expect(c == '[' ? ']' : c == '{' ? '}' : ')');
        if (c == '(') return inner;
        return {c == '[' ? form::kind::maybe : form::kind::repeated, "", {std::move(inner)}};
    }

    std::string text_;
    std::size_t at_ = 0;
    std::map<std::string, form> rules_;
};

const std::string& grammar_text() {
    static const std::string text = tilewalk::tests::own_text("docs/reference/grammar.ebnf");
    return text;
}

// Text of tokens: LINE_END ends a line, INDENT and DEDENT change its indentation.
std::string printed(const std::vector<std::string>& tokens) {
    std::string out;
    int depth = 0;
    bool is_at_begin = true;
    for (const std::string& t : tokens) {
        if (t == "INDENT" || t == "DEDENT") {
            depth += t == "INDENT" ? 1 : -1;
        } else if (t == "LINE_END") {
            out += "\n";
            is_at_begin = true;
        } else {
            out += is_at_begin ? std::string(static_cast<std::size_t>(4 * std::max(depth, 0)), ' ') : " ";
            out += t;
            is_at_begin = false;
        }
    }
    return out;
}

std::string as_written(const token& t) {
    switch (t.kind) {
        case token_kind::line_end:
            return "LINE_END";
        case token_kind::indent:
            return "INDENT";
        case token_kind::dedent:
            return "DEDENT";
        case token_kind::text:
            return "\"" + std::string(t.text) + "\"";
        default:
            return std::string(t.text);
    }
}

std::vector<std::string> written(const std::vector<token>& tokens) {
    std::vector<std::string> out;
    for (const token& t : tokens)
        if (t.kind != token_kind::end) out.push_back(as_written(t));
    return out;
}

class maker {
  public:
    maker(const grammar& by, unsigned seed) : by_(by), random_(seed) {}

    std::vector<std::string> sentence(const std::string& rule) {
        out_.clear();
        symbol(rule, 0);
        return out_;
    }
    std::size_t below(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
    }

  private:
    static constexpr int deep = 22;

    void symbol(const std::string& name, int depth) {
        static const std::vector<std::string> names{"a",    "spot",    "every", "times", "days",
                                                    "call", "receive", "x_1",   "worst"};
        if (name == "NAME") return out_.push_back(names[below(names.size())]);
        if (name == "NUMBER") return out_.push_back(below(2) == 0 ? "100" : "1e-6");
        if (name == "TEXT") return out_.push_back("\"act_360\"");
        if (name == "LINE_END" || name == "INDENT" || name == "DEDENT") return out_.push_back(name);
        make(by_.rules().at(name), depth + 1);
    }
    void make(const form& f, int depth) {
        switch (f.is) {
            case form::kind::word:
                return out_.push_back(f.text);
            case form::kind::symbol:
                return symbol(f.text, depth);
            case form::kind::sequence:
                for (const form& part : f.parts) make(part, depth);
                return;
            case form::kind::choice:
                // Beyond the depth `deep`, the first alternative leads out of every rule.
                return make(f.parts[depth > deep ? 0 : below(f.parts.size())], depth);
            case form::kind::maybe:
                if (depth <= deep && below(2) == 0) make(f.parts.front(), depth);
                return;
            case form::kind::repeated:
                while (depth <= deep && below(3) == 0) make(f.parts.front(), depth);
                return;
        }
    }

    const grammar& by_;
    std::mt19937 random_;
    std::vector<std::string> out_;
};

// Decides whether a rule derives the tokens, trying all ways at once.
class judge {
  public:
    judge(const grammar& by, std::vector<token> tokens) : by_(by), tokens_(std::move(tokens)) {}

    bool follows_from(const std::string& rule) {
        return ends_of(rule, 0).contains(tokens_.size() - 1);  // all but the token `end`
    }

  private:
    using places = std::set<std::size_t>;

    const places& ends_of(const std::string& rule, std::size_t from) {
        const auto key = std::pair(rule, from);
        if (const auto known = ends_.find(key); known != ends_.end()) return known->second;
        const auto terminal = [&](token_kind kind) {
            return tokens_[from].kind == kind ? places{from + 1} : places{};
        };
        places found;
        if (rule == "NAME")
            found = terminal(token_kind::name);
        else if (rule == "NUMBER")
            found = terminal(token_kind::number);
        else if (rule == "TEXT")
            found = terminal(token_kind::text);
        else if (rule == "LINE_END")
            found = terminal(token_kind::line_end);
        else if (rule == "INDENT")
            found = terminal(token_kind::indent);
        else if (rule == "DEDENT")
            found = terminal(token_kind::dedent);
        else
            found = ends(by_.rules().at(rule), {from});
        return ends_[key] = std::move(found);
    }

    places ends(const form& f, const places& begins) {
        places out;
        switch (f.is) {
            case form::kind::word:
                for (const std::size_t at : begins) {
                    const token& t = tokens_[at];
                    const bool is_word = t.kind == token_kind::sign || t.kind == token_kind::keyword ||
                                         t.kind == token_kind::name;
                    if (is_word && t.text == f.text) out.insert(at + 1);
                }
                return out;
            case form::kind::symbol:
                for (const std::size_t at : begins) out.merge(places(ends_of(f.text, at)));
                return out;
            case form::kind::sequence:
                out = begins;
                for (const form& part : f.parts) out = ends(part, out);
                return out;
            case form::kind::choice:
                for (const form& part : f.parts) out.merge(ends(part, begins));
                return out;
            case form::kind::maybe:
                out = ends(f.parts.front(), begins);
                out.insert(begins.begin(), begins.end());
                return out;
            case form::kind::repeated:
                out = begins;
                for (places fresh = begins; !fresh.empty();) {
                    places more;
                    for (const std::size_t at : ends(f.parts.front(), fresh))
                        if (out.insert(at).second) more.insert(at);
                    fresh = std::move(more);
                }
                return out;
        }
        return out;
    }

    const grammar& by_;
    std::vector<token> tokens_;
    std::map<std::pair<std::string, std::size_t>, places> ends_;
};

std::string refusal_of(const std::string& script) {
    try {
        tilewalk::language::parse(script, {});
        return "";
    } catch (const tilewalk::error& e) {
        return e.what();
    }
}

std::vector<std::pair<std::string, std::string>> library() {
    std::vector<std::pair<std::string, std::string>> scripts;
    for (const auto& page : tilewalk::product_pages()) scripts.emplace_back(page.name, page.script);
    return scripts;
}

std::vector<std::string> strangers_to(const grammar& by) {
    std::vector<std::string> out;
    for (const auto& [name, script] : library())
        if (!judge(by, tilewalk::language::tokenize(script, {})).follows_from("script")) out.push_back(name);
    return out;
}

TEST(grammar, names_no_rule_that_it_lacks) {
    const grammar all(grammar_text());
    ASSERT_GE(all.rules().size(), 40U);
    std::set<std::string> used;
    const auto look = [&](const auto& self, const form& f) -> void {
        if (f.is == form::kind::symbol) used.insert(f.text);
        for (const form& part : f.parts) self(self, part);
    };
    for (const auto& [name, f] : all.rules()) look(look, f);
    for (const char* terminal : {"NAME", "NUMBER", "TEXT", "LINE_END", "INDENT", "DEDENT"})
        EXPECT_EQ(used.erase(terminal), 1U);
    for (const std::string& name : used) EXPECT_TRUE(all.rules().contains(name)) << name;
    for (const auto& [name, f] : all.rules()) EXPECT_TRUE(used.contains(name) || name == "script") << name;
}

TEST(grammar, sentences_made_from_it_parse) {
    const grammar all(grammar_text());
    maker make(all, 7);
    std::map<std::string, int> words;
    for (int i = 0; i < 20000; ++i) {
        const auto tokens = make.sentence("script");
        const std::string script = printed(tokens);
        if (script.size() > 20000) continue;
        const std::string refusal = refusal_of(script);
        // Skips sentences beyond limits on nesting and chains, which the grammar does not state.
        if (refusal.find("nested deeper") != std::string::npos ||
            refusal.find("chains more") != std::string::npos)
            continue;
        ASSERT_EQ(refusal, "") << script;
        for (const std::string& t : tokens) ++words[t];
    }
    for (const std::string_view keyword : tilewalk::language::keywords())
        EXPECT_GT(words[std::string(keyword)], 100) << keyword;
    for (const char* word :
         {"exercise", "receive", "every", "within", "most", "least", "times", "notice", "days"})
        EXPECT_GT(words[word], 100) << word;
}

TEST(grammar, every_script_of_the_library_follows_from_it) {
    EXPECT_EQ(strangers_to(grammar(grammar_text())), std::vector<std::string>());
    const std::string without = tilewalk::tests::replaced(grammar_text(), "| \"receive\" amount", "");
    const auto missed = strangers_to(grammar(without));
    EXPECT_TRUE(std::ranges::count(missed, "american") == 1 && std::ranges::count(missed, "european") == 0);
}

TEST(grammar, says_what_the_parser_says_of_changed_scripts) {
    const grammar all(grammar_text());
    maker make(all, 11);
    const std::vector<std::string> others{
        "a",       "100",  "\"x\"", "(",    ")",      "[",        "]",      ",",     ":",     "=",
        "==",      "-",    "not",   "on",   "in",     "at",       "if",     "elif",  "else",  "between",
        "and",     "or",   "for",   "pay",  "stop",   "refuse",   "true",   "call",  "every", "exercise",
        "receive", "most", "times", "with", "notice", "LINE_END", "INDENT", "DEDENT"};
    std::vector<std::vector<std::string>> scripts;
    for (const auto& [name, script] : library())
        scripts.push_back(written(tilewalk::language::tokenize(script, {})));
    while (scripts.size() < 400)
        if (auto s = make.sentence("script"); s.size() < 300) scripts.push_back(std::move(s));
    int accepted = 0, refused = 0;
    for (const auto& whole : scripts) {
        for (int change = 0; change < 40; ++change) {
            auto tokens = whole;
            const std::size_t at = make.below(tokens.size());
            const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
            switch (make.below(4)) {
                case 0:
                    tokens.erase(place);
                    break;
                case 1:
                    *place = others[make.below(others.size())];
                    break;
                case 2:
                    tokens.insert(place, others[make.below(others.size())]);
                    break;
                default:
                    std::swap(*place, tokens[make.below(tokens.size())]);
            }
            const std::string script = printed(tokens);
            std::vector<token> read;
            try {
                read = tilewalk::language::tokenize(script, {});
            } catch (const tilewalk::error&) {
                continue;  // such a text has no tokens to judge
            }
            const std::string refusal = refusal_of(script);
            if (refusal.find("nested deeper") != std::string::npos ||
                refusal.find("chains more") != std::string::npos)
                continue;
            ASSERT_EQ(judge(all, read).follows_from("script"), refusal.empty()) << refusal << "\n" << script;
            ++(refusal.empty() ? accepted : refused);
        }
    }
    EXPECT_GT(accepted, 1000);
    EXPECT_GT(refused, 5000);
}

}  // namespace

}  // namespace grammar_test
