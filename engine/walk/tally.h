// SPDX-License-Identifier: Apache-2.0
// A tally, the result of walking a trade: the moments of each output of its program, and of the sums of
// chosen pairs of outputs, and the sums of derivatives of its first output to the numbers of the program,
// over some tiles of a run. Tallies of different tiles merge in any order, on any machine and through files,
// to the bits of one walk of all tiles, because only subtrees of the run's one tree are ever merged.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/tile_range.h"
#include "kernels/tile_result.h"
#include "products/program/program.h"

namespace tilewalk::run {

class tally {
  public:
    // An empty tally of a run of so many tiles; part_tiles is a power of two.
    tally(kernels::word64 run_tiles, kernels::word64 part_tiles, std::size_t outputs = 1,
          std::vector<program::output_pair> crossed = {}, std::size_t derivatives = 0);
    explicit tally(kernels::word64 run_tiles) : tally(run_tiles, part_tiles_of(run_tiles)) {}

    // Makes room for all parts at once, for a caller that adds them in order.
    void expect_all();

    // Adds the results of a subtree of the run, within a part: one for each output, then one for the sum of
    // each pair; and the sum of each derivative. Throws tilewalk::error (internal) if a tile of it is known
    // already.
    void add(const tile_range& subtree, std::span<const kernels::tile_result> found,
             std::span<const double> derivatives = {});
    void add(const tile_range& subtree, const kernels::tile_result& found) { add(subtree, {&found, 1}); }
    // Adds everything that another tally of the same run knows. Throws likewise, and if it is of another run.
    void add(const tally& other);
    // Adds what another tally of the same run knows beyond this one. Throws if it is of another run.
    void add_unknown(const tally& other);

    kernels::word64 run_tiles() const { return run_tiles_; }
    kernels::word64 part_tiles() const { return part_tiles_; }
    std::size_t outputs() const { return outputs_; }
    const std::vector<program::output_pair>& crossed() const { return crossed_; }
    std::size_t rows() const { return outputs_ + crossed_.size(); }
    std::size_t derivatives() const { return derivatives_; }
    // The known tiles, in as few subtrees as parts allow.
    std::span<const tile_range> known() const { return ranges_; }
    bool is_complete() const;

    // The result over all paths of a complete tally; the results of its parts in order. A row is an output
    // or, after all outputs, the sum of a pair.
    kernels::tile_result whole(std::size_t row = 0) const;
    std::vector<kernels::moments> parts(std::size_t row = 0) const;
    // The lowest known path that gave no finite number, in a tally of some tiles or all.
    std::optional<kernels::word64> first_not_finite(std::size_t row) const;
    // The sums of derivatives over the paths of each part of a complete tally, in order.
    std::vector<std::span<const double>> derivatives_of_parts() const;
    // The sum over all paths of (x - mean of x) (y - mean of y) for two outputs that are crossed; none if a
    // path gave no finite number.
    std::optional<double> cross(std::size_t first, std::size_t second) const;

    friend bool operator==(const tally& a, const tally& b);

  private:
    friend class tally_reader;
    friend void write(std::ostream& out, std::span<const tally> all);

    void demand_run_of(const tally& other) const;
    bool is_known(const tile_range& any_of) const;
    // False, and nothing is forgotten, if all of the subtree is known.
    bool forget_parts_of(const tile_range& subtree);
    bool joins(std::size_t i) const;
    void join(std::size_t i);
    void demand_complete() const;

    kernels::word64 run_tiles_, part_tiles_;
    std::size_t outputs_;
    std::vector<program::output_pair> crossed_;
    std::size_t derivatives_;
    std::vector<tile_range> ranges_;             // in order
    std::vector<kernels::tile_result> results_;  // [range][row]
    std::vector<double> sums_;                   // [range][derivative]
};

// A file of tallies, which keeps every bit and ends with a sum over its bytes.
void write(std::ostream& out, std::span<const tally> all);
// Throws tilewalk::error (input) if the file `name` is not, byte for byte, one that `write` wrote.
std::vector<tally> read_tallies(std::istream& in, const std::string& name);

}  // namespace tilewalk::run
