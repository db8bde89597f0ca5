// SPDX-License-Identifier: Apache-2.0
// Translates a portfolio's assets, calendars and issuers into the market's, and notes each substitution.
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
    // Reads a table such as {assets: {RIC:.SPX: INDEX}, calendars: {TARGET: target.yaml, US: weekends},
    // without_credit: [CPTY_C]}.
    explicit names(const std::filesystem::path& file);

    std::string asset(const std::string& named);
    // The market's name of an asset quoted in `currency`. Throws if trades quote it in different currencies.
    std::string quoted(const std::string& named, const fields& currency);
    // Returns the calendar that a field names, joined if it names several with commas. If the field is empty,
    // every day is a business day. Throws tilewalk::error (input) for a calendar that the table does not map.
    dates::calendar calendar(const fields& at) const;
    // Throws for the credit curve of an issuer that may default, unless the table lists it as without credit.
    void demand_without_credit(const fields& curve);

    // Notes a line about the current trade. It is reported once, and only if the trade is kept.
    void note(std::string line) { open_notes_.insert(std::move(line)); }
    // End the current trade: keep() keeps its notes, drop() discards them.
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
