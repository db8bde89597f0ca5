// SPDX-License-Identifier: Apache-2.0
// Time without the interpreter. When Python shuts down it ends every thread that asks for the interpreter by
// unwinding its stack, of which a C++ program dies; so all threads are back before.
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include "python/extension/module.h"

namespace tilewalk::python {

// Lets other threads run Python until it goes out of scope: in place of nb::gil_scoped_release.
class without_interpreter {
  public:
    without_interpreter();
    ~without_interpreter();
    without_interpreter(const without_interpreter&) = delete;
    without_interpreter& operator=(const without_interpreter&) = delete;

  private:
    PyThreadState* state_ = nullptr;
};

// The text that `write` puts into a stream, made without the interpreter, which others may use meanwhile.
template <class Write>
std::string text_by(Write write) {
    const without_interpreter others_run;
    std::ostringstream out;
    write(out);
    return std::move(out).str();
}

// True in every thread but the one that shuts Python down, from when it begins to: work is to stop.
bool is_python_ending();

// Has Python wait for threads that are without it when it shuts down.
void add_ending(nb::module_& to);

}  // namespace tilewalk::python
