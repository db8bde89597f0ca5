// SPDX-License-Identifier: Apache-2.0
// Runs a verification: draws trades, prices and judges them, and does it again with each planted mistake.
#include "tilewalk/verify.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

#include "engine/base/crew.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/verify/judgement.h"
#include "engine/verify/plants.h"
#include "engine/verify/truth.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "tilewalk/products.h"
#include "tilewalk/setting_table.h"

namespace tilewalk {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::array taken_settings{
    verified_setting{"paths", "Paths for each trade", "N"},
    verified_setting{"seed", "Seed of the trades and the paths", "N"},
    verified_setting{"threads", "CPU threads; 0 for all cores (default 0). No figure depends on it", "N"},
    verified_setting{"device", "Where paths are simulated: auto, cpu, cuda or numbers of GPUs (default auto)",
                     "WHERE"},
    verified_setting{"precision", "double, single, single_fast or mixed (default double)", "NAME"},
    verified_setting{"random", "Source of the random numbers, such as sobol (default philox)", "NAME"},
    verified_setting{"construction",
                     "Brownian paths from quasi-Monte Carlo points: bridge, principal, coarse, steps or auto "
                     "(default auto)",
                     "NAME"},
};

[[noreturn]] void refuse(const std::string& what, const std::string& name,
                         const std::vector<std::string>& known) {
    throw error(error_kind::usage,
                what + " " + config::shown(name) + config::alternatives(name, "known:", known));
}

std::vector<std::size_t> truths_for(const std::vector<std::string>& products, bool greeks) {
    const std::vector<std::string> known = verified_products();
    for (const std::string& p : products) {
        if (std::ranges::find(known, p) == known.end())
            refuse("there are no trades with a known price of the product", p, known);
    }
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < verify::truths().size(); ++i) {
        const std::string product(verify::truths()[i].product);
        if (!verify::truths()[i].takes_part(greeks)) continue;
        if (products.empty() || std::ranges::find(products, product) != products.end()) out.push_back(i);
    }
    return out;
}

struct chosen_plants {
    std::vector<const verify::plant*> made;
    std::vector<std::string> left_out;  // mistakes that need another source of random numbers
};
chosen_plants plants_for(const std::string& name, bool greeks, bool with_points) {
    chosen_plants out;
    std::vector<std::string> known;
    for (const verify::plant& p : verify::plants()) {
        if (p.is_of_sensitivities() != greeks) continue;
        known.emplace_back(p.name);
        if (name != "all" && name != p.name) continue;
        if (p.can_be_made(with_points))
            out.made.push_back(&p);
        else
            out.left_out.emplace_back(p.name);
    }
    if (!out.made.empty() || name.empty()) return out;
    if (!out.left_out.empty())
        throw error(error_kind::usage, "the mistake '" + name + "' is one of " +
                                           (with_points ? "independent paths; leave out --random sobol"
                                                        : "quasi-random points; add --random sobol"));
    known.insert(known.begin(), "all");
    refuse("unknown mistake", name, known);
}

// Counts the trades done in all passes. To estimate the total, paths of trades still to come are taken to be
// as long as those so far.
class pass_progress {
  public:
    pass_progress(const std::function<void(const progress&)>& tell, std::size_t trades, std::size_t passes)
        : tell_(tell), trades_(trades), all_(trades * passes) {}

    void tell(std::size_t done, std::uint64_t steps) const {
        if (!tell_) return;
        progress now;
        now.trades = all_;
        now.trades_done = before_ + done;
        now.path_steps_done = steps_before_ + steps;
        const double part = static_cast<double>(now.trades_done) / static_cast<double>(all_);
        if (part > 0)
            now.path_steps = static_cast<std::uint64_t>(static_cast<double>(now.path_steps_done) / part);
        tell_(now);
    }
    void end_pass(std::span<const verify::priced_trade> got) {
        before_ += trades_;
        for (const auto& p : got) steps_before_ += p.path_steps;
        tell(0, 0);
    }
    std::uint64_t path_steps() const { return steps_before_; }

  private:
    const std::function<void(const progress&)>& tell_;
    std::size_t trades_, all_, before_ = 0;
    std::uint64_t steps_before_ = 0;
};

// Drops trades that a cancelled run has not priced. The choice depends on how long each trade takes and on
// when the run is cancelled, never on prices.
void keep_what_was_priced(verify::outcome& of) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < of.trades.size(); ++i) {
        if (!of.prices[i].is_there()) continue;
        if (kept != i) {
            of.trades[kept] = std::move(of.trades[i]);
            of.prices[kept] = std::move(of.prices[i]);
        }
        ++kept;
    }
    of.trades.erase(of.trades.begin() + static_cast<std::ptrdiff_t>(kept), of.trades.end());
    of.prices.resize(kept);
}

}  // namespace

std::vector<known_mistake> known_mistakes() {
    std::vector<known_mistake> out;
    for (const verify::plant& p : verify::plants())
        out.push_back({std::string(p.name), std::string(p.what), p.is_of_sensitivities(),
                       p.can_be_made(false), p.can_be_made(true)});
    return out;
}

std::span<const verified_setting> verified_settings() {
    return taken_settings;
}

std::vector<std::string> verified_products() {
    std::set<std::string> names;
    for (const verify::truth_entry& t : verify::truths()) names.emplace(t.product);
    return {names.begin(), names.end()};
}

verification verify_prices(const verify_request& asked) {
    check(asked.settings);
    const auto begin = clock::now();
    const auto out = std::make_shared<verify::outcome>();
    out->of_sensitivities = asked.greeks;
    out->paths = asked.settings.paths.value_or(asked.greeks ? default_verified_paths_of_greeks
                                                            : default_verified_paths);
    if (asked.greeks && out->paths < least_verified_paths_of_greeks) {
        throw error(error_kind::usage, "found " + report::counted(out->paths, "path") +
                                           ", expected at least " +
                                           std::to_string(least_verified_paths_of_greeks) +
                                           " for sensitivities, whose errors come from the parts of a run");
    }
    out->seed = asked.settings.seed.value_or(default_verified_seed);
    out->precision = name_of(asked.settings.precision.value_or(precision::double_));
    const run_settings asked_or_default = over(asked.settings, default_settings());
    out->random = asked.settings.random.value_or(std::string(random::catalogue().front().name));
    if (out->random == random::chosen_by_pilot)
        throw error(error_kind::usage,
                    "found random: auto, expected one source for all trades, such as philox or "
                    "sobol, whose mistakes differ");
    out->threads = threads::asked_or_cores(asked.settings.threads.value_or(0));
    const std::vector<std::size_t> truths = truths_for(asked.products, asked.greeks);
    const bool with_points = random::find(out->random, random::back_end::gpu).is_points;
    auto [plants, left_out] = plants_for(asked.plant, asked.greeks, with_points);
    out->mistakes_left_out = std::move(left_out);
    out->device = asked.settings.device.value_or("auto");
    if (!plants.empty()) {
        if (out->device != "auto" && out->device != "cpu") {
            throw error(error_kind::usage, "mistakes are made on the CPU alone; the device is '" +
                                               out->device + "', expected cpu or auto");
        }
        out->device = "cpu";
    }
    const std::uint64_t trades =
        asked.trades.value_or(asked.greeks ? default_verified_trades_of_greeks : default_verified_trades);
    if (trades > most_verified_trades)
        throw error(error_kind::usage, "found " + report::counted(trades, "trade") + ", expected at most " +
                                           std::to_string(most_verified_trades));
    if (trades < truths.size()) {
        throw error(error_kind::usage, "found " + report::counted(trades, "trade") +
                                           ", expected at least one of each of the " +
                                           std::to_string(truths.size()) + " kinds with a known price");
    }

    pass_progress told(asked.on_progress, trades, 1 + plants.size());
    told.tell(0, 0);
    out->trades = verify::draw_sample(
        {trades, out->paths, out->seed, out->precision, truths, out->threads, asked.cancel, asked.greeks,
         out->random, std::string(name_of(*asked_or_default.construction))},
        [&] { told.tell(0, 0); });
    cuda::backend gpus;
    const auto priced = [&](const stages& by) {
        auto got =
            verify::price_sample(out->trades, {out->device, out->threads, asked.cancel, by, asked.greeks},
                                 gpus, [&](std::size_t done, std::uint64_t s) { told.tell(done, s); });
        told.end_pass(got);
        return got;
    };
    const auto is_cancelled = [&] { return asked.cancel != nullptr && *asked.cancel; };
    out->trades_wanted = trades;
    out->prices = priced({});
    if (is_cancelled()) {
        keep_what_was_priced(*out);
        if (out->trades.empty()) throw error(error_kind::cancelled, "the run was stopped");
    }
    const auto judged = [&](const std::vector<verify::priced_trade>& got) {
        return asked.greeks ? verify::judge_sensitivities(out->trades, got)
                            : verify::judge(out->trades, got, verify::truths_of(out->trades));
    };
    out->of_engine = judged(out->prices);
    out->mistakes_wanted = plants.size();
    for (const verify::plant* p : plants) {
        if (is_cancelled()) break;
        verify::outcome::planted made{std::string(p->name), std::string(p->what), priced(p->made()), {}};
        if (is_cancelled()) break;
        made.of = judged(made.prices);
        out->mistakes.push_back(std::move(made));
    }
    out->path_steps = told.path_steps();
    out->seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return with_state<verification>(out);
}

bool verification::holds() const {
    return state_->holds();
}

bool verification::is_complete() const {
    return state_->is_complete();
}

column_table verification::columns() const {
    return verify::columns_of(state_);
}

std::string verification::text(output_format as, const text_form& form) const {
    switch (as) {
        case output_format::table:
            return verify::table(*state_, form);
        case output_format::csv:
            return verify::csv(*state_);
        case output_format::json:
            return verify::json(*state_);
    }
    return {};
}

}  // namespace tilewalk
