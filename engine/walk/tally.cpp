// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tally.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <istream>
#include <iterator>
#include <ostream>
#include <type_traits>
#include <utility>

#include "products/program/quarters.h"
#include "tilewalk/error.h"

namespace tilewalk::run {

using kernels::tile_result;
using kernels::word64;

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw error(error_kind::internal, what);
}

std::string shown(const tile_range& r) {
    return "tiles " + std::to_string(r.first) + " to " + std::to_string(r.end() - 1);
}

}  // namespace

tally::tally(word64 run_tiles, word64 part_tiles, std::size_t outputs,
             std::vector<program::output_pair> crossed, std::size_t derivatives)
    : run_tiles_(run_tiles),
      part_tiles_(part_tiles),
      outputs_(outputs),
      crossed_(std::move(crossed)),
      derivatives_(derivatives) {
    if (!std::has_single_bit(part_tiles) || outputs == 0)
        refuse("a tally needs an output and parts of a power of two of tiles");
    for (const program::output_pair& p : crossed_) {
        if (!program::is_possible(p, outputs)) refuse("a tally crosses outputs that it has not");
    }
}

void tally::expect_all() {
    const std::size_t parts = static_cast<std::size_t>((run_tiles_ + part_tiles_ - 1) / part_tiles_);
    ranges_.reserve(parts);
    results_.reserve(parts * rows());
    sums_.reserve(parts * derivatives_);
}

void tally::add(const tile_range& subtree, std::span<const tile_result> found,
                std::span<const double> derivatives) {
    if (!subtree.is_subtree_of(run_tiles_) || subtree.count > part_tiles_ || found.size() != rows() ||
        derivatives.size() != derivatives_)
        refuse(shown(subtree) + " are no subtree of a part of " + std::to_string(part_tiles_) +
               " tiles in a run of " + std::to_string(run_tiles_) + ", or not of " +
               std::to_string(outputs_) + " outputs, " + std::to_string(crossed_.size()) + " pairs and " +
               std::to_string(derivatives_) + " derivatives");
    // Tiles mostly come in order, so the search is seldom needed.
    const bool is_last = ranges_.empty() || ranges_.back().end() <= subtree.first;
    if (!is_last && is_known(subtree)) refuse(shown(subtree) + " are in the tally already");
    const auto after =
        is_last ? ranges_.end() : std::ranges::lower_bound(ranges_, subtree.first, {}, &tile_range::first);
    auto at = static_cast<std::size_t>(after - ranges_.begin());
    results_.insert(results_.begin() + static_cast<std::ptrdiff_t>(at * rows()), found.begin(), found.end());
    sums_.insert(sums_.begin() + static_cast<std::ptrdiff_t>(at * derivatives_), derivatives.begin(),
                 derivatives.end());
    ranges_.insert(after, subtree);
    for (;;) {
        if (joins(at)) {
            join(at);
        } else if (at > 0 && joins(at - 1)) {
            join(--at);
        } else {
            return;
        }
    }
}

bool tally::is_known(const tile_range& any_of) const {
    const auto after = std::ranges::lower_bound(ranges_, any_of.first, {}, &tile_range::first);
    return (after != ranges_.end() && after->first < any_of.end()) ||
           (after != ranges_.begin() && std::prev(after)->end() > any_of.first);
}

void tally::demand_run_of(const tally& other) const {
    if (other.run_tiles_ != run_tiles_ || other.part_tiles_ != part_tiles_ || other.outputs_ != outputs_ ||
        other.crossed_ != crossed_ || other.derivatives_ != derivatives_)
        refuse("tallies of two different runs do not merge");
}

void tally::add(const tally& other) {
    demand_run_of(other);
    for (std::size_t i = 0; i < other.ranges_.size(); ++i)
        add(other.ranges_[i], std::span(other.results_).subspan(i * rows(), rows()),
            std::span(other.sums_).subspan(i * derivatives_, derivatives_));
}

void tally::add_unknown(const tally& other) {
    demand_run_of(other);
    for (std::size_t i = 0; i < other.ranges_.size(); ++i) {
        const tile_range& of = other.ranges_[i];
        if (!forget_parts_of(of)) continue;
        add(of, std::span(other.results_).subspan(i * rows(), rows()),
            std::span(other.sums_).subspan(i * derivatives_, derivatives_));
    }
}

// Two subtrees are disjoint, or one contains the other.
bool tally::forget_parts_of(const tile_range& subtree) {
    const auto place_of = [&](word64 tile) {
        return std::ranges::lower_bound(ranges_, tile, {}, &tile_range::first) - ranges_.begin();
    };
    const auto first = place_of(subtree.first), end = place_of(subtree.end());
    if (first > 0 && ranges_[static_cast<std::size_t>(first - 1)].end() > subtree.first) return false;
    if (first == end) return true;
    if (ranges_[static_cast<std::size_t>(first)].count >= subtree.count) return false;
    const auto erase = [&](auto& from, std::size_t each) {
        const auto n = static_cast<std::ptrdiff_t>(each);
        from.erase(from.begin() + first * n, from.begin() + end * n);
    };
    erase(ranges_, 1);
    erase(results_, rows());
    erase(sums_, derivatives_);
    return true;
}

bool tally::joins(std::size_t i) const {
    if (i + 1 >= ranges_.size()) return false;
    const tile_range &a = ranges_[i], &b = ranges_[i + 1];
    return std::has_single_bit(a.count) && 2 * a.count <= part_tiles_ && a.first % (2 * a.count) == 0 &&
           b.first == a.end() && b.end() == std::min(a.first + 2 * a.count, run_tiles_);
}

void tally::join(std::size_t i) {
    const std::size_t n = rows();
    tile_result* const a = results_.data() + i * n;
    for (std::size_t r = 0; r < n; ++r) a[r] = kernels::merge(a[r], a[n + r]);
    const auto second = results_.begin() + static_cast<std::ptrdiff_t>((i + 1) * n);
    results_.erase(second, second + static_cast<std::ptrdiff_t>(n));
    double* const sum = sums_.data() + i * derivatives_;
    for (std::size_t d = 0; d < derivatives_; ++d) sum[d] += sum[derivatives_ + d];
    const auto second_sum = sums_.begin() + static_cast<std::ptrdiff_t>((i + 1) * derivatives_);
    sums_.erase(second_sum, second_sum + static_cast<std::ptrdiff_t>(derivatives_));
    ranges_[i].count += ranges_[i + 1].count;
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i + 1));
}

bool tally::is_complete() const {
    word64 tiles = 0;
    for (const tile_range& r : ranges_) tiles += r.count;
    return tiles == run_tiles_;
}

void tally::demand_complete() const {
    if (!is_complete()) refuse("the tally lacks tiles of its run of " + std::to_string(run_tiles_));
}

// Complete parts are neighbours at one level of the summation tree, so merging them pairwise gives the run.
tile_result tally::whole(std::size_t row) const {
    demand_complete();
    std::vector<tile_result> m;
    m.reserve(ranges_.size());
    for (std::size_t i = 0; i < ranges_.size(); ++i) m.push_back(results_[i * rows() + row]);
    if (m.empty()) return {};
    while (m.size() > 1) {
        const std::size_t pairs = m.size() / 2;
        for (std::size_t i = 0; i < pairs; ++i) m[i] = kernels::merge(m[2 * i], m[2 * i + 1]);
        if (m.size() % 2 == 1) m[pairs] = m.back();
        m.resize(pairs + m.size() % 2);
    }
    return m.front();
}

std::optional<word64> tally::first_not_finite(std::size_t row) const {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        const tile_result& of = results_[i * rows() + row];
        if (of.not_finite > 0) return of.first_not_finite;
    }
    return std::nullopt;
}

// 2 x y = (x + y)^2 - x^2 - y^2, each about its mean, so that large means cost no digits.
std::optional<double> tally::cross(std::size_t first, std::size_t second) const {
    const program::output_pair wanted{static_cast<std::uint32_t>(std::min(first, second)),
                                      static_cast<std::uint32_t>(std::max(first, second))};
    const auto at = std::ranges::find(crossed_, wanted);
    if (at == crossed_.end()) refuse("the tally crosses no such two outputs");
    const tile_result x = whole(first), y = whole(second),
                      sum = whole(outputs_ + static_cast<std::size_t>(at - crossed_.begin()));
    if (x.not_finite + y.not_finite + sum.not_finite > 0) return std::nullopt;
    return (sum.moments.m2 - (x.moments.m2 + y.moments.m2)) / 2;
}

std::vector<kernels::moments> tally::parts(std::size_t row) const {
    demand_complete();
    std::vector<kernels::moments> out;
    out.reserve(ranges_.size());
    for (std::size_t i = 0; i < ranges_.size(); ++i) out.push_back(results_[i * rows() + row].moments);
    return out;
}

std::vector<std::span<const double>> tally::derivatives_of_parts() const {
    demand_complete();
    std::vector<std::span<const double>> out;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
        out.push_back(std::span(sums_).subspan(i * derivatives_, derivatives_));
    return out;
}

namespace {

constexpr std::size_t numbers_of_result = 7;
std::array<word64, numbers_of_result> numbers_of(const tile_result& r) {
    const kernels::moments& m = r.moments;
    return {std::bit_cast<word64>(m.count),
            std::bit_cast<word64>(m.mean),
            std::bit_cast<word64>(m.m2),
            std::bit_cast<word64>(m.m3),
            std::bit_cast<word64>(m.m4),
            r.not_finite,
            r.first_not_finite};
}
tile_result result_of(const std::array<word64, numbers_of_result>& n) {
    const auto real = [](word64 bits) { return std::bit_cast<double>(bits); };
    return {{real(n[0]), real(n[1]), real(n[2]), real(n[3]), real(n[4])}, n[5], n[6]};
}

constexpr word64 magic = 0x33'4c'4c'41'54'57'54'0aull;  // the bytes "\nTWTALL3"

// FNV-1a over 64-bit words.
constexpr word64 first_sum = 0xcbf29ce484222325ull;
constexpr word64 sum_with(word64 sum, word64 x) {
    return (sum ^ x) * 0x100000001b3ull;
}

class word_writer {
  public:
    explicit word_writer(std::ostream& out) : out_(out) {}
    void put(word64 x) {
        char bytes[8];
        for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(x >> (8 * i) & 0xff);
        out_.write(bytes, 8);
        sum_ = sum_with(sum_, x);
    }
    word64 sum() const { return sum_; }

  private:
    std::ostream& out_;
    word64 sum_ = first_sum;
};

}  // namespace

bool operator==(const tally& a, const tally& b) {
    return a.run_tiles_ == b.run_tiles_ && a.part_tiles_ == b.part_tiles_ && a.outputs_ == b.outputs_ &&
           a.crossed_ == b.crossed_ && a.ranges_ == b.ranges_ &&
           std::ranges::equal(a.results_, b.results_, {}, numbers_of, numbers_of) &&
           std::ranges::equal(a.sums_, b.sums_, {}, std::bit_cast<word64, double>,
                              std::bit_cast<word64, double>);
}

void write(std::ostream& out, std::span<const tally> all) {
    word_writer to(out);
    to.put(magic);
    to.put(all.size());
    for (const tally& t : all) {
        for (const word64 x : {t.run_tiles_, t.part_tiles_, word64{t.outputs_}, word64{t.crossed_.size()},
                               word64{t.derivatives_}})
            to.put(x);
        for (const program::output_pair& p : t.crossed_) to.put(word64{p.first} << 32 | p.second);
        to.put(t.ranges_.size());
        for (std::size_t i = 0; i < t.ranges_.size(); ++i) {
            to.put(t.ranges_[i].first);
            to.put(t.ranges_[i].count);
            for (std::size_t r = 0; r < t.rows(); ++r)
                for (const word64 x : numbers_of(t.results_[i * t.rows() + r])) to.put(x);
            for (std::size_t d = 0; d < t.derivatives_; ++d)
                to.put(std::bit_cast<word64>(t.sums_[i * t.derivatives_ + d]));
        }
    }
    to.put(to.sum());
}

class tally_reader {
  public:
    tally_reader(std::istream& in, const std::string& name) : in_(in), name_(name) {}

    std::vector<tally> all() {
        if (take_word() != magic) refuse_file("found no file of tallies, expected one that tilewalk wrote");
        std::vector<tally> out;
        for (word64 left = take_word(); left > 0; --left) out.push_back(one());
        const word64 sum = sum_;
        if (take_word() != sum) refuse_file("found a wrong checksum: the file is damaged");
        if (in_.peek() != std::istream::traits_type::eof())
            refuse_file("found bytes after the last tally, expected none");
        return out;
    }

  private:
    tally one() {
        const word64 run_tiles = take_word(), part_tiles = take_word(), outputs = take_word(),
                     pairs = take_word(), derivatives = take_word();
        constexpr word64 most = 1 << 16, most_derivatives = 1 << 26;
        if (!std::has_single_bit(part_tiles) || outputs == 0 || outputs > most || pairs > most ||
            derivatives > most_derivatives)
            refuse_figures();
        std::vector<program::output_pair> crossed(static_cast<std::size_t>(pairs));
        for (program::output_pair& p : crossed) {
            const word64 both = take_word();
            p = {static_cast<std::uint32_t>(both >> 32), static_cast<std::uint32_t>(both)};
            if (!program::is_possible(p, static_cast<std::size_t>(outputs))) refuse_figures();
        }
        tally t(run_tiles, part_tiles, static_cast<std::size_t>(outputs), std::move(crossed),
                static_cast<std::size_t>(derivatives));
        std::vector<tile_result> results(t.rows());
        std::vector<double> sums;
        for (word64 left = take_word(); left > 0; --left) {
            tile_range r{};
            r.first = take_word();
            r.count = take_word();
            for (tile_result& result : results) {
                std::array<word64, numbers_of_result> n{};
                for (word64& x : n) x = take_word();
                result = result_of(n);
            }
            sums.clear();
            while (sums.size() < t.derivatives()) sums.push_back(std::bit_cast<double>(take_word()));
            const bool fits = r.count <= part_tiles && r.first <= run_tiles &&
                              r.count <= run_tiles - r.first && r.is_subtree_of(run_tiles) &&
                              (t.ranges_.empty() || t.ranges_.back().end() <= r.first);
            if (!fits) refuse_figures();
            t.add(r, results, sums);
        }
        return t;
    }
    word64 take_word() {
        unsigned char bytes[8];
        if (!in_.read(reinterpret_cast<char*>(bytes), 8)) refuse_file("the file ends too early");
        word64 x = 0;
        for (int i = 0; i < 8; ++i) x |= word64{bytes[i]} << (8 * i);
        sum_ = sum_with(sum_, x);
        return x;
    }
    [[noreturn]] void refuse_file(const std::string& why) const {
        throw error(error_kind::input, why, {name_});
    }
    [[noreturn]] void refuse_figures() const {
        refuse_file("found parts that no run has: the file is damaged");
    }

    std::istream& in_;
    const std::string& name_;
    word64 sum_ = first_sum;
};

std::vector<tally> read_tallies(std::istream& in, const std::string& name) {
    return tally_reader(in, name).all();
}

}  // namespace tilewalk::run
