// SPDX-License-Identifier: Apache-2.0
#include "products/language/checker.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "products/language/checking/expressions.h"
#include "products/language/checking/wording.h"
#include "products/language/nearest.h"

namespace tilewalk::language {

namespace {

using checking::described;
using checking::in_quotes;
using checking::surroundings;

class checker {
  public:
    explicit checker(syntax& tree)
        : tree_(tree),
          parameters_(tree),
          variables_(tree),
          names_(tree, parameters_, variables_),
          expressions_(tree, parameters_, names_) {}

    void run() {
        parameters_.check_declarations();
        for (const block_syntax& b : tree_.blocks) variables_.note_assigned(b.body);
        check_all(tree_.top);
        variables_.end_top();
        for (block_syntax& b : tree_.blocks) check_block(b);
        check_rights();
        check_features();
        if (!pays_)
            fail(tree_.blocks.front().where,
                 "the script never pays; expected 'pay AMOUNT' in one of its blocks");
        variables_.check_none_is_idle();
        parameters_.check_all_are_read(variables_.names_to_set(""));
    }

  private:
    [[noreturn]] void fail(place where, const std::string& message) const {
        checking::fail(tree_, where, message);
    }

    // The dates in a block's header are evaluated outside the block, so they can't use its current date.
    void check_block(block_syntax& b) {
        variables_.begin_block();
        names_.enter(surroundings::top);
        if (b.continuous) {
            expressions_.expect(b.from, type::date);
            expressions_.expect(b.to, type::date);
            if (b.every) check_years(*b.every, "a number of years", b.in_equal_steps ? "every" : "within");
        } else {
            check_dates(b);
        }
        if (b.at_most) check_times(*b.at_most, "at most");
        if (b.at_least) check_times(*b.at_least, "at least");
        if (b.notice)
            check_years(*b.notice, b.is_notice_in_days ? "a number of days" : "a number of years",
                        "with notice");
        names_.enter(b.continuous ? surroundings::interval : surroundings::on_date, b.schedule);
        right_of_ = b.right_of;
        settles_ = false;
        check_all(b.body);
        if (!b.right_of) return;
        tree_.stops = tree_.has_rights = true;
        if (!settles_) {
            fail(b.where, *b.right_of == party::holder
                              ? "the right never pays; expected 'receive AMOUNT' in it"
                              : "the right never pays; expected 'pay AMOUNT' in it");
        }
        right_of_.reset();
    }

    // The longest step and the notice decide at which times paths stop, so neither may vary along a path.
    void check_years(expression& e, const std::string& what, const std::string& behind) {
        if (e.is == form::number) return;
        const auto number = e.is == form::name ? parameters_.find(e.text) : std::nullopt;
        if (!number || parameters_.type_at(*number) != type::number || !parameters_[*number].per.empty()) {
            fail(e.where, "expected " + what + ", or a numeric parameter, after '" + behind + "'");
        }
        names_.resolve_parameter(e, *number);
    }

    void check_times(expression& e, const std::string& behind) {
        if (e.is == form::number) return;
        const auto number = e.is == form::name ? parameters_.find(e.text) : std::nullopt;
        if (!number || parameters_[*number].type != parameter_type::integer ||
            !parameters_[*number].per.empty()) {
            fail(e.where, "expected a whole number, or an integer parameter, after '" + behind + "'");
        }
        names_.resolve_parameter(e, *number);
    }

    // Checks the rights that may be used several times. A policy values one use at a time, so such a right
    // must be the holder's, without notice, and the only right of its script.
    void check_rights() {
        for (const block_syntax& b : tree_.blocks) {
            if (b.at_least && !b.at_most)
                fail(b.at_least->where,
                     "'at least' needs 'at most' before it, as in 'at most 10 times at "
                     "least 5 times'");
            if (!b.at_most) continue;
            if (b.right_of == party::issuer) {
                fail(b.at_most->where,
                     "only the holder may use a right several times; expected 'exercise' and 'receive', "
                     "found 'call'");
            }
            if (b.notice) {
                fail(b.notice->where,
                     "a right that may be used several times is decided on its dates; "
                     "expected no 'with notice'");
            }
            for (const block_syntax& other : tree_.blocks) {
                if (!other.right_of || &other == &b) continue;
                fail(other.where, "the right of line " + std::to_string(b.where.line) +
                                      " may be used several times, so it is the only one of its script; put "
                                      "this one in a trade of its own");
            }
        }
    }

    // Features, the inputs of decisions, are evaluated on dates of rights: they may use what an `on` block
    // may.
    void check_features() {
        if (tree_.features.empty()) return;
        variables_.begin_block();
        names_.enter(surroundings::on_date);
        const std::string word(word_of_states);
        if (tree_.states_word && names_.is_known(word)) {
            fail(*tree_.states_word,
                 in_quotes(word) +
                     " means, among features, the states that are found automatically, but the script has "
                     "the same name; expected another name in the script, such as '" +
                     word + "_seen'");
        }
        for (expression& e : tree_.features) {
            if (!tree_.has_rights) {
                fail(e.where,
                     "found features in a script without a right to decide on; expected "
                     "an 'exercise' or a 'call' block in the script, or no features");
            }
            if (e.is == form::name && !names_.is_known(e.text) && !nearest(e.text, {word}).empty()) {
                fail(e.where,
                     "unknown name " + in_quotes(e.text) + "; did you mean " + in_quotes(word) + "?");
            }
            expressions_.expect(e, type::number);
            if (!depends_on_the_path(e)) {
                fail(e.where,
                     "a feature is a number that depends on the path, such as spot(asset) or a name "
                     "that a block sets; this one is alike on all paths");
            }
        }
    }

    bool depends_on_the_path(const expression& e) const {
        if (e.is == form::call) {
            const function_kind kind = entry_of(e.calls).kind;
            if (kind == function_kind::market || kind == function_kind::rate) return true;
        }
        if ((e.is == form::name || e.is == form::element) && e.means == meaning::variable)
            return variables_.is_assigned_in_a_block(e.text);
        return std::ranges::any_of(e.operands, [&](const expression& o) { return depends_on_the_path(o); });
    }

    void check_dates(block_syntax& b) {
        expression& e = b.from;
        if (e.is == form::name) {
            const auto number = parameters_.find(e.text);
            if (number && parameters_.type_at(*number) == type::schedule) {
                names_.resolve_parameter(e, *number);
                b.schedule = *number;
                return;
            }
        }
        const type t = expressions_.check(e);
        if (t != type::date) {
            fail(e.where,
                 "expected a date or a schedule after 'on', found " + described(t) + list_of_dates());
        }
        if (e.is == form::call) b.schedule = e.operands[0].slot;
    }

    std::string list_of_dates() const {
        auto known = parameters_.names_of_type(type::schedule);
        for (auto& n : parameters_.names_of_type(type::date)) known.push_back(std::move(n));
        return known.empty() ? "" : "; there are: " + listed("", known);
    }

    void check_all(statements& list) {
        for (statement& s : list) {
            std::visit([&](auto& does) { check_statement(s.where, does); }, s.does);
        }
    }

    void check_statement(place where, assignment& a) {
        names_.check_can_be_set(a.name, where);
        std::optional<std::size_t> list;
        std::size_t depth = checking::whole;
        if (a.element) {
            depth = names_.resolve_index(*a.element, a.name);
            list = names_.list_of_loop(depth);
        }
        variables_.begin_right_side(a.name);
        const type t = expressions_.check(a.to);
        variables_.end_right_side();
        if (t != type::number && t != type::truth) {
            fail(a.to.where, "expected a number or a condition after '=', found " + described(t) +
                                 expressions_.hint(type::number, t, a.to));
        }
        a.variable = variables_.set(a.name, where, t, list, names_.where() == surroundings::top);
        check_agrees(where, a, t, list);
        if (right_of_ && variables_[a.variable].is_state) {
            fail(where, in_quotes(a.name) +
                            " keeps its value from block to block, which a right can't set; set it in a "
                            "block of its own");
        }
        variables_.define(a.variable, depth);
    }

    // The first assignment of a variable fixes its type and list.
    void check_agrees(place where, const assignment& a, type t, std::optional<std::size_t> list) const {
        const variable& v = variables_[a.variable];
        if (v.of != t) {
            fail(a.to.where, in_quotes(a.name) + " is " + described(v.of) + " since line " +
                                 std::to_string(v.where.line) + ", found " + described(t));
        }
        if (v.list && !list) {
            const std::string& name = parameters_[*v.list].name;
            fail(where, in_quotes(a.name) + " has one value for each asset of " + in_quotes(name) +
                            "; write " + a.name + "[a] = ... inside 'for a in " + name + "'");
        }
        if (!v.list && list)
            fail(where, in_quotes(a.name) + " is a single value since line " + std::to_string(v.where.line));
        if (v.list && *v.list != *list) names_.fail_wrong_list(a.element->where, a.name, *v.list, *list);
    }

    // A variable has a value after a branch if every arm gives it one.
    void check_statement(place, branch& b) {
        const checking::definite before = variables_.defined();
        std::optional<checking::definite> after;
        const auto meet = [&] {
            const checking::definite& now = variables_.defined();
            if (!after) {
                after = now;
            } else {
                checking::definite both;
                std::set_intersection(after->begin(), after->end(), now.begin(), now.end(),
                                      std::inserter(both, both.end()));
                after = std::move(both);
            }
        };
        for (auto& arm : b.arms) {
            variables_.define_only(before);
            expressions_.expect(arm.condition, type::truth);
            check_all(arm.body);
            meet();
        }
        variables_.define_only(before);
        check_all(b.otherwise);
        meet();
        variables_.define_only(std::move(*after));
    }

    void check_statement(place, loop& l) {
        l.list = names_.find_list(l.list_name, l.list_where);
        names_.enter_loop(l.name, l.name_where, l.list);
        check_all(l.body);
        names_.leave_loop();
    }

    void check_statement(place where, settlement& s) {
        settles_ = true;
        check_statement(where, s.gives);
    }

    void check_statement(place, payment& p) {
        pays_ = true;
        expressions_.expect(p.amount, type::number);
        if (p.on) expressions_.expect(*p.on, type::date);
        if (p.in) expressions_.expect_exchanged(*p.in);
        if (p.at) {
            if (names_.where() != surroundings::interval) {
                fail(p.at->where, "'at' a time is for 'between' blocks; expected 'on' and a date");
            }
            expressions_.expect(*p.at, type::number);
        }
    }

    void check_statement(place, stop&) { tree_.stops = true; }
    void check_statement(place, refusal&) {}

    syntax& tree_;
    checking::parameters parameters_;
    checking::variables variables_;
    checking::names names_;
    checking::expressions expressions_;
    bool pays_ = false, settles_ = false;
    std::optional<party> right_of_;  // the right of the block being checked; empty if it has none
};

}  // namespace

void check(syntax& tree) {
    checker(tree).run();
}

}  // namespace tilewalk::language
