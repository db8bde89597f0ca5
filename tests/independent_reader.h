// SPDX-License-Identifier: Apache-2.0
// A second reader of books, markets, products and calendars, which shares nothing with the engine's: it reads
// numbers by a grammar and strtod, dates by counting days from 1900, and only as much YAML as the shipped
// files use. Where both readers accept a file, they must agree.
#pragma once

#include <array>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewalk::independent {

// Reads a number: sign? (digits [. digits?] | . digits) ([eE] sign? digits)?, without superfluous leading
// zeros. Its value must be finite, and may be 0 only if every digit is.
class number_grammar {
  public:
    static std::optional<double> read(std::string_view text) {
        number_grammar g{text};
        if (!g.is_number()) return std::nullopt;
        const std::string copy(text);
        const double value = std::strtod(copy.c_str(), nullptr);
        if (!std::isfinite(value) || (value == 0 && g.has_digit_above_zero_)) return std::nullopt;
        return value;
    }

  private:
    explicit number_grammar(std::string_view text) : text_(text) {}
    bool is_number() {
        take_sign();
        const std::size_t whole = take_digits(true), first = at_ - whole;
        if (whole > 1 && text_[first] == '0') return false;
        std::size_t fraction = 0;
        if (take('.')) fraction = take_digits(true);
        if (whole + fraction == 0) return false;
        if (take('e') || take('E')) {
            take_sign();
            if (take_digits(false) == 0) return false;
        }
        return at_ == text_.size();
    }
    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void take_sign() {
        if (!take('+')) take('-');
    }
    std::size_t take_digits(bool of_the_value) {
        const std::size_t from = at_;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            if (of_the_value && text_[at_] != '0') has_digit_above_zero_ = true;
        }
        return at_ - from;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool has_digit_above_zero_ = false;
};

inline std::optional<double> number(std::string_view text) {
    return number_grammar::read(text);
}

// A table of days, counted one by one from Sunday, 1 January 1899. A text can name the days from 1900 to
// 2299; the table has days before and after these for dates that roll beyond them.
class day_table {
  public:
    struct day {
        int year, month, of_month, weekday;  // weekday 0 is Monday
        std::string text;
    };
    static const day_table& all() {
        static const day_table table;
        return table;
    }
    // Days since 1970-01-01; empty for an invalid day.
    std::optional<int> serial(const std::string& text) const {
        const auto at = by_text_.find(text);
        if (at == by_text_.end()) return std::nullopt;
        return at->second - epoch_;
    }
    const day& at(int serial) const { return days_.at(static_cast<std::size_t>(serial + epoch_)); }

  private:
    day_table() {
        int weekday = 6;
        for (int year = 1899; year < 2310; ++year) {
            const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            const std::array<int, 12> lengths{31, is_leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
            for (int month = 1; month <= 12; ++month) {
                for (int d = 1; d <= lengths.at(static_cast<std::size_t>(month - 1)); ++d) {
                    const auto two = [](int n) {
                        return std::string(1, static_cast<char>('0' + n / 10)) +
                               static_cast<char>('0' + n % 10);
                    };
                    std::string text = two(year / 100) + two(year % 100) + "-" + two(month) + "-" + two(d);
                    if (text == "1970-01-01") epoch_ = static_cast<int>(days_.size());
                    if (year >= 1900 && year < 2300) by_text_.emplace(text, static_cast<int>(days_.size()));
                    days_.push_back({year, month, d, weekday, std::move(text)});
                    weekday = (weekday + 1) % 7;
                }
            }
        }
    }
    std::vector<day> days_;
    std::map<std::string, int> by_text_;
    int epoch_ = 0;
};

inline std::optional<int> day(const std::string& text) {
    return day_table::all().serial(text);
}

struct no_yaml : std::runtime_error {  // for text that no reader should accept
    using std::runtime_error::runtime_error;
};
struct not_judged : std::runtime_error {  // for YAML that this reader does not cover
    using std::runtime_error::runtime_error;
};

struct tree {
    enum class shape { nothing, text, list, mapping };
    shape kind = shape::nothing;
    std::string text{};
    bool is_quoted = false;  // true for a block of lines as well
    std::vector<tree> items{};
    std::vector<std::pair<std::string, tree>> members{};

    const tree* find(std::string_view key) const {
        for (const auto& [name, value] : members) {
            if (name == key) return &value;
        }
        return nullptr;
    }
    std::optional<double> number() const {
        return kind == shape::text && !is_quoted ? independent::number(text) : std::nullopt;
    }
};

class yaml_reader {
  public:
    static tree read(std::string_view text) { return yaml_reader(text).document(); }

  private:
    explicit yaml_reader(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end = text.find('\n', at);
            if (end == std::string_view::npos) end = text.size();
            lines_.emplace_back(text.substr(at, end - at));
            at = end + 1;
        }
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            for (const char c : lines_[i]) {
                if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 127)
                    throw not_judged("signs beyond plain ASCII");
            }
            if (lines_[i].starts_with("---") || lines_[i].starts_with("%")) throw not_judged("directives");
            if (lines_[i] == "..." || lines_[i].starts_with("... ")) {
                for (std::size_t k = i + 1; k < lines_.size(); ++k) {
                    if (!is_blank(lines_[k], 0)) throw not_judged("text after the end");
                }
                lines_.resize(i);
            }
        }
    }

    tree document() {
        tree root = skip_blank() ? block(0) : tree{};
        if (skip_blank()) throw no_yaml("text after the document, line " + std::to_string(line_ + 1));
        return root;
    }

    static bool is_blank(const std::string& line, std::size_t from) {
        const std::size_t at = line.find_first_not_of(' ', from);
        return at == std::string::npos || (line[at] == '#' && (at == 0 || line[at - 1] == ' '));
    }
    // Moves over spaces, comments and empty lines to the next content; false at the end of the text.
    bool skip_blank() {
        while (line_ < lines_.size() && is_blank(lines_[line_], column_)) {
            ++line_;
            column_ = 0;
        }
        if (line_ == lines_.size()) return false;
        column_ = lines_[line_].find_first_not_of(' ', column_);
        return true;
    }
    char now() const { return column_ < lines_[line_].size() ? lines_[line_][column_] : '\0'; }
    char next() const { return column_ + 1 < lines_[line_].size() ? lines_[line_][column_ + 1] : '\0'; }
    static bool ends_word(char c) { return c == ' ' || c == '\0'; }

    // Reads the block at the current place; empty if it begins left of the column `least`.
    tree block(std::size_t least) {
        if (column_ < least) return {};
        const std::size_t at = column_;
        if (now() == '-' && ends_word(next())) return sequence(at);
        if (now() == '?' && ends_word(next())) throw not_judged("explicit keys");
        if (begins_entry()) return mapping(at);
        return value(least == 0 ? 0 : least - 1, true);
    }

    tree sequence(std::size_t at) {
        tree made{tree::shape::list};
        while (line_ < lines_.size() && column_ == at && now() == '-' && ends_word(next())) {
            lines_[line_][column_] = ' ';
            const std::size_t line = line_;
            if (!skip_blank() || (line_ != line && column_ <= at)) {
                made.items.emplace_back();
            } else {
                made.items.push_back(block(at + 1));
            }
            after_value(at);
        }
        return made;
    }

    bool begins_entry() const {
        const std::string& line = lines_[line_];
        std::size_t at = column_;
        if (line[at] == '"' || line[at] == '\'') {
            const char quote = line[at];
            for (++at; at < line.size() && line[at] != quote; ++at) {
                if (line[at] == '\\' && quote == '"') throw not_judged("escapes");
            }
            if (at >= line.size()) return false;
            ++at;
            while (at < line.size() && line[at] == ' ') ++at;
            return at < line.size() && line[at] == ':';
        }
        if (line[at] == '[' || line[at] == '{') return false;
        for (; at < line.size(); ++at) {
            if (line[at] == ':' && (at + 1 == line.size() || line[at + 1] == ' ')) return true;
            if (line[at] == '#' && at > 0 && line[at - 1] == ' ') return false;
        }
        return false;
    }

    tree mapping(std::size_t at) {
        tree made{tree::shape::mapping};
        std::set<std::string> seen;
        while (line_ < lines_.size() && column_ == at) {
            if (now() == '-' && ends_word(next())) throw no_yaml("an entry among keys");
            if (now() == '?' && ends_word(next())) throw not_judged("explicit keys");
            if (!begins_entry()) throw no_yaml("no key in line " + std::to_string(line_ + 1));
            std::string key = block_key();
            if (!seen.insert(key).second) throw no_yaml("the key " + key + " twice");
            const std::size_t line = line_;
            tree held;
            if (skip_blank()) {
                if (line_ == line) {
                    if (now() == '-' && ends_word(next())) throw no_yaml("an entry behind a key");
                    held = value(at, false);
                } else if (column_ > at || (column_ == at && now() == '-' && ends_word(next()))) {
                    held = block(column_ == at ? at : at + 1);
                }
            }
            made.members.emplace_back(std::move(key), std::move(held));
            after_value(at);
        }
        return made;
    }

    std::string block_key() {
        const std::string& line = lines_[line_];
        if (now() == '"' || now() == '\'') {
            const std::size_t end = line.find(now(), column_ + 1);
            std::string key = line.substr(column_ + 1, end - column_ - 1);
            column_ = line.find(':', end) + 1;
            return key;
        }
        refuse_indicator();
        std::size_t end = column_;
        while (!(line[end] == ':' && (end + 1 == line.size() || line[end + 1] == ' '))) ++end;
        std::string key = line.substr(column_, end - column_);
        column_ = end + 1;
        while (key.ends_with(' ')) key.pop_back();
        if (key.empty()) throw not_judged("an empty key");
        return key;
    }

    // After a value: checks that the next content is indented no further than the value's container, `at`.
    void after_value(std::size_t at) {
        if (!skip_blank()) return;
        if (column_ > at)
            throw no_yaml("line " + std::to_string(line_ + 1) + " is further in than its block");
    }

    void refuse_indicator() const {
        switch (now()) {
            case '&':
            case '*':
            case '!':
            case '@':
            case '`':
            case '%':
            case '|':
            case '>':
            case ',':
            case ']':
            case '}':
                throw not_judged(std::string("the sign ") + now());
            case '-':
            case '?':
            case ':':
                if (ends_word(next())) throw not_judged("an indicator alone");
                break;
            default:
                break;
        }
    }

    // Reads the value of a key whose line is indented by `outer`, or with `stands_alone` one without a key.
    tree value(std::size_t outer, bool stands_alone) {
        if (now() == '|' || now() == '>') return lines_of_text(outer);
        tree made;
        if (now() == '{' || now() == '[') {
            made = flow(outer);
            finish_line();
        } else if (now() == '"' || now() == '\'') {
            made = quoted();
            finish_line();
        } else {
            made = plain(outer, stands_alone);
        }
        return made;
    }
    void finish_line() {
        if (!is_blank(lines_[line_], column_)) throw no_yaml("text behind a value");
        ++line_;
        column_ = 0;
    }

    tree lines_of_text(std::size_t outer) {
        tree made{tree::shape::text};
        made.is_quoted = true;
        const bool is_literal = now() == '|';
        ++column_;
        if (!is_blank(lines_[line_], column_)) throw not_judged("how a block of text ends");
        ++line_;
        std::size_t inner = 0;
        for (; line_ < lines_.size(); ++line_) {
            const std::string& line = lines_[line_];
            const std::size_t at = line.find_first_not_of(' ');
            if (at == std::string::npos) {
                if (inner == 0 || line.size() > inner) {
                    if (!line.empty()) throw not_judged("spaces in an empty line of text");
                }
                made.text += '\n';
                continue;
            }
            if (inner == 0) {
                if (at <= outer) break;
                inner = at;
            }
            if (at < inner) break;
            made.text += line.substr(inner) + '\n';
        }
        while (made.text.ends_with("\n\n")) made.text.pop_back();
        if (!is_literal) made.text.clear();  // a folded text (>) is prose, from which nothing is computed
        column_ = 0;
        return made;
    }

    tree quoted() {
        tree made{tree::shape::text};
        made.is_quoted = true;
        const char quote = now();
        for (++column_;; ++column_) {
            if (now() == '\0') {
                for (std::size_t k = line_; k < lines_.size(); ++k) {
                    if (lines_[k].find(quote, k == line_ ? column_ : 0) != std::string::npos)
                        throw not_judged("a quote of several lines");
                }
                throw no_yaml("an open quote");
            }
            if (now() == '\\' && quote == '"') throw not_judged("escapes");
            if (now() == quote) {
                if (quote == '"' || next() != quote) break;
                ++column_;
            }
            made.text += now();
        }
        ++column_;
        return made;
    }

    static tree of_text(std::string text) {
        while (text.ends_with(' ')) text.pop_back();
        if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
        return {tree::shape::text, std::move(text), false, {}, {}};
    }

    tree plain(std::size_t outer, bool stands_alone) {
        refuse_indicator();
        std::string text;
        for (;;) {
            bool has_comment = false;
            const std::string& line = lines_[line_];
            const std::size_t from = column_;
            for (; column_ < line.size(); ++column_) {
                if (line[column_] == '#' && column_ > 0 && line[column_ - 1] == ' ') {
                    has_comment = true;
                    break;
                }
                if (line[column_] == ':' && (column_ + 1 == line.size() || line[column_ + 1] == ' '))
                    throw no_yaml("a colon in a text, line " + std::to_string(line_ + 1));
            }
            std::string part = line.substr(from, column_ - from);
            while (part.ends_with(' ')) part.pop_back();
            text += (text.empty() ? "" : " ") + part;
            ++line_;
            column_ = 0;
            // A line that is indented by more than `outer` continues the text.
            if (!skip_blank() || column_ <= outer) break;
            if (has_comment || stands_alone) throw not_judged("a text of several lines");
        }
        return of_text(std::move(text));
    }

    void skip_in_flow(std::size_t outer) {
        const std::size_t line = line_;
        if (!skip_blank()) throw no_yaml("an open bracket");
        if (line_ != line && column_ <= outer && outer > 0)
            throw not_judged("brackets that reach further out");
    }
    tree flow(std::size_t outer) {
        if (++depth_ > 60) throw not_judged("deep brackets");
        const bool is_mapping = now() == '{';
        const char close = is_mapping ? '}' : ']';
        tree made{is_mapping ? tree::shape::mapping : tree::shape::list};
        std::set<std::string> seen;
        ++column_;
        skip_in_flow(outer);
        while (now() != close) {
            if (is_mapping) {
                const tree key = flow_value(outer);
                if (key.kind != tree::shape::text) throw not_judged("a key that is no text");
                skip_in_flow(outer);
                if (now() != ':') throw not_judged("a key without a colon");
                ++column_;
                if (!ends_word(now()) && now() != close && now() != ',')
                    throw not_judged("a colon without a space");
                skip_in_flow(outer);
                if (!seen.insert(key.text).second) throw no_yaml("the key " + key.text + " twice");
                tree held;
                if (now() != ',' && now() != close) held = flow_value(outer);
                made.members.emplace_back(key.text, std::move(held));
            } else {
                made.items.push_back(flow_value(outer));
            }
            skip_in_flow(outer);
            if (now() == close) break;
            if (now() == ':') throw not_judged("a pair in a list");
            if (now() != ',') throw no_yaml("no comma between two values");
            ++column_;
            skip_in_flow(outer);
            if (now() == ',') throw no_yaml("two commas");
        }
        ++column_;
        --depth_;
        return made;
    }
    tree flow_value(std::size_t outer) {
        if (now() == '{' || now() == '[') return flow(outer);
        if (now() == '"' || now() == '\'') return quoted();
        refuse_indicator();
        if (now() == '#') throw not_judged("a comment beside a value");
        std::string text;
        const std::string& line = lines_[line_];
        for (; column_ < line.size(); ++column_) {
            const char c = line[column_];
            if (c == ',' || c == '[' || c == ']' || c == '{' || c == '}') break;
            if (c == '#' && line[column_ - 1] == ' ') break;
            if (c == ':') {
                const char after = next();
                if (ends_word(after)) break;
                throw not_judged("a colon in a text between brackets");
            }
            text += c;
        }
        while (text.ends_with(' ')) text.pop_back();
        if (column_ >= line.size() || line[column_] == '#') {
            // A text may go on in the next line, which this reader does not cover.
            skip_in_flow(outer);
            if (now() != ',' && now() != ']' && now() != '}' && now() != ':')
                throw not_judged("a text of several lines");
        }
        return of_text(std::move(text));
    }

    std::vector<std::string> lines_;
    std::size_t line_ = 0, column_ = 0;
    int depth_ = 0;
};

inline tree yaml(std::string_view text) {
    return yaml_reader::read(text);
}

struct moment {
    bool is_day = false;
    int serial = 0;
    double years = 0;
    friend bool operator==(const moment&, const moment&) = default;
};

inline std::optional<moment> moment_of(const std::string& text, bool is_quoted = false) {
    if (const auto found = day(text)) return moment{true, *found, 0};
    if (is_quoted) return std::nullopt;
    const auto years = number(text);
    if (!years || std::abs(*years) > 200) return std::nullopt;
    return moment{false, 0, *years};
}
inline std::optional<moment> moment_of(const tree& value) {
    if (value.kind != tree::shape::text) return std::nullopt;
    return moment_of(value.text, value.is_quoted);
}

struct business_calendar {
    std::array<bool, 7> is_weekend{};
    std::set<int> holidays;

    bool is_open(int serial) const {
        return !is_weekend.at(static_cast<std::size_t>(day_table::all().at(serial).weekday)) &&
               !holidays.contains(serial);
    }
    bool is_always_open() const { return is_weekend == std::array<bool, 7>{} && holidays.empty(); }
};
using business_calendars = std::map<std::string, business_calendar>;

// Reads a calendar of business days; empty if `definition` has an invalid day.
inline std::optional<business_calendar> calendar_of(const tree& definition) {
    business_calendar made;
    made.is_weekend = {false, false, false, false, false, true, true};
    if (const tree* weekend = definition.find("weekend")) {
        const std::array<std::string, 7> names{"monday", "tuesday",  "wednesday", "thursday",
                                               "friday", "saturday", "sunday"};
        made.is_weekend = {};
        for (const tree& item : weekend->items) {
            std::size_t at = 0;
            while (at < names.size() && names.at(at) != item.text) ++at;
            if (at == names.size()) return std::nullopt;
            made.is_weekend.at(at) = true;
        }
    }
    const tree* holidays = definition.find("holidays");
    if (!holidays || holidays->kind != tree::shape::list) return std::nullopt;
    for (const tree& item : holidays->items) {
        const auto serial = item.kind == tree::shape::text ? day(item.text) : std::nullopt;
        if (!serial) return std::nullopt;
        made.holidays.insert(*serial);
    }
    return made;
}

inline int rolled(int serial, const business_calendar& days, const std::string& rule) {
    if (rule == "unadjusted" || days.is_open(serial)) return serial;
    const auto nearest = [&](int step) {
        int at = serial;
        while (!days.is_open(at)) at += step;
        return at;
    };
    const int step = rule.ends_with("following") ? 1 : -1, found = nearest(step);
    const bool keeps_month = rule.starts_with("modified");
    const auto& all = day_table::all();
    if (keeps_month && all.at(found).month != all.at(serial).month) return nearest(-step);
    return found;
}

// The times of a schedule {start, end, every or count, ...}; empty if one of its parts is invalid.
inline std::optional<std::vector<moment>> schedule_of(const tree& rule, const business_calendars& known) {
    const tree *start = rule.find("start"), *end = rule.find("end"), *every = rule.find("every"),
               *count = rule.find("count"), *calendar = rule.find("calendar"), *roll = rule.find("roll"),
               *include = rule.find("include_start");
    if (!start || !end || (every != nullptr) == (count != nullptr)) return std::nullopt;
    const auto from = moment_of(*start), to = moment_of(*end);
    if (!from || !to || from->is_day != to->is_day) return std::nullopt;
    const bool includes = include && include->text == "true";
    if (include && !includes && include->text != "false") return std::nullopt;
    double steps = 0;
    if (count) {
        const auto said = count->number();
        if (!said || *said < 1 || *said > 100'000 || *said != std::floor(*said)) return std::nullopt;
        steps = *said;
    }
    std::vector<moment> made;
    if (!from->is_day) {
        if (!count || calendar || roll) return std::nullopt;
        if (includes) made.push_back(*from);
        for (double k = 1; k < steps; ++k)
            made.push_back({false, 0, from->years + (to->years - from->years) * k / steps});
        made.push_back(*to);
        return made;
    }
    business_calendar days;
    if (calendar) {
        std::vector<tree> names = calendar->items;
        if (calendar->kind == tree::shape::text) names.push_back(*calendar);
        for (const tree& name : names) {
            const auto at = known.find(name.text);
            if (at == known.end()) return std::nullopt;
            for (std::size_t k = 0; k < 7; ++k)
                days.is_weekend.at(k) = days.is_weekend.at(k) || at->second.is_weekend.at(k);
            days.holidays.insert(at->second.holidays.begin(), at->second.holidays.end());
        }
    }
    const std::string how = roll ? roll->text : "unadjusted";
    const auto& all = day_table::all();
    std::vector<int> raw;
    if (count) {
        for (double k = 1; k <= steps; ++k)
            raw.push_back(from->serial +
                          static_cast<int>(std::floor((to->serial - from->serial) * k / steps + 0.5)));
    } else {
        std::string period = every->text == "business_day" ? "1b" : every->text;
        if (period.size() < 2 || every->kind != tree::shape::text) return std::nullopt;
        char unit = period.back();
        period.pop_back();
        int units = 0;
        for (const char c : period) {
            if (c < '0' || c > '9' || units > 9999) return std::nullopt;
            units = 10 * units + (c - '0');
        }
        if (units < 1) return std::nullopt;
        if (unit == 'd' && units == 1 && !days.is_always_open()) unit = 'b';
        int at = from->serial;
        for (int k = 1; at < to->serial; ++k) {
            if (unit == 'd' || unit == 'w') {
                at = from->serial + k * units * (unit == 'w' ? 7 : 1);
            } else if (unit == 'b') {
                for (int done = 0; done < units && at < to->serial; done += days.is_open(at) ? 1 : 0) ++at;
            } else if (unit == 'm' || unit == 'y') {
                // Counts k periods from the start itself, so that a 31st comes back after a shorter month.
                const auto& first = all.at(from->serial);
                int year = first.year, month = first.month - 1 + k * units * (unit == 'y' ? 12 : 1);
                year += month / 12;
                month = month % 12 + 1;
                std::optional<int> found;
                if (year > 2299) found = to->serial;
                for (int d = first.of_month; !found; --d) {
                    std::string text = std::to_string(year) + (month < 10 ? "-0" : "-") +
                                       std::to_string(month) + (d < 10 ? "-0" : "-") + std::to_string(d);
                    found = day(text);
                }
                at = *found;
            } else {
                return std::nullopt;
            }
            if (at < to->serial) raw.push_back(at);
        }
        raw.push_back(to->serial);
    }
    int last = rolled(from->serial, days, how);
    if (includes) made.push_back({true, last, 0});
    for (const int serial : raw) {
        const int at = rolled(serial, days, how);
        if (at <= last) continue;
        made.push_back({true, at, 0});
        last = at;
    }
    return made;
}

}  // namespace tilewalk::independent
