// SPDX-License-Identifier: Apache-2.0
// Turns events of yaml-cpp into nodes. Refuses at its event whatever yaml-cpp accepts but a book must not
// contain, before anything dangerous is built.
#include "engine/base/text/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <exception>
#include <functional>
#include <istream>
#include <limits>
#include <optional>
#include <span>
#include <streambuf>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "engine/base/crew.h"
#include "engine/base/numbers.h"
#include "engine/base/text/checked_source.h"
#include "engine/base/text/entry_tree.h"
#include "engine/base/text/json_text.h"
#include "engine/base/text/plain_entry.h"
#include "engine/base/text/tree_parts.h"
#include "engine/base/text/unicode.h"
#include "products/language/nearest.h"

namespace tilewalk::config {

namespace {

// Text that yaml-cpp sees in place of a run of plain entries, which are read without it: "." for the first,
// and an empty line for each follower. A run has one column, so if the first is an entry of a list, all are.
constexpr std::string_view stand_in = ".";
struct replaced_entry {
    int line = 0, column = 0;  // counted from 0
    std::size_t at = 0, bytes = 0;
    entry_counts counts;
    std::uint32_t followers = 0;  // entries after it, which yaml-cpp sees as empty lines
};

// JSON writes a character beyond U+FFFF as two escaped surrogates, "\ud83d\ude00", which yaml-cpp refuses. It
// is shown this pair instead, equally long and in no checked text; the source has the character.
constexpr std::string_view escaped_pair = "\\ufffe\\uffff", pair_in_utf8 = "\xef\xbf\xbe\xef\xbf\xbf";

// Returns the value of the escaped surrogate at `at`, or not_a_code_point.
std::uint32_t escaped_half(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) != "\\u") return not_a_code_point;
    const std::string_view digits = text.substr(std::min(at + 2, text.size()), 4);
    std::uint32_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool is_half = digits.size() == 4 && status == std::errc() && end == digits.data() + 4 &&
                         value >= 0xd800 && value <= 0xdfff;
    return is_half ? value : not_a_code_point;
}

std::uint32_t pair_at(std::string_view text, std::size_t at) {
    const std::uint32_t high = escaped_half(text, at);
    const std::uint32_t low = high < 0xdc00 ? escaped_half(text, at + 6) : not_a_code_point;
    return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                                          : not_a_code_point;
}

// Returns the place of the next escaped pair of surrogates whose backslash is not escaped itself.
std::size_t next_pair(std::string_view text, std::size_t from) {
    for (std::size_t at = from; (at = text.find("\\u", at)) != std::string_view::npos; at += 2) {
        std::size_t before = at;
        while (before > 0 && text[before - 1] == '\\') --before;
        if ((at - before) % 2 == 0 && pair_at(text, at) != not_a_code_point) return at;
    }
    return std::string_view::npos;
}

// A checked source as yaml-cpp sees it, piece by piece. Parts that it reads slowly or refuses are replaced.
class shown_text {
  public:
    // `replaces`: plain entries are replaced. `pairs`: pairs of surrogates are replaced.
    shown_text(checked_source& from, bool replaces, bool pairs)
        : from_(from), replaces_(replaces), pairs_(pairs) {
        if (from_.text().empty()) from_.grow();
        // After an initial "{" yaml-cpp keeps all text to the end, because all of it might be a key. "---"
        // on the same line rules keys out.
        if (from_.text().starts_with('{')) piece_ = "--- ";
        shift_ = static_cast<int>(piece_.size());
    }

    const std::string& file() const { return from_.name(); }
    std::string_view text() const { return from_.text(); }
    const std::string& piece() const { return piece_; }
    bool advance() {
        constexpr std::size_t most = 4096, most_of_text = std::size_t{32} << 10;
        const std::size_t begin = handed_;
        std::string last = std::move(piece_);
        piece_.clear();
        while (piece_.size() < most && handed_ - begin < most_of_text) {
            if (in_line_ ? !hand_on(pairs_ ? std::string::npos : most) : !begin_line(most)) break;
        }
        if (!piece_.empty()) return true;
        piece_ = std::move(last);  // yaml-cpp puts back the character it peeked at, so the piece must live on
        return false;
    }

    // For JSON, parsed without yaml-cpp: record where a line starts, and make yaml-cpp's mark of a place.
    void begins_line(std::size_t at) { line_starts_.push_back(at); }
    YAML::Mark mark_of(int line, int column) const {
        YAML::Mark made;
        made.line = line;
        made.column = column + (line == 0 ? shift_ : 0);
        return made;
    }

    bool stands_in_for_pairs() const { return pairs_; }
    int column(const YAML::Mark& mark) const { return mark.column - (mark.line == 0 ? shift_ : 0); }
    std::string_view from(const YAML::Mark& mark) const {
        const auto line = static_cast<std::size_t>(mark.line);
        if (mark.line < 0 || line >= line_starts_.size() || column(mark) < 0) return {};
        const std::size_t at = line_starts_[line] + static_cast<std::size_t>(column(mark));
        return at > text().size() ? std::string_view() : text().substr(at);
    }

    std::span<const replaced_entry> take_entries(const YAML::Mark& mark) {
        if (taken_ == replaced_.size()) return {};
        const replaced_entry& next = replaced_[taken_];
        if (next.line != mark.line || next.column != mark.column) return {};
        const std::size_t count = 1 + next.followers;
        taken_ += count;
        return {&next, count};
    }
    // True if yaml-cpp took an entry up to `line` (from 0) for another thing, such as part of a text.
    bool has_lost_one(int line) const { return taken_ < replaced_.size() && replaced_[taken_].line <= line; }

  private:
    bool begin_line(std::size_t most) {
        std::size_t end = text().find('\n', handed_);
        // Fetch a whole line if pairs are replaced, because they are looked for in whole lines.
        while (end == std::string_view::npos && (pairs_ || text().size() - handed_ < most) && from_.grow())
            end = text().find('\n', handed_);
        if (handed_ == text().size()) return false;
        line_starts_.push_back(handed_);
        in_line_ = true;
        if (!replaces_ || end == std::string_view::npos) return true;
        const std::string_view line = text().substr(handed_, end - handed_);
        const auto [start, counts] = line.size() <= most ? plain_entry_in(line) : entry_in_line{};
        if (start == std::string_view::npos) return true;
        const replaced_entry found{static_cast<int>(line_starts_.size()) - 1, static_cast<int>(start),
                                   handed_ + start, line.size() - start, counts};
        if (!follows(line, found)) {
            head_ = replaced_.size();
            piece_ += line.substr(0, start);
            piece_ += stand_in;
        } else {
            ++replaced_[head_].followers;
        }
        replaced_.push_back(found);
        handed_ = end;
        return true;
    }
    // True if an entry continues the run of entries at hand. A run must stay short, since a long one would
    // have its last entries read before the text in front of them.
    bool follows(std::string_view line, const replaced_entry& entry) {
        constexpr std::size_t most_followers = 63, most_bytes = std::size_t{16} << 10;
        if (replaced_.empty() || replaced_.back().line + 1 != entry.line) return false;
        const replaced_entry& head = replaced_[head_];
        const std::string_view seen = text().substr(line_starts_[static_cast<std::size_t>(head.line)]);
        return seen.find('-') == line.find('-') && head.followers < most_followers &&
               entry.at - head.at < most_bytes;
    }
    bool hand_on(std::size_t most) {
        if (handed_ == text().size() && !from_.grow()) return false;
        const std::string_view rest = text().substr(handed_, most);
        const std::size_t end = rest.find('\n');
        const std::string_view part = rest.substr(0, end == std::string_view::npos ? rest.size() : end + 1);
        const std::size_t start = piece_.size();
        piece_ += part;
        for (std::size_t at = 0; pairs_ && (at = next_pair(part, at)) != std::string_view::npos;
             at += escaped_pair.size())
            piece_.replace(start + at, escaped_pair.size(), escaped_pair);
        handed_ += part.size();
        in_line_ = end == std::string_view::npos;
        return true;
    }

    checked_source& from_;
    bool replaces_, pairs_;
    std::string piece_;
    int shift_ = 0;
    std::size_t handed_ = 0;
    bool in_line_ = false;
    std::vector<std::size_t> line_starts_;
    std::vector<replaced_entry> replaced_;
    std::size_t head_ = 0, taken_ = 0;
};

class shown_buffer : public std::streambuf {
  public:
    using listener = std::function<void(std::string_view)>;
    // `fails` is called before a failure is stored. If it throws an error, that is stored instead.
    shown_buffer(shown_text& text, listener hears, std::function<void()> fails)
        : text_(text), hears_(std::move(hears)), fails_(std::move(fails)) {
        show();
    }
    // The error that ended the text early, or null. Thrown through yaml-cpp's stream, it would leak memory.
    const std::exception_ptr& failure() const { return failure_; }

  private:
    int_type underflow() override {
        if (failure_) return traits_type::eof();
        try {
            if (!text_.advance()) return traits_type::eof();
            hears_(text_.piece());
        } catch (const error&) {
            failure_ = std::current_exception();
            try {
                fails_();
            } catch (const error&) {
                failure_ = std::current_exception();
            }
            setg(nullptr, nullptr, nullptr);  // the piece's memory is gone
            return traits_type::eof();
        }
        show();
        return traits_type::to_int_type(text_.piece().front());
    }
    void show() {
        char* begin = const_cast<char*>(text_.piece().data());
        setg(begin, begin, begin + text_.piece().size());
    }

    shown_text& text_;
    listener hears_;
    std::function<void()> fails_;
    std::exception_ptr failure_;
};

bool is_sign(char c) {
    switch (c) {
        case '[':
        case ']':
        case '{':
        case '}':
        case ',':
        case ':':
        case '?':
        case '&':
        case '*':
        case '!':
        case '"':
        case '\'':
            return true;
        default:
            return false;
    }
}

}  // namespace

namespace {

// Shortens a message in which a quote was not shortened, such as a number of a thousand digits.
std::string bounded(const std::string& message) {
    constexpr std::size_t most = 1000, kept_at_end = 300;
    if (message.size() <= most) return message;
    const auto starts_character = [&](std::size_t at) {
        return (static_cast<unsigned char>(message[at]) & 0xc0) != 0x80;
    };
    std::size_t head = most - kept_at_end, tail = message.size() - kept_at_end;
    while (!starts_character(head)) --head;
    while (!starts_character(tail)) ++tail;
    return message.substr(0, head) + " ... " + message.substr(tail);
}

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
    return bounded(path);
}

void node::fail(const std::string& message) const {
    // Hint at a cut file only for parts of a file of several lines, not for a whole value or a single line.
    const bool is_part = (key_ != nullptr || index_ >= 0) && line_ > 1;
    const bool hints =
        is_part && (kind_ == shape::null || (kind_ == shape::scalar && scope_->from->ends_in_line));
    throw error(error_kind::input,
                bounded(message) + (hints && may_be_cut() ? std::string(may_be_cut_short) : ""), where(),
                key_path());
}

void node::fail_word(const std::vector<std::string>& known) const {
    const std::string_view wrong = kind_ == shape::scalar ? std::string_view(said()) : "";
    const bool is_near = !suggestion(wrong, known).empty();
    fail("found " + found() +
         (is_near ? alternatives(wrong, "expected one of", known)
                  : ", expected one of " + language::listed(wrong, known)));
}

void node::fail_missing(const std::string& what) const {
    fail_incomplete("missing key " + what);
}

void node::fail_incomplete(const std::string& message) const {
    fail(message + (may_be_cut() ? std::string(may_be_cut_short) : ""));
}

bool node::may_be_cut() const {
    if (!scope_ || scope_->from->has_end_marker) return false;
    if (is_closed_) return false;
    const node* last = this;
    while (true) {
        const auto* const items = std::get_if<std::vector<node>>(&last->content_);
        const auto* const members = std::get_if<std::vector<member>>(&last->content_);
        if (items != nullptr && !items->empty()) {
            last = &items->back();
        } else if (members != nullptr && !members->empty()) {
            last = &members->back().value;
        } else {
            break;
        }
    }
    return last->line_ == scope_->from->last_line && last->column_ == scope_->from->last_column;
}

location node::member::where() const {
    return {value.where().file, line, column};
}

void node::member::fail(const std::string& message) const {
    throw error(error_kind::input, bounded(message), where(), value.key_path());
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
    const std::string& text = said();
    return style_ == style::plain ? shown(text) : "the quoted text " + shown(text);
}

std::string node::found_kind() const {
    return kind_ == shape::scalar ? "a text" : found();
}

const std::string& node::text() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected a text");
    return said();
}

const std::string& node::said() const {
    const auto* const number = std::get_if<kept_number>(&content_);
    if (number == nullptr) return std::get<std::string>(content_);
    if (!number->text) number->text = std::make_shared<const std::string>(shown(number->value));
    return *number->text;
}

double node::number() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected a number");
    if (const auto* const kept = std::get_if<kept_number>(&content_); kept && std::isfinite(kept->value))
        return kept->value;
    const std::string& text = said();
    if (style_ == style::plain) {
        if (const auto value = plain_number(text)) return *value;
    }
    fail("found " + found() + ", expected a number" + number_hint(text));
}

std::int64_t node::integer() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected a whole number");
    const std::string& text = said();
    const auto as_number = plain_number(text);
    if (style_ == style::plain && as_number) {
        std::int64_t value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (status == std::errc{} && end == text.data() + text.size()) return value;
        // 1e6 is a whole number, too, up to where a double holds all whole numbers.
        if (std::floor(*as_number) == *as_number && std::abs(*as_number) <= 0x1p53) {
            return static_cast<std::int64_t>(*as_number);
        }
    }
    const bool says_it = as_number && style_ == style::plain;  // number_hint has nothing to add
    fail("found " + found() + ", expected a whole number" + (says_it ? "" : number_hint(text)));
}

bool node::boolean() const {
    if (kind_ != shape::scalar) fail("found " + found() + ", expected true or false");
    const std::string& text = said();
    if (style_ == style::plain) {
        if (text == "true") return true;
        if (text == "false") return false;
    }
    fail("found " + found() + ", expected true or false" + boolean_hint(text));
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
    if (value) return *value;
    const std::vector<std::string> wanted{std::string(key)};
    for (const auto& m : members()) {
        if (!suggestion(m.key, wanted).empty())
            fail("missing key '" + wanted.front() + "'; did you mean it by " + shown(m.key) + "?");
    }
    fail_missing("'" + wanted.front() + "'");
}

void node::only(const std::vector<std::string>& known) const {
    const auto is_known = [&](const member& m) {
        return std::find(known.begin(), known.end(), m.key) != known.end();
    };
    for (const auto& m : members()) {
        if (is_known(m)) continue;
        // A file with none of the known keys may be private, so the message quotes none of it.
        const bool is_file = key_ == nullptr && index_ < 0;
        if (is_file && suggestion(m.key, known).empty() && std::ranges::none_of(members(), is_known))
            fail("found a mapping with none of the known keys: " + joined(known));
        m.fail("unknown key " + shown(m.key) + alternatives(m.key, "known keys:", known));
    }
}

node node::without(std::string_view key) const {
    node made = *this;
    if (find(key) != nullptr) {
        std::erase_if(std::get<std::vector<member>>(made.content_),
                      [&](const member& m) { return m.key == key; });
    }
    return made;
}

node node::with(std::string_view key, node value) const {
    node made = *this;
    for (member& m : std::get<std::vector<member>>(made.content_)) {
        if (m.key != key) continue;
        m.value = std::move(value);
        return made;
    }
    const location at = value.where();
    std::get<std::vector<member>>(made.content_)
        .push_back({std::string(key), std::move(value), at.line, at.column});
    return made;
}

const node& node::descendant(std::span<const std::size_t> place) const {
    const node* at = this;
    for (const std::size_t child : place)
        at = at->kind_ == shape::mapping ? &at->members().at(child).value : &at->items().at(child);
    return *at;
}

node& node::descendant(std::span<const std::size_t> place) {
    return const_cast<node&>(std::as_const(*this).descendant(place));
}

void node::write(double number) {
    text();  // throws unless the node is a scalar
    style_ = style::plain;
    content_ = kept_number{number};
}

void node::write(std::string text) {
    this->text();
    style_ = style::plain;
    content_ = std::move(text);
}

void node::keep_number() {
    if (std::holds_alternative<kept_number>(content_)) return;
    const double value = number();
    content_ =
        kept_number{value, std::make_shared<const std::string>(std::move(std::get<std::string>(content_)))};
}

class builder : public YAML::EventHandler {
  public:
    builder(shown_text& text, const limits& within)
        : text_(text), source_(std::make_shared<node::source>()), within_(within) {
        source_->name = text.file();
        last_place_ = {source_->name, 1, 1};
        auto top = std::make_shared<node::scope>();
        top->from = source_.get();
        top->held = source_;
        top_ = std::move(top);
        root_.scope_ = top_;
        root_.line_ = root_.column_ = 1;
    }

    node take_root() {
        source_->has_end_marker = has_end_marker();
        source_->ends_in_line = !text_.text().empty() && text_.text().back() != '\n';
        return std::move(root_);
    }

    // Limits the text that yaml-cpp reads without completing a value: it keeps all of it until then.
    void hear(std::string_view piece) {
        gap_bytes_ += piece.size();
        gap_signs_ += static_cast<std::size_t>(std::count_if(piece.begin(), piece.end(), is_sign));
        const bool is_long = gap_bytes_ > within_.gap_bytes + piece.size();
        if (!is_long && gap_signs_ <= within_.gap_signs) return;
        throw error(error_kind::input,
                    is_long
                        ? "no value ends within " + std::to_string(within_.gap_bytes) +
                              " bytes from here, which is the limit; is a quote or a bracket left open?"
                        : "no value ends within " + std::to_string(within_.gap_signs) +
                              " signs such as [ or , from here, which is the limit; is a bracket left open? "
                              "If not, begin a long list on the line of its key",
                    last_place_, here());
    }

    bool has_end_marker() const {
        const std::string_view text = text_.text();
        for (std::size_t at = last_value_; (at = text.find("\n...", at)) != std::string_view::npos; ++at) {
            const std::string_view after = text.substr(at + 4);
            if (after.empty() || after.front() == '\n' || after.front() == '\r' || after.front() == ' ')
                return true;
        }
        return false;
    }
    location end() const {
        const std::string_view text = text_.text();
        const std::size_t line_start = text.rfind('\n') + 1;  // npos + 1 is 0
        return {source_->name, static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1,
                static_cast<int>(text.size() - line_start) + 1};
    }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) {
            refuse(mark,
                   from(mark).starts_with("---") || has_end_marker()
                       ? "found a second document, expected one document in a file"
                       : "found text after the end of the document; check the indentation of this line");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        check_plain(mark, "?");
        // An omitted value does not count as the last value: yaml-cpp may place it at the "..." after it.
        const std::size_t last_value = last_value_;
        node value = started(mark, node::shape::null);
        value.is_closed_ = first_of(mark) == '~';
        last_value_ = last_value;
        // yaml-cpp places an omitted value at whatever follows it. Place it at its key instead.
        if (!open_.empty() && open_.back().has_key && value.line_ != open_.back().key_line) {
            value.line_ = source_->last_line = open_.back().key_line;
            value.column_ = source_->last_column = open_.back().key_column;
        }
        add(mark, std::move(value));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }

    void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_anchor(mark); }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  const std::string& shown) override {
        std::string restored;
        if (text_.stands_in_for_pairs()) restored = with_pairs(mark, shown);
        const std::string& value = restored.empty() ? shown : restored;
        if (value == stand_in && !open_.empty() && open_.back().container.is_sequence()) {
            const auto entries = text_.take_entries(mark);
            for (const replaced_entry& entry : entries) may_wait(entry) ? wait(entry) : read_entry(entry);
            if (!entries.empty()) return;
        }
        check_plain(mark, tag);
        const char first = tag == "!" ? first_of(mark) : '\0';
        const bool is_block = first == '|' || first == '>';
        if (first == '"' || first == '\'') check_closed(mark);
        if (first == '"') check_visible(mark, value);
        const bool is_key = takes_key();
        const std::size_t most = is_key ? within_.key_bytes : within_.scalar_bytes;
        if (value.size() > most) {
            refuse(mark, (is_key ? "found a key of " : "found a text of ") + std::to_string(value.size()) +
                             " bytes, expected at most " + std::to_string(most));
        }
        if (is_key) {
            check_colon(mark, value);
            begin_key(mark, value);
            return;
        }
        node scalar = started(mark, node::shape::scalar);
        if (is_block) {
            scalar.style_ = first == '|' ? node::style::literal : node::style::folded;
            scalar.content_column_ = block_indentation(mark, value) + 1;
        } else if (tag == "!") {
            scalar.style_ = node::style::quoted;
            scalar.is_closed_ = true;
        }
        scalar.content_ = value;
        add(mark, std::move(scalar));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value style) override {
        check_plain(mark, tag);
        if (takes_key()) refuse_as_key(mark, "a list");
        open(mark, started(mark, node::shape::sequence));
        open_.back().container.is_closed_ = style == YAML::EmitterStyle::Flow;
        open_.back().container.content_ = std::vector<node>{};
    }
    void OnSequenceEnd() override {
        if (open_.size() == levels_of_entries) read_waiting();
        std::get<std::vector<node>>(open_.back().container.content_).shrink_to_fit();
        close();
    }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value style) override {
        check_plain(mark, tag);
        if (takes_key()) refuse_as_key(mark, "a mapping");
        open(mark, started(mark, node::shape::mapping));
        open_.back().container.is_closed_ = style == YAML::EmitterStyle::Flow;
        open_.back().container.content_ = std::vector<node::member>{};
    }
    void OnMapEnd() override {
        std::get<std::vector<node::member>>(open_.back().container.content_).shrink_to_fit();
        close();
    }

    // Reads the entries that wait, before any later event is handled. Refuses the first bad one.
    void read_waiting() {
        const std::vector<waiting_entry> all = std::exchange(waiting_, {});
        if (all.empty()) return;
        frame& in = open_[levels_of_entries - 1];
        auto& items = std::get<std::vector<node>>(in.container.content_);
        source_->keys_of_entries.resize(static_cast<std::size_t>(std::max(within_.threads, 1)));
        std::vector<entry_tree> by;
        for (auto& keys : source_->keys_of_entries) by.emplace_back(*in.scope, keys);
        std::atomic<std::size_t> first_refused = all.size();
        threads::for_each_short(all.size(), within_.threads, [&](int thread, std::uint64_t i) {
            const auto& [index, e] = all[i];
            const bool is_good = by[static_cast<std::size_t>(thread)].read(
                text_.text().substr(e.at, e.bytes), e.line + 1, e.column + 1, static_cast<int>(index),
                items[index]);
            std::size_t before = first_refused;
            while (!is_good && i < before && !first_refused.compare_exchange_weak(before, i)) {
            }
        });
        if (first_refused == all.size()) return;
        const auto& [index, refused] = all[first_refused];
        open_.resize(levels_of_entries);
        items.resize(index);
        nodes_ = entries_ = 0;  // counts, which fitted when the entries were set to wait
        read_entry(refused);
        throw error(error_kind::internal, "an entry was refused, and is good");
    }

    // Throws yaml-cpp's complaint with a hint at what to do, if there is one.
    [[noreturn]] void refuse_syntax(const YAML::Exception& e) const {
        if (first_of(e.mark) == '*') refuse_alias(e.mark);
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> hints{{
            {"illegal EOF in scalar", "a quoted text does not end; the file may be cut short"},
            {"end of map not found", "check the indentation of this line"},
            {"end of sequence not found", "check the indentation of this line"},
            {"end of map flow not found", "a '{' has no '}'; the file may be cut short"},
            {"end of sequence flow not found", "a '[' has no ']'; the file may be cut short"},
            {"illegal map value", "a text with ': ' in it needs quotes; also check the indentation"},
            {"illegal block entry", "check the indentation of this line"},
        }};
        if (e.msg.starts_with(YAML::ErrorMsg::INVALID_UNICODE)) {
            throw error(
                error_kind::input,
                "found an escape that is no character, such as one half of a pair of surrogates, expected "
                "both halves, as in \\ud83d\\ude00, or the character itself",
                place(e.mark), here());
        }
        std::string message = "this is not valid YAML: " + e.msg;
        for (const auto& [what, hint] : hints) {
            if (e.msg == what) message += "; " + std::string(hint);
        }
        location where{source_->name};
        if (!e.mark.is_null()) where = place(e.mark);
        throw error(error_kind::input, message, where, here());
    }

    [[noreturn]] void refuse_json(const json_place& where, const std::string& message, bool is_end) const {
        throw error(error_kind::input,
                    "this is not valid JSON: " + message + std::string(is_end ? may_be_cut_short : "") +
                        "; a file with a line of more than " + std::to_string(within_.line_bytes) +
                        " bytes must be JSON: correct it, or break the line if the file is YAML",
                    {source_->name, where.line + 1, where.column + 1}, here());
    }

  private:
    struct frame {
        node container;
        std::shared_ptr<const node::scope> scope;
        bool has_key = false;
        int key_line = 0, key_column = 0;
        const std::string* key = nullptr;
        std::unordered_map<const std::string*, int> lines;  // line by key, once there are many keys
    };

    struct waiting_entry {
        std::size_t index = 0;
        replaced_entry what;
    };
    static constexpr std::size_t levels_of_entries = 2;

    // True if an entry is within all limits, so that only a duplicate key can be wrong with it. Its tree may
    // then be built later, in parallel with others.
    bool may_wait(const replaced_entry& entry) const {
        constexpr std::size_t most_keys = 64;  // keys of an entry are compared one by one
        const entry_counts& has = entry.counts;
        return open_.size() == levels_of_entries && nodes_ + has.values <= within_.nodes &&
               entries_ < within_.entries && has.values <= within_.part_nodes && has.keys <= most_keys &&
               has.longest_word <= std::min(within_.key_bytes, within_.scalar_bytes) &&
               open_.size() + has.levels <= static_cast<std::size_t>(within_.depth);
    }
    void wait(const replaced_entry& entry) {
        const entry_counts& has = entry.counts;
        gap_bytes_ = gap_signs_ = 0;
        nodes_ += has.values;
        part_nodes_ = has.values;
        ++entries_;
        last_value_ = entry.at + has.last_value;
        source_->last_line = entry.line + 1;
        source_->last_column = entry.column + static_cast<int>(has.last_value) + 1;
        last_place_ = {source_->name, source_->last_line, source_->last_column};
        auto& items = std::get<std::vector<node>>(open_.back().container.content_);
        waiting_.push_back({items.size(), entry});
        items.emplace_back();
    }

    location place(const YAML::Mark& mark) const { return {source_->name, mark.line + 1, column(mark)}; }
    int column(const YAML::Mark& mark) const { return text_.column(mark) + 1; }

    std::string_view from(const YAML::Mark& mark) const { return text_.from(mark); }
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
        return bounded(path);
    }

    [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
        throw error(error_kind::input, message, place(mark), here());
    }
    // Throws for a key that is no scalar, or an unclosed bracket, which yaml-cpp takes for one.
    [[noreturn]] void refuse_as_key(const YAML::Mark& mark, const std::string& found) const {
        const std::string_view text = from(mark);
        int open = 0;
        char quote = '\0';
        for (const char c : text) {
            if (quote != '\0') {
                if (c == quote) quote = '\0';
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == '[' || c == '{') {
                ++open;
            } else if ((c == ']' || c == '}') && --open == 0) {
                break;
            }
        }
        if (open > 0) {
            refuse(mark, std::string("found a '") + text.front() + "' that is not closed, expected a '" +
                             (text.front() == '[' ? "]" : "}") + "'" +
                             (quote != '\0' ? " and a closing quote" : "") + std::string(may_be_cut_short));
        }
        refuse(mark, "found " + found + ", expected a key");
    }
    [[noreturn]] void refuse_alias(const YAML::Mark& mark) const {
        refuse(mark, "found an alias (*), expected the value itself; a text that begins with * needs quotes");
    }
    [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
        refuse(mark,
               "found an anchor (&), expected the value itself; a text that begins with & needs quotes");
    }

    void read_entry(const replaced_entry& entry) {
        struct entry_events {
            builder& to;
            const replaced_entry& of;
            YAML::Mark mark(std::size_t at) const {
                YAML::Mark made;
                made.line = of.line;
                made.column = of.column + static_cast<int>(at);
                return made;
            }
            void key(std::size_t at, std::string_view text) { word(at, text); }
            void word(std::size_t at, std::string_view text) {
                to.OnScalar(mark(at), "?", 0, std::string(text));
            }
            void mapping_starts(std::size_t at) { to.OnMapStart(mark(at), "?", 0, YAML::EmitterStyle::Flow); }
            void mapping_ends() { to.OnMapEnd(); }
            void sequence_starts(std::size_t at) {
                to.OnSequenceStart(mark(at), "?", 0, YAML::EmitterStyle::Flow);
            }
            void sequence_ends() { to.OnSequenceEnd(); }
        };
        entry_events tells{*this, entry};
        plain_entry(text_.text().substr(entry.at, entry.bytes), tells).scan();
    }

    // Refuses tags and anchors. The text decides, because yaml-cpp reports "!" both for quoted scalars and
    // for a lone "!", and drops the tag of a null.
    void check_plain(const YAML::Mark& mark, const std::string& tag) {
        gap_bytes_ = gap_signs_ = 0;
        const char first = first_of(mark);
        if (first == '&') refuse_anchor(mark);
        if (first == '!' || !(tag.empty() || tag == "?" || tag == "!")) {
            refuse(mark, "found a tag (!), expected a plain value; a text that begins with ! needs quotes");
        }
    }

    // Returns the place of the quote that closes the text's first one, or npos.
    static std::size_t closing_quote(std::string_view text) {
        const char quote = text.front();
        for (std::size_t i = 1; i < text.size(); ++i) {
            if (quote == '"' && text[i] == '\\') {
                ++i;
            } else if (text[i] == quote) {
                if (quote == '"' || text.substr(i + 1, 1) != "'") return i;
                ++i;
            }
        }
        return std::string_view::npos;
    }

    // Restores surrogate pairs in a scalar: as characters in double quotes, as literal text elsewhere.
    std::string with_pairs(const YAML::Mark& mark, const std::string& shown) const {
        std::string_view text = from(mark);
        const bool is_escaped = text.starts_with('"');
        if (is_escaped) text = text.substr(0, closing_quote(text));
        const std::string_view stands = is_escaped ? pair_in_utf8 : escaped_pair;
        std::string made;
        std::size_t done = 0, read = 0;
        for (std::size_t at = 0; (at = shown.find(stands, at)) != std::string::npos; done = at) {
            made.append(shown, done, at - done);
            at += stands.size();
            const std::size_t pair = next_pair(text, read);
            const std::size_t literal = is_escaped ? std::string_view::npos : text.find(escaped_pair, read);
            if (pair == std::string_view::npos || literal < pair) {
                made += stands;
                if (literal != std::string_view::npos) read = literal + stands.size();
                continue;
            }
            if (is_escaped)
                append_utf8(pair_at(text, pair), made);
            else
                made += text.substr(pair, escaped_pair.size());
            read = pair + escaped_pair.size();
        }
        return made + shown.substr(done);
    }

    // Refuses a quoted text that the end of the file closes: yaml-cpp accepts it, and a cut file would pass.
    void check_closed(const YAML::Mark& mark) const {
        if (closing_quote(from(mark)) != std::string_view::npos) return;
        refuse(mark, "found a quoted text that does not end, expected a closing quote" +
                         std::string(may_be_cut_short));
    }

    // Refuses a key without a colon: yaml-cpp takes a word on a line of its own for a key without a value.
    void check_colon(const YAML::Mark& mark, std::string_view key) const {
        const std::string_view text = from(mark);
        if (!text.starts_with(key)) return;  // the key is quoted
        const std::size_t after = text.find_first_not_of(" \t", key.size());
        if (after != std::string_view::npos && text[after] == ':') return;
        refuse(mark, "found " + shown(key) + " with no ':' after it, expected a key and its value" +
                         std::string(after == std::string_view::npos ? may_be_cut_short : ""));
    }

    // Refuses bad characters, which escapes in quotes such as "\x00" and "\u202e" make of good bytes.
    void check_visible(const YAML::Mark& mark, std::string_view value) const {
        for (std::size_t at = 0; at < value.size();) {
            const auto [c, bytes] = decode(value, at);
            at += bytes;
            if (c < 0x20 ? c == '\n' || c == '\t' : !is_forbidden(c)) continue;
            refuse(mark, c < 0x20 || c == 0x7f
                             ? "found a text with an escaped control character, expected plain text"
                             : "found a text with the escaped invisible character " + named(c) +
                                   ", expected plain text");
        }
    }

    // Returns by how much a block scalar is indented in the file, from its first line that is not blank.
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

    node started(const YAML::Mark& mark, node::shape kind) {
        if (++nodes_ > within_.nodes) {
            refuse(mark, "found more than " + std::to_string(within_.nodes) + " values, which is the limit");
        }
        // The value is an entry of a list or mapping directly below the root.
        if (open_.size() == 2) {
            part_nodes_ = 0;
            if (++entries_ > within_.entries) {
                refuse(mark,
                       "found more than " + std::to_string(within_.entries) + " entries, which is the limit");
            }
        }
        if (++part_nodes_ > within_.part_nodes) {
            refuse(mark, "found more than " + std::to_string(within_.part_nodes) +
                             " values in one part of the file, such as a trade, which is the limit");
        }
        last_value_ = text_.text().size() - from(mark).size();
        last_place_ = {source_->name, mark.line + 1, column(mark)};
        node made;
        made.kind_ = kind;
        made.line_ = source_->last_line = mark.line + 1;
        made.column_ = source_->last_column = column(mark);
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
        in.key_column = column(mark);
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
        // yaml-cpp recurses after this call, so the check limits its recursion.
        if (open_.size() >= static_cast<std::size_t>(within_.depth)) {
            refuse(mark, "found more than " + std::to_string(within_.depth) +
                             " levels of nesting, which is the limit");
        }
        auto inside = std::make_shared<node::scope>();
        inside->from = source_.get();
        inside->outer = container.scope_;
        inside->key = container.key_;
        inside->index = container.index_;
        if (open_.size() == 1) entries_ = 0;
        open_.push_back({});
        open_.back().container = std::move(container);
        open_.back().scope = std::move(inside);
    }

    void close() {
        node done = std::move(open_.back().container);
        open_.pop_back();
        add({}, std::move(done));
    }

    shown_text& text_;
    std::shared_ptr<node::source> source_;
    std::shared_ptr<const node::scope> top_;
    limits within_;
    std::vector<frame> open_;
    std::vector<waiting_entry> waiting_;
    node root_;
    std::size_t nodes_ = 0, part_nodes_ = 0, entries_ = 0;
    std::size_t gap_bytes_ = 0, gap_signs_ = 0;  // read since the last event
    std::size_t last_value_ = 0;                 // where the last value begins
    location last_place_;
    int documents_ = 0;
};

namespace {

struct json_teller {
    checked_source& from;
    shown_text& shows;
    builder& to;
    std::string word{};
    const std::string is_plain = "?", is_quoted = "!";  // the tags that yaml-cpp gives to scalars

    std::string_view text() const { return from.text(); }
    bool grow() { return from.grow(); }
    YAML::Mark mark(const json_place& at) const { return shows.mark_of(at.line, at.column); }
    void line_starts(std::size_t at) { shows.begins_line(at); }
    void quoted(const json_place& at, std::string_view text) {
        word = text;
        to.OnScalar(mark(at), is_quoted, 0, word);
    }
    void plain(const json_place& at, std::string_view text) {
        if (text == "null") return to.OnNull(mark(at), 0);
        word = text;
        to.OnScalar(mark(at), is_plain, 0, word);
    }
    void mapping_starts(const json_place& at) {
        to.OnMapStart(mark(at), is_plain, 0, YAML::EmitterStyle::Flow);
    }
    void mapping_ends() { to.OnMapEnd(); }
    void sequence_starts(const json_place& at) {
        to.OnSequenceStart(mark(at), is_plain, 0, YAML::EmitterStyle::Flow);
    }
    void sequence_ends() { to.OnSequenceEnd(); }
};

document made_of(checked_source& source, builder& events) {
    const bool is_marked = events.has_end_marker();
    return document{events.take_root(), source.hash(), is_marked, events.end(),
                    std::make_shared<const std::string>(source.take_text())};
}

// Reads a text as JSON; empty if it is not JSON and may be YAML. A text with long lines must be JSON:
// yaml-cpp is many times slower on a long line, and keeps in memory all of it that it can't place yet.
std::optional<document> read_json(checked_source& source, const limits& within) {
    shown_text text(source, false, false);
    if (!text.text().starts_with('{')) return {};
    builder events(text, within);
    json_teller tells{source, text, events};
    const auto fault = json_text(tells, within.gap_bytes).scan();
    if (!fault) return made_of(source, events);
    if (source.has_long_line())
        events.refuse_json(fault->where, fault->message, fault->where.at == source.text().size());
    source.refuse_long_lines();
    return {};
}

// A way to show a source to yaml-cpp. The quickest is tried first, and others if it fails.
struct way {
    bool replaces = true;  // shows "." instead of plain entries
    bool pairs = false;    // shows escaped_pair instead of pairs of surrogates
};

// Reads a source in one way. Empty if that failed and `by` was changed to the next way: an entry that was
// replaced was none, or there may be pairs of surrogates.
std::optional<document> read(checked_source& source, const limits& within, way& by) {
    shown_text text(source, by.replaces, by.pairs);
    builder events(text, within);
    shown_buffer buffer(
        text, [&](std::string_view piece) { events.hear(piece); }, [&] { events.read_waiting(); });
    std::istream stream(&buffer);
    try {
        try {
            YAML::Parser parser(stream);
            while (parser.HandleNextDocument(events)) {
            }
        } catch (const YAML::Exception& e) {
            events.read_waiting();
            if (!by.pairs && e.msg.starts_with(YAML::ErrorMsg::INVALID_UNICODE)) {
                by.pairs = true;
                return {};
            }
            if (!buffer.failure()) events.refuse_syntax(e);
        }
    } catch (const error& e) {
        if (!buffer.failure()) {
            events.read_waiting();
            if (!text.has_lost_one(e.where().line - 1)) throw;
            by.replaces = false;
            return {};
        }
    }
    if (buffer.failure()) std::rethrow_exception(buffer.failure());
    if (text.has_lost_one(std::numeric_limits<int>::max())) {
        by.replaces = false;
        return {};
    }
    return made_of(source, events);
}

document read(checked_source& source, const limits& within) {
    if (within.reads_entries)
        if (auto made = read_json(source, within)) return std::move(*made);
    way by{within.reads_entries};
    while (true) {
        if (auto made = read(source, within, by)) return std::move(*made);
    }
}

}  // namespace

document read_document(std::string_view text, const std::string& name, const limits& within) {
    checked_source source(text, name, within);
    return read(source, within);
}

document read_document(const std::filesystem::path& file, const limits& within,
                       const std::filesystem::path& inside) {
    checked_source source(file, within, inside);
    return read(source, within);
}

std::filesystem::path folder_of_file(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

void demand_end(const document& read) {
    if (read.has_end_marker) return;
    throw error(error_kind::input,
                "found no last line '...', expected one where files are read strictly" +
                    std::string(may_be_cut_short),
                read.end);
}

node parse(std::string_view text, const std::string& name, const limits& within) {
    return read_document(text, name, within).root;
}

node load(const std::filesystem::path& file, const limits& within) {
    return read_document(file, within).root;
}

}  // namespace tilewalk::config
