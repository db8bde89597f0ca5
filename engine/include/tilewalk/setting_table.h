// SPDX-License-Identifier: Apache-2.0
// The table of a run's settings, from which options, environment variables, help, books and manifests follow.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tilewalk/run_settings.h"

namespace tilewalk {

struct run_setting {
    enum class part : std::uint8_t { run, gpu };  // sections of the help
    // Kinds of values beside the words in `choices`.
    enum class value_type : std::uint8_t {
        count,    // a whole number from `least` to `most`, such as 131072, 100k or 1M
        bytes,    // like count, with units such as 512MB or 40GiB
        choice,   // words in `choices` only
        devices,  // indexes of GPUs, such as 0,1
        file,
        accuracy,  // an amount, or basis points
        share,     // a number above 0.5 and below 1
        duration,  // seconds, or with a unit: 30s, 5m, 2h
    };
    template <class type>
    using member = std::optional<type> run_settings::*;
    using field =
        std::variant<member<std::uint64_t>, member<int>, member<std::string>, member<double>,
                     member<std::chrono::duration<double>>, member<accuracy>, member<precision>,
                     member<construction>, member<technique>, member<antithetic>, member<upper_bound>>;

    std::string name;  // key in a book: "row_space"
    part of = part::run;
    value_type takes = value_type::choice;
    field value;
    std::string meaning;   // a sentence for the help
    std::string preset{};  // default; empty if there is no fixed one
    std::vector<std::string> choices{};
    std::uint64_t least = 0, most = 0;
    // True if prices depend on the setting; other settings affect at most the run time.
    bool decides_bits = false;

    std::string option() const;    // "--row-space"
    std::string variable() const;  // "TILEWALK_ROW_SPACE"
    std::string expected() const;  // "a whole number from 1 to 32", for errors
    bool is_number() const;        // true if the member of run_settings is an integer

    // Returns the value in `settings` as text that read() accepts; empty if unset.
    std::optional<std::string> text(const run_settings& settings) const;
    // Reads `text` into `settings`. Returns empty on success, else how an error message ends: ", expected 1,
    // 2, 4", or "; did you mean 'single'? expected double, single".
    std::optional<std::string> read(const std::string& text, run_settings& settings) const;
};

// All settings, in the order of the help.
const std::vector<run_setting>& setting_table();

run_settings default_settings();
// Returns the settings of `first`; unset ones come from `second`.
run_settings over(run_settings first, const run_settings& second);
// Throws tilewalk::error (usage) for the first invalid value. Does not look up names of feeds and the like.
void check(const run_settings& settings);

}  // namespace tilewalk
