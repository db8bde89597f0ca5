// SPDX-License-Identifier: Apache-2.0
// Signal handlers here use only lock-free atomics, write(2) and _exit, which are safe in a handler.
#include "engine/cli/terminal/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "tilewalk/error.h"

namespace tilewalk::cli {

namespace {

// A signal handler can reach global objects only.
std::atomic<int> listeners = 0;  // living interrupt objects
std::atomic<int> signal_seen = 0;
std::atomic<bool> asked_to_stop = false;
std::atomic<bool> has_written = false, keeps = false;
std::atomic<bool> speaks_to_terminal = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void say(std::string_view text) {
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void end_now(int number) {
    if (speaks_to_terminal) say("\r\033[K");  // wipes a progress bar
    say(words_of_interrupt());
    say("\n");
    ::_exit(128 + number);
}

void on_signal(int number) {
    signal_seen = number;
    if (listeners == 0 || asked_to_stop.exchange(true)) end_now(number);
}

}  // namespace

void exit_on_interrupt() {
    speaks_to_terminal = is_terminal(STDERR_FILENO);
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction action {};
        sigaction(number, nullptr, &action);
        if (action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        sigaction(number, &action, nullptr);
    }
}

interrupt::interrupt() {
    ++listeners;
}

interrupt::~interrupt() {
    --listeners;
}

const std::atomic<bool>* interrupt::flag() const {
    return &asked_to_stop;
}

void interrupt::check() const {
    if (asked_to_stop) throw error(error_kind::cancelled, "interrupted");
}

void interrupt::take_back() const {
    asked_to_stop = false;
}

const char* words_of_interrupt() {
    if (keeps) return "tilewalk: interrupted; run the same command again to resume";
    return has_written ? "tilewalk: interrupted" : "tilewalk: interrupted; nothing was written";
}

int code_of_interrupt() {
    return signal_seen == 0 ? exit_code::interrupted : 128 + signal_seen;
}

void note_written() {
    has_written = true;
}

void note_kept() {
    keeps = true;
}

}  // namespace tilewalk::cli
