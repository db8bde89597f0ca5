// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/training.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "engine/decide/exercise/backward.h"
#include "engine/decide/exercise/deciders.h"
#include "engine/decide/exercise/notice.h"
#include "engine/decide/exercise/swing.h"
#include "engine/numerics/jacobi.h"
#include "engine/walk/cost.h"
#include "engine/walk/cpu/tile_pool.h"
#include "kernels/math.h"
#include "kernels/tile.h"
#include "products/language/product.h"
#include "products/program/row_names.h"

namespace tilewalk::exercise {

namespace {

// Memory limit for the numbers that training paths leave. A trade of very many dates trains on fewer paths.
constexpr std::size_t most_bytes_left = std::size_t{1} << 29;

std::size_t section_of(const leaving::left_by_right& r, const plan::trade_program& made) {
    std::size_t block = r.block;
    for (std::size_t b = 0; r.is_notice && b < made.blocks.size(); ++b)
        if (made.blocks[b].notice_of == r.block) block = b;
    return made.section_of_block[block];
}

std::size_t paths_that_fit(std::size_t rows, std::uint64_t asked) {
    const std::size_t fit = most_bytes_left / sizeof(double) / std::max<std::size_t>(rows, 1);
    if (fit < kernels::paths_per_tile && fit < asked) {
        throw error(error_kind::input,
                    "the exercise decision takes " + std::to_string(rows) +
                        " numbers of each path, expected at most " +
                        std::to_string(most_bytes_left / sizeof(double) / kernels::paths_per_tile) +
                        "; take fewer dates");
    }
    return std::min<std::size_t>(asked, fit);
}

void lay_out(untrained& to, const leaving& by) {
    const program::path_program& code = to.made.code;
    to.leaves.resize(code.sections.size());
    const auto state = [&](std::uint32_t source) {
        const auto at = std::ranges::find(code.state_sources, source);
        if (at == code.state_sources.end())
            throw error(error_kind::internal, "a state that a right depends on is not there");
        return static_cast<std::uint32_t>(at - code.state_sources.begin());
    };
    for (const leaving::left_by_right& r : by.rights()) {
        auto& states = to.leaves[section_of(r, to.made)].states;
        for (const std::uint32_t s : {r.gives, r.offered, r.unit, r.alive, by.value_state()})
            states.push_back(state(s));
        for (const std::uint32_t s : to.by.features) states.push_back(state(s));
        for (const std::uint32_t s : r.made) states.push_back(state(s));
        for (const std::uint32_t s : r.moved) states.push_back(state(s));
    }
    auto& last = to.leaves.back().states;
    last.push_back(state(by.end_value()));
    for (const std::uint32_t s : by.moved_at_end()) last.push_back(state(s));
    for (std::size_t k = 0; k < to.leaves.size(); ++k) {
        to.leaves[k].first_row = to.rows;
        if (!to.leaves[k].states.empty()) to.rows += to.leaves[k].states.size() * to.made.data.runs[k];
    }
    to.end_row = to.leaves.back().first_row;
}

class left_arrays {
  public:
    left_arrays(const untrained& of, const training& how) : of_(of), numbers_(of.rows * of.paths) {
        const cpu::left_numbers leaves{of.leaves, numbers_.data(), of.paths};
        const cpu::lane_program compiled = cpu::compile(of.made.code);
        cpu::path_job job{&compiled, &of.made.data, &of.made.when, how.seed, of.paths};
        job.scenarios = how.scenarios;
        job.leaves = &leaves;
        cpu::walk_all({&job, 1}, *how.operations, how.threads, how.cancel, {});
    }

    std::span<const double> row(std::size_t number) const {
        return std::span(numbers_).subspan(number * of_.paths, of_.paths);
    }
    std::span<const double> at_the_end(std::size_t number) const { return row(of_.end_row + number); }

  private:
    const untrained& of_;
    std::vector<double> numbers_;
};

// Returns the number, from 1, in the block's schedule of its future date `run`.
int index_of(const language::block& of, std::size_t run) {
    std::size_t past = 0;
    while (past < of.times.size() && of.times[past] <= dates::same_time_years) ++past;
    return static_cast<int>(past + run) + 1;
}

// An event on which a right leaves training data: its own date, or that of its notice.
struct met_date {
    const leaving::left_by_right* right;
    std::size_t block, section, run, step;  // `block` is the notice's on a notice date
};

std::vector<met_date> dates_of(const leaving& by, const plan::trade_program& made) {
    std::vector<met_date> out;
    for (std::size_t step = 0; step < made.when.steps(); ++step) {
        for (const program::event& e : made.when.events_after(step)) {
            const auto block = static_cast<std::size_t>(std::ranges::find(made.section_of_block, e.section) -
                                                        made.section_of_block.begin());
            for (const leaving::left_by_right& r : by.rights())
                if (section_of(r, made) == e.section) out.push_back({&r, block, e.section, e.row, step});
        }
    }
    return out;
}

std::vector<untrained::date> unfound(std::span<const met_date> met_dates, const plan::trade_program& made) {
    std::vector<untrained::date> all;
    for (const met_date& met : met_dates) {
        untrained::date& d = all.emplace_back();
        d.step = met.step;
        d.index = index_of(made.blocks[met.block], met.run);
        d.is_notice = met.right->is_notice;
        d.has_notice = met.right->has_notice;
        d.found.block = met.right->block;
        d.found.run = met.run;
        d.found.of = met.right->of;
        if (!d.decides()) continue;
        for (const std::vector<double>& by_date : met.right->ahead) d.found.ahead.push_back(by_date[met.run]);
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
        for (std::size_t l = k + 1; l < all.size() && all[k].is_notice; ++l) {
            const bool is_its = all[l].found.block == all[k].found.block && !all[l].is_notice;
            if (is_its && all[l].index == all[k].index) all[k].other = l, all[l].other = k;
        }
    }
    return all;
}

void add_dates(untrained& to, const leaving& by) {
    const std::vector<met_date> met = dates_of(by, to.made);
    to.dates = unfound(met, to.made);
    for (std::size_t k = 0; k < met.size(); ++k) {
        const auto& of = to.leaves[met[k].section];
        to.dates[k].first_row = of.first_row + met[k].run * of.states.size();
    }
    to.is_of_steps = std::ranges::all_of(to.dates, [&](const untrained::date& d) {
        return d.decides() && to.made.blocks[d.found.block].longest_step > 0;
    });
}

// Returns 1 / standard deviation of the sum of normals over steps [from, to).
double root_between(std::size_t from, std::size_t to, const program::timeline& when, const policy& by) {
    double variance = 0;
    for (std::size_t s = from; s < to; ++s) {
        const double weight = by.weighs_steps ? weight_of_step(when.times, s) : 1;
        variance += weight * weight;
    }
    return variance > 0 ? 1 / std::sqrt(variance) : 0;
}

// Sets the roots of all decisions, and gives each notice's martingale a slot until the payment.
void place_notices(std::vector<untrained::date>& dates, const program::timeline& when, policy& by) {
    std::vector<std::optional<std::size_t>> kept;  // by slot: the payment it waits for
    std::size_t before = 0;                        // steps before the interval begins
    for (std::size_t k = 0; k < dates.size(); ++k) {
        if (!dates[k].decides()) continue;
        decision_date& d = dates[k].found;
        const std::size_t here = dates[k].step + 1;
        d.root = root_between(std::exchange(before, here), here, when, by);
        if (!dates[k].is_notice) continue;
        d.index = dates[k].index;
        d.root_until_paid = root_between(here, dates[*dates[k].other].step + 1, when, by);
        const auto is_free = [&](const std::optional<std::size_t>& payment) {
            return !payment || *payment < k;
        };
        auto slot = std::ranges::find_if(kept, is_free);
        if (slot == kept.end()) slot = kept.insert(kept.end(), std::nullopt);
        *slot = *dates[k].other;
        d.slot = static_cast<std::size_t>(slot - kept.begin());
    }
    by.notice_slots = kept.size();
    by.last_root = root_between(before, when.steps(), when, by);
}

// Adds up sums of normals of consecutive intervals between dates into those of longer intervals.
class left_intervals {
  public:
    left_intervals(const untrained& of, const left_arrays& left)
        : of_(of), left_(left), columns_(of.by.moves().columns()) {}

    // Returns the interval from date `from` (empty: today) to `to`; the number of dates is the path's end.
    interval_left between(std::optional<std::size_t> from, std::size_t to, double root) {
        interval_left out{{}, root};
        for (std::size_t c = 0; c < columns_; ++c) {
            std::vector<std::span<const double>> pieces;
            for (std::size_t k = from ? *from + 1 : 0; k <= to; ++k) pieces.push_back(piece(k, c));
            out.sums.push_back(pieces.size() == 1 ? pieces[0].data() : sum_of(pieces));
        }
        return out;
    }
    // Must be called before each decision. Frees the sums that were made before the last call.
    void next_decision() {
        older_ = std::move(newer_);
        newer_.clear();
    }

  private:
    std::span<const double> piece(std::size_t date, std::size_t column) const {
        if (date == of_.dates.size()) return left_.at_the_end(1 + column);
        return left_.row(of_.dates[date].first_row + of_.row_of_sums() + column);
    }
    const double* sum_of(const std::vector<std::span<const double>>& pieces) {
        std::vector<double>& sum = newer_.emplace_back(pieces[0].begin(), pieces[0].end());
        for (std::size_t k = 1; k < pieces.size(); ++k)
            for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += pieces[k][p];
        return sum.data();
    }

    const untrained& of_;
    const left_arrays& left_;
    std::size_t columns_;
    std::deque<std::vector<double>> older_, newer_;
};

// Returns the date's training data, without `before`, the interval that ends there.
date_left left_on(const untrained::date& d, const left_arrays& left, const policy& by) {
    const auto row = [&](std::size_t number) { return left.row(d.first_row + number).data(); };
    date_left out{row(0), row(1), row(2), row(3), row(4), {}, {}};
    for (std::size_t f = 0; f + 1 < by.functions.features(); ++f)
        out.features.push_back(row(untrained::row_of_features + f));
    return out;
}

// The factors by which a recorded program scales its prices: [section][name of the row][run].
using recorded_scales = std::vector<std::map<std::string, std::vector<double>, std::less<>>>;

recorded_scales scales_of(const program::recorder::recorded& r) {
    recorded_scales out(r.code.sections.size());
    for (std::size_t s = 0; s < out.size(); ++s) {
        const std::vector<std::string>& names = r.code.sections[s].rows;
        for (std::size_t column = 0; column < names.size(); ++column) {
            if (!program::row_names::is_numbered(names[column], program::row_names::scale)) continue;
            for (std::size_t run = 0; run < r.data.runs[s]; ++run)
                out[s][names[column]].push_back(r.data.rows[s][run * r.data.widths[s] + column]);
        }
    }
    return out;
}

// A policy to train, and the trade recorded without decisions. It has no features if nothing is random.
struct begun {
    policy by;
    std::vector<std::string> known, left_out;  // names of features, see policy_to_find
    bool is_certain = false;
    leaving plainly;
    plan::trade_program plain;
    recorded_scales scales;
};

// Sets the numbers of uses that are possible with one on each date.
void take_uses(policy& by, int at_most, int at_least, std::size_t dates_to_come) {
    const int dates = static_cast<int>(dates_to_come) + (by.today ? 1 : 0);
    by.uses = std::min(at_most, dates);
    by.least_uses = std::min(at_least, dates);
    by.must_be_used_today = by.today && by.least_uses == dates;
}

// The features named by the product that are known on all of its rights' dates; others are left out.
struct named_by_product {
    std::vector<std::size_t> known;
    bool is_beside_states = true;
};
named_by_product named_of(const books::trade& t, begun& to) {
    named_by_product out;
    const std::vector<leaving::left_by_right>& rights = to.plainly.rights();
    const std::vector<language::placed_text>& named = t.product->payoff.features();
    if (rights.empty() || named.empty()) return out;
    out.is_beside_states = rights.front().is_named_beside_states;
    for (std::size_t f = 0; f < named.size(); ++f) {
        const auto is_unknown = [&](const leaving::left_by_right& r) {
            return !r.named[f].why_unknown.empty();
        };
        const auto without = std::ranges::find_if(rights, is_unknown);
        if (without == rights.end()) {
            out.known.push_back(f);
        } else {
            to.left_out.push_back("'" + named[f].text + "': " + without->named[f].why_unknown);
        }
    }
    return out;
}

void add_named(const books::trade& t, const named_by_product& named, begun& to) {
    for (const std::size_t f : named.known) {
        to.by.made.push_back({made_feature::feature_type::named, f, {}, {}});
        to.known.push_back(t.product->payoff.features()[f].text);
    }
}

// Returns a state's name without digits: states such as x3 and x12, or low[0] and low[1], are of one kind.
std::string kind_of_state(std::string name) {
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return name;
}

// Replaces many states of one kind, such as the prices of a basket, by their largest few and their mean.
void reduce(begun& to, std::size_t beside) {
    constexpr std::size_t ranks = 5;
    std::map<std::string, std::vector<std::size_t>> by_kind;
    for (std::size_t f = 0; f < to.known.size(); ++f) by_kind[kind_of_state(to.known[f])].push_back(f);
    const policy by = std::exchange(to.by, {});
    const std::vector<std::string> known = std::exchange(to.known, {});
    to.by = by;
    to.by.features.clear();
    std::vector<std::string> made;
    for (const auto& [kind, all] : by_kind) {
        std::vector<std::uint32_t> states;
        for (const std::size_t f : all) states.push_back(by.features[f]);
        if (all.size() <= ranks + 1) {
            to.by.features.insert(to.by.features.end(), states.begin(), states.end());
            for (const std::size_t f : all) to.known.push_back(known[f]);
            continue;
        }
        const std::string of = "of " + std::to_string(all.size()) + " such as " + known[all[0]];
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            to.by.made.push_back({made_feature::feature_type::ranked, rank, states, {}});
            made.push_back("number " + std::to_string(rank + 1) + " from the largest " + of);
        }
        to.by.made.push_back({made_feature::feature_type::mean, 0, states, {}});
        made.push_back("the mean " + of);
    }
    to.known.insert(to.known.end(), made.begin(), made.end());
    if (to.known.size() + beside <= language::most_features) return;
    throw error(error_kind::input,
                "the exercise decision depends on " + std::to_string(known.size() + beside) +
                    " numbers of the path, " + std::to_string(to.known.size() + beside) +
                    " after ranking those of a kind, expected at most " +
                    std::to_string(language::most_features) + "; name " +
                    (beside > 0 ? "fewer under features: beside the states, or leave the states out"
                                : "the best ones under features:") +
                    " in the product");
}

// Returns the assets' volatilities until the last date; empty unless all are lognormal.
std::vector<double> volatilities_of(const std::vector<std::string>& assets, const markets::market_view& in,
                                    double years) {
    std::vector<double> out;
    for (const std::string& name : assets) {
        const markets::asset& a = in.find_asset(name);
        if (!a.vol || a.model || a.scenario_vol) return {};
        out.push_back(std::sqrt(a.vol->total_variance(years) / years));
    }
    return out;
}

// Returns the rotation from the normals that steps draw to the assets' own. Correlation mixes the first
// normal into later assets, which depends on the order of assets; the symmetric root of correlations gives
// independent normals closest to the assets' moves. Empty if the correlations are nearly singular; a rotation
// without numbers if assets are uncorrelated.
std::optional<std::vector<double>> rotation_of(const std::vector<std::string>& assets,
                                               const std::vector<std::uint32_t>& slots,
                                               const markets::market_view& in) {
    constexpr double least_eigenvalue = 1e-4;
    const std::size_t n = assets.size();
    std::vector<std::size_t> drawn(n);  // assets in the order in which their normals are drawn
    std::iota(drawn.begin(), drawn.end(), std::size_t{0});
    std::ranges::sort(drawn, {}, [&](std::size_t i) { return slots[i]; });
    std::vector<double> correlations(n * n), root(n * n), rotation(n * n);
    bool are_correlated = false;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            correlations[i * n + j] = i == j ? 1 : in.correlation(assets[drawn[i]], assets[drawn[j]]);
            are_correlated = are_correlated || (i != j && correlations[i * n + j] != 0);
        }
    }
    if (!are_correlated) return std::vector<double>();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i < n; ++i) {
            double sum = correlations[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
            if (i == j && sum < least_eigenvalue) return std::nullopt;
            root[i * n + j] = i == j ? kernels::sqrt(sum) : sum / root[j * n + j];
        }
    }
    const std::vector<analytics::eigen_pair> pairs = analytics::eigen_pairs(correlations, n);
    if (pairs.back().value < least_eigenvalue) return std::nullopt;
    for (const analytics::eigen_pair& e : pairs) {
        for (std::size_t j = 0; j < n; ++j) {
            double along = 0;
            for (std::size_t k = j; k < n; ++k) along += e.vector[k] * root[k * n + j];
            along /= kernels::sqrt(e.value);
            for (std::size_t i = 0; i < n; ++i) rotation[drawn[i] * n + drawn[j]] += e.vector[i] * along;
        }
    }
    return rotation;
}

// Assets count as alike if the least volatility over the greatest is above this.
constexpr double alike_volatilities = 0.8;

// Makes features of the numbers that the script compares by asset, as for the best of a basket: by rank, not
// by asset. The martingale moves by normals in this order. States must be just these assets' prices,
// lognormal, with a normal each. If volatilities are unlike, those of the first two ranks are features, too.
void rank_compared(begun& to, const markets::market_view& in, std::optional<bool> tells_volatilities,
                   std::size_t beside) {
    policy& by = to.by;
    const std::vector<leaving::left_by_right>& rights = to.plainly.rights();
    if (rights.empty() || by.uses > 0 || by.weighs_steps || !by.made.empty()) return;
    const language::compared_assets& compared = rights.front().compared;
    const std::vector<std::string>& assets = compared.assets;
    const std::size_t n = assets.size();
    const auto is_price = [](const std::string& known) { return kind_of_state(known) == "x"; };
    if (n < 2 || by.features.size() != n || by.normals.size() != n) return;
    if (!std::ranges::all_of(to.known, is_price)) return;
    for (const leaving::left_by_right& r : rights)
        if (r.compared.assets != assets || r.compared.expression != compared.expression ||
            r.compared.is_smallest_first != compared.is_smallest_first)
            return;
    const std::vector<double> volatilities = volatilities_of(assets, in, to.plain.when.times.back());
    if (volatilities.empty()) return;
    std::vector<std::uint32_t> normals;
    for (const std::string& asset : assets) {
        for (const std::uint32_t slot : by.normals) {
            const std::uint32_t stream = to.plain.code.normal_streams.at(slot);
            if (to.plain.data.normal_names.at(stream).text == asset) normals.push_back(slot);
        }
    }
    if (std::set(normals.begin(), normals.end()).size() != n || normals.size() != n) return;
    const auto [least, most] = std::ranges::minmax(volatilities);
    const bool are_unlike = tells_volatilities.value_or(least < alike_volatilities * most);
    std::optional<std::vector<double>> rotation = rotation_of(assets, normals, in);
    if (!rotation || (n > most_ranks && (are_unlike || !rotation->empty()))) return;
    by.rotation = *std::move(rotation);
    by.normals = std::move(normals);
    by.are_normals_ranked = true;
    by.features.clear();
    to.known.clear();
    const std::string of = " of " + std::to_string(n) + " by " + compared.expression;
    const std::size_t ranks = n > most_ranks ? ranks_of_many : n;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        by.made.push_back({made_feature::feature_type::compared, rank, {}, {}});
        to.known.push_back("number " + std::to_string(rank + 1) +
                           (compared.is_smallest_first ? " from the smallest" : " from the largest") + of);
    }
    if (n > most_ranks) {
        by.made.push_back({made_feature::feature_type::mean_compared, 0, {}, {}});
        to.known.push_back("the mean" + of);
        by.functions = basis(by.made.size(), beside);
        return;
    }
    const std::size_t others = are_unlike ? 2 : 0;
    for (std::size_t rank = 0; rank < others; ++rank) {
        by.made.push_back({made_feature::feature_type::of_compared, rank, {}, volatilities});
        to.known.push_back(std::string(name_of_volatility) + std::to_string(rank + 1));
    }
    by.functions = basis::of_ranked(n, others + beside);
}

std::optional<begun> begin(const books::trade& t, const markets::market_view& in, const plan::poll& often,
                           std::optional<bool> tells_volatilities = {}) {
    begun out;
    leaving& plainly = out.plainly;
    const plan::amendment look = [&](program::recorder::recorded& r, const std::vector<double>&) {
        out.scales = scales_of(r);
    };
    out.plain = plan::plan_trade(t, in, program::precision::double_, look, often, &plainly);
    const plan::trade_program& plain = out.plain;
    policy& by = out.by;
    if (plainly.today()) {
        by.today = plainly.today()->gives;
        (plainly.today()->of == language::party::holder ? by.has_holder : by.has_issuer) = true;
    }
    if (plain.is_certain()) {
        if (!by.today) return std::nullopt;
        const double to_come = plain.data.initial_states[plain.code.outputs[0]];
        if (plainly.today()->at_most > 0) {
            take_uses(by, plainly.today()->at_most, plainly.today()->at_least, 0);
            *by.today += to_come;  // paid whether or not the right is used
        }
        by.is_used_today =
            by.must_be_used_today || (by.has_holder ? *by.today > to_come : *by.today < to_come);
        out.is_certain = true;
        return out;
    }
    // All notices may be past, so that nothing is left to decide.
    const bool is_decided =
        std::ranges::none_of(plainly.rights(), [](const leaving::left_by_right& r) { return r.decides(); });
    if (is_decided && !by.today) return std::nullopt;
    if (by.today && plainly.today()->at_most > 0)
        take_uses(by, plainly.today()->at_most, plainly.today()->at_least, 0);
    for (const leaving::left_by_right& r : plainly.rights()) {
        if (!r.decides()) continue;
        (r.of == language::party::holder ? by.has_holder : by.has_issuer) = true;
        if (r.at_most > 0)
            take_uses(by, r.at_most, r.at_least, plain.data.runs[plain.section_of_block[r.block]]);
    }
    for (std::size_t s = 0; s < plain.code.states.size(); ++s) {
        const std::uint32_t source = plain.code.state_sources[s];
        if (source == plainly.value_state() || source >= plainly.first_state()) continue;
        if (plain.code.states[s] == "alive") continue;  // holds whenever a right is decided
        by.features.push_back(source);
        out.known.push_back(plain.code.states[s]);
    }
    const named_by_product named = named_of(t, out);
    if (!named.is_beside_states) {
        by.features.clear();
        out.known.clear();
        add_named(t, named, out);
    }
    const std::size_t beside = named.is_beside_states ? named.known.size() : 0;
    // Notice dates make steps unequal, so normals are weighted by the root of the step's length.
    const auto has_notice = [](const leaving::left_by_right& r) { return r.has_notice; };
    by.weighs_steps = std::ranges::any_of(plainly.rights(), has_notice);
    std::set<std::uint32_t> normals;
    for (const program::node& n : plain.code.sections[0].nodes)
        if (n.code == program::operation::normal) normals.insert(n.args[0]);
    by.normals.assign(normals.begin(), normals.end());
    rank_compared(out, in, tells_volatilities, beside);
    if (!by.are_normals_ranked && by.features.size() + beside > language::most_features) reduce(out, beside);
    if (named.is_beside_states) add_named(t, named, out);
    if (!by.are_normals_ranked) by.functions = basis(by.features.size() + by.made.size() - beside, beside);
    return out;
}

payment_left payment_on(const untrained::date& d, const left_arrays& left) {
    const auto row = [&](std::size_t number) { return left.row(d.first_row + number).data(); };
    return {row(0), row(1), row(4), {}};
}

// Finds by how much exercise on all dates gains over every second date, on the same paths.
void find_gain(untrained& of, const backward& all, const left_arrays& left, const training& by) {
    policy half = of.by;
    half.normals.clear();  // normals serve the bound alone
    backward sweep(half, left.at_the_end(0), {}, by.threads, by.cancel);
    for (const std::size_t k : of.every_second_date()) {
        if (by.often) by.often();
        decision_date d;
        d.of = of.dates[k].found.of;
        sweep.decide(d, left_on(of.dates[k], left, half));
    }
    const auto [sum, squares] = sweep.gain_of(all.total());
    take_gain(of.by, of.paths, sum, squares);
}

void go_back(untrained& of, const left_arrays& left, const training& by) {
    left_intervals intervals(of, left);
    std::vector<std::size_t> decisions;
    for (std::size_t k = 0; k < of.dates.size(); ++k)
        if (of.dates[k].decides()) decisions.push_back(k);
    const auto before = [&](std::size_t i) { return i > 0 ? std::optional(decisions[i - 1]) : std::nullopt; };
    interval_left last = intervals.between(before(decisions.size()), of.dates.size(), of.by.last_root);
    const auto all = [&](auto&& sweep) {
        sweep.fit_as(by.fits);
        for (std::size_t i = decisions.size(); i-- > 0;) {
            if (by.often) by.often();
            untrained::date& d = of.dates[decisions[i]];
            intervals.next_decision();
            date_left at = left_on(d, left, of.by);
            at.before = intervals.between(before(i), decisions[i], d.found.root);
            if constexpr (requires { sweep.decide_notice(d.found, at, payment_left{}); }) {
                if (d.is_notice) {
                    payment_left payment = payment_on(of.dates[*d.other], left);
                    payment.since_notice = intervals.between(decisions[i], *d.other, d.found.root_until_paid);
                    sweep.decide_notice(d.found, at, payment);
                    continue;
                }
            }
            sweep.decide(d.found, at);
        }
        sweep.end();
    };
    const std::span<const double> at_the_end = left.at_the_end(0);
    if (of.by.uses > 0) {
        all(swing_backward(of.by, at_the_end, std::move(last), decisions.size(), by.threads, by.cancel));
        return;
    }
    notice_backward sweep(of.by, at_the_end, std::move(last), by.threads, by.cancel);
    all(sweep);
    if (of.has_gain() && by.fits == fitting::usual && !of.by.is_used_today) find_gain(of, sweep, left, by);
}

}  // namespace

std::vector<std::size_t> untrained::every_second_date() const {
    std::vector<std::size_t> out;
    for (std::size_t k = dates.size(); k > 0; k -= std::min<std::size_t>(k, 2)) out.push_back(k - 1);
    return out;
}

namespace {

// Returns the rate over the next quarter of a year, which stands for the short rate.
double short_rate(const markets::curve& of, double years) {
    constexpr double quarter = 0.25;
    return (of.log_discount(years) - of.log_discount(years + quarter)) / quarter;
}

// Returns policy_to_find::date::levels. If the script gives a state's name to a number of its own, too, the
// name is ambiguous, and the level is 0.
std::vector<double> levels_of(const policy_to_find& of, const recorded_scales& scales, const met_date& d,
                              double years, const markets::market_view& in) {
    std::vector<double> out;
    const std::span states(of.known.data(), of.by.features.size());
    for (std::size_t f = 0; f < of.known.size(); ++f) {
        const std::string& name = of.known[f];
        double& level = out.emplace_back(0);
        if (f >= states.size() || std::ranges::count(states, name) > 1) continue;
        if (name.ends_with(program::row_names::first_rate)) {
            const std::string currency = name.substr(0, name.size() - program::row_names::first_rate.size());
            if (in.rate_model(currency) != nullptr) level = short_rate(in.discount_curve(currency), years);
            continue;
        }
        const auto found = scales[d.section].find(program::row_names::scale_of(name));
        if (found == scales[d.section].end()) continue;
        const double scale = found->second[d.run];
        if (scale > 0) level = of.are_products[f] ? scale : std::log(scale);
    }
    return out;
}

// By feature: true if its product with the level is a price, false if their sum is a price's logarithm.
std::vector<bool> products_among(const begun& of) {
    std::vector<bool> out;
    for (const std::uint32_t source : of.by.features) {
        const auto state = std::ranges::find(of.plain.code.state_sources, source);
        out.push_back(
            of.plain.data
                .initial_states[static_cast<std::size_t>(state - of.plain.code.state_sources.begin())] != 0);
    }
    out.resize(of.known.size());
    return out;
}

}  // namespace

std::optional<policy_to_find> policy_to_find_of(const books::trade& t, const markets::market_view& in,
                                                const plan::poll& often,
                                                std::optional<bool> tells_volatilities) {
    std::optional<begun> of = begin(t, in, often, tells_volatilities);
    if (!of) return std::nullopt;
    policy_to_find out;
    out.is_certain = of->is_certain;
    if (!out.is_certain) out.are_products = products_among(*of);
    out.known = of->known;
    out.left_out = of->left_out;
    out.by = std::move(of->by);
    if (out.is_certain) return out;
    const std::vector<met_date> met = dates_of(of->plainly, of->plain);
    std::vector<untrained::date> dates = unfound(met, of->plain);
    place_notices(dates, of->plain.when, out.by);
    for (std::size_t k = 0; k < met.size(); ++k) {
        if (!dates[k].decides()) continue;
        const language::block& b = of->plain.blocks[met[k].block];
        const std::size_t at = b.times.size() - of->plain.data.runs[met[k].section] + met[k].run;
        out.dates.push_back(
            {b.times[at], to_string(b.labels[at]), levels_of(out, of->scales, met[k], b.times[at], in)});
        out.by.dates.push_back(std::move(dates[k].found));
    }
    return out;
}

std::optional<untrained> untrained_of(const books::trade& t, const markets::market_view& in,
                                      std::uint64_t paths, const plan::poll& often, found_beside wanted) {
    std::optional<begun> of = begin(t, in, often);
    if (!of) return std::nullopt;
    untrained out;
    out.by = std::move(of->by);
    out.is_certain = of->is_certain;
    if (out.is_certain) return out;
    if (wanted == found_beside::nothing) drop_martingale(out.by);
    leaving recorded(out.by);
    out.made = plan::plan_trade(t, in, program::precision::double_, {}, often, &recorded);
    lay_out(out, recorded);
    add_dates(out, recorded);
    place_notices(out.dates, out.made.when, out.by);
    if (wanted == found_beside::nothing) out.is_of_steps = false;
    out.paths = paths_that_fit(out.rows, paths);
    return out;
}

double operations_of(const untrained& of) {
    const auto functions = static_cast<double>(of.by.functions.functions() + of.by.made.size());
    const auto moves = static_cast<double>(of.by.moves().size());
    const run::job paths{&of.made.code, &of.made.data, &of.made.when};
    // Sums of products of functions, and of functions with moves.
    const double of_date = functions * (functions + 2 * moves);
    return static_cast<double>(of.paths) *
           (run::operations_of(paths) + of_date * static_cast<double>(of.dates.size()));
}

policy trained(untrained of, const training& by) {
    if (of.is_certain) return std::move(of.by);
    const left_arrays left(of, by);
    of.by.paths = of.paths;
    go_back(of, left, by);
    for (untrained::date& d : of.dates)
        if (d.decides()) of.by.dates.push_back(std::move(d.found));
    return std::move(of.by);
}

std::unique_ptr<language::decider> follower_of(const policy& by) {
    if (by.uses > 0) return std::make_unique<following_uses>(by);
    return std::make_unique<following>(by);
}

plan::trade_program following_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                   program::precision to, const plan::poll& often,
                                   plan::controller* controls) {
    return plan::plan_trade(t, in, to, {}, often, follower_of(by).get(), controls);
}

plan::trade_program bounding_plan(const books::trade& t, const markets::market_view& in, const policy& by,
                                  program::precision to, const plan::poll& often) {
    const auto bounded = [&](auto&& decides) {
        const plan::amendment takes_bound = [&](program::recorder::recorded& r, const std::vector<double>&) {
            r.code.outputs = {decides.bound()};
        };
        return plan::plan_trade(t, in, to, takes_bound, often, &decides);
    };
    return by.uses > 0 ? bounded(bounding_uses(by)) : bounded(bounding(by));
}

}  // namespace tilewalk::exercise
