// SPDX-License-Identifier: Apache-2.0
// The program tilewalk.
#include "engine/cli/all_commands.h"
#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    return run_program({argv + 1, argv + argc}, all_commands());
}
