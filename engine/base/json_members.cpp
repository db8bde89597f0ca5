// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json_members.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>

#include "engine/base/open_file.h"
#include "tilewalk/bounds.h"

namespace tilewalk::report {

namespace {

using json_value = nlohmann::json;

constexpr std::size_t deepest = 10;  // policies, which are deepest, nest nine deep

location place_of(const std::string& text, const std::string& name, std::size_t byte) {
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto line = std::count(text.begin(), end, '\n') + 1;
    const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
    return {name, static_cast<int>(line), static_cast<int>(end - start) + 1};
}

// Builds a document. The parser's own callback is quadratic: after each object it scans the whole list.
class document_builder {
  public:
    document_builder(const std::string& text, const std::string& name, std::string_view as,
                     std::span<const element_reader> readers)
        : text_(text), name_(name), as_(as), readers_(readers) {}

    json_value document;

    bool null() { return scalar(nullptr); }
    bool boolean(bool yes) { return scalar(yes); }
    bool number_integer(json_value::number_integer_t x) { return scalar(x); }
    bool number_unsigned(json_value::number_unsigned_t x) { return scalar(x); }
    bool number_float(json_value::number_float_t x, const std::string&) { return scalar(x); }
    bool string(std::string& x) { return scalar(std::move(x)); }
    bool binary(json_value::binary_t& x) { return scalar(std::move(x)); }
    bool start_object(std::size_t) { return open(json_value::object()); }
    bool start_array(std::size_t) { return open(json_value::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& name) {
        check_depth();
        const auto [at, is_new] =
            open_.back()->get_ref<json_value::object_t&>().try_emplace(std::move(name), nullptr);
        if (!is_new)
            throw error(error_kind::input, "the key " + config::shown(at->first) + " is given twice",
                        {name_});
        member_ = &at->second;
        if (open_.size() == 1) {
            const auto reader =
                std::ranges::find(readers_, std::string_view(at->first), &element_reader::list);
            reader_ = reader == readers_.end() ? nullptr : &*reader;
        }
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const json_value::parse_error& problem) {
        std::string message = problem.what();
        message.erase(0, std::min(message.find("] ") + 2, message.size()));
        if (const auto at = message.find("syntax error"); at != std::string::npos) message.erase(0, at);
        // A text that is not JSON may be private, and long, so the message quotes none of it.
        if (const auto at = message.find("; last read: '"); at != std::string::npos) {
            const auto more = message.rfind("'; expected ");
            message.erase(at, more == std::string::npos || more < at ? std::string::npos : more + 1 - at);
        }
        throw error(error_kind::input, "this is not JSON as " + std::string(as_) + ": " + message,
                    place_of(text_, name_, problem.byte));
    }
    bool parse_error(std::size_t, const std::string&, const json_value::exception& problem) {
        throw error(error_kind::input,
                    "found a number too large for a double: " + config::shortened(problem.what()), {name_});
    }

  private:
    void check_depth() const {
        if (open_.size() > deepest)
            throw error(
                error_kind::input,
                "found more than " + std::to_string(deepest) + " levels of nesting, which is the limit",
                {name_});
    }
    json_value& put(json_value value) {
        check_depth();
        if (open_.empty()) return document = std::move(value);
        if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
        return *member_ = std::move(value);
    }
    bool scalar(json_value value) {
        put(std::move(value));
        hand_over();
        return true;
    }
    bool open(json_value value) {
        open_.push_back(&put(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        hand_over();
        return true;
    }
    void hand_over() {
        if (reader_ == nullptr || open_.size() != 2 || !open_.back()->is_array()) return;
        json_value::array_t& list = open_.back()->get_ref<json_value::array_t&>();
        if (reader_->take(document, list.back()))
            list.pop_back();
        else
            reader_ = nullptr;
    }

    const std::string& text_;
    const std::string& name_;
    std::string_view as_;
    std::span<const element_reader> readers_;
    std::vector<json_value*> open_;           // objects and lists not yet closed, innermost last
    json_value* member_ = nullptr;            // member of the innermost object whose value comes next
    const element_reader* reader_ = nullptr;  // set while its list is being read
};

}  // namespace

json_value parsed_json(const std::string& text, const std::string& name, std::string_view as,
                       std::span<const element_reader> readers) {
    document_builder builder(text, name, as, readers);
    json_value::sax_parse(text, &builder);
    return std::move(builder.document);
}

std::string text_of_file(const std::string& file, std::string_view contents) {
    const config::open_file opened(file);
    if (opened.stated_bytes() > bounds::results_bytes)
        throw error(error_kind::input, "found more than 1 GiB, expected a file of " + std::string(contents),
                    {file});
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    return std::move(text).str();
}

}  // namespace tilewalk::report
