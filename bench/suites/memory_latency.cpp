// SPDX-License-Identifier: Apache-2.0
// Latency of each memory: one thread chases pointers, and each load waits for the address that the last one
// read. Expected: tens of nanoseconds on the multiprocessor (shared memory, cached constants, L1), hundreds
// for L2, more for device memory, where random order adds address translation. A texture fetch takes longer.
//
// A row's latency is the time of a long chase less that of a short one, over the additional loads, which
// removes the cost of starting a kernel.
#include <optional>

#include "bench/suites/memory_study.h"

namespace tilewalk::bench::memory {

namespace {

constexpr word32 short_reads = 1024, long_reads = short_reads + 16384;

struct chased {
    const char* space;
    std::string text;
    word64 footprint_bytes;  // 0: unlimited, in device memory
    word32 nodes;
    word32 node_words;
    bool is_texture = false;
};

std::string chain_constant_text(word32 words) {
    return text_with_table("chase<constant<numbers>>", "table_to_chase", words);
}

const std::vector<chased>& chases() {
    using namespace kernels::studies;
    static const std::vector<chased> all = {
        {"global", text_of("chase<global<1>>"), 0, 0, line_words},
        {"read_only", text_of("chase<read_only<1>>"), 0, 0, line_words},
        {"texture", text_of("chase<texels>"), 0, 0, line_words, true},
        {"shared", text_of("chase_in_shared"), shared_words * sizeof(word32), shared_words, 1},
        {"constant", chain_constant_text(256), 1024, 256 / constant_node_words, constant_node_words},
        {"constant", chain_constant_text(4096), 16384, 4096 / constant_node_words, constant_node_words},
    };
    return all;
}

const std::string chain_fill_text =
    "#include \"kernels/studies/memory.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256) fill(unsigned* to, unsigned long long nodes) {\n"
    "    tilewalk::kernels::studies::fill_with_chase(to, nodes);\n}\n";

word32 end_of(word32 nodes, word32 node_words, word32 reads) {
    word32 node = 0;
    for (word32 n = 0; n < reads; ++n) node = kernels::studies::next_node(node, nodes);
    return node * node_words;
}

void chase(study& s, row& r, const chased& c, memory_job job, word32 nodes, bool is_warm) {
    summed what;
    what.text = c.text;
    what.is_warm = is_warm;
    what.job = job;
    row shorter;
    for (const word32 reads : {short_reads, long_reads}) {
        what.job.reads = reads;
        what.truth = end_of(nodes, c.node_words, reads);
        row& into = reads == short_reads ? shorter : r;
        if (!s.measure(into, what)) {
            r.wrong = into.wrong;
            return;
        }
    }
    const double milliseconds =
        r.figures["milliseconds"].get<double>() - shorter.figures["milliseconds"].get<double>();
    r.figures["latency_ns"] = milliseconds * 1e6 / (long_reads - short_reads);
}

}  // namespace

void latency(study& s) {
    group rows = s.rows();
    // The last footprint is half of the numbers, in bytes.
    for (const word64 footprint : {word64{16} << 10, word64{64} << 10, word64{4} << 20, s.words() * 2}) {
        const auto nodes = static_cast<word32>(footprint / (kernels::studies::line_words * sizeof(word32)));
        for (const chased& c : chases()) {
            if (c.footprint_bytes != 0) continue;
            rows.add({{"kind", "latency"}, {"space", c.space}, {"footprint_bytes", footprint}}, [&](row& r) {
                const cuda::device_memory table(s.on.device(), footprint);
                std::optional<cuda::owned_texture> texture;
                if (c.is_texture) {
                    texture = s.texture_over(table.as<void>(), footprint, r);
                    if (!texture) return;
                }
                const cuda::in_flight waits(s.on.device(), {s.on.stream()});
                void* target = table.as<void>();
                unsigned long long count = nodes;
                void* arguments[] = {&target, &count};
                cuda::launch how;
                how.blocks = static_cast<std::uint32_t>((nodes + block_threads - 1) / block_threads);
                how.threads = block_threads;
                s.on.run(s.on.find(chain_fill_text, "fill"), how, arguments);
                memory_job job = s.job();
                job.from = table.as<void>();
                if (texture) job.texture = static_cast<word64>(texture->get());
                // The L2 cache is flushed before each sample if the footprint does not fit into it.
                chase(s, r, c, job, nodes, footprint <= s.on.device().properties().l2_bytes);
            });
        }
    }
    for (const chased& c : chases()) {
        if (c.footprint_bytes == 0) continue;
        rows.add({{"kind", "latency"}, {"space", c.space}, {"footprint_bytes", c.footprint_bytes}},
                 [&](row& r) { chase(s, r, c, s.job(), c.nodes, true); });
    }
}

std::vector<std::string> latency_texts() {
    std::vector<std::string> all = {chain_fill_text};
    for (const chased& c : chases()) all.push_back(c.text);
    return all;
}

}  // namespace tilewalk::bench::memory
