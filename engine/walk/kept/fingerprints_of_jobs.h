// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a job's walk: of its program and its numbers, and of the paths that it walks. All tiles
// of a run have the same one.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/walk/job.h"
#include "engine/walk/kept/fingerprint.h"

namespace tilewalk::kept {

// How jobs are walked, as far as bits depend on it.
struct conditions {
    std::string precision, source, reduction;
    std::vector<std::string> arrays{};  // fingerprints of the market's arrays, by number
};

void add(fingerprint& to, const program::path_data& data);
void add(fingerprint& to, const program::timeline& when);

// The fingerprints of jobs of one walk, whose programs outlive it.
class fingerprints_of_jobs {
  public:
    fingerprints_of_jobs(const run::walk& of, const conditions& by);
    key of(const run::job& job);

  private:
    const key& of(const program::path_program& code);
    const key& of(const program::adjoint_program& code);

    const run::walk& walk_;
    const conditions& by_;
    fingerprint of_walk_;
    std::unordered_map<const program::path_program*, key> known_;
    std::unordered_map<const program::adjoint_program*, key> known_backs_;
};

}  // namespace tilewalk::kept
