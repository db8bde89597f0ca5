// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/ore/index.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tilewalk::reading::ore {

namespace {

constexpr std::array act_360{
    "AUD-LIBOR",   "CHF-LIBOR",    "CHF-SARON",    "CHF-TOIS",    "CLP-CAMARA", "CNH-HIBOR",
    "CNH-SHIBOR",  "CNY-SHIBOR",   "COP-IBR",      "CZK-PRIBOR",  "DEM-LIBOR",  "DKK-CIBOR",
    "DKK-CITA",    "EUR-EONIA",    "EUR-ESTER",    "EUR-EURIBOR", "EUR-LIBOR",  "HUF-BUBOR",
    "IDR-IDRFIX",  "IDR-JIBOR",    "ILS-TELBOR",   "JPY-EYTIBOR", "JPY-LIBOR",  "MXN-TIIE",
    "NOK-NIBOR",   "PHP-PHIREF",   "RON-ROBOR",    "SAR-SAIBOR",  "SEK-SIOR",   "SEK-STIBOR",
    "TRY-TRLIBOR", "USD-AMERIBOR", "USD-FedFunds", "USD-LIBOR",   "USD-Prime",  "USD-SOFR"};
constexpr std::array act_365f{
    "AUD-AONIA", "AUD-BBSW",    "CAD-CDOR",   "CAD-CORRA",    "CNY-REPOFIX", "GBP-BoEBase", "GBP-LIBOR",
    "GBP-SONIA", "HKD-HIBOR",   "HKD-HONIA",  "INR-MIBOROIS", "INR-MIFOR",   "JPY-TIBOR",   "JPY-TONAR",
    "KRW-CD",    "KRW-KORIBOR", "MYR-KLIBOR", "NZD-OCR",      "PLN-POLONIA", "PLN-WIBOR",   "SGD-SIBOR",
    "SGD-SOR",   "SGD-SORA",    "THB-BIBOR",  "THB-THBFIX",   "THB-THOR",    "TWD-TAIBOR",  "ZAR-JIBAR"};
constexpr std::array act_act{"NZD-BKBM", "RUB-MOSPRIME"};
// Indices that are not compound growth over a period: averages, and rates by business days.
constexpr std::array other_rates{"BRL-CDI", "USD-BMA", "USD-SIFMA"};

template <std::size_t N>
bool is_among(const std::array<const char*, N>& all, std::string_view family) {
    return std::ranges::find(all, family) != all.end();
}

}  // namespace

floating_index read_index(const fields& index, const std::string& currency) {
    floating_index out{.name = index.text(), .tenor{}, .day_count{}};
    if (!out.name.starts_with(currency + "-"))
        index.fail_found("an index of " + currency + ", such as " + currency + "-...-6M");
    const std::size_t second = out.name.find('-', currency.size() + 1);
    const std::string family = out.name.substr(0, second);
    if (second != out.name.npos) out.tenor = out.name.substr(second + 1);
    if (is_among(other_rates, family))
        index.fail_found(
            "a rate that compounds over its period: averages and rates by business days are not supported");
    if (is_among(act_360, family)) out.day_count = "act_360";
    if (is_among(act_365f, family)) out.day_count = "act_365f";
    if (is_among(act_act, family)) out.day_count = "act_act";
    // The day count of term SONIA may differ from that of overnight SONIA, so it stays unknown.
    if (family == "GBP-SONIA" && !out.tenor.empty()) out.day_count.clear();
    return out;
}

}  // namespace tilewalk::reading::ore
