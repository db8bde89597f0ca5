// SPDX-License-Identifier: Apache-2.0
// Global memory: ways and orders of reading it. Expected:
// - Bandwidth falls in steps where the footprint leaves the L1 cache of a multiprocessor and then the L2
//   cache. The read-only path is the same cache on today's GPUs, and as fast; a texture fetch moves 8 bytes
//   and goes through fewer units.
// - Memory moves in sectors of 32 bytes: with a stride of 8 words or more each word costs a sector, and an
//   eighth of the bytes is useful. A misaligned warp touches one sector more, which its neighbour has brought
//   into the cache: nearly free.
// - Records of 12 bytes cost three loads that share sectors; padded to 16 they are one load, with a quarter
//   of the bytes wasted. Arrays of fields move useful bytes only.
// - Rows that do not begin on a sector cost little if they are long; padding short ones costs more than it
//   gains.
// - Textures are thought to suit patches of 8 by 4 texels. A linear texture has rows as global memory has, so
//   its gain is the cache's alone. (There are no 2D textures here.)
#include <array>
#include <optional>
#include <string_view>

#include "bench/suites/memory_study.h"

namespace tilewalk::bench::memory {

namespace {

constexpr word32 reads = 32;

struct path {
    const char* space;
    const char* source;  // name of the reader in kernels/studies/memory.h
    int bytes;
};
constexpr std::array<path, 5> paths = {{{"global", "global<4>", 16},
                                        {"global", "global<2>", 8},
                                        {"read_only", "read_only<4>", 16},
                                        {"read_only", "read_only<2>", 8},
                                        {"texture", "texels", 8}}};

std::string again_text(const path& p) {
    return text_of(std::string("sum_again<") + p.source + ">");
}
std::string patches_text(const char* source) {
    return text_of(std::string("sum_patches<") + source + ">");
}
std::string in_order_text(const char* source) {
    return text_of(std::string("sum_strided<") + source + ">");
}
const char* const layouts[] = {"arrays_of_fields", "packed_records", "padded_records"};
std::string records_text(const char* layout) {
    return text_of(std::string("sum_records<") + layout + ">");
}
const std::string rows_text = text_of("sum_rows");

bool is_texture(const path& p) {
    return std::string_view(p.space) == "texture";
}

// Times reading the first `bytes` bytes of the numbers by one kind of load, such as a texture bound to them.
void measure_path(study& s, row& r, const path& p, word64 bytes, summed& what) {
    std::optional<cuda::owned_texture> texture;
    if (is_texture(p)) {
        texture = s.texture_over(s.numbers(), bytes, r);
        if (!texture) return;
        what.job.texture = static_cast<word64>(texture->get());
    }
    const cuda::in_flight waits(s.on.device(), {s.on.stream()});
    s.measure(r, what);
}

// A launch reads as many bytes as all numbers have, at every footprint: a small one is read repeatedly.
void bandwidth(study& s) {
    const word64 all = s.words() * sizeof(word32);
    for (const path& p : paths) {
        group rows = s.rows();
        for (const word64 footprint : {word64{16} << 10, word64{128} << 10, word64{8} << 20, all}) {
            rows.add({{"kind", "bandwidth"},
                      {"space", p.space},
                      {"bytes", p.bytes},
                      {"footprint_bytes", footprint}},
                     [&](row& r) {
                         const auto bytes = static_cast<word64>(p.bytes);
                         summed what;
                         what.text = again_text(p);
                         what.how = study::blocks_for(all / bytes, reads);
                         what.job = s.job();
                         what.job.count = footprint / bytes;
                         what.job.reads = reads;
                         what.truth = (footprint == all ? s.total()
                                                        : sum_of_content(0, footprint / sizeof(word32)) *
                                                              static_cast<word32>(all / footprint));
                         what.useful_bytes = static_cast<double>(all);
                         what.is_warm = true;
                         what.is_streamed = footprint > s.on.device().properties().l2_bytes;
                         measure_path(s, r, p, footprint, what);
                     });
        }
    }
}

void in_order(study& s, row& r, word64 count, word64 stride, word64 offset) {
    summed what;
    what.text = in_order_text("global<1>");
    what.how = study::blocks_for(count, reads);
    what.job = s.job();
    what.job.stride = stride;
    what.job.offset = offset;
    what.job.reads = reads;
    what.truth = sum_of_content(offset, count, stride);
    what.useful_bytes = static_cast<double>(count * sizeof(word32));
    what.is_streamed = true;
    s.measure(r, what);
}

void misaligned(study& s) {
    group rows = s.rows();
    for (const int bytes : {0, 4, 8, 16, 32, 64}) {
        rows.add({{"kind", "misaligned"}, {"offset_bytes", bytes}},
                 [&](row& r) { in_order(s, r, s.words() / 2, 1, static_cast<word64>(bytes) / 4); });
    }
}

// All strides read equally many words: as many as there are at the largest stride.
void strided(study& s) {
    constexpr word64 largest = 32;
    group rows = s.rows();
    for (word64 stride = 1; stride <= largest; stride *= 2) {
        rows.add({{"kind", "strided"}, {"stride_words", stride}},
                 [&](row& r) { in_order(s, r, s.words() / largest, stride, 0); });
    }
}

void records(study& s) {
    const word64 count = s.words() / 4;
    group rows = s.rows();
    for (const char* layout : layouts) {
        rows.add({{"kind", "records"}, {"layout", layout}}, [&](row& r) {
            const bool is_apart = layout == layouts[0];
            const word64 words_apart = is_apart ? 1 : layout == layouts[1] ? 3 : 4;
            summed what;
            what.text = records_text(layout);
            what.how = study::blocks_for(count, reads);
            what.job = s.job();
            what.job.count = count;
            what.job.reads = reads;
            for (word64 field = 0; field < 3; ++field) {
                what.truth += (2 * static_cast<word32>(field) + 1) *
                              sum_of_content(is_apart ? field * count : field, count, words_apart);
            }
            what.useful_bytes = static_cast<double>(count * 3 * sizeof(word32));
            what.is_streamed = true;
            s.measure(r, what);
        });
    }
}

void pitched_rows(study& s) {
    for (const word64 width : {word64{1001}, word64{33}}) {
        group rows = s.rows();
        const word64 padded = (width + 31) / 32 * 32;
        // A row less than whole blocks of 8 rows, so that a warp of the last block has none.
        const word64 count = s.words() / 2 / padded / 8 * 8 - 1;
        for (const word64 pitch : {padded, width}) {
            rows.add({{"kind", "rows"}, {"width_words", width}, {"pitch_words", pitch}}, [&](row& r) {
                summed what;
                what.text = rows_text;
                what.how.blocks = static_cast<std::uint32_t>((count + 7) / 8);
                what.how.threads = block_threads;
                what.job = s.job();
                what.job.count = count;
                what.job.width = width;
                what.job.stride = pitch;
                for (word64 i = 0; i < count; ++i) what.truth += sum_of_content(i * pitch, width);
                what.useful_bytes = static_cast<double>(count * width * sizeof(word32));
                what.is_streamed = true;
                s.measure(r, what);
            });
        }
    }
}

void patches(study& s) {
    const word64 texels = s.words() / 2;
    group rows = s.rows();
    for (const bool is_patched : {false, true}) {
        for (const path& p : paths) {
            if (p.bytes != 8) continue;
            rows.add({{"kind", "patches"}, {"order", is_patched ? "patches" : "rows"}, {"space", p.space}},
                     [&](row& r) {
                         summed what;
                         what.text = is_patched ? patches_text(p.source) : in_order_text(p.source);
                         what.how = study::blocks_for(texels, reads);
                         what.job = s.job();
                         what.job.stride = 1;
                         what.job.width = 8192;
                         what.job.reads = reads;
                         what.truth = s.total();
                         what.useful_bytes = static_cast<double>(s.words() * sizeof(word32));
                         what.is_streamed = true;
                         measure_path(s, r, p, s.words() * sizeof(word32), what);
                     });
        }
    }
}

}  // namespace

void global(study& s) {
    bandwidth(s);
    misaligned(s);
    strided(s);
    records(s);
    pitched_rows(s);
    patches(s);
}

std::vector<std::string> global_texts() {
    std::vector<std::string> all = {rows_text, in_order_text("global<1>")};
    for (const path& p : paths) {
        all.push_back(again_text(p));
        if (p.bytes != 8) continue;
        all.push_back(in_order_text(p.source));
        all.push_back(patches_text(p.source));
    }
    for (const char* layout : layouts) all.push_back(records_text(layout));
    return all;
}

}  // namespace tilewalk::bench::memory
