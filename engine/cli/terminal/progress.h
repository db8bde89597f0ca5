// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long run: a bar on the terminal, elsewhere a line now and then.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "tilewalk/engine.h"

namespace tilewalk::cli {

// Prices count a trade once in each market, and show no path-steps.
enum class counted { trades, prices };

// Draws on standard error if that is a terminal, else does nothing. The destructor wipes the bar.
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

// Prints progress as lines on standard error, for logs; nothing if be_quiet() was called.
class progress_notes {
  public:
    explicit progress_notes(std::string who) : who_(std::move(who)) {}

    void say(const std::string& text) const;
    // Prints a line when the first trades are done, then at most every ten seconds.
    void update(const progress& now);

  private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds pause{10};
    std::string who_;
    clock::time_point start_ = clock::now(), next_ = start_;
};

// Returns the bar's line, for a terminal of `columns` columns. `seconds` count from the start of training, or
// of walking once policies are trained.
std::string progress_line(const progress& now, double seconds, int columns, counted what = counted::trades);

}  // namespace tilewalk::cli
