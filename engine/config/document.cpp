// SPDX-License-Identifier: Apache-2.0
// YAML events from yaml-cpp, turned into nodes. Everything that yaml-cpp lets pass and a book must not
// contain is refused here, at the event, so that nothing dangerous is ever built.
#include "engine/config/document.h"

#include <unistd.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <istream>
#include <optional>
#include <streambuf>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/config/byte_check.h"
#include "engine/config/open_file.h"

namespace tilewalk::config {

struct node::source {
    std::string name;
    std::unordered_set<std::string> keys;  // each distinct key once; nodes point at them
};

struct node::scope {
    std::shared_ptr<const source> from;
    std::shared_ptr<const scope> outer;  // null at the top
    const std::string* key = nullptr;    // of this container in the outer one
    int index = -1;

    void write_path(std::string& path) const {
        if (outer) {
            outer->write_path(path);
            write_step(path, key, index);
        }
    }
    static void write_step(std::string& path, const std::string* key, int index) {
        if (key) {
            if (!path.empty()) path += '.';
            path += *key;
        } else if (index >= 0) {
            path += '[' + std::to_string(index) + ']';
        }
    }
};

namespace {

// A finite decimal number and nothing else, whatever the locale.
std::optional<double> plain_number(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return {};
    }
    // from_chars also reads "inf" and "nan".
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    if (first >= text.size() || !(text[first] == '.' || (text[first] >= '0' && text[first] <= '9')))
        return {};
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

// What a person who wrote `text` for a number most likely meant, or empty.
std::string number_suggestion(std::string_view text) {
    if (plain_number(text)) return std::string(text);
    if (text.ends_with('%')) {
        text.remove_suffix(1);
        while (text.ends_with(' ')) text.remove_suffix(1);
        // By the exponent, not by division: 5.35% is 0.0535 and nothing near it.
        const auto value = plain_number(std::string(text) + "e-2");
        return value ? shown(*value) : "";
    }
    std::string without_groups;
    for (const char c : text) {
        if (c != '_' && c != ',') without_groups += c;
    }
    if (!plain_number(without_groups)) return "";
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || comma != text.rfind(',') ||
        text.find('.') != std::string_view::npos) {
        return without_groups;
    }
    std::string with_point(text);
    with_point[comma] = '.';
    if (!plain_number(with_point)) return without_groups;
    const bool could_be_thousands = text.size() - comma == 4;
    return could_be_thousands ? with_point + " or " + without_groups : with_point;
}

// A stream over text that is not copied.
class text_buffer : public std::streambuf {
  public:
    explicit text_buffer(std::string_view text) {
        char* begin = const_cast<char*>(text.data());
        setg(begin, begin, begin + text.size());
    }
};

}  // namespace

location node::where() const {
    return scope_ ? location{scope_->from->name, line_, column_} : location{};
}

location node::content_start() const {
    location start = where();
    switch (style_) {
        case style::plain:
            break;
        case style::quoted:
            ++start.column;
            break;
        case style::literal:
        case style::folded:
            ++start.line;
            start.column = content_column_;
            break;
    }
    return start;
}

std::string node::key_path() const {
    std::string path;
    if (scope_) {
        scope_->write_path(path);
        scope::write_step(path, key_, index_);
    }
    return path;
}

void node::fail(const std::string& message) const {
    throw error(error_kind::input, message, where(), key_path());
}

location node::member::where() const {
    return {value.where().file, line, column};
}

void node::member::fail(const std::string& message) const {
    throw error(error_kind::input, message, where(), value.key_path());
}

std::string node::found() const {
    switch (kind_) {
        case shape::null:
            return "nothing";
        case shape::sequence:
            return "a list";
        case shape::mapping:
            return "a mapping";
        case shape::scalar:
            break;
    }
    const auto& text = std::get<std::string>(content_);
    return style_ == style::plain ? shown(text) : "the quoted text " + shown(text);
}

const std::string& node::text() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected a text");
    return std::get<std::string>(content_);
}

double node::number() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected a number");
    const auto& text = std::get<std::string>(content_);
    if (style_ == style::plain) {
        if (const auto value = plain_number(text)) return *value;
    }
    const std::string suggestion = number_suggestion(text);
    fail("found " + found() + ", expected a number" + (suggestion.empty() ? "" : "; write " + suggestion));
}

std::int64_t node::integer() const {
    if (kind_ == shape::scalar && style_ == style::plain) {
        std::string_view text = std::get<std::string>(content_);
        std::int64_t value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (status == std::errc{} && end == text.data() + text.size()) return value;
        // 1e6 is a whole number too, as long as a double holds it exactly.
        const auto as_number = plain_number(text);
        if (as_number && std::floor(*as_number) == *as_number && std::abs(*as_number) <= 0x1p53) {
            return static_cast<std::int64_t>(*as_number);
        }
    }
    fail("found " + found() + ", expected a whole number");
}

bool node::boolean() const {
    if (kind_ == shape::scalar && style_ == style::plain) {
        const auto& text = std::get<std::string>(content_);
        if (text == "true") return true;
        if (text == "false") return false;
    }
    fail("found " + found() + ", expected true or false");
}

const std::vector<node>& node::items() const {
    if (kind_ != shape::sequence) fail("found " + found() + ", expected a list");
    return std::get<std::vector<node>>(content_);
}

const std::vector<node::member>& node::members() const {
    if (kind_ != shape::mapping) fail("found " + found() + ", expected a mapping of keys to values");
    return std::get<std::vector<member>>(content_);
}

const node* node::find(std::string_view key) const {
    for (const auto& m : members()) {
        if (m.key == key) return &m.value;
    }
    return nullptr;
}

const node& node::at(std::string_view key) const {
    const node* value = find(key);
    if (!value) fail("missing key '" + std::string(key) + "'");
    return *value;
}

void node::only(const std::vector<std::string>& known) const {
    for (const auto& m : members()) {
        if (std::find(known.begin(), known.end(), m.key) != known.end()) continue;
        m.fail("unknown key " + shown(m.key) + "; known keys: " + joined(known) + suggestion(m.key, known));
    }
}

// Builds the tree from events. Containers that are still open are kept on a stack.
class builder : public YAML::EventHandler {
  public:
    builder(std::string_view text, const std::string& name, const limits& within)
        : text_(text), source_(std::make_shared<node::source>()), within_(within) {
        source_->name = name;
        auto top = std::make_shared<node::scope>();
        top->from = source_;
        top_ = std::move(top);
        root_.scope_ = top_;
        root_.line_ = root_.column_ = 1;
    }

    node take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) {
            refuse(mark,
                   from(mark).starts_with("---") || follows_end_marker(mark)
                       ? "found a second document, expected one document in a file"
                       : "found text after the end of the document; check the indentation of this line");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        check_plain(mark, "?");
        node value = started(mark, node::shape::null);
        // The place of a value that is left out is the next thing in the file; its key is a better one.
        if (!open_.empty() && open_.back().has_key && value.line_ != open_.back().key_line) {
            value.line_ = open_.back().key_line;
            value.column_ = open_.back().key_column;
        }
        add(mark, std::move(value));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }

    void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_anchor(mark); }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& value) override {
        check_plain(mark, tag);
        const char first = tag == "!" ? first_of(mark) : '\0';
        const bool is_block = first == '|' || first == '>';
        if (first == '"' || first == '\'') check_closed(mark);
        check_visible(mark, value);
        if (takes_key()) {
            begin_key(mark, value);
            return;
        }
        node scalar = started(mark, node::shape::scalar);
        if (is_block) {
            scalar.style_ = first == '|' ? node::style::literal : node::style::folded;
            scalar.content_column_ = block_indentation(mark, value) + 1;
        } else if (tag == "!") {
            scalar.style_ = node::style::quoted;
        }
        scalar.content_ = value;
        add(mark, std::move(scalar));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        check_plain(mark, tag);
        if (takes_key()) refuse(mark, "found a list, expected a key");
        open(mark, started(mark, node::shape::sequence));
        open_.back().container.content_ = std::vector<node>{};
    }
    void OnSequenceEnd() override {
        std::get<std::vector<node>>(open_.back().container.content_).shrink_to_fit();
        close();
    }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        check_plain(mark, tag);
        if (takes_key()) refuse(mark, "found a mapping, expected a key");
        open(mark, started(mark, node::shape::mapping));
        open_.back().container.content_ = std::vector<node::member>{};
    }
    void OnMapEnd() override {
        std::get<std::vector<node::member>>(open_.back().container.content_).shrink_to_fit();
        close();
    }

    // yaml-cpp's own complaints, in our words where its own don't tell what to do.
    [[noreturn]] void refuse_syntax(const YAML::Exception& e) const {
        if (first_of(e.mark) == '*') refuse_alias(e.mark);
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> hints{{
            {"illegal EOF in scalar", "a quoted text does not end"},
            {"end of map not found", "check the indentation of this line"},
            {"end of sequence not found", "check the indentation of this line"},
            {"end of map flow not found", "a '{' has no '}'"},
            {"end of sequence flow not found", "a '[' has no ']'"},
            {"illegal map value", "a text with ': ' in it needs quotes; also check the indentation"},
            {"illegal block entry", "check the indentation of this line"},
        }};
        std::string message = "this is not valid YAML: " + e.msg;
        for (const auto& [what, hint] : hints) {
            if (e.msg == what) message += "; " + std::string(hint);
        }
        location where{source_->name};
        if (!e.mark.is_null()) where = place(e.mark);
        throw error(error_kind::input, message, where, here());
    }

  private:
    struct frame {
        node container;
        std::shared_ptr<const node::scope> scope;
        bool has_key = false;
        int key_line = 0, key_column = 0;
        const std::string* key = nullptr;
        std::unordered_map<const std::string*, int> lines;  // of the keys, once there are many
    };

    location place(const YAML::Mark& mark) const { return {source_->name, mark.line + 1, mark.column + 1}; }

    // The text from a place on; empty for a place that is none.
    std::string_view from(const YAML::Mark& mark) const {
        const auto at = static_cast<std::size_t>(mark.pos);
        return mark.pos < 0 || at > text_.size() ? std::string_view() : text_.substr(at);
    }
    char first_of(const YAML::Mark& mark) const {
        const std::string_view rest = from(mark);
        return rest.empty() ? '\0' : rest.front();
    }

    std::string here() const {
        std::string path;
        if (!open_.empty()) {
            open_.back().scope->write_path(path);
            if (open_.back().has_key) node::scope::write_step(path, open_.back().key, -1);
        }
        return path;
    }

    [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
        throw error(error_kind::input, message, place(mark), here());
    }
    [[noreturn]] void refuse_alias(const YAML::Mark& mark) const {
        refuse(mark, "found an alias (*), expected the value itself; a text that begins with * needs quotes");
    }
    [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
        refuse(mark,
               "found an anchor (&), expected the value itself; a text that begins with & needs quotes");
    }

    // No tag, no anchor. yaml-cpp says "?" for untagged and "!" for quoted scalars, but also "!" for a tag
    // that is a lone "!", and drops the tag of a null: so the text is looked at as well.
    void check_plain(const YAML::Mark& mark, const std::string& tag) const {
        const char first = first_of(mark);
        if (first == '&') refuse_anchor(mark);
        if (first == '!' || !(tag.empty() || tag == "?" || tag == "!")) {
            refuse(mark, "found a tag (!), expected a plain value; a text that begins with ! needs quotes");
        }
    }

    // yaml-cpp takes the end of the file for the end of a quoted text: a file cut short would pass.
    void check_closed(const YAML::Mark& mark) const {
        const std::string_view text = from(mark);
        const char quote = text.front();
        for (std::size_t i = 1; i < text.size(); ++i) {
            if (quote == '"' && text[i] == '\\') {
                ++i;
            } else if (text[i] == quote) {
                if (quote == '"' || text.substr(i + 1, 1) != "'") return;
                ++i;
            }
        }
        refuse(mark, "found a quoted text that does not end, expected a closing quote");
    }

    // The bytes of the file are known to be good, but "\x00" in quotes makes bad ones anew.
    void check_visible(const YAML::Mark& mark, std::string_view value) const {
        const auto is_control = [](char c) {
            return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        };
        if (std::any_of(value.begin(), value.end(), is_control)) {
            refuse(mark, "found a text with an escaped control character, expected plain text");
        }
    }

    // The first line that is not blank has as many spaces in the file as the indentation and the value
    // together.
    int block_indentation(const YAML::Mark& indicator, std::string_view value) const {
        const std::string_view text = from(indicator);
        const std::size_t line_end = text.find('\n');
        if (line_end == std::string_view::npos) return 0;
        const auto spaces = [](std::string_view lines) {
            const std::size_t first = lines.find_first_not_of(" \r\n");
            if (first == std::string_view::npos) return std::size_t{0};
            const std::size_t line_start = lines.substr(0, first).rfind('\n') + 1;  // npos + 1 is 0
            return first - line_start;
        };
        const std::size_t in_file = spaces(text.substr(line_end + 1)), in_value = spaces(value);
        return in_file >= in_value ? static_cast<int>(in_file - in_value) : 0;
    }

    bool follows_end_marker(const YAML::Mark& mark) const {
        return text_.substr(0, text_.size() - from(mark).size()).find("\n...", last_value_) !=
               std::string_view::npos;
    }

    node started(const YAML::Mark& mark, node::shape kind) {
        if (++nodes_ > within_.nodes) {
            refuse(mark, "found more than " + std::to_string(within_.nodes) + " values, which is the limit");
        }
        last_value_ = text_.size() - from(mark).size();
        node made;
        made.kind_ = kind;
        made.line_ = mark.line + 1;
        made.column_ = mark.column + 1;
        if (open_.empty()) {
            made.scope_ = top_;
        } else {
            const frame& in = open_.back();
            made.scope_ = in.scope;
            made.key_ = in.key;
            if (const auto* items = std::get_if<std::vector<node>>(&in.container.content_)) {
                made.index_ = static_cast<int>(items->size());
            }
        }
        return made;
    }

    bool takes_key() const {
        return !open_.empty() && open_.back().container.kind_ == node::shape::mapping &&
               !open_.back().has_key;
    }

    void begin_key(const YAML::Mark& mark, const std::string& key) {
        frame& in = open_.back();
        const auto& members = std::get<std::vector<node::member>>(in.container.content_);
        const std::string* known = &*source_->keys.insert(key).first;
        const int line = mark.line + 1;
        // Few keys are compared one by one; a mapping with many gets an index.
        constexpr std::size_t many = 24;
        int first_line = 0;
        if (members.size() < many) {
            for (const auto& m : members) {
                if (m.value.key_ == known) first_line = m.line;
            }
        } else {
            if (in.lines.empty()) {
                for (const auto& m : members) in.lines.emplace(m.value.key_, m.line);
            }
            const auto [entry, is_new] = in.lines.emplace(known, line);
            if (!is_new) first_line = entry->second;
        }
        if (first_line > 0) {
            refuse(mark, "duplicate key " + shown(key) + "; it was first given on line " +
                             std::to_string(first_line));
        }
        in.has_key = true;
        in.key = known;
        in.key_line = line;
        in.key_column = mark.column + 1;
    }

    void add(const YAML::Mark& mark, node&& value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return;
        }
        frame& in = open_.back();
        if (in.container.kind_ == node::shape::sequence) {
            std::get<std::vector<node>>(in.container.content_).push_back(std::move(value));
            return;
        }
        if (!in.has_key) refuse(mark, "found nothing, expected a key");
        std::get<std::vector<node::member>>(in.container.content_)
            .push_back({*in.key, std::move(value), in.key_line, in.key_column});
        in.has_key = false;
        in.key = nullptr;
    }

    void open(const YAML::Mark& mark, node&& container) {
        // Called before yaml-cpp goes down a level, so its own recursion is bounded by this check.
        if (open_.size() >= static_cast<std::size_t>(within_.depth)) {
            refuse(mark, "found more than " + std::to_string(within_.depth) +
                             " levels of nesting, which is the limit");
        }
        auto inside = std::make_shared<node::scope>();
        inside->from = source_;
        inside->outer = container.scope_;
        inside->key = container.key_;
        inside->index = container.index_;
        open_.push_back({});
        open_.back().container = std::move(container);
        open_.back().scope = std::move(inside);
    }

    void close() {
        node done = std::move(open_.back().container);
        open_.pop_back();
        add({}, std::move(done));
    }

    std::string_view text_;
    std::shared_ptr<node::source> source_;
    std::shared_ptr<const node::scope> top_;
    limits within_;
    std::vector<frame> open_;
    node root_;
    std::size_t nodes_ = 0;
    std::size_t last_value_ = 0;  // where it begins
    int documents_ = 0;
};

node parse(std::string_view text, const std::string& name, const limits& within) {
    if (text.size() > within.bytes) {
        throw error(error_kind::input,
                    "found " + std::to_string(text.size()) + " bytes, expected at most " +
                        std::to_string(within.bytes),
                    {name});
    }
    text = checked_text(text, name);
    builder events(text, name, within);
    text_buffer buffer(text);
    std::istream stream(&buffer);
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(events)) {
        }
    } catch (const YAML::Exception& e) {
        events.refuse_syntax(e);
    }
    return events.take_root();
}

std::string read_file(const std::filesystem::path& file, std::size_t most_bytes) {
    const std::string name = file.string();
    const auto refuse = [&](const std::string& message) -> void {
        throw error(error_kind::io, message, {name});
    };
    const open_file opened(file);
    const auto too_large = [&] { refuse("the file has more than " + std::to_string(most_bytes) + " bytes"); };
    if (opened.stated_bytes() > most_bytes) too_large();
    // A file may grow while it is read, and some state no size at all: what arrives is what counts.
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(opened.stated_bytes()));
    std::vector<char> block(std::size_t{1} << 16);
    for (;;) {
        const ssize_t got = ::read(opened.descriptor(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse("the file can't be read: " + std::generic_category().message(errno));
        if (got == 0) return bytes;
        if (bytes.size() + static_cast<std::size_t>(got) > most_bytes) too_large();
        bytes.append(block.data(), static_cast<std::size_t>(got));
    }
}

node load(const std::filesystem::path& file, const limits& within) {
    return parse(read_file(file, within.bytes), file.string(), within);
}

}  // namespace tilewalk::config
