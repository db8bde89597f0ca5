// SPDX-License-Identifier: Apache-2.0
// Releases the GIL. Shutdown waits for threads that have released it: if one took it back later, Python would
// unwind its stack and crash.
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include "python/extension/module.h"

namespace tilewalk::python {

// Releases the GIL for its lifetime; replaces nb::gil_scoped_release.
class without_interpreter {
  public:
    without_interpreter();
    ~without_interpreter();
    without_interpreter(const without_interpreter&) = delete;
    without_interpreter& operator=(const without_interpreter&) = delete;

  private:
    PyThreadState* state_ = nullptr;
};

// Returns what `write` writes to a stream, without holding the GIL.
template <class Write>
std::string text_by(Write write) {
    const without_interpreter others_run;
    std::ostringstream out;
    write(out);
    return std::move(out).str();
}

// True once Python is shutting down, unless the caller's thread shuts it down. Work then has to stop.
bool is_python_ending();

// Makes Python wait at shutdown for threads without the GIL.
void add_ending(nb::module_& to);

}  // namespace tilewalk::python
