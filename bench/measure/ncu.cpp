// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/ncu.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "bench/measure/child_process.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

constexpr std::size_t most_output = std::size_t{4} << 20;
constexpr std::string_view own_mark = "==";  // begins ncu's own lines, such as "==PROF=="

[[noreturn]] void refuse(int line, const std::string& why) {
    throw error(error_kind::input, why, {"the output of ncu", line, 0});
}

// Splits a CSV line of ncu, which quotes every field: "a","b ""c""","1".
std::vector<std::string> fields_of(const std::string& text, int line) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string field;
        bool is_closed = false;
        if (text[i] != '"') refuse(line, "found " + config::shown(text) + ", expected fields in quotes");
        for (++i; i < text.size() && !is_closed; ++i) {
            if (text[i] == '"' && (i + 1 == text.size() || text[i + 1] != '"')) {
                is_closed = true;
            } else {
                field += text[i];
                if (text[i] == '"') ++i;
            }
        }
        if (!is_closed || (i < text.size() && text[i] != ',')) {
            refuse(line, "found " + config::shown(text) + ", expected fields in quotes, commas between");
        }
        out.push_back(std::move(field));
    }
    return out;
}

// Parses a number such as "53.4" or "12,358.5". Commas must separate thousands.
std::optional<double> number_of(const std::string& text) {
    std::string digits;
    const std::size_t whole = std::min(text.find('.'), text.size());
    const bool has_groups = text.find(',') != std::string::npos;
    if (has_groups && whole % 4 == 0) return std::nullopt;  // four digits or more before the first comma
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool expects_comma = has_groups && i > 0 && i < whole && (whole - i) % 4 == 0;
        if ((text[i] == ',') != expects_comma) return std::nullopt;
        if (text[i] != ',') digits += text[i];
    }
    double out = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return std::isfinite(out) && out >= 0 ? std::optional(out) : std::nullopt;
}

struct columns {
    std::size_t id, metric, value, count;

    columns(const std::vector<std::string>& names, int line) : count(names.size()) {
        const auto at = [&](const char* name) {
            const auto found = std::ranges::find(names, name);
            if (found == names.end()) refuse(line, "found no column " + config::shown(name));
            return static_cast<std::size_t>(found - names.begin());
        };
        id = at("ID");
        metric = at("Metric Name");
        value = at("Metric Value");
    }
};

// The first message of ncu that begins with `mark`, such as "==ERROR=="; empty if there is none.
std::string said(const std::string& text, std::string_view mark) {
    constexpr std::size_t most = 300;
    const std::size_t at = text.starts_with(mark) ? 0 : text.find('\n' + std::string(mark));
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find_first_not_of(" \n", text.find(mark, at) + mark.size());
    if (begin == std::string::npos) return {};
    std::string out = text.substr(begin, std::min(most, text.find('\n', begin) - begin));
    while (out.ends_with('\r') || out.ends_with('.') || out.ends_with(' ')) out.pop_back();
    return out;
}

}  // namespace

ncu_counts read_ncu(const std::string& text, const std::vector<std::string>& metrics) {
    ncu_counts out;
    std::optional<columns> where;
    std::string launch;
    std::vector<std::optional<double>> seen;
    int line = 0;
    const auto close = [&] {
        if (seen.empty()) return;
        std::vector<double> values;
        for (std::size_t m = 0; m < metrics.size(); ++m) {
            if (!seen[m]) refuse(line, "launch " + config::shown(launch) + " has no " + metrics[m]);
            values.push_back(*seen[m]);
        }
        out.launches.push_back(std::move(values));
    };
    std::istringstream lines(text);
    for (std::string one; std::getline(lines, one);) {
        ++line;
        if (one.ends_with('\r')) one.pop_back();
        if (one.empty() || one.starts_with(own_mark)) continue;
        if (!where && one.starts_with("\"ID\",")) {
            where.emplace(fields_of(one, line), line);
            continue;
        }
        if (!where || !one.starts_with('"')) {
            out.output += one + '\n';
            continue;
        }
        const auto fields = fields_of(one, line);
        if (fields.size() != where->count) {
            refuse(line, fmt::format("found {} fields, expected {}", fields.size(), where->count));
        }
        if (seen.empty() || fields[where->id] != launch) {
            close();
            launch = fields[where->id];
            seen.assign(metrics.size(), std::nullopt);
        }
        const auto metric = std::ranges::find(metrics, fields[where->metric]);
        if (metric == metrics.end()) continue;
        auto& value = seen[static_cast<std::size_t>(metric - metrics.begin())];
        if (value) refuse(line, "launch " + config::shown(launch) + " has " + *metric + " twice");
        value = number_of(fields[where->value]);
        if (!value) {
            refuse(line, "found " + config::shown(fields[where->value]) + " as " + *metric +
                             ", expected a number from 0 on");
        }
    }
    if (!where) refuse(line, "found no table, expected a line that begins with \"ID\"");
    close();
    return out;
}

ncu_outcome run_under_ncu(const std::vector<std::string>& program, const std::string& kernel,
                          const std::vector<std::string>& metrics, double seconds,
                          const std::atomic<bool>* cancel) {
    std::vector<std::string> command{
        "ncu",           "--csv", "--log-file",      "stdout",
        "--print-units", "base",  "--clock-control", "none",
        "--kernel-name", kernel,  "--metrics",       fmt::format("{}", fmt::join(metrics, ","))};
    command.insert(command.end(), program.begin(), program.end());
    const child_outcome ran = run_child(command, seconds, most_output, cancel);
    ncu_outcome out;
    if (!ran.has_started) {
        out.why_not = ran.why_not + "; it is part of CUDA's Nsight Compute, and looked for on the PATH";
    } else if (const std::string refused = said(ran.output, "==ERROR=="); !refused.empty()) {
        out.why_not = "ncu refused: " + refused;
    } else if (!ran.why_not.empty()) {
        out.why_not = "ncu " + ran.why_not;
    }
    if (!out.why_not.empty()) {
        if (!ran.last_error.empty())
            out.why_not += "; the last that was said is " + config::shown(ran.last_error);
        return out;
    }
    try {
        out.counts = read_ncu(ran.output, metrics);
        if (out.counts.launches.empty()) out.why_not = "ncu saw no launch of " + kernel;
    } catch (const error& e) {
        const std::string warned = said(ran.output, "==WARNING==");
        out.why_not = e.what() + (warned.empty() ? "" : "; ncu warned: " + warned);
    }
    return out;
}

}  // namespace tilewalk::bench
