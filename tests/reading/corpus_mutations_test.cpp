// SPDX-License-Identifier: Apache-2.0
// label: sampled (hostile input)
// Every shipped book, market, product and calendar, changed in thousands of ways. An independent second
// reader judges: a change is refused with a message and a place, or Tilewalk reads the same as the second
// reader. Then every single number is changed, which must change a price.
//
// A failure prints the seed and the shortest file that still shows it. TILEWALK_CORPUS_SEEDS=from-to runs
// only these seeds.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "tests/corpus_court.h"
#include "tilewalk/products.h"

namespace tilewalk::corpus::corpus_mutations_test {
namespace {

using tests::replaced;
using tests::texts;

// The shipped files of a form. A product comes with its example as a trade.
std::vector<base_file> shipped(form is) {
    std::vector<std::filesystem::path> files;
    const auto add = [&](const std::string& folder) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    };
    switch (is) {
        case form::book:
            add(configs + "books");
            break;
        case form::market:
            add(configs + "markets");
            break;
        case form::product:
            add(configs + "products");
            add(std::string(TILEWALK_SOURCE_DIR) + "/products/library");
            break;
        case form::calendar:
            add(configs + "calendars");
            break;
    }
    std::sort(files.begin(), files.end());
    const auto pages = product_pages();
    std::vector<base_file> made;
    for (const auto& file : files) {
        if (file.extension() != ".yaml") continue;
        base_file base{is, file.filename().string(), content(file.string()), ""};
        if (base.name == "smiles.yaml") {
            // Calibrating stochastic local volatility takes seconds; few particles suffice here.
            base.text = replaced(base.text, "particles: 16384", "particles: 1024");
        }
        if (is == form::product) {
            const std::string name = file.stem().string();
            base.text = replaced(base.text, "product: " + name, "product: own_" + name);
            const auto page =
                std::find_if(pages.begin(), pages.end(), [&](const auto& p) { return p.name == name; });
            base.trade = page != pages.end()
                             ? replaced(page->example, "product: " + name, "product: own_" + name)
                             : "{id: a, product: own_" + name +
                                   ", underlying: ACME, strike: 100, closes: [0.25, 0.5, 0.75, 1.0]}";
        }
        made.push_back(std::move(base));
    }
    return made;
}

struct token {
    std::size_t at = 0, length = 0;
    bool is_day = false, in_script = false;
};

// Finds the numbers and days to change: in values, keys and scripts, but not in comments, prose and quotes.
std::vector<token> tokens_of(const std::string& text) {
    std::vector<token> found;
    bool in_script = false, in_prose = false;
    std::size_t block = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = text.find('\n', begin);
        if (end == std::string::npos) end = text.size();
        const std::string line = text.substr(begin, end - begin);
        const std::size_t first = line.find_first_not_of(' ');
        if ((in_script || in_prose) && first != std::string::npos && first <= block)
            in_script = in_prose = false;
        char quote = '\0', before = ' ';
        for (std::size_t i = 0; i < line.size() && !in_prose; ++i) {
            const char c = line[i];
            if (quote != '\0') {
                if (c == quote) quote = '\0';
                continue;
            }
            if (c == '#' && (i == 0 || line[i - 1] == ' ' || in_script)) break;
            const bool opens =
                in_script ? c == '"'
                          : (c == '\'' || c == '"') && !std::isalnum(static_cast<unsigned char>(before));
            if (opens) {
                quote = c;
                continue;
            }
            const auto is_part = [&](char of) {
                return std::isalnum(static_cast<unsigned char>(of)) || of == '_' || of == '.' ||
                       (!in_script && (of == '-' || of == '+' || of == '%' || of == '/'));
            };
            if (is_part(c)) {
                // The sign of an exponent belongs to its number, in a script too.
                const auto is_sign_of_power = [&](std::size_t at) {
                    return (line[at] == '-' || line[at] == '+') && at >= i + 2 && std::isdigit(line[i]) &&
                           (line[at - 1] == 'e' || line[at - 1] == 'E');
                };
                std::size_t stop = i;
                while (stop < line.size() && (is_part(line[stop]) || is_sign_of_power(stop))) ++stop;
                const std::string word = line.substr(i, stop - i);
                std::size_t after = stop;
                while (after < line.size() && line[after] == ' ') ++after;
                const char next = after < line.size() ? line[after] : '\n';
                const bool is_day = independent::day(word).has_value();
                const bool is_number = independent::number(word).has_value();
                const bool stands = in_script || ((before == ' ' || before == ':' || before == ',' ||
                                                   before == '[' || before == '{' || before == '-') &&
                                                  (next == ',' || next == ']' || next == '}' || next == ':' ||
                                                   next == '\n' || next == '#'));
                if ((is_day || is_number) && stands)
                    found.push_back({begin + i, word.size(), is_day, in_script});
                i = stop - 1;
                before = word == "-" ? '-' : 'a';
                continue;
            }
            if (c != ' ') before = c;
        }
        if (!in_script && !in_prose && first != std::string::npos) {
            in_script = line.find("script: |") != std::string::npos;
            in_prose = line.find(": >") != std::string::npos || line.find("formula: |") != std::string::npos;
            block = first;
        }
        begin = end + 1;
    }
    return found;
}

std::string respelt(const std::string& word, std::size_t how, bool has_no_sign) {
    if (independent::day(word)) return word;
    std::string digits = word, sign;
    if (digits.starts_with('-') || digits.starts_with('+')) {
        sign = digits.substr(0, 1);
        digits.erase(0, 1);
    }
    if (digits.find_first_of("eE") != std::string::npos) return word;
    const std::size_t point = digits.find('.');
    const std::size_t whole = point == std::string::npos ? digits.size() : point;
    switch (how % 4) {
        case 0:  // one more 0 at the end
            return sign + digits + (point == std::string::npos ? ".0" : "0");
        case 1:  // without a point, times a power of ten
            if (point != std::string::npos) {
                std::string moved = digits.substr(0, point) + digits.substr(point + 1);
                while (moved.size() > 1 && moved.front() == '0') moved.erase(0, 1);
                return sign + moved + "e-" + std::to_string(digits.size() - point - 1);
            }
            return sign + digits + "e0";
        case 2:  // point to the left of all digits
            if (whole == 1 && digits.front() == '0') return sign + digits + "E+00";
            return sign + "0." + digits.substr(0, whole) +
                   (point == std::string::npos ? "" : digits.substr(point + 1)) + "e" + std::to_string(whole);
        default:
            return has_no_sign || !sign.empty() ? word : "+" + word;
    }
}

// Texts that people and programs write in place of a number or a date; some are valid.
std::string odd(const std::string& word, draws& from) {
    static const std::vector<std::string> fixed = texts(
        "0x10", "0o17", "0b11", "1_000", "1,5", "20%", "1e400", "-1e400", "1e-400", "4.9e-324", "2.2e-308",
        "1e308", "1.7976931348623157e308", "1.7976931348623159e308", ".", "+.", "-.", "1e", "1e+", "e5",
        ".e5", "1.e5", ".5", "5.", "+.5", "-.5e-1", "inf", "-inf", ".inf", "-.inf", ".Inf", "nan", ".nan",
        ".NaN", "infinity", "1:30", "1:30:00", "190:20:30", "-0", "+0", "0.0", "-0.0", "00", "01", "0144",
        "08", "--1", "+-1", "1-", "1+1", "1/4", "$100", "100USD", "5k", "25bp", "1 000", "1'000", "0,2",
        "1.2.3", "1..2", "\xd9\xa1\xd9\xa0\xd9\xa0", "\xef\xbc\x91\xef\xbc\x92",
        "\xe2\x88\x92"
        "5",
        "\xc2\xa0"
        "5",
        "null", "~", "true", "yes", "no", "", "'5'", "\"5\"", "[5]", "{a: 5}", "0e0", "0e999", "1e22",
        "123456789012345678", "9007199254740993", "0.1000000000000000055511151231257827",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
        "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "1E5", "1d5", "1f", "0x1p3", "1e5.0", "2026", "20260115", "\"\\x35\"", "!!int 5", "&a 5", "*a",
        "5 # five", "5#five", "|", ">");
    static const std::vector<std::string> days =
        texts("2026-02-30", "2100-02-29", "2000-02-29", "2024-02-29", "2027-02-29", "26-01-01", "2026/01/01",
              "2026.01.01", "01-02-2026", "01/02/2026", "20260115", "0000-00-00", "0001-01-01", "9999-12-31",
              "9999999-01-01", "-2026-01-01", "2026-1-1", "2026-01-32", "2026-13-01", "2026-00-10",
              "2026-01-00", "2026-01-15T00:00:00Z", "2026-01-15 00:00:00", "2026-01-15Z", "2026-W03-4",
              "2026-015", "Jan 15 2026", "15-Jan-2026", "1899-12-31", "1900-01-01", "2299-12-31",
              "2300-01-01", "1900-02-29", "\xd9\xa2\xd9\xa0\xd9\xa2\xd9\xa6-01-15",
              "2026\xe2\x80\x90"
              "01\xe2\x80\x90"
              "15",
              "2026-01- 5", " 2026-01-15", "'2026-01-16'", "\"2027-01-15\"", "2026-01-15x", "2026--01-15",
              "+2026-01-15", "2026-01", "6m", "1y", "today", "46037", "1768435200", "2026-06-31",
              "2026-02-29", "2028-02-29");
    if (independent::day(word)) return from.below(4) == 0 ? from.one_of(fixed) : from.one_of(days);
    return from.below(6) == 0 ? from.one_of(days) : from.one_of(fixed);
}

std::string another_day(const std::string& word, draws& from) {
    static const std::vector<int> steps{1, -1, 7, -7, 28, 30, 31, -31, 365, -365, 366, 3650, -3650};
    const int serial = *independent::day(word) + from.one_of(steps);
    if (serial < *independent::day("1900-01-01") || serial > *independent::day("2299-12-31")) return word;
    return independent::day_table::all().at(serial).text;
}

std::string another_number(const std::string& word, draws& from) {
    std::string made = word;
    switch (from.below(6)) {
        case 0: {  // one digit changed
            const std::size_t at = from.below(made.size());
            if (made[at] >= '0' && made[at] <= '9') made[at] = static_cast<char>('0' + from.below(10));
            return made;
        }
        case 1:
            return made.starts_with('-') ? made.substr(1) : "-" + made;
        case 2:
            return made + std::to_string(from.below(10));
        case 3: {  // point moved
            const std::size_t point = made.find('.');
            if (point == std::string::npos) return made + "." + std::to_string(from.below(10));
            made.erase(point, 1);
            return made.insert(from.below(made.size() + 1), ".");
        }
        case 4:
            return made + "e" + std::to_string(static_cast<int>(from.below(9)) - 4);
        default:
            return made.size() > 1 ? made.substr(0, made.size() - 1) : "0";
    }
}

enum class change {
    flip_bit,
    delete_bytes,
    insert_sign,
    swap_lines,
    double_line,
    delete_line,
    cut_short,
    odd_number,
    other_number,
    odd_day,
    other_day,
    swap_keys,
    move_value,
    indent,
    copy_lines,
    quote,
    respell_all,
    count
};
const char* const change_names[] = {
    "flip_bit",   "delete_bytes", "insert_sign",  "swap_lines", "double_line", "delete_line",
    "cut_short",  "odd_number",   "other_number", "odd_day",    "other_day",   "swap_keys",
    "move_value", "indent",       "copy_lines",   "quote",      "respell_all"};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}
std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

std::vector<token> keys_of(const std::string& text) {
    std::vector<token> found;
    for (std::size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at + 1)) {
        std::size_t from = at;
        while (from > 0 &&
               (std::isalnum(static_cast<unsigned char>(text[from - 1])) || text[from - 1] == '_'))
            --from;
        if (from < at) found.push_back({from, at - from});
    }
    return found;
}

std::string swapped(const std::string& text, token a, token b) {
    if (b.at < a.at) std::swap(a, b);
    if (a.at == b.at) return text;
    return text.substr(0, a.at) + text.substr(b.at, b.length) +
           text.substr(a.at + a.length, b.at - a.at - a.length) + text.substr(a.at, a.length) +
           text.substr(b.at + b.length);
}

std::string respelt(const std::string& text, std::uint64_t seed) {
    std::string made = text;
    auto tokens = tokens_of(text);
    std::size_t k = 0;
    for (auto t = tokens.rbegin(); t != tokens.rend(); ++t, ++k) {
        // Settings take numbers without a sign, like the command's options.
        const bool has_no_sign =
            t->in_script || text.substr(text.rfind('\n', t->at) + 1).starts_with("settings:");
        const std::string word = respelt(text.substr(t->at, t->length), mixed(seed, k), has_no_sign);
        made.replace(t->at, t->length, word);
    }
    return made;
}

std::string changed(const std::string& text, change how, std::uint64_t seed) {
    draws from(seed);
    const auto of_tokens = [&](bool days, auto&& make) {
        std::vector<token> fitting;
        for (const token& t : tokens_of(text)) {
            if (t.is_day == days) fitting.push_back(t);
        }
        if (fitting.empty()) return text;
        const token t = from.one_of(fitting);
        std::string made = text;
        return made.replace(t.at, t.length, make(text.substr(t.at, t.length)));
    };
    const auto of_lines = [&](auto&& make) {
        auto lines = lines_of(text);
        make(lines);
        return joined(lines);
    };
    std::string made = text;
    switch (how) {
        case change::flip_bit: {
            const std::size_t at = from.below(text.size());
            made[at] = static_cast<char>(static_cast<unsigned char>(made[at]) ^ (1U << from.below(8)));
            return made;
        }
        case change::delete_bytes:
            return made.erase(from.below(text.size()), 1 + from.below(4));
        case change::insert_sign: {
            static const std::vector<std::string> signs =
                texts("{", "}", "[", "]", ",", ":", ": ", "-", "- ", "?", "#", " #", "&", "*", "!", "|", ">",
                      "'", "\"", "%", "@", "`", "\t", "\r", "\n", " ", "0", "9", ".", "e", "+",
                      std::string("\0", 1), "\xef\xbb\xbf", "\xc2\x85", "\xe2\x80\xa8", "\xc0\xaf",
                      "\xed\xa0\x80", "\xff", "\x1b[2J", "...", "\n...\n", "---\n", "<<: ", "~");
            return made.insert(from.below(text.size() + 1), from.one_of(signs));
        }
        case change::swap_lines:
            return of_lines([&](auto& lines) {
                std::swap(lines[from.below(lines.size())], lines[from.below(lines.size())]);
            });
        case change::double_line:
            return of_lines([&](auto& lines) {
                const std::size_t at = from.below(lines.size());
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), std::string(lines[at]));
            });
        case change::delete_line:
            return of_lines([&](auto& lines) {
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from.below(lines.size())));
            });
        case change::cut_short:
            return text.substr(0, from.below(text.size()));
        case change::odd_number:
            return of_tokens(false, [&](const std::string& word) { return odd(word, from); });
        case change::odd_day:
            return of_tokens(true, [&](const std::string& word) { return odd(word, from); });
        case change::other_number:
            return of_tokens(false, [&](const std::string& word) { return another_number(word, from); });
        case change::other_day:
            return of_tokens(true, [&](const std::string& word) { return another_day(word, from); });
        case change::swap_keys: {
            const auto keys = keys_of(text);
            return keys.empty() ? text : swapped(text, from.one_of(keys), from.one_of(keys));
        }
        case change::move_value: {
            const auto tokens = tokens_of(text);
            return tokens.empty() ? text : swapped(text, from.one_of(tokens), from.one_of(tokens));
        }
        case change::indent:
            return of_lines([&](auto& lines) {
                std::string& line = lines[from.below(lines.size())];
                const std::size_t by = 1 + from.below(4);
                if (from.below(2) == 0)
                    line.insert(0, by, ' ');
                else
                    line.erase(0, std::min(by, line.find_first_not_of(' ')));
            });
        case change::copy_lines:
            return of_lines([&](auto& lines) {
                const std::size_t at = from.below(lines.size()), to = from.below(lines.size() + 1);
                const std::size_t many = std::min(1 + from.below(6), lines.size() - at);
                const std::vector<std::string> copy(lines.begin() + static_cast<std::ptrdiff_t>(at),
                                                    lines.begin() + static_cast<std::ptrdiff_t>(at + many));
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), copy.begin(), copy.end());
            });
        case change::quote:
            return of_tokens(from.below(4) == 0, [&](const std::string& word) {
                return from.below(2) == 0 ? "'" + word + "'" : "\"" + word + "\"";
            });
        case change::respell_all:
            return respelt(text, seed);
        case change::count:
            break;
    }
    return text;
}

std::string shrunken(std::string text, const std::function<bool(const std::string&)>& is_wrong) {
    for (std::size_t many = std::max<std::size_t>(lines_of(text).size() / 2, 1);; many /= 2) {
        for (std::size_t at = 0; at < lines_of(text).size();) {
            auto lines = lines_of(text);
            const auto from = lines.begin() + static_cast<std::ptrdiff_t>(at);
            lines.erase(from, from + static_cast<std::ptrdiff_t>(std::min(many, lines.size() - at)));
            const std::string shorter = joined(lines);
            if (shorter != text && is_wrong(shorter))
                text = shorter;
            else
                at += many;
        }
        if (many <= 1) return text;
    }
}

std::pair<std::uint64_t, std::uint64_t> seeds_of(std::uint64_t from, std::uint64_t to) {
    const char* said = std::getenv("TILEWALK_CORPUS_SEEDS");
    if (!said) return {from, to};
    char* end = nullptr;
    const std::uint64_t first = std::strtoull(said, &end, 10);
    return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first + 1};
}

std::string line_that_differs(const std::string& before, const std::string& after) {
    std::size_t at = 0;
    while (at < before.size() && at < after.size() && before[at] == after[at]) ++at;
    const auto line_of = [&](const std::string& of) {
        const std::size_t from = at == 0 ? 0 : of.rfind('\n', at - 1) + 1;  // 0 if there is no line feed
        return printable(of.substr(from, of.find('\n', at) - from));
    };
    return "\n    " + line_of(before) + "\n    became\n    " + line_of(after);
}

struct tally {
    std::size_t refused = 0, accepted = 0, judged = 0, priced = 0, unchanged = 0;
};

bool same_prices(const std::vector<price_row>& a, const std::vector<price_row>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].status != b[i].status || !same(a[i].price, b[i].price) || !same(a[i].value(), b[i].value()))
            return false;
    }
    return true;
}

// Applies the mutations with seeds `from` to `to` to files of a form, and prices every `priced_every`-th.
void run(form is, std::uint64_t from, std::uint64_t to, std::size_t priced_every) {
    court at(shipped(is));
    const auto [first, last] = seeds_of(from, to);
    std::map<std::string, tally> by_change;
    std::map<std::string, std::string> lenient;
    std::size_t wrong = 0;
    std::map<std::string, outcome> originals;
    for (std::uint64_t seed = first; seed < last && wrong < 5; ++seed) {
        draws from_seed(mixed(seed, 1));
        const base_file& base = at.bases()[from_seed.below(at.bases().size())];
        constexpr auto kinds = static_cast<std::size_t>(change::count);
        auto how = static_cast<change>(from_seed.below(kinds));
        std::string text = changed(base.text, how, mixed(seed, 2));
        // If the file has no place for this kind of change, or the change has no effect, tries the next kind.
        for (std::uint64_t k = 3; text == base.text; ++k) {
            how = static_cast<change>((static_cast<std::size_t>(how) + 1) % kinds);
            text = changed(base.text, how, mixed(seed, k));
        }
        const bool prices = seed % priced_every == 0;
        outcome found = at.held(base, text, prices);
        tally& counted = by_change[change_names[static_cast<std::size_t>(how)]];
        (found.accepted ? counted.accepted : counted.refused) += 1;
        if (found.is_judged && found.accepted) ++counted.judged;
        if (!found.rows.empty()) ++counted.priced;
        if (found.accepted && !found.lenient.empty())
            lenient.emplace(found.lenient, std::to_string(seed) + line_that_differs(base.text, text));
        if (found.defect.empty() && how == change::respell_all) {
            if (!found.accepted)
                found.defect = "refused, though it says the same in other signs: " + found.refusal;
            if (prices && found.defect.empty()) {
                auto [original, is_new] = originals.try_emplace(base.name);
                if (is_new) original->second = at.held(base, base.text, true);
                if (!same_prices(original->second.rows, found.rows))
                    found.defect = "other prices, though it says the same in other signs";
            }
        }
        if (found.defect.empty()) continue;
        ++wrong;
        // Compares messages up to the first number or quote: the place in a shorter file is another.
        const auto kind_of = [](const std::string& defect) {
            return defect.substr(0, std::min<std::size_t>(defect.find_first_of("0123456789'"), 24));
        };
        const std::string shortest =
            how == change::respell_all ? text : shrunken(text, [&](const std::string& shorter) {
                const outcome again = at.held(base, shorter, prices);
                return !again.defect.empty() && kind_of(again.defect) == kind_of(found.defect);
            });
        ADD_FAILURE() << base.name << ", seed " << seed << ", " << change_names[static_cast<std::size_t>(how)]
                      << ":\n"
                      << printable(found.defect) << "\nThe shortest file that shows it:\n"
                      << shortest;
    }
    std::size_t refused = 0, accepted = 0, judged = 0, priced = 0;
    for (const auto& [name, counted] : by_change) {
        std::cout << "  " << name << ": " << counted.refused << " refused, " << counted.accepted
                  << " accepted, " << counted.judged << " of them judged, " << counted.priced << " priced\n";
        refused += counted.refused;
        accepted += counted.accepted;
        judged += counted.judged;
        priced += counted.priced;
    }
    for (const auto& [what, seed] : lenient)
        std::cout << "  taken, though to the second reader it is " << what << ": seed " << seed << "\n";
    std::cout << "  in all: " << refused << " refused, " << accepted << " accepted, " << judged << " judged, "
              << priced << " priced\n";
    if (std::getenv("TILEWALK_CORPUS_SEEDS")) return;
    // The judge must have compared enough cases.
    EXPECT_EQ(refused + accepted, last - first);
    EXPECT_GT(judged, (accepted * 3) / 4);
    EXPECT_GT(refused, 0U);
}

// Expects that the judge objects to a file with one changed number or day beside what Tilewalk read of the
// original, except for at most `most_blind_percent` of the changes.
void expect_objections(form is, std::uint64_t from, std::size_t most_blind_percent) {
    court at(shipped(is));
    std::size_t shown = 0, blind = 0;
    std::string unseen;
    for (std::uint64_t seed = from; seed < from + 200; ++seed) {
        draws from_seed(mixed(seed, 1));
        const base_file& base = at.bases()[from_seed.below(at.bases().size())];
        const change how = from_seed.below(2) == 0 ? change::other_number : change::other_day;
        const std::string text = changed(base.text, how, mixed(seed, 2));
        tree before, after;
        try {
            before = independent::yaml(base.text);
            after = independent::yaml(text);
        } catch (const std::runtime_error&) {
            continue;
        }
        if (means_the_same(before, after)) continue;
        ++shown;
        if (!at.between(base, base.text, text).empty()) continue;
        ++blind;
        if (unseen.size() < 2000) unseen += "  " + base.name + line_that_differs(base.text, text) + "\n";
    }
    EXPECT_GT(shown, 50U);
    EXPECT_LE(blind * 100, most_blind_percent * shown)
        << "of " << shown << " files the judge saw nothing in " << blind << ":\n"
        << unseen;
}

// The judge sees neither parameters of models (prices by other spellings are compared instead) nor holidays
// on a weekend, about one holiday in three.
TEST(corpus_mutations, the_judge_of_books_objects) {
    expect_objections(form::book, 400'000, 25);
}
TEST(corpus_mutations, the_judge_of_markets_objects) {
    expect_objections(form::market, 400'000, 5);
}
TEST(corpus_mutations, the_judge_of_products_objects) {
    expect_objections(form::product, 400'000, 5);
}
TEST(corpus_mutations, the_judge_of_calendars_objects) {
    expect_objections(form::calendar, 400'000, 20);
}

std::string in_one_line(const tree& value) {
    std::string made;
    switch (value.kind) {
        case tree::shape::nothing:
            return "~";
        case tree::shape::text:
            return value.is_quoted ? "'" + value.text + "'" : value.text;
        case tree::shape::list:
            for (const tree& item : value.items) made += (made.empty() ? "" : ", ") + in_one_line(item);
            return "[" + made + "]";
        case tree::shape::mapping:
            for (const auto& [key, held] : value.members)
                made += (made.empty() ? "" : ", ") + key + ": " + in_one_line(held);
            return "{" + made + "}";
    }
    return made;
}

// Trades of a product: its example, a trade with mandatory parameters alone, and each choice for both.
std::string trades_of(const base_file& product) {
    const tree root = independent::yaml(product.text);
    const tree example = independent::yaml("a: " + product.trade + "\n").members.at(0).second;
    tree least = example;
    std::erase_if(least.members, [&](const auto& m) {
        const tree* declared = root.find("parameters")->find(m.first);
        return declared && (declared->find("default") || declared->find("optional"));
    });
    std::vector<tree> trades{example, least};
    for (const tree& from : {example, least}) {
        const auto add = [&](const std::string& key, const std::string& value) {
            trades.push_back(from);
            std::erase_if(trades.back().members, [&](const auto& m) { return m.first == key; });
            trades.back().members.emplace_back(key, tree{tree::shape::text, value});
        };
        for (const auto& [name, declared] : root.find("parameters")->members) {
            if (const tree* choices = declared.find("choices")) {
                for (const tree& choice : choices->items) add(name, choice.text);
            } else if (declared.find("type")->text == "boolean") {
                add(name, "true");
                add(name, "false");
            }
        }
    }
    std::string made;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        for (auto& [key, value] : trades[i].members) {
            if (key == "id") value.text = "t" + std::to_string(i);
        }
        made += (i > 0 ? "\n  - " : "") + in_one_line(trades[i]);
    }
    return made;
}

// A book whose trades depend on much of the demo market: the examples of all products and more.
std::string trades_of_all() {
    std::string made = "trades:\n";
    std::size_t number = 0;
    for (const auto& page : product_pages())
        made += "  - " + replaced(page.example, "id: example", "id: t" + std::to_string(number++)) + "\n";
    const std::string demo = content(configs + "books/demo.yaml"),
                      notes = content(configs + "books/notes.yaml");
    for (const std::string& text : {demo, notes}) {
        const tree book = independent::yaml(text);
        for (const tree& trade : book.find("trades")->items) made += "  - " + in_one_line(trade) + "\n";
    }
    return made;
}

std::vector<std::string> others_of(const std::string& word) {
    if (const auto serial = independent::day(word)) {
        std::vector<std::string> made;
        for (const int step : {7, -7, 31, -31, 366})
            made.push_back(independent::day_table::all().at(*serial + step).text);
        return made;
    }
    std::vector<std::string> made;
    const double value = *independent::number(word);
    const bool is_whole = word.find_first_of(".eE") == std::string::npos;
    for (const double other :
         {value * 1.03, value * 0.97, value * 1.3, value * 0.5, value * 3, value + 1, value - 1, -value}) {
        std::ostringstream out;
        out.precision(6);
        out << (is_whole ? std::round(other) : other);
        if (independent::number(out.str()) != std::optional(value)) made.push_back(out.str());
    }
    return made;
}

// Changes every `step`-th number or day of each file. The file must then be refused or price differently,
// except for the lines in `may_not` and for `most_percent` of the numbers.
void expect_that_numbers_matter(form is, std::size_t step, const std::vector<std::string>& may_not,
                                std::size_t most_percent = 0) {
    auto bases = shipped(is);
    for (base_file& base : bases) {
        if (is == form::product) base.trade = trades_of(base);
        if (is == form::market) base.trade = trades_of_all();
    }
    court at(bases);
    std::size_t looked_at = 0, number = 0;
    std::vector<std::string> silent;
    for (const base_file& base : at.bases()) {
        outcome original;
        for (const token& t : tokens_of(base.text)) {
            const std::size_t line = base.text.rfind('\n', t.at) + 1;
            const std::string before = base.text.substr(line, t.at - line);
            const std::string key =
                before.substr(before.find_last_of(",{[ ", before.size() < 2 ? 0 : before.size() - 2) + 1);
            // Left out: bounds, which the judge covers; examples, not priced here; settings, as runs have
            // others.
            if (is == form::product && !t.in_script && !key.starts_with("default")) continue;
            if (before.starts_with("settings")) continue;
            // Left out: initial values of a script, overwritten before they are read, and its refusals, which
            // compare sizes.
            if (t.in_script && before.find_first_not_of(' ') == 2) continue;
            if (number++ % step != 0) continue;
            if (original.rows.empty()) original = at.held(base, base.text, true);
            ++looked_at;
            bool matters = false;
            for (const std::string& other : others_of(base.text.substr(t.at, t.length))) {
                std::string text = base.text;
                text.replace(t.at, t.length, other);
                const outcome found = at.held(base, text, true);
                EXPECT_EQ(found.defect, "") << base.name << ": " << before << other;
                matters = !found.accepted || !same_prices(original.rows, found.rows);
                if (matters) break;
            }
            if (matters) continue;
            const std::string place = base.name + ": " +
                                      before.substr(std::min(before.find_first_not_of(' '), before.size())) +
                                      base.text.substr(t.at, t.length);
            const bool is_known = std::any_of(may_not.begin(), may_not.end(), [&](const std::string& known) {
                return place.find(known) != std::string::npos;
            });
            if (!is_known) silent.push_back(place);
        }
    }
    std::cout << "  " << looked_at << " numbers and days looked at\n";
    EXPECT_GT(looked_at, 0U);
    std::string said;
    for (const std::string& place : silent) said += "  another number changes nothing: " + place + "\n";
    EXPECT_LE(silent.size() * 100, most_percent * looked_at) << said;
}

// A pillar that prices no trade: none on its asset is alive after the expiry before.
const std::vector<std::string> idle_in_books{"smiles.yaml: 2028-01-21"};
// A pillar of the euro curve, as no trade pays after the one before, and a date of a dividend, as no trade on
// its asset lives until another date for it.
const std::vector<std::string> idle_in_markets{"demo.yaml: 2036-01-15", "demo.yaml: - {date: 2027-12-08"};

TEST(corpus_mutations_long, every_number_of_a_book_matters) {
    expect_that_numbers_matter(form::book, 1, idle_in_books);
}
TEST(corpus_mutations_long, every_number_of_a_market_matters) {
    expect_that_numbers_matter(form::market, 1, idle_in_markets);
}
// Numbers on lines that the trades made here don't reach, or reach only with refused terms, and numbers that
// no path comes near. New products may add a few.
const std::vector<std::string> idle_in_products =
    texts("accumulator.yaml: alive_so_far = alive_so_far * (1", "barrier.yaml: untouched = 0",
          "barrier_reverse_convertible.yaml: untouched = 0", "cap_floor.yaml: interest = 0",
          "cms_leg.yaml: rate = 0", "double_barrier.yaml: pay untouched * vanilla + (1",
          "double_barrier.yaml: untouched = 0",
          "extensible_option.yaml: pay max(extended_strike - spot(underlying), 0",
          "floating_rate_note.yaml: interest = 0", "himalaya.yaml: found = 1",
          "lookback.yaml: pay max(high - strike, 0", "lookback.yaml: pay max(strike - low, 0",
          "partial_barrier.yaml: now = -1", "partial_barrier.yaml: now = 1",
          "partial_barrier.yaml: pay untouched * vanilla + (1", "phoenix_autocallable.yaml: held = 0",
          "phoenix_autocallable.yaml: held = held * (1",
          "phoenix_autocallable.yaml: watching_start: {type: date, default: 0.0",
          "rate_future.yaml: if time >= 0", "rate_range_accrual.yaml: if paid_for == 0",
          "rate_range_accrual.yaml: if time >= 0", "rate_range_accrual.yaml: paid_for = 1",
          "rate_range_accrual.yaml: pay notional * coupon * length * inside / max(seen, 1",
          "soft_barrier.yaml: knocked = 0", "swap.yaml: interest = 0", "swaption.yaml: if time >= 0");
constexpr std::size_t few_percent = 3;

TEST(corpus_mutations_long, every_number_of_a_product_matters) {
    expect_that_numbers_matter(form::product, 1, idle_in_products, few_percent);
}
TEST(corpus_mutations, a_tenth_of_the_numbers_of_products_matter) {
    expect_that_numbers_matter(form::product, 10, idle_in_products, few_percent);
}

TEST(corpus_mutations, mutations_of_books) {
    run(form::book, 0, 1'500, 40);
}
TEST(corpus_mutations, mutations_of_markets) {
    run(form::market, 100'000, 101'500, 20);
}
TEST(corpus_mutations, mutations_of_products) {
    run(form::product, 200'000, 201'500, 10);
}
TEST(corpus_mutations, mutations_of_calendars) {
    run(form::calendar, 300'000, 300'500, 1);
}

TEST(corpus_mutations_long, mutations_of_books) {
    run(form::book, 1'500, 15'000, 10);
}
TEST(corpus_mutations_long, mutations_of_markets) {
    run(form::market, 101'500, 115'000, 10);
}
TEST(corpus_mutations_long, mutations_of_products) {
    run(form::product, 201'500, 215'000, 4);
}
TEST(corpus_mutations_long, mutations_of_calendars) {
    run(form::calendar, 300'500, 305'000, 1);
}

}  // namespace
}  // namespace tilewalk::corpus::corpus_mutations_test
