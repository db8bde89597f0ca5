// SPDX-License-Identifier: Apache-2.0
// The one list of a run's settings. The keys of a book's `settings:`, the options and variables of the
// command, its help, the manifest of results: all follow from an entry here.
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
    enum class part : std::uint8_t { run, gpu };  // parts of the help
    // Values that it takes besides its choices.
    enum class kind : std::uint8_t {
        count,    // a whole number from `least` to `most`; k or M may follow
        bytes,    // the same with units, such as 512MB or 40GiB
        choice,   // nothing else
        devices,  // numbers of GPUs, such as 0,1
        file,
        accuracy,  // an amount, or basis points
        share,     // a part of one
        duration,  // seconds, or with a unit: 30s, 5m, 2h
    };
    template <class type>
    using member = std::optional<type> run_settings::*;
    using field =
        std::variant<member<std::uint64_t>, member<int>, member<std::string>, member<double>,
                     member<std::chrono::duration<double>>, member<accuracy>, member<precision>,
                     member<construction>, member<technique>, member<antithetic>, member<upper_bound>>;

    std::string name;  // the key in a book: "row_space"
    part of = part::run;
    kind takes = kind::choice;
    field value;
    std::string meaning;   // a sentence
    std::string preset{};  // the value where nobody says one; empty: it depends
    std::vector<std::string> choices{};
    std::uint64_t least = 0, most = 0;
    // Whether a price depends on it; all others change at most how long it takes.
    bool decides_bits = false;

    std::string option() const;    // "--row-space"
    std::string variable() const;  // "TILEWALK_ROW_SPACE"
    std::string expected() const;  // "a whole number from 1 to 32", for errors
    bool is_number() const;        // a whole one

    // The value in `settings`, as read() takes it; nothing if they have none.
    std::optional<std::string> text(const run_settings& settings) const;
    // Reads `text` into `settings`; if it can't be read, returns how an error goes on behind it:
    // ", expected 1, 2, 4", or "; did you mean 'single'? expected double, single".
    std::optional<std::string> read(const std::string& text, run_settings& settings) const;
};

// In the order in which people should see them.
const std::vector<run_setting>& setting_table();

// The presets.
run_settings default_settings();
// The settings of `first`, and those of `second` where `first` says nothing.
run_settings over(run_settings first, const run_settings& second);
// Throws tilewalk::error (usage) that names the first setting with a value that can't be. Names of catalogues
// are not looked up.
void check(const run_settings& settings);

}  // namespace tilewalk
