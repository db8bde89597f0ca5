// SPDX-License-Identifier: Apache-2.0
// Writers of results and other output as tables, CSV and JSON, and the reader of results.
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
struct text_form {
    // Width of a table; columns that do not fit are left out or shortened, and the table says which.
    std::size_t columns = 200;
    // Prefix CSV text that a spreadsheet would run as a formula with an apostrophe.
    bool spreadsheet_safe = false;
    bool parts = false;
    // Threads that write a long CSV; 0: one for each core.
    int threads = 0;
};
// CSV and JSON numbers keep all their bits (shortest form that reads back the same).
void write(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Totals alone; CSV has no place for them beside the trades.
void write_totals(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// A ladder by trade in a table, a line each in CSV, beside the prices in JSON. Totals come last.
void write_greeks(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Reads the JSON of write() to the same bits. Throws tilewalk::error (input).
results read_results(const std::string& json, const std::string& name);

void write(std::ostream& out, const std::vector<market_number>& numbers, output_format format,
           const text_form& form = {});

// Tails and gains, the worst first; CSV has a line for each scenario and trade, JSON everything.
void write(std::ostream& out, const scenario_results& r, output_format format, const text_form& form = {});

void write(std::ostream& out, const calibration& c, output_format format, const text_form& form = {});

// CSV has a line for the processor and each GPU; JSON has everything.
void write(std::ostream& out, const device_pages& pages, output_format format, const text_form& form = {});

void write(std::ostream& out, const std::vector<product_page>& pages, output_format format,
           const text_form& form = {});
// A product: its page; its parameters in CSV.
void write(std::ostream& out, const product_page& page, output_format format, const text_form& form = {});

// All plans as one JSON; `with_program` adds the listings.
std::string explanation_json(const std::vector<trade_plan>& plans, const std::string& as_of,
                             bool with_program = false);

std::string kernel_table(std::span<const warmed_kernel> kernels);
std::string kernel_table(std::span<const tuned_kernel> kernels);

}  // namespace tilewalk
