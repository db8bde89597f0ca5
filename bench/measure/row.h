// SPDX-License-Identifier: Apache-2.0
// The results of benchmarks: a run, and its rows, each with what was measured, the figures, and whether they
// can be trusted. A file has one JSON object a line: the run, the rows, their number.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewalk::bench {

using json = nlohmann::ordered_json;

struct row {
    std::string suite;
    json axes = json::object();     // what was measured: words or numbers by name
    json figures = json::object();  // what was found: numbers, and words such as the verdict of a comparison
    json over = nullptr;
    std::string skipped;  // why it can't be measured here
    std::string wrong;    // why it is not a result: other bits than its reference, a failed launch

    bool is_result() const { return skipped.empty() && wrong.empty(); }
};

// The suite and the axes; equal for the same measurement in another run.
std::string key_of(const row& of);

// Facts about machine and build: device, driver, runtime, clocks, commit, date, version, copy rate.
struct run {
    json about = json::object();
    std::vector<row> rows;
};

void write_lines(std::ostream& out, const run& what);
// Errors call the text `name`. Throws tilewalk::error (input) with the line, also if the end is missing or a
// measurement occurs twice. `as_kept` also accepts rows of a run that was ended early or kept in several
// parts, and notes in `about["note"]` what is unknown about them.
run read_lines(std::istream& in, const std::string& name, bool as_kept = false);

}  // namespace tilewalk::bench
