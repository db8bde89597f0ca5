// SPDX-License-Identifier: Apache-2.0
// Sources of decisions. The first that knows decides: the caller, followed results, kept work, a pilot.
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

namespace tilewalk::studies {

class sources {
  public:
    // `work` keeps pilots' findings by job and settings. `held`: the caller's decisions. Both may be null.
    explicit sources(const settled& run, const kept::work* work = nullptr,
                     const decide::decided_by_trade* held = nullptr)
        : run_(run), work_(work), held_(held) {}

    // Returns what the caller, else followed results decided; the rest stays open. Throws tilewalk::error
    // (input) if followed results are asked about a trade that they lack.
    decide::decided known(const std::string& trade) const;
    // Returns the caller's decisions about a trade; null if there are none.
    const decide::decided* held(const std::string& trade) const;

    // Return a pilot's decision on a job, if possible from kept work. `kind` tells apart pilots on one job.
    chosen_points points(const run::job& of, const std::function<chosen_points()>& pilot) const;
    chosen_control control(std::string_view kind, const run::job& of,
                           const std::function<chosen_control()>& pilot) const;
    std::optional<decide::chosen_shifts> shifts(
        const run::job& of, const run::job* without_control,
        const std::function<std::optional<decide::chosen_shifts>()>& pilot) const;

    bool says(std::string_view kind, const run::job& of, const std::function<bool()>& pilot) const;

    kept::fingerprint fingerprint_of(std::string_view kind, const run::job& of) const;

  private:
    const settled& run_;
    const kept::work* work_;
    const decide::decided_by_trade* held_;
};

}  // namespace tilewalk::studies
