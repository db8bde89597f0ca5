// SPDX-License-Identifier: Apache-2.0
// A tally is what the walk of a trade leaves: the moments of each output of its program over some tiles of a
// run. Tallies of different tiles merge in any order, on any machine and over files, to the bits of a walk of
// all tiles at once, because what is merged is always a subtree of the run's one tree.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "engine/run/tile_range.h"
#include "kernels/tile_result.h"

namespace tilewalk::run {

class tally {
  public:
    // Nothing yet, of a run of so many tiles; part_tiles is a power of two.
    tally(kernels::word64 run_tiles, kernels::word64 part_tiles, std::size_t outputs = 1);
    explicit tally(kernels::word64 run_tiles) : tally(run_tiles, part_tiles_of(run_tiles)) {}

    // Makes room for all parts at once, for who adds them in their order.
    void expect_all();

    // Takes the results of a subtree of the run, within a part, one for each output. Throws tilewalk::error
    // (internal) where a tile of it is known already.
    void add(const tile_range& subtree, std::span<const kernels::tile_result> found);
    void add(const tile_range& subtree, const kernels::tile_result& found) { add(subtree, {&found, 1}); }
    // What another tally of the same run knows. Throws likewise, and where it is of another run.
    void add(const tally& other);

    kernels::word64 run_tiles() const { return run_tiles_; }
    kernels::word64 part_tiles() const { return part_tiles_; }
    std::size_t outputs() const { return outputs_; }
    // The tiles that it knows, in as few subtrees as parts allow.
    std::span<const tile_range> known() const { return ranges_; }
    bool is_complete() const;

    // Of a complete tally: all paths, and the parts in their order.
    kernels::tile_result whole(std::size_t output = 0) const;
    std::vector<kernels::moments> parts(std::size_t output = 0) const;

    friend bool operator==(const tally& a, const tally& b);

  private:
    friend class tally_reader;
    friend void write(std::ostream& out, std::span<const tally> all);

    bool joins(std::size_t i) const;
    void join(std::size_t i);
    void demand_complete() const;

    kernels::word64 run_tiles_, part_tiles_;
    std::size_t outputs_;
    std::vector<tile_range> ranges_;             // in order
    std::vector<kernels::tile_result> results_;  // [range][output]
};

// A file of tallies, which keeps every bit and ends with a sum over its bytes.
void write(std::ostream& out, std::span<const tally> all);
// Throws tilewalk::error (input) where the file `name` is not what `write` wrote, whole.
std::vector<tally> read_tallies(std::istream& in, const std::string& name);

}  // namespace tilewalk::run
