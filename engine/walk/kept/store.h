// SPDX-License-Identifier: Apache-2.0
// The known work of a request: tallies of jobs, as far as walked, and decisions of pilots, by fingerprint.
// New records go into blocks of a folder, if there is one, about one a second, so that a run that ends at any
// moment loses one block at most.
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
    // Writes nothing.
    explicit store(std::string request) : request_(std::move(request)) {}
    // Reads the folder's blocks, or makes the folder. Throws as fail_to_write does.
    store(std::string request, std::filesystem::path folder, double block_seconds = 1);

    const std::string& request() const { return request_; }
    double block_seconds() const { return block_seconds_; }
    std::size_t blocks_taken() const { return blocks_taken_; }
    // Files that were no whole blocks; their work is done again.
    const std::vector<std::string>& damaged() const { return damaged_; }

    // Takes records from a block elsewhere, without writing them again.
    void take(std::span<const record> all);

    std::optional<run::tally> tally_of(const key& what) const;
    std::optional<std::string> text_of(const key& what) const;
    // New records are written once a block's time is over. All but the first throw as fail_to_write does.
    void keep(const key& what, const run::tally& found);
    void keep(const key& what, const std::string& text);
    void write_if_due();
    void flush();

    // All, in the order of fingerprints.
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
    mutable std::mutex lock_{};  // guards what follows
    std::map<key, run::tally> tallies_{};
    std::map<key, std::string> texts_{};
    std::vector<record> pending_{};
    std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();  // time of the last
                                                                                        // block
};

}  // namespace tilewalk::kept
