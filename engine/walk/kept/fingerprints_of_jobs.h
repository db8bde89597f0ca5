// SPDX-License-Identifier: Apache-2.0
// Fingerprints of a job's walk: its programs, its numbers, its paths. All tiles of a run have the same one.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/walk/job.h"
#include "engine/walk/kept/fingerprint.h"

namespace tilewalk::kept {

// Settings of a run that change the bits of its results.
struct conditions {
    std::string precision, source, reduction;
    std::vector<std::string> arrays{};  // fingerprints of the market's arrays, by number
};

void add(fingerprint& to, const program::path_data& data);
void add(fingerprint& to, const program::timeline& when);

// Fingerprints of the jobs of one walk. Programs are remembered by address, so they must outlive this object.
class fingerprints_of_jobs {
  public:
    fingerprints_of_jobs(const run::walk& of, const conditions& by);
    key key_of(const run::job& job);

  private:
    const key& key_of(const program::path_program& code);
    const key& key_of(const program::adjoint_program& code);

    const run::walk& walk_;
    const conditions& by_;
    fingerprint of_walk_;
    std::unordered_map<const program::path_program*, key> known_;
    std::unordered_map<const program::adjoint_program*, key> known_backs_;
};

}  // namespace tilewalk::kept
