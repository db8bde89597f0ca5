// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/walk.h"

#include <algorithm>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/tally.h"
#include "engine/walk/units.h"
#include "kernels/tile.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using kernels::tile_result;

cuda::packed_trades packed(const planned_walk& of) {
    const tilewalk::run::job job{&of.code, &of.trade.data, &of.trade.when};
    auto out = cuda::pack({&job, 1}, program::real_type(of.how.precision));
    if (out.failures.at(0)) throw *out.failures[0];
    return out;
}

}  // namespace

std::string planned_walk::text() const {
    return cuda::path_kernel_text(code, how);
}

planned_walk plan_walk(const std::string& text, const cuda::kernel_wish& how) {
    const book b = book::parse(text, "benchmark");
    const auto& trade = state_of(b).trades.at(0);
    if (trade.failure) throw *trade.failure;
    planned_walk out{plan::plan_trade(trade, state_of(*b.market()), how.precision), {}, {}};
    out.code = program::is_fast(how.precision) ? program::contract(out.trade.code) : out.trade.code;
    out.how = decide(how, out.code, [](const cuda::kernel_decision&, int) { return true; });
    return out;
}

estimate estimate_of(const tile_result& all) {
    return {all.moments.mean, tilewalk::run::standard_error_of(all.moments)};
}

timed_walk::timed_walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths)
    : timed_walk(on, of, paths, packed(of)) {}

timed_walk::timed_walk(gpu_timer& on, const planned_walk& of, std::uint64_t paths,
                       const cuda::packed_trades& packed)
    : on_(on),
      walk_(on.find(of.text(), "walk")),
      merge_(on.find(cuda::merge_kernel_text(), "merge_tiles")),
      numbers_(on.uploaded(packed.numbers)),
      words_(on.uploaded(packed.words)),
      record_(on.uploaded(packed.records)),
      results_(on.device(), cuda::reduction_named(of.how.reduction), cuda::chunk::whole(seed, paths), 1),
      waits_(on.device(), {on.stream()}) {
    check(cuda::reduction_named(of.how.reduction), on.device().properties());
    how_ = cuda::launch_of(of.code, of.how, 1, kernels::tiles_of(paths));
    arguments_ = results_.arguments();
    arguments_.trades = record_.as<kernels::trade_record>();
    arguments_.numbers = numbers_.as<void>();
    arguments_.words = words_.as<kernels::word32>();
    arguments_.trade_count = 1;
    // Results are first overwritten (the parts with NaN), to detect a kernel that writes none.
    results_.clear(on.stream());
    on.device().fill(results_.parts(), 0xff, results_.number_of_parts() * sizeof(tile_result), on.stream());
}

void timed_walk::run(const kernels::array_argument& normals) {
    results_.begin(on_.stream());
    arguments_.normal = normals;
    void* of_walk[] = {&arguments_};
    on_.run(walk_, how_, of_walk);
    results_.merge(merge_, on_.stream());
}

tile_result timed_walk::result() {
    const auto parts = on_.downloaded<tile_result>(results_.parts(), results_.number_of_parts());
    const cuda::chunk& of = results_.walked();
    tilewalk::run::tally all(of.tiles.count, of.run_part_tiles);
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const kernels::word64 first = p * of.run_part_tiles;
        all.add({first, std::min(of.run_part_tiles, of.tiles.count - first)}, parts[p]);
    }
    return all.whole();
}

}  // namespace tilewalk::bench
