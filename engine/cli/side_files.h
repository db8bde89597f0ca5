// SPDX-License-Identifier: Apache-2.0
// Files that commands write beside their results, each by an option of its own, such as --report.
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

// All that a side file may report on. `trades` and `in` are null if shards are merged, as no book is read.
struct told_results {
    const results& prices;                        // in the base market if there are scenarios
    const scenario_results* scenarios = nullptr;  // null if no scenarios were asked for
    const book* trades = nullptr;
    const market* in = nullptr;
    const timings* times = nullptr;
    std::vector<std::string> command{};  // words as typed, from the program's name on
    // The shard and its stage (see told_run), and when it ran if that was earlier.
    std::string shard{}, stage{};
    std::optional<std::chrono::system_clock::time_point> at{};
};

// A kind of side file, as listed by side_file_kinds().
struct side_file {
    const char* option;   // such as "--report"
    const char* meaning;  // the option's help
    std::string (*text)(const told_results& of);
    bool tells_of_shards = false;  // can report on one shard, before merging
    // The run option that has the engine collect the file's figures; null if none is needed.
    bool run_options::*needs = nullptr;
};
std::span<const side_file> side_file_kinds();

class side_files {
  public:
    // Adds an option for each kind, with `of_shard` for kinds that report on one shard. This must outlive
    // `to`.
    void add_options(CLI::App& to, bool of_shard = false);
    void ask(run_options& of) const;
    // Opens the files asked for, which outputs() then lists. Throws at once if one can't be written.
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
