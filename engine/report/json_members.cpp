// SPDX-License-Identifier: Apache-2.0
#include "engine/report/json_members.h"

#include <algorithm>
#include <iterator>

namespace tilewalk::report {

namespace {

using nlohmann::json;

constexpr int deepest = 10;  // policies go nine deep

location place_of(const std::string& text, const std::string& name, std::size_t byte) {
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto line = std::count(text.begin(), end, '\n') + 1;
    const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
    return {name, static_cast<int>(line), static_cast<int>(end - start) + 1};
}

}  // namespace

json parsed_json(const std::string& text, const std::string& name, std::string_view as) {
    std::vector<std::set<std::string>> open;
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
        if (depth > deepest) throw error(error_kind::input, "nested too deeply", {name});
        if (event == json::parse_event_t::object_start) open.emplace_back();
        if (event == json::parse_event_t::object_end) open.pop_back();
        if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
            throw error(error_kind::input,
                        "the key " + config::shown(value.get<std::string>()) + " is given twice", {name});
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::parse_error& problem) {
        std::string message = problem.what();
        message.erase(0, std::min(message.find("] ") + 2, message.size()));
        if (const auto at = message.find("syntax error"); at != std::string::npos) message.erase(0, at);
        // A text that is no JSON is somebody else's file, and may be one long text: the message repeats no
        // word of it.
        if (const auto at = message.find("; last read: '"); at != std::string::npos) {
            const auto more = message.rfind("'; expected ");
            message.erase(at, more == std::string::npos || more < at ? std::string::npos : more + 1 - at);
        }
        throw error(error_kind::input, "this is not JSON as " + std::string(as) + ": " + message,
                    place_of(text, name, problem.byte));
    } catch (const json::exception& problem) {
        throw error(error_kind::input, "a number does not fit: " + config::shortened(problem.what()), {name});
    }
}

}  // namespace tilewalk::report
