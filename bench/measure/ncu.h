// SPDX-License-Identifier: Apache-2.0
// ncu, NVIDIA's profiler of kernels, run over another program: what the hardware counted of each launch.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tilewalk::bench {

struct ncu_counts {
    // Of every launch, in order, the metrics as they were asked for.
    std::vector<std::vector<double>> launches;
    std::string output;  // what the program itself wrote to standard output
};

// What `ncu --csv` and the program below it wrote to one standard output. Throws tilewalk::error (input) with
// the line.
ncu_counts read_ncu(const std::string& text, const std::vector<std::string>& metrics);

struct ncu_outcome {
    ncu_counts counts;
    std::string why_not;  // in one sentence why there are no counts, or empty
};
// Runs `program` under the ncu of the PATH, and counts in every launch of `kernel`. The clocks are left as
// they are, as where times are taken. Throws tilewalk::error (cancelled) once `cancel` is set.
ncu_outcome run_under_ncu(const std::vector<std::string>& program, const std::string& kernel,
                          const std::vector<std::string>& metrics, double seconds,
                          const std::atomic<bool>* cancel = nullptr);

}  // namespace tilewalk::bench
