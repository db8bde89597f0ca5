// SPDX-License-Identifier: Apache-2.0
// The result of walking a trade over some tiles of a run: moments of outputs and of sums of chosen pairs, and
// sums of derivatives of the first output. Tallies merge in any order, on any machine and through files, to
// the bits of one walk, because only subtrees of the run's one summation tree are merged.
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
    // A part is `part_tiles` tiles, a power of two. `crossed` has pairs of outputs, whose sums are tallied,
    // or an output and a quarter of each tile (products/program/quarters.h).
    tally(kernels::word64 run_tiles, kernels::word64 part_tiles, std::size_t outputs = 1,
          std::vector<program::output_pair> crossed = {}, std::size_t derivatives = 0);
    explicit tally(kernels::word64 run_tiles) : tally(run_tiles, part_tiles_of(run_tiles)) {}

    // Allocates for all parts at once. For a caller that adds them in order.
    void expect_all();

    // Adds the results of a subtree that lies within one part. `found` has a result for each output, then one
    // for each crossed pair; `derivatives` has a sum for each derivative. Throws tilewalk::error (internal)
    // if a tile of the subtree is already in the tally.
    void add(const tile_range& subtree, std::span<const kernels::tile_result> found,
             std::span<const double> derivatives = {});
    void add(const tile_range& subtree, const kernels::tile_result& found) { add(subtree, {&found, 1}); }
    // Adds all tiles of `other`. Throws tilewalk::error (internal) if one is known or `other` is another
    // run's.
    void add(const tally& other);
    // Adds tiles of `other` that are missing here. Throws tilewalk::error (internal) if it is of another run.
    void add_unknown(const tally& other);

    kernels::word64 run_tiles() const { return run_tiles_; }
    kernels::word64 part_tiles() const { return part_tiles_; }
    std::size_t outputs() const { return outputs_; }
    const std::vector<program::output_pair>& crossed() const { return crossed_; }
    std::size_t rows() const { return outputs_ + crossed_.size(); }
    std::size_t derivatives() const { return derivatives_; }
    // The tiles in the tally, as the fewest subtrees of which none exceeds a part.
    std::span<const tile_range> known() const { return ranges_; }
    bool is_complete() const;

    // Moments over the run; the tally must be complete. Rows are the outputs, then the crossed pairs.
    kernels::tile_result whole(std::size_t row = 0) const;
    std::vector<kernels::moments> parts(std::size_t row = 0) const;
    // The first path in the tally whose number in this row is not finite. The tally may be incomplete.
    std::optional<kernels::word64> first_not_finite(std::size_t row) const;
    // Sums of derivatives, by part. The tally must be complete.
    std::vector<std::span<const double>> derivatives_of_parts() const;
    // Sum of (x - mean of x) (y - mean of y) over paths, for two crossed outputs; empty if not finite.
    std::optional<double> cross(std::size_t first, std::size_t second) const;

    friend bool operator==(const tally& a, const tally& b);

  private:
    friend class tally_reader;
    friend void write(std::ostream& out, std::span<const tally> all);

    void demand_run_of(const tally& other) const;
    bool is_known(const tile_range& any_of) const;
    // Removes subtrees that lie within `subtree`, so that it can be added as a whole. Returns false, and
    // removes nothing, if the tally has all of its tiles already.
    bool forget_parts_of(const tile_range& subtree);
    bool joins(std::size_t i) const;
    void join(std::size_t i);
    void demand_complete() const;

    kernels::word64 run_tiles_, part_tiles_;
    std::size_t outputs_;
    std::vector<program::output_pair> crossed_;
    std::size_t derivatives_;
    std::vector<tile_range> ranges_;             // ordered by first tile
    std::vector<kernels::tile_result> results_;  // indexed [range][row]
    std::vector<double> sums_;                   // indexed [range][derivative]
};

// Writes every number bit for bit, then a checksum.
void write(std::ostream& out, std::span<const tally> all);
// Throws tilewalk::error (input) if the file `name` is not, byte for byte, as write() writes it.
std::vector<tally> read_tallies(std::istream& in, const std::string& name);

}  // namespace tilewalk::run
