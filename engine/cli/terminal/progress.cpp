// SPDX-License-Identifier: Apache-2.0
// Draws a progress bar, at most ten times a second, in runs that last longer than a moment.
#include "engine/cli/terminal/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/cli/output.h"

namespace tilewalk::cli {

namespace {

constexpr std::string_view wipe = "\r\033[K";

int terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_text(double seconds) {
    const auto whole = static_cast<long long>(seconds + 0.5);
    return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                        : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double per_second) {
    if (per_second < 1e6) return fmt::format("{:.0f} k", per_second / 1e3);
    if (per_second < 1e9) return fmt::format("{:.0f} M", per_second / 1e6);
    return fmt::format("{:.1f} G", per_second / 1e9);
}

bool finds_policies(const progress& now) {
    return now.policies_done < now.policies;
}

void draw(std::string_view text) {
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_line(const progress& now, double seconds, int columns, counted what) {
    const auto part = [](auto of, auto all) {
        return all > 0 ? static_cast<double>(of) / static_cast<double>(all) : 0.0;
    };
    const bool finds = finds_policies(now);
    const double done =
        finds ? part(now.policies_done, now.policies) : part(now.path_steps_done, now.path_steps);
    const double rate = seconds > 0 ? static_cast<double>(now.path_steps_done) / seconds : 0.0;
    const std::string left = done > 0.005 ? clock_text(seconds * (1 - done) / done) : "?";
    const std::string figures =
        finds ? fmt::format(" {:3.0f}%  {}/{} policies  {} until pricing", 100 * done, now.policies_done,
                            now.policies, left)
        : now.round > 0
            ? fmt::format(" {:3.0f}%  round {}  {}/{} trades in tolerance{}  {} path-steps/s  {} left",
                          100 * done, now.round, now.trades_in_tolerance, now.trades,
                          now.widest > 0 ? fmt::format(", widest {:.3g} x", now.widest) : "", rate_text(rate),
                          left)
        : what == counted::prices
            ? fmt::format(" {:3.0f}%  {}/{} prices  {} left", 100 * done, now.trades_done, now.trades, left)
            : fmt::format(" {:3.0f}%  {}/{} trades  {} path-steps/s  {} left", 100 * done, now.trades_done,
                          now.trades, rate_text(rate), left);
    // The last column stays free, as some terminals wrap a full line.
    const int room = std::clamp(columns - static_cast<int>(figures.size()) - 3, 0, 40);
    if (room < 5) return figures.substr(0, static_cast<std::size_t>(std::max(0, columns - 1)));
    const auto filled = static_cast<std::size_t>(done * room);
    return "[" + std::string(filled, '#') + std::string(static_cast<std::size_t>(room) - filled, '.') + "]" +
           figures;
}

progress_bar::progress_bar(counted what) : what_(what) {
    const char* terminal = std::getenv("TERM");
    shown_ = !is_quiet() && is_terminal(STDERR_FILENO) && terminal != nullptr &&
             std::string_view(terminal) != "dumb";
}

progress_bar::~progress_bar() {
    if (drawn_) draw(wipe);
}

void progress_bar::update(const progress& now) {
    const auto time = clock::now();
    if (finds_policies(now)) walks_since_ = time;
    if (!shown_ || time < next_) return;
    next_ = time + std::chrono::milliseconds(100);
    const auto since = finds_policies(now) ? start_ : walks_since_;
    draw(std::string(wipe) +
         progress_line(now, std::chrono::duration<double>(time - since).count(), terminal_columns(), what_));
    drawn_ = true;
}

void progress_notes::say(const std::string& text) const {
    remark("tilewalk " + who_ + ": " + text);
}

void progress_notes::update(const progress& now) {
    const auto time = clock::now();
    if (time < next_ || now.trades_done == 0) return;
    next_ = time + pause;
    const double seconds = std::chrono::duration<double>(time - start_).count();
    say(fmt::format("{} of {} trades after {}", now.trades_done, now.trades, clock_text(seconds)));
}

}  // namespace tilewalk::cli
