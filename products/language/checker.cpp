// SPDX-License-Identifier: Apache-2.0
#include "products/language/checker.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "products/language/nearest.h"

namespace tilewalk::language {

namespace {

constexpr std::size_t whole = static_cast<std::size_t>(-1);  // a variable as such, or all elements of one

std::string in_quotes(std::string_view name) {
    return "'" + std::string(name) + "'";
}

std::string_view described(type t) {
    switch (t) {
        case type::number:
            return "a number";
        case type::truth:
            return "a condition (true or false)";
        case type::asset:
            return "an asset";
        case type::asset_list:
            return "a list of assets";
        case type::date:
            return "a date";
        case type::schedule:
            return "a schedule";
        case type::choice:
            return "a choice";
        case type::currency:
            return "a currency";
    }
    return "";
}

type type_of(parameter_type t) {
    switch (t) {
        case parameter_type::boolean:
            return type::truth;
        case parameter_type::choice:
            return type::choice;
        case parameter_type::date:
            return type::date;
        case parameter_type::schedule:
            return type::schedule;
        case parameter_type::asset:
            return type::asset;
        case parameter_type::asset_list:
            return type::asset_list;
        case parameter_type::currency:
            return type::currency;
        default:
            return type::number;
    }
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
    const std::string near = nearest(wrong, known);
    return near.empty() ? "" : "; did you mean '" + near + "'?";
}

// A list of all there is, behind what was probably meant.
std::string behind(const std::string& meant, const std::string& known) {
    return (meant.empty() ? "; " : meant + " ") + known;
}

// What was probably meant; where nothing is near, all there is.
std::string suggestion_or_all(std::string_view wrong, const std::vector<std::string>& known,
                              const std::string& what) {
    const std::string near = suggestion(wrong, known);
    if (!near.empty()) return near;
    return known.empty() ? "; there are none" : "; known " + what + ": " + listed(wrong, known);
}

const function_entry* find_function(std::string_view name) {
    const auto* const at =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    return at == functions.end() ? nullptr : &*at;
}

bool is_special(std::string_view name) {
    return std::find(special_names.begin(), special_names.end(), name) != special_names.end();
}

bool is_comparison(binary_operator sign) {
    return sign >= binary_operator::less && sign <= binary_operator::not_equal;
}
bool is_equality(binary_operator sign) {
    return sign == binary_operator::equal || sign == binary_operator::not_equal;
}

class checker {
  public:
    explicit checker(syntax& tree) : tree_(tree) {}

    void run() {
        tree_.parameter_used.assign(tree_.parameters.size(), false);
        tree_.parameter_exchanged.assign(tree_.parameters.size(), false);
        parameter_read_.assign(tree_.parameters.size(), false);
        check_parameters();
        for (const block_syntax& b : tree_.blocks) note_assigned(b.body);
        where_ = context::top;
        check_all(tree_.top);
        for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
            if (!defined_.contains({i, whole})) {
                fail(tree_.variables[i].where,
                     in_quotes(tree_.variables[i].name) +
                         " gets its first value in some cases only; give it one in all");
            }
        }
        states_ = tree_.variables.size();
        for (block_syntax& b : tree_.blocks) check_block(b);
        if (!pays_)
            fail(tree_.blocks.front().where,
                 "the script never pays; expected 'pay AMOUNT' in one of its blocks");
        check_nothing_is_idle();
    }

  private:
    enum class context { top, on_date, interval };

    struct open_loop {
        std::string name;
        std::size_t list = 0;
        place where;
        bool is_read = false;
    };
    // The fate of a variable.
    struct fate {
        bool is_read = false;               // but to set itself
        bool is_set_again = false;          // after its first value
        bool depends_on_the_trade = false;  // its first value, which is then worked out and not a number
    };
    // What has a value for sure: variable and depth of the loop whose asset indexes it, or `whole`.
    using definite = std::set<std::pair<std::size_t, std::size_t>>;

    [[noreturn]] void fail(place where, const std::string& message) const {
        throw error(error_kind::input, message, {tree_.file, where.line, where.column});
    }

    // Parameters: their names must be free, and what they are lists over must be there.
    void check_parameters() const {
        for (const parameter& p : tree_.parameters) {
            const auto refuse = [&](const std::string& message) {
                throw error(error_kind::input, message, p.where);
            };
            if (is_special(p.name) || find_function(p.name) != nullptr ||
                std::find(keywords().begin(), keywords().end(), p.name) != keywords().end()) {
                refuse("parameter " + in_quotes(p.name) + " has the name of a word of the script language");
            }
            if (p.per.empty()) continue;
            const auto over = find_parameter(p.per);
            const type of = over ? type_of(tree_.parameters[*over].type) : type::number;
            if (!over || (of != type::schedule && of != type::asset_list)) {
                refuse("parameter " + in_quotes(p.name) + " is per " + in_quotes(p.per) +
                       ", which is no schedule and no asset_list among the parameters" +
                       (over ? "" : suggestion(p.per, parameter_names())));
            }
            const type mine = type_of(p.type);
            if (mine != type::number && !(mine == type::date && of == type::schedule)) {
                refuse("parameter " + in_quotes(p.name) + " of type " + std::string(to_string(p.type)) +
                       " can't be per " + in_quotes(p.per) + "; numbers can, and dates per schedule");
            }
        }
    }

    std::optional<std::size_t> find_parameter(std::string_view name) const {
        for (std::size_t i = 0; i < tree_.parameters.size(); ++i) {
            if (tree_.parameters[i].name == name) return i;
        }
        return std::nullopt;
    }
    std::vector<std::string> parameter_names() const {
        std::vector<std::string> names;
        for (const parameter& p : tree_.parameters) names.push_back(p.name);
        return names;
    }
    std::vector<std::string> names_of_type(type t) const {
        std::vector<std::string> names;
        for (const parameter& p : tree_.parameters) {
            if (type_of(p.type) == t && p.per.empty()) names.push_back(p.name);
        }
        return names;
    }
    const parameter& used(std::size_t number) {
        tree_.parameter_used[number] = true;
        parameter_read_[number] = reads_the_trade_ = true;
        return tree_.parameters[number];
    }

    // Names that blocks assign, so that a missing first value can be told from a misspelt name.
    void note_assigned(const statements& list) {
        for (const statement& s : list) {
            if (const auto* a = std::get_if<assignment>(&s.does)) assigned_.insert(a->name);
            if (const auto* l = std::get_if<loop>(&s.does)) note_assigned(l->body);
            if (const auto* b = std::get_if<branch>(&s.does)) {
                for (const auto& arm : b->arms) note_assigned(arm.body);
                note_assigned(b->otherwise);
            }
        }
    }

    // Variables that can be seen: all states, and the locals of this block.
    std::optional<std::size_t> find_variable(std::string_view name) const {
        for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
            if (tree_.variables[i].name == name && (i < states_ || i >= first_local_)) return i;
        }
        return std::nullopt;
    }

    void check_block(block_syntax& b) {
        where_ = context::top;
        first_local_ = tree_.variables.size();
        defined_.clear();
        schedule_.reset();
        if (b.continuous) {
            expect(b.from, type::date);
            expect(b.to, type::date);
            if (b.every) check_step(*b.every, b.in_equal_steps);
            where_ = context::interval;
        } else {
            read_dates(b);
            where_ = context::on_date;
        }
        schedule_ = b.schedule;
        check_all(b.body);
    }

    // How far a path goes at most before it stops; it decides where, so it can't change along the path.
    void check_step(expression& e, bool in_equal_steps) {
        if (e.is == form::number) return;
        const auto number = e.is == form::name ? find_parameter(e.text) : std::nullopt;
        if (!number || type_of(tree_.parameters[*number].type) != type::number ||
            !tree_.parameters[*number].per.empty()) {
            fail(e.where, "expected a number of years, or a parameter that is one, after '" +
                              std::string(in_equal_steps ? "every" : "within") + "'");
        }
        resolve_parameter(e, *number);
    }

    // `on DATES`: a schedule, a date, or an end of a schedule.
    void read_dates(block_syntax& b) {
        expression& e = b.from;
        if (e.is == form::name) {
            const auto number = find_parameter(e.text);
            if (number && type_of(tree_.parameters[*number].type) == type::schedule) {
                resolve_parameter(e, *number);
                b.schedule = *number;
                return;
            }
        }
        const type t = check_expression(e);
        if (t != type::date) {
            fail(e.where, "expected a date or a schedule after 'on', found " + std::string(described(t)) +
                              suggestion_of_dates());
        }
        if (e.is == form::call) b.schedule = e.operands[0].slot;
    }

    std::string suggestion_of_dates() const {
        auto names = names_of_type(type::schedule);
        for (auto& n : names_of_type(type::date)) names.push_back(std::move(n));
        return names.empty() ? "" : "; there are: " + listed("", names);
    }

    // A name that does nothing is most often another one, misspelt.
    void check_nothing_is_idle() const {
        for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
            const variable& v = tree_.variables[i];
            if (fates_[i].is_read) continue;
            fail(v.where,
                 in_quotes(v.name) + " is set and never read" + suggestion(v.name, names_to_set(v.name)));
        }
        for (std::size_t i = 0; i < states_; ++i) {
            const variable& v = tree_.variables[i];
            if (fates_[i].is_set_again || fates_[i].depends_on_the_trade) continue;
            const std::string meant = suggestion(v.name, names_to_set(v.name));
            fail(v.where,
                 in_quotes(v.name) + " is never set after its first value" + meant +
                     (meant.empty() ? "; a" : " A") +
                     " number that stays is written where it is read, or is a parameter with a default");
        }
        for (std::size_t i = 0; i < tree_.parameters.size(); ++i) {
            const parameter& p = tree_.parameters[i];
            const bool is_default = std::any_of(tree_.parameters.begin(), tree_.parameters.end(),
                                                [&](const parameter& q) { return q.same_as == p.name; });
            if (parameter_read_[i] || is_default) continue;
            throw error(error_kind::input,
                        "no line of the script reads parameter " + in_quotes(p.name) +
                            suggestion(p.name, names_beside(p.name)),
                        p.where);
        }
    }

    // Other names that blocks set.
    std::vector<std::string> names_to_set(const std::string& but) const {
        std::vector<std::string> names;
        for (const std::string& name : assigned_) {
            if (name != but) names.push_back(name);
        }
        return names;
    }
    // Other names that the script has.
    std::vector<std::string> names_beside(const std::string& but) const {
        std::vector<std::string> names = names_to_set(but);
        for (const parameter& p : tree_.parameters) {
            if (p.name != but) names.push_back(p.name);
        }
        return names;
    }

    // Statements.
    void check_all(statements& list) {
        for (statement& s : list) {
            std::visit([&](auto& does) { check_statement(s.where, does); }, s.does);
        }
    }

    void check_statement(place where, assignment& a) {
        if (is_special(a.name))
            fail(where, in_quotes(a.name) + " is a word of the language and can't be assigned");
        if (find_function(a.name) != nullptr) {
            fail(where, in_quotes(a.name) + " is a function of the language and can't be assigned");
        }
        if (find_parameter(a.name)) fail(where, in_quotes(a.name) + " is a parameter and can't be assigned");
        if (find_loop(a.name))
            fail(where, in_quotes(a.name) + " is the asset of the loop and can't be assigned");

        std::optional<std::size_t> list;
        std::size_t depth = whole;
        if (a.element) {
            depth = loop_index(*a.element, a.name);
            list = loops_[depth].list;
        }
        setting_ = a.name;
        reads_the_trade_ = false;
        const type t = check_expression(a.to);
        setting_.clear();
        if (t != type::number && t != type::truth) {
            fail(a.to.where, "expected a number or a condition after '=', found " +
                                 std::string(described(t)) + hint(type::number, t, a.to));
        }
        auto number = find_variable(a.name);
        if (!number) {
            number = tree_.variables.size();
            tree_.variables.push_back({a.name, where, t, list, where_ == context::top});
            fates_.push_back({false, false, reads_the_trade_});
        } else {
            fates_[*number].is_set_again = true;
        }
        const variable& v = tree_.variables[*number];
        if (v.of != t) {
            fail(a.to.where, in_quotes(a.name) + " is " + std::string(described(v.of)) + " since line " +
                                 std::to_string(v.where.line) + ", found " + std::string(described(t)));
        }
        if (v.list && !list) {
            fail(where, in_quotes(a.name) + " has one value for each asset of " + list_name(*v.list) +
                            "; write " + a.name + "[a] = ... inside 'for a in " +
                            tree_.parameters[*v.list].name + "'");
        }
        if (!v.list && list)
            fail(where, in_quotes(a.name) + " is a single value since line " + std::to_string(v.where.line));
        if (v.list && *v.list != *list) fail_wrong_list(a.element->where, a.name, *v.list, *list);
        a.variable = *number;
        defined_.insert({*number, depth});
    }

    void check_statement(place, branch& b) {
        const definite before = defined_;
        std::optional<definite> after;
        const auto meet = [&] {
            if (!after) {
                after = defined_;
            } else {
                definite both;
                std::set_intersection(after->begin(), after->end(), defined_.begin(), defined_.end(),
                                      std::inserter(both, both.end()));
                after = std::move(both);
            }
        };
        for (auto& arm : b.arms) {
            defined_ = before;
            expect(arm.condition, type::truth);
            check_all(arm.body);
            meet();
        }
        defined_ = before;
        check_all(b.otherwise);
        meet();
        defined_ = std::move(*after);
    }

    void check_statement(place, loop& l) {
        l.list = find_list(l.list_name, l.list_where);
        enter_loop(l.name, l.name_where, l.list);
        check_all(l.body);
        leave_loop();
    }

    void check_statement(place, payment& p) {
        pays_ = true;
        expect(p.amount, type::number);
        if (p.on) expect(*p.on, type::date);
        if (p.in) check_exchanged(*p.in);
        if (p.at) {
            if (where_ != context::interval) {
                fail(p.at->where, "'at' a time is for 'between' blocks; expected 'on' and a date");
            }
            expect(*p.at, type::number);
        }
    }

    void check_statement(place, stop&) { tree_.stops = true; }
    void check_statement(place, refusal&) {}

    // Loops and what they run over.
    std::size_t find_list(const std::string& name, place where) {
        const auto number = find_parameter(name);
        if (!number) {
            const auto lists = names_of_type(type::asset_list);
            fail(where,
                 "unknown list of assets " + in_quotes(name) + suggestion_or_all(name, lists, "lists"));
        }
        const type t = type_of(used(*number).type);
        if (t != type::asset_list) {
            fail(where, "expected a list of assets after 'in', found " + std::string(described(t)) + ", " +
                            in_quotes(name));
        }
        return *number;
    }

    std::string list_name(std::size_t list) const { return in_quotes(tree_.parameters[list].name); }

    std::optional<std::size_t> find_loop(std::string_view name) const {
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            if (loops_[i].name == name) return i;
        }
        return std::nullopt;
    }

    void enter_loop(const std::string& name, place where, std::size_t list) {
        if (is_special(name) || find_function(name) != nullptr || find_parameter(name) ||
            find_variable(name) || find_loop(name)) {
            fail(where, in_quotes(name) +
                            " already means something else; choose another name for the asset at hand");
        }
        loops_.push_back({name, list, where});
    }

    // A loop sees every asset of its list, so what it gave to each element it gave to all.
    void leave_loop() {
        const std::size_t depth = loops_.size() - 1;
        if (const open_loop& l = loops_.back(); !l.is_read) {
            fail(l.where, in_quotes(l.name) + " goes through " + list_name(l.list) +
                              ", and nothing reads it; use it as in spot(" + l.name + "), or size(" +
                              tree_.parameters[l.list].name + ") for how many there are");
        }
        definite kept;
        for (const auto& [number, index] : defined_) kept.insert({number, index == depth ? whole : index});
        defined_ = std::move(kept);
        loops_.pop_back();
    }

    // The loop whose asset indexes `base`.
    std::size_t loop_index(expression& index, const std::string& base) {
        const auto depth = index.is == form::name ? find_loop(index.text) : std::nullopt;
        if (!depth) {
            std::vector<std::string> names;
            for (const open_loop& l : loops_) names.push_back(l.name);
            const std::string got = index.is == form::name ? in_quotes(index.text) : "something else";
            fail(index.where,
                 "expected the asset of a loop in " + base + "[...], found " + got +
                     (names.empty() ? "; write 'for a in LIST' around it" : suggestion(index.text, names)));
        }
        resolve_loop(index, *depth);
        return *depth;
    }

    [[noreturn]] void fail_wrong_list(place where, const std::string& name, std::size_t mine,
                                      std::size_t given) const {
        fail(where, in_quotes(name) + " goes by the assets of " + list_name(mine) +
                        ", and this loop runs over " + list_name(given));
    }

    // Expressions.
    type expect(expression& e, type wanted) {
        const type t = check_expression(e);
        if (t != wanted) {
            fail(e.where, "expected " + std::string(described(wanted)) + ", found " +
                              std::string(described(t)) + hint(wanted, t, e));
        }
        return t;
    }

    // How to get what was wanted from what was found.
    std::string hint(type wanted, type got, const expression& e) const {
        const std::string name = e.is == form::name ? e.text : std::string();
        if (wanted == type::truth && got == type::number) return "; compare it, as in x > 0";
        if (got == type::choice && !name.empty()) {
            const auto& choices = tree_.parameters[e.slot].choices;
            return choices.empty() ? "" : "; compare it, as in " + name + " == " + choices.front();
        }
        if (wanted == type::number && e.is == form::binary) return "; decide by it: 'if CONDITION:'";
        if (name.empty()) return "";
        if (wanted == type::number) {
            if (got == type::asset) return "; write spot(" + name + ")";
            if (got == type::asset_list)
                return "; write worst(spot(a) for a in " + name + "), or sum, average, best";
            if (got == type::date) return "; write year_fraction(start, " + name + ")";
            if (got == type::schedule) return "; write size(" + name + ")";
            if (got == type::currency) return "; write fx(" + name + ")";
            if (got == type::truth) return "; write 'if " + name + ":'";
        }
        if (wanted == type::date && got == type::schedule)
            return "; write first(" + name + ") or last(" + name + ")";
        if (wanted == type::asset && got == type::asset_list) return "; write 'for a in " + name + "'";
        return "";
    }

    type check_expression(expression& e) {
        e.of = type_of_expression(e);
        return e.of;
    }

    type type_of_expression(expression& e) {
        switch (e.is) {
            case form::number:
                return type::number;
            case form::truth:
                return type::truth;
            case form::text:
                fail(e.where, "a text stands only for a day count or a choice, found \"" + e.text + "\"");
            case form::name:
                return check_name(e);
            case form::element:
                return check_element(e);
            case form::negate:
                return expect(e.operands[0], type::number);
            case form::logical_not:
                return expect(e.operands[0], type::truth);
            case form::binary:
                return check_binary(e);
            case form::call:
                return check_call(e);
            case form::aggregate:
                return check_aggregate(e);
        }
        return type::number;
    }

    type resolve_loop(expression& e, std::size_t depth) {
        loops_[depth].is_read = true;
        e.means = meaning::loop_asset;
        e.slot = depth;
        e.list = loops_[depth].list;
        return e.of = type::asset;
    }

    type resolve_parameter(expression& e, std::size_t number) {
        e.means = meaning::parameter;
        e.slot = number;
        return e.of = type_of(used(number).type);
    }

    type check_name(expression& e) {
        if (const auto depth = find_loop(e.text)) return resolve_loop(e, *depth);
        if (const auto number = find_parameter(e.text)) return check_parameter(e, *number);
        if (is_special(e.text)) return check_special(e);
        if (const auto number = find_variable(e.text)) {
            const variable& v = tree_.variables[*number];
            if (v.list) {
                fail(e.where, in_quotes(e.text) + " has one value for each asset of " + list_name(*v.list) +
                                  "; write " + e.text + "[a] inside 'for a in " +
                                  tree_.parameters[*v.list].name + "'");
            }
            return resolve_variable(e, *number, whole);
        }
        if (find_function(e.text) != nullptr) {
            fail(e.where,
                 in_quotes(e.text) + " is a function; write " + std::string(find_function(e.text)->written));
        }
        if (assigned_.contains(e.text)) fail_without_value(e);
        for (const parameter& p : tree_.parameters) {
            if (std::find(p.choices.begin(), p.choices.end(), e.text) != p.choices.end()) {
                fail(e.where, in_quotes(e.text) + " is one of the choices of " + in_quotes(p.name) +
                                  "; compare it: " + p.name + " == " + e.text);
            }
        }
        fail(e.where,
             "unknown name " + in_quotes(e.text) + suggestion_or_all(e.text, visible_names(), "names"));
    }

    [[noreturn]] void fail_without_value(const expression& e) const {
        const std::string first =
            e.is == form::element ? "in a loop over its list" : "such as '" + e.text + " = 0'";
        fail(e.where,
             in_quotes(e.text) + (where_ == context::top
                                      ? " has no value yet here"
                                      : " may have no value yet here; what is kept from date to date needs a "
                                        "first value above the blocks, " +
                                            first));
    }

    std::vector<std::string> visible_names() const {
        std::vector<std::string> names = parameter_names();
        for (std::size_t i = 0; i < tree_.variables.size(); ++i) {
            if (i < states_ || i >= first_local_) names.push_back(tree_.variables[i].name);
        }
        for (const open_loop& l : loops_) names.push_back(l.name);
        for (const std::string_view s :
             {"time", "step", "index", "count", "start", "currency", "true", "false"})
            names.emplace_back(s);
        return names;
    }

    type check_parameter(expression& e, std::size_t number) {
        const parameter& p = tree_.parameters[number];
        if (!p.per.empty()) {
            const std::size_t over = *find_parameter(p.per);
            if (type_of(tree_.parameters[over].type) == type::asset_list) {
                fail(e.where, in_quotes(p.name) + " has one value for each asset of " + in_quotes(p.per) +
                                  "; write " + p.name + "[a] inside 'for a in " + p.per + "'");
            }
            if (where_ != context::on_date || schedule_ != over) {
                fail(e.where, in_quotes(p.name) + " has one value for each date of " + in_quotes(p.per) +
                                  "; it can be used inside 'on " + p.per + ":' only");
            }
            used(over);
        }
        return resolve_parameter(e, number);
    }

    type check_special(expression& e) const {
        if (e.text == "currency") {
            e.means = meaning::currency;
            return type::currency;
        }
        if (e.text == "start") {
            e.means = meaning::start;
            return type::date;
        }
        if (e.text == "value" || e.text == "alive") {
            fail(e.where, in_quotes(e.text) + " is kept by the language itself and can't be read");
        }
        const bool is_of_intervals = e.text == "step";
        const bool is_of_both = e.text == "time" || e.text == "today" || e.text == "previous";
        if (is_of_intervals && where_ != context::interval) {
            fail(e.where,
                 "'step' is the length of the interval at hand; it can be used inside a 'between' "
                 "block only");
        }
        if (where_ == context::top || (where_ == context::interval && !is_of_intervals && !is_of_both)) {
            fail(e.where, in_quotes(e.text) + " speaks of the date at hand; it can be used inside " +
                              (is_of_both ? "a block only" : "an 'on' block only"));
        }
        if (e.text == "time") {
            e.means = meaning::time;
            return type::number;
        }
        if (e.text == "today") {
            e.means = meaning::today;
            return type::date;
        }
        if (is_of_intervals) {
            e.means = meaning::step;
            return type::number;
        }
        if (where_ == context::interval) {
            e.means = meaning::previous;
            return type::date;
        }
        if (!schedule_) {
            fail(e.where, in_quotes(e.text) + " speaks of a schedule, and this block has a single date");
        }
        e.list = *schedule_;
        if (e.text == "previous") {
            e.means = meaning::previous;
            return type::date;
        }
        if (e.text == "next") {
            e.means = meaning::next;
            return type::date;
        }
        e.means = e.text == "index" ? meaning::index : meaning::count;
        return type::number;
    }

    type resolve_variable(expression& e, std::size_t number, std::size_t depth) {
        const bool is_kept = states_ != whole && number < states_;
        if (!is_kept && !defined_.contains({number, depth}) && !defined_.contains({number, whole}))
            fail_without_value(e);
        if (e.text != setting_) fates_[number].is_read = true;
        if (fates_[number].depends_on_the_trade) reads_the_trade_ = true;
        e.means = meaning::variable;
        e.slot = number;
        return tree_.variables[number].of;
    }

    type check_element(expression& e) {
        if (find_loop(e.text) || is_special(e.text))
            fail(e.where, in_quotes(e.text) + " is a single value, not a list");
        const auto parameter_number = find_parameter(e.text);
        const auto variable_number = parameter_number ? std::nullopt : find_variable(e.text);
        if (!parameter_number && !variable_number) {
            if (assigned_.contains(e.text)) fail_without_value(e);
            fail(e.where,
                 "unknown name " + in_quotes(e.text) + suggestion_or_all(e.text, visible_names(), "names"));
        }
        std::optional<std::size_t> list;
        if (parameter_number) {
            const parameter& p = tree_.parameters[*parameter_number];
            if (p.type == parameter_type::asset_list) {
                fail(e.where,
                     "an asset of " + in_quotes(p.name) + " is reached by a loop: 'for a in " + p.name + "'");
            }
            if (!p.per.empty()) list = find_parameter(p.per);
            if (list && type_of(tree_.parameters[*list].type) != type::asset_list) {
                fail(e.where, in_quotes(p.name) + " goes by the dates of " + in_quotes(p.per) + "; write " +
                                  p.name + " inside 'on " + p.per + ":'");
            }
        } else {
            list = tree_.variables[*variable_number].list;
        }
        if (!list) fail(e.where, in_quotes(e.text) + " is a single value, not a list; write " + e.text);
        const std::size_t depth = loop_index(e.operands[0], e.text);
        if (loops_[depth].list != *list)
            fail_wrong_list(e.operands[0].where, e.text, *list, loops_[depth].list);
        e.list = *list;
        if (parameter_number) return resolve_parameter(e, *parameter_number);
        return resolve_variable(e, *variable_number, depth);
    }

    type check_binary(expression& e) {
        expression& left = e.operands[0];
        expression& right = e.operands[1];
        if (e.sign == binary_operator::logical_and || e.sign == binary_operator::logical_or) {
            expect(left, type::truth);
            return expect(right, type::truth);
        }
        if (!is_comparison(e.sign)) {
            expect(left, type::number);
            return expect(right, type::number);
        }
        const type t = check_expression(left);
        if (t == type::choice) {
            if (!is_equality(e.sign)) fail(e.where, "choices are compared with == or !=");
            check_word(right, tree_.parameters[left.slot]);
        } else if (t == type::truth) {
            if (!is_equality(e.sign))
                fail(left.where, "expected a number, found a condition (true or false)");
            expect(right, type::truth);
        } else if (t == type::date) {
            expect(right, type::date);
        } else if (t == type::number) {
            expect(right, type::number);
        } else {
            fail(left.where,
                 "expected a number, found " + std::string(described(t)) + hint(type::number, t, left));
        }
        return type::truth;
    }

    // One of the choices of a parameter, bare or in quotes.
    void check_word(expression& e, const parameter& of) const {
        if (e.is != form::name && e.is != form::text) {
            fail(e.where,
                 "expected one of the choices of " + in_quotes(of.name) + ": " + listed("", of.choices));
        }
        if (std::find(of.choices.begin(), of.choices.end(), e.text) == of.choices.end()) {
            fail(e.where,
                 in_quotes(e.text) + " is no choice of " + in_quotes(of.name) +
                     behind(suggestion(e.text, of.choices), "choices: " + listed(e.text, of.choices)));
        }
        e.means = meaning::word;
        e.of = type::choice;
    }

    const function_entry& find_called(const expression& e) const {
        if (const function_entry* f = find_function(e.text)) return *f;
        if (find_parameter(e.text) || find_variable(e.text) || find_loop(e.text) || is_special(e.text)) {
            fail(e.where, in_quotes(e.text) + " is no function");
        }
        std::vector<std::string> names;
        for (const auto& f : functions) names.emplace_back(f.name);
        fail(e.where,
             "unknown function " + in_quotes(e.text) + suggestion_or_all(e.text, names, "functions"));
    }

    void check_count(const expression& e, const function_entry& f) const {
        const int given = static_cast<int>(e.operands.size());
        if (given >= f.least && given <= f.most) return;
        std::string wanted = std::to_string(f.least);
        if (f.most == any_number)
            wanted += " to " + std::to_string(f.most);
        else if (f.most != f.least)
            wanted += " or " + std::to_string(f.most);
        fail(e.where, in_quotes(f.name) + " takes " + wanted + (wanted == "1" ? " argument" : " arguments") +
                          ", found " + std::to_string(given) + "; write " + std::string(f.written));
    }

    type check_call(expression& e) {
        const function_entry& f = find_called(e);
        e.calls = f.code;
        if (f.kind == function_kind::aggregate) {
            fail(e.where, in_quotes(f.name) + " runs over a list of assets; write " + std::string(f.written));
        }
        check_count(e, f);
        if ((f.kind == function_kind::market || f.kind == function_kind::rate) && where_ == context::top) {
            fail(e.where, in_quotes(f.name) +
                              " needs a date at hand; it can be used inside an 'on' or 'between' block only");
        }
        if (f.kind == function_kind::interval && where_ != context::interval) {
            fail(e.where, in_quotes(f.name) +
                              " speaks of what happens between two dates; it can be used inside a 'between' "
                              "block only");
        }
        switch (f.code) {
            case function::fx:
                check_exchanged(e.operands[0]);
                return type::number;
            case function::bond:
            case function::forward_rate:
            case function::annuity:
            case function::swap_rate:
            case function::constant_maturity_rate:
                return check_rate(e);
            case function::forward:
                expect(e.operands[0], type::asset);
                expect(e.operands[1], type::date);
                return type::number;
            case function::call_value:
            case function::put_value:
                expect(e.operands[0], type::asset);
                expect(e.operands[1], type::number);
                expect(e.operands[2], type::date);
                return type::number;
            case function::given:
                return check_given(e.operands[0]);
            case function::size:
                return check_size(e);
            case function::first:
            case function::last:
                expect(e.operands[0], type::schedule);
                return type::date;
            case function::position:
                return check_position(e.operands[0]);
            case function::year_fraction:
                expect(e.operands[0], type::date);
                expect(e.operands[1], type::date);
                if (e.operands.size() == 3) check_day_count(e.operands[2]);
                return type::number;
            default:
                break;
        }
        std::size_t i = 0;
        if (f.kind != function_kind::arithmetic) expect(e.operands[i++], type::asset);
        for (; i < e.operands.size(); ++i) expect(e.operands[i], type::number);
        return type::number;
    }

    void check_exchanged(expression& e) {
        expect(e, type::currency);
        if (e.means == meaning::parameter) tree_.parameter_exchanged[e.slot] = true;
    }

    type check_rate(expression& e) {
        expect(e.operands[0], type::currency);
        if (e.calls == function::constant_maturity_rate) {
            for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
                expression& number = e.operands[i];
                expect(number, type::number);
                const bool is_parameter = number.is == form::name && number.means == meaning::parameter &&
                                          tree_.parameters[number.slot].per.empty();
                if (number.is == form::number || is_parameter) continue;
                fail(number.where,
                     "expected a number or a parameter that is one as the " +
                         std::string(i == 1 ? "years" : "payments a year") +
                         " of 'constant_maturity_rate': it decides which bonds the rate is made of");
            }
            return type::number;
        }
        expect(e.operands[1], type::date);
        if (e.calls == function::bond) return type::number;
        const bool has_schedule = e.calls != function::forward_rate;
        expect(e.operands[2], has_schedule ? type::schedule : type::date);
        if (e.operands.size() == 4) check_day_count(e.operands[3]);
        return type::number;
    }

    type check_given(expression& e) {
        const auto number = e.is == form::name ? find_parameter(e.text) : std::nullopt;
        if (!number || !tree_.parameters[*number].optional) {
            std::vector<std::string> known;
            for (const parameter& p : tree_.parameters) {
                if (p.optional) known.push_back(p.name);
            }
            fail(e.where, "expected a parameter with 'optional: true', which a trade need not give, found " +
                              (e.is == form::name ? in_quotes(e.text) : "something else") +
                              suggestion_or_all(e.text, known, "ones"));
        }
        parameter_read_[*number] = reads_the_trade_ = true;
        e.means = meaning::parameter;
        e.slot = *number;
        return type::truth;
    }

    type check_size(expression& e) {
        const type t = check_expression(e.operands[0]);
        if (t != type::asset_list && t != type::schedule) {
            fail(e.operands[0].where,
                 "expected a list of assets or a schedule, found " + std::string(described(t)));
        }
        return type::number;
    }

    type check_position(expression& e) {
        expect(e, type::asset);
        if (e.means != meaning::loop_asset) {
            fail(e.where, "expected the asset of a loop in position(...), found " + in_quotes(e.text) +
                              ", which stands in no list");
        }
        return type::number;
    }

    void check_day_count(expression& e) {
        const auto refuse = [&](const std::string& got) {
            std::vector<std::string> known;
            std::string words;
            for (const dates::day_count_entry& entry : dates::day_counts) {
                known.emplace_back(entry.word);
                words += (words.empty() ? "\"" : ", \"") + known.back() + '"';
            }
            fail(e.where,
                 "unknown day count " + in_quotes(got) + behind(suggestion(got, known), "known: " + words));
        };
        if (e.is == form::name) {
            const auto number = find_parameter(e.text);
            if (!number || tree_.parameters[*number].type != parameter_type::choice) {
                fail(e.where, "expected a day count in quotes, or a choice parameter of day counts, found " +
                                  in_quotes(e.text));
            }
            resolve_parameter(e, *number);
            for (const std::string& c : tree_.parameters[*number].choices) {
                if (!dates::parse_day_count(c)) refuse(c);
            }
            return;
        }
        if (e.is != form::text) fail(e.where, "expected a day count in quotes, such as \"act_360\"");
        if (!dates::parse_day_count(e.text)) refuse(e.text);
    }

    type check_aggregate(expression& e) {
        const function_entry& f = find_called(e);
        e.calls = f.code;
        if (f.kind != function_kind::aggregate) {
            fail(e.where, in_quotes(f.name) + " does not run over a list; write " + std::string(f.written));
        }
        check_count(e, f);
        if (f.code == function::nth) check_rank(e.operands[0]);
        e.list = find_list(e.list_name, e.list_where);
        enter_loop(e.loop_name, e.loop_where, e.list);
        expect(e.operands.back(), type::number);
        leave_loop();
        return type::number;
    }

    // Which one nth takes decides how the program looks, so it can't change along a path.
    void check_rank(expression& e) {
        expect(e, type::number);
        if (!is_fixed(e)) {
            fail(e.where,
                 "expected a number that is fixed from the start as the first argument of 'nth': a whole "
                 "number, "
                 "an integer parameter, size(LIST) or position(a), or a sum or difference of them");
        }
    }

    bool is_fixed(const expression& e) const {
        switch (e.is) {
            case form::number:
                return e.number <= 1e6 && e.number == static_cast<double>(static_cast<long>(e.number));
            case form::name:
                return e.means == meaning::parameter &&
                       tree_.parameters[e.slot].type == parameter_type::integer &&
                       tree_.parameters[e.slot].per.empty();
            case form::call:
                return e.calls == function::position ||
                       (e.calls == function::size && e.operands[0].of == type::asset_list);
            case form::binary:
                return (e.sign == binary_operator::add || e.sign == binary_operator::subtract) &&
                       is_fixed(e.operands[0]) && is_fixed(e.operands[1]);
            default:
                return false;
        }
    }

    syntax& tree_;
    context where_ = context::top;
    std::optional<std::size_t> schedule_;
    std::set<std::string, std::less<>> assigned_;
    std::string setting_;               // the name that the assignment at hand sets
    bool reads_the_trade_ = false;      // what is being set depends on a parameter
    std::vector<fate> fates_;           // by variable
    std::vector<bool> parameter_read_;  // by any line, `given` included
    std::size_t states_ = whole;        // variables below this number are states
    std::size_t first_local_ = 0;
    std::vector<open_loop> loops_;
    definite defined_;
    bool pays_ = false;
};

}  // namespace

void check(syntax& tree) {
    checker(tree).run();
}

}  // namespace tilewalk::language
