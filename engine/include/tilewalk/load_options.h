// SPDX-License-Identifier: Apache-2.0
// Options for reading books, markets and quotes, and the files that they name.
#pragma once

namespace tilewalk {

class timings;

struct load_options {
    // For files that a machine wrote: one that may have been cut short is refused. Every file that is read
    // has to end with YAML's "..."; a book may state its trade_count in its place, after which nothing but
    // the trades may follow.
    bool strict = false;
    // For files of strangers: whatever a file names has to be in the folder of that file or below it,
    // symbolic links followed.
    bool confine = false;
    // Threads that read the trades of a long book; 0: one for each core.
    int threads = 0;
    // Takes the time of reading, if anybody wants to know.
    timings* times = nullptr;
};

}  // namespace tilewalk
