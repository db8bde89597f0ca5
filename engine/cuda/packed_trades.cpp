// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/packed_trades.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/cuda/row_layout.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using kernels::word64;

template <class real>
class packer {
  public:
    explicit packer(packed_trades& into) : into_(into) {}

    void add(const run::job& job) {
        const auto sections = job.code->sections.size();
        into_.failures.push_back(why_not(job));
        const auto& data = *job.data;
        const row_layout rows = layout_of_rows(*job.code);
        const word64 numbers_at = count_;
        put(data.terms, data.terms.size());
        fill_piece();
        put(data.initial_states, data.initial_states.size());
        fill_piece();
        kernels::trade_record record{numbers_at,
                                     into_.words.size(),
                                     static_cast<word32>(job.when->steps()),
                                     static_cast<word32>(into_.results),
                                     0,
                                     0,
                                     0};
        put_keys(data.normal_names, job.code->normal_streams, job.code->normals_per_step);
        put_keys(data.uniform_names, job.code->uniform_streams, job.code->uniforms_per_step);
        align_words();
        into_.results += job.code->results();
        for (std::size_t k = 0; k < sections; ++k) {
            into_.words.push_back(static_cast<word32>(count_ - numbers_at));
            if (k == 0 && rows.every_step != 0) {
                put_step(job, rows);
            } else if (rows.widths[k] > 0) {
                put(data.rows[k], rows.widths[k]);
            }
            fill_piece();
        }
        align_words();
        for (std::size_t step = 0; step < job.when->steps(); ++step) {
            for (const program::scenario_rows& s : data.scenarios)
                into_.words.push_back(place_of({s.array, s.rows[step]}));
        }
        align_words();
        for (std::size_t step = 0; step < job.when->steps(); ++step) {
            const word32 mask = mask_after(job, step) & ~rows.every_step;
            if (mask != 0) into_.words.insert(into_.words.end(), {static_cast<word32>(step), mask});
        }
        into_.words.insert(into_.words.end(), {kernels::no_step, 0});
        align_words();
        into_.records.push_back(record);
    }

  private:
    void align_words() {
        into_.words.resize(kernels::whole_pieces(static_cast<word32>(into_.words.size()), sizeof(word32)));
    }

    // Writes the rows of the step with those of the sections that run on every step.
    void put_step(const run::job& job, const row_layout& rows) {
        const auto& data = *job.data;
        std::vector<double> all;
        all.reserve(rows.widths[0] * job.when->steps());
        for (std::size_t step = 0; step < job.when->steps(); ++step) {
            for (std::size_t k = 0; k < data.rows.size(); ++k) {
                if (k > 0 && !job.code->sections[k].is_on_every_step) continue;
                const double* row = data.rows[k].data() + step * data.widths[k];
                all.insert(all.end(), row, row + data.widths[k]);
            }
        }
        put(all, rows.widths[0]);
    }

    void put_keys(const std::vector<program::stream_name>& names, const std::vector<std::uint32_t>& streams,
                  int slots) {
        std::size_t next = 0;
        for (const program::place_in_stream& p : program::places_in_streams(streams, slots)) {
            if (p.stream != next) continue;
            const kernels::stream_key key = kernels::stream_key_of(program::key_of(names, next++));
            into_.words.insert(into_.words.end(), {key.low, key.high});
        }
    }

    // Writes rows of `width` numbers.
    void put(const std::vector<double>& numbers, std::size_t width) {
        if (width == 0) return;
        const std::size_t pitch = kernels::row_pitch(static_cast<word32>(width), sizeof(real));
        const std::size_t rows = numbers.size() / width;
        grow(rows * pitch);
        std::byte* out = into_.numbers.data() + into_.numbers.size() - rows * pitch * sizeof(real);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto rounded = static_cast<real>(numbers[i]);
            std::memcpy(out + (i / width * pitch + i % width) * sizeof(real), &rounded, sizeof rounded);
        }
    }
    void fill_piece() {
        grow(kernels::whole_pieces(static_cast<word32>(count_ % pieces), sizeof(real)) - count_ % pieces);
    }
    void grow(std::size_t numbers) {
        into_.numbers.resize(into_.numbers.size() + numbers * sizeof(real));
        count_ += numbers;
    }

    word32 place_of(const scenario_row& row) {
        const auto [at, is_new] = places_.emplace(row, static_cast<word32>(into_.scenarios.size()));
        if (is_new) into_.scenarios.push_back(row);
        return at->second;
    }

    // Sections run in the order of their numbers, each on its next row, so that one mask a step says it all.
    // Those that run on every step are the first of each.
    static std::optional<error> why_not(const run::job& job) {
        const auto sections = job.code->sections.size();
        if (sections > most_sections) {
            return error(error_kind::usage, "the script has " + std::to_string(sections - 1) +
                                                " blocks; a GPU walks at most 31, the CPU any number");
        }
        const std::uint32_t every_step = layout_of_rows(*job.code).every_step;
        std::vector<std::uint32_t> next_row(sections, 0);
        for (std::size_t step = 0; step < job.when->steps(); ++step) {
            if (const std::uint32_t missing = every_step & ~mask_after(job, step); missing != 0)
                return error(error_kind::internal, "a block that runs on every step is missing on one");
            std::uint32_t last = 0;
            for (const program::event& e : job.when->events_after(step)) {
                if (e.section <= last || e.row != next_row[e.section]++) {
                    return error(error_kind::usage,
                                 "two dates of one block fall on the same moment; a GPU can't walk that, the "
                                 "CPU can");
                }
                last = e.section;
            }
        }
        return std::nullopt;
    }

    static word32 mask_after(const run::job& job, std::size_t step) {
        word32 mask = 0;
        for (const program::event& e : job.when->events_after(step))
            mask |= word32{1} << (e.section % most_sections);
        return mask;
    }

    static constexpr std::size_t most_sections = 32;
    static constexpr word64 pieces = kernels::piece_bytes / sizeof(real);
    packed_trades& into_;
    std::map<scenario_row, word32> places_;
    word64 count_ = 0;
};

// After the numbers of the last job: a kernel reads the rows of a group of steps at once, even if the last
// group is not full.
constexpr std::size_t bytes_behind = std::size_t{kernels::most_pieces_held} * kernels::piece_bytes;

}  // namespace

bool packed_trades::replace(std::size_t job, const packed_trades& alone, packed_changes& told) {
    kernels::trade_record& old = records[job];
    const bool is_last = job + 1 == records.size();
    const std::size_t begin = old.numbers_at * number_bytes;
    const std::size_t end =
        is_last ? numbers.size() - bytes_behind : records[job + 1].numbers_at * number_bytes;
    const std::size_t words_end = is_last ? words.size() : records[job + 1].words_at;
    const bool fits = alone.number_bytes == number_bytes &&
                      alone.numbers.size() == end - begin + bytes_behind &&
                      alone.words.size() == words_end - old.words_at && alone.scenarios.empty() &&
                      alone.failures[0].has_value() == failures[job].has_value();
    if (!fits) return false;
    const auto numbers_at = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto its_end = alone.numbers.end() - static_cast<std::ptrdiff_t>(bytes_behind);
    if (!std::equal(alone.numbers.begin(), its_end, numbers_at)) {
        std::copy(alone.numbers.begin(), its_end, numbers_at);
        told.numbers.push_back(job);
    }
    const auto words_at = words.begin() + static_cast<std::ptrdiff_t>(old.words_at);
    if (!std::equal(alone.words.begin(), alone.words.end(), words_at)) {
        std::copy(alone.words.begin(), alone.words.end(), words_at);
        told.words = true;
    }
    kernels::trade_record record = alone.records[0];
    record.numbers_at = old.numbers_at;
    record.words_at = old.words_at;
    record.result = old.result;
    told.records = told.records || std::memcmp(&record, &old, sizeof record) != 0;
    old = record;
    return true;
}

packed_trades pack(std::span<const run::job> jobs, number_type type) {
    packed_trades out;
    out.number_bytes = bytes_of(type);
    out.records.reserve(jobs.size());
    const auto add_all = [&](auto&& into) {
        for (const run::job& job : jobs) into.add(job);
    };
    if (type == number_type::single_) {
        add_all(packer<float>(out));
    } else {
        add_all(packer<double>(out));
    }
    if (!jobs.empty()) out.numbers.resize(out.numbers.size() + bytes_behind);
    return out;
}

}  // namespace tilewalk::cuda
