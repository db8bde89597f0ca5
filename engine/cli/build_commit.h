// SPDX-License-Identifier: Apache-2.0
// The commit that the command was built from. build_commit.cmake writes its definition at every build.
#pragma once

namespace tilewalk::cli {

// "1a2b3c4d5e6f", "1a2b3c4d5e6f-dirty" if tracked files had changed, or "unknown" outside a checkout.
const char* build_commit() noexcept;

}  // namespace tilewalk::cli
