// SPDX-License-Identifier: Apache-2.0
// The completion script for bash. It never evaluates text of the program, only compares it and passes it on.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/cli/help/completion.h"

namespace tilewalk::cli {

namespace {

using values_from = offered_values::source;

constexpr const char* head = R"(# bash completion for tilewalk, printed by: tilewalk completion bash

)";

// `typed` is the word at the cursor. Bash breaks words at = and at colons; the script joins them again.
constexpr const char* end_of_bash = R"bash(
_tilewalk_has() {
    local word wanted=$1
    shift
    for word; do [[ $word == "$wanted" ]] && return 0; done
    return 1
}

# Offers a word, as it is to be typed.
_tilewalk_reply() {
    local quoted
    printf -v quoted %q "$1"
    [[ $1 == "$typed"* || $quoted == "$typed"* ]] && COMPREPLY+=("$quoted")
}

_tilewalk() {
    local program=$1 line=$COMP_LINE word rest typed option='' first='' before='' kind='' list='' i place=1
    local -a words=() options=() flags=() offered=()
    COMPREPLY=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i > 0)) && [[ $rest == "$line" ]]; then words[${#words[@]}-1]+=$word; else words+=("$word"); fi
        line=${rest#"$word"}
    done
    typed=${words[${#words[@]}-1]}
    if ((${#words[@]} == 2)); then
        _tilewalk_options ''
        kind=words
        [[ $typed == -* ]] && offered=("${options[@]}") || offered=("${commands[@]}")
    else
        _tilewalk_options "${words[1]}"
        for word in "${words[@]:2:${#words[@]}-3}"; do
            if [[ -n $option ]]; then
                option=''
            elif [[ $word == --*=* ]]; then
                continue
            elif [[ $word == -?* ]]; then
                _tilewalk_has "$word" "${flags[@]}" || option=$word
            else
                ((place == 1)) && first=$word
                place=$((place + 1))
            fi
        done
        if [[ -z $option && $typed == --*=* ]]; then
            option=${typed%%=*}
            typed=${typed#*=}
        fi
        if [[ -z $option && $typed == -?* || -z $option && $typed == - ]]; then
            kind=words
            offered=("${options[@]}")
        else
            _tilewalk_offered "${words[1]} ${option:-$place}"
        fi
    fi
    [[ $kind == files || $kind == folders ]] || compopt +o default +o bashdefault 2>/dev/null
    [[ -n $list ]] && before=${typed%"${typed##*,}"}
    case $kind in
        words)
            for word in "${offered[@]}"; do _tilewalk_reply "$before$word"; done
            ;;
        trades | keys)
            [[ $kind == keys ]] && compopt -o nospace 2>/dev/null
            first=${first//[\\\'\"]/}
            [[ $first == '~/'* ]] && first=$HOME/${first#'~/'}
            while IFS= read -r word; do
                [[ $kind == keys ]] && word+='='
                _tilewalk_reply "$word"
            done < <(command "$program" completion "$kind" "$first" 2>/dev/null)
            ;;
        files | folders)
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                [[ -d $word ]] && COMPREPLY+=("$word")
                [[ -f $word && $kind == files ]] || continue
                ((${#offered[@]} == 0)) && COMPREPLY+=("$word")
                for rest in "${offered[@]}"; do [[ $word == *"$rest" ]] && COMPREPLY+=("$word"); done
            done < <(compgen -f -- "$typed")
            ;;
    esac
    before=${typed%"${typed##*[=:]}"}
    if [[ -n $before && $COMP_WORDBREAKS == *[=:]* ]]; then
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
    fi
    return 0
}
complete -o bashdefault -o default -F _tilewalk tilewalk
)bash";

std::string array_of(const std::vector<std::string>& words) {
    std::string out = "(";
    for (const std::string& word : words) out += (out.size() > 1 ? " " : "") + shell_word(word);
    return out + ")";
}

std::string options_of(const std::string& pattern, const described_command& command) {
    std::vector<std::string> all, flags;
    for (const described_option& o : command.options) {
        for (const std::string& name : o.names) {
            all.push_back(name);
            if (!o.takes_value()) flags.push_back(name);
        }
    }
    return fmt::format("        {})\n            options={}\n            flags={}\n            ;;\n",
                       shell_word(pattern), array_of(all), array_of(flags));
}

std::string kind_of(values_from from) {
    switch (from) {
        case values_from::nothing:
            return "";
        case values_from::words:
            return "words";
        case values_from::files:
            return "files";
        case values_from::folders:
            return "folders";
        case values_from::trades:
            return "trades";
        case values_from::keys:
            return "keys";
    }
    return {};
}

}  // namespace

std::string bash_completion(const described_program& of) {
    std::string out = head;
    out +=
        "# The options of a command, and those of them that take no value.\n"
        "_tilewalk_options() {\n    commands=";
    std::vector<std::string> names;
    for (const described_command& c : of.commands) names.push_back(c.name);
    out += array_of(names) + "\n    case $1 in\n" + options_of("", of.itself);
    for (const described_command& c : of.commands) out += options_of(c.name, c);
    out += "    esac\n}\n\n";

    std::map<std::string, std::vector<std::string>> where;
    for (const described_command& c : of.commands) {
        std::size_t place = 0;
        for (const described_option& o : c.options) {
            if (o.offered.from == values_from::nothing) continue;
            const std::string offer =
                fmt::format("            kind={} list={} offered={}\n", kind_of(o.offered.from),
                            o.is_list ? "yes" : "''", array_of(o.offered.words));
            if (o.is_argument())
                where[offer].push_back(c.name + " " + std::to_string(++place));
            else
                for (const std::string& name : o.names) where[offer].push_back(c.name + " " + name);
        }
    }
    out +=
        "# Values of an option, or of the argument at a place, of a command: 'price --format', 'price 1'.\n"
        "_tilewalk_offered() {\n    case $1 in\n";
    for (const auto& [offer, patterns] : where) {
        std::string line = "       ";
        for (const std::string& pattern : patterns) {
            const std::string word = " " + shell_word(pattern) + (pattern == patterns.back() ? ")" : " |");
            if (line.size() + word.size() > 100) {
                out += line + " \\\n";
                line = "           ";
            }
            line += word;
        }
        out += line + "\n" + offer + "            ;;\n";
    }
    out += "    esac\n}\n";
    return out + end_of_bash;
}

}  // namespace tilewalk::cli
