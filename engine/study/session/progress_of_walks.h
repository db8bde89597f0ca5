// SPDX-License-Identifier: Apache-2.0
// Progress over several walks, as a fraction that rises from 0 to 1 and never falls.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "engine/decide/inner_options.h"
#include "tilewalk/options.h"

namespace tilewalk::studies {

class progress_of_walks {
  public:
    progress_of_walks(const inner_options& options, std::size_t trades)
        : options_(options), trades_(trades) {}
    progress_of_walks(const progress_of_walks&) = delete;
    progress_of_walks& operator=(const progress_of_walks&) = delete;

    // Returns options for a walk that reports here and keeps no policies. This object must outlive them.
    inner_options options_of_walk();
    // Sets the number of trades of all further walks together.
    void expect(double walked) { left_ = walked; }
    // Begins a walk of so many trades. `is_of_prices`: the walk's finished trades are those reported.
    void begin(double walked, bool is_of_prices = false);
    void end();

  private:
    void take_progress(const progress& of_walk);
    void tell() const;

    const inner_options& options_;
    std::size_t trades_, priced_ = 0;
    double left_ = 0;                // trades to walk after the current walk
    double before_ = 0, share_ = 0;  // fractions: before the current walk, of this walk
    double done_ = 0;                // fraction finished
    std::uint64_t steps_before_ = 0, steps_ = 0;
    bool is_of_prices_ = false;
    std::size_t policies_ = 0, policies_done_ = 0;  // in the walk with most policies
};

// Progress of walks on two workers at a time. `prices` counts a trade once in each market.
class progress_of_blocks {
  public:
    progress_of_blocks(const inner_options& options, std::size_t prices) : options_(options) {
        now_.trades = prices;
    }
    // Returns options for a walk of so many prices, without kept policies. This object must outlive them.
    inner_options options_of_walk(std::size_t worker, std::size_t prices) {
        inner_options out = options_;
        out.keep_policies = false;
        if (options_.on_progress)
            out.on_progress = [this, worker, prices](const progress& p) { take_progress(worker, prices, p); };
        return out;
    }
    void end(std::size_t worker, std::size_t prices) {
        if (!options_.on_progress) return;
        const std::lock_guard guard(lock_);
        at_work_[worker] = 0;
        now_.trades_done += prices;
        tell();
    }

  private:
    void take_progress(std::size_t worker, std::size_t prices, const progress& of_walk) {
        const std::lock_guard guard(lock_);
        const double part =
            static_cast<double>(of_walk.path_steps_done) / static_cast<double>(of_walk.path_steps);
        if (of_walk.path_steps > 0) at_work_[worker] = static_cast<double>(prices) * std::min(1.0, part);
        now_.policies = std::max(now_.policies, of_walk.policies);
        now_.policies_done = std::max(now_.policies_done, of_walk.policies_done);
        tell();
    }
    void tell() {
        constexpr double fine = 1000;
        const double done = static_cast<double>(now_.trades_done) + at_work_[0] + at_work_[1];
        now_.path_steps = static_cast<std::uint64_t>(fine * static_cast<double>(now_.trades));
        now_.path_steps_done =
            std::max(now_.path_steps_done, static_cast<std::uint64_t>(std::llround(fine * done)));
        options_.on_progress(now_);
    }

    const inner_options& options_;
    std::mutex lock_;
    progress now_;
    std::array<double, 2> at_work_{};  // by worker: prices done, with fractions
};

}  // namespace tilewalk::studies
