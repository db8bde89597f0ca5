// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/help/man_pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace tilewalk::cli {

namespace {

// Escapes a line for roff: control characters, and characters that it would typeset as others.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\\':
                out += "\\(rs";
                break;
            case '-':
                out += "\\-";
                break;
            case '\'':
                out += "\\(aq";
                break;
            case '`':
                out += "\\(ga";
                break;
            case '^':
                out += "\\(ha";
                break;
            case '~':
                out += "\\(ti";
                break;
            case '"':
                out += "\\(dq";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        line.erase(line.find_last_not_of(" \t") + 1);
        out.push_back(line);
    }
    return out;
}

std::string bold(const std::string& text) {
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
    return "\\fI" + escaped(text) + "\\fR";
}

// Returns lines for roff to fill, none of which begins with a control character.
std::string filled(const std::string& text) {
    std::string out;
    for (const std::string& line : lines_of(text)) {
        const std::string shown = escaped(line.substr(std::min(line.find_first_not_of(' '), line.size())));
        if (!shown.empty()) out += (shown.front() == '.' ? "\\&" : "") + shown + "\n";
    }
    return out;
}

std::string as_typed(const std::vector<std::string>& lines) {
    std::size_t margin = std::string::npos;
    for (const std::string& line : lines) margin = std::min(margin, line.find_first_not_of(' '));
    std::string out = ".RS 2\n.nf\n";
    for (const std::string& line : lines)
        out += "\\&" + escaped(line.substr(std::min(margin, line.size()))) + "\n";
    return out + ".fi\n.RE\n";
}

bool is_indented(const std::string& line) {
    return line.starts_with(" ");
}

// Returns a paragraph of a footer: lines at the margin are filled, indented lines are kept as they are.
std::string paragraph(const std::vector<std::string>& lines) {
    std::string out = ".PP\n";
    for (std::size_t i = 0; i < lines.size();) {
        std::size_t end = i;
        while (end < lines.size() && is_indented(lines[end]) == is_indented(lines[i])) ++end;
        const std::vector<std::string> part(lines.begin() + static_cast<std::ptrdiff_t>(i),
                                            lines.begin() + static_cast<std::ptrdiff_t>(end));
        if (is_indented(lines[i]))
            out += as_typed(part);
        else
            for (const std::string& line : part) out += filled(line);
        i = end;
    }
    return out;
}

struct parts_of_footer {
    std::string description, examples, codes;
};

parts_of_footer parts_of(const std::string& footer) {
    constexpr std::string_view exit_codes = "Exit codes: ";
    parts_of_footer out;
    std::vector<std::string> lines;
    const auto take = [&] {
        if (lines.empty()) return;
        if (lines.front() == "Examples:")
            out.examples += as_typed({lines.begin() + 1, lines.end()});
        else if (lines.front().starts_with(exit_codes)) {
            lines.front().erase(0, exit_codes.size());
            out.codes += paragraph(lines);
        } else
            out.description += paragraph(lines);
        lines.clear();
    };
    for (const std::string& line : lines_of(footer)) {
        if (line.empty() || line == "Examples:" || line.starts_with(exit_codes)) take();
        if (!line.empty()) lines.push_back(line);
    }
    take();
    return out;
}

std::string head_of(const std::string& page, const std::string& summary, const std::string& version) {
    std::string title = page;
    std::ranges::transform(title, title.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return ".TH " + escaped(title) + " 1 \"\" \"Tilewalk " + escaped(version) +
           "\" \"Tilewalk\"\n.nh\n.ad l\n.SH NAME\n" + escaped(page) + " \\- " + escaped(summary) + "\n";
}

std::string synopsis_of(const std::string& words, const described_command& command) {
    std::string out = ".SH SYNOPSIS\n" + bold(words) + "\n[" + italic("OPTION") + "...]";
    for (const described_option& o : command.options) {
        if (o.is_needed && o.takes_value()) out += "\n" + bold(o.names.back()) + " " + italic(o.value);
    }
    for (const described_option& o : command.options)
        if (o.is_argument()) out += "\n" + (o.is_needed ? italic(o.value) : "[" + italic(o.value) + "]");
    return out + "\n";
}

std::string tag_of(const described_option& option) {
    if (option.is_argument()) return italic(option.value);
    std::string out;
    for (const std::string& name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
    return out + (option.takes_value() ? " " + italic(option.value) : "");
}

std::string options_of(const described_command& command) {
    std::string arguments;
    std::vector<std::string> groups;
    for (const described_option& o : command.options) {
        if (o.is_argument()) arguments += ".TP\n" + tag_of(o) + "\n" + filled(o.help);
        if (!o.is_argument() && std::ranges::find(groups, o.group) == groups.end()) groups.push_back(o.group);
    }
    std::string out = arguments.empty() ? "" : ".SH ARGUMENTS\n" + arguments;
    out += ".SH OPTIONS\n";
    for (const std::string& group : groups) {
        if (groups.size() > 1 && group != "Options") out += ".SS \"" + escaped(group) + "\"\n";
        for (const described_option& o : command.options)
            if (!o.is_argument() && o.group == group) out += ".TP\n" + tag_of(o) + "\n" + filled(o.help);
    }
    return out;
}

std::string chapter(const std::string& title, const std::string& text) {
    constexpr std::string_view gap = ".PP\n";  // roff puts this gap below a title anyway
    if (text.empty()) return {};
    return ".SH \"" + title + "\"\n" + (text.starts_with(gap) ? text.substr(gap.size()) : text);
}

std::string entries_of(const std::string& text) {
    std::string out;
    for (const std::string& line : lines_of(text)) {
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        out += ".TP\n" + bold(line.substr(begin, end - begin)) + "\n" + filled(line.substr(end));
    }
    return out;
}

}  // namespace

std::vector<man_page> man_pages(const described_program& of, const std::string& version,
                                const std::vector<man_chapter>& chapters) {
    const std::string& program = of.itself.name;
    std::string commands, others;
    for (const described_command& c : of.commands) {
        commands +=
            ".TP\n" + bold(c.name) + "\n" + filled(c.summary + "; see " + program + "-" + c.name + "(1).");
        others += (others.empty() ? "" : ",\n") + bold(program + "-" + c.name) + "(1)";
    }
    const parts_of_footer own = parts_of(of.itself.footer);
    std::string whole = head_of(program, "prices of derivatives by Monte Carlo", version) + ".SH SYNOPSIS\n" +
                        bold(program) + "\n" + italic("COMMAND") + "\n[" + italic("ARGUMENT") + "...]\n" +
                        chapter("DESCRIPTION", filled(of.itself.summary) + own.description) +
                        chapter("COMMANDS", commands) + options_of(of.itself);
    for (const man_chapter& c : chapters)
        whole += chapter(c.title, c.is_list ? entries_of(c.text) : filled(c.text));
    whole += chapter("EXAMPLES", own.examples) + chapter("SEE ALSO", others + "\n");

    std::vector<man_page> out{{program + ".1", whole}};
    for (const described_command& c : of.commands) {
        const std::string page = program + "-" + c.name;
        const parts_of_footer parts = parts_of(c.footer);
        out.push_back({page + ".1", head_of(page, c.summary, version) +
                                        synopsis_of(program + " " + c.name, c) +
                                        chapter("DESCRIPTION", filled(c.summary + ".") + parts.description) +
                                        options_of(c) + chapter("EXAMPLES", parts.examples) +
                                        chapter("EXIT STATUS", parts.codes) +
                                        chapter("SEE ALSO", bold(program) + "(1)\n")});
    }
    return out;
}

}  // namespace tilewalk::cli
