// SPDX-License-Identifier: Apache-2.0
// Makes the text of markets with a few assets, and of small products.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tilewalk::tests {

// Names of assets with their YAML: {"A", "spot: 100, volatility: 0.2"}.
using assets_in_words = std::vector<std::pair<std::string, std::string>>;

// A market on 2026-01-15 with assets in USD at the interest rate `rate`; `more` are further lines.
template <class number>
std::string dollar_market(const number& rate, const assets_in_words& assets, const std::string& more = "") {
    std::string text = fmt::format("as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}}}\nassets:\n", rate);
    for (const auto& [name, terms] : assets) text += "  " + name + ": {currency: USD, " + terms + "}\n";
    return more.empty() ? text : text + more + "\n";
}

inline std::string in_book(const std::string& market_text) {
    std::string section = "market:\n";
    std::istringstream lines(market_text);
    for (std::string line; std::getline(lines, line);) section += "  " + line + "\n";
    return section;
}

// Splits `key: value` entries at commas outside of brackets: "a: b, c: {d, e}" has two entries.
inline std::vector<std::pair<std::string, std::string>> entries_of(const std::string& flow) {
    std::vector<std::pair<std::string, std::string>> out;
    int depth = 0;
    for (std::size_t begin = 0, at = 0; at <= flow.size(); ++at) {
        const char c = at == flow.size() ? ',' : flow[at];
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c != ',' || depth > 0) continue;
        const std::string entry = flow.substr(begin, at - begin);
        const std::size_t colon = entry.find(": "), name = entry.find_first_not_of(' ');
        out.emplace_back(entry.substr(name, colon - name), entry.substr(colon + 2));
        begin = at + 1;
    }
    return out;
}

// An entry for a book's section `products`. `parameters` gives each parameter its type, or more in braces:
// "underlying: asset, option: {type: choice, choices: [call, put]}". Help texts and the example are made up.
inline std::string product_in_words(const std::string& name, const std::string& summary,
                                    const std::string& parameters, const std::string& script) {
    std::string text = "  - product: " + name + "\n    summary: " + summary + "\n    parameters:\n", example;
    char asset = 'A';
    double years = 0;
    for (const auto& [key, kind] : entries_of(parameters)) {
        const std::string terms = kind.front() == '{' ? kind.substr(1, kind.size() - 2) : "type: " + kind;
        text += "      " + key + ": {" + terms + ", help: It.}\n";
        if (terms.find("default: ") != terms.npos) continue;
        const auto is = [&](const char* type) { return entries_of(terms).front().second == type; };
        const std::size_t choices = terms.find("choices: [") + 10;
        example += (example.empty() ? "" : ", ") + key + ": " +
                   (is("asset")        ? std::string(1, asset++)
                    : is("asset_list") ? "[A, B]"
                    : is("date")       ? fmt::format("{}", years += 0.5)
                    : is("schedule")   ? "[0.5, 1.0]"
                    : is("currency")   ? "EUR"
                    : is("choice")     ? terms.substr(choices, terms.find_first_of(",]", choices) - choices)
                                       : "1");
    }
    text += "    example: {" + example + "}\n    script: |\n";
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) text += "      " + line + "\n";
    return text;
}

}  // namespace tilewalk::tests
