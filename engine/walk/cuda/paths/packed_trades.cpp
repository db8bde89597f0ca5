// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/packed_trades.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/base/crew.h"
#include "engine/walk/cuda/compile/row_layout.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using kernels::word64;

bool lists_events(const program::path_program& p) {
    return p.sections.size() > kernels::most_sections_of_masks;
}

// Bit k is set if section k runs after the step. Sections too many for a mask are left out.
word32 mask_after(const run::job& job, std::size_t step) {
    word32 mask = 0;
    for (const program::event& e : job.when->events_after(step))
        if (e.section < kernels::most_sections_of_masks) mask |= word32{1} << e.section;
    return mask;
}

// Why a GPU can't walk a job; empty if it can. Unless events are listed, one mask for each step says which
// sections run, so they must run in order, each on its next row. Sections of every step come first.
std::optional<error> why_not(const run::job& job, std::uint32_t every_step) {
    std::vector<std::uint32_t> next_row(job.code->sections.size(), 0);
    for (std::size_t step = 0; step < job.when->steps(); ++step) {
        if (const std::uint32_t missing = every_step & ~mask_after(job, step); missing != 0)
            return error(error_kind::internal, "a block that runs on every step is missing on one");
        if (lists_events(*job.code)) continue;
        std::uint32_t last = 0;
        for (const program::event& e : job.when->events_after(step)) {
            if (e.section <= last || e.row != next_row[e.section]++) {
                return error(error_kind::usage,
                             "two dates of one block of the script coincide, which only the CPU can "
                             "simulate; use device cpu");
            }
            last = e.section;
        }
    }
    return std::nullopt;
}

class scenario_places {
  public:
    scenario_places(std::span<const run::job> jobs, std::vector<scenario_row>& into) {
        for (const run::job& job : jobs) {
            if (job.data->scenarios.empty()) continue;
            for (std::size_t step = 0; step < job.when->steps(); ++step) {
                for (const program::scenario_rows& s : job.data->scenarios) {
                    const scenario_row row{s.array, s.rows[step]};
                    if (places_.emplace(row, static_cast<word32>(into.size())).second) into.push_back(row);
                }
            }
        }
    }
    word32 of(const scenario_row& row) const { return places_.at(row); }

  private:
    std::map<scenario_row, word32> places_;
};

// Lays out one job: only counts numbers and words, or also writes them, to memory filled with zeros.
template <class real>
class layout_of_job {
  public:
    layout_of_job(const run::job& job, const row_layout& rows, const scenario_places& scenarios,
                  std::byte* numbers = nullptr, word32* words = nullptr)
        : job_(job), scenarios_(scenarios), to_numbers_(numbers), to_words_(words) {
        put_all(rows);
    }
    word64 numbers() const { return numbers_; }
    word64 words() const { return words_; }

  private:
    void put_all(const row_layout& rows) {
        const auto& data = *job_.data;
        put(data.terms, data.terms.size());
        fill_piece();
        put(data.initial_states, data.initial_states.size());
        fill_piece();
        put_keys(data.normal_names, job_.code->normal_streams, job_.code->normals_per_step);
        put_keys(data.uniform_names, job_.code->uniform_streams, job_.code->uniforms_per_step);
        align_words();
        std::vector<word64> first_rows;
        for (std::size_t k = 0; k < job_.code->sections.size(); ++k) {
            if (lists_events(*job_.code)) first_rows.push_back(numbers_);
            put_word(static_cast<word32>(numbers_));
            if (k == 0 && rows.every_step != 0) {
                put_step(rows);
            } else if (rows.widths[k] > 0) {
                put(data.rows[k], rows.widths[k]);
            }
            fill_piece();
        }
        align_words();
        for (std::size_t step = 0; step < job_.when->steps() && !data.scenarios.empty(); ++step) {
            for (const program::scenario_rows& s : data.scenarios)
                put_word(scenarios_.of({s.array, s.rows[step]}));
        }
        align_words();
        lists_events(*job_.code) ? put_list(rows, first_rows) : put_masks(rows);
        align_words();
    }

    void put_masks(const row_layout& rows) {
        for (std::size_t step = 0; step < job_.when->steps(); ++step) {
            const word32 mask = mask_after(job_, step) & ~rows.every_step;
            if (mask == 0) continue;
            put_word(static_cast<word32>(step));
            put_word(mask);
        }
        put_word(kernels::no_step);
        put_word(0);
    }
    void put_list(const row_layout& rows, const std::vector<word64>& first_rows) {
        for (std::size_t step = 0; step < job_.when->steps(); ++step) {
            for (const program::event& e : job_.when->events_after(step)) {
                if (job_.code->sections[e.section].is_on_every_step) continue;
                const word64 place = first_rows[e.section] + e.row * pitch_of(rows.widths[e.section]);
                put_event({static_cast<word32>(step), e.section, e.row, static_cast<word32>(place)});
            }
        }
        put_event({kernels::no_step, 0, 0, 0});
    }
    void put_event(const kernels::listed_event& e) {
        for (const word32 x : {e.step, e.section, e.row, e.place}) put_word(x);
    }

    void put_word(word32 x) {
        if (to_words_ != nullptr) to_words_[words_] = x;
        ++words_;
    }
    void align_words() { words_ = kernels::whole_pieces(static_cast<word32>(words_), sizeof(word32)); }

    // Writes a row for each step, which includes the rows of sections that run on every step.
    void put_step(const row_layout& rows) {
        const auto& data = *job_.data;
        const std::size_t steps = job_.when->steps(), width = rows.widths[0];
        if (width == 0) return;
        const std::size_t pitch = pitch_of(width);
        for (std::size_t step = 0; to_numbers_ != nullptr && step < steps; ++step) {
            word64 at = numbers_ + step * pitch;
            for (std::size_t k = 0; k < data.rows.size(); ++k) {
                if (k > 0 && !job_.code->sections[k].is_on_every_step) continue;
                write(data.rows[k].data() + step * data.widths[k], data.widths[k], at);
                at += data.widths[k];
            }
        }
        numbers_ += steps * pitch;
    }

    void put_keys(const std::vector<program::stream_name>& names, const std::vector<std::uint32_t>& streams,
                  int slots) {
        std::size_t next = 0;
        for (const program::place_in_stream& p : program::places_in_streams(streams, slots)) {
            if (p.stream != next) continue;
            const kernels::stream_key key = kernels::stream_key_of(program::key_of(names, next++));
            put_word(key.low);
            put_word(key.high);
        }
    }

    void put(const std::vector<double>& numbers, std::size_t width) {
        if (width == 0) return;
        const std::size_t pitch = pitch_of(width), rows = numbers.size() / width;
        for (std::size_t r = 0; to_numbers_ != nullptr && r < rows; ++r)
            write(numbers.data() + r * width, width, numbers_ + r * pitch);
        numbers_ += rows * pitch;
    }
    void write(const double* numbers, std::size_t count, word64 at) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto rounded = static_cast<real>(numbers[i]);
            std::memcpy(to_numbers_ + (at + i) * sizeof(real), &rounded, sizeof rounded);
        }
    }
    void fill_piece() {
        constexpr word64 piece = kernels::piece_bytes / sizeof(real);
        numbers_ = (numbers_ + piece - 1) / piece * piece;
    }
    static std::size_t pitch_of(std::size_t width) {
        return kernels::row_pitch(static_cast<word32>(width), sizeof(real));
    }

    const run::job& job_;
    const scenario_places& scenarios_;
    std::byte* const to_numbers_;
    word32* const to_words_;
    word64 numbers_ = 0, words_ = 0;
};

// Bytes after the last job: a kernel reads all rows of a group of steps, even if the last group is not full.
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

namespace {

// Counts first, then writes all jobs to their places, so that threads may share the work.
template <class real>
packed_trades packed_as(std::span<const run::job> jobs, int threads) {
    packed_trades out;
    out.number_bytes = sizeof(real);
    out.records.resize(jobs.size());
    out.failures.resize(jobs.size());
    const scenario_places scenarios(jobs, out.scenarios);
    std::map<const program::path_program*, row_layout> layouts;
    for (const run::job& job : jobs)
        if (!layouts.contains(job.code)) layouts.emplace(job.code, layout_of_rows(*job.code));
    struct room {
        word64 numbers = 0, words = 0;
    };
    std::vector<room> takes(jobs.size());
    threads::for_each_short(jobs.size(), threads, [&](int, std::uint64_t j) {
        const row_layout& rows = layouts.at(jobs[j].code);
        out.failures[j] = why_not(jobs[j], rows.every_step);
        const layout_of_job<real> counted(jobs[j], rows, scenarios);
        takes[j] = {counted.numbers(), counted.words()};
    });
    room taken;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        out.records[j] = {taken.numbers,
                          taken.words,
                          static_cast<word32>(jobs[j].when->steps()),
                          static_cast<word32>(out.results),
                          0,
                          0,
                          0};
        out.results += jobs[j].code->results();
        taken.numbers += takes[j].numbers;
        taken.words += takes[j].words;
    }
    out.numbers.resize(taken.numbers * sizeof(real) + (jobs.empty() ? 0 : bytes_behind));
    out.words.resize(taken.words);
    threads::for_each_short(jobs.size(), threads, [&](int, std::uint64_t j) {
        const kernels::trade_record& at = out.records[j];
        layout_of_job<real>(jobs[j], layouts.at(jobs[j].code), scenarios,
                            out.numbers.data() + at.numbers_at * sizeof(real),
                            out.words.data() + at.words_at);
    });
    return out;
}

}  // namespace

packed_trades pack(std::span<const run::job> jobs, number_type type, int threads) {
    return type == number_type::single_ ? packed_as<float>(jobs, threads) : packed_as<double>(jobs, threads);
}

}  // namespace tilewalk::cuda
