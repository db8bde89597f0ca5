// SPDX-License-Identifier: Apache-2.0
// Reports of compiled and tuned kernels, for people and for programs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "tilewalk/columns.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"
#include "tilewalk/rows.h"
#include "tilewalk/write.h"

namespace tilewalk {

namespace {

template <class Kernel>
struct kernel_field {
    std::string_view name;
    column_kind kind;
    cell (*value)(const Kernel& k);
};

constexpr const char* failed_word = "FAILED";

const char* outcome_of(const warmed_kernel& k) {
    if (!k.failure.empty()) return failed_word;
    return k.from_cache ? "from cache" : "compiled";
}

double gain_of(const tuned_kernel& k) {
    return k.failure.empty() ? k.untuned_milliseconds / k.best_milliseconds : no_figure;
}

cell text(const std::string& of) {
    return std::string_view(of);
}

cell figure(const tuned_kernel& k, double x) {
    return k.failure.empty() && std::isfinite(x) ? cell(x) : cell();
}

constexpr kernel_field<warmed_kernel> warmed_fields[] = {
    {"kernel", column_kind::text, [](const warmed_kernel& k) { return text(k.name); }},
    {"architecture", column_kind::text, [](const warmed_kernel& k) { return text(k.architecture); }},
    {"outcome", column_kind::text,
     [](const warmed_kernel& k) -> cell {
         return k.failure.empty() ? std::string_view(outcome_of(k)) : std::string_view("failed");
     }},
    {"seconds", column_kind::number, [](const warmed_kernel& k) -> cell { return k.seconds; }},
    {"bytes", column_kind::count,
     [](const warmed_kernel& k) -> cell {
         return k.failure.empty() ? cell(static_cast<std::int64_t>(k.bytes)) : cell();
     }},
    {"products", column_kind::text,
     [](const warmed_kernel& k) -> cell { return config::joined(k.products); }},
    {"message", column_kind::text, [](const warmed_kernel& k) { return text(k.failure); }},
};

constexpr kernel_field<tuned_kernel> tuned_fields[] = {
    {"kernel", column_kind::text, [](const tuned_kernel& k) { return text(k.name); }},
    {"products", column_kind::text, [](const tuned_kernel& k) -> cell { return config::joined(k.products); }},
    {"by_the_rules", column_kind::text, [](const tuned_kernel& k) { return text(k.untuned); }},
    {"by_the_rules_milliseconds", column_kind::number,
     [](const tuned_kernel& k) { return figure(k, k.untuned_milliseconds); }},
    {"fastest", column_kind::text, [](const tuned_kernel& k) { return text(k.best); }},
    {"fastest_milliseconds", column_kind::number,
     [](const tuned_kernel& k) { return figure(k, k.best_milliseconds); }},
    {"times_as_fast", column_kind::number, [](const tuned_kernel& k) { return figure(k, gain_of(k)); }},
    {"ways", column_kind::count,
     [](const tuned_kernel& k) -> cell { return static_cast<std::int64_t>(k.candidates); }},
    {"paths", column_kind::count,
     [](const tuned_kernel& k) -> cell { return static_cast<std::int64_t>(k.paths); }},
    {"seconds", column_kind::number, [](const tuned_kernel& k) -> cell { return k.seconds; }},
    {"kept_in", column_kind::text, [](const tuned_kernel& k) { return text(k.kept_in); }},
    {"message", column_kind::text, [](const tuned_kernel& k) { return text(k.failure); }},
};

template <class Kernel>
column_table columns_by(std::span<const kernel_field<Kernel>> fields, std::span<const Kernel> kernels) {
    column_table out;
    for (const kernel_field<Kernel>& field : fields) out.columns.push_back({field.name, field.kind});
    out.rows = kernels.size();
    out.at = [=](std::size_t row, std::size_t column) { return fields[column].value(kernels[row]); };
    return out;
}

std::string padded(std::string text, std::size_t wide) {
    text.resize(std::max(text.size(), wide), ' ');
    return text;
}

std::string right(std::string text, std::size_t wide) {
    return text.insert(0, text.size() < wide ? wide - text.size() : 0, ' ');
}

std::string lines_of(std::span<const warmed_kernel> kernels) {
    std::size_t width = 6;
    for (const warmed_kernel& k : kernels) width = std::max(width, printable(k.name).size());
    std::string out;
    for (const warmed_kernel& k : kernels) {
        out += padded(printable(k.name), width) + "  " + padded(printable(k.architecture), 7) + "  " +
               padded(outcome_of(k), 10) + "  " + right(report::fixed(k.seconds, 2), 6) + " s  " +
               (k.failure.empty() ? right(report::fixed(static_cast<double>(k.bytes) / 1e3, 1), 6) + " kB"
                                  : std::string(9, ' ')) +
               "  " + printable(config::joined(k.products)) + '\n';
        if (!k.failure.empty()) out += "  " + printable(k.failure) + '\n';
    }
    return out;
}

// Names all that were left out for the same reason in one line.
std::string lines_of(std::span<const unwarmed> left_out) {
    std::vector<std::string> reasons;
    for (const unwarmed& u : left_out)
        if (std::ranges::find(reasons, u.why) == reasons.end()) reasons.push_back(u.why);
    std::string out;
    for (const std::string& why : reasons) {
        std::vector<std::string> names;
        for (const unwarmed& u : left_out)
            if (u.why == why) names.push_back(u.name);
        out += printable("no kernel for " + config::joined(names) + ": " + why) + '\n';
    }
    return out;
}

std::string count_of(std::span<const warmed_kernel> kernels, const std::optional<double>& seconds) {
    std::size_t failed = 0, found = 0;
    std::uint64_t bytes = 0;
    for (const warmed_kernel& k : kernels) {
        failed += !k.failure.empty();
        found += k.failure.empty() && k.from_cache;
        bytes += k.bytes;
    }
    return report::counted(kernels.size(), "kernel") + ": " +
           std::to_string(kernels.size() - failed - found) + " compiled, " + std::to_string(found) +
           " from the cache, " + std::to_string(failed) + " failed; " +
           report::fixed(static_cast<double>(bytes) / 1e6, 1) + " MB of machine code" +
           (seconds ? ", in " + report::duration(*seconds) : "") + '\n';
}

}  // namespace

std::string kernel_table(std::span<const warmed_kernel> kernels, std::optional<double> seconds) {
    return lines_of(kernels) + count_of(kernels, seconds);
}

std::string kernel_table(const warmed_library& library, std::optional<double> seconds) {
    return lines_of(library.kernels) + lines_of(library.left_out) + count_of(library.kernels, seconds);
}

std::string kernel_table(std::span<const tuned_kernel> kernels) {
    const auto milliseconds = [](double x) {
        std::string out = report::fixed(x, 4);
        return out.insert(0, out.size() < 9 ? 9 - out.size() : 0, ' ') + " ms  ";
    };
    std::string out;
    std::size_t failed = 0, faster = 0;
    for (const tuned_kernel& k : kernels) {
        out += printable(k.name) + (k.products.empty() ? "" : "  " + printable(config::joined(k.products))) +
               '\n';
        if (!k.failure.empty()) {
            ++failed;
            out += "  " + std::string(failed_word) + ": " + printable(k.failure) + '\n';
            continue;
        }
        const bool is_faster = k.best != k.untuned;
        faster += is_faster;
        out += "  by the rules  " + milliseconds(k.untuned_milliseconds) + k.untuned + '\n';
        out += is_faster ? "  fastest       " + milliseconds(k.best_milliseconds) + k.best + ": " +
                               report::fixed(gain_of(k), 2) + " times as fast\n"
                         : "  and nothing was faster\n";
        out += "  " + std::to_string(k.candidates) + " ways, " + std::to_string(k.paths) +
               " paths a trade, timed for " + report::fixed(k.seconds, 1) + " s; kept in " +
               printable(k.kept_in) + '\n';
    }
    return out + report::counted(kernels.size(), "kernel") + ": " + std::to_string(faster) +
           " made faster, " + std::to_string(failed) + " failed\n";
}

column_table kernel_columns(std::span<const warmed_kernel> kernels) {
    return columns_by<warmed_kernel>(warmed_fields, kernels);
}

column_table kernel_columns(std::span<const tuned_kernel> kernels) {
    return columns_by<tuned_kernel>(tuned_fields, kernels);
}

}  // namespace tilewalk
