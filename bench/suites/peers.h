// SPDX-License-Identifier: Apache-2.0
// The programs of bench/peers: the lines they print, and the same workloads as books. Needs no GPU.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bench/measure/row.h"
#include "bench/measure/walk.h"

namespace tilewalk::bench::peers {

struct reported {
    std::string workload, library;
    std::string style, version, device,
        precision;  // `precision` is float32 or float64; it may be empty if skipped
    double paths = 0, steps = 0, price = 0, standard_error = 0, milliseconds = 0;
    // Sums of derivatives by name, with standard errors; empty for a price alone.
    std::map<std::string, estimate> gradient{};
    double peak_bytes = 0;  // 0: not known
    std::string skipped;
};
// Throws tilewalk::error (input) with program and line for what a program of `library` does not print.
reported read_line(std::string_view line, std::string_view library, const std::string& program, int number);

row row_of(const reported& from);

// TILEWALK_PEERS, or else the folder in the sources from which this was built.
std::string folder();
// The numbers of the workloads, from workloads.json. Throws tilewalk::error (io, input).
json read_workloads(const std::string& folder);
std::string asian_greeks_book(const json& numbers);
std::string asian_book(const json& numbers);
std::string heston_book(const json& numbers);
std::string autocallable_book(const json& numbers);
std::string bermudan_put_book(const json& numbers);

bool agree(const estimate& a, const estimate& b);
// The first derivative outside of six of both errors, in words; empty if there is none. Errors estimated from
// 32 gradients are exceeded falsely once in a million times.
std::string why_not_the_gradient(const std::map<std::string, estimate>& got,
                                 const std::map<std::string, estimate>& expected, const std::string& whose);

}  // namespace tilewalk::bench::peers
