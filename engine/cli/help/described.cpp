// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/help/described.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/elsewhere.h"
#include "engine/cli/help/layout.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

described_option option_described(CLI::Option& option) {
    described_option out;
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
    if (out.is_argument())
        out.value = option.get_name(true);
    else if (option.get_items_expected_max() > 0)
        out.value = option.get_type_name();
    out.help = text_of(option);
    out.group = group_of(option);
    out.is_needed = option.get_required();
    out.is_list = option.get_delimiter() != '\0';
    out.repeats = out.takes_value() && option.get_expected_max() > 1;
    out.offered = offered_by(option);
    return out;
}

}  // namespace

described_command described(CLI::App& app) {
    described_command out{app.get_name(), app.get_description(), app.get_group(), {}, app.get_footer()};
    std::vector<CLI::Option*> options =
        app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
    std::ranges::stable_sort(options, {}, [](const CLI::Option* option) {
        return option->get_positional() ? std::pair<std::size_t, std::size_t>() : place_of(*option);
    });
    for (CLI::Option* option : options) out.options.push_back(option_described(*option));
    return out;
}

described_program described(CLI::App& app, const std::vector<command>& commands) {
    described_program out{described(app), {}};
    for (const command& c : commands) {
        const std::string told = c.program.empty() ? "" : text_from(c, {std::string(description_option)});
        out.commands.push_back(told.empty() ? described(*c.app) : described_in(told));
    }
    return out;
}

std::string json_of(const described_command& of) {
    nlohmann::json options = nlohmann::json::array();
    for (const described_option& o : of.options) {
        options.push_back({{"names", o.names},
                           {"value", o.value},
                           {"help", o.help},
                           {"group", o.group},
                           {"is_needed", o.is_needed},
                           {"is_list", o.is_list},
                           {"repeats", o.repeats},
                           {"offers", o.offered.from},
                           {"words", o.offered.words}});
    }
    return nlohmann::json{{"name", of.name},
                          {"summary", of.summary},
                          {"group", of.group},
                          {"options", options},
                          {"footer", of.footer}}
               .dump(2) +
           "\n";
}

described_command described_in(const std::string& json) {
    try {
        const nlohmann::json from = nlohmann::json::parse(json);
        described_command out{from.at("name"), from.at("summary"), from.at("group"), {}, from.at("footer")};
        for (const nlohmann::json& o : from.at("options")) {
            out.options.push_back({o.at("names"),
                                   o.at("value"),
                                   o.at("help"),
                                   o.at("group"),
                                   o.at("is_needed"),
                                   o.at("is_list"),
                                   o.at("repeats"),
                                   {o.at("offers"), o.at("words")}});
        }
        return out;
    } catch (const nlohmann::json::exception& e) {
        throw error(error_kind::internal, std::string("a command described itself wrongly: ") + e.what());
    }
}

}  // namespace tilewalk::cli
