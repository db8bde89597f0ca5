// SPDX-License-Identifier: Apache-2.0
// What a benchmark leaves behind: rows, each with what was measured, the figures, and whether they may be
// believed; and the run they come from. A file has one JSON object a line: the run, the rows, their number.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tilewalk::bench {

using json = nlohmann::ordered_json;

struct row {
    std::string suite;
    json axes = json::object();     // what was measured: names to words or numbers
    json figures = json::object();  // what came out: numbers, and words such as the verdict of a comparison
    // The axes of the row of this suite that the figure "ratio" is over; null if there is none.
    json over = nullptr;
    std::string skipped;  // why it can't be measured here
    std::string wrong;    // why it is no result: other bits than its reference, a failed launch

    bool is_result() const { return skipped.empty() && wrong.empty(); }
};

// The suite and the axes: equal for the same measurement of another run.
std::string key_of(const row& of);

// The machine and the build, as words and numbers: device, driver, runtime, clocks, commit, date, version,
// copy_bytes_per_second.
struct run {
    json about = json::object();
    std::vector<row> rows;
};

void write_lines(std::ostream& out, const run& what);
// `name` is what errors call the text. Throws tilewalk::error (input) with the line; also if the end is
// missing, or a measurement is there twice.
run read_lines(std::istream& in, const std::string& name);

}  // namespace tilewalk::bench
