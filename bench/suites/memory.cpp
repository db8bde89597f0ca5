// SPDX-License-Identifier: Apache-2.0
// Groups of rows (a `kind`, or a variant) begin with the natural way; `ratio` says what another way costs
// (below 1) or gains. The files memory_*.cpp say what to expect of their parts.
#include "bench/suites/memory.h"

#include <algorithm>

#include "bench/suites/memory_study.h"
#include "kernels/studies/content.h"

namespace tilewalk::bench {

namespace memory {

namespace {

constexpr word64 most_words = word64{1} << 28, fewest_words = word64{1} << 22;
constexpr word64 most_blocks = word64{1} << 20;

const std::string fill_text =
    "#include \"kernels/studies/memory.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256) fill(unsigned* to, unsigned long long count) {\n"
    "    tilewalk::kernels::studies::fill_with_content(to, count);\n}\n";

word64 words_for(std::size_t free_bytes) {
    word64 words = most_words;
    while (words * sizeof(word32) > free_bytes / 4 && words > fewest_words) words /= 2;
    return words;
}

std::string entry(const std::string& kernel) {
    return "extern \"C\" __global__ void __launch_bounds__(256)\n"
           "sum(const __grid_constant__ tilewalk::kernels::studies::memory_job job) {\n"
           "    tilewalk::kernels::studies::" +
           kernel + "(job);\n}\n";
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

std::string text_of(const std::string& kernel) {
    return "#include \"kernels/studies/memory.h\"\nusing namespace tilewalk::kernels::studies;\n" +
           entry(kernel);
}

std::string text_with_table(const std::string& kernel, const std::string& maker, word32 words) {
    const std::string size = "<" + std::to_string(words) + ">";
    return "#include \"kernels/studies/constant.h\"\nusing namespace tilewalk::kernels::studies;\n"
           "__constant__ table" +
           size + " numbers = " + maker + size + "();\n" + entry(kernel);
}

word32 sum_of_content(word64 first, word64 count, word64 stride) {
    // 32 bits are enough for a place: content() uses no more, and the compiler can vectorise the loop.
    word32 sum = 0, at = static_cast<word32>(first);
    for (word64 i = 0; i < count; ++i, at += static_cast<word32>(stride))
        sum += kernels::studies::content(at);
    return sum;
}

study::study(gpu_timer& on_, const sink& to_)
    : on(on_),
      to(to_),
      words_(words_for(on_.device().free_bytes())),
      numbers_(on_.device(), words_ * sizeof(word32)),
      sums_(on_.device(), most_blocks * sizeof(word32)),
      total_(sum_of_content(0, words_)) {
    const cuda::in_flight waits(on.device(), {on.stream()});
    void* target = numbers_.as<void>();
    unsigned long long count = words_;
    void* arguments[] = {&target, &count};
    on.run(on.find(fill_text, "fill"), blocks_for(words_, 1), arguments);
}

memory_job study::job() const {
    memory_job j{};
    j.from = numbers();
    j.sums = sums_.as<word32>();
    return j;
}

cuda::launch study::blocks_for(word64 count, word64 reads) {
    cuda::launch how;
    how.blocks = static_cast<std::uint32_t>(count / (block_threads * reads));
    how.threads = block_threads;
    return how;
}

std::optional<cuda::owned_texture> study::texture_over(const void* memory, word64 bytes, row& r) const {
    try {
        return cuda::owned_texture(on.device(),
                                   on.device().open_texture(memory, bytes, cuda::texel::two_words));
    } catch (const cuda::device_error& e) {
        if (e.failure() != cuda::device_failure::refused) throw;
        r.skipped = e.what();
        return std::nullopt;
    }
}

bool study::measure(row& r, const summed& what) {
    const cuda::kernel k = on.find(what.text, "sum");
    memory_job job = what.job;
    void* arguments[] = {&job};
    const auto launched = [&] {
        if (what.before) what.before();
        for (word32 n = 0; n < what.launches; ++n) on.run(k, what.how, arguments);
    };
    on.device().fill(job.sums, 0xa5, what.how.blocks * sizeof(word32), on.stream());
    launched();
    word32 sum = 0;
    for (const word32 x : on.downloaded<word32>(job.sums, what.how.blocks)) sum += x;
    if (sum != what.truth) {
        r.wrong = "what was read sums up to " + std::to_string(sum) + ", expected " +
                  std::to_string(what.truth) + " (modulo 2^32)";
        return false;
    }
    const auto t = what.is_warm ? on.time_warm(launched) : on.time(launched);
    r.figures = figures_of(t);
    if (what.useful_bytes > 0) {
        const double rate = what.useful_bytes / (t.milliseconds.median * 1e-3);
        r.figures["bytes_per_second"] = rate;
        if (what.is_streamed) r.figures["share_of_copy"] = rate / on.copy_rate();
    }
    return true;
}

std::vector<std::string> texts() {
    std::vector<std::string> all = {fill_text};
    append(all, global_texts());
    append(all, latency_texts());
    append(all, on_chip_texts());
    append(all, copies_texts());
    return all;
}

}  // namespace memory

void run_memory(gpu_timer& on, const request&, const sink& to) {
    using namespace memory;
    on.compile(texts());
    study s(on, to);
    const cuda::in_flight waits(on.device(), {on.stream()});
    global(s);
    latency(s);
    on_chip(s);
    copies_and_mapped(s);
    // Comes last: sets a part of the L2 cache aside for good, which would change other measurements.
    persisting(s);
}

}  // namespace tilewalk::bench
