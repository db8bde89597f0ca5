// SPDX-License-Identifier: Apache-2.0
// Options of a run: the caller's, and what the engine's own callers add.
#pragma once

#include <memory>

#include "tilewalk/options.h"

namespace tilewalk::decide {
class followed_run;
}
namespace tilewalk::kept {
class work;
}

namespace tilewalk::studies {

struct inner_options : run_options {
    // Finds and stores finished work, in place of a journal.
    std::shared_ptr<kept::work> work{};
    // Decisions to follow; null: those in the files of the settings `decisions` and `policy`.
    std::shared_ptr<const decide::followed_run> followed{};
};

}  // namespace tilewalk::studies
