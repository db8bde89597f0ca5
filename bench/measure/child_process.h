// SPDX-License-Identifier: Apache-2.0
// Another program, run to its end or to a time limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace tilewalk::bench {

struct child_outcome {
    std::string output;       // standard output, at most `most_output` bytes
    std::string last_error;   // the last line of standard error that is not empty
    std::string why_not;      // why the program failed; empty if it ended well
    bool has_started = true;  // false if there is no such program
};

// Looks for `command` on the PATH; no shell is involved. After `seconds`, or with more output than
// `most_output`, kills the program and its children. Throws tilewalk::error (cancelled) when `cancel` is set.
child_outcome run_child(const std::vector<std::string>& command, double seconds, std::size_t most_output,
                        const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk::bench
