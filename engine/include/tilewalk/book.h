// SPDX-License-Identifier: Apache-2.0
// A book: trades of library products or of the user's own, with the market and run settings that it asks for.
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

#include "tilewalk/market.h"
#include "tilewalk/options.h"
#include "tilewalk/run_settings.h"
#include "tilewalk/value.h"

namespace tilewalk {

namespace books {
struct book_state;
}

// A book of trades. A trade that can't be read stays in it with its error, and its result is a failure.
class book {
  public:
    static book load(const std::filesystem::path& file, const load_options& options = {});
    static book parse(std::string_view yaml, const std::string& name = "book",
                      const std::filesystem::path& folder = ".", const load_options& options = {});

    static book from_value(const value& written, const std::string& name = "book",
                           const std::filesystem::path& folder = ".", const load_options& options = {});

    std::size_t size() const;
    // Empty if the book neither names nor holds a market.
    const std::optional<tilewalk::market>& market() const;
    const run_settings& settings() const;
    // Every file that was read for the book, including products, calendars and files of shocks. A book parsed
    // from text appears under its `name`.
    std::vector<std::filesystem::path> files() const;
    // Returns a book of these trades, in this book's order. Throws tilewalk::error (usage) for an unknown id.
    book only(const std::vector<std::string>& ids) const;
    value written() const;

  private:
    friend struct inside;
    explicit book(std::shared_ptr<const books::book_state> state) : state_(std::move(state)) {}
    std::shared_ptr<const books::book_state> state_;
};

}  // namespace tilewalk
