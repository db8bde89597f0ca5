// SPDX-License-Identifier: Apache-2.0
// The results of benchmarks: a run, and its rows. A row says what was measured, the figures found, and why
// they can't be trusted if so. A file has one JSON object a line: the run, the rows, the number of rows.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewalk::bench {

using json = nlohmann::ordered_json;

struct row {
    std::string suite;
    json axes = json::object();     // what was measured, by name: a word or a number each
    json figures = json::object();  // what was found, by name: a number, or a word such as a verdict
    json over = nullptr;
    std::string skipped;  // why this can't be measured here; empty if it can
    std::string wrong;    // why the result is not valid, such as bits that differ from a reference

    bool is_result() const { return skipped.empty() && wrong.empty(); }
};

// Text that identifies a measurement (suite and axes), to find the same measurement in another run.
std::string key_of(const row& of);

// Facts about machine and build: device, driver, runtime, clocks, commit, date, version, copy rate.
struct run {
    json about = json::object();
    std::vector<row> rows;
};

void write_lines(std::ostream& out, const run& what);
// Reads a run from text, which messages call `name`. Throws tilewalk::error (input) with the line number,
// also if the last line is missing or a measurement occurs twice. With `as_kept`, accepts a run that was
// ended early or kept in several parts, and says in `about["note"]` what is therefore unknown.
run read_lines(std::istream& in, const std::string& name, bool as_kept = false);

}  // namespace tilewalk::bench
