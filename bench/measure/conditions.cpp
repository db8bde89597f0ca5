// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "bench/measure/ncu.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

constexpr double most_seconds = 60;  // time limit of one workload under ncu
constexpr int middle_distance = 8;
constexpr const char* even_layout = "transposed";

std::vector<int> ends_of(const std::vector<int>& asked, std::vector<int> preset) {
    if (asked.empty()) return preset;
    const auto [least, greatest] = std::ranges::minmax(asked);
    return least == greatest ? std::vector{least} : std::vector{least, greatest};
}

[[noreturn]] void refuse(const std::string& why) {
    throw error(error_kind::input, why);
}

double share(double part, double whole, const char* of) {
    // ncu measures counters in several passes over one launch, so a share may come out slightly above 1.
    constexpr double most = 1.1;
    if (!(whole > 0) || part > most * whole) {
        refuse(fmt::format("ncu counted {} of {} as the share of {}, which can't be", part, whole, of));
    }
    return std::min(1.0, part / whole);
}

}  // namespace

std::string verdict_on(const cuda::feed_entry& feed, double share_of_bandwidth,
                       double share_of_time_stalled) {
    if (share_of_bandwidth >= saturated_bandwidth) return "can't pay: the bandwidth is taken";
    if (share_of_time_stalled >= least_stalled) return "can pay";
    // Feeds of bulk copies wait at barriers in shared memory, which the counter of load stalls does not see.
    if (feed.makes_use_of(cuda::knobs::rows)) return "not known: it waits at barriers";
    return "can't pay: warps seldom wait for loads";
}

std::vector<std::string> metrics_of_conditions() {
    return {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
            "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
            "smsp__average_warp_latency_per_inst_issued.ratio"};
}

std::vector<row> rows_of_conditions(const std::vector<std::vector<double>>& launches, const run& walked) {
    std::vector<row> out;
    for (const row& r : walked.rows) {
        if (!r.wrong.empty()) refuse("under ncu a row went wrong: " + r.wrong);
        if (!r.skipped.empty()) continue;
        if (out.size() == launches.size()) {
            refuse(fmt::format("more rows ran than the {} launches that ncu saw", launches.size()));
        }
        const std::vector<double>& counted = launches[out.size()];
        row made;
        made.suite = conditions_suite;
        made.axes = r.axes;
        const auto feed = r.axes.find("feed");
        if (feed == r.axes.end() || !feed->is_string()) refuse("under ncu a row ran without a feed");
        const double bandwidth = share(counted.at(0), 100, "bandwidth"),
                     stalled = share(counted.at(1), counted.at(2), "time stalled");
        if (r.figures.contains("resident_warps"))
            made.figures["resident_warps"] = r.figures["resident_warps"];
        made.figures["share_of_bandwidth"] = bandwidth;
        made.figures["stalled_on_loads"] = counted.at(1);
        made.figures["share_of_time_stalled"] = stalled;
        made.figures["iterations"] = "independent";
        made.figures["more_prefetching"] =
            verdict_on(cuda::feed_named(feed->get<std::string>()), bandwidth, stalled);
        out.push_back(std::move(made));
    }
    if (out.size() < launches.size()) {
        refuse(fmt::format("{} rows ran where ncu saw {} launches", out.size(), launches.size()));
    }
    return out;
}

std::vector<std::string> few_ways_of(const request& asked, const std::string& subject,
                                     const std::string& precision) {
    int distance = middle_distance;
    if (!asked.distances.empty()) {
        distance = *std::ranges::min_element(asked.distances, {},
                                             [](int of) { return std::abs(of - middle_distance); });
    }
    const bool has_even =
        asked.layouts.empty() || std::ranges::find(asked.layouts, even_layout) != asked.layouts.end();
    std::vector<std::string> out{subject,
                                 "--precision",
                                 precision,
                                 "--distances",
                                 std::to_string(distance),
                                 "--layouts",
                                 has_even ? even_layout : asked.layouts.front(),
                                 "--widths",
                                 fmt::format("{}", fmt::join(ends_of(asked.widths, {1, 4}), ",")),
                                 "--occupancy",
                                 fmt::format("{}", fmt::join(ends_of(asked.warps, {8, 64}), ",")),
                                 "--untimed",
                                 "--format",
                                 "json"};
    if (!asked.feeds.empty()) {
        out.insert(out.end(), {"--feeds", fmt::format("{}", fmt::join(asked.feeds, ","))});
    }
    if (asked.paths > 0) out.insert(out.end(), {"--paths", std::to_string(asked.paths)});
    return out;
}

void read_conditions(gpu_timer& on, const request& asked, const std::string& subject,
                     const std::string& precision, const sink& to) {
    if (asked.command.empty()) return;
    on.says(fmt::format("{}, {}: ncu reads the counters of a few", subject, precision));
    std::vector<std::string> command = asked.command;
    const auto ways = few_ways_of(asked, subject, precision);
    command.insert(command.end(), ways.begin(), ways.end());
    ncu_outcome ran = run_under_ncu(command, "walk", metrics_of_conditions(), most_seconds, on.cancel);
    std::vector<row> rows;
    if (ran.why_not.empty()) {
        try {
            std::istringstream output(ran.counts.output);
            rows = rows_of_conditions(ran.counts.launches, read_lines(output, "what ran under ncu"));
        } catch (const error& e) {
            ran.why_not = e.what();
        }
    }
    for (row& r : rows) to(std::move(r));
    if (ran.why_not.empty()) return;
    row none;
    none.suite = conditions_suite;
    none.axes = {{"workload", subject}, {"precision", precision}};
    skip(std::move(none), to, std::move(ran.why_not));
}

}  // namespace tilewalk::bench
