// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/gpu_trades.h"

#include <set>
#include <utility>

#include "engine/cpu/tile_pool.h"

namespace tilewalk::verbs {

namespace {

std::vector<run::job> jobs_of(std::span<const std::shared_ptr<const ready_trade>> trades) {
    std::vector<run::job> jobs;
    jobs.reserve(trades.size());
    for (const auto& t : trades) jobs.push_back(t->job());
    return jobs;
}

}  // namespace

gpu_trades::gpu_trades(std::span<const run::job> of) {
    unite(of, nullptr);
    seat(of, nullptr);
}

gpu_trades::gpu_trades(std::vector<std::shared_ptr<const ready_trade>> of, const gpu_trades* before)
    : given_(std::move(of)) {
    const std::vector<run::job> jobs = jobs_of(given_);
    unite(jobs, before);
    seat(jobs, before);
}

// Shapes are known by their places, which stay theirs as long as the trades before are held.
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

void gpu_trades::seat(std::span<const run::job> of, const gpu_trades* before) {
    const bool are_alike = before != nullptr && united_ == before->united_;
    seated_.reserve(of.size());
    jobs_.reserve(of.size());
    for (std::size_t j = 0; j < of.size(); ++j) {
        const plan::seat& seat = united_->programs.seats[united_->places.at(of[j].code)];
        const program::path_program& code = united_->programs.programs[seat.program];
        if (are_alike && j < before->given_.size() && before->given_[j] == given_[j]) {
            seated_.push_back(before->seated_[j]);
        } else {
            seated_.push_back(std::make_shared<const seated_trade>(
                seated_trade{plan::seated(*of[j].data, seat, code), plan::seated(*of[j].when, seat)}));
        }
        jobs_.push_back({&code, &seated_[j]->data, &seated_[j]->when});
    }
}

book_on_gpu::book_on_gpu(const books::book_state& book, const markets::market_state& in, const settled& run,
                         const std::atomic<bool>* cancel)
    : book_(book), plans_(book.trades.size()) {
    missing_pairs missing;
    const planner by = usual_planner();
    cpu::for_each(
        plans_.size(), run.threads, cancel,
        [&](int, std::uint64_t i) {
            plans_[i] = plan_one(book.trades[i], in, run, shapes_, missing, cancel, by);
        },
        [] {});
    std::vector<run::job> jobs;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
        if (!plans_[i].needs_paths()) continue;
        walks_.push_back(i);
        jobs.push_back(plans_[i].ready->job());
    }
    trades_.emplace(jobs);
}

std::vector<std::string> book_on_gpu::products_of(const cuda::needed_kernel& k) const {
    std::set<std::string> names;
    for (const std::size_t j : k.jobs) names.insert(book_.trades[walks_[j]].product_name);
    return {names.begin(), names.end()};
}

}  // namespace tilewalk::verbs
