// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/quarters.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/base/crew.h"
#include "kernels/tile.h"
#include "products/program/quarters.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

namespace {

// True if paths can be tallied by quarters of tiles, and whole tiles are too few. Points need no quarters:
// their error is the spread of randomisations. Stored payoffs are summed by tile alone. A last tile without
// its last quarter would leave a part without paths.
bool has_quarters(const settled& run) {
    const std::uint64_t in_last = (run.paths - 1) % kernels::paths_per_tile + 1;
    return kernels::tiles_of(run.paths) < least_parts && run.unit_paths == 0 && run.replay.empty() &&
           run.how.reduction != "store" && in_last > kernels::paths_per_tile - kernels::paths_of_quarter;
}

class programs_with_quarters {
  public:
    std::shared_ptr<const program::path_program> one_of(
        const std::shared_ptr<const program::path_program>& plain) {
        const std::lock_guard guard(lock_);
        auto& [of, made] = made_[plain.get()];
        if (made) return made;
        of = plain;
        program::path_program code = *plain;
        for (std::uint32_t j = 0; j < kernels::quarters_of_tile; ++j)
            code.crossed.push_back(program::quarter_of(0, j));
        made = std::make_shared<const program::path_program>(std::move(code));
        return made;
    }

  private:
    struct entry {
        std::shared_ptr<const program::path_program> of, made;  // `of` keeps the key alive
    };
    std::mutex lock_;
    std::map<const program::path_program*, entry> made_;
};

}  // namespace

void tally_quarters(std::span<planned> plans, const settled& run, const std::atomic<bool>* cancel) {
    if (!has_quarters(run)) return;
    programs_with_quarters programs;
    threads::for_each(plans.size(), run.threads, cancel,
                      [&](int, std::uint64_t k) {
                          planned& p = plans[k];
                          if (!p.needs_paths()) return;
                          auto ready = std::make_shared<ready_trade>(*p.ready);
                          ready->code = programs.one_of(ready->code);
                          p.ready = std::move(ready);
                      },
                      {});
}

std::vector<double> means_of_quarters(const run::tally& of) {
    std::vector<std::vector<kernels::moments>> by_quarter;
    for (std::size_t k = 0; k < of.crossed().size(); ++k)
        if (program::is_quarter(of.crossed()[k])) by_quarter.push_back(of.parts(of.outputs() + k));
    std::vector<double> out;
    if (by_quarter.empty()) return out;
    for (std::size_t tile = 0; tile < by_quarter.front().size(); ++tile)
        for (const std::vector<kernels::moments>& quarter : by_quarter) out.push_back(quarter[tile].mean);
    return out;
}

}  // namespace tilewalk::studies
