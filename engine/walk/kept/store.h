// SPDX-License-Identifier: Apache-2.0
// All that is known of a request's work: tallies of its jobs, as far as they are walked, and decisions of its
// pilots, each under the fingerprint of all that it follows from. New records go into blocks of a folder, if
// there is one, about one a second, so that a run that ends at any moment has lost a block at most.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/kept/block.h"
#include "engine/walk/kept/fingerprint.h"
#include "engine/walk/tally.h"

namespace tilewalk::kept {

class store {
  public:
    // Nothing is written.
    explicit store(std::string request) : request_(std::move(request)) {}
    // Takes the blocks that are there. Makes the folder where there is none. A block has the work of so many
    // seconds. Throws as fail_to_write does.
    store(std::string request, std::filesystem::path folder, double block_seconds = 1);

    const std::string& request() const { return request_; }
    double block_seconds() const { return block_seconds_; }
    std::size_t blocks_taken() const { return blocks_taken_; }
    // Names of files that were no whole blocks; what they held is done again.
    const std::vector<std::string>& damaged() const { return damaged_; }

    // Takes records of a block elsewhere, which are not written again.
    void take(std::span<const record> all);

    std::optional<run::tally> tally_of(const key& what) const;
    std::optional<std::string> text_of(const key& what) const;
    // New records are written once a block's time is over, by write_if_due or by a text that is kept. All but
    // the first throw as fail_to_write does.
    void keep(const key& what, const run::tally& found);
    void keep(const key& what, const std::string& text);
    void write_if_due();
    // Writes a block of what is new.
    void flush();

    // Everything, in the order of fingerprints.
    std::vector<record> tallies() const;
    std::vector<record> texts() const;

  private:
    void take_one(const record& one);
    bool is_due() const;
    void write_pending();

    const std::string request_;
    const std::filesystem::path folder_{};  // empty: nothing is written
    const double block_seconds_ = 1;
    std::size_t blocks_taken_ = 0;
    std::vector<std::string> damaged_{};
    mutable std::mutex lock_{};  // of what follows
    std::map<key, run::tally> tallies_{};
    std::map<key, std::string> texts_{};
    std::vector<record> pending_{};
    std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();  // the last block
};

}  // namespace tilewalk::kept
