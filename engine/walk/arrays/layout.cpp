// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/arrays/layout.h"

#include <bit>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::arrays {

namespace {

static_assert(std::endian::native == std::endian::little, "files of shocks are mapped as they are");

constexpr std::string_view own_magic = "TWSHOCKS";
constexpr std::string_view numpy_magic = "\x93NUMPY";
// Longest header that is read. NumPy writes one of 118 bytes for any array that is valid here.
constexpr std::size_t most_numpy_header = 4096;

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
    throw error(error_kind::input, message, {name});
}

template <class word>
word word_at(std::string_view bytes, std::size_t at) {
    word w;
    std::memcpy(&w, bytes.data() + at, sizeof w);
    return w;
}

template <class word>
void put(std::string& into, std::size_t at, word w) {
    std::memcpy(into.data() + at, &w, sizeof w);
}

std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::string_view name_of(contents what) {
    return what == contents::shocks ? "shocks" : "scenarios";
}

std::string words_of(const layout& l, contents expected) {
    if (expected == contents::scenarios) {
        return std::to_string(l.steps) + " times on " + std::to_string(l.paths) + " paths";
    }
    std::string text =
        std::to_string(l.steps) + " steps of " + std::to_string(l.normals_per_step) + " normals";
    if (l.uniforms_per_step != 0) text += " and " + std::to_string(l.uniforms_per_step) + " uniforms";
    return text + " on " + std::to_string(l.paths) + " paths";
}

// Empty if the number of bytes exceeds 64 bits.
std::optional<std::uint64_t> bytes_of_numbers(const layout& l) {
    std::uint64_t all = 0;
    if (__builtin_add_overflow(l.normals_per_step, l.uniforms_per_step, &all)) return {};
    for (const std::uint64_t factor : {l.steps, l.paths, std::uint64_t{arrays::bytes_of(l.of)}}) {
        if (__builtin_mul_overflow(all, factor, &all)) return {};
    }
    return all;
}

void check_size(const layout& l, std::size_t file_bytes, const std::string& name, contents expected) {
    if (expected == contents::scenarios && (l.normals_per_step != 1 || l.uniforms_per_step != 0)) {
        refuse(name, "found " + std::to_string(l.normals_per_step) + " normals and " +
                         std::to_string(l.uniforms_per_step) +
                         " uniforms a step, expected 1 and 0 in a file of scenarios");
    }
    if (l.steps == 0 || l.paths == 0 || (l.normals_per_step == 0 && l.uniforms_per_step == 0)) {
        refuse(name, "the file has no " + std::string(name_of(expected)) + ": " + words_of(l, expected));
    }
    const auto promised = bytes_of_numbers(l);
    const std::uint64_t there = file_bytes - l.data_at;
    if (promised == there) return;
    refuse(name, "found " + std::to_string(there) + " bytes of numbers, expected " +
                     (promised ? std::to_string(*promised) : "more than 2^64") + " for " +
                     words_of(l, expected));
}

layout read_own(std::string_view file, const std::string& name) {
    if (file.size() < header_bytes)
        refuse(name, "found a header of " + std::to_string(file.size()) + " bytes, expected 64");
    if (word_at<std::uint64_t>(file, 56) != fnv1a(file.substr(0, 56)))
        refuse(name, "the header is damaged: its checksum does not match");
    if (const auto version = word_at<std::uint32_t>(file, 8); version != 1)
        refuse(name, "found version " + std::to_string(version) + " of Tilewalk's shocks, expected 1");
    const auto element_bytes = word_at<std::uint32_t>(file, 12);
    if (element_bytes != 4 && element_bytes != 8)
        refuse(name, "found numbers of " + std::to_string(element_bytes) + " bytes, expected 4 or 8");
    if (word_at<std::uint64_t>(file, 48) != 0)
        refuse(name, "found bytes 48 to 55 of the header in use, expected all 0");
    return {element_bytes == 8 ? arrays::element::double_ : arrays::element::single_,
            word_at<std::uint64_t>(file, 16),
            word_at<std::uint64_t>(file, 24),
            word_at<std::uint64_t>(file, 32),
            word_at<std::uint64_t>(file, 40),
            header_bytes};
}

class numpy_header {
  public:
    numpy_header(std::string_view text, const std::string& name) : text_(text), name_(name) {
        expect('{');
        while (!skip('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr") {
                set(descr, std::string(quoted()), key);
            } else if (key == "fortran_order") {
                set(fortran_order, truth(), key);
            } else if (key == "shape") {
                set(shape, tuple(), key);
            } else {
                fail("the key " + config::shown(key) + ", expected descr, fortran_order or shape");
            }
            if (skip(',')) continue;
            expect('}');
            break;
        }
        pass_space();
        if (at_ != text_.size()) fail("text after its end, expected none");
        if (!descr) fail("no key descr, expected one");
        if (!fortran_order) fail("no key fortran_order, expected one");
        if (!shape) fail("no key shape, expected one");
    }

    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;

  private:
    static constexpr std::size_t most_dimensions = 32;

    [[noreturn]] void fail(const std::string& found) const {
        refuse(name_, "the header of the NumPy array can't be read: found " + found);
    }
    void pass_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    bool skip(char c) {
        pass_space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (skip(c)) return;
        fail((at_ == text_.size() ? std::string("its end") : config::shown(text_.substr(at_, 1))) +
             ", expected '" + c + "'");
    }
    template <class value>
    void set(std::optional<value>& to, value what, std::string_view key) const {
        if (to) fail("the key " + config::shown(key) + " twice, expected it once");
        to = std::move(what);
    }
    std::string_view quoted() {
        const char quote = skip('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string_view::npos) fail("a text without end, expected a closing quote");
        const std::string_view found = text_.substr(at_, end - at_);
        if (found.find('\\') != std::string_view::npos) fail("a backslash, expected plain text");
        at_ = end + 1;
        return found;
    }
    bool truth() {
        pass_space();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return value;
        }
        fail("neither True nor False, expected one of them for fortran_order");
    }
    std::uint64_t number() {
        pass_space();
        std::uint64_t n = 0;
        std::size_t digits = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
            if (__builtin_mul_overflow(n, 10u, &n) ||
                __builtin_add_overflow(n, static_cast<unsigned>(text_[at_] - '0'), &n))
                fail("a number beyond 64 bits");
        }
        if (digits == 0) fail("no number, expected one in the shape");
        return n;
    }
    std::vector<std::uint64_t> tuple() {
        std::vector<std::uint64_t> all;
        expect('(');
        while (!skip(')')) {
            if (all.size() == most_dimensions) fail("more than 32 dimensions");
            all.push_back(number());
            if (skip(',')) continue;
            expect(')');
            break;
        }
        return all;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

layout read_numpy(std::string_view file, const std::string& name, contents expected) {
    // The header's text begins at byte 12. In version 1 it begins at byte 10, and no text has only 2 bytes.
    constexpr std::size_t least = 12;
    if (file.size() < least) refuse(name, "the NumPy array ends within its header");
    const auto major = static_cast<unsigned char>(file[6]), minor = static_cast<unsigned char>(file[7]);
    if (major < 1 || major > 3 || minor != 0) {
        refuse(name, "found a NumPy array of version " + std::to_string(major) + '.' + std::to_string(minor) +
                         ", expected 1.0, 2.0 or 3.0");
    }
    const std::size_t before = major == 1 ? 10 : 12;
    const std::size_t length = major == 1 ? word_at<std::uint16_t>(file, 8) : word_at<std::uint32_t>(file, 8);
    if (length > most_numpy_header) {
        refuse(name, "found a header of " + std::to_string(length) + " bytes, expected at most " +
                         std::to_string(most_numpy_header));
    }
    if (length > file.size() - before) refuse(name, "the NumPy array ends within its header");
    const numpy_header header(file.substr(before, length), name);

    layout l;
    l.data_at = before + length;
    if (*header.descr != "<f8" && *header.descr != "<f4") {
        refuse(name, "found numbers of the type " + config::shown(*header.descr) +
                         ", expected '<f8' or '<f4'; save numpy.asarray(x, '<f8')");
    }
    l.of = *header.descr == "<f8" ? arrays::element::double_ : arrays::element::single_;
    if (*header.fortran_order)
        refuse(name, "found an array in Fortran order, expected C order; save numpy.ascontiguousarray(x)");
    const auto& shape = *header.shape;
    const bool has_slots = expected == contents::shocks && shape.size() == 3;
    if (shape.size() != 2 && !has_slots) {
        refuse(name, "found an array of " + std::to_string(shape.size()) +
                         " dimensions, expected the shape " +
                         (expected == contents::shocks ? "(steps, slots, paths) or (steps, paths)"
                                                       : "(times, paths)"));
    }
    if (l.data_at % arrays::bytes_of(l.of) != 0) {
        refuse(name, "the numbers begin at byte " + std::to_string(l.data_at) + ", expected a multiple of " +
                         std::to_string(arrays::bytes_of(l.of)));
    }
    l.steps = shape.front();
    l.normals_per_step = has_slots ? shape[1] : 1;
    l.paths = shape.back();
    return l;
}

}  // namespace

layout read_layout(std::span<const std::byte> bytes, const std::string& name, contents expected) {
    const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool is_own = file.substr(0, own_magic.size()) == own_magic;
    if (!is_own && file.substr(0, numpy_magic.size()) != numpy_magic) {
        refuse(name, "expected a file of " + std::string(name_of(expected)) +
                         ": a NumPy array (.npy), or Tilewalk's own form, which begins with TWSHOCKS");
    }
    const layout found = is_own ? read_own(file, name) : read_numpy(file, name, expected);
    check_size(found, bytes.size(), name, expected);
    return found;
}

std::string header_of(const layout& what) {
    std::string header(header_bytes, '\0');
    own_magic.copy(header.data(), own_magic.size());
    put<std::uint32_t>(header, 8, 1);
    put<std::uint32_t>(header, 12, static_cast<std::uint32_t>(arrays::bytes_of(what.of)));
    put<std::uint64_t>(header, 16, what.steps);
    put<std::uint64_t>(header, 24, what.normals_per_step);
    put<std::uint64_t>(header, 32, what.uniforms_per_step);
    put<std::uint64_t>(header, 40, what.paths);
    put<std::uint64_t>(header, 56, fnv1a(std::string_view(header).substr(0, 56)));
    return header;
}

}  // namespace tilewalk::arrays
