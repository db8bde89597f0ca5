// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text/xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <tuple>
#include <utility>

#include "engine/base/text/unicode.h"
#include "engine/base/wording.h"
#include "tilewalk/bounds.h"

namespace tilewalk::config {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t most_attributes = 100;  // limited, since each is compared with all others

bool is_blank_byte(char c) {
    return blanks.find(c) != std::string_view::npos;
}

// True for bytes that may begin a name. Any byte of a character beyond ASCII counts as a letter.
bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_in_name(char c) {
    return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

void trim(std::string& text) {
    const std::size_t end = text.find_last_not_of(blanks);
    text.resize(end == std::string::npos ? 0 : end + 1);
    text.erase(0, std::min(text.find_first_not_of(blanks), text.size()));
}

}  // namespace

xml_reader::xml_reader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
    check_characters();
    if (starts("<?xml") && text_.size() > 5 && is_blank_byte(text_[5])) {
        const std::string_view declaration = text_.substr(0, text_.find("?>"));
        std::string lower(declaration);
        std::ranges::transform(lower, lower.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        if (lower.find("encoding") != lower.npos && lower.find("utf-8") == lower.npos &&
            lower.find("ascii") == lower.npos)
            refuse("found another encoding than UTF-8, expected a file in UTF-8");
        skip_past("?>", "a declaration");
    }
    between_elements();
    if (at_ == text_.size()) refuse("found nothing, expected an element of XML");
    if (!starts("<")) refuse("found a text, expected an element of XML");
    if (!start_tag(root_)) {
        is_at_end_ = true;
        between_elements();
        if (at_ < text_.size()) refuse("found text after the end of the document");
    }
}

bool xml_reader::next(xml_element& into) {
    if (is_at_end_) return false;
    between_elements();
    if (starts("</")) {
        end_tag(root_);
        is_at_end_ = true;
        between_elements();
        if (at_ < text_.size()) refuse("found text after the end of the document");
        return false;
    }
    if (at_ == text_.size())
        refuse("found the end of the file, expected </" + shortened(root_.name) + ">" +
               std::string(may_be_cut_short));
    if (!starts("<")) refuse("found text beside elements, expected only elements");
    if (++children_ > bounds::entries) {
        refuse("found more than " + std::to_string(bounds::entries) + " elements in <" +
               shortened(root_.name) + ">, which is the limit");
    }
    values_ = 0;
    into = {};
    if (start_tag(into)) content(into, 2);
    return true;
}

// Checks all characters of the text, so that later code may look at single bytes.
void xml_reader::check_characters() const {
    if (text_.size() > bounds::file_bytes) {
        throw error(error_kind::input,
                    "found " + std::to_string(text_.size()) + " bytes, expected at most " +
                        std::to_string(bounds::file_bytes),
                    {name_});
    }
    for (std::size_t at = 0; at < text_.size();) {
        const auto byte = static_cast<unsigned char>(text_[at]);
        if (byte >= 0x20 && byte < 0x7f) {
            ++at;
            continue;
        }
        if (is_blank_byte(text_[at])) {
            ++at;
            continue;
        }
        const auto [c, bytes] = decode(text_, at);
        if (c == not_a_code_point)
            refuse_at(place_of(at), "found a byte that is no UTF-8, expected a file in UTF-8");
        if (is_forbidden(c))
            refuse_at(place_of(at), "found the character " + named(c) + ", which no text may have");
        at += bytes;
    }
}

void xml_reader::step(std::size_t bytes) {
    for (const std::size_t end = at_ + bytes; at_ < end; ++at_) {
        if (text_[at_] != '\n') continue;
        ++line_;
        line_start_ = at_ + 1;
    }
}

void xml_reader::spaces() {
    while (at_ < text_.size() && is_blank_byte(text_[at_])) step(1);
}

void xml_reader::between_elements() {
    while (true) {
        spaces();
        if (starts("<!--")) {
            skip_past("-->", "a comment");
        } else if (starts("<?")) {
            skip_past("?>", "an instruction");
        } else if (starts("<!")) {
            refuse(
                "found a document type or a section, expected elements; entities and document types are not "
                "supported");
        } else {
            return;
        }
    }
}

void xml_reader::skip_past(std::string_view end, const char* what) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos)
        refuse(std::string("found ") + what + " that does not end" + std::string(may_be_cut_short));
    step(found + end.size() - at_);
}

std::string xml_reader::name() {
    if (at_ == text_.size() || !begins_name(text_[at_])) refuse("found no name, expected one, as in <Trade>");
    std::size_t end = at_;
    while (end < text_.size() && is_in_name(text_[end])) ++end;
    if (end - at_ > bounds::key_bytes) {
        refuse("found a name of " + std::to_string(end - at_) + " bytes, expected at most " +
               std::to_string(bounds::key_bytes));
    }
    std::string found(text_.substr(at_, end - at_));
    step(end - at_);
    return found;
}

// Reads a start tag. Returns false if the element is empty (ends with "/>").
bool xml_reader::start_tag(xml_element& into) {
    if (++values_ > bounds::part_values) {
        refuse("found more than " + std::to_string(bounds::part_values) +
               " values in one element, which is the limit");
    }
    std::tie(into.line, into.column) = std::pair(here().line, here().column);
    step(1);
    into.name = name();
    while (true) {
        const bool has_space = at_ < text_.size() && is_blank_byte(text_[at_]);
        spaces();
        if (starts("/>")) {
            step(2);
            return false;
        }
        if (starts(">")) {
            step(1);
            return true;
        }
        if (at_ == text_.size() || !has_space) {
            refuse("found a tag <" + shortened(into.name) + " that does not end, expected >" +
                   (at_ == text_.size() ? std::string(may_be_cut_short) : ""));
        }
        xml_element::attribute read;
        std::tie(read.line, read.column) = std::pair(here().line, here().column);
        read.name = name();
        for (const auto& other : into.attributes)
            if (other.name == read.name)
                refuse_at({read.line, read.column}, "found a second attribute " + shown(read.name));
        if (into.attributes.size() == most_attributes) {
            refuse("found more than " + std::to_string(most_attributes) +
                   " attributes of an element, which is the limit");
        }
        spaces();
        if (!starts("=")) refuse("found an attribute without a value, expected =");
        step(1);
        spaces();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '"' && quote != '\'') refuse("found an attribute's value without quotes");
        const std::size_t begin = at_ + 1, end = text_.find(quote, begin);
        if (end == std::string_view::npos)
            refuse("found a quote that does not end" + std::string(may_be_cut_short));
        const std::string_view raw = text_.substr(begin, end - begin);
        if (const std::size_t sign = raw.find('<'); sign != std::string_view::npos)
            refuse_at(place_of(begin + sign), "found < in a value, expected &lt;");
        append_text(raw, read.value, begin);
        step(end + 1 - at_);
        into.attributes.push_back(std::move(read));
    }
}

void xml_reader::content(xml_element& into, int depth) {
    if (depth > bounds::nesting)
        refuse("found more than " + std::to_string(bounds::nesting) +
               " levels of nesting, which is the limit");
    std::size_t first_text = 0;
    while (true) {
        const std::size_t sign = std::min(text_.find('<', at_), text_.size());
        const std::string_view raw = text_.substr(at_, sign - at_);
        if (const std::size_t seen = raw.find_first_not_of(blanks); seen != std::string_view::npos) {
            if (into.text.find_first_not_of(blanks) == std::string::npos) first_text = at_ + seen;
            append_text(raw, into.text, at_);
        }
        if (into.text.size() > bounds::text_bytes) {
            refuse("found a text of more than " + std::to_string(bounds::text_bytes) +
                   " bytes, which is the limit");
        }
        step(sign - at_);
        if (at_ == text_.size()) {
            refuse("found the end of the file, expected </" + shortened(into.name) + ">" +
                   std::string(may_be_cut_short));
        }
        if (starts("</")) {
            end_tag(into);
            break;
        }
        if (starts("<![CDATA[")) {
            const std::size_t begin = at_ + 9, end = text_.find("]]>", begin);
            if (end == std::string_view::npos)
                refuse("found a CDATA section that does not end" + std::string(may_be_cut_short));
            if (into.text.empty()) first_text = begin;
            into.text += text_.substr(begin, end - begin);
            step(end + 3 - at_);
        } else if (starts("<!--") || starts("<?") || starts("<!")) {
            between_elements();
        } else {
            into.children.emplace_back();
            if (start_tag(into.children.back())) content(into.children.back(), depth + 1);
        }
    }
    trim(into.text);
    if (!into.text.empty() && !into.children.empty())
        refuse_at(place_of(first_text), "found text beside elements, expected only elements");
}

void xml_reader::end_tag(const xml_element& of) {
    const position at = here();
    step(2);
    const std::string ends = name();
    if (ends != of.name) {
        refuse_at(at, "found </" + shortened(ends) + ">, expected </" + shortened(of.name) +
                          ">, the end of the element that begins on line " + std::to_string(of.line));
    }
    spaces();
    if (!starts(">")) refuse("found an end tag without its >, expected one");
    step(1);
}

void xml_reader::append_text(std::string_view raw, std::string& to, std::size_t begin) {
    for (std::size_t at = 0; at < raw.size();) {
        const std::size_t sign = std::min(raw.find('&', at), raw.size());
        to += raw.substr(at, sign - at);
        if (sign == raw.size()) return;
        const std::size_t used = reference(raw, to, sign);
        if (used == 0) {
            refuse_at(place_of(begin + sign),
                      "found an entity that this reader does not take, expected one of &amp; &lt; &gt; "
                      "&quot; &apos; or a number, such as &#233;");
        }
        at = sign + used;
    }
}

// Appends the character of a reference at `at`, such as &amp;. Returns its bytes; 0 if there is none.
std::size_t xml_reader::reference(std::string_view raw, std::string& to, std::size_t at) const {
    constexpr std::pair<std::string_view, char> entities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    const std::string_view rest = raw.substr(at);
    for (const auto& [written, c] : entities) {
        if (!rest.starts_with(written)) continue;
        to += c;
        return written.size();
    }
    if (!rest.starts_with("&#")) return 0;
    const bool is_hexadecimal = rest.substr(2).starts_with('x');
    const char* const first = rest.data() + (is_hexadecimal ? 3 : 2);
    const char* const last = rest.data() + rest.size();
    std::uint32_t c = 0;
    const auto [end, status] = std::from_chars(std::min(first, last), last, c, is_hexadecimal ? 16 : 10);
    const bool is_good = status == std::errc() && end != last && *end == ';' && c <= 0x10ffff &&
                         !(c >= 0xd800 && c <= 0xdfff) &&
                         (c == '\t' || c == '\n' || c == '\r' || !is_forbidden(c));
    if (!is_good) return 0;
    append_utf8(c, to);
    return static_cast<std::size_t>(end - rest.data()) + 1;
}

xml_reader::position xml_reader::here() const {
    return {line_, static_cast<int>(at_ - line_start_) + 1};
}

xml_reader::position xml_reader::place_of(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1;  // 0 on the first line, since npos + 1 is 0
    return {static_cast<int>(std::ranges::count(before, '\n')) + 1, static_cast<int>(at - line_start) + 1};
}

void xml_reader::fail(const xml_element& at, const std::string& message) const {
    refuse_at({at.line, at.column}, message);
}

void xml_reader::refuse(const std::string& message) const {
    refuse_at(here(), message);
}

void xml_reader::refuse_at(position where, const std::string& message) const {
    throw error(error_kind::input, message, {name_, where.line, where.column});
}

}  // namespace tilewalk::config
