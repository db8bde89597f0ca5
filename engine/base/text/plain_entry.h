// SPDX-License-Identifier: Apache-2.0
// Reads the shape of YAML that long books consist of, "- {id: a, strike: 100, dates: [0.5, 1.0]}" on a line
// of its own, for which yaml-cpp takes forty times as long. All else is left to yaml-cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewalk::config {

// Scans a flow mapping of plain words: no quotes, comments, tags, nulls, or words with spaces. Tells `hears`
// where keys, values and containers begin and end, by their offset in `text`.
template <class listener>
class plain_entry {
  public:
    plain_entry(std::string_view text, listener& hears) : text_(text), hears_(hears) {}

    // Returns whether the text is one such mapping, but for spaces after it. Stops at the first fault.
    bool scan() {
        if (!mapping(1)) return false;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\r')) ++at_;
        return at_ == text_.size();
    }

  private:
    static constexpr int deepest = 4;

    static bool in_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.' || c == '-' || c == '+';
    }
    char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool takes(char c) {
        if (now() != c) return false;
        ++at_;
        return true;
    }
    void spaces() {
        while (now() == ' ') ++at_;
    }

    // Reads a plain word; empty if there is none at this place.
    std::string_view word() {
        const std::size_t start = at_;
        while (in_word(now())) ++at_;
        const std::string_view found = text_.substr(start, at_ - start);
        const bool begins_well = !found.empty() && (found.front() != '-' || found.size() > 1);
        if (!begins_well || found == "null" || found == "Null" || found == "NULL") return {};
        return found;
    }
    bool key() {
        const std::size_t start = at_;
        const std::string_view found = word();
        if (found.empty()) return false;
        hears_.key(start, found);
        return true;
    }
    bool value(int depth) {
        if (now() == '{') return depth < deepest && mapping(depth + 1);
        if (now() == '[') return depth < deepest && sequence(depth + 1);
        const std::size_t start = at_;
        const std::string_view found = word();
        if (found.empty()) return false;
        hears_.word(start, found);
        return true;
    }
    bool mapping(int depth) {
        hears_.mapping_starts(at_);
        if (!takes('{')) return false;
        spaces();
        while (now() != '}') {
            if (!key() || !takes(':') || now() != ' ') return false;
            spaces();
            if (!value(depth)) return false;
            spaces();
            if (now() == '}') break;
            if (!takes(',')) return false;
            spaces();
            if (now() == '}') return false;
        }
        ++at_;
        hears_.mapping_ends();
        return true;
    }
    bool sequence(int depth) {
        hears_.sequence_starts(at_);
        if (!takes('[')) return false;
        spaces();
        while (now() != ']') {
            if (!value(depth)) return false;
            spaces();
            if (now() == ']') break;
            if (!takes(',')) return false;
            spaces();
            if (now() == ']') return false;
        }
        ++at_;
        hears_.sequence_ends();
        return true;
    }

    std::string_view text_;
    listener& hears_;
    std::size_t at_ = 0;
};

struct entry_counts {
    std::uint32_t values = 0, keys = 0, levels = 0, longest_word = 0;
    std::uint32_t last_value = 0;  // offset at which the last value begins

    void key(std::size_t, std::string_view text) {
        ++keys;
        measure(text);
    }
    void word(std::size_t at, std::string_view text) {
        begins(at);
        measure(text);
    }
    void mapping_starts(std::size_t at) { opens(at); }
    void mapping_ends() { --open_; }
    void sequence_starts(std::size_t at) { opens(at); }
    void sequence_ends() { --open_; }

  private:
    void measure(std::string_view word) {
        longest_word = std::max(longest_word, static_cast<std::uint32_t>(word.size()));
    }
    void begins(std::size_t at) {
        ++values;
        last_value = static_cast<std::uint32_t>(at);
    }
    void opens(std::size_t at) {
        begins(at);
        levels = std::max(levels, ++open_);
    }
    std::uint32_t open_ = 0;
};

// The mapping in a line that is a plain entry of a list.
struct entry_in_line {
    std::size_t start = std::string_view::npos;  // npos if the line is no such entry
    entry_counts counts;
};
inline entry_in_line plain_entry_in(std::string_view line) {
    constexpr std::size_t npos = std::string_view::npos;
    entry_in_line found;
    const std::size_t dash = line.find_first_not_of(' ');
    if (dash == npos || line[dash] != '-' || line.substr(dash + 1, 1) != " ") return found;
    const std::size_t start = line.find_first_not_of(' ', dash + 1);
    if (start == npos || line[start] != '{') return found;
    if (plain_entry(line.substr(start), found.counts).scan()) found.start = start;
    return found;
}

}  // namespace tilewalk::config
