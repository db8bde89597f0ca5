// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/help/offers.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "tilewalk/engine.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

using values_from = offered_values::source;

// Offered values are stored in the name of a check, which CLI::App keeps and never shows. The check itself
// accepts everything.
constexpr std::string_view words_check = "words", files_check = "files", products_check = "products";

CLI::Option* with_check(CLI::Option* option, std::string_view kind, const std::vector<std::string>& words) {
    std::string name(kind);
    for (const std::string& word : words) name += "\n" + word;
    return option->check(CLI::Validator("").name(name));
}

std::vector<std::string> lines_of_check(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

struct placeholder {
    std::string_view word;
    values_from from;
};
constexpr std::array placeholders{
    placeholder{"FILE", values_from::files},      placeholder{"BOOK", values_from::files},
    placeholder{"QUOTES", values_from::files},    placeholder{"PORTFOLIO", values_from::files},
    placeholder{"A", values_from::files},         placeholder{"B", values_from::files},
    placeholder{"DIR", values_from::folders},     placeholder{"FOLDER", values_from::folders},
    placeholder{"ID", values_from::trades},       placeholder{"TRADE", values_from::trades},
    placeholder{"KEY=NUMBER", values_from::keys},
};

}  // namespace

const std::vector<std::string>& format_words() {
    static const std::vector<std::string> words{"table", "csv", "json"};
    return words;
}

const std::vector<std::string>& result_format_words() {
    static const std::vector<std::string> words = [] {
        std::vector<std::string> all = format_words();
        all.emplace_back("parquet");
        return all;
    }();
    return words;
}

std::vector<std::string> greek_words() {
    std::vector<std::string> words;
    for (const greek_measure& m : greek_measures()) words.emplace_back(m.name);
    return words;
}

std::vector<std::string> greek_method_words() {
    return {choice_names<greek_method>.begin(), choice_names<greek_method>.end()};
}

std::vector<std::string> greek_view_words() {
    return {choice_names<greek_view>.begin(), choice_names<greek_view>.end()};
}

const std::vector<std::string>& stage_words() {
    static const std::vector<std::string> words{"pricing", "training"};
    return words;
}

CLI::Option* offers(CLI::Option* option, const std::vector<std::string>& words) {
    return with_check(option, words_check, words);
}

CLI::Option* offers_files(CLI::Option* option, const std::vector<std::string>& endings) {
    return with_check(option, files_check, endings);
}

CLI::Option* offers_products(CLI::Option* option) {
    return with_check(option, products_check, {});
}

offered_values offered_by(CLI::Option& option) {
    offered_values out;
    const std::string word = option.get_positional() ? option.get_name(true) : option.get_type_name();
    const auto at = std::ranges::find(placeholders, std::string_view(word), &placeholder::word);
    if (at != placeholders.end()) out.from = at->from;
    if (word == "BOOK" || word == "QUOTES") out.words = {".yaml", ".yml"};
    if (word == "A" || word == "B") out.words = {".json"};
    const CLI::Validator* check = nullptr;
    try {
        check = option.get_validator(0);
    } catch (const CLI::OptionNotFound&) {
        return out;
    }
    std::vector<std::string> said = lines_of_check(check->get_name());
    const std::string kind = said.front();
    said.erase(said.begin());
    if (kind == words_check) return {values_from::words, said};
    if (kind == files_check) return {values_from::files, said};
    if (kind == products_check) {
        for (const product_page& page : product_pages()) said.push_back(page.name);
        return {values_from::words, said};
    }
    return out;
}

}  // namespace tilewalk::cli
