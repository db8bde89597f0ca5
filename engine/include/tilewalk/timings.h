// SPDX-License-Identifier: Apache-2.0
// The time of a run by stage. Callers pass a timings object in the options of a run:
//
//     tilewalk::timings times;
//     tilewalk::run_options options;
//     options.times = &times;
//     engine.price(book, options);
//     for (const auto& stage : times.so_far().stages) use(stage.name, stage.seconds);
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tilewalk {

enum class stage : std::uint8_t {
    reading_book,
    reading_market,
    opening_gpus,
    planning,
    policies,
    controls,
    importance,
    points,
    derivatives,
    packing,
    building_kernels,
    walking,
    shadows,
    bounds,
    rows,
    answers,
    writing,
    ending,
};
inline constexpr std::size_t stages_of_a_run = 18;

// No price depends on timings. One thread at a time may time stages; any thread may time work beside them.
class timings {
  public:
    using clock = std::chrono::steady_clock;

    explicit timings(clock::time_point begin = clock::now()) : begin_(begin) {}

    // Times a stage during its lifetime. Time of a nested stage counts only for the nested one.
    class during {
      public:
        during(timings* of, stage what);  // `of` may be null
        ~during();
        during(const during&) = delete;
        during& operator=(const during&) = delete;

      private:
        timings* of_;
    };
    // Times work of another thread, which overlaps the stages of the run.
    class beside {
      public:
        beside(timings* of, stage what) : of_(of), what_(what), begin_(clock::now()) {}
        ~beside();
        beside(const beside&) = delete;
        beside& operator=(const beside&) = delete;

      private:
        timings* of_;
        stage what_;
        clock::time_point begin_;
    };

    struct row {
        std::string_view name;
        double seconds = 0;         // time in which the run did only this or waited for it
        double beside_seconds = 0;  // time in other threads meanwhile
    };
    struct account {
        std::vector<row> stages;  // ends with "other"
        double seconds = 0;       // since the start: the sum of the stages
    };
    account so_far() const;

  private:
    void begin(stage what);
    void end();
    void give_to_current(clock::time_point now);

    const clock::time_point begin_;
    mutable std::mutex lock_;  // guards the members below
    std::vector<stage> open_;  // innermost last
    clock::time_point since_{};
    std::array<clock::duration, stages_of_a_run> taken_{}, beside_{};
};

// A table for people in milliseconds; rounded rows add up to the total.
std::string text_of(const timings::account& of);

}  // namespace tilewalk
