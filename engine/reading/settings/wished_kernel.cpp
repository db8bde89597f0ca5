// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/settings/wished_kernel.h"

#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "tilewalk/error.h"

namespace tilewalk {

cuda::kernel_wish wished_kernel(const run_settings& all) {
    cuda::kernel_wish wish;
    wish.precision = *all.precision;
    const random::catalogue_entry& source = random::source_of(*all.random, false, random::back_end::gpu);
    random::check_precision(source, wish.precision);
    wish.reads_shocks = source.rounds == 0 || all.replay;
    if (source.rounds != 0) wish.rounds = source.rounds;
    if (*all.prefetch != "auto") wish.feed = *all.prefetch;
    if (wish.reads_shocks && !cuda::reads_shocks(wish)) {
        throw error(error_kind::usage,
                    "prefetch is '" + *wish.feed + "', which makes its own shocks, but " +
                        (all.replay ? "a replay" : "the random source '" + *all.random + "'") +
                        " supplies shocks; name a feed that reads them, or auto");
    }
    for (const cuda::knob_id k : cuda::all_knobs()) wish[k] = cuda::asked_value(k.line(), all);
    wish.space = all.space.value_or(wish.space);
    wish.row_space = all.row_space.value_or(wish.row_space);
    wish.reduction = *all.reduction;
    return wish;
}

}  // namespace tilewalk
