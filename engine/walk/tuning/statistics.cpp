// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/statistics.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tilewalk::tuning {

namespace {

// How many of n sorted samples lie on each side outside an interval about the median with at least 95 %
// confidence: the largest k with 2 P(binomial(n, 1/2) < k) <= 5 %. Empty if n < 6.
std::optional<std::size_t> outside(std::size_t n) {
    // Logarithms, since 2^-n underflows for n above about a thousand.
    double log_of_term = -static_cast<double>(n) * std::log(2.0), below = 0;
    std::optional<std::size_t> most;
    for (std::size_t k = 0; k < n / 2; ++k) {
        below += std::exp(log_of_term);
        if (2 * below > 0.05) break;
        most = k;
        log_of_term += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    }
    return most;
}

}  // namespace

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

summary summarise(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    summary out;
    out.samples = n;
    out.median = n % 2 == 1 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
    // The same number of samples lies below p10 as above p90.
    out.p10 = samples[n / 10];
    out.p90 = samples[n - 1 - n / 10];
    if (const auto k = outside(n); k && out.median > 0) {
        out.noise = 0.5 * (samples[n - 1 - *k] - samples[*k]) / out.median;
    }
    return out;
}

std::optional<measurement> measure(const sampler& take, const stop_rule& until,
                                   const std::function<double()>& now) {
    const double begin = now();
    std::vector<double> samples;
    measurement out;
    for (;;) {
        if (const auto one = take()) {
            samples.push_back(*one);
        } else if (++out.dropped >= until.most) {
            break;
        }
        if (samples.empty() || samples.size() < until.fewest) continue;
        if (summarise(samples).noise <= until.noise) {
            out.why_stopped = "noise";
            break;
        }
        if (samples.size() >= until.most) {
            out.why_stopped = "count";
            break;
        }
        if (now() - begin > until.seconds) {
            out.why_stopped = "time";
            break;
        }
    }
    if (samples.empty()) return std::nullopt;
    if (out.why_stopped.empty()) out.why_stopped = "throttled";
    out.of = summarise(std::move(samples));
    return out;
}

}  // namespace tilewalk::tuning
