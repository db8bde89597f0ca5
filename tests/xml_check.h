// SPDX-License-Identifier: Apache-2.0
// Checks that a text is well-formed XML of the plain kind that reports use: elements, attributes, text and
// the five predefined entities, and at most one doctype. Refuses some valid XML that no report needs.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::tests {

class xml_check {
  public:
    // The first fault, with its place; empty if there is none.
    static std::string fault(std::string_view text) { return xml_check(text).run(); }

  private:
    explicit xml_check(std::string_view text) : text_(text) {}

    std::string at(const std::string& why) const {
        return why + " at byte " + std::to_string(i_) + ": " + std::string(text_.substr(i_, 60));
    }
    bool takes(std::string_view word) {
        if (!text_.substr(i_).starts_with(word)) return false;
        i_ += word.size();
        return true;
    }
    static bool is_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == ':';
    }
    std::string name() {
        std::string out;
        while (i_ < text_.size() && is_name(text_[i_])) out += text_[i_++];
        return out;
    }
    void spaces() {
        while (i_ < text_.size() && (text_[i_] == ' ' || text_[i_] == '\n')) ++i_;
    }
    std::string characters(char stop) {
        for (; i_ < text_.size() && text_[i_] != stop; ++i_) {
            const auto c = static_cast<unsigned char>(text_[i_]);
            if (c < 0x20 && c != '\n') return at("a control character");
            if (c == '<' || (c == '>' && stop == '"')) return at("a bare bracket");
            if (text_.substr(i_).starts_with("]]>")) return at("']]>' in text");
            if (text_.substr(i_).starts_with("\xef\xbf\xbe") ||
                text_.substr(i_).starts_with("\xef\xbf\xbf")) {
                return at("no character of XML");
            }
            if (c == '&') {
                const auto end = text_.find(';', i_);
                static const std::set<std::string_view> known{"amp", "lt", "gt", "quot", "#39"};
                if (end == text_.npos || !known.contains(text_.substr(i_ + 1, end - i_ - 1))) {
                    return at("a bare ampersand");
                }
            }
        }
        return {};
    }
    std::string attributes() {
        std::set<std::string> seen;
        for (;;) {
            const std::size_t before = i_;
            spaces();
            if (i_ >= text_.size()) return at("an open tag");
            if (text_[i_] == '>' || text_[i_] == '/') return {};
            if (i_ == before) return at("no space before an attribute");
            const std::string key = name();
            if (key.empty()) return at("no name of an attribute");
            if (!seen.insert(key).second) return at("attribute " + key + " twice");
            if (!takes("=\"")) return at("no value of attribute " + key);
            if (const std::string why = characters('"'); !why.empty()) return why;
            if (!takes("\"")) return at("an open value");
        }
    }
    static bool is_utf8(std::string_view text) {
        for (std::size_t i = 0; i < text.size();) {
            const auto first = static_cast<unsigned char>(text[i]);
            const std::size_t length = first < 0x80                    ? 1
                                       : first >= 0xC2 && first < 0xE0 ? 2
                                       : first >= 0xE0 && first < 0xF0 ? 3
                                       : first >= 0xF0 && first < 0xF5 ? 4
                                                                       : 0;
            if (length == 0 || i + length > text.size()) return false;
            for (std::size_t k = 1; k < length; ++k) {
                if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
            }
            i += length;
        }
        return true;
    }
    std::string run() {
        if (!is_utf8(text_)) return "no UTF-8";
        if (takes("<!DOCTYPE html>")) spaces();
        std::vector<std::string> open;
        bool has_root = false;
        while (i_ < text_.size()) {
            if (open.empty()) {
                spaces();
                if (i_ == text_.size()) break;
                if (text_[i_] != '<') return at("text outside of the root");
                if (has_root) return at("a second root");
                has_root = true;
            }
            if (const std::string why = characters('<'); !why.empty()) return why;
            if (takes("</")) {
                const std::string closed = name();
                if (open.empty() || open.back() != closed || !takes(">"))
                    return at("a wrong end of " + closed);
                open.pop_back();
            } else if (takes("<")) {
                const std::string opened = name();
                if (opened.empty()) return at("no name of an element");
                if (const std::string why = attributes(); !why.empty()) return why;
                if (!takes("/>")) {
                    if (!takes(">")) return at("an open tag");
                    open.push_back(opened);
                }
            }
        }
        if (!open.empty()) return "no end of " + open.back();
        return has_root ? "" : "no root";
    }

    std::string_view text_;
    std::size_t i_ = 0;
};

}  // namespace tilewalk::tests
