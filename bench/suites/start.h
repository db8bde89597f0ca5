// SPDX-License-Identifier: Apache-2.0
// The suite `start`: a book from an empty machine to its answer, by whole processes of `tilewalk price`, with
// an empty cache of kernels (cold) and with one that an earlier run has filled (warm).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/row.h"
#include "bench/measure/suites.h"

namespace tilewalk::bench::start {

// The results of one run, as its JSON states them.
struct answer {
    double plan_seconds = 0, path_seconds = 0;
    std::uint64_t kernels_compiled = 0, kernels_from_cache = 0;
    std::uint64_t path_steps = 0, path_steps_on_gpus = 0;  // the latter 0 if the results don't state it
    // Names of trades, and their price, error and status as JSON, which writes equal bits as equal text.
    std::vector<std::pair<std::string, std::string>> prices;
};

// Throws tilewalk::error (input) with `name` as the file if these are no results of prices.
answer read_answer(std::string_view results, const std::string& name);

// Names the first trade whose price differs; empty if all have the same bits.
std::string why_other_bits(const answer& got, const answer& on_the_processor);

struct priced_book {
    std::string name, file;
    std::vector<std::string> options{};  // of `tilewalk price`
    json axes = json::object();          // more axes of its rows
};

struct place {
    std::string device, filled_by;  // words of --device: to measure, and to fill the cache of warm runs
};

struct contest {
    std::string program{};
    std::string before{};         // another build, whose warm runs alternate with the program's; may be empty
    std::vector<place> places{};  // begins with the processor
    std::vector<std::string> environment{};  // variables for all runs, as NAME=TEXT
    std::size_t cold = 3, warm = 6;          // fewest samples; six give the median an interval
};

// Runs the book cold, then warm, at each place by turns, and passes on a row of each place and start. A row
// is wrong if a run fails or has other bits than the processor.
void measure(const contest& of, const priced_book& book, const cpu_bench& on, const sink& to);

// Adds to each result its `ratio` over the processor's of the same book and start.
void compare(std::vector<row>& rows);

}  // namespace tilewalk::bench::start
