// SPDX-License-Identifier: Apache-2.0
// Decisions of pilots that are kept with a run's work: whoever goes on with the work, or does a share of it,
// takes them without a pilot. A decision is known by the job that its pilot walks, and by all settings that a
// pilot follows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/kept/work.h"
#include "engine/verbs/controls.h"
#include "engine/verbs/importance.h"
#include "engine/verbs/pilot.h"
#include "engine/verbs/planned.h"

namespace tilewalk::verbs {

class remembered {
  public:
    // `work` may be null: then all is decided anew.
    remembered(const kept::work* work, const settled& run) : work_(work), run_(run) {}

    // `kind` tells apart decisions of different pilots on one job.
    chosen_points points(const run::job& of, const std::function<chosen_points()>& decide) const;
    chosen_control control(std::string_view kind, const run::job& of,
                           const std::function<chosen_control()>& decide) const;
    std::optional<chosen_shifts> shifts(const run::job& of, const run::job* without_control,
                                        const std::function<std::optional<chosen_shifts>()>& decide) const;

    // The fingerprint of a decision on this job, to which more may be added.
    kept::fingerprint fingerprint_of(std::string_view kind, const run::job& of) const;

  private:
    const kept::work* work_;
    const settled& run_;
};

}  // namespace tilewalk::verbs
