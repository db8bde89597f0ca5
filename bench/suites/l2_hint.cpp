// SPDX-License-Identifier: Apache-2.0
// Expected of sum(tanh(x)) over 2^28 floats: each byte is needed once, so a hint can at best reach the speed
// of a copy (share_of_copy). A quarter of a warp covers 128 bytes by 16-byte loads; L2::256B fetches the next
// 128 before the next quarter asks for them. With narrow loads the whole warp covers 128 bytes, and the hint
// gains nothing. Four loads under way in each thread hide as much, and so does a ring of asynchronous copies.
#include "bench/suites/l2_hint.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/suites/group.h"
#include "kernels/studies/content.h"

namespace tilewalk::bench {

namespace l2_hint {

namespace {

constexpr std::uint64_t block_threads = 256;
constexpr std::uint64_t full_count = std::uint64_t{1} << 28;
// Each thread has 64 bytes under way. At 16 KiB of shared memory a block, threads limit the blocks resident.
constexpr int stages = 4, pieces_through_ring = 32;
// Number of blocks, at the start, middle and end of the array, whose sums the host checks.
constexpr std::uint64_t checked_blocks = 16;

const std::string fill_text =
    "#include \"kernels/studies/l2_hint.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256) fill(float* to, unsigned long long count) {\n"
    "    tilewalk::kernels::studies::fill_with_singles(to, count);\n}\n";

std::string qualified(const access& a, const std::string& hint) {
    return hint == "none" ? a.instruction : a.instruction + ".L2::" + hint;
}

std::string reader_text(const access& a, const std::string& hint) {
    const int words = a.bytes / 4;
    std::string to, outputs;
    for (int w = 0; w < words; ++w) {
        const std::string comma = w == 0 ? "" : ", ", number = std::to_string(w);
        to += comma + "%" + number;
        outputs += comma + "\"=r\"(to[" + number + "])";
    }
    const std::string vector = words == 1 ? "" : ".v" + std::to_string(words);
    if (words > 1) to = "{" + to + "}";
    return "struct reader {\n"
           "    static void read(unsigned (&to)[" +
           std::to_string(words) +
           "], const char* from) {\n"
           "        asm volatile(\"" +
           qualified(a, hint) + vector + ".b32 " + to + ", [%" + std::to_string(words) + "];\" : " + outputs +
           " : \"l\"(from));\n    }\n};\n";
}

std::string copier_text(const access& a, const std::string& hint) {
    return "struct copier {\n"
           "    static void copy(unsigned to, const char* from) {\n"
           "        asm volatile(\"" +
           qualified(a, hint) + " [%0], [%1], " + std::to_string(a.bytes) +
           ";\" :: \"r\"(to), \"l\"(from) : \"memory\");\n    }\n};\n";
}

std::string why_wrong(const access& a, const std::vector<float>& sums) {
    const std::uint64_t blocks = sums.size();
    for (std::uint64_t i = 0; i < std::min(3 * checked_blocks, blocks); ++i) {
        std::uint64_t block = i;
        if (blocks > 3 * checked_blocks) {
            if (i >= 2 * checked_blocks) {
                block = blocks - 3 * checked_blocks + i;
            } else if (i >= checked_blocks) {
                block = blocks / checked_blocks * (i - checked_blocks) + blocks / (2 * checked_blocks);
            }
        }
        const block_truth truth = truth_of_block(a, block);
        if (std::abs(static_cast<double>(sums[block]) - truth.sum) <= truth.bound) continue;
        return "the sum of block " + std::to_string(block) + " is " + std::to_string(sums[block]) +
               ", expected " + std::to_string(truth.sum) + " within " + std::to_string(truth.bound);
    }
    return "";
}

const char* group_name(int bytes) {
    return bytes == 16 ? "quarter warp" : bytes == 8 ? "half warp" : "full warp";
}

// The published time of this access and hint, null if there is none: an article measured one kernel only.
const char* published(const access& a, const std::string& hint) {
    if (a.instruction != "ld.global" || a.bytes != 16 || a.pieces != 1) return nullptr;
    return hint == "none" ? "355.90 us on an H20" : hint == "256B" ? "313.95 us on an H20" : nullptr;
}

}  // namespace

std::uint64_t access::block_elements() const {
    return block_threads * static_cast<std::uint64_t>(pieces * bytes / 4);
}

const std::vector<access>& accesses() {
    static const std::vector<access> all = [] {
        std::vector<access> out;
        for (const char* instruction : {"ld.global", "ld.global.nc"}) {
            for (const int bytes : {16, 8, 4}) {
                for (const int loads : {1, 4}) out.push_back({instruction, bytes, loads, false});
            }
        }
        out.push_back({"cp.async.cg.shared.global", 16, pieces_through_ring, true});
        for (const int bytes : {16, 8, 4})
            out.push_back({"cp.async.ca.shared.global", bytes, pieces_through_ring, true});
        return out;
    }();
    return all;
}

const std::vector<std::string>& hints() {
    static const std::vector<std::string> all = {"none", "64B", "128B", "256B"};
    return all;
}

std::string text_of(const access& a, const std::string& hint) {
    const std::string words = std::to_string(a.bytes / 4), pieces = std::to_string(a.pieces);
    const std::string call = a.copies ? "sum_of_tanh_through_ring<copier, " + words + ", " + pieces + ", " +
                                            std::to_string(stages) + ">"
                                      : "sum_of_tanh<reader, " + words + ", " + pieces + ">";
    return "#include \"kernels/studies/l2_hint.h\"\n" +
           (a.copies ? copier_text(a, hint) : reader_text(a, hint)) +
           "extern \"C\" __global__ void __launch_bounds__(256) sum(const char* from, float* sums) {\n"
           "    tilewalk::kernels::studies::" +
           call + "(from, sums);\n}\n";
}

block_truth truth_of_block(const access& a, std::uint64_t block) {
    const std::uint64_t count = a.block_elements();
    double sum = 0, magnitude = 0;
    for (std::uint64_t i = block * count; i < (block + 1) * count; ++i) {
        const double t = std::tanh(static_cast<double>(kernels::studies::single_content(i)));
        sum += t;
        magnitude += std::abs(t);
    }
    // Bound of the sum's error: that of the tanh instruction and a tenth more, plus a rounding for each
    // addition: those of the thread, 5 in the warp, 7 in the block.
    const double additions = static_cast<double>(a.pieces * a.bytes / 4 + 12);
    return {sum, magnitude * (1.1 * 0x1p-11 + additions * 0x1p-24)};
}

}  // namespace l2_hint

void run_l2_hint(gpu_timer& on, const request&, const sink& to) {
    using namespace l2_hint;
    std::uint64_t count = full_count;
    // The array takes at most a quarter of the memory, and at least what one block of each access reads.
    while (count * 4 > on.device().free_bytes() / 4 && count > (1U << 20)) count /= 2;
    std::vector<std::string> texts = {fill_text};
    for (const access& a : accesses()) {
        for (const std::string& hint : hints()) texts.push_back(text_of(a, hint));
    }
    on.compile(texts);

    const cuda::device_memory numbers(on.device(), count * sizeof(float));
    const cuda::device_memory sums(on.device(), count / block_threads * sizeof(float));
    const cuda::in_flight waits(on.device(), {on.stream()});
    void* all = numbers.as<void>();
    void* out = sums.as<void>();
    {
        unsigned long long elements = count;
        void* arguments[] = {&all, &elements};
        cuda::launch how;
        how.blocks = static_cast<std::uint32_t>(count / block_threads);
        how.threads = block_threads;
        on.run(on.find(fill_text, "fill"), how, arguments);
    }
    for (const access& a : accesses()) {
        group rows("l2_hint", to);
        cuda::launch how;
        how.blocks = static_cast<std::uint32_t>(count / a.block_elements());
        how.threads = block_threads;
        std::vector<float> expected;
        for (const std::string& hint : hints()) {
            json axes{{"instruction", a.instruction},
                      {"group", group_name(a.bytes)},
                      {"bytes", a.bytes},
                      {"pieces", a.pieces},
                      {"hint", hint},
                      {"count", count}};
            rows.add(std::move(axes), [&](row& r) {
                const cuda::kernel k = on.find(text_of(a, hint), "sum");
                void* arguments[] = {&all, &out};
                const auto launched = [&] { on.run(k, how, arguments); };
                on.device().fill(out, 0xff, sums.bytes(), on.stream());  // NaN: shows unwritten sums
                launched();
                const auto got = on.downloaded<float>(out, how.blocks);
                if (expected.empty()) {
                    r.wrong = why_wrong(a, got);
                    if (r.wrong.empty()) expected = got;
                } else if (std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) != 0) {
                    r.wrong = "other bits than without the qualifier";
                }
                if (!r.wrong.empty()) return;
                const auto t = on.time(launched);
                r.figures = figures_of(t);
                const double rate = static_cast<double>(count * 4) / (t.milliseconds.median * 1e-3);
                r.figures["bytes_per_second"] = rate;
                r.figures["share_of_copy"] = rate / on.copy_rate();
                if (const char* text = published(a, hint)) r.figures["published"] = text;
            });
        }
    }
}

}  // namespace tilewalk::bench
