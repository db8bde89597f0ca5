// SPDX-License-Identifier: Apache-2.0
// The completion script for zsh: a function for each command, with the help of each option.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "engine/cli/help/completion.h"

namespace tilewalk::cli {

namespace {

using values_from = offered_values::source;

// zsh forgets the words added by a function that has returned, so one function handles the program's
// arguments and calls the command's function.
constexpr const char* before_arguments =
    R"zsh(# Ids of trades or keys of a market, of the file that is the first argument.
_tilewalk_asked() {
    local kind=$@[-1] file=${(Q)line[1]}
    local -a found placed=("${@[1,-2]}")
    [[ $file == '~/'* ]] && file=$HOME/${file#'~/'}
    found=(${(f)"$(command $tilewalk_program completion $kind $file 2>/dev/null)"})
    [[ $kind == keys ]] && found=(${^found}=) && placed+=(-S '')
    compadd "${placed[@]}" -a found
}

_tilewalk() {
    local curcontext=$curcontext context state state_descr tilewalk_program=${(Q)words[1]} command
    local -a line
    typeset -A opt_args
    [[ $tilewalk_program == '~/'* ]] && tilewalk_program=$HOME/${tilewalk_program#'~/'}
)zsh";

constexpr const char* end_of_zsh = R"zsh( && return 0
    [[ $state == rest ]] || return 1
    command=${line[1]}
    curcontext=${curcontext%:*:*}:tilewalk-$command:
    (( $+functions[_tilewalk_of_$command] )) && _tilewalk_of_$command
}

if [[ $funcstack[1] == _tilewalk ]]; then _tilewalk "$@"; else compdef _tilewalk tilewalk; fi
)zsh";

std::string escaped(std::string_view text, std::string_view characters) {
    std::string out;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string in_one_line(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!is_space) out += c;
        if (is_space && !out.empty() && out.back() != ' ') out += ' ';
    }
    return out;
}

std::string element(const std::string& word) {
    std::string out;
    for (const char c : word) {
        const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("_-+./,").find(c) != std::string_view::npos;
        out += (is_plain ? "" : "\\") + std::string(1, c);
    }
    return out;
}

std::string elements(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + element(word);
    return out;
}

std::string action(const described_option& of) {
    const std::vector<std::string>& words = of.offered.words;
    switch (of.offered.from) {
        case values_from::nothing:
            return " ";
        case values_from::words:
            return of.is_list ? "_sequence compadd - " + elements(words) : "(" + elements(words) + ")";
        case values_from::files: {
            if (words.empty()) return "_files";
            std::string endings;
            for (const std::string& ending : words)
                endings += (endings.empty() ? "" : "|") + std::string("*") + element(ending);
            // A single pattern gets no brackets, which zsh would take for glob qualifiers.
            return "_files -g \"" + (words.size() == 1 ? endings : "(" + endings + ")") + "\"";
        }
        case values_from::folders:
            return "_files -/";
        case values_from::trades:
            return "_tilewalk_asked trades";
        case values_from::keys:
            return "_tilewalk_asked keys";
    }
    return {};
}

// Returns a value for _arguments, such as ":FILE:_files"; an optional argument gets a second colon in front.
std::string value_of(const described_option& of) {
    return ":" + escaped(of.value, "\\:") + ":" + action(of);
}

// Returns an entry for each name of the option, which excludes the other names.
std::string options_of(const described_option& of) {
    std::string all, out;
    for (const std::string& name : of.names) all += (all.empty() ? "" : " ") + name;
    for (const std::string& name : of.names) {
        std::string spec = of.repeats ? "*" : "(" + all + ")";
        spec += name + (!of.takes_value() ? "" : name.starts_with("--") ? "=" : "+");
        spec += "[" + escaped(in_one_line(of.help), "\\[]:") + "]";
        out += " \\\n        " + shell_word(spec + (of.takes_value() ? value_of(of) : ""));
    }
    return out;
}

std::string arguments_of(const described_command& command) {
    std::string out;
    std::size_t place = 0;
    for (const described_option& o : command.options) {
        if (!o.is_argument())
            out += options_of(o);
        else
            out += " \\\n        " +
                   shell_word(std::to_string(++place) + (o.is_needed ? "" : ":") + value_of(o));
    }
    return out;
}

}  // namespace

std::string zsh_completion(const described_program& of) {
    std::string out =
        "#compdef tilewalk\n# zsh completion for tilewalk, printed by: tilewalk completion zsh\n\n";
    std::string commands;
    for (const described_command& c : of.commands)
        commands += "        " + shell_word(escaped(c.name, "\\:") + ":" + in_one_line(c.summary)) + "\n";
    out += "_tilewalk_commands() {\n    local -a known=(\n" + commands +
           "    )\n    _describe -t commands command known \"$@\"\n}\n\n";
    for (const described_command& c : of.commands)
        out += fmt::format("_tilewalk_of_{}() {{\n    _arguments -S{}\n}}\n\n", c.name, arguments_of(c));
    out += before_arguments;
    out += "    _arguments -C -S -A '-*'" + arguments_of(of.itself) +
           " \\\n        '1:COMMAND:_tilewalk_commands' \\\n        '*::argument:->rest'";
    return out + end_of_zsh;
}

}  // namespace tilewalk::cli
