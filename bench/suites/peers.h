// SPDX-License-Identifier: Apache-2.0
// Reading the lines that the programs of bench/peers print, and their workloads as our books. Needs no GPU.
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
        precision;  // float32 or float64; may be empty if skipped
    double paths = 0, steps = 0, price = 0, standard_error = 0, milliseconds = 0;
    // Derivatives of the price by name, with standard errors; empty if only the price was asked for.
    std::map<std::string, estimate> gradient{};
    double peak_bytes = 0;  // 0: not known
    std::string skipped;
};
// Parses a line. Throws tilewalk::error (input) with program and line number if a peer can't have printed it.
reported read_line(std::string_view line, std::string_view library, const std::string& program, int number);

row row_of(const reported& from);

// The folder of the programs: TILEWALK_PEERS, or else bench/peers in the sources of this build.
std::string folder();
// Reads workloads.json, the numbers of all workloads. Throws tilewalk::error (io, input).
json read_workloads(const std::string& folder);
std::string asian_greeks_book(const json& numbers);
std::string asian_book(const json& numbers);
std::string heston_book(const json& numbers);
std::string autocallable_book(const json& numbers);
std::string bermudan_put_book(const json& numbers);

bool agree(const estimate& a, const estimate& b);
// Names the first derivative that differs by more than six joint standard errors; empty if none does. With
// errors estimated from 32 gradients, that happens by chance once in a million times.
std::string why_not_the_gradient(const std::map<std::string, estimate>& got,
                                 const std::map<std::string, estimate>& expected, const std::string& whose);

}  // namespace tilewalk::bench::peers
