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

// Times of a run's stages; no price depends on them. One thread at a time may time stages (`during`); any
// thread may time work that overlaps them (`beside`).
class timings {
  public:
    using clock = std::chrono::steady_clock;

    explicit timings(clock::time_point begin = clock::now()) : begin_(begin) {}

    // Times a stage while it lives. The time of a nested stage counts for the nested stage alone.
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
        double seconds = 0;         // time that the run spent in the stage or waiting for it
        double beside_seconds = 0;  // time in other threads, overlapping other stages
    };
    struct account {
        std::vector<row> stages;  // ends with "other"
        double seconds = 0;       // since the start: sum of the stages
    };
    account so_far() const;
    // Adds time of another thread that was not timed by `beside`.
    void add_beside(stage what, clock::duration taken);

  private:
    void begin(stage what);
    void end();
    void give_to_current(clock::time_point now);

    const clock::time_point begin_;
    mutable std::mutex lock_;  // guards the members below
    std::vector<stage> open_;  // stages begun and not ended, innermost last
    clock::time_point since_{};
    std::array<clock::duration, stages_of_a_run> taken_{}, beside_{};
};

// Returns a table for people in milliseconds; rounded rows add up to the total.
std::string text_of(const timings::account& of);

}  // namespace tilewalk
