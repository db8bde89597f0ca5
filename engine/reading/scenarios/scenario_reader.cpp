// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a file of scenarios in their order, and remarks on their sets.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text/checked_source.h"
#include "engine/base/text/document.h"
#include "engine/base/wording.h"
#include "engine/market/market_state.h"
#include "engine/market/wording.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "tilewalk/bounds.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace reading {

using config::node;

namespace {

void read_moved(const node::member& given, scenarios_so_far& so_far) {
    scenario_builder& into = so_far.into;
    scenario& made = told_at(
        given, [&]() -> auto& { return into.begin(set_of_moves, given.key); });
    if (!given.value.is_mapping()) {
        given.value.fail(
            "found " + given.value.found() +
            ", expected a scenario: a mapping of market keys to moves, such as {ACME.spot: -20%}");
    }
    for (const node::member& m : given.value.members()) {
        if (m.key == key_of_days) {
            made.days = read_days(m.value);
            continue;
        }
        const auto& numbers = told_at(
            m, [&]() -> auto& { return so_far.numbers.fitting(m.key); });
        told_at(m, [&] { into.claim(numbers, m.key); });
        const move by = read_move(m.value);
        told_at(m.value, [&] { into.move(numbers, by); });
    }
    told_at(given.value, [&] { into.end(); });
}

void read_stress(const node& given, scenarios_so_far& so_far) {
    if (!given.is_mapping() || given.members().empty()) {
        given.fail("found " + (given.is_mapping() ? "an empty mapping" : given.found()) +
                   ", expected a mapping of names to scenarios, such as {crash: {ACME.spot: -20%}}");
    }
    for (const node::member& m : given.members()) read_moved(m, so_far);
}

template <class read>
void each_of(const node& given, read&& reads) {
    if (!given.is_sequence()) {
        reads(given);
        return;
    }
    if (given.items().empty()) given.fail("found an empty list, expected at least one entry");
    for (const node& item : given.items()) reads(item);
}

std::vector<std::string> read_likely(const node& given, const std::vector<scenario>& scenarios) {
    std::vector<std::string> known, out;
    for (const scenario& s : scenarios)
        if (known.empty() || known.back() != s.set) add_name(s.set, known);
    each_of(given, [&](const node& named) {
        if (std::ranges::find(known, named.text()) == known.end())
            named.fail(markets::unknown_name("set of scenarios", named.text(), known));
        add_name(named.text(), out);
    });
    return out;
}

double read_level(const node& given) {
    constexpr double most = 0.5;
    const bool is_percentage = given.is_scalar() && given.text().ends_with('%');
    const double level =
        is_percentage ? told_at(given, [&] { return read_move(given.text()).amount; }) : given.number();
    if (level > 0 && level <= most) return level;
    const bool is_turned = level > most && level < 1;
    given.fail("found " + given.found() +
               ", expected the share of the worst scenarios, more than 0% and at most 50%" +
               (is_turned ? "; write " + config::shown(std::round((1 - level) * 1e8) / 1e6) + "%" : ""));
}

void read_value_at_risk(const node& given, const market& base, scenario_list& into) {
    if (!given.is_mapping()) {
        given.fail("found " + given.found() +
                   ", expected a mapping with the keys levels and currency, such as {levels: [1%, 2.5%]}");
    }
    given.only({"levels", "currency"});
    if (const node* const levels = given.find("levels")) {
        into.levels.clear();
        each_of(*levels, [&](const node& item) {
            const double level = read_level(item);
            if (std::ranges::find(into.levels, level) != into.levels.end())
                item.fail("found " + item.found() + " a second time, expected different levels");
            into.levels.push_back(level);
        });
    }
    if (const node* const currency = given.find("currency")) {
        const auto& curves = state_of(base).currencies;
        if (!curves.contains(currency->text())) {
            std::vector<std::string> known;
            known.reserve(curves.size());
            for (const auto& [name, curve] : curves) known.push_back(name);
            currency->fail(markets::unknown_name("currency", currency->text(), known));
        }
        into.currency = currency->text();
    }
}

scenario_list finished(scenarios_so_far& so_far) {
    scenario_list out;
    out.scenarios = so_far.into.take_scenarios();
    out.likely_sets = std::move(so_far.likely_sets);
    out.inputs = so_far.files.take_inputs();
    out.remarks = std::move(so_far.remarks);
    return out;
}

scenario_list read_scenarios(const config::document& read, const std::string& name, const market& base,
                             named_files files) {
    const node& root = read.root;
    if (!root.is_mapping()) {
        root.fail("found " + root.found_kind() +
                  ", expected scenarios: a mapping with keys such as stress, ladder and history");
    }
    for (const auto& [key, file] : {std::pair{"trades", "book"}, std::pair{"assets", "market"}}) {
        if (root.find(key) != nullptr)
            root.fail("found a " + std::string(file) +
                      ", expected scenarios: a mapping with keys such as stress, ladder and history");
    }
    root.only({"stress", "ladder", "history", "table", "likely", "value_at_risk"});
    files.note(name, read.hash);
    scenarios_so_far so_far(base, std::move(files));
    for (const node::member& part : root.members()) {
        if (part.key == "stress") read_stress(part.value, so_far);
        if (part.key == "ladder") read_ladder(part.value, so_far);
        if (part.key == "history") read_history(part.value, so_far);
        if (part.key == "table") each_of(part.value, [&](const node& given) { read_table(given, so_far); });
    }
    if (so_far.into.scenarios().empty())
        root.fail_incomplete("found no scenarios, expected one of the keys stress, ladder, history, table");
    scenario_list out = finished(so_far);
    if (const node* const likely = root.find("likely")) out.likely_sets = read_likely(*likely, out.scenarios);
    if (const node* const given = root.find("value_at_risk")) read_value_at_risk(*given, base, out);
    if (so_far.files.is_strict()) config::demand_end(read);
    return out;
}

scenario_list read_scenarios(const checked_text& table, const std::string& hash, const market& base,
                             named_files files) {
    files.note(table.name, hash);
    scenarios_so_far so_far(base, std::move(files));
    read_table(table, so_far);
    return finished(so_far);
}

// Reads a source that is a table or YAML, as its first line tells.
template <class as_yaml>
scenario_list read_source(config::checked_source& source, const market& base, named_files files,
                          as_yaml&& yaml) {
    source.grow();
    if (!is_table(source.text(), source.name()))
        return read_scenarios(yaml(), source.name(), base, std::move(files));
    const checked_text text = whole(source);
    return read_scenarios(text, config::sha256(source.bytes()), base, std::move(files));
}

}  // namespace

int read_days(const node& given) {
    constexpr int most = static_cast<int>(bounds::years * 365);
    const std::int64_t days = given.integer();
    if (days < 0 || days > most) {
        given.fail("found " + given.found() + ", expected a whole number of days from 0 to " +
                   std::to_string(most));
    }
    return static_cast<int>(days);
}

}  // namespace reading

scenario_list scenario_list::load(const std::filesystem::path& file, const market& base,
                                  const load_options& options) {
    const timings::during reading(options.times, stage::reading_market);
    config::checked_source source(file, {}, {});
    return reading::read_source(source, base, {file.parent_path(), options},
                                [&] { return config::read_document(file); });
}

scenario_list scenario_list::parse(std::string_view yaml, const std::string& name, const market& base,
                                   const std::filesystem::path& folder, const load_options& options) {
    const timings::during reading(options.times, stage::reading_market);
    config::checked_source source(yaml, name, {});
    return reading::read_source(source, base, {folder, options},
                                [&] { return config::read_document(yaml, name); });
}

}  // namespace tilewalk
