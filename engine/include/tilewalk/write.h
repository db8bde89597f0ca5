// SPDX-License-Identifier: Apache-2.0
// Writers of results and other output as tables, CSV and JSON, and the reader of results.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
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
struct warmed_library;

enum class output_format { table, csv, json };
struct text_form {
    // Width of a table; columns that do not fit are left out or shortened, and the table says which.
    std::size_t columns = 200;
    // Puts an apostrophe before CSV text that a spreadsheet would run as a formula.
    bool spreadsheet_safe = false;
    bool parts = false;
    // Threads that write a long CSV; 0: one for each core.
    int threads = 0;
};
// CSV and JSON write numbers with all their bits (shortest form that reads back the same).
void write(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Writes totals by currency alone; the CSV of trades has no place for them.
void write_totals(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Writes sensitivities: a table by trade, a line each in CSV, JSON with the prices. Totals come last.
void write_greeks(std::ostream& out, const results& r, output_format format, const text_form& form = {});
// Reads JSON that write() made, with all bits. Throws tilewalk::error (input) for the file `name`.
results read_results(const std::string& json, const std::string& name);

void write(std::ostream& out, const std::vector<market_number>& numbers, output_format format,
           const text_form& form = {});

// Writes tail figures and gains, the worst first; CSV has a line by scenario and trade, JSON everything.
void write(std::ostream& out, const scenario_results& r, output_format format, const text_form& form = {});

void write(std::ostream& out, const calibration& c, output_format format, const text_form& form = {});

// Writes what is known of the devices: CSV has a line for the processor and for each GPU; JSON has all
// details.
void write(std::ostream& out, const device_pages& pages, output_format format, const text_form& form = {});

void write(std::ostream& out, const std::vector<product_page>& pages, output_format format,
           const text_form& form = {});
// Writes the page of a product; CSV has its parameters.
void write(std::ostream& out, const product_page& page, output_format format, const text_form& form = {});

// Returns all plans as one JSON document; `with_program` adds listings of programs.
std::string explanation_json(const std::vector<trade_plan>& plans, const std::string& as_of,
                             bool with_program = false);

// `seconds`: how long all of them took together, for the last line.
std::string kernel_table(std::span<const warmed_kernel> kernels, std::optional<double> seconds = {});
std::string kernel_table(const warmed_library& library, std::optional<double> seconds = {});
std::string kernel_table(std::span<const tuned_kernel> kernels);

}  // namespace tilewalk
