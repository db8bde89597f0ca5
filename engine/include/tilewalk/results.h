// SPDX-License-Identifier: Apache-2.0
// Prices with everything needed to trust them, and the writers that put them in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/run_settings.h"

namespace tilewalk {

enum class trade_status { priced, failed };

struct price_row {
    std::string trade;  // id
    std::string product;
    std::string currency;  // of the price
    trade_status status = trade_status::failed;
    double quantity = 1;
    double price = 0;           // one unit, discounted to as_of
    double standard_error = 0;  // of price
    double low = 0, high = 0;   // 95 % interval
    std::uint64_t paths = 0;
    // How many paths carry the variance: paths / kurtosis of the payoff. Below `thin_below` the standard
    // error itself is not to be trusted, and `thin` is set.
    double effective_hits = 0;
    bool thin = false;
    // Of a price that is not in double: how far it lies from double on the paths of the shadow sample.
    std::optional<double> shadow_difference;
    std::string message;                     // why it failed, or why the figure is to be read with care
    error_kind kind = error_kind::internal;  // of a failure
    location where;                          // the trade in its file, or the place of the error

    double value() const { return quantity * price; }
};
inline constexpr double thin_below = 100;

struct input_file {
    std::string file, hash;  // what was read and a hash of its bytes
};

struct run_manifest {
    std::string version, compiler, instruction_set, machine;
    std::string as_of, started;  // dates in ISO form; started is UTC
    std::string precision = "double", random = "philox";
    std::uint64_t seed = 0, paths = 0;
    int threads = 0;
    run_settings settings;             // what was said, by the caller or the book
    std::vector<std::string> devices;  // names of the GPUs that walked paths; none: the CPU did
    // GPUs that failed, each with its error: the others, or the CPU, did what was theirs to do.
    std::vector<std::string> lost_devices;
    std::vector<input_file> inputs;
    double plan_seconds = 0, path_seconds = 0, total_seconds = 0;
    std::uint64_t path_steps = 0;
    // Of GPUs: kernels that were built or found, how often they were launched, the time from a first launch
    // to the end of the last, and how much of it a kernel was running.
    std::uint64_t kernels_compiled = 0, kernels_from_cache = 0, launches = 0;
    double device_seconds = 0, kernel_seconds = 0;
};

struct results {
    std::vector<price_row> rows;  // in the order of the book
    run_manifest manifest;

    std::size_t failed() const;
};

enum class output_format { table, csv, json };
// Numbers in csv and json keep all their bits (shortest form that reads back the same).
void write(std::ostream& out, const results& r, output_format format);
// Reads what write(json) wrote, to the same bits. Throws tilewalk::error (input).
results read_results(const std::string& json, const std::string& name);

// What became of a trade from one result to another.
struct price_difference {
    enum class finding {
        compared,  // priced in both: the figures below hold
        only_first,
        only_second,
        failed_first,  // failed in the first, priced in the second
        failed_second,
        failed_both,
        other_currency,
    };
    std::string trade, currency;
    finding found = finding::compared;
    double first = 0, second = 0;  // prices of one unit
    double difference = 0;         // second - first
    double error = 0;              // of two independent prices: the root of the sum of squares
    double z = 0;                  // difference in errors; infinite where prices differ that have no error
    bool same_bits = false;        // price and standard error alike

    // Failing in both is no difference; failing, missing or changing currency in one is more than any limit.
    bool within(double limit) const;
};
inline constexpr double default_limit = 4.5;

struct comparison {
    std::vector<price_difference> rows;  // in the order of the first, then what only the second has
    run_manifest first, second;
    // Seed, paths and all else that random numbers follow from are the same: whatever differs was not left
    // to chance, and `error` is an upper guess.
    bool common_random_numbers = false;

    std::size_t beyond(double limit) const;  // how many are not within
};
comparison compare(const results& first, const results& second);
// As a table for people.
void write(std::ostream& out, const comparison& c, double limit = default_limit);

// The text with control characters and broken UTF-8 spelt out (\x1b), so that a terminal takes no orders from
// a file.
std::string printable(std::string_view text);

}  // namespace tilewalk
