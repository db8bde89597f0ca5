// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/help/topics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/cli/settings.h"
#include "tilewalk/error.h"
#include "tilewalk/models.h"
#include "tilewalk/products.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::cli {

namespace {

template <std::size_t cells>
using line = std::array<std::string, cells>;

template <std::size_t cells>
std::string aligned(const line<cells>& heads, const std::vector<line<cells>>& rows) {
    line<cells> rule;
    for (std::size_t i = 0; i < cells; ++i) {
        std::size_t width = heads[i].size();
        if (i + 1 < cells)
            for (const auto& row : rows) width = std::max(width, row[i].size());
        rule[i].assign(width, '-');
    }
    std::string out;
    const auto add = [&](const line<cells>& row) {
        for (std::size_t i = 0; i + 1 < cells; ++i) out += fmt::format("{:<{}}  ", row[i], rule[i].size());
        out += row[cells - 1];
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n';
    };
    add(heads);
    add(rule);
    for (const auto& row : rows) add(row);
    return out;
}

}  // namespace

std::string settings_text() {
    std::string out =
        "row_space under settings: in a book is the option --row-space and the environment variable\n"
        "TILEWALK_ROW_SPACE.\n";
    for (const run_setting& s : setting_table()) {
        out += fmt::format("\n{}\n    {}.\n    takes {}\n    {}\n", s.name, s.meaning, s.expected(),
                           s.preset.empty() ? "left out: it depends" : "default " + s.preset);
    }
    return out;
}

std::string models_text() {
    std::vector<line<3>> rows, steps;
    std::vector<line<2>> schemes;
    for (const model_page& p : model_pages()) {
        rows.push_back({p.name, p.moves, p.summary});
        schemes.push_back({p.name, p.scheme});
        steps.push_back({p.name, p.weak_order, p.steps_leave});
    }
    return "The model of an asset, or of a currency, names one of these with its parameters.\n\n" +
           aligned<3>({"model", "moves", "meaning"}, rows) +
           "\nHow each goes from one time to the next:\n\n" + aligned<2>({"model", "scheme"}, schemes) +
           "\nBias of time steps: the most by which the model's default steps miss the price of an option\n"
           "of up to five years, in basis points of the spot; empty if steps are exact.\n\n" +
           aligned<3>({"model", "weak order", "bias of steps"}, steps) +
           "\ntilewalk help models NAME tells the parameters of one, with ranges and defaults.\n";
}

std::vector<std::string> model_names() {
    std::vector<std::string> out;
    for (const model_page& p : model_pages()) out.push_back(p.name);
    return out;
}

std::string model_text(const std::string& name) {
    const std::vector<model_page> pages = model_pages();
    const auto found = std::ranges::find(pages, name, &model_page::name);
    if (found == pages.end()) {
        throw error(error_kind::usage,
                    fmt::format("unknown model {}{} known: {}", quoted(name),
                                suggestion(name, model_names(), ";"), joined(model_names())));
    }
    std::string out = found->summary + "\n";
    if (found->parameters.empty()) out += "\nIt has no parameters; the asset has a volatility.\n";
    for (const parameter_page& p : found->parameters)
        out += fmt::format("\n{}\n    {}\n    takes {}\n    {}\n", p.name, p.meaning, p.takes, p.left_out);
    return out;
}

}  // namespace tilewalk::cli
