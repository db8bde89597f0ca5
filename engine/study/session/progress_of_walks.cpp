// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/progress_of_walks.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::studies {

namespace {
// Fraction of the current walk kept in reserve for walks that expect() did not count.
constexpr double unexpected = 0.05;
}  // namespace

inner_options progress_of_walks::options_of_walk() {
    inner_options out = options_;
    out.keep_policies = false;
    if (options_.on_progress) out.on_progress = [this](const progress& p) { take_progress(p); };
    return out;
}

void progress_of_walks::begin(double walked, bool is_of_prices) {
    before_ += share_;
    steps_before_ += steps_;
    steps_ = 0;
    left_ = std::max(left_ - walked, 0.0);
    const double later = std::max(left_, unexpected * walked);
    share_ = walked > 0 ? (1 - before_) * walked / (walked + later) : 0;
    is_of_prices_ = is_of_prices;
}

void progress_of_walks::end() {
    if (!options_.on_progress) return;
    done_ = 1;
    priced_ = trades_;
    tell();
}

void progress_of_walks::take_progress(const progress& of_walk) {
    // A walk that starts again must not count backwards.
    steps_ = std::max(steps_, of_walk.path_steps_done);
    const double part = of_walk.path_steps > 0 ? static_cast<double>(of_walk.path_steps_done) /
                                                     static_cast<double>(of_walk.path_steps)
                                               : 0;
    done_ = std::max(done_, before_ + share_ * std::min(part, 1.0));
    if (is_of_prices_) priced_ = std::max(priced_, std::min(of_walk.trades_done, trades_));
    policies_ = std::max(policies_, of_walk.policies);
    policies_done_ = std::max(policies_done_, of_walk.policies_done);
    tell();
}

void progress_of_walks::tell() const {
    progress now;
    now.trades = trades_;
    now.trades_done = priced_;
    now.policies = policies_;
    now.policies_done = policies_done_;
    now.path_steps_done = steps_before_ + steps_;
    // Scaled so that done / total is the fraction finished.
    now.path_steps = done_ > 0 ? std::max(now.path_steps_done,
                                          static_cast<std::uint64_t>(
                                              std::llround(static_cast<double>(now.path_steps_done) / done_)))
                               : 0;
    options_.on_progress(now);
}

}  // namespace tilewalk::studies
