// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/gpu_trades.h"

#include <array>
#include <numeric>
#include <utility>

#include "engine/base/crew.h"
#include "engine/decide/controls/controls.h"
#include "engine/decide/pilot.h"
#include "engine/decide/rewrites.h"
#include "engine/decide/rights.h"
#include "engine/decide/sources.h"
#include "engine/walk/cuda/random/fill_kernels.h"

namespace tilewalk::studies {

namespace {

std::vector<run::job> jobs_of(std::span<const walked_job> trades) {
    std::vector<run::job> jobs;
    jobs.reserve(trades.size());
    for (const walked_job& t : trades) jobs.push_back(t.job());
    return jobs;
}

}  // namespace

gpu_trades::gpu_trades(std::span<const run::job> of) {
    unite(of, nullptr);
    seat(of, nullptr, 1);
}

gpu_trades::gpu_trades(std::vector<walked_job> of, const gpu_trades* before, int threads)
    : given_(std::move(of)) {
    const std::vector<run::job> jobs = jobs_of(given_);
    unite(jobs, before);
    seat(jobs, before, threads);
    places_.reserve(given_.size());
    for (std::size_t j = 0; j < given_.size(); ++j) places_.emplace(given_[j].trade.get(), j);
}

// Compares addresses, unique while given_ holds the trades. Most calls ask in the order of given_.
std::optional<std::vector<run::job>> gpu_trades::find(std::span<const walked_job> trades) const {
    std::vector<run::job> out;
    out.reserve(trades.size());
    std::size_t next = 0;
    for (const walked_job& t : trades) {
        if (next == given_.size() || given_[next] != t) {
            const auto found = places_.find(t.trade.get());
            if (found == places_.end() || given_[found->second] != t) return std::nullopt;
            next = found->second;
        }
        out.push_back(jobs_[next++]);
    }
    return out;
}

// Compares addresses of programs, which are unique as long as the trades of `before` are held.
void gpu_trades::unite(std::span<const run::job> of, const gpu_trades* before) {
    auto made = std::make_shared<united_shapes>();
    for (const run::job& j : of) {
        if (made->places.emplace(j.code, made->shapes.size()).second) made->shapes.push_back(j.code);
    }
    if (before != nullptr && before->united_->shapes == made->shapes) {
        united_ = before->united_;
        return;
    }
    made->programs = plan::unite(made->shapes);
    united_ = std::move(made);
}

// Lays out few trades on one thread: starting more threads would take longer.
void gpu_trades::seat(std::span<const run::job> of, const gpu_trades* before, int threads) {
    constexpr std::size_t worth_threads = 256;
    const bool are_alike = before != nullptr && united_ == before->united_;
    const auto seat_of = [&](std::size_t j) -> const plan::seat& {
        return united_->programs.seats[united_->places.at(of[j].code)];
    };
    seated_.resize(of.size());
    std::vector<std::size_t> fresh;
    for (std::size_t j = 0; j < of.size(); ++j) {
        if (are_alike && j < before->given_.size() && before->given_[j].trade == given_[j].trade)
            seated_[j] = before->seated_[j];
        else
            fresh.push_back(j);
    }
    threads::for_each(fresh.size(), fresh.size() < worth_threads ? 1 : threads, nullptr,
                      [&](int, std::uint64_t k) {
                          const std::size_t j = fresh[k];
                          const plan::seat& seat = seat_of(j);
                          const program::path_program& code = united_->programs.programs[seat.program];
                          seated_[j] = std::make_shared<const seated_trade>(seated_trade{
                              plan::seated(*of[j].data, seat, code), plan::seated(*of[j].when, seat)});
                      },
                      {});
    jobs_.reserve(of.size());
    for (std::size_t j = 0; j < of.size(); ++j) {
        const program::path_program& code = united_->programs.programs[seat_of(j).program];
        jobs_.push_back({&code, &seated_[j]->data, &seated_[j]->when, {}, of[j].points});
    }
}

void book_on_gpu::walk::add(std::size_t trade, run::job job) {
    trades.push_back(trade);
    jobs.push_back(std::move(job));
}

book_on_gpu::book_on_gpu(const books::book_state& book, const market& in, const settled& run,
                         const cpu::lane_operations& operations, const std::atomic<bool>* cancel)
    : book_(book),
      run_(run),
      plans_(book.trades.size()),
      other_plans_(book.trades.size()),
      policies_(book.trades.size()) {
    missing_pairs missing;
    const planner as_usual = usual_planner();
    const sources from(run);
    const policy_search by{run, operations, shapes_, cancel, true, from};
    const pilot_of_controls pilots{run, operations, cancel};
    const rewriter rewrites(pilots, from, shapes_, {&in, 1});
    threads::for_each(
        plans_.size(), run.threads, cancel,
        [&](int, std::uint64_t i) {
            const books::trade& t = book.trades[i];
            plans_[i] = plan_one(t, state_of(in), run, shapes_, missing, cancel, as_usual);
            if (!plans_[i].failure && plan::has_rights(t)) find_form(i, state_of(in), by);
            if (plans_[i].needs_paths()) rewrite(i, in, pilots, rewrites);
        },
        [] {});
    choose_points(book.trades, plans_, {run, operations, state_of(in).scenario_cubes(), cancel, from});
    const bool has_other_forms =
        std::ranges::any_of(other_plans_, [](const other_forms& of) { return of.front() != nullptr; });
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        const planned& p = plans_[i];
        const bool has_points = p.points || run.points;
        for (std::size_t form = 0; form < prices_.size() && p.needs_paths(); ++form) {
            if (form > 0 && !has_other_forms) break;
            const auto other = form > 0 ? other_plans_[i][form - 1] : nullptr;
            (has_points ? prices_over_points_ : prices_)[form].add(
                i, other ? walked_job{other, p.points}.job() : p.price_job());
        }
        if (!p.failure && p.rights && p.rights->bounding) bounds_.add(i, p.rights->bounding->job());
    }
    for (auto* const of_source : {&prices_, &prices_over_points_})
        for (walk& w : *of_source) w.on_gpu.emplace(w.jobs);
    bounds_.on_gpu.emplace(bounds_.jobs);
}

void book_on_gpu::find_form(std::size_t trade, const markets::market_state& in, const policy_search& by) {
    constexpr std::uint64_t few_paths = 64;
    const books::trade& t = book_.trades[trade];
    try {
        policy_of_trade of(t, in, by);
        of.prepare(few_paths);
        if (of.to_find() != nullptr && !of.to_find()->is_certain)
            policies_[trade] = cuda::policy_kernels_of(*of.to_find(), cuda::path_reads_of(run_.how));
        of.find(1);
        follow(plans_[trade], t, of, by, 0);
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        plans_[trade].failure = at_trade(t, e);
    }
}

// Applies the control found, and plans the other forms of control that another policy may lead to.
void book_on_gpu::rewrite(std::size_t trade, const market& in, const pilot_of_controls& by,
                          const rewriter& rewrites) {
    planned& p = plans_[trade];
    const planned plain = p;
    const books::trade& t = book_.trades[trade];
    rewrites.rewrite(t, p);
    if (!p.rights || !p.control) return;
    controls::control other = *p.control;
    for (controls::knot& k : other.knots) k.jump = 0;
    if (!p.control->jumps()) other.knots.front().jump = 1;
    std::shared_ptr<const controls::control> none, with = std::make_shared<const controls::control>(other);
    for (std::size_t form = 0; form < other_forms().size(); ++form) {
        const decide::decided_by_trade held{{t.id, {.control = form == 0 ? none : with}}};
        const sources from(run_, nullptr, &held);
        planned so = plain;
        rewriter(by, from, shapes_, {&in, 1}).rewrite(t, so);
        if (!so.failure && (form == 0 || so.control)) other_plans_[trade][form] = so.ready;
    }
}

std::vector<std::string> book_on_gpu::products_of(const std::set<std::size_t>& trades) const {
    std::set<std::string> names;
    for (const std::size_t i : trades) names.insert(book_.trades[i].product_name);
    return {names.begin(), names.end()};
}

std::vector<book_on_gpu::kernel> book_on_gpu::kernels(const std::optional<cuda::tuned_device>& tuned) const {
    std::vector<kernel> out;
    std::set<std::string> texts;
    std::vector<const walk*> walks;
    for (const auto* const of_source : {&prices_, &prices_over_points_})
        for (const walk& w : *of_source) walks.push_back(&w);
    walks.push_back(&bounds_);
    for (const walk* const w : walks) {
        const std::span<const run::job> jobs = w->on_gpu->jobs();
        if (jobs.empty()) continue;
        const bool has_points =
            w >= prices_over_points_.data() && w < prices_over_points_.data() + prices_over_points_.size();
        const cuda::kernel_wish& asked = has_points ? run_.how_of_points : run_.how;
        std::vector<cuda::needed_kernel> needed =
            cuda::kernels_of(jobs, asked, run_.correlation, tuned, run_.points);
        if (has_points) {
            std::vector<std::size_t> all(jobs.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            int number = 0;
            for (std::string& text : random::texts_of_points(program::shock_type(asked.precision),
                                                             program::is_fast(asked.precision)))
                needed.push_back({"fill_points_" + std::to_string(++number), std::move(text), all});
        }
        for (cuda::needed_kernel& k : needed) {
            if (!texts.insert(k.text).second) continue;
            std::set<std::size_t> trades;
            for (const std::size_t j : k.jobs) trades.insert(w->trades[j]);
            if (w == &bounds_) k.name += "_of_bounds";
            if (has_points && k.is_walk) k.name += "_over_points";
            std::vector<std::string> products = products_of(trades);
            out.push_back({std::move(k), jobs, std::move(products), &asked});
        }
    }
    return out;
}

std::vector<book_on_gpu::kernel> book_on_gpu::kernels_of_policies() const {
    struct text {
        std::string name;
        std::set<std::size_t> trades;
    };
    std::map<std::string, text> by_text;
    std::map<std::string, int> count;  // kernels so far, by kind
    std::vector<std::string> in_order;
    for (std::size_t i = 0; i < policies_.size(); ++i) {
        if (!policies_[i]) continue;
        const cuda::policy_kernels& of = *policies_[i];
        constexpr std::array<const char*, 4> names{"paths_of_policy_", "dates_of_policy_", "sums_of_policy_",
                                                   "sweep_of_policy_"};
        for (std::size_t k = 0; k < names.size(); ++k) {
            const std::string name = names[k];
            const std::string& source = of.all()[k]->text;
            const auto [at, is_new] = by_text.try_emplace(source);
            if (is_new) {
                in_order.push_back(source);
                at->second.name = name + std::to_string(++count[name]);
            }
            at->second.trades.insert(i);
        }
    }
    std::vector<kernel> out;
    for (std::string& source : in_order) {
        const text& of = by_text.at(source);
        out.push_back({{.name = of.name, .text = std::move(source), .jobs = {}}, {}, products_of(of.trades)});
    }
    return out;
}

}  // namespace tilewalk::studies
