// SPDX-License-Identifier: Apache-2.0
// Kernels made ready ahead of the runs that need them.
#include "tilewalk/engine.h"

namespace tilewalk {

std::vector<warmed_kernel> engine::warm(const book&, const market&, const run_options&,
                                        const std::vector<std::string>&) const {
    throw error(error_kind::device, "this build has no CUDA back end");
}

}  // namespace tilewalk
