// SPDX-License-Identifier: Apache-2.0
// Kernels of the benchmark `memory` that read a table in constant memory.
#pragma once

#include "kernels/studies/memory.h"

namespace tilewalk::kernels::studies {

template <word32 words>
struct table {
    word32 x[words];
};
template <word32 words>
static constexpr table<words> table_of_content() {
    table<words> out{};
    for (word32 i = 0; i < words; ++i) out.x[i] = content(i);
    return out;
}
template <word32 words>
static constexpr table<words> table_to_chase() {
    table<words> out{};
    constexpr word32 nodes = words / constant_node_words;
    for (word32 i = 0; i < nodes; ++i)
        out.x[i * constant_node_words] = next_node(i, nodes) * constant_node_words;
    return out;
}

template <const auto& of>
struct constant {
    static constexpr int words = 1;
    using piece = neighbours<word32, 1>;
    static piece read(const memory_job&, word64 at) { return {{of.x[at]}}; }
};

}  // namespace tilewalk::kernels::studies
