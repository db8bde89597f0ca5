// SPDX-License-Identifier: Apache-2.0
// The sources of decisions about the trades of a run. The first that knows decides: the caller, who may hold
// some, results that the run follows, the work that is gone on with, a pilot.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/decide/controls/controls.h"
#include "engine/decide/decided.h"
#include "engine/decide/pilot.h"
#include "engine/decide/settled.h"
#include "engine/walk/kept/work.h"

namespace tilewalk::verbs {

class sources {
  public:
    // `work` keeps what pilots find, by the job that a pilot walks and by all settings that it follows; null:
    // pilots decide anew. `held` by the caller; null: nothing is.
    explicit sources(const settled& run, const kept::work* work = nullptr,
                     const decide::decided_by_trade* held = nullptr)
        : run_(run), work_(work), held_(held) {}

    // Decisions that need no pilot. Throws tilewalk::error (input) for a trade that the results to follow
    // lack.
    decide::decided known(const std::string& trade) const;
    // Decisions that the caller holds about a trade; null: none.
    const decide::decided* held(const std::string& trade) const;

    // Decisions of a pilot on a job. `kind` tells apart different pilots on one job.
    chosen_points points(const run::job& of, const std::function<chosen_points()>& pilot) const;
    chosen_control control(std::string_view kind, const run::job& of,
                           const std::function<chosen_control()>& pilot) const;
    std::optional<decide::chosen_shifts> shifts(
        const run::job& of, const run::job* without_control,
        const std::function<std::optional<decide::chosen_shifts>()>& pilot) const;

    bool says(std::string_view kind, const run::job& of, const std::function<bool()>& pilot) const;

    // The fingerprint of a decision on this job, to which more may be added.
    kept::fingerprint fingerprint_of(std::string_view kind, const run::job& of) const;

  private:
    const settled& run_;
    const kept::work* work_;
    const decide::decided_by_trade* held_;
};

}  // namespace tilewalk::verbs
