// SPDX-License-Identifier: Apache-2.0
// Scripts by which a shell completes the words of a command line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/cli/help/described.h"

namespace tilewalk::cli {

std::string bash_completion(const described_program& of);
std::string zsh_completion(const described_program& of);

struct completed_shell {
    std::string_view name;
    std::string (*script)(const described_program& of);
};
std::span<const completed_shell> completed_shells();

// Quotes any text as one word of a POSIX shell.
std::string shell_word(std::string_view text);

}  // namespace tilewalk::cli
