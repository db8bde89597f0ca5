// SPDX-License-Identifier: Apache-2.0
// The program tilewalk-verify, which the command `tilewalk verify` starts.
#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    return run_program({argv + 1, argv + argc}, {add_verify});
}
