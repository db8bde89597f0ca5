// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/timing.h"

#include <string>

#include "engine/base/machine.h"
#include "engine/walk/units.h"
#include "tilewalk/version.h"

namespace tilewalk::bench {

json about(gpu_timer& on) {
    const cuda::device_properties& p = on.device().properties();
    json out{{"device", p.name},
             {"compute_capability", std::to_string(p.major) + '.' + std::to_string(p.minor)},
             {"multiprocessors", p.multiprocessors},
             {"memory_bytes", p.memory_bytes},
             {"l2_bytes", p.l2_bytes},
             {"clock_mhz", p.clock_khz / 1000}};
    if (const std::string driver = on.clock().driver(); !driver.empty()) out["driver"] = driver;
    const auto survey = cuda::survey_devices();
    out["cuda_of_driver"] = survey.driver;
    out["runtime"] = survey.runtime;
    if (const auto clock = on.clock().now()) {
        out["clock_mhz_seen"] = clock->multiprocessor_mhz;
        out["memory_clock_mhz_seen"] = clock->memory_mhz;
    }
    out["copy_bytes_per_second"] = on.copy_rate();
    out["version"] = std::string(version());
    out["date"] = today();
    return out;
}

json figures_of(const gpu_timer::timing& t) {
    json out{{"milliseconds", t.milliseconds.median},
             {"p10", t.milliseconds.p10},
             {"p90", t.milliseconds.p90},
             {"noise", t.milliseconds.noise},
             {"samples", t.milliseconds.samples}};
    if (t.dropped > 0) out["dropped"] = t.dropped;
    if (t.clock_mhz > 0) out["clock_mhz"] = t.clock_mhz;
    return out;
}

json price_figures(const std::vector<kernels::tile_result>& tiles, std::size_t tiles_of_trade) {
    kernels::tile_result all{};
    for (std::size_t i = 0; i < tiles_of_trade; ++i) all = kernels::merge(all, tiles[i]);
    json out{{"price", all.moments.mean}, {"standard_error", tilewalk::run::standard_error_of(all.moments)}};
    if (all.not_finite > 0) out["not_finite"] = all.not_finite;
    return out;
}

}  // namespace tilewalk::bench
