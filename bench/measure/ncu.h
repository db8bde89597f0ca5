// SPDX-License-Identifier: Apache-2.0
// Runs ncu, NVIDIA's kernel profiler, on another program: hardware counts of each launch.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tilewalk::bench {

struct ncu_counts {
    // For every launch, in order, the metrics in the requested order.
    std::vector<std::vector<double>> launches;
    std::string output;  // standard output of the program itself
};

// Reads the joint output of `ncu --csv` and its program. Throws tilewalk::error (input) with the line.
ncu_counts read_ncu(const std::string& text, const std::vector<std::string>& metrics);

struct ncu_outcome {
    ncu_counts counts;
    std::string why_not;  // a sentence that says why there are no counts; empty if there are
};
// Runs `program` under the ncu on the PATH, and counts in every launch of `kernel`. Leaves clocks unchanged,
// as timings do. Throws tilewalk::error (cancelled) when `cancel` is set.
ncu_outcome run_under_ncu(const std::vector<std::string>& program, const std::string& kernel,
                          const std::vector<std::string>& metrics, double seconds,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk::bench
