// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/shard_number.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <string_view>

#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

// An environment variable in which a scheduler numbers its processes. The other variables may be missing.
struct variable {
    const char* name;
    long long base;          // number of the first process
    const char* first = "";  // variable with the first number, instead of `base`
    const char* step = "";   // variable with the distance between numbers
    const char* count = "";  // variable with the count of processes
    const char* last = "";   // variable with the last number
    const char* engine;
};
constexpr std::array queues{
    variable{.name = "SLURM_ARRAY_TASK_ID",
             .base = 1,
             .first = "SLURM_ARRAY_TASK_MIN",
             .step = "SLURM_ARRAY_TASK_STEP",
             .count = "SLURM_ARRAY_TASK_COUNT",
             .engine = "Slurm, a job array"},
    variable{
        .name = "OMPI_COMM_WORLD_RANK", .base = 0, .count = "OMPI_COMM_WORLD_SIZE", .engine = "Open MPI"},
    variable{.name = "PMIX_RANK", .base = 0, .engine = "PMIx"},
    variable{.name = "SLURM_PROCID", .base = 0, .count = "SLURM_NTASKS", .engine = "Slurm, srun"},
    variable{.name = "JOB_COMPLETION_INDEX", .base = 0, .engine = "Kubernetes, an indexed Job"},
    variable{.name = "AWS_BATCH_JOB_ARRAY_INDEX",
             .base = 0,
             .count = "AWS_BATCH_JOB_ARRAY_SIZE",
             .engine = "AWS Batch"},
    variable{.name = "BATCH_TASK_INDEX", .base = 0, .count = "BATCH_TASK_COUNT", .engine = "Google Batch"},
    variable{.name = "LSB_JOBINDEX", .base = 1, .engine = "LSF"},
    variable{.name = "SGE_TASK_ID",
             .base = 1,
             .first = "SGE_TASK_FIRST",
             .step = "SGE_TASK_STEPSIZE",
             .last = "SGE_TASK_LAST",
             .engine = "Grid Engine"},
    variable{.name = "PARALLEL_SEQ", .base = 1, .engine = "GNU parallel"},
    variable{.name = "HQ_TASK_ID", .base = 0, .engine = "HyperQueue"},
};
constexpr const char* own_variable = "TILEWALK_SHARD";

std::optional<long long> number_in(std::string_view text) {
    long long out = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return out;
}

// Returns the number in a variable, if set. Outside an array, some schedulers set a word.
std::optional<long long> said(const environment& variables, const char* name) {
    const char* const text = *name == '\0' ? nullptr : variables(name);
    return text == nullptr ? std::nullopt : number_in(text);
}

[[noreturn]] void refuse_number(const std::string& origin, const std::string& found,
                                const std::string& expected) {
    throw error(error_kind::usage, fmt::format("{}: found {}, expected {}", origin, found, expected));
}

// Parses a shard such as "3/16" of a plan with `count` shards.
std::size_t shard_number_in(const std::string& text, std::size_t count, const std::string& origin) {
    const auto bar = text.find('/');
    const auto number = number_in(std::string_view(text).substr(0, bar));
    const auto of =
        bar == std::string::npos ? std::nullopt : number_in(std::string_view(text).substr(bar + 1));
    if (!number || !of)
        refuse_number(origin, "'" + text + "'", fmt::format("1/{} to {}/{}, or auto", count, count, count));
    if (*of != static_cast<long long>(count))
        refuse_number(origin, fmt::format("{} shards", *of), fmt::format("the {} of the plan", count));
    if (*number < 1 || *number > *of)
        refuse_number(origin, fmt::format("shard {}", *number), fmt::format("1 to {}", count));
    return static_cast<std::size_t>(*number);
}

std::size_t number_by(const variable& v, long long value, std::size_t count, const environment& variables) {
    const long long first = said(variables, v.first).value_or(v.base);
    const long long step = said(variables, v.step).value_or(1);
    std::optional<long long> known = said(variables, v.count);
    if (const auto last = said(variables, v.last); last && step > 0) known = (*last - first) / step + 1;
    const std::string hint = fmt::format("; TILEWALK_SHARD, or --shard i/{}, names one", count);
    if (known && *known != static_cast<long long>(count))
        refuse_number(v.name, fmt::format("{} processes", *known),
                      fmt::format("as many as the plan has shards, {}", count) + hint);
    const long long place = step > 0 ? (value - first) / step : -1;
    if (place < 0 || place >= static_cast<long long>(count) || (value - first) % step != 0)
        refuse_number(
            v.name, std::to_string(value),
            fmt::format("{} to {}", first, first + step * (static_cast<long long>(count) - 1)) + hint);
    return static_cast<std::size_t>(place) + 1;
}

}  // namespace

shard_number shard_number_of(const std::string& text, std::size_t count, const environment& variables) {
    if (text != "auto") return {shard_number_in(text, count, "--shard"), ""};
    if (const char* own = variables(own_variable); own != nullptr && *own != '\0')
        return {shard_number_in(own, count, own_variable), fmt::format("{}={}", own_variable, own)};
    for (const variable& v : queues) {
        const auto value = said(variables, v.name);
        // LSF sets 0 outside an array.
        if (value && *value < v.base && *v.first == '\0') continue;
        if (value) return {number_by(v, *value, count, variables), fmt::format("{}={}", v.name, *value)};
    }
    std::string names = own_variable;
    for (const variable& v : queues) names += std::string(", ") + v.name;
    throw error(error_kind::usage, fmt::format("--shard auto: found none of the variables that schedulers "
                                               "set; expected one of {}, or --shard i/{}",
                                               names, count));
}

std::string shard_variables_text() {
    std::string out = fmt::format("  {:<26} i/N, beats all others\n", own_variable);
    for (const variable& v : queues)
        out += fmt::format("  {:<26} from {}{}  {}\n", v.name, v.base,
                           *v.first == '\0' ? "" : fmt::format(", or {}", v.first), v.engine);
    return out;
}

}  // namespace tilewalk::cli
