// SPDX-License-Identifier: Apache-2.0
// A book file: its own errors stop the reading, a trade's errors stay with the trade.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/book/argument_reader.h"
#include "engine/book/book_state.h"
#include "engine/book/library.h"
#include "engine/config/document.h"
#include "engine/config/numbers.h"
#include "engine/config/written.h"
#include "engine/market/market_state.h"
#include "tilewalk/setting_table.h"

namespace tilewalk {

namespace books {

namespace {

using products_by_name = std::map<std::string, std::shared_ptr<const language::product>, std::less<>>;

const std::vector<std::string>& trade_keys() {
    static const std::vector<std::string> keys{"id", "product", "currency", "quantity", "report"};
    return keys;
}

// A file that the book names: what can't be read is an error of the book, at the place where it is named.
template <class read>
auto read_named(const config::node& named, const std::filesystem::path& file, read&& from) {
    try {
        return from(file);
    } catch (const error& e) {
        if (e.kind() != error_kind::io) throw;
        throw error(error_kind::io, config::shown(file.string()) + ": " + e.message(), named.where(),
                    named.key_path());
    }
}

std::filesystem::path resolved(const config::node& named, const std::filesystem::path& folder) {
    if (!named.is_scalar() || named.text().empty()) {
        named.fail("found " + named.found() + ", expected the name of a file or a mapping");
    }
    return (folder / named.text()).lexically_normal();
}

void read_market_of(const config::node& root, const std::filesystem::path& folder, book_state& into) {
    const auto* given = root.find("market");
    if (!given) return;
    if (given->is_mapping()) {
        markets::market_state state = markets::read_market(*given);
        state.name = into.name;
        into.market.emplace(std::make_shared<const markets::market_state>(std::move(state)));
        return;
    }
    into.market = read_named(*given, resolved(*given, folder), market::load);
}

// As an option of the command would be given: GPUs may also be a list.
std::string text_of(const config::node& value, const run_setting& setting) {
    if (value.is_sequence() && setting.takes == run_setting::kind::devices) {
        std::string joined;
        for (const auto& item : value.items()) joined += (joined.empty() ? "" : ",") + item.text();
        return joined;
    }
    const bool is_read = value.is_scalar() && !(value.is_quoted() && setting.is_number());
    if (!is_read) value.fail("found " + value.found() + ", expected " + setting.expected());
    const std::string& text = value.text();
    // 010 is ten as an option, but in YAML eight to some readers.
    if (setting.is_number() && text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        value.fail("found " + value.found() + ", expected " + setting.expected() + config::number_hint(text));
    return text;
}

run_settings read_settings(const config::node& root, const std::filesystem::path& folder) {
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
        if (setting.takes == run_setting::kind::file && !text.empty())
            text = (folder / text).lexically_normal().string();
        if (const auto expected = setting.read(text, read))
            value->fail("found " + value->found() + ", expected " + *expected);
    }
    return read;
}

// What a file named in the book holds, which counts among the book's inputs.
config::node read_input(const config::node& named, const std::filesystem::path& folder, book_state& into) {
    const auto file = resolved(named, folder);
    config::document read = read_named(
        named, file, [](const std::filesystem::path& path) { return config::read_document(path); });
    into.inputs.push_back({file.string(), read.hash});
    return std::move(read.root);
}

products_by_name read_products(const config::node& root, const std::filesystem::path& folder,
                               book_state& into) {
    products_by_name products;
    std::set<std::string> own;
    for (auto& product : read_library()) products.emplace(product->name, product);
    const auto* given = root.find("products");
    if (!given) return products;
    for (const auto& item : given->items()) {
        const std::shared_ptr<const language::product> product =
            read_product(item.is_mapping() ? item : read_input(item, folder, into));
        const std::string& name = product->name;
        if (!products.emplace(name, product).second) {
            item.fail(own.contains(name)
                          ? "found a second product '" + name + "' in this book, expected different names"
                          : "the library has a product '" + name + "' already; give this one another name");
        }
        own.insert(name);
    }
    return products;
}

const std::shared_ptr<const language::product>& find_product(const config::node& named,
                                                             const products_by_name& products) {
    const auto found = products.find(named.text());
    if (found != products.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, product] : products) known.push_back(name);
    named.fail("unknown product " + config::shown(named.text()) +
               "; known products: " + config::joined(known) + config::suggestion(named.text(), known));
}

calendars read_calendars(const config::node& root, const std::filesystem::path& folder, book_state& into) {
    calendars known = usual_calendars();
    const auto* given = root.find("calendars");
    if (!given) return known;
    for (const auto& member : given->members()) {
        const bool is_new =
            known
                .emplace(member.key, member.value.is_mapping()
                                         ? read_calendar(member.value)
                                         : read_calendar(read_input(member.value, folder, into)))
                .second;
        if (!is_new)
            member.fail("every book has a calendar '" + member.key + "'; give this one another name");
    }
    return known;
}

// Whether the parameter is a number that a search may change.
bool is_searchable(const language::parameter& p) {
    using language::parameter_type;
    return p.type == parameter_type::amount || p.type == parameter_type::number ||
           p.type == parameter_type::rate;
}

// Whether one number stands for all that the parameter has.
bool is_one_number(const language::argument& of) {
    if (std::holds_alternative<double>(of)) return true;
    const auto* each = std::get_if<std::vector<double>>(&of);
    return each != nullptr && !each->empty() &&
           std::ranges::all_of(*each, [&](double x) { return x == each->front(); });
}

// `implied_volatility`, `fair_strike`, or {fair: coupon, price: 100}.
report_request read_report(const config::node& given, const trade& of) {
    constexpr std::string_view volatility = "implied_volatility", fair = "fair_";
    report_request asked;
    const config::node* named = &given;
    std::string parameter;
    if (given.is_mapping()) {
        given.only({"fair", "price"});
        named = &given.at("fair");
        parameter = named->text();
        if (const auto* price = given.find("price")) asked.price = price->number();
    } else if (given.text() == volatility) {
        if (of.product_name != "european")
            given.fail("found " + given.found() +
                       ", which Black's formula gives for the product 'european' alone, not for " +
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
        named->fail("found " + named->found() + ", expected " +
                    (words.empty() ? "no report, as the product has no number to look for"
                                   : "one of " + config::joined(words)) +
                    config::suggestion(named->text(), words));
    }
    const auto begin = of.args.find(parameter);
    if (begin == of.args.end() || !is_one_number(begin->second))
        named->fail("found " + named->found() + ", but the trade has not one number '" + parameter +
                    "' for the search to begin from");
    asked.what = std::string(fair) + parameter;
    asked.parameter = std::move(parameter);
    return asked;
}

// Fills `into` as far as the trade can be read; throws the first error.
void read_trade(const config::node& row, const products_by_name& products, const calendars& known,
                std::map<std::string, int>& lines_of_ids, trade& into) {
    if (!row.is_mapping())
        row.fail("found " + row.found() + ", expected a trade: a mapping with the keys id and product");
    const config::node& id = row.at("id");
    if (id.text().empty() || id.text().find('\n') != std::string::npos) {
        id.fail("found " + id.found() + ", expected one line of text");
    }
    into.id = id.text();
    const auto [entry, is_new] = lines_of_ids.emplace(into.id, id.where().line);
    if (!is_new) {
        id.fail("duplicate id " + config::shown(into.id) + "; it was first given on line " +
                std::to_string(entry->second));
    }
    const config::node& product = row.at("product");
    into.product_name = product.text();
    into.product = find_product(product, products);
    into.args = read_arguments(row, into.product->parameters, trade_keys(), known);
    for (const language::parameter& declared : into.product->parameters) {
        const config::node* const said = row.find(declared.name);
        into.is_said.push_back(said != nullptr);
        const bool is_date = declared.type == language::parameter_type::date ||
                             declared.type == language::parameter_type::schedule;
        if (said && is_date && said->is_mapping())
            into.rules.emplace(declared.name, config::written_in_a_line(*said));
    }
    if (const auto* currency = row.find("currency")) {
        into.currency = currency->text();
        if (into.currency.empty())
            currency->fail("found " + currency->found() + ", expected the name of a currency");
    }
    if (const auto* quantity = row.find("quantity")) into.quantity = quantity->number();
    if (const auto* report = row.find("report")) into.report = read_report(*report, into);
}

void read_trades(const config::node& root, const products_by_name& products, const calendars& known,
                 book_state& into) {
    const auto& rows = root.at("trades").items();
    if (const auto* count = root.find("trade_count")) {
        if (count->integer() != static_cast<std::int64_t>(rows.size())) {
            count->fail("found " + count->found() + " beside " + std::to_string(rows.size()) +
                        (rows.size() == 1 ? " trade" : " trades") +
                        ", expected the number of trades; the file may be cut short");
        }
    }
    std::map<std::string, int> lines_of_ids;
    into.trades.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        trade& read = into.trades.emplace_back();
        read.id = "#" + std::to_string(i + 1);
        read.where = rows[i].where();
        try {
            read_trade(rows[i], products, known, lines_of_ids, read);
        } catch (const error& e) {
            read.failure = e;
        }
    }
}

void demand_end(const config::document& read) {
    if (read.has_end_marker || read.root.find("trade_count")) return;
    throw error(error_kind::input,
                "found neither trade_count nor a last line '...', expected one of them where a book is read "
                "strictly; the file may be cut short",
                read.end);
}

std::shared_ptr<const book_state> read_book(const config::document& read, const std::string& name,
                                            const std::filesystem::path& folder,
                                            const load_options& options) {
    auto state = std::make_shared<book_state>();
    state->name = name;
    state->inputs.push_back({name, read.hash});
    const config::node& root = read.root;
    if (!root.is_mapping())
        root.fail("found " + root.found() + ", expected a book: a mapping with the key 'trades'");
    for (const auto& [key, file] : {std::pair{"assets", "market"}, std::pair{"script", "product"}}) {
        if (root.find(key) && !root.find("trades"))
            root.fail("found a " + std::string(file) + ", expected a book: a mapping with the key 'trades'");
    }
    root.only({"market", "settings", "calendars", "products", "trades", "trade_count"});
    if (options.strict) demand_end(read);
    state->settings = read_settings(root, folder);
    const products_by_name products = read_products(root, folder, *state);
    read_trades(root, products, read_calendars(root, folder, *state), *state);
    read_market_of(root, folder, *state);
    return state;
}

}  // namespace

}  // namespace books

book book::load(const std::filesystem::path& file, const load_options& options) {
    return book(books::read_book(config::read_document(file), file.string(), file.parent_path(), options));
}

book book::parse(std::string_view yaml, const std::string& name, const std::filesystem::path& folder,
                 const load_options& options) {
    return book(books::read_book(config::read_document(yaml, name), name, folder, options));
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
    if (state_->settings.replay) out.emplace_back(*state_->settings.replay);
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
