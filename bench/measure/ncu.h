// SPDX-License-Identifier: Apache-2.0
// Runs ncu, NVIDIA's kernel profiler, on another program: hardware counts of each launch.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tilewalk::bench {

struct ncu_counts {
    // By launch, in order: the values of the metrics in the order requested.
    std::vector<std::vector<double>> launches;
    std::string output;  // standard output of the profiled program
};

// Parses mixed output of `ncu --csv` and its program. Throws tilewalk::error (input) with the line number.
ncu_counts read_ncu(const std::string& text, const std::vector<std::string>& metrics);

struct ncu_outcome {
    ncu_counts counts;
    std::string why_not;  // why there are no counts, as a sentence; empty if there are
};
// Runs `program` under the ncu found on the PATH, and reads the metrics of every launch of `kernel`. Leaves
// the GPU's clocks as they are, as timings do. Throws tilewalk::error (cancelled) when `cancel` is set.
ncu_outcome run_under_ncu(const std::vector<std::string>& program, const std::string& kernel,
                          const std::vector<std::string>& metrics, double seconds,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk::bench
