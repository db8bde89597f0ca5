// SPDX-License-Identifier: Apache-2.0
// Writers of results and of all else that is told, as tables, CSV and JSON, and the reader of results.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace tilewalk {

struct calibration;
struct device_pages;
struct market_number;
struct product_page;
struct results;
struct scenario_results;
struct trade_plan;
struct tuned_kernel;
struct warmed_kernel;

enum class output_format { table, csv, json };
// The layout of text.
struct text_form {
    // Columns that a line of a table may take. Columns that do not fit are left out or shortened, and the
    // table says which.
    std::size_t columns = 200;
    // Put an apostrophe before text in CSV that a spreadsheet would run as a formula.
    bool spreadsheet_safe = false;
    // Write each trade's means by part of the run (JSON).
    bool parts = false;
    // Threads that write a long CSV; 0: one for each core.
    int threads = 0;
};
// Numbers in csv and json keep all their bits (shortest form that reads back the same).
void write(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// The totals alone, which CSV has no place for beside the trades.
void write_totals(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// The sensitivities: in a table a ladder by trade, in CSV a line each, in JSON beside the prices. Totals
// stand at the end, without a trade.
void write_greeks(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Reads what write(json) wrote, to the same bits. Throws tilewalk::error (input).
results read_results(const std::string& json, const std::string& name);

// Numbers of a market with their keys, in the order in which they are handed in.
void write(std::ostream& out, const std::vector<market_number>& numbers, output_format format,
           const text_form& form = {});

// Scenarios: for people a table of tails and of the gains of all scenarios, the worst first; in CSV a line
// for each scenario and trade; in JSON everything.
void write(std::ostream& out, const scenario_results& r, output_format format, const text_form& form = {});

void write(std::ostream& out, const calibration& c, output_format format, const text_form& form = {});

// In CSV a line for the processor and for each GPU; in JSON everything.
void write(std::ostream& out, const device_pages& pages, output_format format, const text_form& form = {});

// The list of products: a line for each, in JSON everything.
void write(std::ostream& out, const std::vector<product_page>& pages, output_format format,
           const text_form& form = {});
// A product: its page, in CSV its parameters.
void write(std::ostream& out, const product_page& page, output_format format, const text_form& form = {});

// Plans as JSON, for programs: all of them. `with_program` adds the listings.
std::string explanation_json(const std::vector<trade_plan>& plans, const std::string& as_of,
                             bool with_program = false);

// A line or more for each kernel, and how many there are at the end.
std::string kernel_table(std::span<const warmed_kernel> kernels);
std::string kernel_table(std::span<const tuned_kernel> kernels);

}  // namespace tilewalk
