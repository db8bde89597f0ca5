// SPDX-License-Identifier: Apache-2.0
// The settings of a run and where each came from: options beat the environment, which beats the book, which
// beats the defaults.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

// Options as typed; empty where they were not.
struct spoken {
    std::optional<std::string> market, paths, seed, threads, instruction_set, format, output;
};

enum class source { preset, book, environment, option };

template <class Value>
struct setting {
    Value value;
    source from = source::preset;
    std::string origin = "default";  // "--paths", "TILEWALK_PATHS", "book.yaml"

    void offer(Value offered, source by, const std::string& named) {
        if (by < from) return;
        value = std::move(offered);
        from = by;
        origin = named;
    }
};

struct settings {
    setting<std::string> market{};  // a file; empty: the market of the book
    setting<std::uint64_t> paths{default_paths};
    setting<std::uint64_t> seed{default_seed};
    setting<int> threads{0};  // 0: all cores
    setting<std::string> instruction_set{"auto"};
    setting<output_format> format{output_format::csv};
    setting<std::string> output{"-"};

    // What to pass to the engine: only what beats the book.
    run_options options() const;
    // Every setting, its value and where it came from.
    std::string text(const book& of) const;
};

// The value of an environment variable, or null.
using environment = std::function<const char*(const char*)>;

// Throws tilewalk::error (usage) that names the option or the variable.
settings settle(const spoken& options, const environment& variables, const book& of,
                const std::string& book_name, bool stdout_is_terminal);

// The environment of this process, and complaints about TILEWALK_ variables that look like misspelt ones.
environment process_environment();
std::vector<std::string> misspelt_variables();

output_format parse_format(const std::string& text, const std::string& origin);

}  // namespace tilewalk::cli
