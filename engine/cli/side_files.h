// SPDX-License-Identifier: Apache-2.0
// Files that commands write beside their results, each where its option asks for it.
#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/output.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/market.h"
#include "tilewalk/results.h"
#include "tilewalk/scenarios.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

// All that such a file may tell of. A command that merges shards has read no book and no market.
struct told_results {
    const results& prices;                        // those in the base market, of scenarios
    const scenario_results* scenarios = nullptr;  // null: only prices, and sensitivities, were asked for
    const book* trades = nullptr;
    const market* in = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // as typed, with the name of the program
    // The shard that this is of, see told_run; and when it was done, where that was not now.
    std::string shard{}, stage{};
    std::optional<std::chrono::system_clock::time_point> at{};
};

// A kind of such a file. A new one is a line of the catalogue.
struct side_file {
    const char* option;   // "--report"
    const char* meaning;  // for the page of help
    std::string (*text)(const told_results& of);
    bool tells_of_shards = false;  // one by one, before they are merged
    // An option of a run without which there is nothing to tell; null: none.
    bool run_options::*needs = nullptr;
};
std::span<const side_file> side_file_kinds();

class side_files {
  public:
    // Adds an option for each kind, or for each that tells of one shard. This object has to outlive the
    // parser.
    void add_options(CLI::App& to, bool of_shard = false);
    // Asks a run for what the files need.
    void ask(run_options& of) const;
    // The files that were asked for, which open() makes known. Refuses at once what could not be written.
    void open();
    std::vector<const output*> outputs() const;
    void write(const told_results& of) const;

  private:
    struct asked_file {
        const side_file* kind;
        std::optional<std::string> name{};
        std::optional<output> to{};
    };
    std::vector<asked_file> asked_;
};

}  // namespace tilewalk::cli
