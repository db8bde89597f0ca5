// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/side_files.h"

#include "engine/cli/metrics_file.h"
#include "tilewalk/page.h"

namespace tilewalk::cli {

std::span<const side_file> side_file_kinds() {
    static const std::vector<side_file> kinds{
        {"--report",
         "Write a report as one HTML page: totals with error bars, trades to look at, all prices, "
         "sensitivities, scenarios, timings",
         [](const told_results& of) {
             return page_of(of.prices, {of.scenarios, of.times, of.command});
         }},
        {"--metrics",
         "Write metrics of the run for Prometheus; node exporter's textfile collector reads names that "
         "end in .prom",
         metrics_of, true},
        {"--save-policy",
         "Write the exercise policies, to reuse with --policy FILE on other days and in other markets",
         [](const told_results& of) { return of.prices.policies; }, false, &run_options::keep_policies},
    };
    return kinds;
}

void side_files::add_options(CLI::App& to, bool of_shard) {
    asked_.reserve(side_file_kinds().size());  // the parser keeps the addresses of names
    for (const side_file& kind : side_file_kinds()) {
        if (of_shard && !kind.tells_of_shards) continue;
        asked_file& added = asked_.emplace_back(asked_file{&kind});
        to.add_option(kind.option, added.name, kind.meaning)->type_name("FILE");
    }
}

void side_files::ask(run_options& of) const {
    for (const asked_file& one : asked_)
        if (one.name && one.kind->needs != nullptr) of.*one.kind->needs = true;
}

void side_files::open() {
    for (asked_file& one : asked_)
        if (one.name) one.to.emplace(*one.name, one.kind->option);
}

std::vector<const output*> side_files::outputs() const {
    std::vector<const output*> out;
    for (const asked_file& one : asked_)
        if (one.to) out.push_back(&*one.to);
    return out;
}

void side_files::write(const told_results& of) const {
    for (const asked_file& one : asked_)
        if (one.to) one.to->write(one.kind->text(of));
}

}  // namespace tilewalk::cli
