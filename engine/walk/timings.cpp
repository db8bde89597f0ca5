// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/timings.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace tilewalk {

namespace {

constexpr std::array<std::string_view, stages_of_a_run> names{
    "reading the book",
    "reading the market",
    "opening GPUs",
    "planning",
    "policies",
    "controls",
    "importance",
    "points",
    "derivatives",
    "packing",
    "building kernels",
    "walking paths",
    "shadows",
    "bounds",
    "rows",
    "answers",
    "writing",
    "ending",
};
static_assert(static_cast<std::size_t>(stage::ending) + 1 == stages_of_a_run);

std::size_t place_of(stage what) {
    return static_cast<std::size_t>(what);
}

double seconds_of(timings::clock::duration d) {
    return std::chrono::duration<double>(d).count();
}

long long tenths_of(double seconds) {
    return std::llround(seconds * 1e4);
}

std::string milliseconds_text(long long tenths) {
    return fmt::format("{}{}.{}", tenths < 0 ? "-" : "", std::abs(tenths) / 10, std::abs(tenths) % 10);
}

}  // namespace

timings::during::during(timings* of, stage what) : of_(of) {
    if (of_ != nullptr) of_->begin(what);
}

timings::during::~during() {
    if (of_ != nullptr) of_->end();
}

timings::beside::~beside() {
    if (of_ != nullptr) of_->add_beside(what_, clock::now() - begin_);
}

void timings::add_beside(stage what, clock::duration taken) {
    const std::lock_guard guard(lock_);
    beside_[place_of(what)] += taken;
}

void timings::give_to_current(clock::time_point now) {
    if (!open_.empty()) taken_[place_of(open_.back())] += now - since_;
    since_ = now;
}

void timings::begin(stage what) {
    const std::lock_guard guard(lock_);
    give_to_current(clock::now());
    open_.push_back(what);
}

void timings::end() {
    const std::lock_guard guard(lock_);
    give_to_current(clock::now());
    open_.pop_back();
}

timings::account timings::so_far() const {
    const std::lock_guard guard(lock_);
    const clock::time_point now = clock::now();
    account out;
    clock::duration other = now - begin_;
    for (std::size_t s = 0; s < stages_of_a_run; ++s) {
        clock::duration taken = taken_[s];
        if (!open_.empty() && place_of(open_.back()) == s) taken += now - since_;
        out.stages.push_back({names[s], seconds_of(taken), seconds_of(beside_[s])});
        other -= taken;
    }
    out.stages.push_back({"other", seconds_of(other)});
    out.seconds = seconds_of(now - begin_);
    return out;
}

std::string text_of(const timings::account& of) {
    const long long total = tenths_of(of.seconds);
    std::string out = fmt::format("{:<18}  {:>10}  {:>7}  {:>10}\n{:-<18}  {:->10}  {:->7}  {:->10}\n",
                                  "stage", "ms", "share", "beside, ms", "", "", "", "");
    const auto add = [&](std::string_view name, long long taken, double beside) {
        const double share = total > 0 ? 100.0 * static_cast<double>(taken) / static_cast<double>(total) : 0;
        std::string line = fmt::format("{:<18}  {:>10}  {:>5.1f} %", name, milliseconds_text(taken), share);
        if (beside > 0) line += fmt::format("  {:>10}", milliseconds_text(tenths_of(beside)));
        out += line + '\n';
    };
    // The last row is the total less the others, so that rounded rows add up.
    long long left = total;
    for (const timings::row& r : of.stages) {
        const bool is_last = &r == &of.stages.back();
        const long long taken = is_last ? left : tenths_of(r.seconds);
        add(r.name, taken, r.beside_seconds);
        left -= taken;
    }
    add("all", total, 0);
    const bool any_beside =
        std::any_of(of.stages.begin(), of.stages.end(), [](const auto& r) { return r.beside_seconds > 0; });
    if (any_beside) out += "beside: of other threads while the stages of the table ran; in no sum\n";
    return out;
}

}  // namespace tilewalk
