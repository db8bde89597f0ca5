// SPDX-License-Identifier: Apache-2.0
// Reads a book file. An error of the book is thrown; an error of one trade is kept with the trade.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/base/accuracy.h"
#include "engine/base/crew.h"
#include "engine/base/digest.h"
#include "engine/base/numbers.h"
#include "engine/base/open_file.h"
#include "engine/base/text/checked_source.h"
#include "engine/base/text/document.h"
#include "engine/base/text/unicode.h"
#include "engine/base/text/written.h"
#include "engine/market/market_state.h"
#include "engine/reading/argument_reader.h"
#include "engine/reading/book_state.h"
#include "engine/reading/library.h"
#include "engine/reading/market_reader.h"
#include "engine/reading/named_files.h"
#include "engine/reading/trade_table.h"
#include "tilewalk/bounds.h"
#include "tilewalk/rows.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace books {

namespace {

const std::vector<std::string>& keys_of_trades() {
    static const std::vector<std::string> keys{trade_keys.begin(), trade_keys.end()};
    return keys;
}

constexpr std::size_t most_currency_bytes = 64;  // a loose limit: unknown codes have a better message

using reading::read_named;

struct surroundings {
    std::filesystem::path folder;  // relative file names start here
    bool strict = false;
    std::filesystem::path inside;  // files must lie in here; empty for no limit
};

std::filesystem::path resolved(const config::node& named, const surroundings& around) {
    if (!named.is_scalar() || named.text().empty()) {
        named.fail("found " + named.found() + ", expected the name of a file or a mapping");
    }
    return (around.folder / named.text()).lexically_normal();
}

void read_market_of(const config::node& root, const surroundings& around, book_state& into) {
    const auto* given = root.find("market");
    if (!given) return;
    if (given->is_mapping()) {
        markets::market_state state = markets::read_market(*given, around.inside, around.folder);
        state.name = into.name;
        into.market = with_state<market>(std::make_shared<const markets::market_state>(std::move(state)));
        return;
    }
    into.market = read_named(*given, resolved(*given, around), [&](const std::filesystem::path& file) {
        return markets::load_market(file, around.strict, around.inside);
    });
}

// Returns the setting's value as the command line would spell it. `device` may be a list of GPU numbers.
std::string text_of(const config::node& value, const run_setting& setting) {
    if (value.is_sequence() && setting.takes == run_setting::value_type::devices) {
        std::string joined;
        for (const auto& item : value.items()) joined += (joined.empty() ? "" : ",") + item.text();
        return joined;
    }
    const bool is_read = value.is_scalar() && !(value.is_quoted() && setting.is_number());
    if (!is_read) value.fail("found " + value.found() + ", expected " + setting.expected());
    const std::string& text = value.text();
    // Refuse numbers such as 010: ten on the command line, but YAML readers disagree whether it is eight.
    if (setting.is_number() && text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        value.fail("found " + value.found() + ", expected " + setting.expected() + config::number_hint(text));
    return text;
}

// The path of a file to be opened later. If files are confined to a folder, it is checked and made absolute.
std::string file_of(const config::node& named, const std::string& text, const surroundings& around) {
    const auto file = (around.folder / text).lexically_normal();
    if (around.inside.empty()) return file.string();
    return read_named(named, file, [&](const std::filesystem::path& path) {
        return config::resolved_inside(path, around.inside).string();
    });
}

run_settings read_settings(const config::node& root, const surroundings& around) {
    run_settings read;
    const auto* given = root.find("settings");
    if (!given) return read;
    std::vector<std::string> known;
    for (const auto& setting : setting_table()) known.push_back(setting.name);
    given->only(known);
    for (const auto& setting : setting_table()) {
        const auto* value = given->find(setting.name);
        if (!value) continue;
        std::string text = text_of(*value, setting);
        if (setting.takes == run_setting::value_type::file && !text.empty())
            text = file_of(*value, text, around);
        if (const auto wrong = setting.read(text, read)) value->fail("found " + value->found() + *wrong);
    }
    return read;
}

config::document read_input(const config::node& named, const surroundings& around, book_state& into) {
    const auto file = resolved(named, around);
    config::document read = read_named(named, file, [&](const std::filesystem::path& path) {
        return config::read_document(path, {}, around.inside);
    });
    into.inputs.push_back({file.string(), read.hash});
    return read;
}

template <class make>
auto made_of(const config::node& part, const surroundings& around, book_state& into, make&& from) {
    if (part.is_mapping()) return from(part);
    const config::document read = read_input(part, around, into);
    auto made = from(read.root);
    if (around.strict) config::demand_end(read);
    return made;
}

own_products read_products(const config::node& root, const surroundings& around, book_state& into) {
    own_products own;
    const auto* given = root.find("products");
    if (!given) return own;
    for (const auto& item : given->items()) {
        const std::shared_ptr<const language::product> product = made_of(item, around, into, read_product);
        const std::string& name = product->name;
        if (library().has(name))
            item.fail("the library has a product '" + name + "' already; give this one another name");
        if (!own.emplace(name, product).second)
            item.fail("found a second product '" + name + "' in this book, expected different names");
    }
    return own;
}

std::shared_ptr<const language::product> find_product(const config::node& named, const own_products& own) {
    if (auto product = product_of(named.text(), own)) return product;
    std::vector<std::string> known = library().names();
    for (const auto& [name, product] : own) known.push_back(name);
    std::ranges::sort(known);
    named.fail("unknown product " + config::shown(named.text()) +
               config::alternatives(named.text(), "known products:", known));
}

calendars read_calendars(const config::node& root, const surroundings& around, book_state& into) {
    calendars known = usual_calendars();
    const auto* given = root.find("calendars");
    if (!given) return known;
    for (const auto& member : given->members()) {
        const bool is_new =
            known.emplace(member.key, made_of(member.value, around, into, read_calendar)).second;
        if (!is_new)
            member.fail("every book has a calendar '" + member.key + "'; give this one another name");
    }
    return known;
}

bool is_searchable(const language::parameter& p) {
    using language::parameter_type;
    return p.type == parameter_type::amount || p.type == parameter_type::number ||
           p.type == parameter_type::rate;
}

bool is_one_number(const language::argument& of) {
    if (std::holds_alternative<double>(of)) return true;
    const auto* each = std::get_if<std::vector<double>>(&of);
    return each != nullptr && !each->empty() &&
           std::ranges::all_of(*each, [&](double x) { return x == each->front(); });
}

// Reads a trade's `report`: `implied_volatility`, `fair_strike`, or {fair: coupon, price: 100}.
report_request read_report(const config::node& given, const trade& of) {
    constexpr std::string_view volatility = "implied_volatility", fair = "fair_";
    report_request asked;
    const config::node* named = &given;
    std::string parameter;
    if (given.is_mapping()) {
        given.only({"fair", "price"});
        named = &given.at("fair");
        parameter = named->text();
        if (const auto* price = given.find("price")) asked.price = read_bounded(*price, bounds::money);
    } else if (given.text() == volatility) {
        if (of.product_name != "european")
            given.fail("found " + given.found() +
                       ", which Black's formula gives only for the product 'european', not for " +
                       config::shown(of.product_name));
        asked.what = volatility;
        return asked;
    } else if (given.text().starts_with(fair)) {
        parameter = given.text().substr(fair.size());
    }
    std::vector<std::string> known;
    for (const auto& p : of.product->parameters)
        if (is_searchable(p)) known.push_back(p.name);
    if (std::ranges::find(known, parameter) == known.end()) {
        std::vector<std::string> words = known;
        if (!given.is_mapping()) {
            for (auto& word : words) word.insert(0, fair);
            if (of.product_name == "european") words.emplace_back(volatility);
        }
        if (!words.empty()) named->fail_word(words);
        named->fail("found " + named->found() +
                    ", expected no report: the product has no number to solve for");
    }
    const auto begin = of.args.find(parameter);
    if (begin == of.args.end() || !is_one_number(begin->second))
        named->fail("found " + named->found() + ", expected one number '" + parameter +
                    "' in the trade, from which the search begins");
    asked.what = std::string(fair) + parameter;
    asked.parameter = std::move(parameter);
    return asked;
}

accuracy read_tolerance(const config::node& given) {
    const auto found = given.is_scalar() ? config::accuracy_of(given.text()) : std::nullopt;
    if (!found || found->is_of_totals) {
        given.fail("found " + given.found() +
                   ", expected an amount above 0, such as 0.01, or basis points, such as 1bp");
    }
    return *found;
}

// Reads a name, such as an `id`, that is one line and begins and ends visibly, so no two names look the same.
std::string read_visible(const config::node& id, const std::string& what) {
    const std::string the_one = "the " + what.substr(what.find(' ') + 1);
    const std::string& text = id.text();
    if (text.empty() || text.find('\n') != std::string::npos)
        id.fail("found " + id.found() + ", expected one line of text");
    if (text.size() > bounds::id_bytes) {
        id.fail("found " + what + " of " + std::to_string(text.size()) + " bytes, expected at most " +
                std::to_string(bounds::id_bytes));
    }
    std::uint32_t first = config::not_a_code_point, last = first;
    bool is_seen = false;
    for (std::size_t at = 0; at < text.size();) {
        const auto [c, bytes] = config::decode(text, at);
        if (at == 0) first = c;
        at += bytes;
        last = c;
        is_seen = is_seen || (!config::is_blank(c) && !config::is_selector(c));
    }
    if (!is_seen) id.fail("found " + id.found() + ", in which there is nothing to see, expected " + what);
    if (config::is_blank(first) || config::is_blank(last))
        id.fail("found " + id.found() + " with a blank at an end, expected " + the_one + " without it");
    if (const std::uint32_t c = config::not_composed(text); c != config::not_a_code_point) {
        id.fail("found " + id.found() + " with the character " + config::named(c) +
                ", which has another spelling that looks the same; expected " + the_one +
                " in Unicode's form NFC, such as an accented letter as one character");
    }
    return text;
}

// 1 if there is no key. An empty value throws: it is usually a cell that a join of tables failed to fill.
double read_quantity(const config::node& row) {
    const config::node* const given = row.find("quantity");
    if (given == nullptr) return 1;
    if (given->kind() != config::node::shape::null) return read_bounded(*given, bounds::money);
    given->fail(
        "found nothing, expected a number of units; to set one for all empty cells, write {csv: trades.csv, "
        "default_quantity: 1}, or default_quantity=1 in Python");
}

double quantity_of_failed(const config::node& row) {
    try {
        return row.is_mapping() ? read_quantity(row) : no_figure;
    } catch (const error&) {
        return no_figure;
    }
}

void read_id(const config::node& row, const config::node*& id, trade& into) {
    if (!row.is_mapping())
        row.fail("found " + row.found() + ", expected a trade: a mapping with the keys id and product");
    const config::node& given = row.at("id");
    into.id = read_visible(given, "an id");
    id = &given;
}

// Fills `into` as far as possible, then throws the first error. Sets `id` to the trade's valid id.
void read_trade(const config::node& row, const own_products& products, const calendars& known,
                const config::node*& id, trade& into) {
    read_id(row, id, into);
    const config::node& product = row.at("product");
    into.product_name = config::shortened(product.text());
    into.product = find_product(product, products);
    into.product_name = into.product->name;
    into.args = read_arguments(row, into.product->parameters, keys_of_trades(), known);
    const auto note_name = [&](const config::node& at) {
        into.names.push_back({at.text(), at.where().line, at.where().column});
    };
    for (const language::parameter& declared : into.product->parameters) {
        const config::node* const said = row.find(declared.name);
        using enum language::parameter_type;
        if (said && (declared.type == asset || declared.type == currency)) note_name(*said);
        if (said && declared.type == asset_list) std::ranges::for_each(said->items(), note_name);
        into.is_said.push_back(said != nullptr);
        const bool is_date = declared.type == language::parameter_type::date ||
                             declared.type == language::parameter_type::schedule;
        if (said && is_date && said->is_mapping())
            into.rules.emplace(declared.name, config::written_in_a_line(*said));
    }
    if (const auto* currency = row.find("currency")) {
        if (currency->text().empty() || currency->text().size() > most_currency_bytes)
            currency->fail("found " + currency->found() + ", expected the name of a currency");
        into.currency = currency->text();
        note_name(*currency);
    }
    into.quantity = read_quantity(row);
    if (const auto* report = row.find("report")) into.report = read_report(*report, into);
    if (const auto* portfolio = row.find("portfolio"))
        into.portfolio = read_visible(*portfolio, "a portfolio");
    if (const auto* tolerance = row.find("tolerance")) into.tolerance = read_tolerance(*tolerance);
}

// Fails trades that repeat an earlier id, and drops their terms. A null in `ids` is a trade without valid id.
void refuse_duplicates(const std::vector<const config::node*>& ids, std::vector<trade>& of) {
    std::unordered_map<std::string_view, std::size_t> first;
    first.reserve(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (ids[i] == nullptr) continue;
        const auto [entry, is_new] = first.emplace(ids[i]->text(), i);
        if (is_new) continue;
        trade bare;
        bare.id = std::move(of[i].id);
        bare.quantity = of[i].quantity;
        bare.where = std::move(of[i].where);
        of[i] = std::move(bare);
        try {
            location first_given = ids[entry->second]->where();
            const bool is_here = first_given.file == ids[i]->where().file;
            ids[i]->fail(
                "duplicate id " + config::shown(of[i].id) + "; it was first given " +
                (is_here ? "on line " + std::to_string(first_given.line) : "at " + to_string(first_given)));
        } catch (const error& e) {
            of[i].failure = e;
        }
    }
}

struct trade_readers {
    const own_products& products;
    const calendars& known;
    int threads;
    bool demands_end;  // strict: files of trades must end with "..."
};

struct words_of_rows {
    std::string product, quantity;
};

void add_trade_file(config::checked_source& from, const words_of_rows& of_book, const trade_readers& with,
                    rows_of_trades& rows, book_state& into) {
    while (from.grow()) {
    }
    into.inputs.push_back({from.name(), from.hash()});
    trade_file read{from.name(), std::make_shared<const std::string>(from.take_text()), of_book.product,
                    of_book.quantity, with.products};
    read_trade_table(read, with.threads, rows);
    if (with.demands_end && !rows.has_end_marker) {
        throw error(error_kind::input,
                    "found no last line '...', expected one, or a trade_count in the book, where files are "
                    "read strictly" +
                        std::string(config::may_be_cut_short),
                    rows.end);
    }
    into.trade_files.push_back(std::move(read));
}

words_of_rows read_words_of_rows(const config::node& given, const own_products& products) {
    words_of_rows out;
    if (const config::node* const named = given.find("product"))
        out.product = find_product(*named, products)->name;
    if (const config::node* const quantity = given.find("default_quantity")) {
        read_bounded(*quantity, bounds::money);
        out.quantity = quantity->text();
    }
    return out;
}

// Reads {csv: trades.csv, product: european, default_quantity: 1}. `csv` may also be a list, of names or of
// entries {file: NAME, product: NAME, default_quantity: 1}.
void read_trade_files(const config::node& given, const surroundings& around, const trade_readers& with,
                      rows_of_trades& rows, book_state& into) {
    if (given.find("id") != nullptr)
        given.fail(
            "found a mapping with the keys of a trade, expected a list of trades; begin each with '- '");
    given.only({"csv", "product", "default_quantity"});
    const config::node& files = given.at("csv");
    const words_of_rows of_all = read_words_of_rows(given, with.products);
    const auto read_one = [&](const config::node& one) {
        const bool has_more = one.is_mapping();
        if (has_more) one.only({"file", "product", "default_quantity"});
        const config::node& named = has_more ? one.at("file") : one;
        words_of_rows own = has_more ? read_words_of_rows(one, with.products) : words_of_rows();
        if (own.product.empty()) own.product = of_all.product;
        if (own.quantity.empty()) own.quantity = of_all.quantity;
        const auto file = resolved(named, around);
        // Failing to open the file is an error at its name in the book; other errors are placed in the file.
        const auto source = read_named(named, file, [&](const std::filesystem::path& path) {
            return std::make_unique<config::checked_source>(path, config::limits{}, around.inside);
        });
        add_trade_file(*source, own, with, rows, into);
    };
    if (!files.is_sequence()) return read_one(files);
    if (files.items().empty()) files.fail("found an empty list, expected the name of a file");
    for (const config::node& one : files.items()) read_one(one);
}

// Reads trades on several threads. They share constant products and calendars, and a library that locks
// itself.
void read_trades(const std::vector<config::node>& rows, const std::map<std::size_t, error>& failures,
                 const trade_readers& with, book_state& into) {
    into.trades.resize(rows.size());
    std::vector<const config::node*> ids(rows.size());
    threads::for_each_short(rows.size(), with.threads, [&](int, std::uint64_t i) {
        trade& read = into.trades[i];
        read.id = "#" + std::to_string(i + 1);
        read.where = rows[i].where();
        try {
            if (const auto wrong = failures.find(i); wrong != failures.end()) {
                if (rows[i].find("id") != nullptr) read_id(rows[i], ids[i], read);
                throw error(wrong->second);
            }
            read_trade(rows[i], with.products, with.known, ids[i], read);
        } catch (const error& e) {
            read.failure = e;
            read.quantity = quantity_of_failed(rows[i]);
        }
    });
    refuse_duplicates(ids, into.trades);
}

void check_count(const config::node& count, std::size_t trades) {
    if (count.integer() == static_cast<std::int64_t>(trades)) return;
    count.fail("found " + count.found() + " beside " + std::to_string(trades) +
               (trades == 1 ? " trade" : " trades") +
               ", expected the number of trades; the file may be cut short");
}

void read_trades_of(const config::node& root, const surroundings& around, const trade_readers& with,
                    book_state& into) {
    const config::node& given = root.at("trades");
    const config::node* const count = root.find("trade_count");
    if (!given.is_mapping()) {
        if (!given.is_sequence()) {
            given.fail("found " + given.found() +
                       ", expected a list of trades, or a table of them, as in {csv: trades.csv}");
        }
        if (count) check_count(*count, given.items().size());
        return read_trades(given.items(), {}, with, into);
    }
    rows_of_trades rows;
    read_trade_files(given, around, with, rows, into);
    if (count) check_count(*count, rows.rows.size());
    read_trades(rows.rows, rows.failures, with, into);
}

void demand_end_of_book(const config::document& read) {
    if (read.has_end_marker) return;
    const auto refuse = [&](const std::string& found) {
        throw error(error_kind::input, found + " where a book is read strictly; the file may be cut short",
                    read.end);
    };
    if (!read.root.find("trade_count"))
        refuse("found neither trade_count nor a last line '...', expected one of them");
    // trade_count shows that no trade is missing, but not that what follows the trades is complete.
    const std::string& last = read.root.members().back().key;
    if (last != "trades" && last != "trade_count")
        refuse("found '" + last +
               "' after the trades, where trade_count can't show that nothing is cut off, expected a last "
               "line '...'");
}

std::shared_ptr<const book_state> read_book(const config::document& read, const std::string& name,
                                            const std::filesystem::path& folder,
                                            const load_options& options) {
    auto state = std::make_shared<book_state>();
    state->name = name;
    state->inputs.push_back({name, read.hash});
    state->text = read.text;
    state->folder = folder;
    const config::node& root = read.root;
    if (!root.is_mapping())
        root.fail("found " + root.found_kind() + ", expected a book: a mapping with the key 'trades'");
    for (const auto& [key, file] : {std::pair{"assets", "market"}, std::pair{"script", "product"}}) {
        if (root.find(key) && !root.find("trades"))
            root.fail("found a " + std::string(file) + ", expected a book: a mapping with the key 'trades'");
    }
    root.only({"market", "settings", "calendars", "products", "trades", "trade_count"});
    if (options.strict) demand_end_of_book(read);
    surroundings around{folder, options.strict, {}};
    if (options.confine) around.inside = folder.empty() ? std::filesystem::path(".") : folder;
    state->settings = read_settings(root, around);
    const own_products products = read_products(root, around, *state);
    const calendars known = read_calendars(root, around, *state);
    read_trades_of(root, around,
                   {products, known, threads::asked_or_cores(options.threads),
                    options.strict && root.find("trade_count") == nullptr},
                   *state);
    const timings::during reading(options.times, stage::reading_market);
    read_market_of(root, around, *state);
    return state;
}

// True for a file of trades alone, without market and settings.
bool is_table(const std::filesystem::path& file) {
    return file.extension() == ".csv";
}

std::shared_ptr<const book_state> read_table(config::checked_source& from,
                                             const std::filesystem::path& folder,
                                             const load_options& options) {
    auto state = std::make_shared<book_state>();
    state->name = from.name();
    state->folder = folder;
    const own_products none;
    const calendars known = usual_calendars();
    const trade_readers with{none, known, threads::asked_or_cores(options.threads), options.strict};
    rows_of_trades rows;
    add_trade_file(from, {}, with, rows, *state);
    read_trades(rows.rows, rows.failures, with, *state);
    return state;
}

config::limits limits_of(const load_options& options) {
    config::limits out;
    out.threads = threads::asked_or_cores(options.threads);
    return out;
}

}  // namespace

}  // namespace books

book book::load(const std::filesystem::path& file, const load_options& options) {
    const timings::during reading(options.times, stage::reading_book);
    if (books::is_table(file)) {
        config::checked_source source(file, {}, {});
        return book(books::read_table(source, file.parent_path(), options));
    }
    return book(books::read_book(config::read_document(file, books::limits_of(options)), file.string(),
                                 file.parent_path(), options));
}

book book::parse(std::string_view yaml, const std::string& name, const std::filesystem::path& folder,
                 const load_options& options) {
    const timings::during reading(options.times, stage::reading_book);
    if (books::is_table(name)) {
        config::checked_source source(yaml, name, {});
        return book(books::read_table(source, folder, options));
    }
    return book(books::read_book(config::read_document(yaml, name, books::limits_of(options)), name, folder,
                                 options));
}

std::size_t book::size() const {
    return state_->trades.size();
}

const std::optional<market>& book::market() const {
    return state_->market;
}

std::vector<std::filesystem::path> book::files() const {
    std::vector<std::filesystem::path> out;
    for (const input_file& read : state_->inputs) out.emplace_back(read.file);
    if (state_->market) {
        for (std::filesystem::path& read : state_->market->files()) out.push_back(std::move(read));
    }
    for (const auto& named : {state_->settings.replay, state_->settings.policy})
        if (named) out.emplace_back(*named);
    return out;
}

book book::only(const std::vector<std::string>& ids) const {
    std::vector<std::string> known;
    for (const books::trade& t : state_->trades) known.push_back(t.id);
    for (const std::string& id : ids) {
        if (std::ranges::find(known, id) != known.end()) continue;
        throw error(error_kind::usage,
                    "the book has no trade " + config::shown(id) + config::suggestion(id, known),
                    {state_->name, 0, 0});
    }
    auto kept = std::make_shared<books::book_state>(*state_);
    std::erase_if(kept->trades,
                  [&](const books::trade& t) { return std::ranges::find(ids, t.id) == ids.end(); });
    return book(std::move(kept));
}

const run_settings& book::settings() const {
    return state_->settings;
}

}  // namespace tilewalk
