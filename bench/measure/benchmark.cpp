// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/benchmark.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "bench/measure/baseline.h"
#include "bench/measure/report.h"
#include "bench/measure/suites.h"
#include "bench/measure/table.h"
#include "bench/measure/timing.h"
#include "engine/base/inside.h"
#include "engine/base/machine.h"
#include "engine/base/wording.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/version.h"

namespace tilewalk {

namespace {

bench::request request_of(const benchmark_request& r) {
    bench::request out{r.subject, r.feeds, r.layouts, r.precisions, r.distances, r.widths, r.warps, r.paths};
    out.is_timed = r.is_timed;
    out.command = r.command;
    if (!r.command.empty()) out.command.insert(out.command.end(), {r.suite, "--device", r.device});
    return out;
}

// Refuses a baseline of another device or suite before any time is spent on measuring.
void check_baseline(const bench::run& before, const std::string& device, const std::string& suite) {
    const auto said = [&](const char* key) {
        const auto at = before.about.find(key);
        return at != before.about.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (said("device") != device) {
        throw error(error_kind::usage, "the baseline was measured on " + config::shown(said("device")) +
                                           ", this is " + config::shown(device) +
                                           "; a ratio of one says nothing of the other");
    }
    if (said("suite") != suite) {
        throw error(error_kind::usage, "the baseline is of the benchmark " + config::shown(said("suite")) +
                                           ", not of " + config::shown(suite));
    }
}

std::shared_ptr<bench::run> new_run(bench::json about, const std::string& suite) {
    auto out = std::make_shared<bench::run>();
    out->about = std::move(about);
    if (const char* commit = std::getenv("TILEWALK_COMMIT"); commit != nullptr && *commit != '\0') {
        out->about["commit"] = commit;
    }
    out->about["suite"] = suite;
    return out;
}

bench::stop_rule rule_of(const benchmark_request& asked) {
    bench::stop_rule until;
    until.noise = asked.noise;
    until.seconds = asked.seconds;
    return until;
}

// Runs the suite and returns its rows; if it is cancelled, the rows measured so far.
benchmark_results rows_of(const benchmark_request& asked, const std::shared_ptr<bench::run>& out,
                          const std::function<void(const bench::sink&)>& suite) {
    try {
        suite([&](bench::row r) {
            if (asked.on_row)
                asked.on_row(
                    with_state<benchmark_results>(std::make_shared<bench::run>(bench::run{out->about, {r}})));
            out->rows.push_back(std::move(r));
        });
    } catch (const error& e) {
        if (e.kind() != error_kind::cancelled || out->rows.empty()) throw;
        return benchmark_results::interrupted({with_state<benchmark_results>(out)});
    }
    return with_state<benchmark_results>(out);
}

benchmark_results measure_processor(const benchmark_request& asked, const bench::suite_entry& suite,
                                    const std::string& why_no_gpu, const benchmark_results* baseline) {
    const std::string name = processor_name();
    if (baseline != nullptr) check_baseline(state_of(*baseline), name, asked.suite);
    bench::cpu_bench with{.until = rule_of(asked), .cancel = asked.cancel};
    if (asked.says) with.says = asked.says;
    const auto out =
        new_run({{"device", name}, {"version", std::string(version())}, {"date", today()}}, asked.suite);
    return rows_of(asked, out,
                   [&](const bench::sink& to) { suite.run_on_cpu(with, request_of(asked), why_no_gpu, to); });
}

}  // namespace

std::vector<benchmark_suite> benchmark_suites() {
    std::vector<benchmark_suite> out;
    for (const auto& s : bench::suites()) {
        out.push_back({std::string(s.name), std::string(s.summary), std::string(s.published)});
    }
    return out;
}

void check(const benchmark_request& asked) {
    bench::check(bench::suite_named(asked.suite), request_of(asked));
}

benchmark_results benchmark_results::parse(std::string_view json_lines, const std::string& name,
                                           bool as_kept) {
    std::istringstream in{std::string(json_lines)};
    return with_state<benchmark_results>(
        std::make_shared<const bench::run>(bench::read_lines(in, name, as_kept)));
}

std::string benchmark_results::note() const {
    const auto said = state_->about.find("note");
    return said == state_->about.end() || !said->is_string() ? "" : said->get<std::string>();
}

std::string benchmark_results::text(output_format as, const text_form& form) const {
    switch (as) {
        case output_format::table:
            return bench::table(*state_, form.columns);
        case output_format::csv:
            return bench::csv(*state_);
        case output_format::json:
            break;
    }
    std::ostringstream out;
    bench::write_lines(out, *state_);
    return out.str();
}

std::string benchmark_results::page() const {
    return bench::report_html(*state_);
}

std::vector<std::pair<std::string, std::string>> benchmark_results::figures() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& name : bench::figure_names(*state_))
        out.emplace_back(name, bench::figure_svg(*state_, name));
    return out;
}

benchmark_results benchmark_results::interrupted(const std::vector<benchmark_results>& parts) {
    auto out = std::make_shared<bench::run>();
    if (!parts.empty()) out->about = parts.front().state_->about;
    for (const benchmark_results& part : parts)
        out->rows.insert(out->rows.end(), part.state_->rows.begin(), part.state_->rows.end());
    bench::row end;
    end.suite = out->about.value("suite", "");
    out->about["interrupted"] = true;
    end.skipped = "interrupted: nothing after this was measured";
    out->rows.push_back(std::move(end));
    return with_state<benchmark_results>(out);
}

bool benchmark_results::is_complete() const {
    return !state_->about.contains("interrupted");
}

std::size_t benchmark_results::wrong() const {
    std::size_t count = 0;
    for (const auto& r : state_->rows) count += !r.wrong.empty();
    return count;
}

benchmark_results measure(const benchmark_request& asked, const benchmark_results* baseline) {
    check(asked);
    const bench::suite_entry& suite = bench::suite_named(asked.suite);
    cuda::backend gpus;
    cuda::backend::choice found;
    try {
        found = gpus.choose(asked.device);
    } catch (const error& e) {
        if (e.kind() != error_kind::device || suite.run_on_cpu == nullptr) throw;
        found.why_cpu = e.message();
    }
    if (found.devices.empty() && suite.run_on_cpu != nullptr) {
        const std::string why = found.why_cpu.empty() ? "the processor was asked for" : found.why_cpu;
        return measure_processor(asked, suite, why, baseline);
    }
    if (found.devices.empty()) {
        throw error(error_kind::device, "a benchmark needs a GPU" +
                                            (found.why_cpu.empty() ? "" : "; " + found.why_cpu) +
                                            "; tilewalk devices tells more");
    }
    const auto& on = found.devices.front();
    const auto& properties = on->get().properties();
    if (baseline != nullptr) check_baseline(state_of(*baseline), properties.name, asked.suite);
    bench::gpu_timer with(on, gpus.kernels(), bench::open_clocks(properties.uuid), rule_of(asked));
    with.cancel = asked.cancel;
    if (asked.says) with.says = asked.says;
    const auto out = new_run(bench::about(with), asked.suite);
    return rows_of(asked, out, [&](const bench::sink& to) { suite.run(with, request_of(asked), to); });
}

benchmark_verdict compare(const benchmark_results& now, const benchmark_results& before) {
    const bench::comparison c = bench::compare(state_of(now), state_of(before));
    std::ostringstream text;
    bench::write(text, c);
    return {text.str(), c.is_bad()};
}

}  // namespace tilewalk
