// SPDX-License-Identifier: Apache-2.0
// Shows a long run: a bar on the terminal, and elsewhere a line now and then.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "tilewalk/engine.h"

namespace tilewalk::cli {

// A trade in each of many markets is as many prices, whose steps nobody counts.
enum class counted { trades, prices };

// Draws on standard error if that is a terminal, else does nothing; wipes itself off at the end.
class progress_bar {
  public:
    explicit progress_bar(counted what = counted::trades);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    bool is_shown() const { return shown_; }
    void update(const progress& now);

  private:
    using clock = std::chrono::steady_clock;
    const counted what_;
    bool shown_ = false, drawn_ = false;
    clock::time_point start_ = clock::now(), next_ = start_ + std::chrono::milliseconds(300);
    clock::time_point walks_since_ = start_;
};

// Lines on standard error for those who read a log; none where the command is to be quiet.
class progress_notes {
  public:
    // `who` begins each line.
    explicit progress_notes(std::string who) : who_(std::move(who)) {}

    void say(const std::string& text) const;
    // A line when the first trades are done, and then every ten seconds at most.
    void update(const progress& now);

  private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds pause{10};
    std::string who_;
    clock::time_point start_ = clock::now(), next_ = start_;
};

// The line for a bar on a terminal of this many columns, so long after policies began to be found or, once
// they are, after paths began to be walked.
std::string progress_line(const progress& now, double seconds, int columns, counted what = counted::trades);

}  // namespace tilewalk::cli
