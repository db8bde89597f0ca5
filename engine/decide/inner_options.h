// SPDX-License-Identifier: Apache-2.0
// Options of a run with what the engine itself adds to those of its caller.
#pragma once

#include <memory>

#include "tilewalk/options.h"

namespace tilewalk::decide {
class followed_run;
}
namespace tilewalk::kept {
class work;
}

namespace tilewalk::verbs {

struct inner_options : run_options {
    // Source and store of work, in place of a journal.
    std::shared_ptr<kept::work> work{};
    // Content of the files that the settings `decisions` and `policy` name.
    std::shared_ptr<const decide::followed_run> followed{};
};

}  // namespace tilewalk::verbs
