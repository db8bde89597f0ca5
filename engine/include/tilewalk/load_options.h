// SPDX-License-Identifier: Apache-2.0
// Options for reading books, markets and quotes, and the files that they name.
#pragma once

namespace tilewalk {

class timings;

struct load_options {
    // For machine-written files: refuses truncated ones. Files have to end with YAML's "..."; instead, a book
    // may state its trade_count, with nothing but trades after it.
    bool strict = false;
    // For untrusted files: a file may only name files in or below its own folder, symbolic links followed.
    bool confine = false;
    // Threads that read the trades of a long book; 0: one for each core.
    int threads = 0;
    timings* times = nullptr;
};

}  // namespace tilewalk
