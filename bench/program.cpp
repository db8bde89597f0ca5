// SPDX-License-Identifier: Apache-2.0
// The entry point of `tilewalk bench`, a program of its own that the command tilewalk starts.
#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    return run_program({argv + 1, argv + argc}, {add_bench});
}
