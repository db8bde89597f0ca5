// SPDX-License-Identifier: Apache-2.0
// A book: trades of library products or of the user's own, with the market and the run settings it asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewalk/load_options.h"
#include "tilewalk/market.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/value.h"

namespace tilewalk {

namespace books {
struct book_state;
}

// A trade that can't be read does not spoil the book: it is kept with its error and shows as a failed row.
class book {
  public:
    static book load(const std::filesystem::path& file, const load_options& options = {});
    // Relative files that the text names are looked for in `folder`.
    static book parse(std::string_view yaml, const std::string& name = "book",
                      const std::filesystem::path& folder = ".", const load_options& options = {});

    // A book that a program has built, or read and changed.
    static book of(const value& written, const std::string& name = "book",
                   const std::filesystem::path& folder = ".", const load_options& options = {});

    // For the engine itself, which changes trades to learn more about them.
    static book of(std::shared_ptr<const books::book_state> state) { return book(std::move(state)); }

    std::size_t size() const;
    // The market the book names or holds, if it does.
    const std::optional<tilewalk::market>& market() const;
    const run_settings& settings() const;
    // The files it was read from: its own, those of products and calendars, its market's, and shocks to
    // replay. A text has the name that it was given.
    std::vector<std::filesystem::path> files() const;
    // The same book with these trades alone, in its own order. Throws tilewalk::error (usage) for an id that
    // it does not have, with the nearest.
    book only(const std::vector<std::string>& ids) const;
    // The whole of it, as it would be written: with these trades, and with the market that it names or holds.
    value written() const;
    const books::book_state& state() const { return *state_; }

  private:
    explicit book(std::shared_ptr<const books::book_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const books::book_state> state_;
};

}  // namespace tilewalk
