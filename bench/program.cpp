// SPDX-License-Identifier: Apache-2.0
// The command tilewalk bench, started by the command tilewalk.
#include <string>
#include <vector>

#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    std::vector<std::string> arguments(argv + 1, argv + argc);
    arguments.insert(arguments.begin(), "bench");
    return run_program(arguments, {add_bench});
}
