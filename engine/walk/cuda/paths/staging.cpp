// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/staging.h"

#include <thread>

namespace tilewalk::cuda {

void staging::wait_until_copied(piece& p) {
    while (!on_.has_happened(p.copied->get())) std::this_thread::yield();
    p.copied.reset();
}

}  // namespace tilewalk::cuda
