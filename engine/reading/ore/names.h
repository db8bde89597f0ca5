// SPDX-License-Identifier: Apache-2.0
// The names of a portfolio and what they stand for: assets of the market, calendars, credit. A table leads
// the one to the other where they differ, and whatever was taken for something is noted.
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
    // {assets: {RIC:.SPX: INDEX}, calendars: {TARGET: target.yaml, US: weekends}, without_credit: [CPTY_C]}
    explicit names(const std::filesystem::path& file);

    // The asset of the market.
    std::string asset(const std::string& named);
    // The same of one that a trade, which pays in `currency`, takes to be quoted in it. Throws where another
    // trade takes it to be quoted in a second currency.
    std::string quoted(const std::string& named, const fields& currency);
    // The calendar of a field, which may be several, joined by commas; empty: every day is a business day.
    // Throws tilewalk::error (input) at the field for one that the table does not lead anywhere.
    dates::calendar calendar(const fields& at) const;
    // Throws where the issuer may default and the table does not say that it is to be taken as if not.
    void demand_without_credit(const fields& curve);

    // The line is told once, if its trade is taken.
    void note(std::string line) { open_notes_.insert(std::move(line)); }
    // Ends a trade: notes on one that is left out are dropped.
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
