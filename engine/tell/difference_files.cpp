// SPDX-License-Identifier: Apache-2.0
// Files of trade values, and of value differences under shifts of the market: in ORE's columns, as CRIF, and
// in our own columns, which also have standard errors.
#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/reading/simm_reader.h"
#include "engine/reading/written_market.h"
#include "engine/study/files/ore_factors.h"
#include "engine/tell/formats.h"
#include "engine/tell/line_writer.h"
#include "engine/tell/ore_lines.h"
#include "tilewalk/differences.h"
#include "tilewalk/files.h"

namespace tilewalk::report {

namespace {

double value_of(const price_row& row) {
    return row.status == trade_status::priced ? row.value() : no_figure;
}

std::string_view or_absent(std::string_view text) {
    return text.empty() ? ore_absent : text;
}

void write_npv(std::ostream& out, const difference_results& r) {
    const std::vector<std::string> trades = quoted_trades(r.values.rows);
    line_writer lines(out, ore_absent);
    lines.text(
        "#TradeId,TradeType,Maturity,MaturityTime,NPV,NpvCurrency,NPV(Base),BaseCurrency,Notional,"
        "NotionalCurrency,Notional(Base),NettingSet,CounterParty\n");
    for (std::size_t t = 0; t < trades.size(); ++t) {
        const price_row& row = r.values.rows[t];
        const valued_trade& of = r.trades[t];
        const bool has_day = !of.last_day.empty();
        const double value = value_of(row);
        const std::string currency = is_figure(value) ? row.currency : "";
        const std::string& base = r.currency.empty() ? currency : r.currency;
        lines.field(trades[t]).field(csv_field(row.product)).field(or_absent(of.last_day));
        lines.field(has_day ? of.years_to_maturity : no_figure, ore_decimals);
        lines.field(value, ore_decimals).field(or_absent(currency));
        lines.field(value * of.to_base, ore_decimals).field(or_absent(base));
        // ORE has three columns for the notional, which a payoff does not have.
        lines.field(ore_absent).field(ore_absent).field(ore_absent);
        lines.field(csv_field(of.portfolio)).field(std::string_view());
        lines.end_line();
    }
}

class sensitivity_lines {
  public:
    explicit sensitivity_lines(const difference_results& r)
        : r_(r), factors_(r.numbers), trades_(quoted_trades(r.values.rows)), base_(csv_field(r.currency)) {
        for (const price_row& row : r.values.rows) currencies_.push_back(csv_field(row.currency));
    }

    ore_sensitivity line_of(const difference_row& row) const {
        const std::string_view own = currencies_[row.trade];
        const std::string_view base = base_.empty() ? own : std::string_view(base_);
        const double value = r_.values.rows[row.trade].value_in_totals();
        return {trades_[row.trade],
                factors_.factor_of(row.key),
                row.second_key.empty() ? nullptr : factors_.factor_of(row.second_key),
                row.size,
                row.second_size,
                {base, value * r_.trades[row.trade].to_base, row.base.delta, row.base.gamma},
                {own, value, row.own.delta, row.own.gamma}};
    }

  private:
    const difference_results& r_;
    const ore_factors factors_;
    const std::vector<std::string> trades_;
    std::vector<std::string> currencies_;
    const std::string base_;
};

void write_sensitivity(std::ostream& out, const difference_results& r) {
    const sensitivity_lines of(r);
    line_writer lines(out, ore_absent);
    begin_sensitivities(lines);
    for (const difference_row& row : r.rows) add_sensitivity(lines, of.line_of(row));
}

void write_sensitivity_error(std::ostream& out, const difference_results& r) {
    const sensitivity_lines of(r);
    line_writer lines(out, ore_absent);
    lines.text(ore_sensitivity_keys);
    lines.text(
        "Currency,Delta SE,Gamma SE,Currency(Trade),Delta SE(Trade),Gamma SE(Trade),Method,Paths,Bias "
        "bound\n");
    for (const difference_row& row : r.rows) {
        const ore_sensitivity line = of.line_of(row);
        add_sensitivity_keys(lines, line);
        lines.field(line.base.currency).field(row.base.delta_error).field(row.base.gamma_error);
        lines.field(line.own.currency).field(row.own.delta_error).field(row.own.gamma_error);
        lines.field(row.method).field(static_cast<std::size_t>(row.paths)).field(std::size_t{0});
        lines.end_line();
    }
}

// ORE's netting set of a trade is its portfolio. All trades without a portfolio form one netting set.
std::string portfolio_of(const valued_trade& of) {
    return of.portfolio.empty() ? "All" : csv_field(of.portfolio);
}

constexpr std::string_view crif_keys =
    "TradeID,PortfolioID,ProductClass,RiskType,Qualifier,Bucket,Label1,Label2,AmountCurrency,";

void add_crif_keys(line_writer& to, const difference_results& r, const crif_row& row,
                   std::string_view trade) {
    to.field(trade).field(portfolio_of(r.trades[row.trade])).field(r.trades[row.trade].product_class);
    to.field(row.risk_type).field(row.qualifier).field(row.bucket).field(row.label1).field(row.label2);
    to.field(r.currency);
}

void write_crif(std::ostream& out, const difference_results& r) {
    const std::vector<std::string> trades = quoted_trades(r.values.rows);
    line_writer lines(out);
    lines.text(crif_keys);
    lines.text("Amount,AmountUSD,IMModel,PostRegulations,CollectRegulations,EndDate\n");
    for (const crif_row& row : r.crif) {
        add_crif_keys(lines, r, row, trades[row.trade]);
        lines.field(row.amount).field(row.amount * r.base_to_usd).field("SIMM");
        lines.field(std::string_view()).field(std::string_view()).field(r.trades[row.trade].last_day);
        lines.end_line();
    }
}

void write_crif_error(std::ostream& out, const difference_results& r) {
    const std::vector<std::string> trades = quoted_trades(r.values.rows);
    line_writer lines(out);
    lines.text(crif_keys);
    lines.text("Amount SE,AmountUSD SE,Method,Paths\n");
    for (const crif_row& row : r.crif) {
        add_crif_keys(lines, r, row, trades[row.trade]);
        lines.field(row.error).field(row.error * r.base_to_usd).field(row.method);
        lines.field(static_cast<std::size_t>(r.values.rows[row.trade].paths));
        lines.end_line();
    }
}

constexpr std::array all_difference_reports{
    difference_report{"npv.csv",
                      "The value of each trade, in its currency and the base currency, in ORE's columns.",
                      write_npv, true},
    difference_report{"sensitivity.csv",
                      "By how much each value differs for the usual shifts, in ORE's columns: a line for "
                      "each trade and factor, and for each two factors that are asked for.",
                      write_sensitivity},
    difference_report{"sensitivity_error.csv",
                      "The standard error of each figure of sensitivity.csv, with how it was found.",
                      write_sensitivity_error},
    difference_report{"crif.csv",
                      "The sensitivities of ISDA SIMM, in the columns of CRIF; where the market has 'simm'.",
                      write_crif, false, true},
    difference_report{"crif_error.csv", "The standard error of each amount of crif.csv.", write_crif_error,
                      false, true},
};

}  // namespace

}  // namespace tilewalk::report

namespace tilewalk {

std::span<const difference_report> difference_reports() {
    return report::all_difference_reports;
}

std::span<const difference_report> value_reports() {
    const auto end =
        std::ranges::find(report::all_difference_reports, false, &difference_report::is_of_values);
    return {report::all_difference_reports.begin(), end};
}

bool has_simm(const market& in) {
    return state_of(in).source->root().find(markets::key_of_simm) != nullptr;
}

}  // namespace tilewalk
