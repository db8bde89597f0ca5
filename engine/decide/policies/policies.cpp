// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/policies/policies.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/decide/exercise/swing.h"
#include "engine/decide/policies/policy_fits.h"
#include "engine/decide/policies/policy_kernels.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/paths/shock_cubes.h"
#include "kernels/exercise/leaving_arguments.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

using exercise::untrained;
using kernels::word32;
using kernels::word64;

// Limit on the memory of a launch, even if more is free. Six American options of 50 dates need as much, and
// their sweeps fill the multiprocessors of an H200.
constexpr std::uint64_t most_bytes_of_launch = std::uint64_t{3} << 29;

// Trades with the same kernels, number of paths and scenario arrays, which launches can train together.
struct group {
    std::vector<std::size_t> trades;
    std::span<const arrays::shock_cube> scenarios;
    policy_kernels built;
    word64 paths = 0;
    bool has_gain = false;

    word64 tiles() const { return kernels::tiles_of(paths); }
    word64 pitch() const { return tiles() * kernels::paths_per_tile; }
    std::size_t sweeps() const { return has_gain ? 2 : 1; }
    // Returns the bytes that a trade's training needs, but for those of its program, which are few.
    std::size_t bytes_of(const untrained& t) const {
        const policy_fits of(t);
        const std::size_t dates = of.dates.size();
        // Scenario rows count as if no two steps read the same row.
        const std::size_t rows = t.rows + t.made.data.scenarios.size() * t.made.when.steps();
        const std::size_t by_path =
            (rows + dates + of.fits.size() + 2 * of.levels * sweeps()) * sizeof(double) +
            dates * sizeof(kernels::path_in_tile);
        const std::size_t by_tile =
            sums_of_tile(of) + numbers_of_sweep(of.most_of_a_date()) * sweeps() + dates;
        return by_path * pitch() + by_tile * tiles() * sizeof(double);
    }
    // Return the numbers that a tile needs: over all dates or fits, in the stage with most; and in a sweep.
    std::size_t sums_of_tile(const policy_fits& of) const {
        return std::max(of.dates.size() * static_cast<std::size_t>(built.sizes.numbers_of_tile()),
                        of.fits.size() * static_cast<std::size_t>(built.sizes.slopes()));
    }
    std::size_t numbers_of_sweep(std::size_t fits_of_date) const {
        return 2 * fits_of_date * static_cast<std::size_t>(built.sizes.numbers_of_sweep());
    }
};

std::size_t numbers_of(const kernels::backward_sizes& of, const policy_fits& fits) {
    return fits.dates_to_come() * static_cast<std::size_t>(kernels::numbers_of_date(of.features)) +
           fits.fits_to_come() * static_cast<std::size_t>(kernels::numbers_of_fit(of.functions, of.moves)) +
           fits.today().fits * static_cast<std::size_t>(kernels::numbers_of_today(of.moves)) +
           kernels::numbers_of_end;
}

// Trades of one group that are trained in one launch.
struct piece {
    const group* of;
    std::span<const std::size_t> trades;
};

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

// The device memory of a launch: what is uploaded, what is downloaded, and scratch space.
class launch_memory {
  public:
    // Lays out the memory in `room`, enlarged if it is too small. Nobody else may use `room` meanwhile.
    launch_memory(device& on, const group& of, std::span<const untrained* const> trades,
                  std::optional<device_memory>& room)
        : of_(of), trades_(trades), packed_(pack(jobs(), program::number_type::double_)) {
        for (const auto& failure : packed_.failures)
            if (failure) throw error(*failure);
        for (const untrained* t : trades_) {
            const policy_fits& made = fits_.emplace_back(*t);
            most_dates_ = std::max(most_dates_, made.dates.size());
            most_fits_ = std::max(most_fits_, made.fits.size());
            fits_of_date_ = std::max(fits_of_date_, made.most_of_a_date());
        }
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
        a.forth.scenario = {at<void>(scenarios_), of_.pitch(), 0, 0};
        a.left = at<kernels::left_array>(left_);
        a.first_rows = at<word32>(first_rows_);
        return a;
    }
    // The greatest counts of any trade of the launch: dates (today included), fits, and fits on one date.
    std::size_t most_dates() const { return most_dates_; }
    std::size_t most_fits() const { return most_fits_; }
    std::size_t fits_of_date() const { return fits_of_date_; }
    kernels::backward_arguments backward(word32 blocks_of_sweep, word32 blocks_of_others) const {
        return {at<kernels::backward_trade>(trade_records_),
                at<kernels::backward_sweep>(sweep_records_),
                static_cast<word32>(of_.tiles()),
                static_cast<word32>(most_dates_),
                static_cast<word32>(most_fits_),
                static_cast<word32>(fits_of_date_),
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

    // Places arrays in memory. Uploads come first, so that one copy suffices.
    void lay_out() {
        const std::size_t count = trades_.size(), sections = trades_[0]->made.code.sections.size();
        const kernels::backward_sizes& sizes = of_.built.sizes;
        std::size_t dates = 0, fits = 0, pieces = 0;
        for (const policy_fits& of : fits_) {
            dates += of.dates.size();
            fits += of.fits.size();
            pieces += of.pieces.size();
        }
        places all;
        numbers_ = all.take<std::byte>(packed_.numbers.size());
        words_ = all.take<word32>(packed_.words.size());
        records_ = all.take<kernels::trade_record>(count);
        left_ = all.take<kernels::left_array>(count);
        first_rows_ = all.take<word32>(count * sections);
        trade_records_ = all.take<kernels::backward_trade>(count);
        sweep_records_ = all.take<kernels::backward_sweep>(of_.sweeps() * count);
        dates_ = all.take<kernels::backward_date>(dates);
        fits_at_ = all.take<kernels::backward_fit>(fits);
        pieces_ = all.take<word64>(pieces);
        numbers_of_dates_ = all.take<word32>(of_.sweeps() * dates);
        scenarios_ = all.take<double>(packed_.scenarios.size() * of_.pitch());
        image_.resize(all.size());
        arrived_ = all.take<word32>(of_.sweeps() * count);
        for (const policy_fits& of : fits_) found_count_ += numbers_of(sizes, of);
        found_ = all.take<double>(found_count_);
        const std::size_t pitch = of_.pitch(), tiles = of_.tiles();
        for (std::size_t k = 0; k < count; ++k) {
            const policy_fits& of = fits_[k];
            const std::size_t with_today = of.dates.size();
            work w{};
            w.left = all.take<double>(trades_[k]->rows * pitch);
            w.paid = all.take<double>(with_today * pitch);
            w.rest = all.take<double>(of.fits.size() * pitch);
            w.listed = all.take<kernels::path_in_tile>(with_today * pitch);
            w.counts = all.take<word32>(2 * with_today * tiles);
            w.sums = all.take<double>(tiles * of_.sums_of_tile(of));
            w.by_date = all.take<double>(with_today * static_cast<std::size_t>(sizes.numbers_of_factors()));
            w.by_fit = all.take<double>(of.fits.size() * static_cast<std::size_t>(sizes.numbers_of_search()));
            for (std::size_t s = 0; s < of_.sweeps(); ++s)
                w.sweeps[s] = {all.take<double>(2 * of.levels * pitch),
                               all.take<double>(tiles * of_.numbers_of_sweep(fits_of_date_))};
            work_.push_back(w);
        }
        end_ = all.size();
    }

    void fill() {
        put(numbers_, packed_.numbers.data(), packed_.numbers.size());
        put(words_, packed_.words.data(), packed_.words.size() * sizeof(word32));
        put(records_, packed_.records.data(), packed_.records.size() * sizeof(kernels::trade_record));
        const std::vector<arrays::shock_cube> rows = rows_of(of_.scenarios, packed_.scenarios);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::size_t first = scenarios_ + r * of_.pitch() * sizeof(double);
            arrays::copy_row(rows[r], 0, 0, 0, of_.pitch(), reinterpret_cast<double*>(image_.data() + first));
        }
        std::size_t date_place = dates_, fit_place = fits_at_, piece_place = pieces_,
                    number_place = numbers_of_dates_, found = found_;
        for (std::size_t k = 0; k < trades_.size(); ++k) {
            const untrained& t = *trades_[k];
            const policy_fits& of = fits_[k];
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
            r.fits = at<kernels::backward_fit>(fit_place);
            r.pieces = at<word64>(piece_place);
            r.end_row = t.end_row;
            r.listed = at<kernels::path_in_tile>(w.listed);
            r.counts = at<word32>(w.counts);
            r.sums = at<double>(w.sums);
            r.by_date = at<double>(w.by_date);
            r.by_fit = at<double>(w.by_fit);
            r.paid = at<double>(w.paid);
            r.rest = at<double>(w.rest);
            r.found = at<double>(found);
            r.date_count = static_cast<word32>(of.dates_to_come());
            r.fit_count = static_cast<word32>(of.fits_to_come());
            r.levels = static_cast<word32>(of.levels);
            r.paths = static_cast<word32>(of_.paths);
            put_one(trade_records_ + k * sizeof r, r);
            found += numbers_of(of_.built.sizes, of) * sizeof(double);
            put_dates(t, of, date_place);
            put_fits(of, fit_place, piece_place);
            std::vector<std::size_t> all(of.dates_to_come());
            std::iota(all.begin(), all.end(), std::size_t{0});
            put_sweep(k, 0, all, number_place);
            if (!of_.has_gain) continue;
            std::vector<std::size_t> some = t.every_second_date();
            std::ranges::reverse(some);
            put_sweep(k, 1, some, number_place);
        }
    }
    void put_dates(const untrained& t, const policy_fits& of, std::size_t& place) {
        for (const policy_fits::date& d : of.dates) {
            kernels::backward_date date{};
            date.first_fit = static_cast<word32>(d.first_fit);
            date.fits = static_cast<word32>(d.fits);
            date.lowest = static_cast<word32>(d.lowest);
            date.forced_from = d.forced_from;
            if (&d != &of.today()) {
                const untrained::date& from = t.dates[d.number];
                date.first_row = from.first_row;
                if (from.is_notice) date.payment_row = t.dates[*from.other].first_row;
                date.is_holders = from.found.of == language::party::holder ? 1u : 0u;
                date.is_notice = from.is_notice ? 1u : 0u;
            }
            put_one(place, date);
            place += sizeof date;
        }
    }
    void put_fits(const policy_fits& of, std::size_t& place, std::size_t& piece_place) {
        for (const policy_fits::fit& f : of.fits) {
            put_one(place, kernels::backward_fit{static_cast<word32>(f.date), static_cast<word32>(f.pieces),
                                                 f.first_piece, f.root});
            place += sizeof(kernels::backward_fit);
        }
        for (const std::size_t row : of.pieces) {
            put_one(piece_place, word64{row});
            piece_place += sizeof(word64);
        }
    }
    void put_sweep(std::size_t trade, std::size_t number, std::span<const std::size_t> dates,
                   std::size_t& place) {
        const work::sweep& w = work_[trade].sweeps[number];
        const std::size_t at_record = number * trades_.size() + trade;
        kernels::backward_sweep r{};
        r.dates = at<word32>(place);
        r.total = at<double>(w.by_path);
        r.worth = r.total + fits_[trade].levels * of_.pitch();
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
        std::size_t left, paid, rest, listed, counts, sums, by_date, by_fit;
        std::array<sweep, 2> sweeps;
    };
    const group& of_;
    std::span<const untrained* const> trades_;
    packed_trades packed_;
    std::vector<policy_fits> fits_;  // by trade
    std::vector<std::byte> image_;
    std::size_t numbers_ = 0, words_ = 0, records_ = 0, left_ = 0, first_rows_ = 0, trade_records_ = 0,
                sweep_records_ = 0, dates_ = 0, fits_at_ = 0, pieces_ = 0, numbers_of_dates_ = 0,
                arrived_ = 0, found_ = 0, found_count_ = 0, end_ = 0, most_dates_ = 0, most_fits_ = 0,
                fits_of_date_ = 0;
    std::size_t scenarios_ = 0;  // [row][path], copied from the market's arrays
    std::vector<work> work_;
    std::byte* memory_ = nullptr;
};

launch sized(std::size_t blocks, std::uint32_t threads, std::uint32_t shared_bytes) {
    return {.blocks = static_cast<std::uint32_t>(blocks), .threads = threads, .shared_bytes = shared_bytes};
}

// The launches of a backward induction; see kernels/exercise/backward_kernel.h.
class way_back {
  public:
    way_back(loaded_device& on, const group& g, const launch_memory& memory, std::size_t trades, stream s)
        : on_(on),
          g_(g),
          memory_(memory),
          trades_(trades),
          s_(s),
          of_dates_(sized(trades * memory.most_dates(), kernels::paths_of_block, g.built.date_bytes())),
          of_fits_(sized(trades * memory.most_fits(), kernels::paths_of_block, g.built.date_bytes())),
          of_tiles_(sized(of_dates_.blocks * g.tiles(), kernels::paths_of_block, g.built.tile_bytes())) {}

    // Launches all kernels in order. Returns how many launches there were.
    unsigned launch_all() {
        for (const char* name : {"list_paths", "sum_features", "sum_squares"})
            run(g_.built.of_dates, name, of_tiles_);
        run(g_.built.of_sums, "sum_functions", of_sums(of_tiles_.blocks, g_.built.sizes.has_few_fits()));
        run(g_.built.of_dates, "make_factors", of_dates_);
        sweep();
        if (g_.has_gain) run(g_.built.of_dates, "find_gain", sized(trades_, threads_of_gain, sizeof(double)));
        if (g_.built.sizes.moves > 0) find_slopes();
        return launches_;
    }

  private:
    void run(const built_kernel& in, const char* name, const launch& how, word64 blocks_of_sweep = 0,
             word64 blocks_of_others = 0) {
        kernels::backward_arguments a =
            memory_.backward(static_cast<word32>(blocks_of_sweep), static_cast<word32>(blocks_of_others));
        void* arguments[] = {&a};
        on_.get().run(in.on(on_, name), how, arguments, s_);
        ++launches_;
    }
    launch of_sums(std::size_t blocks, bool are_few) const {
        return sized(blocks, g_.built.sums(are_few).threads, g_.built.sums(are_few).bytes);
    }
    // Launches the sweep over dates with as many blocks as the device holds at once, all of equally many
    // tiles. The sweep over every second date gives its blocks twice as many tiles, in the same time.
    void sweep() {
        device& d = on_.get();
        launch how =
            sized(0, kernels::backward_sizes::threads_of_sweep, g_.built.sweep_bytes(memory_.fits_of_date()));
        const auto resident =
            static_cast<std::size_t>(
                d.attributes(g_.built.of_sweep.on(on_, "sweep"), how).blocks_per_multiprocessor) *
            static_cast<std::size_t>(d.properties().multiprocessors);
        const auto blocks_of = [&](std::size_t tiles_of_block) {
            return (g_.tiles() + tiles_of_block - 1) / tiles_of_block;
        };
        word64 blocks = 0, others = 0;
        std::size_t tiles_of_block = 0;
        do {
            ++tiles_of_block;
            blocks = blocks_of(tiles_of_block);
            others = g_.has_gain ? blocks_of(2 * tiles_of_block) : 0;
        } while (blocks > 1 && trades_ * (blocks + others) > resident);
        how.blocks = static_cast<std::uint32_t>(trades_ * (blocks + others));
        how.together = blocks > 1;
        run(g_.built.of_sweep, "sweep", how, blocks, others);
    }
    void find_slopes() {
        const launch of_slopes = of_sums(of_fits_.blocks * g_.tiles(), g_.built.sizes.has_few_slopes());
        run(g_.built.of_sums, "sum_moves", of_slopes);
        run(g_.built.of_dates, "begin_slopes", of_fits_);
        for (int k = 0; k < kernels::steps_to_slopes; ++k) {
            run(g_.built.of_sums, "sum_image", of_slopes);
            run(g_.built.of_dates, "step_slopes", of_fits_);
        }
    }

    loaded_device& on_;
    const group& g_;
    const launch_memory& memory_;
    const std::size_t trades_;
    const stream s_;
    const launch of_dates_, of_fits_, of_tiles_;
    unsigned launches_ = 0;
};

class found_numbers {
  public:
    found_numbers(const double*& next, const kernels::backward_sizes& sizes) : next_(next), sizes_(sizes) {}

    double one() { return *next_++; }
    std::vector<double> some(int count) {
        next_ += count;
        return {next_ - count, next_};
    }
    exercise::fitted_level fit() {
        exercise::fitted_level out;
        for (exercise::fitted_side* const side : {&out.paid, &out.unpaid}) {
            side->coefficients = some(sizes_.functions);
            side->low = one();
            side->high = one();
            side->rank = static_cast<std::size_t>(one());
        }
        out.slopes = some(sizes_.slopes());
        return out;
    }

  private:
    const double*& next_;
    const kernels::backward_sizes& sizes_;
};

// Takes a date's fits from the downloaded numbers: one fit, or one for each case of the decision.
void take_fits(exercise::decision_date& to, const policy_fits& of, const policy_fits::date& d,
               const kernels::backward_sizes& sizes, found_numbers& found) {
    if (of.levels == 1 && d.fits == 1) {
        exercise::fitted_level one = found.fit();
        to.paid = std::move(one.paid);
        to.unpaid = std::move(one.unpaid);
        to.slopes = std::move(one.slopes);
        return;
    }
    const exercise::fitted_side nothing{std::vector<double>(static_cast<std::size_t>(sizes.functions)), 0, 0};
    to.levels.assign(std::max(of.levels, d.fits),
                     {nothing, nothing, std::vector<double>(static_cast<std::size_t>(sizes.slopes()))});
    for (std::size_t level = d.lowest; level < to.levels.size(); ++level)
        to.levels[level] = level < d.lowest + d.fits ? found.fit() : to.levels[level - 1];
    to.forced_from = d.forced_from;
}

// Reads a trade's policy from the downloaded numbers at `next`, which then points after it. Throws
// tilewalk::error (numeric) if a path had no finite number.
exercise::policy policy_from(const untrained& t, const group& g, const double*& next) {
    const kernels::backward_sizes& sizes = g.built.sizes;
    const policy_fits of(t);
    found_numbers found(next, sizes);
    exercise::policy out = t.by;
    out.paths = t.paths;
    for (std::size_t k = 0; k < of.dates_to_come(); ++k) {
        exercise::decision_date& to = out.dates.emplace_back(t.dates[of.dates[k].number].found);
        to.means = found.some(sizes.features);
        to.scales = found.some(sizes.features);
    }
    for (std::size_t k = 0; k < of.dates_to_come(); ++k)
        take_fits(out.dates[k], of, of.dates[k], sizes, found);
    const policy_fits::date& today = of.today();
    if (out.uses > 0)
        out.first_slopes_by_uses.assign(of.levels,
                                        std::vector<double>(static_cast<std::size_t>(sizes.moves)));
    std::vector<double> means;
    for (std::size_t f = 0; f < today.fits; ++f) {
        found.one();  // skips the estimate of the policy's worth
        means.push_back(found.one() / static_cast<double>(t.paths));
        out.first_slopes = found.some(sizes.moves);
        if (out.uses > 0) out.first_slopes_by_uses[today.lowest + f] = out.first_slopes;
    }
    const bool is_finite = found.one() == 0;
    const double gain = found.one(), squares = found.one();
    if (out.uses > 0) {
        exercise::decide_use_of_today(out, means.front(), means.back());
    } else {
        exercise::decide_today(out, means.front());
    }
    if (g.has_gain && !out.is_used_today) exercise::take_gain(out, t.paths, gain, squares);
    if (!is_finite) exercise::throw_not_finite();
    return out;
}

// True if the market's scenario arrays have all rows and paths that the trade's program reads.
bool have_what_is_read(std::span<const arrays::shock_cube> arrays, const untrained& t) {
    return std::ranges::all_of(t.made.data.scenarios, [&](const program::scenario_rows& s) {
        return s.array < arrays.size() && arrays[s.array].paths >= t.paths &&
               std::ranges::all_of(s.rows, [&](std::uint32_t row) { return row < arrays[s.array].steps; });
    });
}

class policy_search final : public piecework {
  public:
    policy_search(std::span<const wanted_policy> of, std::uint64_t seed, device_crew& crew,
                  kernels::path_reads reads, const std::atomic<bool>* cancel)
        : of_(of), seed_(seed), reads_(reads), crew_(crew), cancel_(cancel), found_(of.size()) {}

    std::vector<policies::found> find_all(std::uint64_t memory_bytes, int threads) {
        most_bytes_ = crew_.open(memory_bytes, [this](std::size_t, device& on) {
            const device_properties& p = on.properties();
            shared_bytes_ = std::min(shared_bytes_, p.shared_bytes_per_block);
            most_trades_ = std::min(most_trades_, static_cast<std::size_t>(p.multiprocessors));
        }) / 2;
        room_ = std::min(word64{most_bytes_of_launch}, most_bytes_);
        gather();
        compile(threads);
        cut();
        // Two workers for each device: one prepares a launch while the other's runs.
        workers_.resize(pieces_.size() > crew_.size() ? 2 * crew_.size() : crew_.size());
        crew_.walk(*this, pieces_.size(), workers_.size(), cancel_);
        return std::move(found_);
    }

  private:
    void gather() {
        std::map<std::tuple<std::string, std::string, bool, word64, const arrays::shock_cube*>, std::size_t>
            known;
        for (std::size_t i = 0; i < of_.size(); ++i) {
            const untrained& t = *of_[i].of;
            if (t.is_certain) continue;
            if (!have_what_is_read(of_[i].scenarios, t)) {
                found_[i].why_left = "an array of the market lacks paths or times that they read";
                continue;
            }
            const std::size_t fits = policy_fits(t).most_of_a_date();
            policy_kernels text = policy_kernels_of(t, reads_);
            if (text.most_bytes(fits) > shared_bytes_) text = policy_kernels_of(t);
            if (text.most_bytes(fits) > shared_bytes_) {
                found_[i].why_left = "a block of a GPU has no room for so many functions and uses";
                continue;
            }
            const bool has_gain = t.has_gain() && t.by.uses == 0;
            const auto scenarios =
                t.made.data.scenarios.empty() ? std::span<const arrays::shock_cube>() : of_[i].scenarios;
            const auto [at, is_new] = known.try_emplace(
                {text.leaving.text, text.of_sums.text, has_gain, t.paths, scenarios.data()}, groups_.size());
            if (is_new) {
                group& made = groups_.emplace_back();
                made.built = std::move(text);
                made.paths = t.paths;
                made.has_gain = has_gain;
                made.scenarios = scenarios;
            }
            groups_[at->second].trades.push_back(i);
        }
    }

    // Compiles the four texts of each group in parallel, because some take seconds.
    void compile(int threads) {
        std::vector<wanted_kernel> wanted;
        for (group& g : groups_)
            for (built_kernel* const k : g.built.all())
                wanted.push_back({k, [&](const error& why) { fail(g.trades, why); }});
        crew_.compile(wanted, threads, cancel_);
    }

    void fail(std::span<const std::size_t> trades, const error& why) {
        const std::lock_guard guard(lock_);
        for (const std::size_t i : trades)
            if (!found_[i].failure && !found_[i].by) found_[i].failure = why;
    }

    // Cuts groups into pieces that fit into memory, and into one for each device if there are enough trades.
    void cut() {
        for (group& g : groups_) {
            for (const std::size_t i : g.trades) {
                const std::size_t bytes = g.bytes_of(*of_[i].of);
                if (bytes <= most_bytes_ || found_[i].failure) continue;
                found_[i].why_left = "a GPU's memory has no room for their training";
                found_[i].failure =
                    error(error_kind::device,
                          fmt::format("its training takes {} MB of a GPU's memory, expected at most {}",
                                      bytes >> 20, most_bytes_ >> 20));
            }
            std::erase_if(g.trades, [&](std::size_t i) { return found_[i].failure.has_value(); });
            const std::size_t share = (g.trades.size() + crew_.size() - 1) / crew_.size();
            std::size_t first = 0;
            while (first < g.trades.size()) {
                std::size_t count = 0, bytes = 0;
                for (; first + count < g.trades.size() && count < std::min(share, most_trades_); ++count) {
                    bytes += g.bytes_of(*of_[g.trades[first + count]].of);
                    if (count > 0 && bytes > room_) break;
                }
                pieces_.push_back({&g, std::span(g.trades).subspan(first, count)});
                first += count;
            }
        }
    }

    bool walk(std::size_t number, std::size_t taken) override {
        const piece& p = pieces_[taken];
        worker& by = workers_[number];
        loaded_device& on = crew_[number % crew_.size()];
        device& d = on.get();
        const group& g = *p.of;
        std::vector<const untrained*> trades;
        for (const std::size_t i : p.trades) trades.push_back(of_[i].of);
        const kernel leave = g.built.leaving.on(on, "leave");
        const owned_stream s = new_stream(d);
        const launch_memory memory(d, g, trades, by.room);
        in_flight work(d, {s.get()});
        memory.upload(d, s.get());
        memory.clear(d, s.get());
        const owned_event begun = new_event(d, s.get());

        kernels::leaving_arguments leaving = memory.leaving(seed_);
        const launch forth =
            sized(trades.size() * g.tiles(), g.built.leaving_threads, g.built.leaving_shared_bytes);
        void* leaving_arguments[] = {&leaving};
        d.run(leave, forth, leaving_arguments, s.get());
        const unsigned launches = 1 + way_back(on, g, memory, trades.size(), s.get()).launch_all();
        const owned_event ended = new_event(d, s.get());
        const std::vector<double> numbers = memory.download(d, s.get());
        d.wait(s.get());
        work.end();
        take(p, numbers);
        crew_.count(launches);
        by.seconds += d.milliseconds_between(begun.get(), ended.get()) / 1000;
        return true;
    }
    void end(std::size_t number) override {
        worker& by = workers_[number];
        by.room.reset();
        crew_.count(0, by.seconds, by.seconds);
    }
    ends ended_by(const error&) const override { return ends::piece; }
    void fail(std::size_t taken, const error& why) override { fail(pieces_[taken].trades, why); }

    void take(const piece& p, const std::vector<double>& numbers) {
        const double* next = numbers.data();
        for (const std::size_t i : p.trades) {
            try {
                found_[i].by = policy_from(*of_[i].of, *p.of, next);
            } catch (const error& e) {
                found_[i].failure = e;
            }
        }
    }

    // A worker of a device: its memory there, and how long its launches took.
    struct worker {
        std::optional<device_memory> room;
        double seconds = 0;
    };
    std::span<const wanted_policy> of_;
    const std::uint64_t seed_;
    const kernels::path_reads reads_;
    device_crew& crew_;
    const std::atomic<bool>* cancel_;
    // Limits on the bytes of a launch of several trades, and of one trade. Two launches share a device.
    word64 room_ = 0, most_bytes_ = 0;
    std::size_t shared_bytes_ = ~std::size_t{0}, most_trades_ = ~std::size_t{0};
    std::vector<group> groups_;
    std::vector<piece> pieces_;
    std::vector<worker> workers_;
    std::mutex lock_;  // guards found_
    std::vector<policies::found> found_;
};

}  // namespace

std::vector<policies::found> policies::find(std::span<const wanted_policy> of, std::uint64_t seed,
                                            const std::atomic<bool>* cancel) {
    return policy_search(of, seed, crew_, reads_, cancel).find_all(memory_bytes_, threads_);
}

}  // namespace tilewalk::cuda
