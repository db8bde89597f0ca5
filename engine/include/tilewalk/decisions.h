// SPDX-License-Identifier: Apache-2.0
// Decisions that a run makes about its trades before it walks their paths. A run whose setting `decisions`
// names them follows them and skips pilots and training.
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
    std::uint64_t paths = 0;  // the run's, times a power of two
    std::uint64_t walk = 0;   // see price_row
    // 0 and empty if the random numbers are independent.
    std::uint64_t randomisations = 0;
    std::string construction;
    // JSON, or empty if the trade has none. `jumps` say how sensitivities treat jumps of the payoff. A run
    // that finds no policy or jumps here makes its own.
    std::string control, shifts, jumps, policy;
    // Control of the sensitivities as JSON; {} if they have none, empty if they use the price's.
    std::string control_of_derivatives;
    bool drops_control = false;     // if paths are shifted
    bool integrates_jumps = false;  // preintegration at dates that decide

    friend bool operator==(const trade_decisions&, const trade_decisions&) = default;
};

struct decisions {
    std::uint64_t seed = 0, paths = 0;
    std::map<std::string, trade_decisions> trades;
    std::vector<std::string> failed;  // trades without decisions

    friend bool operator==(const decisions&, const decisions&) = default;
};

std::string json_of(const decisions& what);
// Reads decisions from their JSON or that of results. Throws tilewalk::error (input) for any other text.
decisions read_decisions(const std::string& json, const std::string& name);

// A text with a file name, for settings that take a file. The name is valid while this object lives.
class memory_file {
  public:
    // Messages call the file `title`. Throws tilewalk::error (io).
    memory_file(const std::string& title, std::string_view text);
    ~memory_file();
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;

    std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace tilewalk
