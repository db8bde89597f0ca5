// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/simm_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engine/base/wording.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"

namespace tilewalk::markets {

using config::node;

namespace {

constexpr std::string_view key_of_currency = "currency";
constexpr std::size_t longest_qualifier = 64;

std::vector<std::string> names_of(const auto& by_name) {
    std::vector<std::string> out;
    for (const auto& [name, held] : by_name) out.push_back(name);
    return out;
}

// Only plain characters: qualifiers go into CRIF files, whose readers may not understand quoting.
std::string read_qualifier(const node& value) {
    const std::string& text = value.text();
    const bool is_plain =
        !text.empty() && text.size() <= longest_qualifier && std::ranges::all_of(text, [](char c) {
            return c > ' ' && c <= '~' && c != ',' && c != '"' && c != '\\';
        });
    if (!is_plain)
        value.fail("found " + value.found() +
                   ", expected 1 to 64 visible ASCII characters without spaces, commas, quotation marks and "
                   "backslashes, such as \"ISIN:US0378331005\"");
    return text;
}

std::string read_bucket(const node& value) {
    static const std::vector<std::string> known{"1", "2", "3",  "4",  "5",  "6",       "7",
                                                "8", "9", "10", "11", "12", "Residual"};
    if (!value.is_scalar() || std::ranges::find(known, value.text()) == known.end())
        value.fail("found the bucket " + value.found() +
                   ", expected one of SIMM's for equities: 1 to 12 or Residual");
    return value.text();
}

std::string read_fx(const node& value, const std::string& priced_in) {
    const std::string& text = value.text();
    const bool is_currency =
        text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (!is_currency || text == priced_in)
        value.fail("found " + value.found() + ", expected the other currency of the exchange rate to " +
                   priced_in + " that the asset is, such as " + (priced_in == "EUR" ? "USD" : "EUR"));
    return text;
}

simm_data::name read_name(const node& value, const std::string& priced_in) {
    expect_mapping(value,
                   "a qualifier and a bucket, such as {qualifier: \"ISIN:US0378331005\", bucket: 7}, or the "
                   "currency of an exchange rate, such as {fx: EUR}");
    if (const node* const fx = value.find("fx")) {
        value.only({"fx"});
        return {"", "", read_fx(*fx, priced_in)};
    }
    value.only({"qualifier", "bucket", "fx"});
    return {read_qualifier(value.at("qualifier")), read_bucket(value.at("bucket"))};
}

}  // namespace

std::optional<simm_data> read_simm(const node& root, const market_state& of) {
    const node* const given = root.find(key_of_simm);
    if (given == nullptr) return std::nullopt;
    expect_mapping(*given,
                   "the currency of calculation, and for each asset its qualifier and bucket, such as "
                   "{currency: USD, ACME: {qualifier: \"ISIN:US0378331005\", bucket: 7}}");
    simm_data out;
    out.where = given->where();
    const node* const currency = given->find(key_of_currency);
    if (currency == nullptr)
        given->fail_missing("'currency', the currency of calculation, such as currency: USD");
    if (!currency->is_scalar() || !of.currencies.contains(currency->text())) {
        if (!currency->is_scalar()) currency->fail("found " + currency->found() + ", expected a currency");
        currency->fail(unknown_name("currency", currency->text(), names_of(of.currencies)));
    }
    out.currency = currency->text();
    for (const node::member& m : given->members()) {
        if (m.key == key_of_currency) continue;
        const auto asset = of.assets.find(m.key);
        if (asset == of.assets.end()) m.fail(unknown_name("asset", m.key, names_of(of.assets)));
        out.names[m.key] = read_name(m.value, asset->second.currency);
    }
    return out;
}

const simm_data::name& simm_name(const simm_data& in, const std::string& asset, const std::string& trade) {
    const auto found = in.names.find(asset);
    if (found != in.names.end()) return found->second;
    throw error(
        error_kind::input,
        "simm has no entry for the asset " + config::shown(asset) + ", on which the trade " +
            config::shown(trade) + " depends; expected " + asset +
            ": {qualifier: \"ISIN:...\", bucket: ...}, the bucket being one of 1 to 12 or Residual, or " +
            asset + ": {fx: ...} for the exchange rate of a currency",
        in.where, key_of_simm);
}

}  // namespace tilewalk::markets
