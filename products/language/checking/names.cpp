// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/names.h"

#include <algorithm>

#include "products/language/checking/wording.h"

namespace tilewalk::language::checking {

type names::resolve(expression& e, bool as_asset) {
    if (const auto depth = find_loop(e.text)) return resolve_loop(e, *depth);
    if (const auto number = parameters_.find(e.text)) {
        check_parameter_fits(e, *number);
        return resolve_parameter(e, *number);
    }
    if (is_special(e.text)) return resolve_special(e);
    if (const auto number = variables_.find(e.text)) {
        const variable& v = variables_[*number];
        if (v.list) fail_without_index(e, *v.list);
        return resolve_variable(e, *number, whole);
    }
    if (const function_entry* f = find_function(e.text))
        fail(tree_, e.where, in_quotes(e.text) + " is a function; write " + std::string(f->written));
    if (variables_.is_assigned_in_a_block(e.text)) fail_without_value(e);
    for (const parameter& p : tree_.parameters) {
        if (std::find(p.choices.begin(), p.choices.end(), e.text) != p.choices.end()) {
            fail(tree_, e.where,
                 in_quotes(e.text) + " is one of the choices of " + in_quotes(p.name) +
                     "; compare it: " + p.name + " == " + e.text);
        }
    }
    fail_unknown(e, as_asset);
}

type names::resolve_loop(expression& e, std::size_t depth) {
    loops_[depth].is_read = true;
    e.means = meaning::loop_asset;
    e.slot = depth;
    e.list = loops_[depth].list;
    return e.of = type::asset;
}

type names::resolve_parameter(expression& e, std::size_t number) {
    parameters_.note_use(number);
    variables_.note_trade_is_read();
    e.means = meaning::parameter;
    e.slot = number;
    return e.of = parameters_.type_at(number);
}

void names::resolve_question(expression& e, std::size_t number) {
    parameters_.note_question(number);
    variables_.note_trade_is_read();
    e.means = meaning::parameter;
    e.slot = number;
}

type names::resolve_variable(expression& e, std::size_t number, std::size_t depth) {
    if (!variables_.has_value(number, depth)) fail_without_value(e);
    variables_.note_read(number);
    e.means = meaning::variable;
    e.slot = number;
    return variables_[number].of;
}

// A parameter with one value per date means the value on the block's current date.
void names::check_parameter_fits(const expression& e, std::size_t number) {
    const parameter& p = parameters_[number];
    if (p.per.empty()) return;
    const std::size_t over = *parameters_.find(p.per);
    if (parameters_.type_at(over) == type::asset_list) fail_without_index(e, over);
    if (where_ != surroundings::on_date || schedule_ != over) {
        fail(tree_, e.where,
             in_quotes(p.name) + " has one value for each date of " + in_quotes(p.per) +
                 "; it can be used inside 'on " + p.per + ":' only");
    }
    parameters_.note_use(over);
}

type names::resolve_special(expression& e) const {
    if (e.text == "currency") {
        e.means = meaning::currency;
        return type::currency;
    }
    if (e.text == "start") {
        e.means = meaning::start;
        return type::date;
    }
    check_is_at_hand(e);
    if (e.text == "time") {
        e.means = meaning::time;
        return type::number;
    }
    if (e.text == "today") {
        e.means = meaning::today;
        return type::date;
    }
    if (e.text == "step") {
        e.means = meaning::step;
        return type::number;
    }
    if (where_ == surroundings::interval) {
        e.means = meaning::previous;
        return type::date;
    }
    if (!schedule_) {
        fail(tree_, e.where, in_quotes(e.text) + " refers to a schedule, and this block has a single date");
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

void names::check_is_at_hand(const expression& e) const {
    if (e.text == "value" || e.text == "alive") {
        fail(tree_, e.where, in_quotes(e.text) + " is reserved by the language and can't be read");
    }
    const bool is_of_intervals = e.text == "step";
    const bool is_of_both = e.text == "time" || e.text == "today" || e.text == "previous";
    if (is_of_intervals && where_ != surroundings::interval) {
        fail(tree_, e.where, "'step' is the length of the current interval; use it inside a 'between' block");
    }
    if (where_ == surroundings::top ||
        (where_ == surroundings::interval && !is_of_intervals && !is_of_both)) {
        fail(tree_, e.where,
             in_quotes(e.text) + " refers to the current date; use it inside " +
                 (is_of_both ? "a block only" : "an 'on' block only"));
    }
}

type names::resolve_element(expression& e) {
    if (find_loop(e.text) || is_special(e.text))
        fail(tree_, e.where, in_quotes(e.text) + " is a single value, not a list");
    const auto parameter_number = parameters_.find(e.text);
    const auto variable_number = parameter_number ? std::nullopt : variables_.find(e.text);
    if (!parameter_number && !variable_number) {
        if (variables_.is_assigned_in_a_block(e.text)) fail_without_value(e);
        fail_unknown(e, false);
    }
    const auto list =
        parameter_number ? list_of_parameter(e, *parameter_number) : variables_[*variable_number].list;
    if (!list) fail(tree_, e.where, in_quotes(e.text) + " is a single value, not a list; write " + e.text);
    const std::size_t depth = resolve_index(e.operands[0], e.text);
    if (loops_[depth].list != *list) fail_wrong_list(e.operands[0].where, e.text, *list, loops_[depth].list);
    e.list = *list;
    if (parameter_number) return resolve_parameter(e, *parameter_number);
    return resolve_variable(e, *variable_number, depth);
}

std::optional<std::size_t> names::list_of_parameter(const expression& e, std::size_t number) const {
    const parameter& p = parameters_[number];
    if (p.type == parameter_type::asset_list) {
        fail(tree_, e.where,
             "an asset of " + in_quotes(p.name) + " is reached by a loop: 'for a in " + p.name + "'");
    }
    if (p.per.empty()) return std::nullopt;
    const auto list = parameters_.find(p.per);
    if (list && parameters_.type_at(*list) != type::asset_list) {
        fail(tree_, e.where,
             in_quotes(p.name) + " has one value for each date of " + in_quotes(p.per) + "; write " + p.name +
                 " inside 'on " + p.per + ":'");
    }
    return list;
}

void names::check_can_be_set(const std::string& name, place where) const {
    if (is_special(name))
        fail(tree_, where, in_quotes(name) + " is a word of the language and can't be assigned");
    if (find_function(name) != nullptr)
        fail(tree_, where, in_quotes(name) + " is a function of the language and can't be assigned");
    if (parameters_.find(name)) fail(tree_, where, in_quotes(name) + " is a parameter and can't be assigned");
    if (find_loop(name))
        fail(tree_, where, in_quotes(name) + " is the asset of the loop and can't be assigned");
}

bool names::is_known(std::string_view name) const {
    return parameters_.find(name) || variables_.find(name) || find_loop(name) || is_special(name);
}

std::size_t names::find_list(const std::string& name, place where) {
    const auto number = parameters_.find(name);
    if (!number) {
        fail(tree_, where,
             "unknown list of assets " + in_quotes(name) +
                 suggestion_or_all(name, parameters_.names_of_type(type::asset_list), "lists"));
    }
    parameters_.note_use(*number);
    variables_.note_trade_is_read();
    const type t = parameters_.type_at(*number);
    if (t != type::asset_list) {
        fail(tree_, where,
             "expected a list of assets after 'in', found " + described(t) + ", " + in_quotes(name));
    }
    return *number;
}

std::string names::list_name(std::size_t list) const {
    return in_quotes(parameters_[list].name);
}

std::optional<std::size_t> names::find_loop(std::string_view name) const {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        if (loops_[i].name == name) return i;
    }
    return std::nullopt;
}

void names::enter_loop(const std::string& name, place where, std::size_t list) {
    if (is_known(name) || find_function(name) != nullptr) {
        fail(tree_, where,
             in_quotes(name) + " already means something else; choose another name for the asset");
    }
    loops_.push_back({name, list, where});
}

void names::leave_loop() {
    if (const open_loop& l = loops_.back(); !l.is_read) {
        fail(tree_, l.where,
             in_quotes(l.name) + " runs over " + list_name(l.list) +
                 ", and nothing reads it; use it as in spot(" + l.name + "), or write size(" +
                 parameters_[l.list].name + ") for the number of assets");
    }
    variables_.leave_loop(loops_.size() - 1);
    loops_.pop_back();
}

std::size_t names::resolve_index(expression& index, const std::string& base) {
    const auto depth = index.is == form::name ? find_loop(index.text) : std::nullopt;
    if (!depth) {
        std::vector<std::string> known;
        for (const open_loop& l : loops_) known.push_back(l.name);
        const std::string got = index.is == form::name ? in_quotes(index.text) : "something else";
        fail(tree_, index.where,
             "expected the asset of a loop in " + base + "[...], found " + got +
                 (known.empty() ? "; write 'for a in LIST' around it" : suggestion(index.text, known)));
    }
    resolve_loop(index, *depth);
    return *depth;
}

std::vector<std::string> names::visible() const {
    std::vector<std::string> out = parameters_.names();
    for (std::string& name : variables_.names()) out.push_back(std::move(name));
    for (const open_loop& l : loops_) out.push_back(l.name);
    for (const std::string_view s : {"time", "step", "index", "count", "start", "currency", "true", "false"})
        out.emplace_back(s);
    return out;
}

void names::fail_unknown(const expression& e, bool as_asset) const {
    const std::vector<std::string> assets = parameters_.names_of_type(type::asset);
    if (as_asset && suggestion(e.text, visible()).empty()) {
        fail(tree_, e.where,
             "unknown name " + in_quotes(e.text) +
                 "; a script names assets by parameters of the type asset, for which a trade says its own: " +
                 (assets.empty() ? "declare one" : "write " + assets.front()));
    }
    fail(tree_, e.where, "unknown name " + in_quotes(e.text) + suggestion_or_all(e.text, visible(), "names"));
}

void names::fail_without_value(const expression& e) const {
    const std::string first =
        e.is == form::element ? "in a loop over its list" : "such as '" + e.text + " = 0'";
    fail(tree_, e.where,
         in_quotes(e.text) + (where_ == surroundings::top
                                  ? " has no value yet here"
                                  : " may have no value yet here; a value kept from date to date needs a "
                                    "first value above the blocks, " +
                                        first));
}

void names::fail_without_index(const expression& e, std::size_t list) const {
    const std::string& name = parameters_[list].name;
    fail(tree_, e.where,
         in_quotes(e.text) + " has one value for each asset of " + in_quotes(name) + "; write " + e.text +
             "[a] inside 'for a in " + name + "'");
}

void names::fail_wrong_list(place where, const std::string& name, std::size_t mine, std::size_t given) const {
    fail(tree_, where,
         in_quotes(name) + " has one value for each asset of " + list_name(mine) +
             ", and this loop runs over " + list_name(given));
}

}  // namespace tilewalk::language::checking
