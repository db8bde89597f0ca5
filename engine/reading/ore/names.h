// SPDX-License-Identifier: Apache-2.0
// Maps a portfolio's names to assets of the market, calendars and credit, and notes every substitution.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/reading/ore/fields.h"
#include "products/dates/calendar.h"

namespace tilewalk::reading::ore {

class names {
  public:
    names() = default;
    // Reads such as {assets: {RIC:.SPX: INDEX}, calendars: {TARGET: target.yaml, US: weekends},
    // without_credit: [CPTY_C]}.
    explicit names(const std::filesystem::path& file);

    std::string asset(const std::string& named);
    // The same for an asset quoted in the trade's `currency`. Throws if trades disagree about it.
    std::string quoted(const std::string& named, const fields& currency);
    // Returns the calendar of a field, which may join several by commas; if empty, every day is a business
    // day. Throws tilewalk::error (input) for an unmapped calendar.
    dates::calendar calendar(const fields& at) const;
    // Throws for an issuer that may default, unless the table lists it as without credit.
    void demand_without_credit(const fields& curve);

    // Reports the line once, if the trade is kept.
    void note(std::string line) { open_notes_.insert(std::move(line)); }
    // End a trade; drop() discards its notes.
    void keep();
    void drop();
    std::vector<std::string> notes() const { return {notes_.begin(), notes_.end()}; }
    const std::vector<std::filesystem::path>& files() const { return files_; }

  private:
    std::map<std::string, std::string> assets_, quoted_in_, open_quoted_in_;
    std::map<std::string, dates::calendar> calendars_;
    std::set<std::string> without_credit_, notes_, open_notes_;
    std::vector<std::filesystem::path> files_;
};

}  // namespace tilewalk::reading::ore
