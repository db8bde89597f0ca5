// SPDX-License-Identifier: Apache-2.0
// A tally is what the walk of a trade leaves: the moments of each output of its program, and of the sums of
// chosen pairs of them, over some tiles of a run. Tallies of different tiles merge in any order, on any
// machine and over files, to the bits of a walk of all tiles at once, because what is merged is always a
// subtree of the run's one tree.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/run/tile_range.h"
#include "kernels/tile_result.h"
#include "products/program/program.h"

namespace tilewalk::run {

class tally {
  public:
    // Nothing yet, of a run of so many tiles; part_tiles is a power of two.
    tally(kernels::word64 run_tiles, kernels::word64 part_tiles, std::size_t outputs = 1,
          std::vector<program::output_pair> crossed = {});
    explicit tally(kernels::word64 run_tiles) : tally(run_tiles, part_tiles_of(run_tiles)) {}

    // Makes room for all parts at once, for who adds them in their order.
    void expect_all();

    // Takes the results of a subtree of the run, within a part: one for each output, then one for the sum of
    // each pair. Throws tilewalk::error (internal) where a tile of it is known already.
    void add(const tile_range& subtree, std::span<const kernels::tile_result> found);
    void add(const tile_range& subtree, const kernels::tile_result& found) { add(subtree, {&found, 1}); }
    // Takes all that another tally of the same run knows. Throws likewise, and where it is of another run.
    void add(const tally& other);

    kernels::word64 run_tiles() const { return run_tiles_; }
    kernels::word64 part_tiles() const { return part_tiles_; }
    std::size_t outputs() const { return outputs_; }
    const std::vector<program::output_pair>& crossed() const { return crossed_; }
    std::size_t rows() const { return outputs_ + crossed_.size(); }
    // The tiles that it knows, in as few subtrees as parts allow.
    std::span<const tile_range> known() const { return ranges_; }
    bool is_complete() const;

    // All paths of a complete tally, and its parts in their order. A row is an output or, behind them, the
    // sum of a pair.
    kernels::tile_result whole(std::size_t row = 0) const;
    std::vector<kernels::moments> parts(std::size_t row = 0) const;
    // The sum over all paths of (x - mean of x) (y - mean of y) for two outputs that are crossed; none where
    // a path gave no finite number.
    std::optional<double> cross(std::size_t first, std::size_t second) const;

    friend bool operator==(const tally& a, const tally& b);

  private:
    friend class tally_reader;
    friend void write(std::ostream& out, std::span<const tally> all);

    bool joins(std::size_t i) const;
    void join(std::size_t i);
    void demand_complete() const;

    kernels::word64 run_tiles_, part_tiles_;
    std::size_t outputs_;
    std::vector<program::output_pair> crossed_;
    std::vector<tile_range> ranges_;             // in order
    std::vector<kernels::tile_result> results_;  // [range][row]
};

// A file of tallies, which keeps every bit and ends with a sum over its bytes.
void write(std::ostream& out, std::span<const tally> all);
// Throws tilewalk::error (input) where the file `name` is not what `write` wrote, whole.
std::vector<tally> read_tallies(std::istream& in, const std::string& name);

}  // namespace tilewalk::run
