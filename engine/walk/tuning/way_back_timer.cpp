// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/way_back_timer.h"

#include <algorithm>
#include <utility>

#include "engine/base/crew.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/compile/feeds.h"

namespace tilewalk::tuning {

using cuda::way_back_decision;

namespace {

constexpr std::uint64_t seed = 42;

}  // namespace

std::string way_back_timer::text(const way_back_decision& how) const {
    return cuda::way_back_kernel_of(*of_.code, *of_.back.code, how).text;
}

std::string way_back_timer::why_not(const way_back_decision& how) const {
    const auto& p = on_.device().properties();
    try {
        cuda::check(how.reads, of_.code->slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block});
    } catch (const error& e) {
        return e.message();
    }
    const std::size_t shared = cuda::way_back_kernel_of(*of_.code, *of_.back.code, how).shared_bytes;
    if (shared <= p.shared_bytes_per_block) return {};
    return "it takes " + std::to_string(shared) + " bytes of shared memory a block, of " +
           std::to_string(p.shared_bytes_per_block);
}

way_back_timer::kernel_figures way_back_timer::figures(const way_back_decision& how) {
    const cuda::way_back_kernel built = cuda::way_back_kernel_of(*of_.code, *of_.back.code, how);
    cuda::launch with;
    with.threads = static_cast<std::uint32_t>(how.block());
    with.shared_bytes = built.shared_bytes;
    const auto attributes = on_.device().attributes(on_.find(built.text, "walk_both_ways"), with);
    return {attributes.blocks_per_multiprocessor * how.block() / 32, attributes.registers,
            attributes.local_bytes, with.shared_bytes};
}

double way_back_timer::walk(const way_back_decision& how, std::optional<run::tally>* into) {
    cuda::ways_back walks(
        {&on_.loaded(), 1}, on_.kernels(), [&](const run::job&) { return how; }, 0, threads::usable_cores());
    run::walk all;
    all.seed = seed;
    all.paths = paths_;
    all.jobs = {&of_, 1};
    all.cancel = on_.cancel;
    const auto failures = walks.walk(all, [&](std::size_t, const run::tally& got) {
        if (into != nullptr) *into = got;
    });
    if (failures.front()) throw error(*failures.front());
    return walks.facts().kernel_seconds * 1e3;
}

run::tally way_back_timer::found(const way_back_decision& how) {
    std::optional<run::tally> out;
    walk(how, &out);
    return std::move(out.value());
}

gpu_timer::timing way_back_timer::time(const way_back_decision& how) {
    return on_.time_of([&] { return walk(how); });
}

std::optional<double> way_back_timer::sample(const way_back_decision& how) {
    return on_.sample_of([&] { return walk(how); });
}

std::uint64_t way_back_timer::bytes_kept(const way_back_decision& how) const {
    if (!how.keeps_shocks) return 0;
    return paths_ * of_.when->steps() * static_cast<std::uint64_t>(of_.code->slots_per_step()) *
           bytes_of(program::shock_type(how.precision));
}

}  // namespace tilewalk::tuning
