// SPDX-License-Identifier: Apache-2.0
// The time of a run by stage. Whoever wants to know hands one in with the options of a run:
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

// In the order in which tables have them.
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

// No price depends on it. Stages may be timed by one thread at a time, and those beside them by any.
class timings {
  public:
    using clock = std::chrono::steady_clock;

    explicit timings(clock::time_point begin = clock::now()) : begin_(begin) {}

    // Times a stage as long as it lives. The time of a stage inside another is that of the inner one alone.
    class during {
      public:
        during(timings* of, stage what);  // null: nobody wants to know
        ~during();
        during(const during&) = delete;
        during& operator=(const during&) = delete;

      private:
        timings* of_;
    };
    // The same for work of another thread, which overlaps the stages of the run.
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
        double seconds = 0;         // in which the run did nothing else, or waited for it
        double beside_seconds = 0;  // that it took in other threads meanwhile
    };
    struct account {
        std::vector<row> stages;  // all of them, and then "other"
        double seconds = 0;       // from the beginning: the sum of the stages
    };
    account so_far() const;

  private:
    void begin(stage what);
    void end();
    void give_to_current(clock::time_point now);

    const clock::time_point begin_;
    mutable std::mutex lock_;  // of what follows
    std::vector<stage> open_;  // the innermost last
    clock::time_point since_{};
    std::array<clock::duration, stages_of_a_run> taken_{}, beside_{};
};

// As a table for people, in milliseconds, whose rows add up to the digit.
std::string text_of(const timings::account& of);

}  // namespace tilewalk
