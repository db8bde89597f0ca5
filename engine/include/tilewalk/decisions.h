// SPDX-License-Identifier: Apache-2.0
// Decisions of a run about each trade before its pricing paths: control variates, importance sampling,
// exercise policies. A run whose setting `decisions` names a file of them skips pilot runs and training.
//
//     tilewalk::decisions found = tilewalk::decisions_of(engine.price(book, with));
//     found.trades.at("asian").paths *= 4;
//     const tilewalk::memory_file kept("decisions", tilewalk::json_of(found));
//     with.overrides.decisions = kept.name();
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

struct trade_decisions {
    std::uint64_t paths = 0;  // paths of the run, times a power of two
    std::uint64_t walk = 0;   // fingerprint of random numbers, see price_row
    // Quasi-random points: see price_row. 0 and empty if paths are independent.
    std::uint64_t randomisations = 0;
    std::string construction;
    // Decisions as JSON; empty if the trade has none. `jumps` says how sensitivities treat jumps of the
    // payoff. If `jumps` or `policy` is empty, a run that needs it decides anew.
    std::string control, shifts, jumps, policy;
    // Control variate of the sensitivities as JSON; {} if they have none, empty if they use `control`.
    std::string control_of_derivatives;
    bool drops_control = false;     // paths with `shifts` go without `control`
    bool integrates_jumps = false;  // preintegration removes jumps of the payoff

    friend bool operator==(const trade_decisions&, const trade_decisions&) = default;
};

struct decisions {
    std::uint64_t seed = 0, paths = 0;
    std::map<std::string, trade_decisions> trades;
    std::vector<std::string> failed;  // trades that failed, and so have no decisions

    friend bool operator==(const decisions&, const decisions&) = default;
};

std::string json_of(const decisions& what);
// Reads the text of json_of(), or the decisions within JSON results. `name` stands for the file in error
// messages. Throws tilewalk::error (input) for any other text.
decisions read_decisions(const std::string& json, const std::string& name);

// A text in memory with a file name, for settings that take a file. The name lives as long as the object.
class memory_file {
  public:
    // `title` stands for the file in error messages. Throws tilewalk::error (io) if memory can't be had.
    memory_file(const std::string& title, std::string_view text);
    ~memory_file();
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;

    std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace tilewalk
