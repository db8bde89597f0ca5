// SPDX-License-Identifier: Apache-2.0
// Plays a payoff along one hand-written path, with the arithmetic of the C++ library. Past events are played
// by an eager recorder, later ones both eagerly and as a recorded program that is walked node by node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "products/language/payoff.h"
#include "products/language/product.h"
#include "products/program/recorder.h"

namespace tilewalk::tests {

inline double plain_arithmetic(program::operation code, double a, double b, double c) {
    using program::operation;
    switch (code) {
        case operation::neg:
            return -a;
        case operation::abs:
            return std::abs(a);
        case operation::sqrt:
            return std::sqrt(a);
        case operation::exp:
            return std::exp(a);
        case operation::log:
            return std::log(a);
        case operation::sin:
            return std::sin(a);
        case operation::cos:
            return std::cos(a);
        case operation::floor:
            return std::floor(a);
        case operation::norm_cdf:
            return 0.5 * std::erfc(-a / std::sqrt(2.0));
        case operation::add:
            return a + b;
        case operation::sub:
            return a - b;
        case operation::mul:
            return a * b;
        case operation::div:
            return a / b;
        case operation::min:
            return b < a ? b : a;
        case operation::max:
            return a < b ? b : a;
        case operation::pow:
            return std::pow(a, b);
        case operation::fma:
            return std::fma(a, b, c);
        case operation::less:
            return a < b ? 1 : 0;
        case operation::less_equal:
            return a <= b ? 1 : 0;
        case operation::equal:
            return a == b ? 1 : 0;
        case operation::logical_not:
            return a == 0 ? 1 : 0;
        case operation::logical_and:
            return a != 0 && b != 0 ? 1 : 0;
        case operation::logical_or:
            return a != 0 || b != 0 ? 1 : 0;
        case operation::select:
            return a != 0 ? b : c;
        case operation::flaw:
            return a != 0 && !std::isfinite(b) ? std::nan("") : c;
        default:
            throw std::logic_error("no arithmetic for this operation");
    }
}

// A hand-written path: the market at each time in years, and the shocks of samples taken between dates.
struct path {
    std::map<std::string, std::map<double, double>> spots;  // by asset
    std::map<std::string, std::map<double, double>> fx;     // price of a currency in the trade's
    std::map<std::string, double> rates;                    // flat rate by currency; 0 if missing
    double variance_per_year = 0.04;                        // of each asset's logarithm
    double growth = 0.05;                                   // of each asset's forward
    std::vector<double> normals, uniforms;                  // by slot, the same on every interval
    dates::date as_of = *dates::make_date(2026, 1, 15);
    std::string currency = "USD";
};

inline double at_time(const std::map<std::string, std::map<double, double>>& of, const std::string& name,
                      double years) {
    const auto found = of.find(name);
    if (found != of.end()) {
        for (const auto& [t, x] : found->second) {
            if (std::abs(t - years) < 1e-9) return x;
        }
    }
    throw std::logic_error("the path says nothing about '" + name + "' at " + std::to_string(years));
}

class path_world final : public language::world {
  public:
    path_world(const path& of, program::recorder& into, bool past) : of_(of), into_(into), past_(past) {}
    void enter(std::span<const language::occurrence> runs) { runs_ = runs; }

    program::value spot(const std::string& asset) override {
        return row("spot " + asset, [&](const auto& run) { return at_time(of_.spots, asset, run.years); });
    }
    program::value fx(const std::string& currency) override {
        return row("fx " + currency, [&](const auto& run) { return at_time(of_.fx, currency, run.years); });
    }
    program::value forward(const std::string& asset, std::span<const double> years,
                           const std::string& named) override {
        return row("forward " + asset + " " + named, [&](const auto& run) {
            const double ahead = years[static_cast<std::size_t>(&run - runs_.data())] - run.years;
            return at_time(of_.spots, asset, run.years) * std::exp(of_.growth * ahead);
        });
    }
    program::value option_value(bool call, const std::string& asset, program::value strike,
                                std::span<const double> years, const std::string& named) override {
        const program::value gain = forward(asset, years, named) - strike;
        return max(call ? gain : -gain, 0.0) * row("discount " + named, [&](const auto& run) {
                   const double until = years[static_cast<std::size_t>(&run - runs_.data())];
                   return discount(of_.currency, until) / discount(of_.currency, run.years);
               });
    }
    program::value bond(const std::string& currency, std::span<const double> years,
                        const std::string& named) override {
        return row("bond " + currency + " " + named, [&](const auto& run) {
            return discount(currency, years[static_cast<std::size_t>(&run - runs_.data())]) /
                   discount(currency, run.years);
        });
    }
    double fx_today(const std::string& currency) const override { return at_time(of_.fx, currency, 0); }
    double discount(const std::string& currency, double years) const override {
        const auto rate = of_.rates.find(currency);
        return rate == of_.rates.end() ? 1.0 : std::exp(-rate->second * years);
    }
    language::bridge path_between(const std::string& asset) override {
        const auto log_spot = [&](double years) { return std::log(at_time(of_.spots, asset, years)); };
        return {row("start " + asset, [&](const auto& run) { return log_spot(run.start_years); }),
                row("end " + asset, [&](const auto& run) { return log_spot(run.years); }),
                row("variance",
                    [&](const auto& run) { return of_.variance_per_year * (run.years - run.start_years); })};
    }
    program::value to_coordinate(const std::string&, program::value level, language::interval_end) override {
        return log(level);
    }
    program::value from_coordinate(const std::string&, program::value coordinate) override {
        return exp(coordinate);
    }
    program::value mean_price(const std::string&, double, program::value mean,
                              program::value variance) override {
        return exp(mean + 0.5 * variance);
    }
    program::value mean_logarithm(const std::string&, const language::bridge& path) override {
        return 0.5 * (path.start + path.end);
    }
    program::value variance_of_mean(const std::string&, const language::bridge& path,
                                    language::averaged what) override {
        if (what == language::averaged::logarithm) return path.variance / 12;
        const program::value move = path.end - path.start;
        return exp(path.start + path.end) * path.variance / 12 *
               (1 + 4 * path.variance / 15 + move * move / 15);
    }
    bool is_past() const override { return past_; }

  private:
    template <class F>
    program::value row(const std::string& name, const F& number) {
        std::vector<double> numbers;
        for (const auto& run : runs_) numbers.push_back(number(run));
        return into_.row(name, numbers);
    }

    const path& of_;
    program::recorder& into_;
    bool past_;
    std::span<const language::occurrence> runs_;
};

using states = std::map<std::string, double>;

// One run of a block of the script, of those sorted by time.
struct event {
    std::size_t block = 0;
    std::size_t run = 0;
    language::occurrence at;
};

// Blocks on dates run on their dates; an interval's block runs once between neighbouring times of the path.
inline std::vector<event> events_of(const language::payoff& script, const path& along, bool past) {
    std::vector<double> grid{0.0};
    const auto note = [&](double t) {
        if (std::none_of(grid.begin(), grid.end(), [&](double g) { return std::abs(g - t) < 1e-9; }))
            grid.push_back(t);
    };
    for (const auto& [asset, by_time] : along.spots) {
        for (const auto& [t, x] : by_time) note(t);
    }
    std::sort(grid.begin(), grid.end());
    std::vector<event> found;
    for (std::size_t b = 0; b < script.blocks().size(); ++b) {
        const language::block& of = script.blocks()[b];
        std::size_t run = 0;
        if (of.times.empty()) continue;
        if (!of.continuous) {
            for (std::size_t i = 0; i < of.times.size(); ++i) {
                if ((of.times[i] <= 1e-8) != past) continue;
                found.push_back({b, run++, language::on_date(of.times[i], static_cast<int>(i) + 1)});
            }
            continue;
        }
        double last = of.times[0];
        const double from = std::max(of.times[0], 0.0), to = of.times[1];
        const double steps =
            of.in_equal_steps ? std::max(1.0, std::ceil((to - from) / of.longest_step - 1e-6)) : 0;
        for (std::size_t i = 0; i < grid.size(); ++i) {
            if (grid[i] < of.times[0] + 1e-9 || grid[i] > of.times[1] + 1e-9 || (grid[i] <= 1e-8) != past)
                continue;
            language::occurrence at = language::interval(grid[i], grid[i]);
            if (past) {
                at.begins = std::min(last, grid[i]);
                last = grid[i];
            } else if (of.in_equal_steps) {
                const double step = std::ceil((grid[i] - from) / (to - from) * steps - 1e-6);
                at.start_years = grid[i - 1];
                at.begins = from + (to - from) * (step - 1) / steps;
                at.ends = from + (to - from) * step / steps;
            } else {
                at = language::interval(grid[i - 1], grid[i]);
            }
            found.push_back({b, run++, at});
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const event& a, const event& b) { return a.at.years < b.at.years - 1e-9; });
    return found;
}

struct played {
    states eager;  // empty if the script samples inside an interval, or its intervals have parts
    states recorded;
    program::program code;
};

inline void play_eagerly(language::payoff& script, const path& along, bool past, program::recorder& into) {
    for (const event& e : events_of(script, along, past)) {
        path_world world(along, into, past);
        world.enter({&e.at, 1});
        script.record(e.block, {&e.at, 1}, world, into);
    }
}

inline states walk_program(const program::recorder::recorded& r, const std::vector<event>& events,
                           const path& along) {
    std::vector<double> now = r.data.initial_states;
    for (const event& e : events) {
        const program::section& s = r.code.sections[e.block + 1];
        std::vector<double> numbers;
        for (const program::node& n : s.nodes) {
            using program::operation;
            switch (n.code) {
                case operation::constant:
                    numbers.push_back(n.number);
                    break;
                case operation::term:
                    numbers.push_back(r.data.terms[n.args[0]]);
                    break;
                case operation::row:
                    numbers.push_back(r.data.rows[e.block + 1][e.run * s.rows.size() + n.args[0]]);
                    break;
                case operation::state:
                    numbers.push_back(now[n.args[0]]);
                    break;
                case operation::normal:
                    numbers.push_back(along.normals.at(n.args[0]));
                    break;
                case operation::uniform:
                    numbers.push_back(along.uniforms.at(n.args[0]));
                    break;
                default: {
                    double args[3] = {0, 0, 0};
                    for (int i = 0; i < program::entry_of(n.code).arity; ++i) {
                        args[i] = numbers[n.args[static_cast<std::size_t>(i)]];
                    }
                    numbers.push_back(plain_arithmetic(n.code, args[0], args[1], args[2]));
                }
            }
        }
        for (const auto& w : s.writes) now[w.state] = numbers[w.node];
    }
    states named;
    for (std::size_t i = 0; i < now.size(); ++i) named[r.code.states[i]] = now[i];
    return named;
}

inline played play(const std::shared_ptr<const language::product>& of, const language::arguments& args,
                   const path& along) {
    played out;
    bool in_parts = false;
    {
        language::payoff script(of, args, along.as_of, along.currency);
        program::recorder into(&plain_arithmetic);
        into.set_eager(true);
        script.declare(into);
        play_eagerly(script, along, true, into);
        into.set_eager(false);
        const auto events = events_of(script, along, false);
        path_world world(along, into, false);
        for (std::size_t b = 0; b < script.blocks().size(); ++b) {
            std::vector<language::occurrence> runs;
            for (const event& e : events) {
                if (e.block != b) continue;
                runs.push_back(e.at);
                in_parts = in_parts || !e.at.closes();
            }
            into.open_section(b + 1, script.blocks()[b].name, runs.size());
            if (runs.empty()) continue;
            world.enter(runs);
            script.record(b, runs, world, into);
        }
        const auto recorded = std::move(into).finish();
        out.recorded = walk_program(recorded, events, along);
        out.code = recorded.code;
    }
    if (out.code.uniforms_per_step == 0 && !in_parts) {
        language::payoff script(of, args, along.as_of, along.currency);
        program::recorder into(&plain_arithmetic);
        into.set_eager(true);
        script.declare(into);
        play_eagerly(script, along, true, into);
        play_eagerly(script, along, false, into);
        const auto recorded = std::move(into).finish();
        for (std::size_t i = 0; i < recorded.code.states.size(); ++i) {
            out.eager[recorded.code.states[i]] = recorded.data.initial_states[i];
        }
    }
    return out;
}

}  // namespace tilewalk::tests
