// SPDX-License-Identifier: Apache-2.0
// One progress over several walks that follow each other, from 0 to 1 and never back, though how many walks
// there will be is a guess until the last one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewalk/run_options.h"

namespace tilewalk::verbs {

class progress_of_walks {
  public:
    progress_of_walks(const run_options& options, std::size_t trades) : options_(options), trades_(trades) {}
    progress_of_walks(const progress_of_walks&) = delete;
    progress_of_walks& operator=(const progress_of_walks&) = delete;

    // Options of a walk, which tells this one how far it is, and keeps no policies for somebody else. This
    // one outlives them.
    run_options heard();
    // How many trades all walks from here on walk, together.
    void expect(double walked) { left_ = walked; }
    // A walk of so many trades begins; one of them says how many trades have their price.
    void begin(double walked, bool is_of_prices = false);
    void end();

  private:
    void take(const progress& of_walk);
    void tell() const;

    const run_options& options_;
    std::size_t trades_, priced_ = 0;
    double left_ = 0;                // after the walk at hand
    double before_ = 0, share_ = 0;  // of the whole: done before the walk at hand, and its part
    double done_ = 0;                // of the whole
    std::uint64_t steps_before_ = 0, steps_ = 0;
    bool is_of_prices_ = false;
    std::size_t policies_ = 0, policies_done_ = 0;  // of the walk that has most
};

}  // namespace tilewalk::verbs
