// SPDX-License-Identifier: Apache-2.0
// Lines are broken where a reader's eye or the reader's limit on their length would give up.
#include "engine/config/written.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tilewalk::config {
namespace {

constexpr std::size_t most_columns = 110;
constexpr int most_levels = 2;  // of lines; deeper ones stand in brackets

// Plain where no reader of YAML could take it for anything else.
std::string scalar(std::string_view text, bool is_quoted) {
    const bool is_plain =
        !text.empty() && !is_quoted && text.front() != '-' && std::ranges::all_of(text, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                   c == '_' || c == '+' || c == '-' || c == '/';
        });
    // A number may begin with a minus sign.
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

class writer {
  public:
    void block(const node& mapping, int level) {
        for (const node::member& m : mapping.members()) {
            line_ = std::string(static_cast<std::size_t>(2 * level), ' ') + scalar(m.key, false) + ':';
            indent_ = static_cast<std::size_t>(2 * level) + 4;
            const node& value = m.value;
            if (value.is_mapping() && level < most_levels && !value.members().empty()) {
                end_line();
                block(value, level + 1);
            } else if (value.is_sequence() && level == 0 && !value.items().empty()) {
                end_line();
                for (const node& item : value.items()) {
                    line_ = "  -";
                    indent_ = 6;
                    flow(" ", item, "");
                    end_line();
                }
            } else {
                flow(" ", value, "");
                end_line();
            }
        }
    }

    std::string take() { return std::move(text_); }

  private:
    void end_line() {
        text_ += line_ + '\n';
        line_.clear();
    }

    // `piece` stays together.
    void add(std::string_view gap, const std::string& piece) {
        const bool is_first = line_.find_first_not_of(' ') == std::string::npos;
        if (!is_first && !gap.empty() && line_.size() + gap.size() + piece.size() > most_columns) {
            end_line();
            line_ = std::string(indent_, ' ');
            gap = "";
        }
        line_ += std::string(gap) + piece;
    }

    // The value between what stands in front of it and behind it.
    void flow(std::string_view gap, const node& value, const std::string& behind,
              const std::string& before = "") {
        switch (value.kind()) {
            case node::shape::null:
                add(gap, before + "~" + behind);
                return;
            case node::shape::scalar:
                add(gap, before + scalar(value.text(), value.is_quoted()) + behind);
                return;
            case node::shape::sequence: {
                const auto& items = value.items();
                if (items.empty()) return add(gap, before + "[]" + behind);
                for (std::size_t i = 0; i < items.size(); ++i) {
                    const bool is_last = i + 1 == items.size();
                    flow(i == 0 ? gap : " ", items[i], is_last ? "]" + behind : ",",
                         i == 0 ? before + "[" : "");
                }
                return;
            }
            case node::shape::mapping: {
                const auto& members = value.members();
                if (members.empty()) return add(gap, before + "{}" + behind);
                for (std::size_t i = 0; i < members.size(); ++i) {
                    const bool is_last = i + 1 == members.size();
                    flow(i == 0 ? gap : " ", members[i].value, is_last ? "}" + behind : ",",
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

std::string written_in_a_line(const node& value) {
    std::string out;
    if (value.is_mapping()) {
        for (const node::member& m : value.members())
            out += (out.empty() ? "" : ", ") + scalar(m.key, false) + ": " + written_in_a_line(m.value);
        return "{" + out + "}";
    }
    if (value.is_sequence()) {
        for (const node& item : value.items()) out += (out.empty() ? "" : ", ") + written_in_a_line(item);
        return "[" + out + "]";
    }
    return value.is_scalar() ? scalar(value.text(), value.is_quoted()) : "";
}

std::string written(const node& root) {
    writer into;
    into.block(root, 0);
    return into.take();
}

}  // namespace tilewalk::config
