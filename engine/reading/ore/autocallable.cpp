// SPDX-License-Identifier: Apache-2.0
// ORE's scripted trade Autocallable_01, which is called at low prices and at the end pays the excess of the
// price over a level. The library has no such product, so the imported book defines one.
#include <string>
#include <utility>
#include <vector>

#include "engine/reading/ore/trade.h"

namespace tilewalk::reading::ore {

namespace {

constexpr const char* product_text = R"(product: ore_autocallable_01
summary: Called where the price is at or below a level; at the end the holder pays for what it is above another.
parameters:
  underlying: {type: asset, help: The asset that is watched.}
  fixings: {type: schedule, help: The days on which it may be called; all is paid on them.}
  factor: {type: number, per: fixings, help: So many times the notional are paid if it is called on that day.}
  trigger: {type: amount, help: Called at or below this price.}
  determination: {type: amount, help: The price above which the holder pays at the end.}
  cap: {type: amount, help: 'What is paid at the end for each unit of notional, at most.'}
  notional: {type: amount, help: What factors and payments are counted in.}
example: {underlying: ACME, fixings: [0.5, 1.0], factor: [0.05, 0.1], trigger: 95, determination: 110, cap: 10, notional: 100}
script: |
  on fixings:
      if spot(underlying) <= trigger:
          pay notional * factor
          stop

  on last(fixings):
      pay -notional * max(min(cap, spot(underlying) - determination), 0)
)";

}  // namespace

void read_autocallable(trade& of) {
    const double sign = sign_of(of.data.at("Position")), notional = of.data.need_number("NotionalAmount");
    const schedule days = read_schedule(of.data.at("FixingDates").at("ScheduleData"), of.known);
    const schedule paid = read_schedule(of.data.at("SettlementDates").at("ScheduleData"), of.known);
    if (paid.dates != days.dates)
        of.data.at("SettlementDates")
            .fail("found other days than those of <FixingDates>, on which all is paid");
    std::vector<value> factors;
    for (const fields& one : of.data.at("AccumulationFactors").all("Factor"))
        factors.emplace_back(one.number());
    if (factors.size() != days.dates.size()) {
        of.data.at("AccumulationFactors")
            .fail("found " + std::to_string(factors.size()) + " factors, expected one for each of the " +
                  std::to_string(days.dates.size()) + " fixings");
    }
    const double cap = of.data.need_number("Cap");
    if (!(cap >= 0)) of.data.at("Cap").fail_found("an amount of 0 or more");
    of.own_product = value::parse(product_text);
    value& row = of.add("ore_autocallable_01");
    row["underlying"] = read_asset(of, "PayCcy");
    row["fixings"] = list_of(days.dates);
    row["factor"] = value::list(std::move(factors));
    row["trigger"] = of.data.need_number("TriggerLevel");
    row["determination"] = of.data.need_number("DeterminationLevel");
    row["cap"] = cap;
    row["notional"] = notional;
    if (sign < 0) row["quantity"] = -1;
    row["currency"] = of.data.need_word("PayCcy");
}

}  // namespace tilewalk::reading::ore
