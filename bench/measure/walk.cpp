// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/walk.h"

#include <cmath>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cuda/best_choice.h"
#include "engine/cuda/kernel_text.h"
#include "engine/market/market_state.h"
#include "kernels/tile.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using kernels::tile_result;

constexpr std::uint32_t merge_threads = 256;  // of the kernel's text

cuda::packed_trades packed(const planned_walk& of) {
    const tilewalk::run::job job{&of.code, &of.trade.data, &of.trade.when};
    const bool is_single = of.how.precision == arithmetic::precision::single ||
                           of.how.precision == arithmetic::precision::single_fast;
    auto out = cuda::pack({&job, 1}, is_single ? cuda::number_type::single : cuda::number_type::double_);
    if (out.failures.at(0)) throw *out.failures[0];
    return out;
}

}  // namespace

std::string planned_walk::text() const {
    return cuda::path_kernel_text(code, how);
}

planned_walk plan_walk(const std::string& text, const cuda::kernel_choice& how) {
    const book b = book::parse(text, "benchmark");
    const auto& trade = b.state().trades.at(0);
    if (trade.failure) throw *trade.failure;
    planned_walk out{plan::plan_trade(trade, b.market()->state(), how.precision), {}, how};
    out.code = how.precision == arithmetic::precision::single_fast ? program::contract(out.trade.code)
                                                                   : out.trade.code;
    out.how = best_choice(how, out.code, [](const cuda::kernel_choice&, int) { return true; });
    return out;
}

estimate estimate_of(const tile_result& all) {
    const double n = all.moments.count;
    return {all.moments.mean, std::sqrt(all.moments.m2 / (n - 1) / n)};
}

walk::walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths) : walk(on, of, paths, packed(of)) {}

walk::walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths, const cuda::packed_trades& packed)
    : on_(on),
      reduction_(cuda::reduction_named(of.how.reduction)),
      paths_(paths),
      tiles_(kernels::tiles_of(paths)),
      walk_(on.find(of.text(), "walk")),
      merge_(on.find(cuda::merge_kernel_text(), "merge_tiles")),
      numbers_(on.uploaded(packed.numbers)),
      words_(on.uploaded(packed.words)),
      record_(on.uploaded(packed.records)),
      results_(on.device(), tiles_ * sizeof(tile_result)),
      merged_(on.device(), sizeof(tile_result)),
      finished_(on.device(), sizeof(kernels::word32)),
      payoffs_(on.device(),
               reduction_.stores_payoffs ? tiles_ * kernels::paths_per_tile * sizeof(double) : 0),
      waits_(on.device(), {on.stream()}) {
    check(reduction_, on.device().properties());
    how_.blocks = static_cast<std::uint32_t>(tiles_);
    how_.threads = static_cast<std::uint32_t>(of.how.threads);
    how_.shared_bytes = static_cast<std::uint32_t>(cuda::path_kernel_shared_bytes(of.code, of.how));
    arguments_.trades = record_.as<kernels::trade_record>();
    arguments_.numbers = numbers_.as<void>();
    arguments_.words = words_.as<kernels::word32>();
    arguments_.results = results_.as<tile_result>();
    arguments_.merged = merged_.as<tile_result>();
    arguments_.finished = finished_.as<kernels::word32>();
    arguments_.payoffs = payoffs_.as<double>();
    arguments_.seed = seed;
    arguments_.keys = kernels::schedule_of(seed);
    arguments_.paths = paths_;
    arguments_.trade_count = 1;
    arguments_.tiles = static_cast<kernels::word32>(tiles_);
    arguments_.part_tiles = arguments_.tiles;
    // No result yet, so that a kernel that leaves none is found out.
    on.device().fill(merged_.as<void>(), 0xff, merged_.bytes(), on.stream());
}

void walk::run(const kernels::array_argument& normals) {
    cuda::device& device = on_.device();
    if (reduction_.merges_tiles) device.fill(finished_.as<void>(), 0, finished_.bytes(), on_.stream());
    arguments_.normal = normals;
    void* of_walk[] = {&arguments_};
    on_.run(walk_, how_, of_walk);
    if (reduction_.stores_payoffs) {
        device.reduce_stored({payoffs(), results_.as<tile_result>(), 1, tiles_, 0, paths_}, on_.stream());
    }
    if (reduction_.merges_tiles) return;
    kernels::merge_arguments merge{results_.as<tile_result>(), merged_.as<tile_result>(),
                                   static_cast<kernels::word32>(tiles_),
                                   static_cast<kernels::word32>(tiles_)};
    void* of_merge[] = {&merge};
    cuda::launch how;
    how.threads = merge_threads;
    on_.run(merge_, how, of_merge);
}

tile_result walk::result() {
    return on_.downloaded<tile_result>(merged_.as<void>(), 1).at(0);
}

}  // namespace tilewalk::bench
