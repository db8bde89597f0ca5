// SPDX-License-Identifier: Apache-2.0
// Decisions of a run about its trades, made before their paths were walked, as a value: another run follows
// them where the setting `decisions` names them, in the place of what pilots and trainings would find.
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
    std::uint64_t paths = 0;  // the run's, or a doubling of them
    std::uint64_t walk = 0;   // see price_row
    // Randomisations and construction of the points; 0 and empty: the numbers are independent.
    std::uint64_t randomisations = 0;
    std::string construction;
    // JSON each; empty: the trade has none. `policy` is that of a trade which can be ended early, `jumps` say
    // how sensitivities treat those of its payoff; empty: the run that follows finds its own.
    std::string control, shifts, jumps, policy;
    // JSON of the control of sensitivities; {}: they have none; empty: they have that of the price.
    std::string control_of_derivatives;
    bool drops_control = false;     // where paths are shifted
    bool integrates_jumps = false;  // of dates that decide

    friend bool operator==(const trade_decisions&, const trade_decisions&) = default;
};

struct decisions {
    std::uint64_t seed = 0, paths = 0;
    std::map<std::string, trade_decisions> trades;
    std::vector<std::string> failed;  // trades about which nothing could be decided

    friend bool operator==(const decisions&, const decisions&) = default;
};

std::string json_of(const decisions& what);
// Decisions from their JSON or from that of results. Throws tilewalk::error (input) for any other text.
decisions read_decisions(const std::string& json, const std::string& name);

// A text that a setting takes in the place of a file, for as long as this lives.
class memory_file {
  public:
    // Messages call it by `title`. Throws tilewalk::error (io).
    memory_file(const std::string& title, std::string_view text);
    ~memory_file();
    memory_file(const memory_file&) = delete;
    memory_file& operator=(const memory_file&) = delete;

    std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace tilewalk
