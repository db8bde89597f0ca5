// SPDX-License-Identifier: Apache-2.0
// Files that commands write beside their results, each under its own option.
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

// Everything that a side file may report. A command that merges shards has read no book and no market.
struct told_results {
    const results& prices;                        // of the base market, for scenarios
    const scenario_results* scenarios = nullptr;  // null if no scenarios were asked for
    const book* trades = nullptr;
    const market* in = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // as typed, with the name of the program
    // The shard (see told_run), and the time of its run if that was not now.
    std::string shard{}, stage{};
    std::optional<std::chrono::system_clock::time_point> at{};
};

// A kind of side file: an entry of the catalogue.
struct side_file {
    const char* option;   // "--report"
    const char* meaning;  // for the page of help
    std::string (*text)(const told_results& of);
    bool tells_of_shards = false;  // a file per shard, before they are merged
    // The option of a run that collects the file's figures; null if none is needed.
    bool run_options::*needs = nullptr;
};
std::span<const side_file> side_file_kinds();

class side_files {
  public:
    // Adds an option per kind, or only for kinds that report one shard. This object must outlive the parser.
    void add_options(CLI::App& to, bool of_shard = false);
    void ask(run_options& of) const;
    // Opens the requested files, which outputs() then lists. Throws at once if one can't be written.
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
