// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/gpu_trades.h"

#include <map>
#include <set>

#include "engine/cpu/tile_pool.h"

namespace tilewalk::verbs {

gpu_trades::gpu_trades(std::span<const run::job> of) {
    std::map<const program::path_program*, std::size_t> known;
    std::vector<const program::path_program*> shapes;
    for (const run::job& j : of) {
        if (known.emplace(j.code, shapes.size()).second) shapes.push_back(j.code);
    }
    programs_ = plan::unite(shapes);
    data_.reserve(of.size());
    when_.reserve(of.size());
    for (const run::job& j : of) {
        const plan::seat& seat = programs_.seats[known.at(j.code)];
        const program::path_program& code = programs_.programs[seat.program];
        data_.push_back(plan::seated(*j.data, seat, code));
        when_.push_back(plan::seated(*j.when, seat));
        jobs_.push_back({&code, &data_.back(), &when_.back()});
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
