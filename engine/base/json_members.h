// SPDX-License-Identifier: Apache-2.0
// Reads JSON that this program wrote, and trusts nothing: members must be known, present once, and typed.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/word_table.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::report {

// Takes the elements of a list while the text is read, so that no long list is in memory as JSON.
struct element_reader {
    std::string_view list;  // key of the list to take
    // Called with each element. False leaves this element and all later ones in the document read so far.
    std::function<bool(const nlohmann::json& document, const nlohmann::json& element)> take;
};

// Parses a text. Throws tilewalk::error (input) with the place of bad JSON, a key given twice, or nesting too
// deep. `as` completes the message "this is not JSON as".
nlohmann::json parsed_json(const std::string& text, const std::string& name, std::string_view as,
                           std::span<const element_reader> readers = {});

// Returns a file's text. Throws tilewalk::error (io), or (input) if it is too large to be `contents`.
std::string text_of_file(const std::string& file, std::string_view contents);

// The members of an object. Each is taken once, and finish() refuses those that were not taken. Throws
// tilewalk::error (input) for a member that is missing or of another type.
class json_members {
  public:
    json_members(const nlohmann::json& object, std::string path, const std::string& name)
        : object_(object), path_(std::move(path)), name_(name) {
        if (!object.is_object()) fail(path_, object, "a mapping");
    }

    const nlohmann::json& member(const std::string& key) {
        const auto at = object_.find(key);
        if (at == object_.end()) throw error(error_kind::input, "'" + key + "' is missing", {name_}, path_);
        taken_.push_back(&*at);
        return *at;
    }
    std::string text(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_string()) fail(path(key), value, "a text");
        return value.get<std::string>();
    }
    std::uint64_t word_of_bits(const std::string& key) {
        const std::string digits = text(key);
        constexpr std::size_t wanted = 16;
        std::uint64_t out = 0;
        const char* const end = digits.data() + digits.size();
        const auto [at, failure] = std::from_chars(digits.data(), end, out, wanted);
        if (digits.size() != wanted || at != end || failure != std::errc())
            fail(path(key), object_[key], "16 hexadecimal digits");
        return out;
    }
    double number(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_number()) fail(path(key), value, "a number");
        return value.get<double>();
    }
    double at_least_zero(const std::string& key) {
        const double x = number(key);
        if (!(x >= 0)) fail(path(key), object_[key], "a number of at least 0");
        return x;
    }
    void null(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_null()) fail(path(key), value, "null, as the trade failed");
    }
    template <class Integer>
    Integer natural(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_number_unsigned() ||
            value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
            fail(path(key), value,
                 "a whole number from 0 to " + std::to_string(std::numeric_limits<Integer>::max()));
        return value.get<Integer>();
    }
    bool boolean(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_boolean()) fail(path(key), value, "true or false");
        return value.get<bool>();
    }
    template <class Words>
    auto word(const std::string& key, const Words& words) {
        const auto meaning = meaning_of(words, text(key));
        if (!meaning) {
            std::string expected;
            for (const auto& [value, known] : words)
                expected += (expected.empty() ? "'" : ", '") + std::string(known) + "'";
            fail(path(key), object_[key], "one of " + expected);
        }
        return *meaning;
    }
    const nlohmann::json& list(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_array()) fail(path(key), value, "a list");
        return value;
    }
    std::vector<std::string> texts(const std::string& key) {
        const nlohmann::json& items = list(key);
        std::vector<std::string> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (!items[i].is_string()) fail(path(key) + "[" + std::to_string(i) + "]", items[i], "a text");
            out.push_back(items[i].get<std::string>());
        }
        return out;
    }
    std::vector<double> numbers(const std::string& key) { return numbers_of(member(key), path(key)); }
    std::vector<double> numbers_of(const nlohmann::json& items, const std::string& at) const {
        if (!items.is_array()) fail(at, items, "a list");
        std::vector<double> out;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (!items[i].is_number()) fail(at + "[" + std::to_string(i) + "]", items[i], "a number");
            out.push_back(items[i].get<double>());
        }
        return out;
    }
    std::optional<double> number_or_null(const std::string& key) {
        const nlohmann::json& value = member(key);
        if (!value.is_null() && !value.is_number()) fail(path(key), value, "a number or null");
        return value.is_null() ? std::nullopt : std::optional(value.get<double>());
    }
    std::optional<double> at_least_zero_or_null(const std::string& key) {
        const auto x = number_or_null(key);
        if (x && !(*x >= 0)) fail(path(key), object_[key], "a number of at least 0 or null");
        return x;
    }
    bool has(const std::string& key) const { return object_.contains(key); }
    json_members mapping(const std::string& key) { return {member(key), path(key), name_}; }

    void finish() const {
        for (const auto& [key, value] : object_.items())
            if (std::ranges::find(taken_, &value) == taken_.end())
                throw error(error_kind::input, "unknown key " + config::shown(key), {name_}, path_);
    }
    std::string path(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

    [[noreturn]] void fail(const std::string& at, const nlohmann::json& found,
                           const std::string& expected) const {
        refuse(at, found, ", expected " + expected);
    }
    [[noreturn]] void refuse(const std::string& at, const nlohmann::json& found,
                             const std::string& wrong) const {
        // Lists and mappings may be large, so messages do not quote them.
        const std::string shown = found.is_structured()
                                      ? std::string(found.is_array() ? "a list" : "a mapping")
                                      : found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        throw error(error_kind::input, "found " + config::shortened(shown) + wrong, {name_}, at);
    }

  private:
    const nlohmann::json& object_;
    std::string path_;
    const std::string& name_;
    std::vector<const nlohmann::json*> taken_;  // a vector, since objects have few members
};

}  // namespace tilewalk::report
