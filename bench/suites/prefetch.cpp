// SPDX-License-Identifier: Apache-2.0
// Benchmark of feeds (prefetch strategies) at every distance, layout and width, with few warps and with many:
// the fastest way to bring shocks from memory to a path kernel. A row whose tiles differ in a bit from those
// of `none` is wrong.
//
// The study reproduced here compared five strategies (batched and rolling prefetch, to registers and to
// shared memory, and asynchronous copies) by distance. Bank conflicts of its ring in shared memory made
// results uneven, even if padded; indexing without padding was left to the reader: layout `transposed`.
// Widths, `bulk_async`, `l2_prefetch` and the axis of resident warps are ours.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "bench/measure/conditions.h"
#include "bench/measure/conflicts.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "bench/measure/workloads.h"
#include "engine/base/wording.h"
#include "engine/reading/settings/precision_named.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/tuning/way_back_timer.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using cuda::feed_entry;
using cuda::kernel_decision;
using cuda::kernel_wish;
namespace knobs = cuda::knobs;

// The most warps that a multiprocessor holds; a request for this many means as many as fit.
constexpr int most_warps = 64;

struct plan_of_sweep {
    std::vector<const feed_entry*> feeds;
    std::array<std::vector<int>, cuda::knob_table.size()> values;
    std::vector<int> warps;
};

template <class value>
std::vector<value> or_all(const std::vector<value>& asked, std::vector<value> all) {
    return asked.empty() ? std::move(all) : asked;
}

plan_of_sweep plan_for(const request& asked) {
    plan_of_sweep out;
    for (const feed_entry& feed : cuda::feeds()) {
        if (asked.feeds.empty() && !feed.makes_use_of(feed_entry::array)) continue;
        const bool wanted =
            asked.feeds.empty() || std::ranges::find(asked.feeds, feed.name) != asked.feeds.end();
        if (wanted || feed.name == "none") out.feeds.push_back(&feed);
    }
    for (const auto& name : asked.feeds) static_cast<void>(cuda::feed_named(name));
    for (const cuda::knob_id k : cuda::all_knobs())
        out.values[k.at].assign(k.line().swept.begin(), k.line().swept.end());
    std::vector<int> layouts;
    for (const auto& name : asked.layouts) {
        const auto layout = value_of(knobs::layout.line(), name);
        if (!layout) {
            throw error(error_kind::usage,
                        "there is no layout " + config::shown(name) +
                            config::alternatives(name, "there are", value_names(knobs::layout.line())));
        }
        layouts.push_back(*layout);
    }
    const auto narrow = [&](cuda::knob_id k, const std::vector<int>& to) {
        if (!to.empty()) out.values[k.at] = to;
    };
    narrow(knobs::layout, layouts);
    narrow(knobs::distance, asked.distances);
    narrow(knobs::width, asked.widths);
    out.warps = or_all(asked.warps, {64, 32, 16, 8});
    return out;
}

// All kernels of the sweep. The reference, `none` with one path a thread, comes first.
std::vector<kernel_decision> ways_of(const plan_of_sweep& sweep, program::precision in) {
    std::vector<kernel_decision> out;
    kernel_wish wish;
    wish.precision = in;
    for (const feed_entry* feed : sweep.feeds) {
        wish.feed = std::string(feed->name);
        const auto values = [&](cuda::knob_id k) { return std::span<const int>(sweep.values[k.at]); };
        cuda::for_each_setting(*feed, wish, values, [&](kernel_wish one) {
            // Copies half the distance at a time: few large copies beat many small ones.
            if (feed->makes_use_of(knobs::rows)) one[knobs::rows] = std::max(1, *one[knobs::distance] / 2);
            out.push_back(cuda::with_presets(one));
        });
    }
    const auto is_reference = [](const kernel_decision& how) {
        return how.feed == "none" && how[knobs::width] == 1;
    };
    if (std::ranges::none_of(out, is_reference)) {
        wish.feed = "none";
        out.push_back(cuda::with_presets(wish));
    }
    std::stable_partition(out.begin(), out.end(), is_reference);
    return out;
}

json axes_of(const std::string& workload, std::uint64_t paths, const kernel_decision& how, int warps) {
    const feed_entry& feed = cuda::feed_named(how.feed);
    json axes{{"workload", workload},
              {"precision", std::string(program::name_of(how.precision))},
              {"paths", paths},
              {"feed", how.feed}};
    const auto add = [&](cuda::knob_id k) {
        const cuda::knob& of = k.line();
        axes[std::string(of.name)] = of.values.names.empty() ? json(how[k]) : json(text_of(of, how[k]));
    };
    for (const cuda::knob_id k : cuda::all_knobs())
        if (feed.makes_use_of(k) && k != knobs::padding) add(k);
    for (const cuda::knob_id k : cuda::all_knobs())
        if (k.line().of == cuda::knob::part::kernel) add(k);
    axes["warps"] = warps;
    return axes;
}

bool same_bits(const std::vector<kernels::tile_result>& a, const std::vector<kernels::tile_result>& b) {
    static_assert(sizeof(kernels::tile_result) == sizeof(kernels::moments) + 2 * sizeof(kernels::word64));
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
}

class sweeper {
  public:
    sweeper(gpu_timer& on, const workload& of, const request& asked, const sink& to)
        : on_(on), bench_(on, of, asked.paths), sweep_(plan_for(asked)), is_timed_(asked.is_timed), to_(to) {
        if (asked.paths > bench_.paths()) {
            on.says(fmt::format("{}: memory takes {} paths", of.name, bench_.paths()));
        }
    }

    void run() {
        const auto choices = ways_of(sweep_, bench_.timed().precision);
        std::vector<std::string> texts;
        for (const auto& how : choices) {
            if (bench_.why_not(how).empty()) texts.push_back(bench_.text(how));
        }
        on_.compile(texts);
        std::size_t done = 0;
        for (const auto& how : choices) {
            on_.says(fmt::format("{}, {}: {} of {} kernels, {}", bench_.timed().name,
                                 program::name_of(how.precision), ++done, choices.size(), how.feed));
            for (const int warps : sweep_.warps) measure(how, warps);
        }
    }

  private:
    void measure(const kernel_decision& how, int warps) {
        row empty;
        empty.suite = "prefetch";
        empty.axes = axes_of(bench_.timed().name, bench_.paths(), how, warps);
        const bool is_reference = how.feed == "none" && how[knobs::width] == 1;
        if (!is_reference && reference_.contains(warps)) empty.over = reference_.at(warps).axes;
        attempt(std::move(empty), to_, [&](row& out) {
            out.skipped = bench_.why_not(how);
            if (!out.skipped.empty()) return;
            const auto ready = bench_.prepare(how, warps);
            out.figures["registers"] = ready.registers;
            out.figures["shared_bytes"] = ready.shared_bytes;
            out.figures["resident_warps"] = ready.warps;
            if (ready.local_bytes > 0) out.figures["local_bytes"] = ready.local_bytes;
            if (ready.warps != warps && warps < most_warps) {
                out.skipped = fmt::format(
                    "{} warps are resident, of {} registers a thread and {} bytes of shared memory a block",
                    ready.warps, ready.registers, ready.how.shared_bytes);
                return;
            }
            check_then_time(how, ready, out);
            if (is_reference && out.is_result()) reference_.emplace(warps, out);
        });
    }

    void check_then_time(const kernel_decision& how, const path_timer::prepared& ready, row& out) {
        bench_.launch(how, ready);
        const auto tiles = bench_.results();
        if (truth_.empty()) truth_ = tiles;
        out.figures.update(price_figures(tiles, tiles.size() / bench_.timed().trades.size()));
        if (!same_bits(tiles, truth_)) {
            out.wrong = "its tiles differ in bits from those of none";
            return;
        }
        if (!is_timed_) return;
        const auto t = on_.time([&] { bench_.launch(how, ready); });
        out.figures.update(figures_of(t));
        const double seconds = t.milliseconds.median * 1e-3;
        out.figures["path_steps_per_second"] =
            static_cast<double>(bench_.paths() * bench_.timed().path_steps()) / seconds;
        if (const auto bytes = bench_.bytes_read(how); bytes > 0) {
            const double rate = static_cast<double>(bytes) / seconds;
            out.figures["bytes_per_second"] = rate;
            out.figures["share_of_copy"] = rate / on_.copy_rate();
        }
        if (cuda::feed_named(how.feed).makes_use_of(knobs::layout)) {
            out.figures["conflicts"] =
                predicted_passes(cuda::ring_of(how, bench_.timed().code.slots_per_step()));
        }
        if (!out.over.is_null()) {
            const row& reference = reference_.at(out.axes["warps"].get<int>());
            out.figures["ratio"] = reference.figures["milliseconds"].get<double>() / t.milliseconds.median;
        }
    }

    gpu_timer& on_;
    path_timer bench_;
    plan_of_sweep sweep_;
    bool is_timed_;
    const sink& to_;
    std::map<int, row> reference_;  // the reference row by resident warps
    std::vector<kernels::tile_result> truth_;
};

// Times all feeds on a walk forward and back that reads its kept shocks, with as many warps as fit.
class sweeper_back {
  public:
    sweeper_back(gpu_timer& on, const workload& of, const request& asked, const sink& to)
        : on_(on),
          of_(of),
          adjoint_(program::adjoint(of.code, program::all_numbers_of(of.code))),
          data_(program::data_of_back(adjoint_, of.trades.front().data)),
          bench_(on, {&of.code, &of.trades.front().data, &of.trades.front().when, {&adjoint_, &data_}},
                 asked.paths > 0 ? asked.paths : of.paths),
          sweep_(plan_for(asked)),
          is_timed_(asked.is_timed),
          to_(to) {}

    void run() {
        std::vector<cuda::way_back_decision> choices;
        std::vector<std::string> texts;
        for (kernel_decision reads : ways_of(sweep_, of_.precision)) {
            const cuda::way_back_decision by_rules =
                cuda::best_way_back(of_.precision, reads.rounds, of_.code, adjoint_);
            reads[knobs::block] = by_rules.block();
            choices.push_back(cuda::read_by(by_rules, reads));
            if (bench_.why_not(choices.back()).empty()) texts.push_back(bench_.text(choices.back()));
        }
        on_.compile(texts);
        std::size_t done = 0;
        for (const auto& how : choices) {
            on_.says(fmt::format("{}, {}: {} of {} kernels, {}", of_.name, program::name_of(how.precision),
                                 ++done, choices.size(), how.reads.feed));
            measure(how);
        }
    }

  private:
    void measure(const cuda::way_back_decision& how) {
        row empty;
        empty.suite = "prefetch";
        empty.axes = axes_of(of_.name, bench_.paths(), how.reads, most_warps);
        if (reference_) empty.over = reference_->axes;
        attempt(std::move(empty), to_, [&](row& out) {
            out.skipped = bench_.why_not(how);
            if (!out.skipped.empty()) return;
            const auto built = bench_.figures(how);
            out.figures["registers"] = built.registers;
            out.figures["shared_bytes"] = built.shared_bytes;
            out.figures["resident_warps"] = built.warps;
            if (built.local_bytes > 0) out.figures["local_bytes"] = built.local_bytes;
            const tilewalk::run::tally found = bench_.found(how);
            if (!truth_) truth_ = found;
            out.figures["price"] = found.whole().moments.mean;
            out.figures["derivatives"] = found.derivatives();
            // Bits must equal those of feed `none`; in single_fast a feed may change the last bit.
            if (!program::is_fast(how.precision) && !(found == *truth_)) {
                out.wrong = "its price or its derivatives differ in bits from those of none";
                return;
            }
            if (!is_timed_) return;
            const auto t = bench_.time(how);
            out.figures.update(figures_of(t));
            const double seconds = t.milliseconds.median * 1e-3;
            out.figures["path_steps_per_second"] =
                static_cast<double>(bench_.paths() * of_.path_steps()) / seconds;
            // Kept shocks are written once and read once.
            const double rate = 2 * static_cast<double>(bench_.bytes_kept(how)) / seconds;
            out.figures["bytes_per_second"] = rate;
            out.figures["share_of_copy"] = rate / on_.copy_rate();
            if (reference_)
                out.figures["ratio"] =
                    reference_->figures["milliseconds"].get<double>() / t.milliseconds.median;
            if (!reference_) reference_ = out;
        });
    }

    gpu_timer& on_;
    const workload& of_;
    const program::adjoint_program adjoint_;
    const program::path_data data_;
    tuning::way_back_timer bench_;
    plan_of_sweep sweep_;
    bool is_timed_;
    const sink& to_;
    std::optional<row> reference_;
    std::optional<tilewalk::run::tally> truth_;
};

}  // namespace

void check_prefetch(const request& asked) {
    static_cast<void>(plan_for(asked));
    for (const auto& name : asked.precisions) static_cast<void>(precision_named(name));
    if (!asked.subject.empty()) check_subject(asked.subject);
    if (goes_back(asked.subject) && !asked.warps.empty())
        throw error(error_kind::usage, "the workload '" + asked.subject +
                                           "' has as many resident warps as fit, and no choice of them");
}

void run_prefetch(gpu_timer& on, const request& asked, const sink& to) {
    const auto precisions = or_all<std::string>(asked.precisions, {"double"});
    std::vector<std::string> subjects;
    if (asked.subject.empty()) {
        for (const workload_entry& w : workloads()) {
            if (!w.by_name_only) subjects.emplace_back(w.name);
        }
    } else {
        subjects.push_back(asked.subject);
    }
    for (const auto& name : precisions) {
        const auto in = precision_named(name);
        for (const auto& subject : subjects) {
            for (const workload& of : workloads_named(subject, in, on.says)) {
                if (goes_back(subject))
                    sweeper_back(on, of, asked, to).run();
                else
                    sweeper(on, of, asked, to).run();
            }
            if (!goes_back(subject)) read_conditions(on, asked, subject, name, to);
        }
    }
}

}  // namespace tilewalk::bench
