// SPDX-License-Identifier: Apache-2.0
#include "engine/bench/row.h"

#include <istream>
#include <ostream>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

[[noreturn]] void refuse(const std::string& name, int line, const std::string& why) {
    throw error(error_kind::input, why, {name, line, 0});
}

row row_of(const json& from, const std::string& name, int line) {
    const auto object = [&](const char* key) {
        if (!from.contains(key) || !from[key].is_object()) {
            refuse(name, line, std::string("a row of a benchmark has an object '") + key + "'");
        }
        return from[key];
    };
    row out;
    if (!from.contains("suite") || !from["suite"].is_string()) {
        refuse(name, line, "a row of a benchmark says its suite");
    }
    out.suite = from["suite"];
    out.axes = object("axes");
    out.figures = object("figures");
    out.over = from.value("over", json(nullptr));
    out.skipped = from.value("skipped", "");
    out.wrong = from.value("wrong", "");
    return out;
}

}  // namespace

std::string key_of(const row& of) {
    return of.suite + ' ' + of.axes.dump();
}

void write_lines(std::ostream& out, const run& what) {
    out << json{{"run", what.about}}.dump() << '\n';
    for (const row& r : what.rows) {
        json line{{"suite", r.suite}, {"axes", r.axes}, {"figures", r.figures}};
        if (!r.over.is_null()) line["over"] = r.over;
        if (!r.skipped.empty()) line["skipped"] = r.skipped;
        if (!r.wrong.empty()) line["wrong"] = r.wrong;
        out << line.dump() << '\n';
    }
}

run read_lines(std::istream& in, const std::string& name) {
    run out;
    bool has_run = false;
    std::string text;
    for (int line = 1; std::getline(in, text); ++line) {
        if (text.empty()) continue;
        const json read = json::parse(text, nullptr, false);
        if (read.is_discarded() || !read.is_object()) {
            refuse(name, line, "found no JSON object, expected what tilewalk bench writes");
        }
        try {
            if (!has_run) {
                if (!read.contains("run") || !read["run"].is_object()) {
                    refuse(name, line, "expected the line that says which run this is: {\"run\": {...}}");
                }
                out.about = read["run"];
                has_run = true;
            } else {
                out.rows.push_back(row_of(read, name, line));
            }
        } catch (const json::exception& e) {
            refuse(name, line, e.what());
        }
    }
    if (!has_run) refuse(name, 0, "the file is empty, expected what tilewalk bench writes");
    return out;
}

}  // namespace tilewalk::bench
