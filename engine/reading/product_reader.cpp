// SPDX-License-Identifier: Apache-2.0
// Reads product files: checks every key and name, and reads defaults and the example like terms of a trade.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/reading/argument_reader.h"
#include "engine/reading/library.h"
#include "products/language/functions.h"
#include "products/language/lexer.h"

namespace tilewalk::books {

using language::parameter;
using language::parameter_type;

namespace {

template <class list>
bool contains(const list& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string read_line(const config::node& value) {
    const std::string& text = value.text();
    if (text.empty() || text.find('\n') != std::string::npos) {
        value.fail("found " + value.found() + ", expected one line of text");
    }
    return text;
}

std::string read_text(const config::node& root, std::string_view key) {
    const auto* given = root.find(key);
    std::string text = given ? given->text() : "";
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

// Checks that a name is snake case and of fair length; if not, calls `refuse`, which throws at its place.
template <class complain>
void check_name(const std::string& name, complain&& refuse) {
    constexpr std::size_t longest = 64;
    const bool is_snake_case = !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
                               std::all_of(name.begin(), name.end(), [](char c) {
                                   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                               });
    if (!is_snake_case || name.size() > longest) {
        refuse("found the name " + config::shown(name) +
               ", expected small letters, digits and underscores, a letter first, at most 64 in all");
    }
}

template <class complain>
void check_script_name(const std::string& name, complain&& refuse) {
    check_name(name, refuse);
    const auto is_function = [&](const language::function_entry& f) { return f.name == name; };
    if (contains(language::keywords(), name) || contains(language::special_names, name) ||
        std::any_of(language::functions.begin(), language::functions.end(), is_function)) {
        refuse("found the name '" + name + "', which is a word of the script language; choose another");
    }
}

parameter_type read_type(const config::node& value) {
    static constexpr std::array all{
        parameter_type::amount,     parameter_type::number,   parameter_type::rate,
        parameter_type::integer,    parameter_type::boolean,  parameter_type::choice,
        parameter_type::date,       parameter_type::schedule, parameter_type::asset,
        parameter_type::asset_list, parameter_type::currency};
    if (const auto type = language::parse_parameter_type(value.text())) return *type;
    std::vector<std::string> known;
    for (const auto type : all) known.emplace_back(language::to_string(type));
    value.fail("unknown type " + config::shown(value.text()) +
               config::alternatives(value.text(), "known types:", known));
}

bool is_number_like(parameter_type type) {
    return type == parameter_type::amount || type == parameter_type::number || type == parameter_type::rate ||
           type == parameter_type::integer;
}

void read_range(const config::node& value, parameter& into) {
    const std::array<std::pair<const char*, std::optional<double>*>, 4> bounds{{{"minimum", &into.minimum},
                                                                                {"maximum", &into.maximum},
                                                                                {"above", &into.above},
                                                                                {"below", &into.below}}};
    for (const auto& [key, bound] : bounds) {
        const auto* given = value.find(key);
        if (!given) continue;
        if (!is_number_like(into.type)) {
            given->fail("found a range for a parameter of type " +
                        std::string(language::to_string(into.type)) + ", expected it for numbers only");
        }
        *bound = read_bounded(*given, most_of(into.type));
    }
    if (into.minimum && into.above) value.fail("found both minimum and above, expected one of them");
    if (into.maximum && into.below) value.fail("found both maximum and below, expected one of them");
    const auto lower = into.minimum ? into.minimum : into.above,
               upper = into.maximum ? into.maximum : into.below;
    if (lower && upper && (*lower > *upper || (*lower == *upper && (into.above || into.below)))) {
        value.fail("found a range from " + config::shown(*lower) + " to " + config::shown(*upper) +
                   " that holds no number, expected the lower bound below the upper one");
    }
}

void read_choices(const config::node& value, parameter& into) {
    const auto* choices = value.find("choices");
    if (!choices) {
        if (into.type == parameter_type::choice)
            value.fail_missing("'choices': the words a trade may choose from");
        return;
    }
    if (into.type != parameter_type::choice) {
        choices->fail("found choices for a parameter of type " + std::string(language::to_string(into.type)) +
                      ", expected them only for the type choice");
    }
    if (choices->items().empty()) choices->fail("found an empty list, expected at least one choice");
    for (const auto& item : choices->items()) {
        check_script_name(item.text(), [&](const std::string& message) { item.fail(message); });
        if (contains(into.choices, item.text())) item.fail("found '" + item.text() + "' a second time");
        into.choices.push_back(item.text());
    }
}

void read_default(const config::node& value, parameter& into) {
    if (into.type == parameter_type::schedule && value.is_sequence() && value.items().empty()) {
        into.fallback = dates::schedule{};
        return;
    }
    if (!into.per.empty() && value.is_sequence()) {
        value.fail("found a list, expected one value that stands for every member of '" + into.per + "'");
    }
    parameter single = into;
    single.per.clear();
    into.fallback = read_argument(value, single, {});
}

// True if the value names an earlier parameter of the same type, whose value is then the default.
bool names_another(const config::node& value, const parameter& into, const std::vector<parameter>& earlier) {
    if (!is_number_like(into.type) && into.type != parameter_type::date &&
        into.type != parameter_type::asset) {
        return false;
    }
    if (!into.per.empty() || !value.is_scalar()) return false;
    return std::any_of(earlier.begin(), earlier.end(), [&](const parameter& p) {
        return p.name == value.text() && p.type == into.type && p.per.empty() && !p.optional &&
               p.unless.empty();
    });
}

void read_optional(const config::node& value, parameter& into) {
    const auto* given = value.find("optional");
    if (!given || !given->boolean()) return;
    if (value.find("default")) given->fail("found optional with a default, expected one of them");
    if (!is_number_like(into.type) && into.type != parameter_type::date &&
        into.type != parameter_type::asset && into.type != parameter_type::currency) {
        given->fail("found optional for a parameter of type " + std::string(language::to_string(into.type)) +
                    ", expected a default");
    }
    into.optional = true;
}

parameter read_parameter(const config::node::member& declaration, const std::vector<parameter>& earlier) {
    const auto refuse = [&](const std::string& message) { declaration.fail(message); };
    parameter read;
    read.name = declaration.key;
    read.where = declaration.where();
    if (contains(trade_keys, read.name)) {
        refuse("the name '" + read.name + "' is a key of every trade; choose another");
    }
    check_script_name(read.name, refuse);
    const config::node& value = declaration.value;
    value.only({"type", "help", "default", "optional", "unless", "per", "choices", "minimum", "maximum",
                "above", "below"});
    read.type = read_type(value.at("type"));
    read.help = read_line(value.at("help"));
    if (const auto* per = value.find("per")) {
        if (!is_number_like(read.type) && read.type != parameter_type::date) {
            per->fail("found a list of type " + std::string(language::to_string(read.type)) +
                      ", expected 'per' with numbers and dates only");
        }
        read.per = per->text();
    }
    read_choices(value, read);
    read_range(value, read);
    read_optional(value, read);
    if (const auto* other = value.find("unless")) {
        if (!read.per.empty()) other->fail("found unless beside per, expected one of them");
        read.unless = other->text();
    }
    if (const auto* fallback = value.find("default")) {
        if (names_another(*fallback, read, earlier)) {
            read.same_as = fallback->text();
        } else {
            read_default(*fallback, read);
        }
    }
    return read;
}

std::vector<parameter> read_parameters(const config::node& declarations) {
    std::vector<parameter> read;
    std::vector<std::string> lists;
    for (const auto& declaration : declarations.members()) {
        read.push_back(read_parameter(declaration, read));
        const bool is_list =
            read.back().type == parameter_type::schedule || read.back().type == parameter_type::asset_list;
        if (is_list) lists.push_back(read.back().name);
    }
    for (const auto& p : read) {
        if (p.unless.empty()) continue;
        const config::node& unless = declarations.at(p.name).at("unless");
        const auto other = std::ranges::find(read, p.unless, &parameter::name);
        if (other == read.end() || other->name == p.name || !other->unless.empty())
            unless.fail("found " + unless.found() +
                        ", expected the name of another parameter of this product, which has no 'unless'");
    }
    for (const auto& p : read) {
        if (p.per.empty()) continue;
        const config::node& per = declarations.at(p.name).at("per");
        const auto list =
            std::find_if(read.begin(), read.end(), [&](const auto& q) { return q.name == p.per; });
        if (list == read.end() || !contains(lists, p.per)) {
            per.fail("found " + per.found() +
                     ", expected the name of a schedule or an asset_list of this product" +
                     config::suggestion(p.per, lists));
        }
        if (p.type == parameter_type::date && list->type != parameter_type::schedule) {
            per.fail("found " + per.found() + ", expected a schedule, because the type is date");
        }
    }
    return read;
}

void write_flow(const config::node& value, std::string& out) {
    switch (value.kind()) {
        case config::node::shape::null:
            out += '~';
            return;
        case config::node::shape::sequence:
            out += '[';
            for (const auto& item : value.items()) {
                if (&item != &value.items().front()) out += ", ";
                write_flow(item, out);
            }
            out += ']';
            return;
        case config::node::shape::mapping:
            out += '{';
            for (const auto& m : value.members()) {
                if (&m != &value.members().front()) out += ", ";
                out += m.key + ": ";
                write_flow(m.value, out);
            }
            out += '}';
            return;
        case config::node::shape::scalar:
            break;
    }
    const std::string& text = value.text();
    const bool needs_quotes = value.is_quoted() || !std::all_of(text.begin(), text.end(), [](char c) {
                                  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' ||
                                         c == '-' || c == '/';
                              });
    if (!needs_quotes) {
        out += text;
        return;
    }
    out += '\'';
    for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    out += '\'';
}

std::string read_example(const config::node& example, const std::string& product,
                         const std::vector<parameter>& parameters) {
    read_arguments(example, parameters, {trade_keys.begin() + 2, trade_keys.end()});
    std::string terms;
    write_flow(example, terms);
    return "{id: example, product: " + product + (example.members().empty() ? "" : ", ") + terms.substr(1);
}

// Reads the script. An error on its last line may come from a file cut short, and the message says so.
language::script read_script(const config::node& text, const std::vector<parameter>& parameters,
                             const std::vector<language::placed_text>& features) {
    const location start = text.content_start();
    try {
        return {text.text(), start, parameters, features};
    } catch (const error& e) {
        std::string_view lines = text.text();
        while (lines.ends_with('\n')) lines.remove_suffix(1);
        const auto last = start.line + static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
        if (e.where().line < last || !text.may_be_cut()) throw;
        throw error(e.kind(), e.message() + std::string(config::may_be_cut_short), e.where(), e.key_path());
    }
}

// Reads `features`, a list of expressions. In a list in brackets, an expression with a comma needs quotes.
std::vector<language::placed_text> read_features(const config::node& root) {
    std::vector<language::placed_text> out;
    bool has_states = false;
    const config::node* features = root.find("features");
    if (features == nullptr) return out;
    if (!features->is_sequence())
        features->fail("found " + features->found_kind() + ", expected a list of expressions");
    if (features->items().empty()) features->fail("found an empty list, expected at least one expression");
    for (const config::node& f : features->items()) {
        if (!f.is_scalar()) f.fail("found " + f.found_kind() + ", expected an expression");
        if (std::ranges::count(f.text(), '(') > std::ranges::count(f.text(), ')'))
            f.fail("found " + f.found() + ", expected an expression; put one with a comma in quotes");
        out.push_back({f.text(), f.content_start()});
        if (f.text() == language::word_of_states && std::exchange(has_states, true))
            f.fail("found 'states' twice, expected it once: it stands for all states of the path");
    }
    if (has_states && out.size() == 1) {
        features->items()[0].fail(
            "found only 'states', which is also the default; expected another expression beside it, such as "
            "spot(asset), or no features");
    }
    if (out.size() > language::most_features) {
        features->fail("found " + std::to_string(out.size()) + " features, expected at most " +
                       std::to_string(language::most_features));
    }
    return out;
}

std::string read_measure(const config::node& root, const std::vector<parameter>& parameters) {
    const config::node* const given = root.find("measure");
    if (given == nullptr) return {};
    std::vector<std::string> amounts;
    for (const parameter& p : parameters)
        if (p.type == parameter_type::amount && p.per.empty()) amounts.push_back(p.name);
    if (std::ranges::find(amounts, given->text()) != amounts.end()) return given->text();
    if (!amounts.empty()) given->fail_word(amounts);
    given->fail("found " + given->found() +
                ", expected no measure: it names a parameter of type amount, and the product has none");
}

}  // namespace

std::shared_ptr<const language::product> read_product(const config::node& root) {
    if (!root.is_mapping())
        root.fail("found " + root.found_kind() + ", expected a product: a mapping with the key 'product'");
    root.only({"product", "group", "summary", "description", "formula", "parameters", "measure", "features",
               "example", "script"});
    const config::node& name = root.at("product");
    check_name(name.text(), [&](const std::string& message) { name.fail(message); });
    const config::node* of_group = root.find("group");
    std::string group = of_group ? read_line(*of_group) : "";
    std::string summary = read_line(root.at("summary"));
    std::string description = read_text(root, "description"), formula = read_text(root, "formula");
    std::vector<parameter> parameters = read_parameters(root.at("parameters"));
    std::string measure = read_measure(root, parameters);
    const config::node& text = root.at("script");
    if (!text.is_literal()) {
        text.fail("found " + text.found() +
                  ", expected the script as a block of lines that begins with 'script: |'");
    }
    language::script payoff = read_script(text, parameters, read_features(root));
    std::string example = read_example(root.at("example"), name.text(), parameters);
    return std::make_shared<const language::product>(language::product{
        name.text(), std::move(group), std::move(summary), std::move(description), std::move(formula),
        std::move(parameters), std::move(example), std::move(payoff), root.where(), std::move(measure)});
}

}  // namespace tilewalk::books
