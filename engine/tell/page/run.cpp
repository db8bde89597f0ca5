// SPDX-License-Identifier: Apache-2.0
// Sections about the run: its time, its inputs, and the command that repeats it.
#include <algorithm>
#include <string_view>

#include "engine/base/shown_numbers.h"
#include "engine/tell/manifest_text.h"
#include "engine/tell/page/figures.h"
#include "engine/tell/page/markup.h"
#include "engine/tell/page/sections.h"
#include "engine/tell/pictures/bars.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::page {

namespace {

using report::counted;
using report::duration;

constexpr std::size_t most_changes = 60;

struct stage_row {
    std::string name;
    double seconds = 0, beside = 0;
};

std::vector<stage_row> stages_of(const page_content& of, double& all) {
    std::vector<stage_row> out;
    if (of.beside.times != nullptr) {
        const timings::account account = of.beside.times->so_far();
        all = account.seconds;
        for (const timings::row& row : account.stages)
            if (row.seconds > 0 || row.beside_seconds > 0)
                out.push_back({std::string(row.name), row.seconds, row.beside_seconds});
        return out;
    }
    const run_manifest& m = of.r.manifest;
    all = m.total_seconds;
    if (all > 0) {
        out = {{"planning", m.plan_seconds, 0}, {"paths", m.path_seconds, 0}};
        if (const double rest = all - m.plan_seconds - m.path_seconds; rest > 0)
            out.push_back({"other", rest, 0});
    }
    return out;
}

std::string for_shell(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

}  // namespace

std::string time_section(const page_content& of) {
    double all = 0;
    const std::vector<stage_row> stages = stages_of(of, all);
    if (stages.empty()) return {};
    const bool with_beside = std::ranges::any_of(stages, [](const stage_row& s) { return s.beside > 0; });
    std::vector<table::head> heads{
        {"stage", table::of::text}, {"time"}, {"of all"}, {"as a bar", table::of::pictures}};
    if (with_beside) heads.push_back({"beside others"});
    table rows("Time by stage", heads);
    pictures::axis by{0, 0, false, {}};
    for (const stage_row& s : stages) by.high = std::max(by.high, s.seconds);
    for (const stage_row& s : stages) {
        std::vector<std::string> cells{escaped(s.name), duration(s.seconds),
                                       report::fixed(all > 0 ? 100 * s.seconds / all : 0, 1) + "%",
                                       pictures::bar_with_error({s.seconds, no_figure, no_figure}, by, 160)};
        if (with_beside) cells.push_back(s.beside > 0 ? duration(s.beside) : "");
        rows.add(cells);
    }
    const run_manifest& m = of.r.manifest;
    std::string text = duration(all) + " on " + counted(static_cast<std::uint64_t>(m.threads), "thread");
    if (m.path_seconds > 0 && m.path_steps > 0)
        text +=
            "; " + report::rate(static_cast<double>(m.path_steps) / m.path_seconds) + " path-steps a second";
    std::string gpus = report::gpu_text(m);
    return paragraph(text + ".") + (gpus.empty() ? "" : paragraph(gpus)) + rows.text();
}

std::string origin_section(const page_content& of) {
    const run_manifest& m = of.r.manifest;
    table rows("Manifest", {{"what", table::of::text}, {"is", table::of::text}});
    const auto add = [&](const std::string& name, const std::string& is) {
        if (!is.empty()) rows.add({escaped(name), "<span class=\"says\">" + escaped(is) + "</span>"});
    };
    add("as of", m.as_of);
    add("paths", std::to_string(m.paths));
    add("seed", std::to_string(m.seed));
    add("precision", m.precision);
    add("random numbers", m.random + ", dealt out by " + m.numbered_by);
    for (const run_setting& known : setting_table())
        if (const auto text = known.text(m.settings)) add("setting " + known.name, *text);
    add("version", m.version);
    add("compiler", m.compiler);
    add("machine", m.machine);
    add("instruction set", m.instruction_set);
    add("threads", std::to_string(m.threads));
    add("GPUs", report::devices_text(m.devices));
    add("started", m.started.empty() ? "" : m.started + " UTC");
    if (m.journal_blocks > 0) add("journal", counted(m.journal_blocks, "block") + " were done already");
    std::string out = rows.text();

    table inputs("Files that were read", {{"file", table::of::text}, {"hash", table::of::text}});
    const auto add_inputs = [&](const std::vector<input_file>& files) {
        for (const input_file& f : files)
            inputs.add({name_cell(f.file), "<code class=\"id\">" + escaped(f.hash) + "</code>"});
    };
    add_inputs(m.inputs);
    if (of.beside.scenarios != nullptr) add_inputs(of.beside.scenarios->inputs);
    if (!inputs.empty()) out += element("h3", "Files") + inputs.text();

    if (!m.market_changes.empty()) {
        table changes("Numbers of the market that differ from its file",
                      {{"market key", table::of::text}, {"value"}, {"unit", table::of::text}});
        for (std::size_t i = 0; i < std::min(m.market_changes.size(), most_changes); ++i) {
            const market_number& n = m.market_changes[i];
            changes.add({name_cell(n.key), exact(n.value), escaped(n.unit)});
        }
        out += element("h3", "Changes of the market") + changes.text();
        if (m.market_changes.size() > most_changes)
            out += paragraph("and " + std::to_string(m.market_changes.size() - most_changes) +
                             " more; json output has them all");
    }
    return out;
}

std::string command_section(const page_content& of) {
    if (of.beside.command.empty()) return {};
    std::string line;
    for (const std::string& word : of.beside.command) line += (line.empty() ? "" : " ") + for_shell(word);
    return element("pre", element("code", escaped(line)));
}

}  // namespace tilewalk::page
