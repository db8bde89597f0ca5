// SPDX-License-Identifier: Apache-2.0
// Imports ORE's portfolios trade by trade: a trade that is not supported does not stop the import of others.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/base/text/xml.h"
#include "engine/base/wording.h"
#include "engine/reading/book_state.h"
#include "engine/reading/ore/trade.h"
#include "engine/walk/arrays/mapped_file.h"
#include "tilewalk/book.h"
#include "tilewalk/bounds.h"
#include "tilewalk/import.h"

namespace tilewalk {

namespace {

using config::xml_element;
using reading::ore::fields;

// Limits the size of the imported book: a short schedule rule can expand to many dates.
constexpr std::size_t most_values = 5'000'000;

const reading::ore::trade_type& kind_of(const fields& type) {
    std::vector<std::string> known;
    for (const auto& one : reading::ore::trade_types()) {
        if (one.name == type.text()) return one;
        known.emplace_back(one.name);
    }
    std::ranges::sort(known);
    const std::string near = config::suggestion(type.text(), known);
    type.fail("unknown trade type " + config::shown(type.text()) + (near.empty() ? ";" : near) +
              " known types: " + config::joined(known));
}

struct rows_of_trade {
    std::vector<value> rows;
    value product;  // the definition of a product that the rows need; or nothing
};

rows_of_trade read_trade(const xml_element& of, const std::string& file, reading::ore::names& known) {
    reading::ore::read_parts read{file, {}, {}};
    const fields whole(of, read);
    std::string id = whole.attribute("id").value_or("");
    if (id.empty()) whole.fail("found a <Trade> without an id");
    const auto& kind = kind_of(whole.at("TradeType"));
    std::string portfolio;
    if (const auto envelope = whole.find("Envelope")) {
        envelope->ignore({"CounterParty", "NettingSetId", "NettingSetDetails", "AdditionalFields"});
        if (const auto ids = envelope->find("PortfolioIds")) {
            ids->ignore({"PortfolioId"});
            for (const fields& one : ids->all("PortfolioId"))
                if (portfolio.empty()) portfolio = one.text();
        }
    }
    reading::ore::trade trade{std::move(id), std::move(portfolio), whole.at(kind.data), known};
    kind.read(trade);
    whole.expect_all_read();
    for (value& premium : trade.premiums) trade.rows.push_back(std::move(premium));
    return {std::move(trade.rows), std::move(trade.own_product)};
}

// The error that reading these rows as a book gives, such as a negative strike; empty if they are valid.
std::optional<std::string> complaint_of_book(const rows_of_trade& of) {
    value written;
    if (!of.product.is_nothing()) written["products"] = value::list({of.product});
    written["trades"] = value::list(of.rows);
    const auto told = [](const error& e) {
        const std::size_t end_of_row = e.key_path().find("].");
        return (end_of_row == std::string::npos ? "" : e.key_path().substr(end_of_row + 2) + ": ") +
               e.message();
    };
    try {
        const book read = book::from_value(written, "book", {}, {.threads = 1});
        for (const books::trade& row : state_of(read).trades)
            if (row.failure) return told(*row.failure);
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        return told(e);
    }
    return {};
}

std::size_t values_in(const value& of) {
    std::size_t out = 1;
    if (of.is_list())
        for (const value& item : of.items()) out += values_in(item);
    if (of.is_mapping())
        for (const value::member& m : of.members()) out += values_in(m.held);
    return out;
}

imported_portfolio import_text(std::string_view xml, const std::string& name,
                               const std::filesystem::path& names_file) {
    imported_portfolio out;
    reading::ore::names known = names_file.empty() ? reading::ore::names() : reading::ore::names(names_file);
    config::xml_reader reader(xml, name);
    if (reader.root().name != "Portfolio") {
        reader.fail(reader.root(),
                    "found <" + config::shortened(reader.root().name) +
                        ">, expected a portfolio: an element <Portfolio> with a <Trade> for each");
    }
    std::vector<value> rows;
    std::map<std::string, value> products;
    std::size_t values = 0;
    std::unordered_set<std::string> ids, row_ids;
    xml_element element;
    while (reader.next(element)) {
        if (element.name != "Trade")
            reader.fail(element, "found <" + config::shortened(element.name) + ">, expected <Trade>");
        ++out.found;
        std::string id;
        for (const auto& attribute : element.attributes)
            if (attribute.name == "id") id = attribute.value;
        if (id.empty()) id = "#" + std::to_string(out.found);
        try {
            if (!ids.insert(id).second)
                reader.fail(element,
                            "found a second trade " + config::shown(id) + ", expected different ids");
            rows_of_trade made = read_trade(element, name, known);
            // Rows of refused trades count as well, since they cost as much time.
            for (const value& row : made.rows) values += values_in(row);
            if (values <= most_values) {
                if (const auto complaint = complaint_of_book(made))
                    reader.fail(element, "found a trade that a book can't hold: " + *complaint);
            }
            for (const value& row : made.rows) {
                if (row_ids.contains(row.at("id").text()))
                    reader.fail(element, "found a trade with a row named " +
                                             config::shown(row.at("id").text()) +
                                             ", like one of another trade, expected different ids");
            }
            if (!made.product.is_nothing())
                products.emplace(made.product.at("product").text(), std::move(made.product));
            for (value& row : made.rows) {
                row_ids.insert(row.at("id").text());
                rows.push_back(std::move(row));
            }
            known.keep();
            ++out.imported;
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
            known.drop();
            out.refused.push_back({config::shortened(id), e.where(), e.message()});
        }
        if (values > most_values || rows.size() > bounds::entries) {
            reader.fail(element, "found trades of more than " +
                                     (values > most_values ? std::to_string(most_values) + " values"
                                                           : std::to_string(bounds::entries) + " rows") +
                                     ", which no book may have");
        }
    }
    out.taken = known.notes();
    out.files = known.files();
    if (!products.empty()) {
        std::vector<value> own;
        for (auto& [of, product] : products) own.push_back(std::move(product));
        out.book["products"] = value::list(std::move(own));
    }
    out.book["trades"] = value::list(std::move(rows));
    return out;
}

}  // namespace

std::vector<known_trade> known_ore_trades() {
    std::vector<known_trade> out;
    for (const auto& one : reading::ore::trade_types())
        out.push_back({std::string(one.name), std::string(one.products)});
    return out;
}

imported_portfolio import_ore(const std::filesystem::path& portfolio, const std::filesystem::path& names) {
    const arrays::mapped_file file = arrays::map_file(portfolio);
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    // Copy the mapped file, so that later changes of the file have no effect.
    imported_portfolio out =
        import_text(std::string(bytes.substr(0, bounds::file_bytes + 1)), portfolio.string(), names);
    out.files.insert(out.files.begin(), portfolio);
    return out;
}

imported_portfolio import_ore_text(std::string_view xml, const std::string& name,
                                   const std::filesystem::path& names) {
    return import_text(xml, name, names);
}

}  // namespace tilewalk
