// SPDX-License-Identifier: Apache-2.0
// The suite `steps`: the error that a model's choice of time steps makes in an option's price, in basis
// points of the spot. The reference is a Fourier integral, a formula, the quoted surface, or else the price
// with steps of a quarter of the length. A row is wrong if its error exceeds two basis points beyond chance.
#include "bench/suites/steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "engine/numerics/black.h"
#include "engine/numerics/characteristic.h"
#include "engine/numerics/price.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace steps {

namespace {

using put_price = std::function<double(double strike, double years)>;

template <class law>
put_price by_fourier(law of) {
    return [of](double strike, double years) {
        return fourier::vanilla(fourier::characteristic_of(of, years), strike).put;
    };
}

double black_put(double forward, double strike, double deviation) {
    return analytics::black_price(analytics::right::put, forward, strike, deviation);
}

constexpr std::array heston_sets{
    fourier::heston{0.04, 4, 0.25, 1, -0.5},       fourier::heston{0.01, 4, 0.25, 1, -0.5},
    fourier::heston{0.1, 4, 0.22, 1.8, -0.75},     fourier::heston{0.09, 1.2, 0.08, 1.8, -0.45},
    fourier::heston{0.04, 2.5, 0.06, 0.75, -0.6},  fourier::heston{0.04, 0.5, 0.04, 1, -0.9},
    fourier::heston{0.04, 0.3, 0.04, 0.9, -0.5},   fourier::heston{0.09, 1, 0.09, 1, -0.3},
    fourier::heston{0.09, 2, 0.09, 1, -0.3},       fourier::heston{0.010201, 6.21, 0.019, 0.61, -0.7},
    fourier::heston{0.16, 1, 0.16, 2, -0.8},       fourier::heston{0.0194, 1.0407, 0.0586, 0.5196, -0.6747},
    fourier::heston{0.114, 2.58, 0.043, 1, -0.36}, fourier::heston{0.09, 4, 0.09, 0.4, 0},
    fourier::heston{0.1225, 8, 0.1225, 0.8, 0},    fourier::heston{0.0175, 1.5768, 0.0398, 0.5751, -0.5711},
    fourier::heston{0.11, 2, 0.5, 0.15, 0.3},      fourier::heston{0.1, 0.1, 0.1, 1, 0.5},
    fourier::heston{0.5, 10, 0.5, 0.9, 0.1},       fourier::heston{0.0225, 2, 0.0225, 0.25, -0.5},
    fourier::heston{0.04, 2.5, 0.04, 0.66, -0.8},  fourier::heston{0.0625, 5, 0.16, 0.9, 0.1},
    fourier::heston{0.04, 1, 0.04, 0.001, 0},
};

std::string words(const fourier::heston& p) {
    return fmt::format("v0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}", p.v0, p.kappa, p.theta, p.sigma,
                       p.rho);
}

constexpr std::array schobel_zhu_sets{
    fourier::schobel_zhu{0.2, 4, 0.2, 0.1, -0.7},   fourier::schobel_zhu{0.25, 8, 0.25, 0.3, -0.6},
    fourier::schobel_zhu{0.2, 4, 0.1, 0.1, 0.75},   fourier::schobel_zhu{0.2, 4, 0.3, 0.1, -0.75},
    fourier::schobel_zhu{0.15, 4, 0, 0.1, -0.5},    fourier::schobel_zhu{0.15, 4, 0.3, 0.1, 0.5},
    fourier::schobel_zhu{0.2, 1.5, 0.2, 0.3, -0.7},
};

struct sabr_set {
    double forward, alpha, beta, nu, rho, longest;
};
constexpr std::array sabr_sets{
    sabr_set{1, 0.25, 0.3, 0.3, -0.8, 10},  sabr_set{1, 0.25, 0.6, 0.3, -0.8, 5},
    sabr_set{1, 0.25, 0.9, 0.3, -0.8, 5},   sabr_set{1, 0.25, 0.3, 0.3, -0.5, 5},
    sabr_set{1, 0.25, 0.6, 0.3, -0.5, 10},  sabr_set{1, 0.25, 0.9, 0.3, -0.2, 5},
    sabr_set{0.05, 0.4, 0.3, 0.6, 0, 1},    sabr_set{0.5, 0.5, 0.5, 0.4, 0, 2},
    sabr_set{0.07, 0.4, 0.5, 0.8, -0.6, 2}, sabr_set{4.35, 0.68, 0, 0.3691, -0.0286, 10},
    sabr_set{1000, 0.2, 1, 1, -0.75, 5},    sabr_set{350, 100, 0, 0.5, -0.6, 5},
};

struct cev_set {
    double volatility, beta;
};
constexpr std::array cev_sets{cev_set{0.25, 0.5}, cev_set{0.25, 0.3}, cev_set{0.4, 0.7}};

// A volatility surface with the skew of an index: total variances theta (1 + rho phi x + root) / 2, where phi
// is one over the root of theta (SSVI, Gatheral and Jacquier 2014).
struct skew {
    double variance, rho;

    double total(double x, double years) const {
        const double theta = variance * years, phi = 1 / std::sqrt(theta), at = phi * x + rho;
        return 0.5 * theta * (1 + rho * phi * x + std::sqrt(at * at + 1 - rho * rho));
    }
    std::string words(std::span<const double> expiries) const {
        std::string out;
        for (const double years : expiries) {
            const double theta = variance * years, phi = 1 / std::sqrt(theta);
            out += fmt::format("{}{}: {{a: {}, b: {}, rho: {}, m: {}, sigma: {}}}", out.empty() ? "" : ", ",
                               years, 0.5 * theta * (1 - rho * rho), 0.5 * theta * phi, rho, -rho / phi,
                               std::sqrt(1 - rho * rho) / phi);
        }
        return "surface: {svi: {" + out + "}}";
    }
    put_price put() const {
        return [*this](double strike, double years) {
            return black_put(1, strike, std::sqrt(total(std::log(strike), years)));
        };
    }
};

constexpr std::string_view products = R"(
products:
  - product: option_beside_the_asset
    summary: An option, and a position in the asset that is worth nothing.
    parameters:
      underlying: {type: asset, help: The asset.}
      side: {type: number, help: '1: a call, -1: a put.'}
      strike: {type: amount, help: The strike.}
      level: {type: amount, help: What the asset is worth today.}
      held: {type: number, help: How much of the asset is owed.}
      maturity: {type: date, help: The day.}
    example: {underlying: A, side: 1, strike: 100, level: 100, held: 0.5, maturity: 1.0}
    script: |
      on maturity:
          pay max(side * (spot(underlying) - strike), 0) - held * (spot(underlying) - level)
  - product: caplet
    summary: The interest of a year above a strike, as a put on the bond that pays it.
    parameters:
      strike: {type: rate, help: The strike.}
      fixing: {type: date, help: When the rate is fixed.}
      ends: {type: date, help: When it is paid.}
    example: {strike: 0.04, fixing: 1.0, ends: 2.0}
    script: |
      on fixing:
          pay max(1 - (1 + strike) * bond(currency, ends), 0)
)";

constexpr double interest = 0.05;  // level of the curve in examples with stochastic rates

// An option of an example, and its price found without paths, if there is one.
struct asked {
    const example* of;
    double years, strike;
    std::optional<double> truth;  // price for a spot of 1; empty if unknown

    double unit() const { return of->is_rates ? 1 : of->spot; }
    bool is_call() const { return of->volatility > 0 && strike > 1; }
};

constexpr std::array strikes{0.8, 1.0, 1.2};

std::vector<asked> options_of(const example& e) {
    std::vector<asked> out;
    for (const double years : e.years) {
        for (const double strike : strikes) {
            if (e.is_watched && strike != 1) continue;
            asked a{&e, years, strike, {}};
            if (e.put && !e.is_watched) a.truth = e.put(strike, years) + (a.is_call() ? 1 - strike : 0);
            out.push_back(a);
        }
    }
    return out;
}

// The model in YAML, with `steps` a year; 0: its own choice.
std::string model_of(const example& e, double steps) {
    const bool has_watched_steps = e.is_watched && e.model != "rough_bergomi";
    const std::string said =
        steps > 0
            ? fmt::format(", {}: {}", has_watched_steps ? "watched_steps_per_year" : "steps_per_year", steps)
            : "";
    return fmt::format("model: {{{}: {{{}{}}}}}", e.model, e.how, said);
}

std::string name_of(std::size_t i) {
    return fmt::format("O{}", i);
}
std::string currency_of(std::size_t i) {
    return fmt::format("X{}{}", static_cast<char>('A' + i / 26), static_cast<char>('A' + i % 26));
}

std::string trade_of(const asked& a, std::size_t i, const std::string& on_what) {
    const example& e = *a.of;
    const std::string id = fmt::format("  - {{id: {}, ", name_of(i));
    if (e.is_rates) {
        return id + fmt::format("product: caplet, currency: {}, strike: {}, fixing: {}, ends: {}}}\n",
                                on_what, a.strike * std::expm1(interest), a.years, a.years + 1);
    }
    const std::string on =
        fmt::format("underlying: {}, strike: {}, maturity: {}", on_what, a.strike * e.spot, a.years);
    if (e.is_watched)
        return id + fmt::format("product: barrier, {}, direction: down, barrier: {}}}\n", on, 0.85 * e.spot);
    const double side = a.is_call() ? 1 : -1;
    double position = 0;
    if (e.volatility > 0) {
        const double deviation = e.volatility * std::sqrt(a.years);
        const double d1 = -std::log(a.strike) / deviation + 0.5 * deviation;
        position = side * 0.5 * std::erfc(-side * d1 / std::numbers::sqrt2);
    }
    return id + fmt::format("product: option_beside_the_asset, {}, side: {}, level: {}, held: {}}}\n", on,
                            side, e.spot, position);
}

// A book of these options. Options of one example with equal steps share their asset.
book book_of(std::span<const asked> all, std::span<const double> steps) {
    std::map<std::string, std::string> named;  // names of assets by the text of their market
    std::string assets, currencies, trades;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const example& e = *all[i].of;
        const std::string how = model_of(e, steps.empty() ? 0 : steps[i]);
        const std::string text = e.is_rates ? fmt::format("{{rate: {}, {}}}", interest, how)
                                            : fmt::format("{{currency: USD, spot: {}, {}}}", e.spot, how);
        const auto [at, is_new] =
            named.try_emplace(text, e.is_rates ? currency_of(named.size()) : name_of(named.size()));
        if (is_new) (e.is_rates ? currencies : assets) += fmt::format("    {}: {}\n", at->second, text);
        trades += trade_of(all[i], i, at->second);
    }
    return book::parse("market:\n  as_of: 2026-01-15\n  currencies:\n    USD: {rate: 0}\n" + currencies +
                       (assets.empty() ? "" : "  assets:\n" + assets) + std::string(products) + "trades:\n" +
                       trades);
}

// The number of steps that the trade's model takes on a path.
double steps_of(const trade_plan& p) {
    double parts = 1;
    for (const std::string& m : p.models) {
        constexpr std::string_view told = " steps at a time";
        if (const auto at = m.find(told); at != std::string::npos)
            parts = std::stod(m.substr(m.rfind(' ', at - 1)));
    }
    return parts * static_cast<double>(p.grid.size() - 1);
}

row row_of(const asked& a, double steps) {
    row r;
    r.suite = "steps";
    r.axes = {{"model", a.of->model}, {"set", a.of->set}, {"years", a.years}, {"strike", a.strike}};
    r.figures["steps"] = steps;
    return r;
}

void judge(row& r, const asked& a, const price_row& got, const price_row* with_shorter) {
    if (got.status != trade_status::priced) {
        r.wrong = got.message;
        return;
    }
    const auto of_one = [&](const price_row& p) {
        return priced{p.price / a.unit(), p.standard_error / a.unit()};
    };
    priced reference{a.truth.value_or(0), 0};
    if (with_shorter != nullptr) {
        if (with_shorter->status != trade_status::priced) {
            r.wrong = with_shorter->message;
            return;
        }
        reference = of_one(*with_shorter);
    }
    const finding found = compared(of_one(got), reference);
    r.figures["reference"] = with_shorter != nullptr ? "shorter steps" : "truth";
    r.figures["price"] = of_one(got).price;
    r.figures["off_bp"] = 1e4 * found.off;
    r.figures["off_bp_error"] = 1e4 * found.error;
    r.figures["paths"] = got.paths;
    // Chance calls one of 1,000 rows wrong once in 1,700 runs at most, even if all err as much as allowed.
    if (std::abs(found.off) > most_off + 5 * found.error) {
        r.wrong = fmt::format("the steps leave {:.2f} +- {:.2f} basis points, expected at most {}",
                              1e4 * found.off, 1e4 * found.error, 1e4 * most_off);
    }
}

}  // namespace

std::vector<example> examples() {
    std::vector<example> out;
    for (const auto& p : heston_sets) {
        example e{"heston", words(p), words(p)};
        e.put = by_fourier(p);
        out.push_back(e);
    }
    for (const std::size_t i : {3u, 4u, 16u, 17u, 20u}) {
        const auto& p = heston_sets[i];
        example e{"heston", "full_truncation, " + words(p), words(p) + ", scheme: full_truncation"};
        e.years = {0.5, 2};
        e.put = by_fourier(p);
        out.push_back(e);
    }
    for (const std::size_t i : {4u, 20u}) {
        const fourier::lognormal_jumps jumps{0.3, -0.1, 0.06};
        const std::string how =
            words(heston_sets[i]) + ", jump_intensity: 0.3, jump_mean: -0.1, jump_sd: 0.06";
        example e{"bates", how, how};
        e.put = by_fourier(fourier::bates{heston_sets[i], jumps});
        out.push_back(e);
    }
    for (const auto& p : schobel_zhu_sets) {
        const std::string how = fmt::format("vol0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}", p.vol0,
                                            p.kappa, p.theta, p.sigma, p.rho);
        example e{"schobel_zhu", how, how};
        e.put = by_fourier(p);
        out.push_back(e);
    }
    for (const auto& p : sabr_sets) {
        const std::string how =
            fmt::format("alpha: {}, beta: {}, rho: {}, nu: {}", p.alpha, p.beta, p.rho, p.nu);
        example e{"sabr", fmt::format("forward {}, {}", p.forward, how), how, p.forward};
        e.years = {1, p.longest};
        if (p.longest == 1) e.years = {0.5, 1};
        e.volatility = p.alpha * std::pow(p.forward, p.beta - 1);
        out.push_back(e);
    }
    for (const auto& p : cev_sets) {
        const std::string how = fmt::format("volatility: {}, beta: {}", p.volatility, p.beta);
        example e{"cev", how, how};
        e.years = {0.5, 1, 5};
        e.volatility = p.volatility;
        out.push_back(e);
    }
    constexpr std::array expiries{0.5, 1.0, 2.0, 5.0};
    constexpr skew index{0.04, -0.7};
    for (const std::string scheme : {"second_order", "euler"}) {
        example e{"local_volatility", "an index, " + scheme, index.words(expiries) + ", scheme: " + scheme,
                  100};
        e.put = index.put();
        e.volatility = 0.2;
        out.push_back(e);
    }
    {
        // Compared with shorter steps of paths and particles alike, because particles add noise of their own.
        example e{"stochastic_local_volatility", "an index, " + words(heston_sets[20]),
                  index.words(expiries) + ", heston: {" + words(heston_sets[20]) + "}", 100};
        e.years = {0.5, 1, 2};
        e.volatility = 0.2;
        out.push_back(e);
        e.set += ", against the surface";
        e.put = index.put();
        out.push_back(e);
    }
    for (const char* const how :
         {"xi: 0.055225, eta: 1.9, rho: -0.9, hurst: 0.07", "xi: 0.04, eta: 1.5, rho: -0.7, hurst: 0.1",
          "xi: 0.04, eta: 1, rho: -0.7, hurst: 0.3"}) {
        example e{"rough_bergomi", how, how};
        e.years = {0.5, 1, 2};
        e.volatility = 0.2;
        out.push_back(e);
    }
    for (const auto& [c, g, m, y] :
         {fourier::cgmy{16.97, 7.08, 29.97, 0.6442}, fourier::cgmy{5.9311, 20.2648, 39.784, 0},
          fourier::cgmy{1, 8.8, 9.2, 1.8}, fourier::cgmy{0.42, 4.37, 191.2, 1.0102}}) {
        const std::string how = fmt::format("C: {}, G: {}, M: {}, Y: {}", c, g, m, y);
        example e{"cgmy", how, how};
        e.put = by_fourier(fourier::cgmy{c, g, m, y});
        out.push_back(e);
    }
    for (const double volatility : {0.2, 0.6}) {
        const std::string how = fmt::format("tenor: 1, until: 12, volatility: {}", volatility);
        example e{"forward_market", how, how};
        e.is_rates = true;
        e.years = {1, 5, 9};
        e.put = [volatility](double strike, double years) {
            const double rate = std::expm1(interest), paid = std::exp(-interest * (years + 1));
            return paid * analytics::black_price(analytics::right::call, rate, strike * rate,
                                                 volatility * std::sqrt(years));
        };
        out.push_back(e);
    }

    // The same index, and one with jumps, under options with barriers that are watched continuously.
    const std::string variance = words(heston_sets[20]);
    const std::array<std::array<std::string, 2>, 10> watched{{
        {"heston", variance},
        {"bates", variance + ", jump_intensity: 0.3, jump_mean: -0.1, jump_sd: 0.06"},
        {"schobel_zhu", "vol0: 0.2, kappa: 4, theta: 0.2, sigma: 0.1, rho: -0.7"},
        {"merton", "volatility: 0.16, jump_intensity: 0.75, jump_mean: -0.12, jump_sd: 0.08"},
        {"kou", "volatility: 0.16, jump_intensity: 4, p_up: 0.3, eta_up: 25, eta_down: 15"},
        {"cev", "volatility: 0.25, beta: 0.5"},
        {"sabr", "alpha: 0.25, beta: 0.6, rho: -0.5, nu: 0.3"},
        {"local_volatility", index.words(expiries)},
        {"stochastic_local_volatility", index.words(expiries) + ", heston: {" + variance + "}"},
        {"rough_bergomi", "xi: 0.04, eta: 1.5, rho: -0.7, hurst: 0.1"},
    }};
    for (const auto& [model, how] : watched) {
        example e{model, "watched, " + how, how};
        e.years = {1};
        e.is_watched = true;
        out.push_back(e);
    }
    return out;
}

finding compared(const priced& of, const priced& reference) {
    return {of.price - reference.price, std::hypot(of.standard_error, reference.standard_error)};
}

void measure(std::span<const example> of, const sizes& paths, const std::string& device,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to) {
    run_options options;
    options.overrides.controls = technique::none;
    options.cancel = cancel;
    options.overrides.device = device;
    options.overrides.random = "philox";
    options.overrides.precision = precision::double_;
    const engine with;
    const auto price = [&](const book& trades, std::uint64_t seed) {
        options.overrides.seed = seed;
        return with.price(trades, options).rows;
    };
    for (const bool has_truth : {true, false}) {
        std::vector<asked> all;
        for (const example& e : of) {
            for (asked& a : options_of(e)) {
                if (a.truth.has_value() == has_truth) all.push_back(std::move(a));
            }
        }
        if (all.empty()) continue;
        options.overrides.paths = has_truth ? paths.against_truth : paths.against_steps;
        const book own = book_of(all, {});
        std::vector<double> steps, per_year;
        for (const trade_plan& p : with.explain(own, *own.market(), options)) {
            if (!p.failure.empty()) throw error(error_kind::internal, p.trade + ": " + p.failure);
            steps.push_back(steps_of(p));
            per_year.push_back(shorter * steps.back() / all[per_year.size()].years);
        }
        says(fmt::format("steps: {} options {}", all.size(),
                         has_truth ? "whose price is known" : "in the steps of their models"));
        const std::vector<price_row> got = price(own, 11);
        std::vector<price_row> with_shorter;
        if (!has_truth) {
            says(fmt::format("steps: {} options in shorter steps", all.size()));
            with_shorter = price(book_of(all, per_year), 12);
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            row r = row_of(all[i], steps[i]);
            judge(r, all[i], got[i], has_truth ? nullptr : &with_shorter[i]);
            to(std::move(r));
        }
    }
}

}  // namespace steps

namespace {

std::vector<steps::example> steps_asked_for(const request& r) {
    std::vector<steps::example> all = steps::examples();
    if (r.subject.empty()) return all;
    std::vector<std::string> known;
    for (const steps::example& e : all) {
        if (known.empty() || known.back() != e.model) known.emplace_back(e.model);
    }
    std::erase_if(all, [&](const steps::example& e) { return e.model != r.subject; });
    if (!all.empty()) return all;
    throw error(error_kind::usage, "found " + config::shown(r.subject) +
                                       ", expected a model that takes steps" +
                                       config::suggestion(r.subject, known));
}

steps::sizes paths_for(const request& r, steps::sizes usual) {
    return r.paths > 0 ? steps::sizes{r.paths, r.paths} : usual;
}

}  // namespace

void check_steps(const request& asked) {
    steps_asked_for(asked);
}

void run_steps(gpu_timer& on, const request& asked, const sink& to) {
    steps::measure(steps_asked_for(asked), paths_for(asked, steps::on_gpu), "cuda", on.says, on.cancel, to);
}

void run_steps_on_cpu(const cpu_bench& on, const request& asked, const std::string&, const sink& to) {
    steps::measure(steps_asked_for(asked), paths_for(asked, steps::on_cpu), "cpu", on.says, on.cancel, to);
}

}  // namespace tilewalk::bench
