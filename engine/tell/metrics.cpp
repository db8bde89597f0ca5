// SPDX-License-Identifier: Apache-2.0
// The catalogue of a run's metrics for monitoring, and the text that they are exported as.
#include "tilewalk/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/shown_numbers.h"
#include "engine/base/text/unicode.h"
#include "engine/base/words.h"

namespace tilewalk {

namespace {

using labels = std::vector<std::pair<std::string_view, std::string_view>>;

std::string escaped_label(std::string_view text) {
    std::string out;
    for (const char c : config::valid_utf8(text)) {
        if (c == '\\' || c == '"') out += '\\';
        out += c == '\n' ? "\\n" : std::string(1, c);
    }
    return out;
}

class samples {
  public:
    samples(std::string_view name, const told_run& of) : name_(name), of_(of) {}

    void add(double value, const labels& more = {}) {
        if (!is_figure(value)) return;
        text_ += name_;
        text_ += "{command=\"" + escaped_label(of_.command) + "\",book=\"" + escaped_label(of_.book) + '"';
        if (!of_.shard.empty()) add_labels({{"shard", of_.shard}, {"stage", of_.stage}});
        add_labels(more);
        text_ += "} " + (std::isinf(value) ? value > 0 ? "+Inf" : "-Inf" : report::shortest(value)) + '\n';
    }
    void add(std::size_t value, const labels& more = {}) { add(static_cast<double>(value), more); }
    const std::string& text() const { return text_; }

  private:
    void add_labels(const labels& all) {
        for (const auto& [label, is] : all)
            text_ += ',' + std::string(label) + "=\"" + escaped_label(is) + '"';
    }

    std::string_view name_;
    const told_run& of_;
    std::string text_;
};

struct metric {
    std::string_view name, meaning;
    void (*add)(const told_run& of, samples& to);
    bool tells_of_shards = false;  // true if one shard of a run has this metric, too
};

bool has_figures(const price_row& row) {
    return row.status == trade_status::priced && row.has_error();
}

void add_trades(const told_run& of, samples& to) {
    for (const auto& [status, word] : report::status_words)
        to.add(static_cast<std::size_t>(std::ranges::count(of.prices.rows, status, report::status_of)),
               {{"status", word}});
}

void add_worst_relative_error(const told_run& of, samples& to) {
    double worst = no_figure;
    for (const price_row& row : of.prices.rows)
        if (has_figures(row) && row.price != 0)
            worst = std::fmax(worst, row.standard_error / std::abs(row.price));
    to.add(worst);
}

void add_worst_errors(const told_run& of, samples& to) {
    std::map<std::string_view, double> worst;
    for (const price_row& row : of.prices.rows) {
        if (!has_figures(row)) continue;
        double& of_currency = worst.try_emplace(row.currency, 0).first->second;
        of_currency = std::max(of_currency, row.value_error());
    }
    for (const auto& [currency, error] : worst) to.add(error, {{"currency", currency}});
}

void add_phases(const told_run& of, samples& to) {
    if (of.times == nullptr) return;
    for (const timings::row& stage : of.times->stages) to.add(stage.seconds, {{"phase", stage.name}});
}

void add_sensitivities(const told_run& of, samples& to) {
    const auto failed =
        static_cast<std::size_t>(std::ranges::count_if(of.prices.greeks, &greek_row::has_failed));
    if (of.prices.greeks.empty()) return;
    to.add(of.prices.greeks.size() - failed, {{"status", "found"}});
    to.add(failed, {{"status", "failed"}});
}

void add_gains(const told_run& of, samples& to) {
    if (of.scenarios == nullptr) return;
    const auto found = static_cast<std::size_t>(std::ranges::count_if(of.scenarios->gains, is_figure));
    to.add(found, {{"status", "found"}});
    to.add(of.scenarios->gains.size() - found, {{"status", "failed"}});
}

constexpr std::array catalogue{
    metric{"tilewalk_info", "1, with the version and how the run was made as labels.",
           [](const told_run& of, samples& to) {
               const run_manifest& m = of.prices.manifest;
               to.add(1.0, {{"version", m.version},
                            {"compiler", m.compiler},
                            {"instruction_set", m.instruction_set},
                            {"precision", m.precision},
                            {"random", m.random},
                            {"as_of", m.as_of}});
           },
           true},
    metric{"tilewalk_last_success_timestamp_seconds",
           "Unix time at which the results were written, whether or not some trades failed.",
           [](const told_run& of, samples& to) {
               using std::chrono::milliseconds;
               const auto since = std::chrono::floor<milliseconds>(of.at.time_since_epoch());
               to.add(static_cast<double>(since.count()) / 1000);
           },
           true},
    metric{"tilewalk_duration_seconds",
           "Time that planning and walking took, reading and writing files apart.",
           [](const told_run& of, samples& to) { to.add(of.prices.manifest.total_seconds); }, true},
    metric{"tilewalk_phase_seconds", "Time by phase, as --timings tells it; a merge of shards has none.",
           add_phases, true},
    metric{"tilewalk_trades", "Trades by status.", add_trades, true},
    metric{"tilewalk_thin_trades", "Priced trades whose standard error is in doubt.",
           [](const told_run& of, samples& to) {
               to.add(static_cast<std::size_t>(std::ranges::count(of.prices.rows, true, &price_row::thin)));
           }},
    metric{"tilewalk_worst_relative_error", "The largest standard error of a price, as a part of the price.",
           add_worst_relative_error},
    metric{"tilewalk_worst_value_error",
           "The largest standard error of a trade's value, its quantity counted, by currency.",
           add_worst_errors},
    metric{"tilewalk_total_value", "The sum of values by currency.",
           [](const told_run& of, samples& to) {
               for (const currency_total& t : of.prices.totals()) to.add(t.value, {{"currency", t.currency}});
           }},
    metric{"tilewalk_total_value_error", "Its standard error.",
           [](const told_run& of, samples& to) {
               for (const currency_total& t : of.prices.totals()) to.add(t.error, {{"currency", t.currency}});
           }},
    metric{"tilewalk_sensitivities", "Sensitivities by status, if they were asked for.", add_sensitivities},
    metric{"tilewalk_scenarios", "Scenarios, if there are any.",
           [](const told_run& of, samples& to) {
               if (of.scenarios != nullptr) to.add(of.scenarios->scenarios.size());
           }},
    metric{"tilewalk_gains", "Gains of trades in scenarios by status.", add_gains},
    metric{
        "tilewalk_paths", "Paths that the run was asked for.",
        [](const told_run& of, samples& to) { to.add(static_cast<std::size_t>(of.prices.manifest.paths)); },
        true},
    metric{"tilewalk_path_steps", "Steps of paths that were walked.",
           [](const told_run& of, samples& to) {
               to.add(static_cast<std::size_t>(of.prices.manifest.path_steps));
           }},
    metric{"tilewalk_gpus_used", "GPUs that walked paths; 0: the processor walked all.",
           [](const told_run& of, samples& to) { to.add(of.prices.manifest.devices.size()); }, true},
    metric{"tilewalk_gpus_lost", "GPUs that failed and were left out.",
           [](const told_run& of, samples& to) { to.add(of.prices.manifest.lost_devices.size()); }, true},
    metric{"tilewalk_kernels_compiled", "Kernels that had to be compiled.",
           [](const told_run& of, samples& to) {
               to.add(static_cast<std::size_t>(of.prices.manifest.kernels_compiled));
           },
           true},
};

}  // namespace

std::string metrics_text(const told_run& of) {
    std::string out;
    for (const metric& m : catalogue) {
        if (!of.shard.empty() && !m.tells_of_shards) continue;
        samples lines(m.name, of);
        m.add(of, lines);
        if (lines.text().empty()) continue;
        const std::string name(m.name);
        out +=
            "# HELP " + name + ' ' + std::string(m.meaning) + "\n# TYPE " + name + " gauge\n" + lines.text();
    }
    return out;
}

}  // namespace tilewalk
