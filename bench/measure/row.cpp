// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/row.h"

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <set>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

[[noreturn]] void refuse(const std::string& name, int line, const std::string& why) {
    throw error(error_kind::input, why, {name, line, 0});
}

// JSON text. Names may hold any bytes: invalid UTF-8 is replaced, because writing it would throw.
std::string text_of(const json& what) {
    return what.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Parses a line as one JSON value; a repeated key is an error.
json parsed(const std::string& text, const std::string& name, int line) {
    std::vector<std::set<std::string>> open;
    std::string twice;
    json out = json::parse(
        text,
        [&](int, json::parse_event_t event, const json& what) {
            if (event == json::parse_event_t::object_start) open.emplace_back();
            if (event == json::parse_event_t::object_end) open.pop_back();
            if (event == json::parse_event_t::key && !open.back().insert(what).second) twice = what;
            return true;
        },
        false);
    if (out.is_discarded() || !out.is_object()) {
        refuse(name, line, "found no JSON object, expected what tilewalk bench writes");
    }
    if (!twice.empty()) refuse(name, line, config::shown(twice) + " is there twice");
    return out;
}

void refuse_unknown(const json& from, const std::string& name, int line) {
    static const std::vector<std::string> known{"suite", "axes", "figures", "over", "skipped", "wrong"};
    for (const auto& [key, value] : from.items()) {
        if (std::ranges::find(known, key) != known.end()) continue;
        refuse(
            name, line,
            "a row of a benchmark has no " + config::shown(key) + config::alternatives(key, "it has", known));
    }
}

json flat_object(const json& from, const char* key, const std::string& name, int line) {
    if (!from.contains(key) || !from[key].is_object()) {
        refuse(name, line, std::string("a row of a benchmark has an object '") + key + "'");
    }
    for (const auto& [inner, value] : from[key].items()) {
        if (!value.is_primitive()) {
            refuse(name, line,
                   config::shown(inner) + " of '" + key + "' is " +
                       (value.is_array() ? "a list" : "an object") + ", expected a word or a number");
        }
    }
    return from[key];
}

std::string word(const json& from, const char* key, const std::string& name, int line) {
    if (!from.contains(key)) return {};
    if (!from[key].is_string()) refuse(name, line, std::string("'") + key + "' is not a text");
    return from[key];
}

row row_of(const json& from, const std::string& name, int line) {
    refuse_unknown(from, name, line);
    row out;
    out.suite = word(from, "suite", name, line);
    if (out.suite.empty()) refuse(name, line, "a row of a benchmark says its suite");
    out.axes = flat_object(from, "axes", name, line);
    out.figures = flat_object(from, "figures", name, line);
    if (from.contains("over")) out.over = flat_object(from, "over", name, line);
    out.skipped = word(from, "skipped", name, line);
    out.wrong = word(from, "wrong", name, line);
    return out;
}

json about_of(const json& from, const std::string& name, int line) {
    if (from.contains("run") && from["run"].is_object()) return from["run"];
    std::string keys;
    constexpr std::size_t most = 5;
    std::size_t count = 0;
    for (const auto& [key, value] : from.items())
        if (++count <= most) keys += (keys.empty() ? "" : ", ") + config::shown(key);
    refuse(name, line,
           "expected the line that says which run this is: {\"run\": {...}}, found an object with " +
               (keys.empty() ? "nothing in it" : keys) + (count > most ? " and more" : "") +
               ", which tilewalk bench did not write");
}

// Refuses a second run in a file: its rows would pass for rows of the first.
[[noreturn]] void refuse_other_run(const json& from, const json& first, const std::string& name, int line) {
    std::string differs;
    if (from["run"].is_object())
        for (const auto& [key, value] : from["run"].items())
            if (!first.contains(key) || first[key] != value) differs += (differs.empty() ? "" : ", ") + key;
    refuse(name, line,
           "another run begins here" + (differs.empty() ? "" : ", which differs in " + differs) +
               "; put the lines from here on into a file of their own");
}

// The number of rows that the file's last line states. If it is missing, the file was truncated.
std::size_t stated_rows(const json& from, const std::string& name, int line) {
    if (from.size() != 1 || !from["rows"].is_number_unsigned()) {
        refuse(name, line, "expected the last line to be {\"rows\": how many there are}");
    }
    return from["rows"];
}

}  // namespace

std::string key_of(const row& of) {
    return of.suite + ' ' + text_of(of.axes);
}

void write_lines(std::ostream& out, const run& what) {
    out << text_of({{"run", what.about}}) << '\n';
    for (const row& r : what.rows) {
        json line{{"suite", r.suite}, {"axes", r.axes}, {"figures", r.figures}};
        if (!r.over.is_null()) line["over"] = r.over;
        if (!r.skipped.empty()) line["skipped"] = r.skipped;
        if (!r.wrong.empty()) line["wrong"] = r.wrong;
        out << text_of(line) << '\n';
    }
    out << text_of({{"rows", what.rows.size()}}) << '\n';
}

run read_lines(std::istream& in, const std::string& name, bool as_kept) {
    run out;
    bool has_run = false;
    int end = 0;                  // number of the line that ended the last part; 0: none yet
    std::size_t rows_at_end = 0;  // rows in all parts ended so far
    std::string notes;
    const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
    std::map<std::string, int> lines_of;
    std::string text;
    int line = 0;
    while (std::getline(in, text)) {
        ++line;
        if (text.empty()) continue;
        const json read = parsed(text, name, line);
        if (!has_run) {
            out.about = about_of(read, name, line);
            has_run = true;
            continue;
        }
        if (read.contains("run")) refuse_other_run(read, out.about, name, line);
        if (end > 0) {
            if (!as_kept || read.contains("rows"))
                refuse(name, line, "found a line after that which ends the file");
            note("rows from line " + std::to_string(line) +
                 " on were added behind the end of the run, and none says which run they are of");
            end = 0;
        }
        if (read.contains("rows")) {
            end = line;
            const std::size_t rows = stated_rows(read, name, line), found = out.rows.size() - rows_at_end;
            if (rows != found) {
                refuse(name, line,
                       "found " + std::to_string(found) + " rows where there were " + std::to_string(rows));
            }
            rows_at_end = out.rows.size();
            continue;
        }
        out.rows.push_back(row_of(read, name, line));
        const auto [at, is_new] = lines_of.emplace(key_of(out.rows.back()), line);
        if (!is_new) refuse(name, line, "measures the same as line " + std::to_string(at->second));
    }
    if (in.bad()) throw error(error_kind::io, "can't be read to its end", {name, line, 0});
    if (!has_run) refuse(name, 0, "the file is empty, expected what tilewalk bench writes");
    if (end == 0) {
        if (!as_kept || out.rows.empty())
            refuse(name, line, "the file ends too soon: the line that counts its rows is missing");
        note("the line that counts the rows is missing, so nothing says whether all of them are here");
    }
    if (!notes.empty()) out.about["note"] = notes;
    return out;
}

}  // namespace tilewalk::bench
