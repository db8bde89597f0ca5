// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/exit_code.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace tilewalk::cli {

namespace {

struct entry {
    int code;
    std::string_view means;
};
constexpr std::array exit_codes{
    entry{all_well, "all went well"},
    entry{defect, "a defect of Tilewalk itself; please report it"},
    entry{bad_input, "wrong usage, or a file that is missing, wrong or can't be written"},
    entry{some_failed,
          "some trades, kernels, fits or rows failed or missed their tolerance, or results differ; the "
          "others are reported"},
    entry{slower, "bench: something is slower than the baseline"},
    entry{unverified, "verify: a price came out wrong, or a mistake went unnoticed"},
    entry{try_again,
          "the machine failed, not the input: a full disk, no memory, a GPU that is lost or missing; merge: "
          "shards are missing"},
    entry{interrupted, "stopped by Ctrl-C (SIGINT); verify and bench write their results so far"},
    entry{terminated, "stopped by SIGTERM; likewise"},
};

}  // namespace

int exit_code_of(error_kind kind) {
    switch (kind) {
        case error_kind::usage:
        case error_kind::input:
        case error_kind::io:
            return bad_input;
        case error_kind::numeric:
        case error_kind::compile:
            return some_failed;
        case error_kind::cancelled:
            return interrupted;
        case error_kind::device:
            return try_again;
        case error_kind::internal:
            return defect;
    }
    return defect;
}

std::string exit_code_text() {
    std::string out;
    for (const entry& e : exit_codes) out += fmt::format("{:>3}  {}\n", e.code, e.means);
    return out;
}

std::string exit_code_hint() {
    return "'tilewalk help exit-codes' lists all.";
}

}  // namespace tilewalk::cli
