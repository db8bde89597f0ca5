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

// The most that a launch takes of a device, where more is free: six American options of 50 dates, whose
// sweeps are as many blocks as the multiprocessors of an H200 have room for.
constexpr std::uint64_t most_bytes_of_launch = std::uint64_t{3} << 29;

// Trades with the same kernels, paths and sizes.
struct group {
    std::vector<std::size_t> trades;
    policy_kernels text;
    word64 paths = 0;
    bool has_gain = false;
    struct built {
        std::shared_ptr<const std::string> leaving, of_dates, of_sums, of_sweep;
        std::array<std::shared_ptr<const std::string>*, 4> all() {
            return {&leaving, &of_dates, &of_sums, &of_sweep};
        }
    };
    std::map<std::string, built> cubins;  // by architecture

    word64 tiles() const { return kernels::tiles_of(paths); }
    word64 pitch() const { return tiles() * kernels::paths_per_tile; }
    std::size_t sweeps() const { return has_gain ? 2 : 1; }
    // Without those of its program, which are few.
    std::size_t bytes_of(const untrained& t) const {
        const kernels::backward_sizes& of = text.sizes;
        const std::size_t dates = t.dates.size() + 1;
        const std::size_t by_path =
            (t.rows + 2 * dates + 2 * sweeps()) * sizeof(double) + dates * sizeof(kernels::path_in_tile);
        const auto by_tile = static_cast<std::size_t>(of.numbers_of_tile()) * dates +
                             static_cast<std::size_t>(2 * of.numbers_of_sweep()) * sweeps() + dates;
        return by_path * pitch() + by_tile * tiles() * sizeof(double);
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
    // `room` is made larger where it is too small, and must not be used by others.
    launch_memory(device& on, const group& of, std::span<const untrained* const> trades,
                  std::optional<device_memory>& room)
        : of_(of), trades_(trades), packed_(pack(jobs(), program::number_type::double_)) {
        for (const auto& failure : packed_.failures)
            if (failure) throw error(*failure);
        lay_out();
        if (!room || room->bytes() < end_) {
            room.reset();
            room.emplace(on, end_);
        }
        memory_ = room->as<std::byte>();
        fill();
    }

    void upload(device& on, stream s) const { on.upload(at<void>(0), image_.data(), image_.size(), s); }
    void clear(device& on, stream s) const {
        on.fill(at<void>(arrived_), 0, of_.sweeps() * trades_.size() * sizeof(word32), s);
        on.fill(at<void>(found_), 0, found_count_ * sizeof(double), s);
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
    std::size_t most_dates() const { return most_dates_; }
    kernels::backward_arguments backward(word32 blocks_of_sweep, word32 blocks_of_others) const {
        return {at<kernels::backward_trade>(trade_records_),
                at<kernels::backward_sweep>(sweep_records_),
                static_cast<word32>(of_.tiles()),
                static_cast<word32>(most_dates_),
                blocks_of_sweep,
                blocks_of_others,
                static_cast<word32>(trades_.size())};
    }

  private:
    std::vector<run::job> jobs() const {
        std::vector<run::job> out;
        for (const untrained* t : trades_) out.push_back({&t->made.code, &t->made.data, &t->made.when, {}});
        return out;
    }
    template <class value>
    value* at(std::size_t place) const {
        return reinterpret_cast<value*>(memory_ + place);
    }

    // What is uploaded stands first.
    void lay_out() {
        const std::size_t count = trades_.size(), sections = trades_[0]->made.code.sections.size();
        const kernels::backward_sizes& sizes = of_.text.sizes;
        std::size_t dates = 0;
        for (const untrained* t : trades_) {
            dates += t->dates.size();
            most_dates_ = std::max(most_dates_, t->dates.size() + 1);
        }
        places all;
        numbers_ = all.take<std::byte>(packed_.numbers.size());
        words_ = all.take<word32>(packed_.words.size());
        records_ = all.take<kernels::trade_record>(count);
        left_ = all.take<kernels::left_array>(count);
        first_rows_ = all.take<word32>(count * sections);
        trade_records_ = all.take<kernels::backward_trade>(count);
        sweep_records_ = all.take<kernels::backward_sweep>(of_.sweeps() * count);
        dates_ = all.take<kernels::backward_date>(dates + count);
        numbers_of_dates_ = all.take<word32>(of_.sweeps() * dates);
        image_.resize(all.size());
        arrived_ = all.take<word32>(of_.sweeps() * count);
        for (const untrained* t : trades_) found_count_ += numbers_of(sizes, t->dates.size());
        found_ = all.take<double>(found_count_);
        const std::size_t pitch = of_.pitch(), tiles = of_.tiles();
        for (const untrained* t : trades_) {
            const std::size_t with_today = t->dates.size() + 1;
            work w{};
            w.left = all.take<double>(t->rows * pitch);
            w.paid = all.take<double>(with_today * pitch);
            w.rest = all.take<double>(with_today * pitch);
            w.listed = all.take<kernels::path_in_tile>(with_today * pitch);
            w.counts = all.take<word32>(2 * with_today * tiles);
            w.sums = all.take<double>(with_today * tiles * static_cast<std::size_t>(sizes.numbers_of_tile()));
            w.by_date = all.take<double>(with_today * static_cast<std::size_t>(sizes.numbers_between()));
            for (std::size_t s = 0; s < of_.sweeps(); ++s)
                w.sweeps[s] = {
                    all.take<double>(2 * pitch),
                    all.take<double>(2 * tiles * static_cast<std::size_t>(sizes.numbers_of_sweep()))};
            work_.push_back(w);
        }
        end_ = all.size();
    }

    void fill() {
        put(numbers_, packed_.numbers.data(), packed_.numbers.size());
        put(words_, packed_.words.data(), packed_.words.size() * sizeof(word32));
        put(records_, packed_.records.data(), packed_.records.size() * sizeof(kernels::trade_record));
        std::size_t date_place = dates_, number_place = numbers_of_dates_, found = found_;
        for (std::size_t k = 0; k < trades_.size(); ++k) {
            const untrained& t = *trades_[k];
            const work& w = work_[k];
            const std::size_t sections = t.leaves.size(), pitch = of_.pitch();
            put_one(left_ + k * sizeof(kernels::left_array), kernels::left_array{at<double>(w.left), pitch});
            for (std::size_t i = 0; i < sections; ++i)
                put_one(first_rows_ + (k * sections + i) * sizeof(word32),
                        static_cast<word32>(t.leaves[i].first_row));
            kernels::backward_trade r{};
            r.left = at<double>(w.left);
            r.pitch = pitch;
            r.dates = at<kernels::backward_date>(date_place);
            r.end_row = t.end_row;
            r.listed = at<kernels::path_in_tile>(w.listed);
            r.counts = at<word32>(w.counts);
            r.sums = at<double>(w.sums);
            r.by_date = at<double>(w.by_date);
            r.paid = at<double>(w.paid);
            r.rest = at<double>(w.rest);
            r.found = at<double>(found);
            r.date_count = static_cast<word32>(t.dates.size());
            r.paths = static_cast<word32>(of_.paths);
            put_one(trade_records_ + k * sizeof r, r);
            found += numbers_of(of_.text.sizes, t.dates.size()) * sizeof(double);
            put_dates(t, date_place);
            std::vector<std::size_t> all(t.dates.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            put_sweep(k, 0, all, number_place);
            if (!of_.has_gain) continue;
            std::vector<std::size_t> some = t.every_second_date();
            std::ranges::reverse(some);
            put_sweep(k, 1, some, number_place);
        }
    }
    // The dates of a trade, and today, each with the interval that begins there.
    void put_dates(const untrained& t, std::size_t& place) {
        for (std::size_t d = 0; d <= t.dates.size(); ++d) {
            const bool is_today = d == t.dates.size();
            const std::size_t next = is_today ? 0 : d + 1;
            kernels::backward_date date{};
            if (!is_today) {
                date.first_row = t.dates[d].first_row;
                date.is_holders = t.dates[d].found.of == language::party::holder ? 1u : 0u;
            }
            if (next < t.dates.size()) {
                date.after_row = t.dates[next].first_row + t.row_of_sums();
                date.after_root = t.dates[next].found.root;
            } else {
                date.after_row = t.end_row + 1;
                date.after_root = t.by.last_root;
            }
            put_one(place, date);
            place += sizeof date;
        }
    }
    void put_sweep(std::size_t trade, std::size_t number, std::span<const std::size_t> dates,
                   std::size_t& place) {
        const work::sweep& w = work_[trade].sweeps[number];
        const std::size_t at_record = number * trades_.size() + trade;
        kernels::backward_sweep r{};
        r.dates = at<word32>(place);
        r.total = at<double>(w.by_path);
        r.worth = r.total + of_.pitch();
        r.sums = at<double>(w.sums);
        r.arrived = at<word32>(arrived_) + at_record;
        r.trade = static_cast<word32>(trade);
        r.date_count = static_cast<word32>(dates.size());
        r.is_kept = number == 0 ? 1u : 0u;
        put_one(sweep_records_ + at_record * sizeof r, r);
        for (const std::size_t d : dates) {
            put_one(place, static_cast<word32>(d));
            place += sizeof(word32);
        }
    }
    void put(std::size_t place, const void* from, std::size_t bytes) {
        if (bytes > 0) std::memcpy(image_.data() + place, from, bytes);
    }
    template <class value>
    void put_one(std::size_t place, const value& x) {
        put(place, &x, sizeof x);
    }

    struct work {
        struct sweep {
            std::size_t by_path, sums;
        };
        std::size_t left, paid, rest, listed, counts, sums, by_date;
        std::array<sweep, 2> sweeps;
    };
    const group& of_;
    std::span<const untrained* const> trades_;
    packed_trades packed_;
    std::vector<std::byte> image_;
    std::size_t numbers_ = 0, words_ = 0, records_ = 0, left_ = 0, first_rows_ = 0, trade_records_ = 0,
                sweep_records_ = 0, dates_ = 0, numbers_of_dates_ = 0, arrived_ = 0, found_ = 0,
                found_count_ = 0, end_ = 0, most_dates_ = 0;
    std::vector<work> work_;
    std::byte* memory_ = nullptr;
};

// Reads the numbers of a policy, from `found` on, and passes them. Throws tilewalk::error (numeric) where a
// path had no finite number.
exercise::policy policy_from(const untrained& t, const group& of, const double*& found) {
    const kernels::backward_sizes& sizes = of.text.sizes;
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
    if (of.has_gain && !out.is_used_today) exercise::take_gain(out, t.paths, found[-2], found[-1]);
    if (!is_finite) exercise::throw_not_finite();
    return out;
}

// The search for policies on some devices.
class search {
  public:
    search(std::span<const untrained* const> of, std::uint64_t seed,
           std::span<const std::shared_ptr<loaded_device>> on, counted_kernels& kernels,
           std::uint64_t memory_bytes, kernels::path_reads reads, const std::atomic<bool>* cancel,
           gpu_facts& facts)
        : of_(of),
          seed_(seed),
          reads_(reads),
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
        // Two for each device, so that one reads and makes ready while the other's work is done there.
        const std::size_t workers = pieces_.size() > on_.size() ? 2 * on_.size() : on_.size();
        seconds_.resize(workers);
        const auto work = [&](std::size_t w) { work_on(w % on_.size(), w, pieces); };
        if (workers == 1) {
            work(0);
        } else {
            at_work crew(workers, work);
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
        architectures_.resize(on_.size());
        for (std::size_t d = 0; d < on_.size(); ++d) {
            try {
                device& on = on_[d]->get();
                const word64 free = on.free_bytes() / 4 * 3;
                room_ = std::min({room_, free / 2, memory_bytes == 0 ? free : word64{memory_bytes} / 2});
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
        std::map<std::tuple<std::string, std::string, bool, word64>, std::size_t> known;
        for (std::size_t i = 0; i < of_.size(); ++i) {
            const untrained& t = *of_[i];
            if (!is_found_on_gpus(t)) continue;
            policy_kernels text = policy_kernels_of(t, reads_);
            if (text.most_bytes() > shared_bytes_) text = policy_kernels_of(t);
            if (text.most_bytes() > shared_bytes_) continue;
            const auto [at, is_new] =
                known.try_emplace({text.leaving, text.of_sums, t.has_gain(), t.paths}, groups_.size());
            if (is_new) {
                group& made = groups_.emplace_back();
                made.text = std::move(text);
                made.paths = t.paths;
                made.has_gain = t.has_gain();
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
        // The four texts of a group by different threads, because some take seconds.
        const std::size_t texts = 4 * targets.size();
        cpu::for_each(
            groups_.size() * texts, threads, cancel_,
            [&](int, std::uint64_t i) {
                group& g = groups_[i / texts];
                const std::string& target = targets[i % texts / 4];
                try {
                    *g.cubins.at(target).all()[i % 4] = kernels_.cubin({*g.text.texts()[i % 4], target, {}});
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
    void work_on(std::size_t d, std::size_t worker, shared_pieces& pieces) {
        gpu_facts::share& share = facts_.shares[d];
        const auto is_lost = [&] {
            const std::lock_guard guard(lock_);
            return share.lost.has_value();
        };
        std::optional<device_memory> room;
        while (!is_lost()) {
            const std::optional<std::size_t> taken = pieces.take();
            if (!taken) return;
            try {
                find(d, worker, pieces_[*taken], room);
                const std::lock_guard guard(lock_);
                share.has_walked = true;
            } catch (const device_error& e) {
                if (e.is_final()) {
                    {
                        const std::lock_guard guard(lock_);
                        share.lost = e;
                    }
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

    void find(std::size_t number, std::size_t worker, const piece& p, std::optional<device_memory>& room) {
        loaded_device& on = *on_[number];
        device& d = on.get();
        const group& g = *p.of;
        std::vector<const untrained*> trades;
        for (const std::size_t i : p.trades) trades.push_back(of_[i]);
        const auto& cubins = g.cubins.at(architectures_[number]);
        const kernel leave = on.find(cubins.leaving, "leave");
        const owned_stream s = new_stream(d);
        const launch_memory memory(d, g, trades, room);
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
        const unsigned launches = 1 + go_back(on, g, cubins, memory, trades.size(), s.get());
        const owned_event ended = new_event(d, s.get());
        const std::vector<double> numbers = memory.download(d, s.get());
        d.wait(s.get());
        work.end();
        take(p, numbers);
        const std::lock_guard guard(lock_);
        facts_.launches += launches;
        seconds_[worker] += d.milliseconds_between(begun.get(), ended.get()) / 1000;
    }

    // Launches the way back; see kernels/exercise/backward_kernel.h. Returns how many launches it took.
    static unsigned go_back(loaded_device& on, const group& g, const group::built& cubins,
                            const launch_memory& memory, std::size_t trades, stream s) {
        device& d = on.get();
        unsigned launches = 0;
        const auto run = [&](const std::shared_ptr<const std::string>& in, const char* name,
                             const launch& how, word32 blocks_of_sweep = 0, word32 blocks_of_others = 0) {
            kernels::backward_arguments a = memory.backward(blocks_of_sweep, blocks_of_others);
            void* arguments[] = {&a};
            d.run(on.find(in, name), how, arguments, s);
            ++launches;
        };
        launch of_tiles, of_dates, of_trades, sweep;
        of_dates.blocks = static_cast<std::uint32_t>(trades * memory.most_dates());
        of_dates.threads = kernels::paths_of_block;
        of_dates.shared_bytes = g.text.date_bytes();
        of_tiles.blocks = of_dates.blocks * static_cast<std::uint32_t>(g.tiles());
        of_tiles.threads = kernels::paths_of_block;
        of_tiles.shared_bytes = g.text.tile_bytes();
        const auto of_sums = [&](bool are_few) {
            launch out = of_tiles;
            out.threads = g.text.sums(are_few).threads;
            out.shared_bytes = g.text.sums(are_few).bytes;
            return out;
        };
        const launch of_fits = of_sums(g.text.sizes.has_few_fits()),
                     of_slopes = of_sums(g.text.sizes.has_few_slopes());
        of_trades.blocks = static_cast<std::uint32_t>(trades);
        of_trades.threads = threads_of_gain;
        of_trades.shared_bytes = sizeof(double);
        for (const char* name : {"list_paths", "sum_features", "sum_squares"})
            run(cubins.of_dates, name, of_tiles);
        run(cubins.of_sums, "sum_functions", of_fits);
        run(cubins.of_dates, "make_factors", of_dates);

        // As many blocks for each sweep as are there at once, each with as many tiles. Sweeps of every second
        // date take twice as many, and as long.
        sweep.threads = kernels::backward_sizes::threads_of_sweep;
        sweep.shared_bytes = g.text.sweep_bytes();
        const auto resident =
            static_cast<std::size_t>(
                d.attributes(on.find(cubins.of_sweep, "sweep"), sweep).blocks_per_multiprocessor) *
            static_cast<std::size_t>(d.properties().multiprocessors);
        const auto blocks_of = [&](std::size_t tiles_of_block) {
            return (g.tiles() + tiles_of_block - 1) / tiles_of_block;
        };
        std::size_t blocks = 0, others = 0, tiles_of_block = 0;
        do {
            ++tiles_of_block;
            blocks = blocks_of(tiles_of_block);
            others = g.has_gain ? blocks_of(2 * tiles_of_block) : 0;
        } while (blocks > 1 && trades * (blocks + others) > resident);
        sweep.blocks = static_cast<std::uint32_t>(trades * (blocks + others));
        sweep.together = blocks > 1;
        run(cubins.of_sweep, "sweep", sweep, static_cast<word32>(blocks), static_cast<word32>(others));
        if (g.has_gain) run(cubins.of_dates, "find_gain", of_trades);
        if (g.text.sizes.moves == 0) return launches;
        run(cubins.of_sums, "sum_moves", of_slopes);
        run(cubins.of_dates, "begin_slopes", of_dates);
        for (int k = 0; k < kernels::steps_to_slopes; ++k) {
            run(cubins.of_sums, "sum_image", of_slopes);
            run(cubins.of_dates, "step_slopes", of_dates);
        }
        return launches;
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
    const kernels::path_reads reads_;
    std::span<const std::shared_ptr<loaded_device>> on_;
    counted_kernels& kernels_;
    const std::atomic<bool>* cancel_;
    gpu_facts& facts_;
    word64 room_ = most_bytes_of_launch;
    std::size_t shared_bytes_ = ~std::size_t{0}, most_trades_ = ~std::size_t{0};
    std::vector<std::string> architectures_;  // by device; empty: it is lost
    std::vector<double> seconds_;             // by worker
    std::vector<group> groups_;
    std::vector<piece> pieces_;
    std::mutex lock_;  // guards what several devices or compilers write
    std::vector<policies::found> found_;
};

}  // namespace

std::vector<policies::found> policies::find(std::span<const untrained* const> of, std::uint64_t seed,
                                            const std::atomic<bool>* cancel) {
    return search(of, seed, on_, kernels_, memory_bytes_, reads_, cancel, facts_).run(threads_);
}

gpu_facts policies::facts() const {
    gpu_facts out = facts_;
    out.kernels_compiled = kernels_.compiled();
    out.kernels_from_cache = kernels_.from_cache();
    return out;
}

}  // namespace tilewalk::cuda
