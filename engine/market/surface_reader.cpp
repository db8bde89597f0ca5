// SPDX-License-Identifier: Apache-2.0
// Checks the range of every number. Every complaint says where in the file the number stands.
#include "engine/market/surface_reader.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "kernels/exponential.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {
namespace {

using config::node;

// Desks quote a few dozen expiries and strikes; these limits keep the search for arbitrage fast.
constexpr std::size_t most_expiries = bounds::surface_expiries;
constexpr std::size_t most_strikes = bounds::surface_strikes;
constexpr double least_moneyness = 1e-3, most_moneyness = 20;
// Limits strikes relative to the forward, since a strike's scale depends on the asset.
constexpr double most_log_moneyness = 16;
constexpr double most_money = bounds::money;
constexpr double most_svi_number = 1000;

using written_by = implied_surface::written_by;

struct implied_form {
    const char* key;
    written_by form;
    const char* what;  // what a smile looks like, for messages
};
constexpr implied_form implied_forms[] = {
    {"by_strike", written_by::strike,
     "a mapping of strikes to volatilities, such as {90: 0.22, 100: 0.2, 110: 0.19}"},
    {"by_moneyness", written_by::moneyness,
     "a mapping of moneyness (strike / forward) to volatilities, such as {0.9: 0.22, 1: 0.2, 1.1: 0.19}"},
    {"svi", written_by::svi,
     "the numbers of an SVI smile, such as {a: 0.01, b: 0.1, rho: -0.6, m: 0, sigma: 0.2}"},
};

double read_between(const node& value, std::string_view what, double least, double most) {
    const double number = value.number();
    if (!(number >= least && number <= most)) {
        value.fail("found the " + std::string(what) + " " + value.text() + ", expected one between " +
                   rounded(least) + " and " + rounded(most));
    }
    return number;
}

quote read_quote(const node::member& member, written_by form, double forward) {
    const bool by_strike = form == written_by::strike;
    const std::string what = by_strike ? "strike" : "moneyness";
    const auto number = config::plain_number(member.key);
    if (!number) {
        member.fail("found the " + what + " " + config::shown(member.key) + ", expected a number such as " +
                    (by_strike ? "100" : "0.95") + config::number_hint(member.key));
    }
    if (by_strike && !(*number > 0 && *number <= most_money)) {
        member.fail("found the strike " + member.key + ", expected more than 0 and at most 1e15");
    }
    if (!by_strike && !(*number >= least_moneyness && *number <= most_moneyness)) {
        member.fail("found the moneyness " + member.key + ", expected strike / forward, between " +
                    rounded(least_moneyness) + " and " + rounded(most_moneyness) +
                    (*number > most_moneyness ? "; strikes are written under by_strike" : ""));
    }
    const double x = kernels::log(by_strike ? *number / forward : *number);
    if (std::abs(x) > most_log_moneyness) {
        member.fail("found the strike " + member.key + ", which is " + rounded(*number / forward) +
                    " times the forward " + rounded(forward) + ", expected between " +
                    rounded(std::exp(-most_log_moneyness)) + " and " + rounded(std::exp(most_log_moneyness)) +
                    " times");
    }
    return {x, read_in_range(member.value, check_quoted_volatility), member.key, member.where(),
            member.value.key_path()};
}

std::vector<quote> read_quotes(const node& value, written_by form, double forward) {
    const std::vector<node::member>& members = value.members();
    if (members.size() < 2 || members.size() > most_strikes) {
        value.fail("found " + std::to_string(members.size()) + " strikes, expected at least 2 and at most " +
                   std::to_string(most_strikes));
    }
    std::vector<quote> read;
    for (const node::member& member : members) {
        read.push_back(read_quote(member, form, forward));
        if (read.size() > 1 && !(read.back().log_moneyness > read[read.size() - 2].log_moneyness)) {
            member.fail("found " + member.key + " after " + read[read.size() - 2].written +
                        ", expected strictly increasing strikes");
        }
    }
    return read;
}

svi_parameters read_svi(const node& value, double years) {
    value.only({"a", "b", "rho", "m", "sigma"});
    svi_parameters p;
    p.a = read_between(value.at("a"), "level a", -most_svi_number, most_svi_number);
    p.b = read_between(value.at("b"), "slope b", 0, 2);
    const node& rho = value.at("rho");
    p.rho = rho.number();
    if (!(std::abs(p.rho) < 1)) {
        rho.fail("found the correlation rho " + rho.text() + ", expected one above -1 and below 1");
    }
    p.m = read_between(value.at("m"), "shift m", -most_log_moneyness, most_log_moneyness);
    const node& sigma = value.at("sigma");
    p.sigma = sigma.number();
    if (!(p.sigma > 0 && p.sigma <= most_svi_number)) {
        sigma.fail("found the curvature sigma " + sigma.text() + ", expected more than 0 and at most " +
                   rounded(most_svi_number));
    }
    if (p.least_variance() < 0) {
        const double room = p.least_variance() - p.a;
        value.at("a").fail("found the level a " + value.at("a").text() +
                           ", with which the variance falls to " + rounded(p.least_variance()) +
                           "; expected at least -b sigma sqrt(1 - rho^2) = " + rounded(-room));
    }
    if (p.steepest_wing() > 2) {
        value.at("b").fail("found the slope b " + value.at("b").text() + ", with which a wing rises by " +
                           rounded(p.steepest_wing()) +
                           "; expected b (1 + |rho|) to be at most 2 (Lee's bound), so b at most " +
                           rounded(2 / (1 + std::abs(p.rho))));
    }
    const double vol = std::sqrt(smile::svi(p).at(0).variance / years);
    if (check_quoted_volatility(vol, {})) {
        value.fail(
            "found the volatility " + rounded(vol) +
            " at the forward, expected one between 0.0001 and 5; SVI is of total variance, which is the "
            "square of the volatility times the years");
    }
    return p;
}

// Reads a time that must come after `last`, if there is one. Complaints name the place of `at`, which is a
// node or a member, and the key path of `of`.
double read_increasing_years(const std::string& text, const std::string& last_text, double last,
                             const auto& at, const node& of, dates::date as_of, bool may_be_now) {
    double years = 0;
    try {
        years = config::read_time_point(text).years(as_of);
    } catch (const error& e) {
        throw error(error_kind::input, e.message(), at.where(), of.key_path());
    }
    const auto fail = [&](const std::string& message) {
        throw error(error_kind::input, "found the time " + text + message, at.where(), of.key_path());
    };
    if (may_be_now ? years < 0 : !(years > 0)) {
        fail(std::string(", expected one ") + (may_be_now ? "from" : "after") + " as_of (" +
             dates::to_string(as_of) + ")" + (may_be_now ? " on" : ""));
    }
    if (!last_text.empty() && !(years > last)) {
        fail(" after " + last_text + ", expected strictly increasing times");
    }
    return years;
}

double checked_forward(const local_volatility::forward_function& forward, double years, const node& value) {
    const double f = forward(years);
    if (!(f > 0) || !std::isfinite(f)) {
        value.fail("the forward at " + rounded(years) + " years is " + rounded(f) +
                   ", expected more than 0 where volatilities are by strike");
    }
    return f;
}

implied_surface read_implied(const node& value, const implied_form& kind, dates::date as_of,
                             const local_volatility::forward_function& forward) {
    expect_mapping(
        value, "a mapping of dates or years to smiles: {2027-01-15: ...}, each " + std::string(kind.what));
    const std::vector<node::member>& members = value.members();
    if (members.empty() || members.size() > most_expiries) {
        value.fail("found " + std::to_string(members.size()) + " expiries, expected at least 1 and at most " +
                   std::to_string(most_expiries));
    }
    std::vector<expiry> expiries;
    for (const node::member& member : members) {
        const expiry* last = expiries.empty() ? nullptr : &expiries.back();
        const double years =
            read_increasing_years(member.key, last ? last->written : "", last ? last->years : 0, member,
                                  member.value, as_of, false);
        expect_mapping(member.value, kind.what);
        const double f = kind.form == written_by::strike ? checked_forward(forward, years, member.value) : 1;
        expiry read = kind.form == written_by::svi
                          ? expiry::from_svi(years, read_svi(member.value, years))
                          : expiry::from_quotes(years, read_quotes(member.value, kind.form, f));
        read.forward = f;
        read.written = member.key;
        read.where = member.where();
        read.key_path = member.value.key_path();
        expiries.push_back(std::move(read));
    }
    return {kind.form, std::move(expiries)};
}

local_volatility read_grid(const node& value, dates::date as_of,
                           const local_volatility::forward_function& forward) {
    expect_mapping(value,
                   "a grid such as {times: [0, 1], spots: [80, 120], volatilities: [[0.3, 0.2], [0.28, "
                   "0.2]]}");
    value.only({"times", "spots", "volatilities"});
    local_volatility_grid grid;
    const node& times = value.at("times");
    expect_sequence(times, "a list of dates or years, such as [0, 0.5, 2027-01-15]");
    const node& spots = value.at("spots");
    expect_sequence(spots, "a list of spots, such as [80, 100, 120]");
    const node& rows = value.at("volatilities");
    expect_sequence(rows, "a list of local volatilities for each time, such as [[0.3, 0.2], [0.28, 0.2]]");
    if (times.items().empty() || times.items().size() > most_expiries) {
        times.fail("found " + std::to_string(times.items().size()) +
                   " times, expected at least 1 and at most " + std::to_string(most_expiries));
    }
    if (spots.items().empty() || spots.items().size() > most_strikes) {
        spots.fail("found " + std::to_string(spots.items().size()) +
                   " spots, expected at least 1 and at most " + std::to_string(most_strikes));
    }
    std::string last;
    for (const node& time : times.items()) {
        grid.years.push_back(read_increasing_years(time.text(), last, last.empty() ? 0 : grid.years.back(),
                                                   time, time, as_of, true));
        last = time.text();
        checked_forward(forward, grid.years.back(), time);
    }
    for (const node& spot : spots.items()) {
        const double s = spot.number();
        if (!(s > 0 && s <= most_money)) {
            spot.fail("found the spot " + spot.text() + ", expected more than 0 and at most 1e15");
        }
        if (!grid.spots.empty() && !(s > grid.spots.back())) {
            spot.fail("found the spot " + spot.text() + " after " + rounded(grid.spots.back()) +
                      ", expected strictly increasing spots");
        }
        grid.spots.push_back(s);
    }
    if (rows.items().size() != grid.years.size()) {
        rows.fail("found " + std::to_string(rows.items().size()) + " lists of volatilities for " +
                  std::to_string(grid.years.size()) + " times, expected one for each time" +
                  (rows.items().size() == grid.spots.size() ? "; is the grid the wrong way round?" : ""));
    }
    for (const node& row : rows.items()) {
        expect_sequence(row, "a list of local volatilities, one for each spot");
        if (row.items().size() != grid.spots.size()) {
            row.fail("found " + std::to_string(row.items().size()) + " volatilities for " +
                     std::to_string(grid.spots.size()) + " spots, expected one for each spot" +
                     (row.items().size() == grid.years.size() ? "; is the grid the wrong way round?" : ""));
        }
        std::vector<double>& read = grid.volatilities.emplace_back();
        for (const node& vol : row.items()) read.push_back(read_volatility_level(vol));
    }
    return local_volatility::of_grid(std::move(grid), forward);
}

bool reads_repair(const node& value) {
    const std::vector<std::string> known{"refuse", "repair"};
    const bool is_known = value.is_scalar() && std::count(known.begin(), known.end(), value.text()) > 0;
    if (is_known) return value.text() == "repair";
    value.fail_word(known);
}

[[noreturn]] void refuse(const std::vector<arbitrage>& findings) {
    const auto in_quotes = [](const arbitrage& a) { return a.in_quotes; };
    const auto first = std::find_if(findings.begin(), findings.end(), in_quotes);
    const auto all = std::count_if(findings.begin(), findings.end(), in_quotes);
    throw error(error_kind::input,
                first->message + (all > 1 ? " (" + std::to_string(all - 1) + " more in the surface)" : "") +
                    "; to price with a local volatility that is bounded there, write arbitrage: repair",
                first->where, first->key_path);
}

}  // namespace

bool is_surface(const node& value) {
    if (!value.is_mapping()) return false;
    return std::any_of(value.members().begin(), value.members().end(), [](const node::member& member) {
        const char first = member.key.empty() ? '\0' : member.key.front();
        return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    });
}

implied_surface read_quoted_surface(const node& value, written_by form, dates::date as_of,
                                    const local_volatility::forward_function& forward) {
    const auto kind = std::find_if(std::begin(implied_forms), std::end(implied_forms),
                                   [&](const implied_form& known) { return known.form == form; });
    return read_implied(value, *kind, as_of, forward);
}

surface_reading read_surface(const node& value, dates::date as_of,
                             const local_volatility::forward_function& forward) {
    const std::string forms = "one of {by_strike: ...}, {by_moneyness: ...}, {svi: ...} or {local: ...}";
    expect_mapping(value, forms);
    value.only({"by_strike", "by_moneyness", "svi", "local", "arbitrage"});
    const node* const local = value.find("local");
    const node* const policy = value.find("arbitrage");
    const implied_form* implied = nullptr;
    int given = local ? 1 : 0;
    for (const implied_form& form : implied_forms) {
        if (!value.find(form.key)) continue;
        implied = &form;
        ++given;
    }
    const std::string found = "found " + std::to_string(given) + " forms of a surface, expected " + forms;
    if (given == 0) value.fail_incomplete(found);
    if (given > 1) value.fail(found);
    if (local) {
        if (policy)
            policy->fail(
                "found the key arbitrage beside local, expected no such key: a given local volatility has no "
                "arbitrage");
        return {read_grid(*local, as_of, forward), {}};
    }
    const bool repair = policy && reads_repair(*policy);
    implied_surface surface = read_implied(value.at(implied->key), *implied, as_of, forward);
    std::vector<arbitrage> findings = find_arbitrage(surface);
    const bool in_quotes =
        std::any_of(findings.begin(), findings.end(), [](const arbitrage& a) { return a.in_quotes; });
    if (in_quotes && !repair) refuse(findings);
    return {local_volatility::of_surface(std::move(surface)), std::move(findings)};
}

}  // namespace tilewalk::markets
