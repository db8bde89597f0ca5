// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/sample.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "engine/cpu/tile_pool.h"

namespace tilewalk::verify {

namespace {

// One of many streams of random numbers that have nothing to do with each other (SplitMix64's finish).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15u + number + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

drawn_trade draw(const sample_wanted& wanted, std::size_t number) {
    constexpr double higher = 1.001;
    const std::size_t which = wanted.truths[number % wanted.truths.size()];
    dice d(mixed(wanted.seed, 2 * number));
    for (;;) {
        const known_trade t = truths()[which].draw(d);
        const double price = t.price(1), high = t.price(higher);
        if (!std::isfinite(price) || !std::isfinite(high)) {
            throw error(error_kind::internal, "the known price is no number of\n" + t.book);
        }
        // A trade worth next to nothing is too thin a sample for a z. The truth decides that, never the
        // price.
        if (std::abs(price) < 0.01 * t.scale) continue;
        std::string text = fmt::format("settings: {{paths: {}, seed: {}, precision: {}}}\n{}", wanted.paths,
                                       mixed(wanted.seed, 2 * number + 1), wanted.precision, t.book);
        book parsed = book::parse(text, fmt::format("trade_{}.yaml", number));
        return {which, std::move(text), std::move(parsed), price, high > price ? 1.0 : -1.0, high, t.scale};
    }
}

}  // namespace

std::vector<drawn_trade> draw_sample(const sample_wanted& wanted, const std::function<void()>& watch) {
    std::vector<std::optional<drawn_trade>> drawn(wanted.trades);
    cpu::for_each(
        wanted.trades, wanted.threads, wanted.cancel,
        [&](int, std::uint64_t i) { drawn[i] = draw(wanted, i); }, watch);
    std::vector<drawn_trade> out;
    out.reserve(wanted.trades);
    for (auto& t : drawn) out.push_back(std::move(*t));
    return out;
}

std::vector<priced_trade> price_sample(
    std::span<const drawn_trade> trades, const pricing_wanted& wanted, cuda::backend& gpus,
    const std::function<void(std::size_t done, std::uint64_t steps)>& done) {
    std::vector<priced_trade> out(trades.size());
    std::atomic<std::size_t> count{0};
    std::atomic<std::uint64_t> steps{0};
    run_options options;
    options.overrides.threads = 1;  // a book of one trade is a task of its own
    options.overrides.device = wanted.device;
    options.cancel = wanted.cancel;
    try {
        cpu::for_each(
            trades.size(), wanted.threads, wanted.cancel,
            [&](int, std::uint64_t i) {
                const book& b = trades[i].book;
                const priced_book got = price_book({}, gpus, b, *b.market(), options, wanted.by);
                const price_row& row = got.told.rows.at(0);
                const kernels::moments& m = got.moments.at(0);
                priced_trade& p = out[i];
                p.path_steps = got.told.manifest.path_steps;
                if (row.status == trade_status::failed) p.failure = row.message;
                for (const std::string& gpu : got.told.manifest.devices)
                    p.walked_on += (p.walked_on.empty() ? "" : ", ") + gpu;
                if (p.walked_on.empty()) p.walked_on = "CPU";
                p.price = row.price;
                p.standard_error = row.standard_error;
                if (m.m2 > 0) p.skew = m.m3 / (m.m2 * std::sqrt(m.m2));
                steps += p.path_steps;
                ++count;
            },
            [&] {
                if (done) done(count, steps);
            });
    } catch (const error& e) {
        if (e.kind() != error_kind::cancelled) throw;
    }
    return out;
}

scored_trade score(const drawn_trade& t, const priced_trade& got, double truth) {
    const double error = got.price - truth;
    double z = farthest_z;
    if (got.standard_error > 0) {
        z = without_skew(error / got.standard_error, got.skew);
    } else if (std::abs(error) <= 1e-9 * t.scale) {
        z = 0;
    }
    if (!got.failure.empty() || !std::isfinite(z)) z = farthest_z;
    return {std::clamp(z, -farthest_z, farthest_z), t.lean};
}

}  // namespace tilewalk::verify
