// SPDX-License-Identifier: Apache-2.0
// The command tilewalk verify, which the command tilewalk starts.
#include <string>
#include <vector>

#include "engine/cli/program.h"

int main(int argc, char** argv) {
    using namespace tilewalk::cli;
    std::vector<std::string> arguments(argv + 1, argv + argc);
    arguments.insert(arguments.begin(), "verify");
    return run_program(arguments, {add_verify});
}
