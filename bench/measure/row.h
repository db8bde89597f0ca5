// SPDX-License-Identifier: Apache-2.0
// The results of benchmarks: rows, each with what was measured, the figures, and whether they can be trusted;
// and the run they belong to. A file has one JSON object a line: the run, the rows, their number.
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
    // The axes of the row of this suite to which the figure "ratio" refers; null if there is none.
    json over = nullptr;
    std::string skipped;  // why it can't be measured here
    std::string wrong;    // why it is not a result: other bits than its reference, a failed launch

    bool is_result() const { return skipped.empty() && wrong.empty(); }
};

// The suite and the axes; equal for the same measurement in another run.
std::string key_of(const row& of);

// Facts about the machine and the build, as words and numbers: device, driver, runtime, clocks, commit, date,
// version, copy_bytes_per_second.
struct run {
    json about = json::object();
    std::vector<row> rows;
};

void write_lines(std::ostream& out, const run& what);
// Errors call the text `name`. Throws tilewalk::error (input) with the line, also if the end is missing or a
// measurement occurs twice. `as_kept`: takes rows that were kept as they came, from a run that was ended
// early or from several parts, and says in `about["note"]` what nobody knows of them.
run read_lines(std::istream& in, const std::string& name, bool as_kept = false);

}  // namespace tilewalk::bench
