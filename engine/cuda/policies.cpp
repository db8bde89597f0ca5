// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/policies.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "engine/cpu/crew.h"
#include "engine/cuda/device_crew.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/packed_trades.h"
#include "engine/cuda/policy_kernels.h"
#include "kernels/exercise/leaving_arguments.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

using exercise::untrained;
using kernels::word32;
using kernels::word64;

// The most that a launch takes of a device, where more is free: eight American options of 50 dates, which
// keep all multiprocessors at work (bench/results/2026-11-25-NVIDIA-H100-80GB-HBM3-policies.txt).
constexpr std::uint64_t most_bytes_of_launch = std::uint64_t{3} << 29;

// Trades with the same kernels, paths and sizes.
struct group {
    std::vector<std::size_t> trades;
    policy_kernels text;
    word64 paths = 0;
    // By architecture: of the paths, of the way back, and of that through every second date, if there is one.
    std::map<std::string, std::array<std::shared_ptr<const std::string>, 3>> cubins;

    word64 tiles() const { return kernels::tiles_of(paths); }
    word64 pitch() const { return tiles() * kernels::paths_per_tile; }
    bool has_gain() const { return !text.every_second.text.empty(); }
    std::size_t sums() const {
        const kernels::backward_sizes& of = text.all.sizes;
        return static_cast<std::size_t>(kernels::most_sums(of.features, of.functions, of.moves));
    }
    // Without those of its program, which are few.
    std::size_t bytes_of(const untrained& t) const {
        const std::size_t by_path = t.rows * sizeof(double) + 4 * sizeof(double) + 2 * sizeof(word32);
        return by_path * pitch() + (2 * sums() * sizeof(double) + 2 * sizeof(word32)) * tiles();
    }
};

// Numbers that are found of so many dates.
std::size_t numbers_of(const kernels::backward_sizes& of, std::size_t dates) {
    return dates * static_cast<std::size_t>(kernels::numbers_of_date(of.features, of.functions, of.moves)) +
           static_cast<std::size_t>(kernels::numbers_of_end(of.moves));
}

// Some trades of a group, for one launch.
struct piece {
    const group* of;
    std::span<const std::size_t> trades;
};

// Places in one block of memory.
class places {
  public:
    template <class value>
    std::size_t take(std::size_t count) {
        const std::size_t at = size_;
        size_ += (count * sizeof(value) + 255) / 256 * 256;
        return at;
    }
    std::size_t size() const { return size_; }

  private:
    std::size_t size_ = 0;
};

// The memory of a launch: what is uploaded, what is downloaded, and what is used between.
class launch_memory {
  public:
    launch_memory(device& on, const group& of, std::span<const untrained* const> trades)
        : of_(of), trades_(trades), packed_(pack(jobs(), program::number_type::double_)) {
        for (const auto& failure : packed_.failures)
            if (failure) throw error(*failure);
        lay_out();
        memory_.emplace(on, end_);
        fill();
    }

    void upload(device& on, stream s) const { on.upload(at<void>(0), image_.data(), image_.size(), s); }
    void clear(device& on, stream s) const {
        on.fill(at<void>(arrived_), 0, 2 * trades_.size() * sizeof(word32), s);
    }
    std::vector<double> download(device& on, stream s) const {
        std::vector<double> out(found_count_);
        on.download(out.data(), at<void>(found_), found_count_ * sizeof(double), s);
        return out;
    }

    kernels::leaving_arguments leaving(std::uint64_t seed) const {
        kernels::leaving_arguments a{};
        a.forth.trades = at<kernels::trade_record>(records_);
        a.forth.numbers = at<void>(numbers_);
        a.forth.words = at<word32>(words_);
        a.forth.seed = seed;
        a.forth.keys = kernels::schedule_of(seed);
        a.forth.paths = of_.paths;
        a.forth.trade_count = static_cast<word32>(trades_.size());
        a.forth.tiles = static_cast<word32>(of_.tiles());
        a.left = at<kernels::left_array>(left_);
        a.first_rows = at<word32>(first_rows_);
        return a;
    }
    kernels::backward_arguments backward(bool every_second, word32 blocks_of_trade) const {
        return {at<kernels::backward_trade>(trade_records_) + (every_second ? trades_.size() : 0),
                blocks_of_trade};
    }

  private:
    std::vector<run::job> jobs() const {
        std::vector<run::job> out;
        for (const untrained* t : trades_) out.push_back({&t->made.code, &t->made.data, &t->made.when, {}});
        return out;
    }
    template <class value>
    value* at(std::size_t place) const {
        return reinterpret_cast<value*>(memory_->as<std::byte>() + place);
    }

    // What is uploaded stands first.
    void lay_out() {
        const std::size_t count = trades_.size(), sections = trades_[0]->made.code.sections.size();
        std::size_t dates = 0;
        for (const untrained* t : trades_) dates += t->dates.size();
        places all;
        numbers_ = all.take<std::byte>(packed_.numbers.size());
        words_ = all.take<word32>(packed_.words.size());
        records_ = all.take<kernels::trade_record>(count);
        left_ = all.take<kernels::left_array>(count);
        first_rows_ = all.take<word32>(count * sections);
        trade_records_ = all.take<kernels::backward_trade>(2 * count);
        dates_ = all.take<kernels::backward_date>(2 * dates);
        image_.resize(all.size());
        arrived_ = all.take<word32>(2 * count);
        for (const untrained* t : trades_) {
            found_count_ += numbers_of(of_.text.all.sizes, t->dates.size());
            if (of_.has_gain())
                found_count_ += numbers_of(of_.text.every_second.sizes, t->every_second_date().size());
        }
        found_ = all.take<double>(found_count_);
        for (const untrained* t : trades_) {
            const std::size_t pitch = of_.pitch(), tiles = of_.tiles();
            work_.push_back({all.take<double>(t->rows * pitch), all.take<double>(4 * pitch),
                             all.take<word32>(2 * pitch), all.take<word32>(2 * tiles),
                             all.take<double>(2 * tiles * of_.sums())});
        }
        end_ = all.size();
    }

    void fill() {
        const auto put = [&](std::size_t place, const void* from, std::size_t bytes) {
            if (bytes > 0) std::memcpy(image_.data() + place, from, bytes);
        };
        put(numbers_, packed_.numbers.data(), packed_.numbers.size());
        put(words_, packed_.words.data(), packed_.words.size() * sizeof(word32));
        put(records_, packed_.records.data(), packed_.records.size() * sizeof(kernels::trade_record));
        std::size_t date_place = dates_, found = 0;
        const auto put_dates = [&](const untrained& t, std::span<const std::size_t> numbers) {
            for (const std::size_t k : numbers) {
                const untrained::date& d = t.dates[k];
                const kernels::backward_date date{d.first_row, d.found.root,
                                                  d.found.of == language::party::holder ? 1u : 0u};
                put(date_place, &date, sizeof date);
                date_place += sizeof date;
            }
        };
        for (std::size_t k = 0; k < trades_.size(); ++k) {
            const untrained& t = *trades_[k];
            const work& w = work_[k];
            const std::size_t sections = t.leaves.size(), pitch = of_.pitch();
            const kernels::left_array left{at<double>(w.left), pitch};
            put(left_ + k * sizeof left, &left, sizeof left);
            for (std::size_t i = 0; i < sections; ++i) {
                const auto first = static_cast<word32>(t.leaves[i].first_row);
                put(first_rows_ + (k * sections + i) * sizeof first, &first, sizeof first);
            }
            kernels::backward_trade r{};
            r.left = at<double>(w.left);
            r.pitch = pitch;
            r.end_row = t.end_row;
            r.last_root = t.by.last_root;
            r.total = at<double>(w.by_path);
            r.worth = r.total + pitch;
            r.estimate = r.worth + pitch;
            r.counted = at<word32>(w.counted);
            r.counts = at<word32>(w.counts);
            r.sums = at<double>(w.sums);
            r.paths = static_cast<word32>(of_.paths);
            const auto put_record = [&](std::size_t place, const kernels::backward_sizes& sizes,
                                        std::span<const std::size_t> dates) {
                r.dates = at<kernels::backward_date>(date_place);
                r.date_count = static_cast<word32>(dates.size());
                r.found = at<double>(found_) + found;
                r.arrived = at<word32>(arrived_) + place;
                put(trade_records_ + place * sizeof r, &r, sizeof r);
                put_dates(t, dates);
                found += numbers_of(sizes, dates.size());
            };
            std::vector<std::size_t> all(t.dates.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            put_record(k, of_.text.all.sizes, all);
            if (!of_.has_gain()) continue;
            r.others = r.total;
            r.total = r.estimate + pitch;
            std::vector<std::size_t> some = t.every_second_date();
            std::ranges::reverse(some);
            put_record(trades_.size() + k, of_.text.every_second.sizes, some);
        }
    }

    struct work {
        std::size_t left, by_path, counted, counts, sums;
    };
    const group& of_;
    std::span<const untrained* const> trades_;
    packed_trades packed_;
    std::vector<std::byte> image_;
    std::size_t numbers_ = 0, words_ = 0, records_ = 0, left_ = 0, first_rows_ = 0, trade_records_ = 0,
                dates_ = 0, arrived_ = 0, found_ = 0, found_count_ = 0, end_ = 0;
    std::vector<work> work_;
    std::optional<device_memory> memory_;
};

// Reads the numbers of a policy, from `found` on, and passes them. Throws tilewalk::error (numeric) where a
// path had no finite number.
exercise::policy policy_from(const untrained& t, const group& of, const double*& found) {
    const kernels::backward_sizes& sizes = of.text.all.sizes;
    exercise::policy out = t.by;
    out.paths = t.paths;
    const auto read = [&](std::vector<double>& into, int count) {
        into.assign(found, found + count);
        found += count;
    };
    const auto read_side = [&](exercise::fitted_side& into) {
        read(into.coefficients, sizes.functions);
        into.low = *found++;
        into.high = *found++;
        into.rank = static_cast<std::size_t>(*found++);
    };
    for (const untrained::date& d : t.dates) {
        exercise::decision_date& to = out.dates.emplace_back(d.found);
        read(to.means, sizes.features);
        read(to.scales, sizes.features);
        read_side(to.paid);
        read_side(to.unpaid);
        read(to.slopes, sizes.moves * sizes.functions);
    }
    const double plain = found[1] / static_cast<double>(t.paths);
    found += 2;
    read(out.first_slopes, sizes.moves);
    const bool is_finite = *found == 0;
    found += 3;
    exercise::decide_today(out, plain);
    if (of.has_gain()) {
        found += numbers_of(of.text.every_second.sizes, t.every_second_date().size());
        if (!out.is_used_today) exercise::take_gain(out, t.paths, found[-2], found[-1]);
    }
    if (!is_finite) exercise::throw_not_finite();
    return out;
}

// The search for policies on some devices.
class search {
  public:
    search(std::span<const untrained* const> of, std::uint64_t seed,
           std::span<const std::shared_ptr<loaded_device>> on, counted_kernels& kernels,
           std::uint64_t memory_bytes, const std::atomic<bool>* cancel, gpu_facts& facts)
        : of_(of),
          seed_(seed),
          on_(on),
          kernels_(kernels),
          cancel_(cancel),
          facts_(facts),
          found_(of.size()) {
        open(memory_bytes);
    }

    std::vector<policies::found> run(int threads) {
        gather();
        compile(threads);
        cut();
        shared_pieces pieces(pieces_.size(), [this] { return is_stopped(); });
        const auto work = [&](std::size_t d) { work_on(d, pieces); };
        if (on_.size() == 1) {
            work(0);
        } else {
            at_work crew(on_.size(), work);
            while (!crew.end_within(std::chrono::milliseconds(50))) {
            }
        }
        if (is_stopped()) throw error(error_kind::cancelled, "the run was stopped");
        facts_.device_seconds = facts_.kernel_seconds = std::ranges::max(seconds_);
        for (const std::size_t open : pieces.open())
            for (const auto& share : facts_.shares)
                if (share.lost) fail(pieces_[open].trades, *share.lost);
        return std::move(found_);
    }

  private:
    void open(std::uint64_t memory_bytes) {
        facts_.shares.resize(on_.size());
        seconds_.resize(on_.size());
        architectures_.resize(on_.size());
        for (std::size_t d = 0; d < on_.size(); ++d) {
            try {
                device& on = on_[d]->get();
                const word64 free = on.free_bytes() / 4 * 3;
                room_ = std::min({room_, free, memory_bytes == 0 ? free : word64{memory_bytes}});
                const device_properties& p = on.properties();
                shared_bytes_ = std::min(shared_bytes_, p.shared_bytes_per_block);
                most_trades_ = std::min(most_trades_, static_cast<std::size_t>(p.multiprocessors));
                architectures_[d] = p.architecture();
            } catch (const device_error& e) {
                facts_.shares[d].lost = e;
            }
        }
    }

    void gather() {
        std::map<std::tuple<std::string, std::string, std::string, word64>, std::size_t> known;
        for (std::size_t i = 0; i < of_.size(); ++i) {
            const untrained& t = *of_[i];
            if (!is_found_on_gpus(t)) continue;
            policy_kernels text = policy_kernels_of(t);
            if (text.all.shared_bytes > shared_bytes_) continue;
            const auto [at, is_new] = known.try_emplace(
                {text.leaving, text.all.text, text.every_second.text, t.paths}, groups_.size());
            if (is_new) {
                group& made = groups_.emplace_back();
                made.text = std::move(text);
                made.paths = t.paths;
            }
            groups_[at->second].trades.push_back(i);
        }
    }

    void compile(int threads) {
        std::vector<std::string> targets = architectures_;
        std::ranges::sort(targets);
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        std::erase(targets, "");
        for (group& g : groups_)
            for (const std::string& target : targets) g.cubins[target];
        // The three texts of a group by different threads, because each takes seconds.
        const std::size_t texts = 3 * targets.size();
        cpu::for_each(groups_.size() * texts, threads, cancel_,
                      [&](int, std::uint64_t i) {
                          group& g = groups_[i / texts];
                          const std::string& target = targets[i % texts / 3];
                          const std::array of{&g.text.leaving, &g.text.all.text, &g.text.every_second.text};
                          const std::string& text = *of[i % 3];
                          if (text.empty()) return;
                          try {
                              auto cubin = kernels_.cubin({text, target, {}});
                              g.cubins.at(target)[i % 3] = std::move(cubin);
                          } catch (const error& e) {
                              if (e.kind() == error_kind::cancelled) throw;
                              fail(g.trades, e);
                          }
                      },
                      {});
    }

    void fail(std::span<const std::size_t> trades, const error& why) {
        const std::lock_guard guard(lock_);
        for (const std::size_t i : trades)
            if (!found_[i].failure && !found_[i].by) found_[i].failure = why;
    }

    // A piece has as many trades as there is room for, and there is one for every device if there can be.
    void cut() {
        for (group& g : groups_) {
            std::erase_if(g.trades, [&](std::size_t i) { return found_[i].failure.has_value(); });
            const std::size_t share = (g.trades.size() + on_.size() - 1) / on_.size();
            std::size_t first = 0;
            while (first < g.trades.size()) {
                std::size_t count = 0, bytes = 0;
                for (; first + count < g.trades.size() && count < std::min(share, most_trades_); ++count) {
                    bytes += g.bytes_of(*of_[g.trades[first + count]]);
                    if (count > 0 && bytes > room_) break;
                }
                pieces_.push_back({&g, std::span(g.trades).subspan(first, count)});
                first += count;
            }
        }
    }

    bool is_stopped() const { return cancel_ != nullptr && cancel_->load(); }

    // Works on pieces until there are none. What a device can't do fails the trades of the piece; a device
    // that is lost leaves its piece to the others.
    void work_on(std::size_t d, shared_pieces& pieces) {
        gpu_facts::share& share = facts_.shares[d];
        if (share.lost) return;
        while (const std::optional<std::size_t> taken = pieces.take()) {
            try {
                find(d, pieces_[*taken]);
                share.has_walked = true;
            } catch (const device_error& e) {
                if (e.is_final()) {
                    share.lost = e;
                    pieces.give_back(*taken);
                    return;
                }
                fail(pieces_[*taken].trades, e);
            } catch (const error& e) {
                fail(pieces_[*taken].trades, e);
            } catch (const std::exception& e) {
                fail(pieces_[*taken].trades, error(error_kind::internal, e.what()));
            }
            pieces.finish();
        }
    }

    void find(std::size_t number, const piece& p) {
        loaded_device& on = *on_[number];
        device& d = on.get();
        const group& g = *p.of;
        std::vector<const untrained*> trades;
        for (const std::size_t i : p.trades) trades.push_back(of_[i]);
        const auto& cubins = g.cubins.at(architectures_[number]);
        const kernel leave = on.find(cubins[0], "leave");
        const owned_stream s = new_stream(d);
        const launch_memory memory(d, g, trades);
        in_flight work(d, {s.get()});
        memory.upload(d, s.get());
        memory.clear(d, s.get());
        const owned_event begun = new_event(d, s.get());

        kernels::leaving_arguments leaving = memory.leaving(seed_);
        launch walk;
        walk.blocks = static_cast<std::uint32_t>(trades.size() * g.tiles());
        walk.threads = g.text.leaving_threads;
        walk.shared_bytes = g.text.leaving_shared_bytes;
        void* leaving_arguments[] = {&leaving};
        d.run(leave, walk, leaving_arguments, s.get());

        go_back(on, g.text.all, cubins[1], memory, false, trades.size(), g.tiles(), s.get());
        if (g.has_gain())
            go_back(on, g.text.every_second, cubins[2], memory, true, trades.size(), g.tiles(), s.get());
        const owned_event ended = new_event(d, s.get());
        const std::vector<double> numbers = memory.download(d, s.get());
        d.wait(s.get());
        work.end();
        take(p, numbers);
        const std::lock_guard guard(lock_);
        facts_.launches += g.has_gain() ? 3u : 2u;
        seconds_[number] += d.milliseconds_between(begun.get(), ended.get()) / 1000;
    }

    // Launches a way back, with as many blocks for each trade as are there at once.
    static void go_back(loaded_device& on, const policy_kernels::way_back& how,
                        const std::shared_ptr<const std::string>& cubin, const launch_memory& memory,
                        bool every_second, std::size_t trades, word64 tiles, stream s) {
        device& d = on.get();
        const kernel find_policy = on.find(cubin, "find_policy");
        launch sweep;
        sweep.threads = how.threads;
        sweep.shared_bytes = how.shared_bytes;
        const auto resident =
            static_cast<std::size_t>(d.attributes(find_policy, sweep).blocks_per_multiprocessor) *
            static_cast<std::size_t>(d.properties().multiprocessors);
        const std::size_t of_trade = std::clamp<std::size_t>(resident / trades, 1, tiles);
        sweep.blocks = static_cast<std::uint32_t>(trades * of_trade);
        sweep.together = of_trade > 1;
        kernels::backward_arguments a = memory.backward(every_second, static_cast<word32>(of_trade));
        void* arguments[] = {&a};
        d.run(find_policy, sweep, arguments, s);
    }

    void take(const piece& p, const std::vector<double>& numbers) {
        const double* next = numbers.data();
        for (const std::size_t i : p.trades) {
            try {
                found_[i].by = policy_from(*of_[i], *p.of, next);
            } catch (const error& e) {
                found_[i].failure = e;
            }
        }
    }

    std::span<const untrained* const> of_;
    const std::uint64_t seed_;
    std::span<const std::shared_ptr<loaded_device>> on_;
    counted_kernels& kernels_;
    const std::atomic<bool>* cancel_;
    gpu_facts& facts_;
    word64 room_ = most_bytes_of_launch;
    std::size_t shared_bytes_ = ~std::size_t{0}, most_trades_ = ~std::size_t{0};
    std::vector<std::string> architectures_;  // by device; empty: it is lost
    std::vector<double> seconds_;             // by device
    std::vector<group> groups_;
    std::vector<piece> pieces_;
    std::mutex lock_;  // guards what several devices or compilers write
    std::vector<policies::found> found_;
};

}  // namespace

std::vector<policies::found> policies::find(std::span<const untrained* const> of, std::uint64_t seed,
                                            const std::atomic<bool>* cancel) {
    return search(of, seed, on_, kernels_, memory_bytes_, cancel, facts_).run(threads_);
}

gpu_facts policies::facts() const {
    gpu_facts out = facts_;
    out.kernels_compiled = kernels_.compiled();
    out.kernels_from_cache = kernels_.from_cache();
    return out;
}

}  // namespace tilewalk::cuda
