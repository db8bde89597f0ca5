// SPDX-License-Identifier: Apache-2.0
// Finished work of a run by fingerprint: tallies of jobs, perhaps over some tiles only, and decisions of
// pilots. New records go to the folder, if any, in blocks, about one a second. A killed run loses one at
// most.
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
    // A store in memory, which writes no files.
    explicit store(std::string request) : request_(std::move(request)) {}
    // Reads the blocks in the folder, which is created if missing. Throws what fail_to_write throws.
    store(std::string request, std::filesystem::path folder, double block_seconds = 1);

    const std::string& request() const { return request_; }
    double block_seconds() const { return block_seconds_; }
    std::size_t blocks_taken() const { return blocks_taken_; }
    // Files in the folder that are not whole blocks of this run; the work in them is done again.
    const std::vector<std::string>& damaged() const { return damaged_; }

    // Adds records that were read from another place. They are not written to the folder.
    void add_records(std::span<const record> all);

    std::optional<run::tally> tally_of(const key& what) const;
    std::optional<std::string> text_of(const key& what) const;
    // Add a record. Records are written as a block once block_seconds have passed since the last; all of
    // these functions but the first may write, and then throw what fail_to_write throws.
    void keep(const key& what, const run::tally& found);
    void keep(const key& what, const std::string& text);
    void write_if_due();
    void flush();

    // All records of a kind, in the order of fingerprints.
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
    mutable std::mutex lock_{};  // guards the members below
    std::map<key, run::tally> tallies_{};
    std::map<key, std::string> texts_{};
    std::vector<record> pending_{};
    // Time of the last block
    std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

}  // namespace tilewalk::kept
