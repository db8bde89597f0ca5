// SPDX-License-Identifier: Apache-2.0
// An earlier run whose decisions are followed, in the place of pilots': its results say which points each
// trade took, its control and its shifts, and the number of its paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "engine/decide/decided.h"
#include "tilewalk/results.h"

namespace tilewalk::decide {

class followed_run {
  public:
    // Throws tilewalk::error (input, io) for a file that is no results as JSON.
    explicit followed_run(const std::string& file);

    std::uint64_t paths() const { return of_.manifest.paths; }
    std::uint64_t seed() const { return of_.manifest.seed; }
    std::uint64_t randomisations() const;  // of trades that took points; 0: none did
    // The same for runs that decided alike.
    const std::string& digest() const { return digest_; }
    // Each throws tilewalk::error (input) for a trade that the run did not price, and for decisions that no
    // run has written.
    const price_row& row(const std::string& trade) const;
    decided of(const std::string& trade) const;

  private:
    results of_;
    std::unordered_map<std::string, std::size_t> by_trade_;  // rows
    std::string digest_;
};

// The control and the shifts of a trade as JSON, which a row keeps; empty: it has none.
std::string written(const controls::control* control, const chosen_shifts* shifts);
// All that a row says was decided.
decided decided_in(const price_row& row);

}  // namespace tilewalk::decide
