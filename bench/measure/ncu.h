// SPDX-License-Identifier: Apache-2.0
// ncu, NVIDIA's profiler of kernels, run over another program: the hardware's counts of each launch.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tilewalk::bench {

struct ncu_counts {
    // For every launch, in order, the metrics in the order in which they were asked for.
    std::vector<std::vector<double>> launches;
    std::string output;  // standard output of the program itself
};

// Reads the one standard output of `ncu --csv` and of the program below it. Throws tilewalk::error (input)
// with the line.
ncu_counts read_ncu(const std::string& text, const std::vector<std::string>& metrics);

struct ncu_outcome {
    ncu_counts counts;
    std::string why_not;  // a sentence that says why there are no counts; empty if there are
};
// Runs `program` under the ncu on the PATH, and counts in every launch of `kernel`. The clocks are not
// changed, as for timings. Throws tilewalk::error (cancelled) when `cancel` is set.
ncu_outcome run_under_ncu(const std::vector<std::string>& program, const std::string& kernel,
                          const std::vector<std::string>& metrics, double seconds,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk::bench
