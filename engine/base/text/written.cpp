// SPDX-License-Identifier: Apache-2.0
// Writes YAML with line breaks at 110 columns, well below the reader's limit on the length of lines.
#include "engine/base/text/written.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/base/text/tree_value.h"

namespace tilewalk::config {
namespace {

constexpr std::size_t most_columns = 110;
constexpr int most_levels = 2;  // deeper levels stand in brackets

// Writes a scalar without quotes if every YAML reader takes it for the same text, else with quotes.
std::string scalar(std::string_view text, bool is_quoted) {
    const bool is_plain =
        !text.empty() && !is_quoted && text.front() != '-' && std::ranges::all_of(text, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                   c == '_' || c == '+' || c == '-' || c == '/';
        });
    const bool is_negative = !is_quoted && text.size() > 1 && text.front() == '-' &&
                             text.substr(1).find_first_not_of("0123456789.eE+-") == std::string_view::npos;
    if (is_plain || is_negative) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
            case '\n':
                out += "\\n";
                break;
            case '\t':
                out += "\\t";
                break;
            case '"':
            case '\\':
                out += '\\';
                [[fallthrough]];
            default:
                out += c;
        }
    }
    return out + '"';
}

// True for a text of several lines, which is written as a block after '|', as people do.
bool is_block(const value& held) {
    if (!held.is_scalar()) return false;
    const std::string& text = held.text();
    return text.find('\n') != std::string::npos && text.front() != '\n' && text.front() != ' ' &&
           std::ranges::all_of(text,
                               [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\n'; });
}

bool holds_block(const value& held) {
    if (held.is_list()) return std::ranges::any_of(held.items(), holds_block);
    if (held.is_mapping())
        return std::ranges::any_of(held.members(),
                                   [](const value::member& m) { return holds_block(m.held); });
    return is_block(held);
}

class writer {
  public:
    void root(const value& of) {
        if (of.is_mapping() && !of.members().empty()) return block(of, 0);
        flow("", of, "");
        end_line();
    }
    void block(const value& mapping, int level) {
        for (const value::member& m : mapping.members()) {
            line_ += (line_.empty() ? spaces(level) : "") + scalar(m.key, false) + ':';
            indent_ = static_cast<std::size_t>(2 * level) + 4;
            member(m.held, level);
        }
    }

    std::string take_text() { return std::move(text_); }

  private:
    static std::string spaces(int level) { return std::string(static_cast<std::size_t>(2 * level), ' '); }

    void member(const value& held, int level) {
        if (is_block(held)) return lines(held.text(), level);
        const bool opens = holds_block(held);
        if (held.is_mapping() && (level < most_levels || opens) && !held.members().empty()) {
            end_line();
            return block(held, level + 1);
        }
        if (held.is_list() && (level == 0 || opens) && !held.items().empty()) {
            end_line();
            for (const value& one : held.items()) item(one, level + 1);
            return;
        }
        flow(" ", held, "");
        end_line();
    }

    void item(const value& held, int level) {
        line_ = spaces(level) + '-';
        indent_ = static_cast<std::size_t>(2 * level) + 4;
        if (held.is_mapping() && holds_block(held)) {
            line_ += ' ';
            return block(held, level + 1);
        }
        flow(" ", held, "");
        end_line();
    }

    void lines(const std::string& text, int level) {
        const std::size_t end = text.find_last_not_of('\n') + 1, breaks = text.size() - end;
        line_ += breaks == 0 ? " |-" : breaks == 1 ? " |" : " |+";
        end_line();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t stop = std::min(text.find('\n', at), text.size());
            if (stop > at) line_ = spaces(level + 1) + text.substr(at, stop - at);
            end_line();
            at = stop + 1;
        }
    }

    void end_line() {
        text_ += line_ + '\n';
        line_.clear();
    }

    void add(std::string_view gap, const std::string& piece) {
        const bool is_first = line_.find_first_not_of(' ') == std::string::npos;
        if (!is_first && !gap.empty() && line_.size() + gap.size() + piece.size() > most_columns) {
            end_line();
            line_ = std::string(indent_, ' ');
            gap = "";
        }
        line_ += std::string(gap) + piece;
    }

    void flow(std::string_view gap, const value& held, const std::string& behind,
              const std::string& before = "") {
        switch (held.kind()) {
            case value::shape::nothing:
                add(gap, before + "~" + behind);
                return;
            case value::shape::scalar:
                add(gap, before + scalar(held.text(), held.is_quoted()) + behind);
                return;
            case value::shape::list: {
                const auto& items = held.items();
                if (items.empty()) return add(gap, before + "[]" + behind);
                for (std::size_t i = 0; i < items.size(); ++i) {
                    const bool is_last = i + 1 == items.size();
                    flow(i == 0 ? gap : " ", items[i], is_last ? "]" + behind : ",",
                         i == 0 ? before + "[" : "");
                }
                return;
            }
            case value::shape::mapping: {
                const auto& members = held.members();
                if (members.empty()) return add(gap, before + "{}" + behind);
                for (std::size_t i = 0; i < members.size(); ++i) {
                    const bool is_last = i + 1 == members.size();
                    flow(i == 0 ? gap : " ", members[i].held, is_last ? "}" + behind : ",",
                         (i == 0 ? before + "{" : "") + scalar(members[i].key, false) + ": ");
                }
                return;
            }
        }
    }

    std::string text_, line_;
    std::size_t indent_ = 0;
};

}  // namespace

std::string written_in_a_line(const value& held) {
    std::string out;
    if (held.is_mapping()) {
        for (const value::member& m : held.members())
            out += (out.empty() ? "" : ", ") + scalar(m.key, false) + ": " + written_in_a_line(m.held);
        return "{" + out + "}";
    }
    if (held.is_list()) {
        for (const value& item : held.items()) out += (out.empty() ? "" : ", ") + written_in_a_line(item);
        return "[" + out + "]";
    }
    return held.is_scalar() ? scalar(held.text(), held.is_quoted()) : "";
}

std::string written(const value& root) {
    writer into;
    into.root(root);
    return into.take_text();
}

std::string written_in_a_line(const node& root) {
    return written_in_a_line(value_of(root));
}

std::string written(const node& root) {
    return written(value_of(root));
}

}  // namespace tilewalk::config
