// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/ore/names.h"

#include <utility>

#include "engine/base/text/document.h"
#include "engine/base/wording.h"
#include "engine/reading/calendar_reader.h"
#include "engine/reading/named_files.h"

namespace tilewalk::reading::ore {

names::names(const std::filesystem::path& file) {
    const config::document read = config::read_document(file);
    files_.push_back(file);
    const config::node& root = read.root;
    if (!root.is_mapping())
        root.fail("found " + root.found_kind() +
                  ", expected names: a mapping with the key assets, calendars "
                  "or without_credit");
    root.only({"assets", "calendars", "without_credit"});
    if (const auto* given = root.find("assets"))
        for (const auto& one : given->members()) assets_.emplace(one.key, one.value.text());
    if (const auto* given = root.find("calendars")) {
        const books::calendars usual = books::usual_calendars();
        for (const auto& one : given->members()) {
            if (one.value.is_mapping()) {
                calendars_.emplace(one.key, books::read_calendar(one.value));
            } else if (const auto known = usual.find(one.value.text()); known != usual.end()) {
                calendars_.emplace(one.key, known->second);
            } else {
                const auto path = (config::folder_of_file(file) / one.value.text()).lexically_normal();
                calendars_.emplace(one.key, read_named(one.value, path, [&](const std::filesystem::path& at) {
                                       return books::read_calendar(config::load(at));
                                   }));
                files_.push_back(path);
            }
        }
    }
    if (const auto* given = root.find("without_credit"))
        for (const auto& one : given->items()) without_credit_.insert(one.text());
}

std::string names::asset(const std::string& named) {
    const auto found = assets_.find(named);
    if (found == assets_.end()) return named;
    note(named + " is the asset " + found->second + " of the market");
    return found->second;
}

void names::keep() {
    notes_.merge(open_notes_);
    quoted_in_.merge(open_quoted_in_);
    drop();
}

void names::drop() {
    open_notes_.clear();
    open_quoted_in_.clear();
}

std::string names::quoted(const std::string& named, const fields& currency) {
    const auto known = quoted_in_.find(named);
    if (known == quoted_in_.end()) open_quoted_in_.emplace(named, currency.text());
    if (known != quoted_in_.end() && known->second != currency.text()) {
        currency.fail_found(
            "'" + known->second + "', in which another trade on " + named +
            " pays: whether a payment in a second one is a quanto or converted, the file does "
            "not say");
    }
    note("an asset is quoted in the currency in which the trades on it pay");
    return asset(named);
}

dates::calendar names::calendar(const fields& at) const {
    const std::string& text = at.text();
    if (text.empty() || text == "NullCalendar") return {};
    if (text == "WeekendsOnly") return dates::calendar::weekends();
    if (const auto whole = calendars_.find(text); whole != calendars_.end()) return whole->second;
    std::optional<dates::calendar> joined;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string one = text.substr(begin, end - begin);
        const auto found = calendars_.find(one);
        if (found == calendars_.end()) {
            at.fail("found the calendar " + config::shown(one) +
                    ", whose holidays are not known; give them in a file for --names, as in {calendars: {" +
                    one + ": holidays.yaml}}, or weekends for Saturdays and Sundays only");
        }
        joined = joined ? joined->joined_with(found->second) : found->second;
        begin = end + 1;
    }
    return *joined;
}

void names::demand_without_credit(const fields& curve) {
    const std::string& id = curve.text();
    if (id.empty()) return;
    if (!without_credit_.contains(id)) {
        curve.fail("found the credit curve " + config::shown(id) +
                   ", but trades here have no default risk; to leave it out, list it in a file for --names, "
                   "as in {without_credit: [" +
                   id + "]}");
    }
    note(id + " is taken as if it could not default");
}

}  // namespace tilewalk::reading::ore
