// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/same_bits.h"

namespace tilewalk::bench {

const std::string& compare_text() {
    static const std::string text =
        "#include \"kernels/studies/compare.h\"\n"
        "extern \"C\" __global__ void __launch_bounds__(256) compare(const unsigned* a, const unsigned* b, "
        "unsigned long long count, unsigned long long* differing) {\n"
        "    tilewalk::kernels::studies::compare(a, b, count, differing);\n}\n";
    return text;
}

std::uint64_t differing_words(gpu_timer& on, const void* a, const void* b, std::size_t bytes) {
    // The counter begins at 1, so that a kernel that does not run can't pass for "no difference".
    constexpr unsigned long long before = 1;
    const cuda::device_memory differing = on.uploaded(std::vector<unsigned long long>{before});
    unsigned long long count = bytes / 4;
    auto* into = differing.as<unsigned long long>();
    const cuda::kernel k = on.find(compare_text(), "compare");
    cuda::launch how;
    how.blocks = static_cast<std::uint32_t>(on.device().properties().multiprocessors) * 8;
    how.threads = 256;
    const auto* first = static_cast<const unsigned*>(a);
    const auto* second = static_cast<const unsigned*>(b);
    void* arguments[] = {&first, &second, &count, &into};
    on.run(k, how, arguments);
    return on.downloaded<unsigned long long>(into, 1).at(0) - before;
}

}  // namespace tilewalk::bench
