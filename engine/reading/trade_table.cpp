// SPDX-License-Identifier: Apache-2.0
// One thread splits lines into cells. All threads turn rows into mappings: a cell's form follows from its
// column and product.
#include "engine/reading/trade_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/base/crew.h"
#include "engine/base/text/csv.h"
#include "engine/base/text/entry_tree.h"
#include "engine/base/text/plain_entry.h"
#include "engine/base/wording.h"
#include "engine/reading/argument_reader.h"
#include "tilewalk/bounds.h"

namespace tilewalk::books {

namespace {

using cell = config::csv_reader::cell;
using language::parameter_type;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// Forms that a cell may have besides a single word.
struct cell_forms {
    bool list = false;     // "[90, 100]", or "90;100"
    bool mapping = false;  // "{start: 0, end: 1, every: 3m}"
    bool is_list = false;  // a single word means a list of one
};

cell_forms forms_of(const language::parameter& p) {
    const bool is_list =
        p.per.empty() && (p.type == parameter_type::schedule || p.type == parameter_type::asset_list);
    return {!p.per.empty() || is_list, p.type == parameter_type::date || p.type == parameter_type::schedule,
            is_list};
}

class columns_of_product {
  public:
    columns_of_product(const std::vector<std::string>& names,
                       std::shared_ptr<const language::product> product)
        : product_(std::move(product)), forms_(names.size()), knows_(names.size()) {
        for (std::size_t c = 0; c < names.size(); ++c) {
            knows_[c] = std::ranges::find(trade_keys, names[c]) != trade_keys.end();
            forms_[c].mapping = names[c] == "report";
            if (product_ == nullptr) continue;
            const auto found = std::ranges::find(product_->parameters, names[c], &language::parameter::name);
            if (found == product_->parameters.end()) continue;
            forms_[c] = forms_of(*found);
            knows_[c] = true;
        }
    }
    const language::product& product() const { return *product_; }
    const cell_forms& forms(std::size_t column) const { return forms_[column]; }
    bool knows(std::size_t column) const { return knows_[column]; }

  private:
    std::shared_ptr<const language::product> product_;
    std::vector<cell_forms> forms_;
    std::vector<bool> knows_;
};

bool is_plain_word(std::string_view word) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.' || c == '-' || c == '+';
    };
    return !word.empty() && word != "-" && word != "null" && word != "Null" && word != "NULL" &&
           std::ranges::all_of(word, is_plain);
}

struct placed_cell {
    std::string_view text;
    int line = 0, column = 0;

    explicit placed_cell(const cell& of) : text(trimmed(of.text)), line(of.line), column(of.column) {
        const std::size_t blank = text.empty() ? 0 : of.text.find_first_not_of(blanks);
        const auto lines = static_cast<int>(
            std::count(of.text.begin(), of.text.begin() + static_cast<std::ptrdiff_t>(blank), '\n'));
        line += lines;
        column = lines > 0 ? 1 : column + static_cast<int>(blank) + (of.is_quoted ? 1 : 0);
    }
};

class row_maker {
  public:
    row_maker(config::entry_tree&& tree, const trade_file& file, const std::vector<std::string>& names)
        : tree_(std::move(tree)),
          of_(file),
          names_(names),
          of_unknown_(names, nullptr),
          has_told_(names.size()) {
        product_column_ = column_of("product");
        quantity_column_ = column_of("quantity");
        // Read id and quantity first, so that a row with a bad cell still has them.
        for (const std::size_t c : {column_of("id"), quantity_column_})
            if (c != config::csv_reader::no_column) order_.push_back(c);
        for (std::size_t c = 0; c < names.size(); ++c)
            if (std::ranges::find(order_, c) == order_.end()) order_.push_back(c);
    }

    // Makes the mapping of one row. Returns the fault of the row, if it has one.
    std::optional<error> make(const std::vector<cell>& cells, int index, config::node& into) {
        const location begins{of_.name, cells.front().line, cells.front().column};
        tree_.row_begins(begins.line, begins.column, index, into);
        std::optional<error> failure;
        try {
            const columns_of_product& columns = columns_of(cells);
            const bool is_whole = cells.size() == names_.size();
            bool names_product = false, has_quantity = false;
            for (const std::size_t c : order_) {
                if (c >= cells.size()) continue;
                const placed_cell at(cells[c]);
                // With too few or too many cells, this may be another column's cell: leave the quantity open.
                const bool is_quantity = c == quantity_column_;
                if (is_quantity && (!is_whole || (at.text.empty() && of_.default_quantity.empty()))) {
                    tree_.stands_at(at.line, at.column);
                    tree_.key(0, names_[c]);
                    tree_.nothing();
                    has_quantity = true;
                    continue;
                }
                if (at.text.empty()) continue;
                has_told_[c] = true;
                names_product = names_product || c == product_column_;
                has_quantity = has_quantity || is_quantity;
                tree_.stands_at(at.line, at.column);
                tree_.key(0, names_[c]);
                if (at.text.size() > bounds::text_bytes)
                    refuse(at, "found a text of " + std::to_string(at.text.size()) +
                                   " bytes, expected at most " + std::to_string(bounds::text_bytes));
                tell(at, columns.forms(c));
            }
            const auto tell_of_book = [&](std::string_view key, std::string_view word) {
                tree_.stands_at(begins.line, begins.column);
                tree_.key(0, key);
                tree_.word(0, word);
            };
            if (!names_product && !of_.product.empty()) tell_of_book("product", of_.product);
            if (!has_quantity && !of_.default_quantity.empty())
                tell_of_book("quantity", of_.default_quantity);
            if (!is_whole) {
                throw error(error_kind::input,
                            "found " + std::to_string(cells.size()) +
                                (cells.size() == 1 ? " cell" : " cells") + ", expected " +
                                std::to_string(names_.size()) +
                                ", one for each name of the header; a cell with a comma in it needs quotes",
                            begins);
            }
        } catch (const error& e) {
            failure = e;
        }
        tree_.row_ends();
        return failure;
    }

    bool has_told(std::size_t column) const { return has_told_[column]; }
    const std::unordered_map<std::string, columns_of_product>& products() const { return columns_; }

  private:
    std::size_t column_of(std::string_view name) const {
        const auto at = std::ranges::find(names_, name);
        return at == names_.end() ? config::csv_reader::no_column
                                  : static_cast<std::size_t>(at - names_.begin());
    }
    const columns_of_product& columns_of(const std::vector<cell>& cells) {
        product_.assign(product_column_ < cells.size() ? trimmed(cells[product_column_].text) : "");
        if (product_.empty()) product_ = of_.product;
        const auto found = columns_.find(product_);
        if (found != columns_.end()) return found->second;
        auto product = product_of(product_, of_.products);
        if (product == nullptr) return of_unknown_;
        return columns_.emplace(product_, columns_of_product(names_, std::move(product))).first->second;
    }

    void tell(const placed_cell& at, const cell_forms& forms) {
        const char first = at.text.front();
        if (forms.list && first == '[' && tell_plain_list(at)) return;
        if ((forms.list && first == '[') || (forms.mapping && first == '{')) {
            tell_yaml(at);
        } else if (forms.list && (forms.is_list || at.text.find(';') != std::string_view::npos)) {
            std::string_view text = at.text;
            if (text.ends_with(';')) text.remove_suffix(1);
            tell_words(at, 0, text, ';');
        } else {
            tree_.word(0, at.text);
        }
    }

    // Passes on a list of plain words in brackets. For any other text returns false and passes on nothing.
    bool tell_plain_list(const placed_cell& at) {
        if (at.text.size() < 2 || at.text.back() != ']') return false;
        const std::string_view inside = at.text.substr(1, at.text.size() - 2);
        for (std::size_t from = 0; from <= inside.size();) {
            const std::size_t end = std::min(inside.find(',', from), inside.size());
            if (!is_plain_word(trimmed(inside.substr(from, end - from)))) return false;
            from = end + 1;
        }
        tell_words(at, 1, inside, ',');
        return true;
    }

    // Passes on the words between separators as a list; `words` starts at character `from` of the cell.
    void tell_words(const placed_cell& at, std::size_t from, std::string_view words, char separator) {
        tree_.sequence_starts(0);
        for (std::size_t begin = 0; begin <= words.size();) {
            const std::size_t end = std::min(words.find(separator, begin), words.size());
            const std::string_view word = words.substr(begin, end - begin), kept = trimmed(word);
            if (kept.empty()) {
                refuse(at, "found nothing between two signs " + config::shown(std::string(1, separator)) +
                               ", expected one value for each of a list");
            }
            tree_.word(from + begin + word.find_first_not_of(blanks), kept);
            begin = end + 1;
        }
        tree_.sequence_ends();
    }

    void tell_yaml(const placed_cell& at) {
        config::entry_counts counts;
        if (config::plain_entry(at.text, counts).scan()) {
            config::plain_entry(at.text, tree_).scan();
            return;
        }
        try {
            const config::node read = config::parse(at.text, of_.name);
            tree_.tell(read, at.line, at.column);
        } catch (const error& e) {
            const int line = std::max(e.where().line, 1), column = std::max(e.where().column, 1);
            std::string message = e.message();  // the hint is about files, but only the cell ended
            if (message.ends_with(config::may_be_cut_short))
                message.resize(message.size() - config::may_be_cut_short.size());
            throw error(e.kind(), message,
                        {of_.name, at.line + line - 1, line == 1 ? at.column + column - 1 : column});
        }
    }

    [[noreturn]] void refuse(const placed_cell& at, const std::string& message) const {
        throw error(error_kind::input, message, {of_.name, at.line, at.column});
    }

    config::entry_tree tree_;
    const trade_file& of_;
    const std::vector<std::string>& names_;
    std::size_t product_column_ = config::csv_reader::no_column;
    std::size_t quantity_column_ = config::csv_reader::no_column;
    std::vector<std::size_t> order_;  // columns in the order of reading
    const columns_of_product of_unknown_;
    std::vector<bool> has_told_;  // by column: some row has text there
    std::string product_;         // product of the current row
    std::unordered_map<std::string, columns_of_product> columns_;
};

std::vector<std::string> names_of_columns(const config::csv_reader& table, bool has_product) {
    std::vector<std::string> names;
    std::unordered_set<std::string> seen;
    const auto& header = table.header();
    if (header.size() > bounds::part_values) {
        table.fail_header(bounds::part_values, "found more than " + std::to_string(bounds::part_values) +
                                                   " columns, which is the limit");
    }
    for (std::size_t c = 0; c < header.size(); ++c) {
        names.emplace_back(trimmed(header[c].text));
        if (names.back().empty())
            table.fail_header(c, "found a column without a name, expected the name of a parameter");
        if (!seen.insert(names.back()).second)
            table.fail_header(c, "found a second column " + config::shown(names.back()) + ", expected one");
    }
    for (const std::string_view needed : {std::string_view("id"), std::string_view("product")}) {
        if (seen.contains(std::string(needed)) || (needed == "product" && has_product)) continue;
        table.fail_header(0, "found no column '" + std::string(needed) + "'" +
                                 config::suggestion(needed, names) + ", expected one" +
                                 (needed == "product" ? ", or the product of all rows in the book, as in "
                                                        "{csv: trades.csv, product: european}"
                                                      : " with the names of the trades"));
    }
    return names;
}

// Throws for a column with content that no product of the table knows.
void check_columns(const config::csv_reader& table, const std::vector<std::string>& names,
                   const std::vector<row_maker>& makers) {
    std::vector<bool> is_known(names.size());
    std::set<std::string> known;
    for (std::size_t c = 0; c < names.size(); ++c)
        is_known[c] = std::ranges::none_of(makers, [&](const row_maker& m) { return m.has_told(c); });
    for (const row_maker& made : makers) {
        for (const auto& [name, columns] : made.products()) {
            for (std::size_t c = 0; c < names.size(); ++c) is_known[c] = is_known[c] || columns.knows(c);
            for (const auto& p : columns.product().parameters) known.insert(p.name);
        }
    }
    if (known.empty()) return;  // no product is valid: every row has failed already
    known.insert(trade_keys.begin(), trade_keys.end());
    const auto wrong = static_cast<std::size_t>(std::ranges::find(is_known, false) - is_known.begin());
    if (wrong == names.size()) return;
    table.fail_header(wrong,
                      "unknown column " + config::shown(names[wrong]) +
                          config::alternatives(names[wrong], "known columns:", {known.begin(), known.end()}));
}

}  // namespace

void read_trade_table(const trade_file& file, int threads, rows_of_trades& into) {
    config::csv_reader table(*file.text, file.name);
    const std::vector<std::string> names = names_of_columns(table, !file.product.empty());
    std::vector<row_maker> makers;
    for (config::entry_tree& tree : config::entry_tree::of_rows(file.name, "trades", threads))
        makers.emplace_back(std::move(tree), file, names);

    // Rows are split in small batches, to keep the memory for cells low.
    constexpr std::size_t batch = 8192;
    std::vector<std::vector<cell>> cells;
    std::vector<std::optional<error>> failures(batch);
    std::size_t values = 0;
    for (bool is_whole = false; !is_whole;) {
        cells.clear();
        while (cells.size() < batch && !is_whole) {
            is_whole = !table.next_of_any_length();
            if (is_whole) break;
            values += table.row().size();
            if (into.rows.size() + cells.size() == bounds::entries || values > bounds::file_values) {
                table.fail_row(values > bounds::file_values
                                   ? "found more than " + std::to_string(bounds::file_values) +
                                         " cells, which is the limit"
                                   : "found more than " + std::to_string(bounds::entries) +
                                         " trades, which is the limit");
            }
            cells.push_back(table.take_row());
        }
        const std::size_t first = into.rows.size();
        into.rows.resize(first + cells.size());
        threads::for_each_short(cells.size(), threads, [&](int thread, std::uint64_t i) {
            failures[i] = makers[static_cast<std::size_t>(thread)].make(cells[i], static_cast<int>(first + i),
                                                                        into.rows[first + i]);
        });
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (failures[i]) into.failures.emplace(first + i, *std::exchange(failures[i], {}));
    }
    check_columns(table, names, makers);
    if (const auto last = into.failures.find(into.rows.size() - 1);
        last != into.failures.end() && !table.has_end_marker() && table.ends_in_line()) {
        const error& cut = last->second;
        last->second = error(cut.kind(), cut.message() + std::string(config::may_be_cut_short), cut.where());
    }
    into.has_end_marker = table.has_end_marker();
    into.end = table.here();
}

}  // namespace tilewalk::books
